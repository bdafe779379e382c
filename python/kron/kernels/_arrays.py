"""Checks of the arrays and hyper-parameters of kernel matrices.

SPDX-License-Identifier: MIT
"""

import functools
import math
import numbers
import sys

import numpy as np

from kron import _core, _functions, _jit
from kron.kernels._programs import element_of

_ELEMENTS = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
is_tensor = _jit._is_tensor


def is_plain(array):
    """Whether it is a tensor, and PyTorch neither traces nor transforms what is done to it."""
    return not _functions.is_dynamo_compiling() and is_tensor(array) and _core.is_plain_context()


def check_array(value, name):
    """Refuses what is no NumPy array or tensor of a real floating-point type."""
    if not isinstance(value, np.ndarray) and not is_tensor(value):
        raise TypeError(f"expects {name} to be a NumPy array or a PyTorch tensor, but got "
                        f"{type(value).__name__}")
    if element_of(value) not in _ELEMENTS:
        raise TypeError(f"expects {name} to have dtype {', '.join(_ELEMENTS.values())}, but got {value.dtype}")


def check_like(value, name, other, other_name):
    """Refuses an array that is not of the library, type and device of another one."""
    if (type(value) is type(other) and value.dtype == other.dtype
            and getattr(value, "device", None) == getattr(other, "device", None)):
        return
    check_array(value, name)
    if is_tensor(value) != is_tensor(other):
        raise TypeError(f"expects {name} to be a {'tensor' if is_tensor(other) else 'NumPy array'} as "
                        f"{other_name}, but got {type(value).__name__}")
    if element_of(value) != element_of(other):
        raise TypeError(f"expects {name} to have dtype {other.dtype} as {other_name}, but got {value.dtype}")
    if is_tensor(value) and value.device != other.device:
        raise ValueError(f"expects {name} on {other.device} as {other_name}, but it is on {value.device}")


def check_matrix(value, name, axes):
    if value.ndim < 2:
        raise ValueError(f"expects {name} to have at least 2 axes, [..., {axes}], but got shape "
                         f"{tuple(value.shape)}")


def joined_batch(batch, other, name):
    """Two batches broadcast together."""
    if not other or tuple(other) == tuple(batch):
        return tuple(batch)
    try:
        return np.broadcast_shapes(tuple(batch), tuple(other))
    except ValueError:
        raise ValueError(f"expects the leading axes of {name} to broadcast with {tuple(batch)}, but got "
                         f"{tuple(other)}") from None


class Passed:
    """What checks of tensors gave, by what they depend on: calls like one before are not checked again."""

    _MOST = 1024

    def __init__(self):
        self._found = {}

    @staticmethod
    def key(*tensors):
        """Types, shapes and devices; None where a check may have more to say, or somebody traces it."""
        if not is_plain(tensors[0]) or any(type(tensor) is not type(tensors[0]) for tensor in tensors):
            return None
        return tuple([(tensor.shape, tensor.dtype, tensor.device) for tensor in tensors])

    def get(self, key):
        return None if key is None else self._found.get(key)

    def keep(self, key, value):
        if key is None:
            return
        if len(self._found) >= self._MOST:
            self._found.clear()
        self._found[key] = value


_points = Passed()


def check_points(a, b, a_name="a", b_name="b"):
    """Checks the rows of both sides, and gives the shape of their matrix."""
    key = Passed.key(a, b)
    shape = _points.get(key)
    if shape is None:
        shape = _check_points(a, b, a_name, b_name)
        _points.keep(key, shape)
    return shape


def _check_points(a, b, a_name, b_name):
    check_array(a, a_name)
    check_matrix(a, a_name, "M, K")
    check_like(b, b_name, a, a_name)
    check_matrix(b, b_name, "N, K")
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"expects the last axis of {b_name} to have size {a.shape[-1]} as that of {a_name}, but got "
                         f"shape {tuple(b.shape)}")
    return (*joined_batch(a.shape[:-2], b.shape[:-2], b_name), a.shape[-2], b.shape[-2])


