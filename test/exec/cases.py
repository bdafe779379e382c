"""Which cases there are: an exhaustive list over small shapes, then random ones.

Case numbers 0 .. len(exhaustive())-1 go through every operation, type and op()
combination, and through all kinds of scalars, destinations, layouts and
epilogues; the rest take random shapes from `SIZES` and `ROWS`. From `FIRST_PROGRAM`
on, cases are programs of several operations. `make(seed, i)` builds case i; the same
seed gives the same cases.

SPDX-License-Identifier: MIT
"""

import functools
import itertools
import math

import numpy as np

import chains
import programs
import reference
from builder import ADDENDS, ALPHA_KINDS, BETA_KINDS, MEMREF_LAYOUTS, Case
from dtypes import FLOAT8, REAL_FLOATS, TYPES

OPS = "NTC"
PRODUCTS = ("mkm", "kmm", "batched")
#: Numbers of the cases that are programs of several operations (programs.py).
FIRST_PROGRAM = 1_000_000
ALL_OPS = PRODUCTS + ("ksmm", "mode_product", "ksmm_grad", "factor_grad", "bias_grad")
SIZES = (1, 2, 3, 5, 7, 8, 12, 16, 31, 64)
ROWS = (0, 1, 2, 7, 64, 1000)
MAX_ELEMENTS = 200_000
MAX_FLOPS = 4_000_000
# The slow way, which unknown factors take, and unknown rows together with an unknown batch,
# adds one term after another: longer sums lose more digits than the tests allow.
MAX_SLOW_TERMS = 4000

#===------------------------------------------------------------------------===#
# Building one case from its parameters
#===------------------------------------------------------------------------===#


def swap_last(sizes):
    return sizes[:-2] + [sizes[-1], sizes[-2]]


def quoted(op, name):
    return f"%{name}" if op == "N" else f"{op}(%{name})"


def build_product(case, p):
    """kron.mkm, kron.kmm and kron.batched."""
    op, sizes, op_x, ops = case.op, p["sizes"], p["op_x"], p["ops"]
    dynamic_factors = "factors" in p["dynamic"]
    x_batch, f_batches = p["x_batch"], p["f_batches"]
    out_batch = list(np.broadcast_shapes(x_batch, *f_batches))
    inputs, outputs = [s[0] for s in sizes], [s[1] for s in sizes]
    flexible = [] if op == "batched" else [p["rows"]]
    if op == "batched":
        x_axes, y_axes = inputs, outputs
    else:
        x_axes, y_axes = [math.prod(inputs)], [math.prod(outputs)]

    def place(axes):
        if op == "mkm":
            return flexible + axes
        return axes + flexible

    def dims_of(batch, axes):
        """Sizes and declared sizes of an array with the axes of X or Y."""
        shape = list(batch) + place(axes)
        dims = list(batch) + place([None if dynamic_factors else a for a in axes])
        if "rows" in p["dynamic"] and flexible:
            dims[len(batch) + (0 if op == "mkm" else 1)] = None
        missing = len(out_batch) - len(batch)
        for i, size in enumerate(batch):
            if "batch" in p["dynamic"] and missing + i in shared_batch:
                dims[i] = None
        return shape, dims

    shared_batch = [i for i, n in enumerate(out_batch)
                    if (j := i - len(out_batch) + len(x_batch)) >= 0 and x_batch[j] == n != 1]
    shape, dims = dims_of(x_batch, x_axes)
    x_rank = len(shape)
    num_axes = len(sizes) if op == "batched" else 2
    if op_x != "N":
        # Batched reverses its axes, the matrix products swap two.
        shape = shape[: x_rank - num_axes] + shape[x_rank - num_axes :][::-1]
        dims = dims[: x_rank - num_axes] + dims[x_rank - num_axes :][::-1]
    x = case.array("x", shape, dims)
    factors = []
    for k, ((rows, columns), f_op, batch) in enumerate(zip(sizes, ops, f_batches)):
        stored = [rows, columns] if (op == "mkm") == (f_op == "N") else [columns, rows]
        shape = list(batch) + stored
        # Whether a batch size stretches has to be known: only 1 as such does.
        dims = [*batch, None, None] if dynamic_factors else shape
        factors.append(case.array(f"f{k}", shape, dims))
    y_shape, y_dims = dims_of(out_batch, y_axes)
    sources = []
    for i in range(len(y_shape)):
        j = i - len(out_batch)
        source = i - len(out_batch) + len(x_batch)
        if j >= 0 and op_x != "N" and num_axes == 2 and flexible:
            source = x_rank - 1 - j
        sources.append(("x", source) if source >= 0 else None)
    if dynamic_factors:
        sources = [None] * len(sources)
    names = [f.name for f in factors]
    case.names_poisoned_by_alpha = ["x", *names]
    compute = getattr(reference, op)
    num_batch = len(out_batch)
    case.linear = lambda v: compute(v["x"], [v[n] for n in names], op_x, ops, num_batch)
    case.num_terms = sum(inputs) + len(sizes)
    operands = (f"ins({quoted(op_x, 'x')} : {x.mlir}) "
                f"factors({', '.join(quoted(o, n) for o, n in zip(ops, names))}"
                f" : {', '.join(f.mlir for f in factors)})")
    case.tags |= {"x=" + op_x, f"N={len(sizes)}"} | {"f=" + o for o in ops}
    case.tags |= {"dynamic=" + d for d in p["dynamic"]}
    if any(f_batches):
        case.tags.add("batched-factors")
    if any(x_batch):
        case.tags.add("batch")
    attributes = list(p["attributes"])
    attributes += stream_some(case, p)
    case.finish("kron." + op, operands, y_shape, y_dims, sources, p, attributes=attributes)


