"""Arrays on a GPU that are no tensors: CuPy, Numba, JAX, through
__cuda_array_interface__ or DLPack, without copies.

Work goes to the stream that the array says it belongs to, else to the current one of
its library. JAX tells neither: it is waited for before, and the result after.

SPDX-License-Identifier: MIT
"""

import ctypes

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


def _interface_of(value):
    """The array's __cuda_array_interface__, or None; JAX has one for some types only."""
    try:
        return value.__cuda_array_interface__
    except Exception:
        return None


def is_on_gpu(value):
    """Whether an array of another library is on a GPU."""
    if hasattr(value, "__dlpack_device__"):
        return _device_of(value) >= 0
    return hasattr(value, "__cuda_array_interface__")


def _is_silent(value):
    """Whether the array belongs to no stream that can be asked for."""
    return hasattr(value, "block_until_ready")


def _from_interface(value, name, interface):
    try:
        return _read_interface(value, name, interface)
    except (KeyError, AttributeError, IndexError, OverflowError):
        raise TypeError(f"expects {name} to have a valid __cuda_array_interface__, but "
                        f"{type(value).__name__} has none") from None


def _read_interface(value, name, interface):
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
    """A buffer for an array on a GPU, which its library has computed already or computes
    in the stream that stream_of tells."""
    if _is_silent(value):
        value.block_until_ready()
    interface = _interface_of(value)
    if interface is not None:
        return _from_interface(value, name, interface)
    if not is_on_gpu(value):
        raise ValueError(f"expects {name} on the GPU like the others, but it is on the CPU")
    return _from_dlpack(value)


def _from_dlpack(value):
    # The protocol's 1 is the default stream (0 elsewhere), which waits for the array's.
    return _core.Buffer.from_dlpack(value.__dlpack__(stream=1))


def stream_of(value):
    """The stream for work on the array."""
    interface = _interface_of(value)
    if interface and interface.get("stream"):
        return int(interface["stream"])
    if type(value).__module__.partition(".")[0] == "cupy":
        import cupy

        return cupy.cuda.get_current_stream().ptr
    return 0


def finish(value, device, stream):
    """Waits for work on arrays of `value`'s library if that does not know the stream."""
    if not _is_silent(value):
        return
    driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    status = driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    if status == 0:
        driver.cuCtxPushCurrent_v2(context)
        status = driver.cuStreamSynchronize(ctypes.c_void_p(stream))
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
        driver.cuDevicePrimaryCtxRelease_v2(device)
    if status != 0:
        raise RuntimeError(f"CUDA's driver reports error {status} in a kernel")


def stand_in(buffer):
    """A NumPy array of the same shape and dtype, without memory of its own."""
    names = {element: name for name, element in _fallback.TYPES.items()}
    name = names[buffer.type]
    if name == "bfloat16":
        import ml_dtypes

        return np.broadcast_to(np.zeros((), ml_dtypes.bfloat16), buffer.shape)
    return np.broadcast_to(np.zeros((), name), buffer.shape)


#: What _check_call found about calls before.
_known = {}


def _result_shape(name, bound, buffers):
    """The shape and dtype of the result of a call that is right but for addresses."""
    options = [(key, tuple(value) if isinstance(value, list) else value)
               for key, value in bound.items()
               if key not in _fallback.ARRAYS and key not in ("factors", "weights", "stream")]
    key = (name, *options,
           *((key, buffer.shape, buffer.type) for key, buffer in buffers.items()))
    try:
        found = _known.get(key)
    except TypeError:  # what cannot be hashed
        return _check_call(name, bound, buffers)
    if found is None:
        found = _check_call(name, bound, buffers)
        if len(_known) >= 1024:
            _known.clear()
        _known[key] = found
    return found


def _check_call(name, bound, buffers):
    """Checks everything but addresses; the shape and dtype of the result."""
    dummies = {key: stand_in(buffer) for key, buffer in buffers.items() if key != "out"}
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


def allocate(like, shape, dtype):
    """(a new array of the library and on the GPU of `like`, a buffer for it)"""
    package = type(like).__module__.partition(".")[0]
    if package == "cupy":
        import cupy

        with like.device:
            out = cupy.empty(shape, dtype=dtype)
        return out, buffer_of(out, "out")
    if not hasattr(like, "__array_namespace__"):
        raise TypeError(f"expects out, since kron cannot make a new {type(like).__name__}")
    out = like.__array_namespace__().empty(shape, dtype=dtype, device=like.device)
    if not _is_silent(out):
        return out, buffer_of(out, "out")
    # JAX says that its arrays are read-only, but nobody has seen this one yet.
    return out.block_until_ready(), _from_dlpack(out)


def check_output(out):
    if _is_silent(out):
        raise TypeError(f"expects out to be an array that can change, but got a "
                        f"{type(out).__name__}")


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
    if out is not None:
        check_output(out)
    else:
        out, buffers["out"] = allocate(foreign, shape, dtype)
    stream = bound["stream"] if "stream" in bound else stream_of(foreign)
    options = dict(bound, out=buffers["out"], stream=stream)
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
    finish(foreign, buffers["out"].device, stream)
    return out
