"""Arrays of other libraries (JAX, CuPy, anything with DLPack).

They are looked at without a copy; results come back as arrays of the same library.

SPDX-License-Identifier: MIT
"""

import math
import sys

import numpy as np

from kron import _fallback

_CPU_DEVICES = (1, 3)  # kDLCPU, kDLCUDAHost


def _device_of(value, name):
    if not hasattr(value, "__dlpack_device__"):
        return 2  # kDLCUDA: __cuda_array_interface__ alone
    try:
        return int(value.__dlpack_device__()[0])
    except Exception as error:
        raise TypeError(f"expects {name} to be an array that exports its memory, but "
                        f"{type(value).__name__} does not: {error}") from None


def _refuse_traced(value, name):
    """In jax.jit and jax.grad there are no elements to compute with."""
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.core.Tracer):
        raise TypeError(f"expects {name} to be an array, but JAX is tracing it; "
                        "jax.pure_callback calls kron from traced functions")


def to_numpy(value, name):
    """NumPy's view of the array."""
    _refuse_traced(value, name)
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, AttributeError):
        # Some export no bfloat16, or nothing that is read-only.
        try:
            return np.asarray(value)
        except Exception as error:
            raise TypeError(f"expects {name} to be an array that exports its memory, but "
                            f"{type(value).__name__} does not: {error}") from None


def allocate(shape, dtype):
    """An array at an address that JAX takes without a copy."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + 63, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start:start + size].view(dtype).reshape(shape)


def from_numpy(result, like):
    """The array as one of the library of `like`, without a copy if that can be."""
    if hasattr(like, "__array_namespace__"):
        namespace = like.__array_namespace__()
        if hasattr(namespace, "from_dlpack") and result.dtype.name != "bfloat16":
            return namespace.from_dlpack(result)
        return namespace.asarray(result)
    return result


def call(name, bound, foreign):
    """A call in which `foreign` is one of the arrays."""
    bound = dict(bound)
    for key, value in _fallback._arrays_of(name, bound):
        _refuse_traced(value, key)
    list_name = "factors" if name in ("mkm", "kmm", "batched") else "weights"
    devices = {_device_of(value, key) for key, value in _fallback._arrays_of(name, bound)
               if _fallback.is_foreign(value)}
    if not devices <= set(_CPU_DEVICES):
        from kron import _cuda

        return _cuda.call(name, bound, foreign)
    if "out" in bound and not isinstance(bound["out"], np.ndarray):
        raise TypeError("expects out to be a NumPy array or a tensor, "
                        f"but got {type(bound['out']).__name__}")

    def convert(value, label):
        return to_numpy(value, label) if _fallback.is_foreign(value) else value

    for key in ("x", "z", "bias", "residual"):
        if key in bound:
            bound[key] = convert(bound[key], key)
    if name == "ksmm":
        bound[list_name] = convert(bound[list_name], list_name)
    else:
        bound[list_name] = [convert(value, f"{list_name}[{i}]")
                            for i, value in enumerate(bound[list_name])]
    result = _fallback._call_numpy(name, bound, allocate)
    return result if "out" in bound else from_numpy(result, foreign)
