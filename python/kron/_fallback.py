"""Calls that the fast path does not take: checked, converted, and given back to it.

Everything that can be wrong with an argument becomes an exception here that names
the argument, so the fast path (python/src) only needs to know what it can do.

SPDX-License-Identifier: MIT
"""

import importlib
import math
import numbers

import numpy as np
# NumPy imports it when it is used first; here that is part of an import that fork waits for.
import numpy.ma  # noqa: F401

from kron import _core
from kron._rules import (ACTIVATIONS, PRECISIONS, check_activation, check_addend, check_choice,
                         check_pattern, infer_product, infer_sparse, letter_of, letters_of,
                         patterns_of)

#: Element types by NumPy's names.
TYPES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "int64": "i64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}

#: Modules that take over for the arrays of a library, by the name of its package.
#: Each has functions of the same names and parameters as here.
LIBRARIES = {"torch": "kron.torch", "kron": "kron.ir"}

_PRODUCT = ("x", "factors", "alpha", "beta", "z", "out", "trans_x", "trans_factors", "precision",
            "stream")
_SPARSE = ("x", "weights", "pattern", "layout", "bias", "z", "epilogue", "alpha", "beta", "out",
           "scale", "residual", "trans_weights", "precision", "stream")
_PARAMETERS = {
    "mkm": (_PRODUCT, 2), "kmm": (_PRODUCT, 2), "batched": (_PRODUCT, 2),
    "ksmm": (_SPARSE, 4), "ksmm_chain": (_SPARSE, 4),
}
#: Axes of an array at most.
_MOST_AXES = 16
#: Arguments that are one array.
ARRAYS = ("x", "z", "out", "bias", "residual")


# --- arguments --------------------------------------------------------------------


def bind(name, args, kwargs):
    """Arguments by parameter; those that are None are left out."""
    parameters, num_positional = _PARAMETERS[name]
    if len(args) > num_positional:
        raise TypeError(f"{name}() expects at most {num_positional} arguments by position, "
                        f"but got {len(args)}")
    bound = dict(zip(parameters, args))
    for key, value in kwargs.items():
        if key not in parameters:
            raise TypeError(f"{name}() has no argument '{key}'")
        if key in bound:
            raise TypeError(f"{name}() got argument '{key}' twice")
        bound[key] = value
    for key in parameters[:2]:
        if bound.get(key) is None:
            raise TypeError(f"{name}() expects argument '{key}'")
    return {key: value for key, value in bound.items() if value is not None}


def _sequence(value, name):
    if isinstance(value, np.ndarray) or not isinstance(value, (list, tuple)):
        raise TypeError(f"expects {name} to be a list or tuple of arrays, "
                        f"but got {type(value).__name__}")
    if not value:
        raise ValueError(f"expects {name} to hold at least 1 array, but got none")
    return list(value)


def _list_name(name):
    return "factors" if name in ("mkm", "kmm", "batched") else "weights"


def _arrays_of(name, bound):
    """(name of the argument, value) of every array."""
    found = [(key, bound[key]) for key in ARRAYS if key in bound]
    key = _list_name(name)
    if name == "ksmm":
        return found + [(key, bound[key])]
    return found + [(f"{key}[{i}]", value) for i, value in enumerate(_sequence(bound[key], key))]


def call(name, args, kwargs):
    """What the fast path calls."""
    bound = bind(name, args, kwargs)
    if name == "ksmm" and _has_float8(bound):
        from kron import _float8

        return _float8.ksmm(bound)
    arrays = _arrays_of(name, bound)
    for _, value in arrays:
        package = type(value).__module__.partition(".")[0]
        if package in LIBRARIES:
            function = getattr(importlib.import_module(LIBRARIES[package]), name)
            return function(**bound)
    foreign = next((value for _, value in arrays if is_foreign(value)), None)
    if foreign is not None:
        from kron import _interop

        return _interop.call(name, bound, foreign)
    return _call_numpy(name, bound)


def _has_float8(bound):
    """Whether x or the weights are of 8 bits."""
    return any("float8_e" in str(getattr(bound[key], "dtype", "")) for key in ("x", "weights"))