def stream_some(case, p):
    """Results of some go past the caches, which only large ones do by themselves."""
    if case.index % 5 != 2 and not p.get("streamed"):
        return []
    case.tags.add("streamed")
    return ["schedule = #kron.schedule<stream_bytes = 1>"]


def build_ksmm(case, p):
    a, b, c, d = p["pattern"]
    stored = (a, b, c, d) if p["op_weights"] == "N" else (a, c, b, d)
    first = p["layout"] == "batch_first"
    rows = None if "rows" in p["dynamic"] else p["rows"]

    def place(features, batch_first=first):
        pair = [p["rows"], features], [rows, features]
        return pair if batch_first else tuple(swap_last(s) for s in pair)

    x_shape, x_dims = place(a * c * d, first == (p["op_x"] == "N"))
    y_shape, y_dims = place(a * b * d)
    weight_dims = [None] * 4 if "factors" in p["dynamic"] else stored
    of_8_bits = p.get("of_8_bits", (None, None))
    x = case.array("x", x_shape, x_dims, element=FLOAT8.get(of_8_bits[0]))
    weights = case.array("k", stored, weight_dims, element=FLOAT8.get(of_8_bits[1]))
    if any(of_8_bits):
        case.tags.add("8-bits")
    case.names_poisoned_by_alpha = ["x", "k"]
    clauses, attributes = case.epilogue(p, a * b * d, y_shape, y_dims, first)
    attributes += p["attributes"]
    if not first:
        attributes.append("layout = #kron.layout<batch_last>")
    attributes += stream_some(case, p)
    case.linear = lambda v: reference.ksmm(v["x"], v["k"], p["op_x"], p["op_weights"], p["layout"])
    case.num_terms = c
    operands = (f"ins({quoted(p['op_x'], 'x')} : {x.mlir}) "
                f"weights({quoted(p['op_weights'], 'k')} : {weights.mlir})")
    row_axis = 0 if first == (p["op_x"] == "N") else 1
    case.tags |= {"x=" + p["op_x"], "f=" + p["op_weights"], p["layout"]}
    case.tags |= {"dynamic=" + t for t in p["dynamic"]}
    sources = [("x", row_axis)] * 2
    case.finish("kron.ksmm", operands, y_shape, y_dims, sources, p, clauses, attributes)


def build_ksmm_grad(case, p):
    a, b, c, d = p["pattern"]
    first = p["layout"] == "batch_first"
    rows = None if "rows" in p["dynamic"] else p["rows"]

    def array(name, features):
        shape, dims = [p["rows"], features], [rows, features]
        return case.array(name, *([shape, dims] if first else map(swap_last, (shape, dims))))

    x, grad = array("x", a * c * d), array("g", a * b * d)
    case.names_poisoned_by_alpha = ["x", "g"]
    attributes = list(p["attributes"])
    if not first:
        attributes.append("layout = #kron.layout<batch_last>")
    shared = p.get("shared", (False, False))
    shape = [1 if shared[0] else a, b, c, 1 if shared[1] else d]
    if any(shared):
        attributes.append(f"product_pattern = array<i64: {a}, {b}, {c}, {d}>")
        case.tags.add("shared")
    axes = tuple(axis for axis, used in zip((0, 3), shared) if used)
    conjugated = [n for n, used in zip(("conj_input", "conj_grad"), p["conj"]) if used]
    case.linear = lambda v: reference.ksmm_grad(
        v["x"], v["g"], p["pattern"], p["layout"], *p["conj"]).sum(axes, keepdims=True)
    case.num_terms = p["rows"] * (a if shared[0] else 1) * (d if shared[1] else 1)
    case.tags |= {p["layout"], *conjugated} | {"dynamic=" + t for t in p["dynamic"]}
    # Whether weights are shared has to be known.
    y_dims = [None] * 4 if "factors" in p["dynamic"] and not any(shared) else shape
    case.finish("kron.ksmm_grad", f"ins(%x : {x.mlir}) grad(%g : {grad.mlir})", shape,
                y_dims, [None] * 4, p, attributes=attributes + conjugated)


