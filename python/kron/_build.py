"""Kernels for calls: a description from the fast path becomes MLIR and is compiled.

SPDX-License-Identifier: MIT
"""

import contextlib
import sys

from kron._core import infer_features

_recorders = []


def _array(sizes, element, any_inner=False):
    """A memref with free strides, the innermost one 1 unless `any_inner`."""
    if not sizes:
        return f"memref<{element}>"
    text = "".join("?x" if size is None else f"{size}x" for size in sizes)
    strides = ["?"] * (len(sizes) - 1) + ["?" if any_inner else "1"]
    return f"memref<{text}{element}, strided<[{', '.join(strides)}], offset: ?>>"


def _tensor(sizes, element):
    text = "".join("?x" if size is None else f"{size}x" for size in sizes)
    return f"tensor<{text}{element}>"


def scalar_type(element):
    return "f32" if element in ("f16", "bf16") else element


def _op(trans, name):
    return f"%{name}" if trans == "N" else f"{trans}(%{name})"


class _Function:
    """Arguments of a function while its text is put together."""

    def __init__(self, element):
        self.element = element
        self.scalar = scalar_type(element)
        self.args = []

    def add(self, name, mlir):
        self.args.append(f'%{name}: {mlir} {{kron.name = "{name}"}}')
        return mlir

    def scaling(self, description, z_type):
        """The clauses alpha, beta and addend, and their arguments."""
        text = ""
        if description["alpha"]:
            self.add("alpha", self.scalar)
            text += f" alpha(%alpha : {self.scalar})"
        if description["addend"]:
            self.add("beta", self.scalar)
            text += f" beta(%beta : {self.scalar})"
        if description["addend"] == 1:
            self.add("z", z_type)
            text += f" addend(%z : {z_type})"
        return text

    def text(self, body):
        return (f"func.func @main({', '.join(self.args)}) {{\n  {body}\n  return\n}}\n")


def _attributes(items):
    return f" {{{', '.join(items)}}}" if items else ""


def _precision(description):
    value = description["precision"]
    return [] if value == "full" else [f"precision = #kron.precision<{value}>"]


def _product(description):
    op, element = description["op"], description["type"]
    batch = [None] * description["batch_rank"]
    factors = description["factors"]
    p, q = 1, 1
    for factor_p, factor_q, _, _ in factors:
        p *= factor_p
        q *= factor_q
    if op == "mkm":
        core_x, core_y = [None, p], [None, q]
    elif op == "kmm":
        core_x, core_y = [p, None], [q, None]
    else:
        core_x, core_y = [f[0] for f in factors], [f[1] for f in factors]
    if description["trans_x"] != "N":
        core_x.reverse()
    function = _Function(element)
    x = function.add("x", _array(batch + core_x, element, description["any_x"]))
    names, types = [], []
    for i, (factor_p, factor_q, trans, batched) in enumerate(factors):
        core = [factor_p, factor_q] if op == "mkm" else [factor_q, factor_p]
        if trans != "N":
            core.reverse()
        types.append(function.add(f"f{i}", _array(batch * batched + core, element)))
        names.append(_op(trans, f"f{i}"))
    z = _array(batch + core_y, element, description["any_z"])
    scaling = function.scaling(description, z)
    y = function.add("y", _array(batch + core_y, element, description["any_y"]))
    return function.text(
        f"kron.{op} ins({_op(description['trans_x'], 'x')} : {x}) "
        f"factors({', '.join(names)} : {', '.join(types)}) "
        f"outs(%y : {y}){scaling}{_attributes(_precision(description))}")


#: The largest number of a floating-point type, and the smallest one of full precision.
_RANGES = {"f32": (2.0**128 - 2.0**104, 2.0**-126), "f64": (sys.float_info.max, sys.float_info.min)}


def _parts(number, scalar):
    """(real and imaginary part or just the number, their type)"""
    if scalar.startswith("complex"):
        number = complex(number)
        return (number.real, number.imag), scalar[8:-1]
    return (number,), scalar


def has_range_for(number, scalar):
    """Whether a scalar type has the number, rounded but with all its digits."""
    parts, kind = _parts(number, scalar)
    if kind not in _RANGES:
        return True
    most, least = _RANGES[kind]
    return all(part == 0 or least <= abs(part) <= most for part in parts)


def check_number(number, scalar, name):
    """Refuses a constant that is not finite in its type."""
    parts, kind = _parts(number, scalar)
    if kind in _RANGES and not all(abs(part) <= _RANGES[kind][0] for part in parts):
        raise ValueError(f"expects {name} to be a finite number of type {scalar}, "
                         f"but got {number}")


def literals(number, scalar, name="the number"):
    """(numbers as MLIR reads them, their type); several for a complex type."""
    check_number(number, scalar, name)
    parts, kind = _parts(number, scalar)
    if kind not in _RANGES:
        return [str(int(part)) for part in parts], kind
    texts = [repr(float(part)) for part in parts]
    return [text if "." in text else text.replace("e", ".0e") for text in texts], kind


def attribute(number, scalar, name="the number"):
    """A number as an attribute of a scalar type."""
    texts, kind = literals(number, scalar, name)
    if scalar.startswith("complex"):
        return f"#complex.number<:{kind} {', '.join(texts)}>"
    return f"{texts[0]} : {kind}"


def _matrix(features, layout, swapped):
    return [features, None] if (layout == "batch_last") != swapped else [None, features]