def is_foreign(value):
    """Whether `value` is an array of another library."""
    return not isinstance(value, (np.ndarray, np.generic)) and (
        hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__"))


def describe(value):
    return "a NumPy array" if isinstance(value, np.ndarray) else f"{type(value).__name__}"


# --- NumPy ------------------------------------------------------------------------


def element_type(dtype, name):
    """The element type for a dtype, or TypeError."""
    if dtype.name not in TYPES:
        raise TypeError(f"expects {name} to have dtype {', '.join(list(TYPES)[:-1])} or "
                        f"complex128, but got {dtype}")
    if dtype.name == "bfloat16":
        _core.register_type("bf16", dtype.num)
    return TYPES[dtype.name]


def _to_array(value, name):
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"expects {name} to be a plain array, but got a masked array")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise TypeError(f"expects {name} to be an array, but got {type(value).__name__}: "
                        f"{error}") from None
    element_type(array.dtype.newbyteorder("="), name)
    # NumPy's broadcasting gives up on more than 32 with a RuntimeError.
    if array.ndim > _MOST_AXES:
        raise ValueError(f"expects {name} to have at most {_MOST_AXES} dimensions, "
                         f"but got {array.ndim}")
    return array


def _usable(array):
    """`array`, or a copy that the fast path takes."""
    native = array.dtype.newbyteorder("=")
    itemsize = array.itemsize
    if (array.dtype != native or not array.flags.aligned
            or any(size > 1 and (stride < 0 or stride % itemsize)
                   for size, stride in zip(array.shape, array.strides))):
        return np.array(array, dtype=native, order="C", copy=True)
    return array


def _copy_unless_contiguous(array, axes):
    """A row-major copy of an array none of whose `axes` is contiguous."""
    array = _usable(array)
    if any(array.shape[a] <= 1 or array.strides[a] == array.itemsize for a in axes):
        return array
    return np.ascontiguousarray(array)


def _common_dtype(arrays):
    """The dtype that all inputs are computed in."""
    try:
        dtype = np.result_type(*(array.dtype.newbyteorder("=") for array in arrays))
    except TypeError:
        names = ", ".join(sorted({str(array.dtype) for array in arrays}))
        raise TypeError(f"expects arrays of dtypes with a common one, but got {names}") from None
    element_type(dtype, "the arrays together")
    return dtype