def build_factor_grad(case, p):
    sizes, index, ops = p["sizes"], p["index"], p["ops"]
    right = p["layout"] == "batch_first"
    batch, rows = list(p["x_batch"]), p["rows"]
    terms = math.prod(batch) * rows * math.prod(
        max(s) for k, s in enumerate(sizes) if k != index)
    if terms > MAX_SLOW_TERMS:
        p = p | dict(dynamic=p["dynamic"][:1] if p["dynamic"][:1] == ("rows",) else ())

    def array(name, features):
        dims = [None if "batch" in p["dynamic"] else n for n in batch]
        tail, tail_dims = [rows, features], [None if "rows" in p["dynamic"] else rows, features]
        if not right:
            tail, tail_dims = tail[::-1], tail_dims[::-1]
        return case.array(name, batch + tail, dims + tail_dims)

    x = array("x", math.prod(s[0] for s in sizes))
    grad = array("g", math.prod(s[1] for s in sizes))
    others = []
    for k, size in enumerate(sizes[:index] + sizes[index + 1 :]):
        stored = list(size) if right == (ops[k] == "N") else list(size)[::-1]
        dims = [None, None] if "factors" in p["dynamic"] else stored
        others.append(case.array(f"f{k}", stored, dims))
    case.names_poisoned_by_alpha = ["x", "g", *(f.name for f in others)]
    attributes = [*p["attributes"], f"index = {index} : i64"]
    if not right:
        attributes.append("layout = #kron.layout<batch_last>")
    conjugated = [n for n, used in zip(("conj_input", "conj_grad"), p["conj"]) if used]
    case.linear = lambda v: reference.factor_grad(
        v["x"], v["g"], [v[f.name] for f in others], ops, index, p["layout"], *p["conj"])
    case.num_terms = sum(min(s) for s in sizes) + terms
    # X and the gradient are rounded with the other factors applied.
    case.num_stores = 3 if others else 1
    case.tags |= {p["layout"], *conjugated, f"N={len(sizes)}"} | {"f=" + o for o in ops}
    case.tags |= {"dynamic=" + t for t in p["dynamic"]} | ({"batch"} if batch else set())
    clause = ""
    if others:
        names = ", ".join(quoted(o, f.name) for o, f in zip(ops, others))
        clause = f" factors({names} : {', '.join(f.mlir for f in others)})"
    y_shape = list(sizes[index]) if right else list(sizes[index])[::-1]
    y_dims = [None, None] if "factors" in p["dynamic"] else y_shape
    case.finish("kron.factor_grad", f"ins(%x : {x.mlir}){clause} grad(%g : {grad.mlir})",
                y_shape, y_dims, [None] * 2, p, attributes=attributes + conjugated)


def build_bias_grad(case, p):
    first = p["layout"] == "batch_first"
    shape, dims = [p["rows"], p["features"]], [p["rows"], p["features"]]
    if "rows" in p["dynamic"]:
        dims[0] = None
    if "factors" in p["dynamic"]:
        dims[1] = None
    if not first:
        shape, dims = shape[::-1], dims[::-1]
    x = case.array("x", shape, dims)
    case.names_poisoned_by_alpha = ["x"]
    attributes = list(p["attributes"])
    if not first:
        attributes.append("layout = #kron.layout<batch_last>")
    case.linear = lambda v: reference.bias_grad(v["x"], p["layout"])
    case.num_terms = p["rows"]
    case.tags |= {p["layout"]} | {"dynamic=" + t for t in p["dynamic"]}
    y_dims = [None] if "factors" in p["dynamic"] else [p["features"]]
    case.finish("kron.bias_grad", f"ins(%x : {x.mlir})", [p["features"]], y_dims,
                [("x", 1 if first else 0)], p, attributes=attributes)


def build_mode_product(case, p):
    axis, shape, q = p["axis"], list(p["shape"]), p["q"]
    out_shape = shape[:axis] + [q] + shape[axis + 1 :]
    x_shape = [1 if i in p["stretched"] else n for i, n in enumerate(shape)]
    dims = list(x_shape)
    out_dims = list(out_shape)
    used = {int(d) for d in p["factor_dims"] if d not in "pq"}
    for i in p["dynamic_axes"]:
        if i < len(shape) and i not in (axis, *p["stretched"], *used):
            dims[i] = out_dims[i] = None
    factor_shape = []
    for d in p["factor_dims"]:
        if d in "pq":
            factor_shape.append(shape[axis] if d == "p" else q)
        else:
            factor_shape.append(1 if int(d) in p["factor_stretched"] else out_shape[int(d)])
    wide = case.element.store_unit and TYPES["f32"]
    x_element = wide if wide and p["wide"][0] else case.element
    y_element = wide if wide and p["wide"][1] else case.element
    x = case.array("x", x_shape, dims, element=x_element)
    factor = case.array("f0", factor_shape)
    case.names_poisoned_by_alpha = ["x", "f0"]
    case.linear = lambda v: reference.mode_product(
        v["x"], v["f0"], axis, p["factor_dims"], tuple(out_shape), p["conj"][0], p["conj"][1])
    case.num_terms = shape[axis]
    attributes = list(p["attributes"])
    attributes += [n for n, used in zip(("conj_input", "conj_factor"), p["conj"]) if used]
    case.tags |= {n for n, used in zip(("conj_input", "conj_factor"), p["conj"]) if used}
    case.tags |= {f"axis={axis}", f"rank={len(shape)}"}
    case.tags |= {"stretched"} if p["stretched"] or p["factor_stretched"] else set()
    case.tags |= {"varying-factor"} if used else set()
    case.tags |= {"f32-ends"} if wide and any(p["wide"]) else set()
    operands = (f"axis({axis}) ins(%x : {x.mlir}) "
                f"factor(%f0 [{', '.join(p['factor_dims'])}] : {factor.mlir})")
    sources = [("x", i) for i in range(len(shape))]
    case.finish("kron.mode_product", operands, out_shape, out_dims, sources, p,
                attributes=attributes, out_element=y_element)


