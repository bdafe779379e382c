"""Arrays on a GPU that are no tensors: CuPy, Numba, JAX, through
__cuda_array_interface__ or DLPack, without copies.

Work goes to the stream that the array says it belongs to, else to the current one of
its library.

SPDX-License-Identifier: MIT
"""

import numpy as np

from kron import _core, _fallback

_CUDA_DEVICES = (2, 13)  # kDLCUDA, kDLCUDAManaged
_ELEMENTS = {"f4": "f32", "f8": "f64", "f2": "f16", "i4": "i32", "i8": "i64",
             "c8": "complex<f32>", "c16": "complex<f64>"}


def _device_of(value):
    if hasattr(value, "__dlpack_device__"):
        kind, number = value.__dlpack_device__()
        return int(number) if int(kind) in _CUDA_DEVICES else -1
    return int(getattr(getattr(value, "device", None), "id", 0))


def _from_interface(value, name):
    try:
        return _read_interface(value, name)
    except (KeyError, AttributeError, IndexError, OverflowError):
        raise TypeError(f"expects {name} to have a valid __cuda_array_interface__, but "
                        f"{type(value).__name__} has none") from None


def _read_interface(value, name):
    interface = value.__cuda_array_interface__
    if not isinstance(interface, dict):
        raise KeyError
    code = interface["typestr"]
    if code[0] == ">" or code[1:] not in _ELEMENTS:
        raise TypeError(f"expects {name} to have a type that kron has, but got {code}")
    if interface.get("mask") is not None:
        raise TypeError(f"expects {name} to be a plain array, but got one with a mask")
    size = int(code[2:])
    strides = interface.get("strides")
    if strides is not None:
        if any(stride % size for stride in strides):
            raise ValueError(f"expects {name} to have strides of whole elements")
        strides = [stride // size for stride in strides]
    address, read_only = interface["data"]
    return _core.Buffer(address, list(interface["shape"]), strides, _ELEMENTS[code[1:]],
                        _device_of(value), not read_only, value)


def buffer_of(value, name):
    """A buffer for an array on a GPU."""
    if hasattr(value, "__cuda_array_interface__"):
        return _from_interface(value, name)
    if _device_of(value) < 0:
        raise ValueError(f"expects {name} on the GPU like the others, but it is on the CPU")
    # -1: no synchronisation; the work goes to the stream of the array.
    return _core.Buffer.from_dlpack(value.__dlpack__(stream=-1))


def _stream_of(value):
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface and interface.get("stream"):
        return int(interface["stream"])
    if type(value).__module__.partition(".")[0] == "cupy":
        import cupy

        return cupy.cuda.get_current_stream().ptr
    return 0


def _stand_in(buffer):
    """A NumPy array of the same shape and dtype, without memory of its own."""
    names = {element: name for name, element in _fallback.TYPES.items()}
    name = names[buffer.type]
    if name == "bfloat16":
        import ml_dtypes

        return np.broadcast_to(np.zeros((), ml_dtypes.bfloat16), buffer.shape)
    return np.broadcast_to(np.zeros((), name), buffer.shape)


def _result_shape(name, bound, buffers):
    """Checks everything but addresses; the shape and dtype of the result."""
    dummies = {key: _stand_in(buffer) for key, buffer in buffers.items() if key != "out"}
    if len({dummy.dtype for dummy in dummies.values()}) != 1:
        raise TypeError("expects arrays on a GPU to have one dtype, but got "
                        + ", ".join(sorted({str(d.dtype) for d in dummies.values()})))
    dtype = next(iter(dummies.values())).dtype
    checked = {key: value for key, value in bound.items() if key not in ("stream", "out")}
    kind = _fallback._Product if _fallback._list_name(name) == "factors" else _fallback._Sparse
    call = kind(name, checked, dummies, dtype)
    if getattr(call, "vector", None) is not None:
        raise ValueError("expects x on a GPU to have at least 2 dimensions")
    return call.shape, dtype


def _allocate(like, shape, dtype):
    if hasattr(like, "__array_namespace__"):
        namespace = like.__array_namespace__()
    elif type(like).__module__.partition(".")[0] == "cupy":
        import cupy as namespace
    else:
        raise TypeError(f"expects out, since kron cannot make a new {type(like).__name__}")
    return namespace.empty(shape, dtype=dtype)


def call(name, bound, foreign):
    """A call in which `foreign` is one of the arrays, on a GPU."""
    arrays = _fallback._arrays_of(name, bound)
    on_gpu = next(key for key, value in arrays if value is foreign)
    for key, value in arrays:
        if not _fallback.is_foreign(value):
            raise ValueError(f"expects {key} on the GPU like {on_gpu}, but it is "
                             f"{_fallback.describe(value)}")
    buffers = {key: buffer_of(value, key) for key, value in arrays}
    if len({buffer.device for buffer in buffers.values()}) != 1:
        raise ValueError("expects arrays of one GPU, but got devices "
                         + ", ".join(str(buffer.device) for buffer in buffers.values()))
    shape, dtype = _result_shape(name, bound, buffers)
    out = bound.get("out")
    if out is None:
        out = _allocate(foreign, shape, dtype)
        buffers["out"] = buffer_of(out, "out")
    options = dict(bound, out=buffers["out"], stream=bound.get("stream", _stream_of(foreign)))
    for key in ("x", "z", "bias", "residual"):
        if key in options:
            options[key] = buffers[key]
    key = _fallback._list_name(name)
    if name == "ksmm":
        options[key] = buffers[key]
    else:
        options[key] = [buffers[f"{key}[{i}]"] for i in range(len(bound[key]))]
    for key in ("alpha", "beta"):
        if key in options:
            options[key] = _fallback.to_number(options[key], dtype, key)
    getattr(_core, "raw_" + name)(**options)
    return out