def to_number(value, dtype, name):
    """alpha, beta or scale as a Python number that an element type takes."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Number):
        raise TypeError(f"expects {name} to be a number, but got {type(value).__name__}")
    kind = kind_of(dtype)
    if kind == "i":
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, numbers.Integral):
            raise TypeError(f"expects {name} to be an integer for {dtype} arrays, but got {value}")
        value = int(value)
        info = np.iinfo(dtype)
        if not info.min <= value <= info.max:
            raise OverflowError(f"expects {name} to fit {dtype}, but got {value}")
        return value
    if kind != "c" and isinstance(value, complex):
        raise TypeError(f"expects {name} to be real for {dtype} arrays, but got {value}")
    try:
        return complex(value) if kind == "c" else float(value)
    except OverflowError:
        raise OverflowError(f"expects {name} to fit {dtype}, but got a larger number") from None


def _check_out(out, shape, dtype):
    if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
        raise TypeError(f"expects out to be a plain array, but got {type(out).__name__}")
    if out.dtype.newbyteorder("=") != dtype:
        raise TypeError(f"expects out to have dtype {dtype}, but got {out.dtype}")
    if out.shape != shape:
        raise ValueError(f"expects out to have shape {shape}, but got {out.shape}")
    if not out.flags.writeable:
        raise ValueError("expects out to be writable, but it is read-only")
    if out.size and any(size > 1 and stride == 0
                        for size, stride in zip(out.shape, out.strides)):
        raise ValueError("expects the elements of out to be apart, but it is a broadcast view")


def _needs_copy_of_out(out, inputs):
    """Whether the result cannot be written straight into `out`."""
    return (_usable(out) is not out or type(out) is not np.ndarray
            or any(np.may_share_memory(out, array) for array in inputs))


def _call_numpy(name, bound, allocate=None):
    """The call; allocate(shape, dtype) makes the result if `out` does not give it."""
    bound = dict(bound)
    bound.pop("stream", None)
    check_choice(bound.get("precision", "full"), PRECISIONS, "precision")
    out = bound.pop("out", None)
    arrays = {key: _to_array(value, key) for key, value in _arrays_of(name, bound)}
    dtype = _common_dtype(arrays.values())
    arrays = {key: _usable(array.astype(dtype, copy=False)) for key, array in arrays.items()}
    for key in ("alpha", "beta"):
        if key in bound:
            bound[key] = to_number(bound[key], dtype, key)
    check_addend("z" in arrays, bound.get("beta", 0))
    if "z" not in arrays:
        bound.pop("beta", None)  # 0 of whatever type
    kind = _Product if _list_name(name) == "factors" else _Sparse
    return kind(name, bound, arrays, dtype, allocate).run(out)


class _Call:
    """A call on usable arrays of one dtype."""

    def __init__(self, name, bound, arrays, dtype, allocate=None):
        self.name, self.bound, self.dtype, self.allocate = name, bound, dtype, allocate
        self.x, self.z = arrays["x"], arrays.get("z")
        self.arrays = arrays

    def options(self, names):
        return {key: self.bound[key] for key in names if key in self.bound}

    def inputs(self):
        return [self.x, *self.operands] + [self.arrays[key] for key in ("z", "bias", "residual")
                                           if key in self.arrays]

    def finish(self, out, shape):
        """Runs into `out` or a new array."""
        if out is None:
            return self.launch(self.allocate and self.allocate(shape, self.dtype))
        _check_out(out, shape, self.dtype)
        others = [array for array in self.inputs() if array is not self.z]
        if self.z is not None and not (
                self.z.shape == out.shape and self.z.strides == out.strides
                and self.z.ctypes.data == out.ctypes.data):
            others.append(self.z)
        if _needs_copy_of_out(out, others):
            out[...] = self.launch(None)
        else:
            self.launch(out)
        return out


class _Product(_Call):
    """mkm, kmm and batched."""

    def __init__(self, name, bound, arrays, dtype, allocate=None):
        super().__init__(name, bound, arrays, dtype, allocate)
        self.operands = [arrays[f"factors[{i}]"] for i in range(len(bound["factors"]))]
        count = len(self.operands)
        if count > 24:
            raise ValueError(f"expects factors to hold at most 24 arrays, but got {count}")
        self.trans_x = letter_of(bound.get("trans_x", False), "trans_x")
        self.trans = letters_of(bound.get("trans_factors", False), count, "trans_factors")
        self.vector = self._as_matrix()
        sizes, self.shape = infer_product(
            name, self.x.shape, [factor.shape for factor in self.operands], self.trans_x,
            self.trans, allows_empty=True)
        self.p = [p for p, _ in sizes]
        self.operands = [_copy_unless_contiguous(factor, (-1,) if trans == "C" else (-1, -2))
                         for factor, trans in zip(self.operands, self.trans)]

    def _as_matrix(self):
        """Gives a vector the axis that it lacks; returns where, or None."""
        if self.name == "batched" or self.x.ndim != 1:
            return None
        axis = -2 if (self.name == "mkm") == (self.trans_x == "N") else -1
        self.x = np.expand_dims(self.x, axis)
        return -2 if self.name == "mkm" else -1

    def run(self, out):
        shape = self.shape
        if self.vector is not None:
            axis = len(shape) + self.vector
            shape = shape[:axis] + shape[axis + 1:]
        if self.z is not None:
            _core.check_broadcast("z", self.z.shape, shape)
            if self.vector is not None and self.z.ndim:
                self.z = np.expand_dims(np.broadcast_to(self.z, shape), self.vector)
        if len(self.shape) > _MOST_AXES:
            raise ValueError(f"expects a result of at most {_MOST_AXES} dimensions, but got "
                             f"{len(self.shape)}")
        if self.vector is None:
            return self.finish(out, shape)
        if out is not None:
            _check_out(out, shape, self.dtype)
            self.finish(np.expand_dims(out, self.vector), self.shape)
            return out
        return self.finish(None, self.shape).reshape(shape)

    def launch(self, out):
        if 0 in self.p and 0 not in self.shape:
            return self._empty_sum(out)
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype) if out is None else out
        function = getattr(_core, "raw_" + self.name)
        return function(self.x, self.operands, z=self.z, out=out, trans_x=self.trans_x,
                        trans_factors=self.trans,
                        **self.options(("alpha", "beta", "precision")))

    def _empty_sum(self, out):
        """Nothing is summed: beta * z."""
        result = np.empty(self.shape, self.dtype) if out is None else out
        beta = self.bound.get("beta", 0)
        result[...] = 0 if beta == 0 else np.multiply(self.z, beta).astype(self.dtype)
        return result


def unpack_epilogue(bound):
    """The activation in `bound`, from which a dict with activation, scale and residual, a
    way to say them together, is taken apart."""
    epilogue = bound.get("epilogue", "identity")
    if isinstance(epilogue, dict):
        unknown = set(epilogue) - {"activation", "scale", "residual"}
        if unknown:
            raise ValueError("expects epilogue to hold activation, scale and residual, "
                             f"but got {sorted(map(str, unknown))}")
        for key in ("scale", "residual"):
            if epilogue.get(key) is not None:
                if key in bound:
                    raise TypeError(f"expects {key} once, but it is in epilogue too")
                bound[key] = epilogue[key]
        epilogue = epilogue.get("activation") or "identity"
    check_choice(epilogue, ACTIVATIONS, "epilogue")
    bound["epilogue"] = epilogue
    return epilogue


def kind_of(dtype):
    """NumPy's letter for a kind of numbers; f for bfloat16, which NumPy does not know."""
    return "f" if dtype.name == "bfloat16" else dtype.kind


