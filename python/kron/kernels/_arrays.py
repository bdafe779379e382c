"""Checks of the arrays and hyper-parameters of kernel matrices.

SPDX-License-Identifier: MIT
"""

import math
import numbers
import sys

import numpy as np

from kron import _jit
from kron.kernels._programs import element_of

_ELEMENTS = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
is_tensor = _jit._is_tensor


def check_array(value, name):
    """Refuses what is no NumPy array or tensor of a real floating-point type."""
    if not isinstance(value, np.ndarray) and not is_tensor(value):
        raise TypeError(f"expects {name} to be a NumPy array or a PyTorch tensor, but got "
                        f"{type(value).__name__}")
    if element_of(value) not in _ELEMENTS:
        raise TypeError(f"expects {name} to have dtype {', '.join(_ELEMENTS.values())}, but got {value.dtype}")


def check_like(value, name, other, other_name):
    """Refuses an array that is not of the library, type and device of another one."""
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
    try:
        return np.broadcast_shapes(tuple(batch), tuple(other))
    except ValueError:
        raise ValueError(f"expects the leading axes of {name} to broadcast with {tuple(batch)}, but got "
                         f"{tuple(other)}") from None


def check_points(a, b, a_name="a", b_name="b"):
    """Checks the rows of both sides, and gives the shape of their matrix."""
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
        # Unlike a copy of a tensor of the host, a kernel that writes it is not waited for.
        return torch.full((), float(value), dtype=getattr(torch, dtype), device=like.device)
    return torch.as_tensor(value, dtype=getattr(torch, dtype), device=like.device)


def check_positive(array, name, shown):
    """Refuses values whose squares are not positive, finite elements of their type."""
    values = host_values(array)
    if values is None:
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
