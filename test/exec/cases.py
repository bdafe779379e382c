"""Which cases there are: an exhaustive list over small shapes, then random ones.

Case numbers 0 .. len(exhaustive())-1 go through every operation, type and op()
combination, and through all kinds of scalars, destinations, layouts and
epilogues (exhaustive.py); the rest take random shapes (random_cases.py). From
`FIRST_PROGRAM` on, cases are programs of several operations, from `FIRST_PAIR` on random
functions of pairs (pairs.py, pair_gradients.py). `make(seed, i)` builds case i; the same
seed gives the same cases.

SPDX-License-Identifier: MIT
"""

import math

import numpy as np

import chains
import pair_gradients
import pairs
import programs
import reference
from builder import ALL_OPS, Case
from dtypes import FLOAT8, TYPES
from exhaustive import exhaustive
from random_cases import random_parameters

#: Numbers of the cases that are programs of several operations (programs.py).
FIRST_PROGRAM = 1_000_000
#: Numbers of random functions of pairs; what their arrays and pairs of elements are at most.
FIRST_PAIR, MAX_PAIRS = 2_000_000, 500_000
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
    """Non-temporal stores for some, which only large ones do by themselves, unless they have a plan."""
    if any(attribute.startswith("plan = ") for attribute in p["attributes"]):
        return []
    if case.index % 5 != 2 and not p.get("streamed"):
        return []
    case.tags.add("streamed")
    return ["plan = #kron.cpu_plan<stream_bytes = 1>"]


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
    # Sums of 16 bits may be left in f32.
    is_wide = p["wide"] and case.element is not case.scalar_element
    case.tags |= {"wide"} if is_wide else set()
    case.finish("kron.bias_grad", f"ins(%x : {x.mlir})", [p["features"]], y_dims,
                [("x", 1 if first else 0)], p, attributes=attributes,
                out_element=case.scalar_element if is_wide else None)


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
    if p["op"] == "pairwise_grad":
        return pair_gradients.GradCase(index, p)
    if p["op"] in pairs.OPS:
        return pairs.PairCase(index, p)
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


def parameters(seed, index):
    if index >= FIRST_PAIR:
        number = index - FIRST_PAIR
        rng = np.random.default_rng([seed, number, 10])
        return (pair_gradients if number % 4 == 3 else pairs).random(rng, MAX_PAIRS)
    if index >= FIRST_PROGRAM:
        return programs.parameters(seed, index - FIRST_PROGRAM)
    listed = exhaustive()
    return listed[index] if index < len(listed) else random_parameters(seed, index)


def make(seed, index):
    return build(index, parameters(seed, index))