def check_size(shape, array):
    """Refuses results that no memory holds."""
    if math.prod(shape) * array.dtype.itemsize > sys.maxsize:
        raise ValueError(f"expects results of at most {sys.maxsize} bytes, but a and b give shape {tuple(shape)}")


def accumulator_of(array):
    """NumPy's name of the type that sums and hyper-parameters have."""
    return "float64" if element_of(array) == "f64" else "float32"


def namespace(array):
    """The module of the array's library."""
    return sys.modules["torch"] if is_tensor(array) else np


def cast(array, dtype):
    """The array in a type of its library."""
    return array.to(dtype) if is_tensor(array) else array.astype(dtype, copy=False)


def host_values(array):
    """The elements as an array of NumPy; None where that would wait for a GPU, or PyTorch traces."""
    if not is_tensor(array):
        return array
    import torch

    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active() or array.device.type != "cpu":
        return None
    return array.detach().numpy()


@functools.lru_cache(maxsize=256)
def _host_scalar(value, dtype):
    import torch

    # What inference makes has no part in derivatives.
    with torch.inference_mode(False):
        return torch.full((), value, dtype=getattr(torch, dtype), device="cpu")


def scalar(value, dtype, like):
    """A number as a tensor without axes for `like`: of the host, where programs take it as a number, which no
    kernel has to write; while PyTorch traces or transforms, of its device."""
    if is_plain(like):
        return _host_scalar(value, dtype)
    import torch

    # Unlike a copy of a tensor of the host, a kernel that writes it is not waited for.
    return torch.full((), value, dtype=getattr(torch, dtype), device=like.device)


def hyper_parameter(value, name, like):
    """A number or an array as one of the library, device and accumulation type of `like`."""
    dtype = accumulator_of(like)
    # PyTorch's tracing cannot ask numbers whether they are tensors.
    is_number = isinstance(value, numbers.Real)
    takes_tensors = is_tensor(like)
    is_array = isinstance(value, np.ndarray) and (value.ndim == 0 or not takes_tensors)
    if isinstance(value, (bool, np.bool_)) or not (is_number or is_array or takes_tensors and is_tensor(value)):
        raise TypeError(f"expects {name} to be a number or a {'tensor' if takes_tensors else 'NumPy array'}, but got "
                        f"{type(value).__name__}")
    if is_array and value.dtype.kind not in "fiu":
        raise TypeError(f"expects {name} to have real elements, but got {value.dtype}")
    if not takes_tensors:
        return np.asarray(value, dtype)
    import torch

    if not is_number and not is_array:
        if value.ndim and value.device != like.device:
            raise ValueError(f"expects {name} on {like.device} as a, but it is on {value.device}")
        if value.is_complex() or value.dtype == torch.bool:
            raise TypeError(f"expects {name} to have real elements, but got {value.dtype}")
    if is_number:
        return scalar(float(value), dtype, like)
    return torch.as_tensor(value, dtype=getattr(torch, dtype), device=like.device)


@functools.lru_cache(maxsize=256)
def _is_positive(number, dtype):
    """Whether a number is what check_positive takes."""
    limits = np.finfo(dtype)
    return math.sqrt(limits.tiny) * 2 < number < float(limits.max)


def check_positive(array, name, shown):
    """Refuses values whose squares are not positive, finite elements of their type."""
    values = host_values(array)
    if values is None or (type(shown) in (int, float) and _is_positive(shown, values.dtype)):
        return
    if not np.all((values > 0) & np.isfinite(values)):
        raise ValueError(f"expects {name} to be positive and finite, but got {shown}")
    least = math.sqrt(np.finfo(values.dtype).tiny)
    if not np.all(values > least):
        raise ValueError(f"expects {name} to be more than {least:.3g}, whose square is none in "
                         f"{values.dtype}, but got {shown}")


def check_not_negative(array, name, shown):
    values = host_values(array)
    if values is not None and not np.all((values >= 0) & np.isfinite(values)):
        raise ValueError(f"expects {name} to be finite and not negative, but got {shown}")
