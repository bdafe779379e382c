"""Functions of several operations: what one writes the next one reads.

They test what a function of one operation cannot: intermediate tensors and their
buffers, results that are traced to their destination through other operations,
and chains of reshape, matmul and transpose that become mode products.

SPDX-License-Identifier: MIT
"""

import math

import reference

KINDS = ("mkm-mkm", "mkm-kmm", "addend", "monarch", "shuffles", "sparse")
KIND_WEIGHTS = (.12, .12, .12, .12, .12, .4)
CHAIN_TYPES = ("f32", "f64", "bf16", "i64", "c32")
BATCHES = (0, 1, 2, 5, 7, 16, 33, 64, 196, 500, 1000, 2000)


def _divisor(rng, number):
    return int(rng.choice([d for d in range(1, number + 1) if number % d == 0]))


def _sparse_patterns(rng, max_features):
    """Patterns (a, b, c, d) of 1 to 6 factors, each of which reads what the one before
    writes; half of the chains keep the number of features."""
    features = math.prod(int(s) for s in rng.choice((1, 2, 3, 4, 5, 7, 8, 16), 4))
    patterns, keeps = [], rng.random() < 0.5
    for _ in range(int(rng.integers(1, 7))):
        c = _divisor(rng, features)
        d = _divisor(rng, features // c)
        a = features // (c * d)
        b = c if keeps else int(rng.integers(1, 2 * c + 2))
        patterns.append((a, b, c, d))
        features = a * b * d
        if features > max_features:
            return _sparse_patterns(rng, max_features)
    return patterns


def sparse_parameters(rng, p, max_features=512, max_elements=100_000, max_flops=2_000_000):
    """Random chains of kron.ksmm on top of the common parameters."""
    while True:
        patterns = _sparse_patterns(rng, max_features)
        elements = max(a * d * max(b, c) for a, b, c, d in patterns)
        flops = sum(math.prod(pattern) for pattern in patterns)
        most = min(max_elements // elements, max_flops // flops)
        batches = [n for n in BATCHES if n <= most]
        # Results grow by sqrt(c) with every factor, and f16 ends at 65504.
        fits = p["type"] != "f16" or math.prod(c for _, _, c, _ in patterns) <= 2**20
        if len(batches) > 2 and fits:
            break
    p = p | dict(op="chain", kind="sparse", form="tensor", patterns=patterns,
                 rows=int(rng.choice(batches)),
                 layout=str(rng.choice(["batch_first", "batch_last"])),
                 relus=[bool(rng.random() < 0.2) for _ in patterns])
    # An activation that is not relu would only blur what wrong results look like.
    return p | dict(bias=bool(rng.random() < .3), residual=bool(rng.random() < .2),
                    activation="relu" if rng.random() < .3 else "identity",
                    scale=bool(rng.random() < .2))


def parameters(rng, p):
    """Random parameters on top of the common ones."""
    kind = str(rng.choice(KINDS, p=KIND_WEIGHTS))
    p.pop("special", None)
    if kind == "sparse":
        return sparse_parameters(rng, p | dict(type=str(rng.choice(("f16", *CHAIN_TYPES)))))
    n = int(rng.integers(1, 4))
    while True:
        sizes = [tuple(int(s) for s in rng.choice((1, 2, 3, 5, 7, 8, 12, 16), 3)) for _ in range(n)]
        rows = int(rng.choice((1, 2, 7, 64)))
        elements = rows * math.prod(max(s) for s in sizes)
        if elements <= 100_000:
            break
    if kind == "addend":
        sizes = [(s[0],) * 3 for s in sizes]
    # As written in bf16, shuffles round every single sum: no bound to hold.
    types = [t for t in CHAIN_TYPES if kind != "shuffles" or t != "bf16"]
    return p | dict(op="chain", kind=kind, type=str(rng.choice(types)), form="tensor",
                    sizes=sizes, rows=rows, block=int(rng.choice((2, 3, 8, 16))),
                    activation="relu" if rng.random() < 0.5 else "identity")


def _tensor(element, *sizes):
    return f"tensor<{''.join('?x' if s is None else f'{s}x' for s in sizes)}{element.mlir}>"


def _factors(case, prefix, shapes):
    arrays = [case.array(f"{prefix}{k}", s) for k, s in enumerate(shapes)]
    text = (f"factors({', '.join('%' + a.name for a in arrays)}"
            f" : {', '.join(a.mlir for a in arrays)})")
    return [a.name for a in arrays], text


def build(case, p):
    """Fills the case; its last operation takes alpha, beta and Z like any other."""
    case.tags |= {"chain=" + p["kind"]}
    case.num_stores = 2
    if p["kind"] == "monarch":
        _build_monarch(case, p)
    elif p["kind"] == "shuffles":
        _build_shuffles(case, p)
    elif p["kind"] == "sparse":
        _build_sparse(case, p)
    else:
        _build_products(case, p)


def _build_products(case, p):
    """kron.mkm, then kron.mkm (which may add its own input) or kron.kmm."""
    sizes, rows = p["sizes"], p["rows"]
    dynamic = None if "rows" in p["dynamic"] and p["kind"] != "mkm-kmm" else rows
    inside = math.prod(s[1] for s in sizes)
    x = case.array("x", [rows, math.prod(s[0] for s in sizes)],
                   [dynamic, math.prod(s[0] for s in sizes)])
    first, first_text = _factors(case, "f", [s[:2] for s in sizes])
    middle = _tensor(case.element, dynamic, inside)
    empty = case.empty("middle", [dynamic, inside], [("x", 0), None], middle)
    case.body.append(f"%t = kron.mkm ins(%x : {x.mlir}) {first_text} "
                     f"outs({empty} : {middle}) -> {middle}")

    def apply_first(v):
        return reference.mkm(v["x"], [v[n] for n in first], "N", ["N"] * len(first), 0)

    if p["kind"] == "mkm-kmm":
        outer = p["block"]
        second, second_text = _factors(case, "g", [(outer, rows)])
        case.linear = lambda v: reference.kmm(apply_first(v), [v[n] for n in second], "N", ["N"], 0)
        out = [outer, inside]
        dims, mnemonic = out, "kron.kmm"
    else:
        second, second_text = _factors(case, "g", [s[1:] for s in sizes])
        case.linear = lambda v: reference.mkm(
            apply_first(v), [v[n] for n in second], "N", ["N"] * len(second), 0)
        out = [rows, math.prod(s[2] for s in sizes)]
        dims, mnemonic = [dynamic, out[1]], "kron.mkm"
    case.num_terms = sum(s[0] + s[1] + 2 for s in sizes) + rows
    clauses = ""
    if p["kind"] == "addend":
        product = case.linear
        case.linear = lambda v: product(v) + apply_first(v)
        one = ("#complex.number<:f32 1.0, 0.0>" if case.element.is_complex
               else f"1{'' if case.element.is_integer else '.0'} : {case.scalar_element.mlir}")
        clauses = f" beta({one}) addend(%t : {middle})"
        p = p | dict(alpha="absent", beta="absent")
    case.finish(mnemonic, f"ins(%t : {middle}) {second_text}", out, dims,
                [("x", 0), None], p, clauses)


def _build_monarch(case, p):
    """Two kron.ksmm whose patterns make a Monarch matrix, an activation between."""
    n, rows = p["block"], p["rows"]
    dynamic = None if "rows" in p["dynamic"] else rows
    x = case.array("x", [rows, n * n], [dynamic, n * n])
    left, right = case.array("left", [n, n, n, 1]), case.array("right", [1, n, n, n])
    relu = p["activation"] == "relu" and case.element.unit and not case.element.is_complex
    middle = _tensor(case.element, dynamic, n * n)
    empty = case.empty("middle", [dynamic, n * n], [("x", 0), None], middle)
    attribute = " {activation = #kron.activation<relu>}" if relu else ""
    case.body.append(f"%t = kron.ksmm ins(%x : {x.mlir}) weights(%left : {left.mlir}) "
                     f"outs({empty} : {middle}){attribute} -> {middle}")

    def compute(v):
        t = reference.ksmm(v["x"], v["left"], "N", "N", "batch_first")
        t = reference.activate("relu", t) if relu else t
        return reference.ksmm(t, v["right"], "N", "N", "batch_first")

    case.linear, case.num_terms = compute, 2 * n + 2
    case.finish("kron.ksmm", f"ins(%t : {middle}) weights(%right : {right.mlir})", [rows, n * n],
                [dynamic, n * n], [("x", 0), None], p)


def _build_sparse(case, p):
    """Several kron.ksmm, with an activation behind some of them and an epilogue at the
    end."""
    layout, rows, patterns = p["layout"], p["rows"], p["patterns"]
    dynamic = None if "rows" in p["dynamic"] else rows
    first = layout == "batch_first"

    def place(batch, features):
        return [batch, features] if first else [features, batch]

    def text(k, name, array_type, relu):
        attributes = [f"layout = #kron.layout<{layout}>"]
        if relu:
            attributes.append("activation = #kron.activation<relu>")
        k = weights[k]
        return f"ins({name} : {array_type}) weights(%{k.name} : {k.mlir})", attributes

    a, _, c, d = patterns[0]
    x = case.array("x", place(rows, a * c * d), place(dynamic, a * c * d))
    weights = [case.array(f"k{k}", list(pattern)) for k, pattern in enumerate(patterns)]
    relus = [relu and bool(case.element.unit) and not case.element.is_complex
             for relu in p["relus"][:-1]] + [False]
    case.tags |= {layout, f"factors={len(patterns)}"}
    sources = place(("x", 0 if first else 1), None)
    name, current = "%x", x.mlir
    for k, (a, b, c, d) in enumerate(patterns[:-1]):
        middle = _tensor(case.element, *place(dynamic, a * b * d))
        empty = case.empty(f"middle{k}", place(dynamic, a * b * d), sources, middle)
        operands, attributes = text(k, name, current, relus[k])
        case.body.append(f"%t{k} = kron.ksmm {operands} outs({empty} : {middle}) "
                         f"{{{', '.join(attributes)}}} -> {middle}")
        name, current = f"%t{k}", middle

    def compute(v):
        t = v["x"]
        for array, relu in zip(weights, relus):
            t = reference.ksmm(t, v[array.name], "N", "N", layout)
            t = reference.activate("relu", t) if relu else t
        return t

    case.linear = compute
    case.num_terms = sum(c for _, _, c, _ in patterns) + 2
    case.num_stores = len(patterns)
    a, b, c, d = patterns[-1]
    operands, attributes = text(len(patterns) - 1, name, current, False)
    shape, dims = place(rows, a * b * d), place(dynamic, a * b * d)
    if case.element.is_complex:
        p = p | dict(activation="identity")
    clauses, end = case.epilogue(p, a * b * d, shape, dims, first)
    if "plan" in p:
        end.append(f"plan = {p['plan']}")
    case.finish("kron.ksmm", operands, shape, dims, sources, p, clauses, attributes + end)


def _build_shuffles(case, p):
    """kron.mkm the way NumPy users write it: for each factor from the last,
    reshape, multiply, exchange the last two axes."""
    sizes, rows, element = p["sizes"], p["rows"], case.element
    total = math.prod(s[0] for s in sizes)
    x = case.array("x", [rows, total])
    names, _ = _factors(case, "f", [s[:2] for s in sizes])
    current, body = "%x", case.body
    zero = "0" if element.is_integer else "0.0"
    if element.is_complex:
        part = element.mlir[8:-1]
        body.append(f"%zero = complex.constant [0.0 : {part}, 0.0 : {part}] : {element.mlir}")
    else:
        body.append(f"%zero = arith.constant {zero} : {element.mlir}")
    for k in reversed(range(len(sizes))):
        depth, results = sizes[k][:2]
        rest = total // depth
        cube, tall = _tensor(element, rows, rest, depth), _tensor(element, rows * rest, depth)
        flat, product = _tensor(element, rows, total), _tensor(element, rows * rest, results)
        out, turned = _tensor(element, rows, rest, results), _tensor(element, rows, results, rest)
        total = rest * results
        last = _tensor(element, rows, total)
        name = "%result" if k == 0 else f"%c{k}"
        body += [
            f"%a{k} = tensor.expand_shape {current} [[0], [1, 2]] output_shape "
            f"[{rows}, {rest}, {depth}] : {flat} into {cube}",
            f"%b{k} = tensor.collapse_shape %a{k} [[0, 1], [2]] : {cube} into {tall}",
            f"%e{k} = tensor.empty() : {product}",
            f"%i{k} = linalg.fill ins(%zero : {element.mlir}) outs(%e{k} : {product}) -> {product}",
            f"%m{k} = linalg.matmul ins(%b{k}, %{names[k]} : {tall}, {case.arg(names[k]).mlir}) "
            f"outs(%i{k} : {product}) -> {product}",
            f"%r{k} = tensor.expand_shape %m{k} [[0, 1], [2]] output_shape "
            f"[{rows}, {rest}, {results}] : {product} into {out}",
            f"%t{k} = tensor.empty() : {turned}",
            f"%u{k} = linalg.transpose ins(%r{k} : {out}) outs(%t{k} : {turned}) "
            f"permutation = [0, 2, 1]",
            f"{name} = tensor.collapse_shape %u{k} [[0], [1, 2]] : {turned} into {last}",
        ]
        current = name
    case.linear = lambda v: reference.mkm(v["x"], [v[n] for n in names], "N", ["N"] * len(names), 0)
    case.num_terms = sum(s[0] for s in sizes) + len(sizes)
    case.num_stores = len(sizes)
    case.returns = case.output([rows, total], [rows, total], element).mlir
    case.result = "y"