class _Sparse(_Call):
    """ksmm and ksmm_chain."""

    def __init__(self, name, bound, arrays, dtype, allocate=None):
        super().__init__(name, bound, arrays, dtype, allocate)
        self._take_epilogue()
        chain = name == "ksmm_chain"
        count = len(bound["weights"]) if chain else 1
        names = [f"weights[{i}]" for i in range(count)] if chain else ["weights"]
        if count > 24:
            raise ValueError(f"expects weights to hold at most 24 arrays, but got {count}")
        self.trans = letters_of(bound.get("trans_weights", False), count, "trans_weights")
        self.layout = bound.get("layout", "batch_first")
        patterns = bound.get("pattern")
        for key, pattern in zip(names, patterns_of(patterns, count) if chain else [patterns]):
            if pattern is not None:
                check_pattern(pattern, arrays[key].shape, key)
        bias = arrays.get("bias")
        self.shape = infer_sparse(
            self.x.shape, [arrays[key].shape for key in names], self.trans, self.layout, chain,
            None if bias is None else bias.shape,
            **{key: arrays[key].shape for key in ("z", "residual") if key in arrays})
        self.operands = [_copy_unless_contiguous(arrays[key], (-1,)) for key in names]
        if bias is not None:
            arrays["bias"] = np.ascontiguousarray(bias)

    def _take_epilogue(self):
        self.activation = unpack_epilogue(self.bound)
        if "residual" in self.bound and "residual" not in self.arrays:
            residual = _to_array(self.bound["residual"], "residual")
            self.arrays["residual"] = _usable(residual.astype(self.dtype, copy=False))
        check_activation(self.activation, kind_of(self.dtype), self.dtype)
        if "scale" in self.bound:
            scale = to_number(self.bound["scale"], self.dtype, "scale")
            if isinstance(scale, complex):
                if scale.imag:
                    raise TypeError(f"expects scale to be real, but got {scale}")
                scale = scale.real
            if not math.isfinite(scale):
                raise ValueError(f"expects scale to be finite, but got {scale}")
            self.bound["scale"] = scale

    def run(self, out):
        return self.finish(out, self.shape)

    def launch(self, out):
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype) if out is None else out
        function = getattr(_core, "raw_" + self.name)
        weights = self.operands if self.name == "ksmm_chain" else self.operands[0]
        trans = self.trans if self.name == "ksmm_chain" else self.trans[0]
        options = dict(self.options(("alpha", "beta", "precision", "scale")),
                       layout=self.layout, epilogue=self.activation, trans_weights=trans,
                       bias=self.arrays.get("bias"))
        z, residual = self.z, self.arrays.get("residual")
        try:
            return function(self.x, weights, z=z, residual=residual, out=out, **options)
        except ValueError:
            # Batch dimensions that are not one axis in memory: copies are.
            def dense(array):
                return None if array is None else np.ascontiguousarray(
                    np.broadcast_to(array, self.shape))

            result = function(np.ascontiguousarray(self.x), weights, z=dense(z),
                              residual=dense(residual), **options)
        if out is None:
            return result
        out[...] = result
        return out