def build(index, p):
    if p["op"] == "program":
        return programs.Program(index, p)
    rng = np.random.default_rng([index, 5])
    case = Case(index, rng, p["op"], p["type"], p["form"], p["memref_layout"])
    if "special" in p and p["alpha"] not in ("zero", "operand_zero"):
        case.special = p["special"]
        case.tags.add("special")
    if p["op"] == "chain":
        chains.build(case, p)
    elif p["op"] == "ksmm":
        build_ksmm(case, p)
    elif p["op"] == "ksmm_grad":
        build_ksmm_grad(case, p)
    elif p["op"] == "factor_grad":
        build_factor_grad(case, p)
    elif p["op"] == "bias_grad":
        build_bias_grad(case, p)
    elif p["op"] == "mode_product":
        build_mode_product(case, p)
    else:
        build_product(case, p)
    return case


#===------------------------------------------------------------------------===#
# Exhaustive list
#===------------------------------------------------------------------------===#


def _cycle(i):
    """The choices that every case makes beside what it is about; `i` counts
    through them so that neighbours differ and all pairs come up."""
    return {
        "form": ("tensor", "memref")[i % 2],
        "memref_layout": MEMREF_LAYOUTS[i // 2 % 3],
        "alpha": ALPHA_KINDS[i % 5],
        "beta": BETA_KINDS[i // 5 % 6],
        "addend": ADDENDS[i // 3 % 3],
        "init_argument": i % 9 == 0,
        "dynamic": [("rows",), (), ("rows", "batch"), (), ("factors",), ("rows",), (), ()][i // 2 % 8],
        "attributes": ["precision = #kron.precision<ieee>"] if i % 11 == 0 else [],
    }


_PRODUCT_SHAPES = (
    dict(sizes=[(2, 3), (4, 2)], rows=3, x_batch=(), f_batches=((), ())),
    dict(sizes=[(8, 8), (8, 8)], rows=5, x_batch=(), f_batches=((), ())),
    dict(sizes=[(3, 5), (1, 7)], rows=2, x_batch=(2,), f_batches=((), (2,))),
    dict(sizes=[(16, 4), (5, 16)], rows=17, x_batch=(), f_batches=((), ())),
    dict(sizes=[(4, 1), (3, 3)], rows=1, x_batch=(1, 3), f_batches=((2, 1), ())),
    dict(sizes=[(12, 8), (1, 2)], rows=20, x_batch=(), f_batches=((), ())),
    dict(sizes=[(7, 2), (2, 9)], rows=0, x_batch=(), f_batches=((3,), ())),
)


def _exhaustive_products(count):
    for op, element in itertools.product(PRODUCTS, TYPES):
        for op_x, *ops in itertools.product(OPS, OPS, OPS):
            i = next(count)
            yield _cycle(i) | dict(op=op, type=element, op_x=op_x, ops=ops,
                                   **_PRODUCT_SHAPES[i % 7])


def _exhaustive_scaling(count):
    """Every pair of alpha and beta, destination and form, on every operation."""
    for alpha, beta, addend, form in itertools.product(
            ALPHA_KINDS, BETA_KINDS, ADDENDS, ("tensor", "memref")):
        if (beta == "absent" and addend != "outs") or (form == "tensor" and addend == "same"):
            continue
        i = next(count)
        op = ALL_OPS[i % len(ALL_OPS)]
        p = _cycle(i) | dict(op=op, type=list(TYPES)[i // len(ALL_OPS) % 8])
        p |= dict(alpha=alpha, beta=beta, addend=addend, form=form)
        if op == "ksmm":
            p |= _ksmm_parameters(i)
        elif op == "ksmm_grad":
            p |= _grad_parameters(i)
        elif op == "factor_grad":
            p |= _factor_grad_parameters(i)
        elif op == "bias_grad":
            p |= _bias_grad_parameters(i)
        elif op == "mode_product":
            p |= _mode_parameters(i)
        else:
            p |= dict(op_x="N", ops=["N", "N"], **_PRODUCT_SHAPES[i % 3])
        yield p


def _ksmm_parameters(i):
    return dict(
        pattern=[(2, 3, 4, 5), (1, 8, 8, 16), (3, 1, 2, 1), (2, 16, 4, 1), (1, 5, 7, 3)][i % 5],
        rows=(3, 16, 1, 0, 9)[i // 2 % 5], op_x="N", op_weights="N", layout="batch_first",
        activation="identity", bias=False, residual=False, scale=False)


def _exhaustive_ksmm(count):
    for element, op_x, op_weights, layout in itertools.product(
            TYPES, OPS, OPS, ("batch_first", "batch_last")):
        i = next(count)
        p = _cycle(i) | _ksmm_parameters(i)
        yield p | dict(op="ksmm", type=element, op_x=op_x, op_weights=op_weights, layout=layout,
                       bias=i % 3 == 0, residual=i % 4 == 0, scale=i % 5 == 0)
    for element, activation, bias, residual, scale, layout in itertools.product(
            TYPES, ("identity", "relu", "gelu", "silu"), (False, True), (False, True),
            (False, True), ("batch_first", "batch_last")):
        if activation != "identity" and TYPES[element].is_complex:
            continue
        if activation in ("gelu", "silu") and element not in REAL_FLOATS:
            continue
        i = next(count)
        if i % 2 and element not in ("f32", "f64"):
            continue
        p = _cycle(i) | _ksmm_parameters(i)
        yield p | dict(op="ksmm", type=element, activation=activation, bias=bias,
                       residual=residual, scale=scale, layout=layout)


#: Factors that are contiguous along p in vectors, in parts of one and in periods of several,
#: and some that are not.
_FEW_ROWS_PATTERNS = ((2, 32, 64, 1), (1, 24, 64, 4), (1, 21, 24, 3), (2, 13, 8, 1),
                      (1, 8, 16, 32), (3, 6, 4, 2))


def _exhaustive_few_rows(count):
    """So few rows, of a known number, that factors are used as they lie, which has to be
    known, too."""
    for element, layout, pattern in itertools.product(
            TYPES, ("batch_first", "batch_last"), _FEW_ROWS_PATTERNS):
        # Weights of bf16 are read in pairs if there is one row.
        for rows in (None, 1) if element == "bf16" else (None,):
            i = next(count)
            yield _cycle(i) | _ksmm_parameters(i) | dict(
                op="ksmm", type=element, pattern=pattern, layout=layout, dynamic=(),
                form="memref", memref_layout=MEMREF_LAYOUTS[0],
                rows=rows or (7, 1, 2, 8, 4, 3, 5)[i % 7])


def _exhaustive_fibres(count):
    """Rows of an unknown number that share vectors, added to the array that they are taken
    from: none may be computed twice."""
    for element, sizes, rows in itertools.product(
            ("f32", "f64", "i32"), ([(5, 5)], [(3, 3)], [(6, 6)], [(2, 2), (3, 3)]), (7, 37, 100)):
        i = next(count)
        yield _cycle(i) | dict(op="mkm", type=element, sizes=sizes, ops=["N"] * len(sizes),
                               op_x="NT"[i % 2], x_batch=(), f_batches=((),) * len(sizes),
                               rows=rows, dynamic=("rows",), form="memref",
                               memref_layout=MEMREF_LAYOUTS[0], beta="operand", addend="same")


def _exhaustive_empty(count):
    """Arrays without columns or rows, of several factors."""
    for op, element, sizes in itertools.product(
            ("kmm", "mkm"), ("f32", "c64", "i64"),
            ([(3, 3), (5, 5)], [(3, 3), (2, 2), (5, 5), (7, 6)], [(4, 4), (4, 4), (64, 64)])):
        i = next(count)
        yield _cycle(i) | dict(op=op, type=element, sizes=sizes, ops=["N"] * len(sizes),
                               op_x="N", x_batch=(), f_batches=((),) * len(sizes), rows=0,
                               dynamic=())


def _exhaustive_many_rows(count):
    """Large factors that depend on an innermost axis that does not divide a register, and so
    many rows that this is put outside of the others."""
    for element, pattern, dynamic in itertools.product(
            TYPES, ((1, 97, 100, 3), (2, 96, 99, 5)), ((), ("rows",))):
        i = next(count)
        yield _cycle(i) | _ksmm_parameters(i) | dict(
            op="ksmm", type=element, pattern=pattern, layout="batch_first",
            dynamic=dynamic, rows=(128, 131)[i % 2])


def _exhaustive_streamed_blocks(count):
    """Blocks of sparse factors that end within a cache line, of which tiles take several, or
    all columns, so that results go past the caches from a copy."""
    for element, pattern, layout, dynamic in itertools.product(
            TYPES, ((8, 12, 8, 1), (16, 5, 16, 1), (4, 3, 4, 4)), ("batch_first", "batch_last"),
            ((), ("rows",))):
        i = next(count)
        yield _cycle(i) | _ksmm_parameters(i) | dict(
            op="ksmm", type=element, pattern=pattern, layout=layout, dynamic=dynamic,
            rows=(28, 37, 100, 12)[i % 4], streamed=True)


def _exhaustive_8_bits(count):
    """X, weights or both of 8 bits, beside results of all types."""
    pairs = (("e4m3", "e4m3"), ("e5m2", None), (None, "e4m3"), ("e4m3", "e5m2"))
    for element, pair, layout in itertools.product(
            REAL_FLOATS, pairs, ("batch_first", "batch_last")):
        for op_weights in "NT":
            i = next(count)
            yield _cycle(i) | _ksmm_parameters(i) | dict(
                op="ksmm", type=element, of_8_bits=pair, layout=layout, op_weights=op_weights,
                bias=i % 3 == 0, residual=i % 4 == 0, scale=i % 5 == 0,
                activation=("identity", "relu", "gelu")[i % 3])


def _grad_parameters(i):
    """Batches that leave something over from blocks of 64 and of 8, and do not."""
    return dict(
        pattern=[(2, 3, 4, 5), (1, 8, 8, 16), (3, 1, 2, 1), (2, 16, 4, 1), (1, 5, 7, 3),
                 (1, 4, 1, 8)][i % 6],
        rows=(3, 64, 1, 73, 0, 16, 138)[i % 7], layout=("batch_first", "batch_last")[i // 3 % 2],
        conj=(False, False))


def _exhaustive_grads(count):
    for element, layout, conj_input, conj_grad in itertools.product(
            TYPES, ("batch_first", "batch_last"), (False, True), (False, True)):
        for _ in range(3):
            i = next(count)
            yield _cycle(i) | _grad_parameters(i) | dict(
                op="ksmm_grad", type=element, layout=layout, conj=(conj_input, conj_grad))


def _factor_grad_parameters(i):
    """Factors that are applied to X, to the gradient or to neither, before and behind."""
    sizes = [[(4, 3)], [(3, 5), (4, 2)], [(2, 3), (5, 4), (3, 3)], [(8, 8), (8, 8), (8, 8)],
             [(1, 2), (3, 1)], [(2, 2), (7, 5), (16, 32)]][i % 6]
    return dict(sizes=sizes, index=i // 2 % len(sizes), ops=["N"] * (len(sizes) - 1),
                rows=(3, 16, 1, 0, 70)[i // 3 % 5], x_batch=((), (2,), (3, 2))[i // 4 % 3],
                layout=("batch_first", "batch_last")[i // 5 % 2], conj=(False, False))


def _bias_grad_parameters(i):
    return dict(features=(1, 7, 64, 300)[i % 4], rows=(3, 64, 1, 0, 73, 1000)[i % 6],
                layout=("batch_first", "batch_last")[i // 3 % 2])


def _exhaustive_factor_grads(count):
    for element, layout, conj, op in itertools.product(
            TYPES, ("batch_first", "batch_last"),
            ((False, False), (True, False), (True, True)), OPS):
        for _ in range(2):
            i = next(count)
            p = _cycle(i) | _factor_grad_parameters(i)
            yield p | dict(op="factor_grad", type=element, layout=layout, conj=conj,
                           ops=[op] * len(p["ops"]))
    for element, layout in itertools.product(TYPES, ("batch_first", "batch_last")):
        for _ in range(4):
            i = next(count)
            yield _cycle(i) | _bias_grad_parameters(i) | dict(
                op="bias_grad", type=element, layout=layout)
    for element, layout, shared in itertools.product(
            TYPES, ("batch_first", "batch_last"), ((True, False), (False, True), (True, True))):
        for _ in range(2):
            i = next(count)
            p = _cycle(i) | _grad_parameters(i) | dict(op="ksmm_grad", type=element)
            yield p | dict(layout=layout, shared=shared,
                           pattern=[(2, 3, 4, 5), (3, 8, 8, 16), (4, 1, 2, 96)][i % 3])


def _mode_parameters(i):
    return dict(axis=1, shape=(3, 4, 5), q=6, factor_dims="pq", stretched=(),
                factor_stretched=(), dynamic_axes=(0,) if i % 3 else (), conj=(False, False),
                wide=(False, False))


def _exhaustive_modes(count):
    shapes = ((5,), (4, 6), (3, 8, 16), (2, 3, 4, 5))
    for element, shape in itertools.product(TYPES, shapes):
        for axis in range(len(shape)):
            others = [str(a) for a in range(len(shape)) if a != axis]
            for extra in ([], others[:1], others[-1:], others):
                i = next(count)
                dims = ["p", "q", *extra]
                np.random.default_rng(i).shuffle(dims)
                yield _cycle(i) | _mode_parameters(i) | dict(
                    op="mode_product", type=element, axis=axis, shape=shape, q=(7, 4, 1)[i % 3],
                    factor_dims=dims, conj=(i % 2 == 1, i % 4 >= 2),
                    stretched=tuple(int(o) for o in others[:1]) if i % 5 == 0 else (),
                    factor_stretched=tuple(map(int, extra[:1])) if i % 3 == 0 else (),
                    dynamic_axes=(0, 2) if i % 4 else (), wide=(i % 4 in (1, 3), i % 4 in (2, 3)))


def _exhaustive_open_batches(count):
    """Arrays of an unknown number, each with a factor of its own."""
    for element, op, sizes in itertools.product(
            REAL_FLOATS, PRODUCTS, ([(31, 31)], [(12, 12), (2, 2), (16, 5)])):
        i = next(count)
        yield _cycle(i) | dict(
            op=op, type=element, sizes=sizes, rows=(3, 64, 200)[i % 3], x_batch=(2, 3)[: 1 + i % 2],
            f_batches=[(2, 3)[: 1 + i % 2] if k == i % len(sizes) else () for k in range(len(sizes))],
            op_x="N" if i % 3 else "T", ops=["N"] * len(sizes), alpha=ALPHA_KINDS[i % 3],
            dynamic=("batch", "rows") if i % 4 < 2 else ("batch",))


def _exhaustive_strided_addends(count):
    """Z with strides of its own behind factors of 1, which leave few elements in a vector."""
    for element, sizes, _ in itertools.product(
            ("f32", "f64", "c32", "c64"), ([(3, 1), (1, 3), (3, 5), (1, 5)], [(2, 2), (1, 4)]),
            range(6)):
        i = next(count)
        yield _cycle(i) | dict(
            op="mkm", type=element, sizes=sizes, rows=1, x_batch=(), f_batches=[()] * len(sizes),
            op_x="N", ops=["N"] * len(sizes), dynamic=(), form="memref", memref_layout="mixed",
            alpha=ALPHA_KINDS[i % 3], beta="const", addend="operand")


def _exhaustive_padded_rows(count):
    """Rows of whole cache lines with gaps between them, some of which go past the caches."""
    for element, last, _ in itertools.product(("f32", "f64"), (7, 16), range(10)):
        i = next(count)
        yield _cycle(i) | dict(
            op="mkm", type=element, sizes=[(3, 3), (8, 8), (5, 5), (last, last)], rows=2 + i % 3,
            x_batch=(), f_batches=[()] * 4, op_x="N", ops=["N"] * 4, dynamic=(), form="memref",
            memref_layout="rows", alpha="absent", beta="absent")


def _exhaustive_shared_rows(count):
    """One or two rows of so much work that several threads share them."""
    for element, (sizes, op_x), rows in itertools.product(
            ("f32", "f64", "c32", "i64"),
            (([(8, 8)] * 5, "N"), ([(31, 34), (33, 31), (34, 29)], "T"), ([(4, 4)] * 8, "N"),
             ([(128, 100), (96, 128)], "N")), (1, 2)):
        i = next(count)
        yield _cycle(i) | dict(op=("mkm", "kmm")[i // 2 % 2], type=element, sizes=sizes,
                               ops=["NT"[(i + k) % 2] for k in range(len(sizes))], op_x=op_x,
                               x_batch=(), f_batches=[()] * len(sizes), rows=rows, dynamic=())


def _exhaustive_small_epilogues(count):
    """What follows small factors, which several kernels of a GPU may take without it."""
    for element, pattern, layout, form in itertools.product(
            REAL_FLOATS, ((1, 3, 3, 1), (2, 8, 8, 1), (1, 4, 2, 3)),
            ("batch_first", "batch_last"), ("tensor", "memref")):
        i = next(count)
        yield _cycle(i) | _ksmm_parameters(i) | dict(
            op="ksmm", type=element, pattern=pattern, layout=layout, form=form,
            activation=("relu", "gelu", "identity")[i % 3], bias=bool(i % 2),
            residual=i % 3 > 0, scale=i % 5 == 0,
            attributes=["precision = #kron.precision<ieee>"] if i % 4 < 3 else [])


@functools.lru_cache
def exhaustive():
    count = itertools.count()
    return [*_exhaustive_products(count), *_exhaustive_scaling(count),
            *_exhaustive_ksmm(count), *_exhaustive_few_rows(count),
            *_exhaustive_modes(count), *_exhaustive_grads(count),
            *_exhaustive_factor_grads(count), *_exhaustive_8_bits(count),
            *_exhaustive_many_rows(count), *_exhaustive_fibres(count),
            *_exhaustive_empty(count), *_exhaustive_open_batches(count),
            *_exhaustive_strided_addends(count), *_exhaustive_padded_rows(count),
            *_exhaustive_shared_rows(count), *_exhaustive_small_epilogues(count),
            *_exhaustive_streamed_blocks(count)]


#===------------------------------------------------------------------------===#
# Random cases
#===------------------------------------------------------------------------===#


def _common(rng):
    name = str(rng.choice(list(TYPES), p=[.27, .27, .08, .08, .075, .075, .075, .075]))
    p = {
        "type": name,
        "form": str(rng.choice(["tensor", "memref"])),
        "memref_layout": str(rng.choice([*MEMREF_LAYOUTS, "mixed"])),
        "alpha": str(rng.choice(ALPHA_KINDS, p=[.45, .2, .25, .05, .05])),
        "beta": str(rng.choice(BETA_KINDS, p=[.4, .15, .2, .1, .1, .05])),
        "addend": str(rng.choice(ADDENDS)),
        "init_argument": bool(rng.random() < 0.2),
        "dynamic": tuple(t for t in ("rows", "batch") if rng.random() < 0.5),
        "attributes": ["precision = #kron.precision<ieee>"] if rng.random() < 0.1 else [],
    }
    if rng.random() < 0.05:
        p["dynamic"] += ("factors",)
    if not TYPES[name].is_integer and rng.random() < 0.04:
        p["special"] = [math.nan, math.inf, -math.inf][rng.integers(3)]
    return p


def _cost(rows, sizes):
    """Largest intermediate in elements and multiply-adds of any factor order."""
    elements = rows * math.prod(max(s) for s in sizes)
    return elements, elements * sum(min(s) for s in sizes)


def _random_batch(rng):
    if rng.random() < 0.7:
        return (), lambda: ()
    full = [int(n) for n in rng.choice([1, 2, 3], int(rng.integers(1, 3)))]

    def part():
        """A batch that stretches to the full one."""
        if rng.random() < 0.5:
            return ()
        kept = full[int(rng.integers(0, len(full))) :]
        return tuple(n if rng.random() < 0.6 else 1 for n in kept)

    x_batch = tuple(full) if rng.random() < 0.6 else part()
    return x_batch, part


def _random_product(rng, p):
    n = int(rng.choice(range(1, 11), p=[.15, .2, .2, .15, .1, .05, .05, .04, .03, .03]))
    square = rng.random() < 0.4
    sizes = []
    for _ in range(n):
        pair = [int(s) for s in rng.choice(SIZES, 2)]
        sizes.append((pair[0],) * 2 if square else tuple(pair))
    rows = int(rng.choice(ROWS, p=[.04, .16, .16, .24, .25, .15]))
    x_batch, part = _random_batch(rng)
    f_batches = tuple(part() if rng.random() < 0.5 else () for _ in range(n))
    batch = math.prod(np.broadcast_shapes(x_batch, *f_batches))
    while True:
        elements, flops = _cost(max(rows, 1) * batch, sizes)
        if elements <= MAX_ELEMENTS and flops <= MAX_FLOPS:
            break
        # Shrink the dearest part: a factor, or the rows when factors are small.
        k = max(range(n), key=lambda k: max(sizes[k]))
        if max(sizes[k]) <= 3 and rows > 1:
            rows = ROWS[ROWS.index(rows) - 1]
        else:
            sizes[k] = tuple(SIZES[max(SIZES.index(s) - 1, 0)] for s in sizes[k])
    uniform = rng.random() < 0.5
    return p | dict(op=str(rng.choice(PRODUCTS, p=[.4, .35, .25])), sizes=sizes, rows=rows,
                    x_batch=x_batch, f_batches=f_batches,
                    op_x="N" if uniform else str(rng.choice(list(OPS))),
                    ops=["N" if uniform else str(rng.choice(list(OPS))) for _ in range(n)])


def _random_ksmm(rng, p):
    while True:
        a, b, c, d = (int(s) for s in rng.choice(SIZES, 4))
        rows = int(rng.choice(ROWS))
        if max(rows, 1) * a * d * max(b, c) <= MAX_ELEMENTS and rows * a * b * c * d <= MAX_FLOPS:
            break
    real = p["type"] in REAL_FLOATS
    activations = ["identity", "relu", "gelu", "silu"] if real else ["identity"]
    p |= dict(op="ksmm", pattern=(a, b, c, d), rows=rows, op_x=str(rng.choice(list(OPS))),
              op_weights=str(rng.choice(list(OPS))),
              layout=str(rng.choice(["batch_first", "batch_last"])),
              activation=str(rng.choice(activations)), bias=bool(rng.random() < .4),
              residual=bool(rng.random() < .3), scale=bool(rng.random() < .3))
    if real and rng.random() < .2:
        kinds = [None, *FLOAT8]
        p["of_8_bits"] = tuple(kinds[i] for i in rng.integers(3, size=2))
    return p


def _random_grad(rng, p):
    p = _random_ksmm(rng, p)
    conj = bool(rng.random() < .3), bool(rng.random() < .3)
    shared = [bool(rng.random() < .2) and n > 1 for n in (p["pattern"][0], p["pattern"][3])]
    return p | dict(op="ksmm_grad", conj=conj, shared=shared)


def _random_factor_grad(rng, p):
    while True:
        sizes = [tuple(int(s) for s in rng.choice(SIZES, 2)) for _ in range(rng.integers(1, 5))]
        rows, batch = int(rng.choice(ROWS)), ((), (), (2,), (3, 1))[rng.integers(4)]
        elements, flops = _cost(max(rows, 1) * math.prod(batch), sizes)
        if elements <= MAX_ELEMENTS and flops <= MAX_FLOPS:
            break
    index = int(rng.integers(len(sizes)))
    uniform = rng.random() < 0.4
    if "special" in p:
        # An infinite X gives infinities or NaN, as the other factors are applied to X
        # or to G.
        p["special"] = math.nan
    return p | dict(op="factor_grad", sizes=sizes, index=index, rows=rows, x_batch=batch,
                    ops=["N" if uniform else str(rng.choice(list(OPS))) for _ in sizes[1:]],
                    layout=str(rng.choice(["batch_first", "batch_last"])),
                    conj=(bool(rng.random() < .3), bool(rng.random() < .3)))


def _random_mode(rng, p):
    while True:
        rank = int(rng.integers(1, 5))
        shape = tuple(int(s) for s in rng.choice(SIZES, rank))
        axis, q = int(rng.integers(rank)), int(rng.choice(SIZES))
        size = math.prod(shape) // shape[axis]
        if size * max(q, shape[axis]) <= MAX_ELEMENTS // 2 and size * q * shape[axis] <= MAX_FLOPS:
            break
    others = [a for a in range(rank) if a != axis]
    extra = [a for a in others if rng.random() < 0.3]
    dims = ["p", "q", *map(str, extra)]
    rng.shuffle(dims)
    return p | dict(op="mode_product", axis=axis, shape=shape, q=q, factor_dims=dims,
                    stretched=tuple(a for a in others if rng.random() < 0.1),
                    factor_stretched=tuple(a for a in extra if rng.random() < 0.3),
                    dynamic_axes=tuple(a for a in others if rng.random() < 0.4),
                    conj=(bool(rng.random() < .3), bool(rng.random() < .3)),
                    wide=(bool(rng.random() < .3), bool(rng.random() < .3)))


def random_parameters(seed, number):
    rng = np.random.default_rng([seed, number])
    p = _common(rng)
    kind = rng.random()
    if kind < 0.7:
        return _random_product(rng, p)
    if kind < 0.93:
        make_parameters = (_random_ksmm if kind < 0.79 else _random_grad if kind < 0.83
                           else _random_factor_grad if kind < 0.87 else _random_mode)
        return make_parameters(rng, p)
    return chains.parameters(rng, p)


def parameters(seed, index):
    if index >= FIRST_PROGRAM:
        return programs.parameters(seed, index - FIRST_PROGRAM)
    listed = exhaustive()
    return listed[index] if index < len(listed) else random_parameters(seed, index)


def make(seed, index):
    return build(index, parameters(seed, index))