def _epilogue(description, function, make_array, features):
    """The clauses bias and residual with their attributes."""
    element, layout = description["type"], description["layout"]
    text = ""
    attributes = _precision(description)
    if layout == "batch_last":
        attributes.append("layout = #kron.layout<batch_last>")
    if description["activation"] != "identity":
        attributes.append(f"activation = #kron.activation<{description['activation']}>")
    if description["scale"] is not None:
        scale = attribute(description["scale"], function.scalar, "scale")
        attributes.append(f"scale = {scale}")
    if description["bias"]:
        mlir = function.add("bias", make_array([features], element))
        text += f" bias(%bias : {mlir})"
    if description["residual"]:
        sizes = _matrix(features, layout, False)
        mlir = function.add("residual", make_array(sizes, element, description["any_residual"]))
        text += f" residual(%residual : {mlir})"
    return text, attributes


def _ksmm(description):
    element, layout = description["type"], description["layout"]
    pattern, trans = description["weights"][0]
    inputs, outputs = infer_features(pattern, trans)
    function = _Function(element)
    swapped = description["trans_x"] != "N"
    x = function.add(
        "x", _array(_matrix(inputs, layout, swapped), element, description["any_x"]))
    dense = "x".join(map(str, pattern))
    k = function.add("k0", f"memref<{dense}x{element}>" if description["dense_weights"]
                     else _array(list(pattern), element))
    clauses, attributes = _epilogue(description, function, _array, outputs)
    sizes = _matrix(outputs, layout, False)
    scaling = function.scaling(description, _array(sizes, element, description["any_z"]))
    y = function.add("y", _array(sizes, element, description["any_y"]))
    return function.text(
        f"kron.ksmm ins({_op(description['trans_x'], 'x')} : {x}) "
        f"weights({_op(trans, 'k0')} : {k}) outs(%y : {y})"
        f"{scaling}{clauses}{_attributes(attributes)}")


def _ksmm_chain(description):
    """A function on tensors, so that the factors fuse."""
    element, layout = description["type"], description["layout"]
    weights = description["weights"]
    function = _Function(element)
    swapped = description["trans_x"] != "N"

    def make_array(sizes, element, any_inner=False):
        return _tensor(sizes, element)

    inputs = infer_features(*weights[0])[0]
    outputs = infer_features(*weights[-1])[1]
    x = function.add("x", _tensor(_matrix(inputs, layout, swapped), element))
    kernels = [function.add(f"k{i}", _tensor(list(pattern), element))
               for i, (pattern, _) in enumerate(weights)]
    clauses, attributes = _epilogue(description, function, make_array, outputs)
    result = _tensor(_matrix(outputs, layout, False), element)
    scaling = function.scaling(description, result)
    batch_axis = 1 if (layout == "batch_last") != swapped else 0
    body = [f"%axis = arith.constant {batch_axis} : index",
            f"%batch = tensor.dim %x, %axis : {x}"]
    layout_attributes = _precision(description)
    if layout == "batch_last":
        layout_attributes.append("layout = #kron.layout<batch_last>")
    current, current_type = _op(description["trans_x"], "x"), x
    for i, (pattern, trans) in enumerate(weights):
        last = i == len(weights) - 1
        kind = _tensor(_matrix(infer_features(pattern, trans)[1], layout, False), element)
        destination = f"%e{i}"
        if last and description["addend"] == 2:
            destination = "%y_in"
            function.args.append(f'%y_in: {kind} {{kron.name = "y", kron.result = 0 : i64}}')
        else:
            body.append(f"%e{i} = tensor.empty(%batch) : {kind}")
        end = f"{scaling}{clauses}{_attributes(attributes)}" if last \
            else _attributes(layout_attributes)
        body.append(
            f"%y{i} = kron.ksmm ins({current} : {current_type}) "
            f"weights({_op(trans, f'k{i}')} : {kernels[i]}) outs({destination} : {kind})"
            f"{end} -> {kind}")
        current, current_type = f"%y{i}", kind
    body.append(f"return {current} : {result}")
    lines = "\n  ".join(body)
    return (f"func.func @main({', '.join(function.args)}) -> ({result} "
            f"{{kron.name = \"y\"}}) {{\n  {lines}\n}}\n")


WRITERS = {"mkm": _product, "kmm": _product, "batched": _product, "ksmm": _ksmm,
            "ksmm_chain": _ksmm_chain}


def multiply_adds(sizes):
    """Per element of the result of a Kronecker product, in the cheapest order of
    factors, whose (contracted, resulting) sizes are given."""
    total, results = 0, 1
    for _, q in sizes:
        results *= q
    if results == 0:
        return 0
    current = 1
    for p, _ in sizes:
        current *= p
    # Shrinking factors first, and among those the strongest.
    for p, q in sorted(sizes, key=lambda s: s[1] / max(s[0], 1)):
        total += current * q
        current = current // max(p, 1) * q
    return total / results


def source(description):
    """The module for a description of the fast path."""
    return WRITERS[description["op"]](description)


def build(description):
    """The kernel for a description of the fast path."""
    from kron import _compile

    for descriptions in _recorders:
        descriptions.append(description)
    return _compile.compile(source(description), device=description["device"])


@contextlib.contextmanager
def recording():
    """Collects the descriptions of kernels that are built meanwhile."""
    descriptions = []
    _recorders.append(descriptions)
    try:
        yield descriptions
    finally:
        _recorders.remove(descriptions)
