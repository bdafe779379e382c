"""kron.ksmm on arrays of 8 bits: x, the weights or both in float8_e4m3fn or float8_e5m2.

Other than products of one type, these are compiled functions, one per pattern.

SPDX-License-Identifier: MIT
"""

import functools
import math

from kron import _build, _core
from kron._fallback import unpack_epilogue
from kron._quantize import KINDS, dtype_of
from kron._rules import (PRECISIONS, check_addend, check_choice, check_pattern, infer_sparse,
                         letter_of)

_FLOAT8 = {name: element for name, element in KINDS.items() if element != "i8"}
_RESULTS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
_ARRAYS = ("x", "weights", "bias", "z", "residual", "out")


def _dtype_name(value):
    return str(getattr(value, "dtype", "")).rpartition(".")[2]


def _result_type(bound):
    """The type of the arrays that are not of 8 bits, float32 if there are none."""
    found = {_dtype_name(bound[key]) for key in _ARRAYS
             if key in bound and _dtype_name(bound[key]) not in _FLOAT8} or {"float32"}
    if len(found) > 1 or not found <= set(_RESULTS):
        raise TypeError(f"expects arrays beside those of 8 bits to have one dtype of "
                        f"{', '.join(_RESULTS)}, but got {', '.join(sorted(found))}")
    return _RESULTS[found.pop()]


def _number(bound, key, default):
    value = bound.get(key, default)
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"expects {key} to be a real number, but got {type(value).__name__}")
    return float(value)


@functools.lru_cache(maxsize=256)
def _function(types, pattern, trans, layout, activation, scale, precision, extras, device):
    """On any number of rows; `extras` are the arguments beside x and the weights."""
    from kron import _compile, _jit

    x_type, weight_type, result = types
    features = _core.infer_features(pattern, trans)

    def matrix(size):
        return (None, size) if layout == "batch_first" else (size, None)

    program = _core.Program(on_tensors=True)
    x = program.argument("x", matrix(features[0]), x_type)
    weights = program.argument("weights", pattern, weight_type)
    sizes = matrix(features[1])
    operands = {"input": x, "weights": (weights, trans),
                "init": program.allocate(sizes, result, like=x,
                                         axis=0 if layout == "batch_first" else 1)}
    for name in extras:
        operands["addend" if name == "z" else name] = (
            program.scalar(name, "f32") if name in ("alpha", "beta") else
            program.argument(name, (features[1],) if name == "bias" else sizes, result))
    attributes = {"precision": precision, "layout": layout, "activation": activation}
    if scale is not None:
        _build.check_number(scale, "f32", "scale")
        attributes["scale"] = float(scale)
    y, = program.operation("ksmm", operands, attributes)
    program.result(y, "out")
    kernel = _compile.compile(program, device=device)
    return _jit.Function(kernel)


def _element(value, name, result):
    kind = _dtype_name(value)
    if kind in _FLOAT8:
        if not hasattr(value, "data_ptr"):
            dtype_of(kind)
        return _FLOAT8[kind]
    if _RESULTS.get(kind) != result:
        raise TypeError(f"expects {name} to have dtype {', '.join(_FLOAT8)} or that of the "
                        f"result, but got {kind or type(value).__name__}")
    return result


def _check(bound, trans):
    """Shapes of what must fit the weights; the kernel compares the rest with x."""
    shapes = {key: tuple(bound[key].shape) for key in _ARRAYS if key in bound}
    x, weights = shapes["x"], shapes["weights"]
    if "pattern" in bound:
        check_pattern(bound["pattern"], weights, "weights")
    result = infer_sparse(x, [weights], [trans], bound.get("layout", "batch_first"),
                          bias=shapes.get("bias"))
    if len(x) != 2:
        raise ValueError(f"expects x to have 2 dimensions in arrays of 8 bits, "
                         f"but got shape {x}")
    for key in ("z", "residual", "out"):
        if key in bound and shapes[key] != result:
            raise ValueError(f"expects {key} to have shape {result}, but got {shapes[key]}")


def ksmm(bound):
    """The call with arguments `bound`, by name; those that are None are left out."""
    from kron import _jit

    bound = dict(bound)
    unpack_epilogue(bound)
    weights = bound["weights"]
    layout, precision = bound.get("layout", "batch_first"), bound.get("precision", "full")
    check_choice(precision, PRECISIONS, "precision")
    trans = letter_of(bound.get("trans_weights", False), "trans_weights")
    _check(bound, trans)
    pattern = tuple(weights.shape)
    result = _result_type(bound)
    types = (_element(bound["x"], "x", result), _element(weights, "weights", result), result)
    scale = _number(bound, "scale", 1) if "scale" in bound else None
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"expects scale to be finite, but got {scale}")
    alpha, beta = _number(bound, "alpha", 1), _number(bound, "beta", 0)
    given = {}
    if alpha != 1:
        given["alpha"] = alpha
    check_addend("z" in bound, beta)
    if beta != 0:
        given |= {"beta": beta, "z": bound["z"]}
    given |= {key: bound[key] for key in ("bias", "residual") if key in bound}
    function = _function(types, pattern, trans, layout, bound["epilogue"], scale, precision,
                         tuple(given), _jit._device_of(bound["x"]))
    return function(bound["x"], weights, *given.values(), out=bound.get("out"))
