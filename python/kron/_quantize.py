"""Rows of 8 bits per element and a scale, by kron.quantize.

SPDX-License-Identifier: MIT
"""

import functools

import numpy as np

from kron import _core

#: Element types by the names of their dtypes.
KINDS = {"int8": "i8", "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}
_INPUTS = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}


def check_kind(kind):
    if kind not in KINDS:
        raise ValueError(f"expects dtype to be one of {', '.join(KINDS)}, but got {kind!r}")
    return kind


def _is_tensor(x):
    return type(x).__module__.partition(".")[0] == "torch" and hasattr(x, "data_ptr")


def _element_of(x):
    """The element type of an array that can be quantised."""
    if not isinstance(x, np.ndarray) and not _is_tensor(x):
        raise TypeError(f"expects x to be a NumPy array or a PyTorch tensor, but got "
                        f"{type(x).__name__}")
    name = str(x.dtype).rpartition(".")[2]
    on_gpu = _is_tensor(x) and x.is_cuda
    taken = [taken for taken in _INPUTS if not (on_gpu and taken == "float64")]
    if name not in taken:
        raise TypeError(f"expects x to have dtype {', '.join(taken)}"
                        f"{' on a GPU' if on_gpu else ''}, but got {x.dtype}")
    if name == "bfloat16" and isinstance(x, np.ndarray):
        _core.register_type("bf16", x.dtype.num)
    return _INPUTS[name]


def dtype_of(kind):
    """NumPy's dtype."""
    if kind == "int8":
        return np.dtype(np.int8)
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, kind))
    _core.register_type(KINDS[kind], dtype.num)
    return dtype


def _allocate(x, rows, features, kind):
    """(q, scale), and the arguments of a launch beside the arrays."""
    wide = str(x.dtype).rpartition(".")[2] == "float64"
    if isinstance(x, np.ndarray):
        scale = np.empty(rows, np.float64 if wide else np.float32)
        return np.empty((rows, features), dtype_of(kind)), scale, {}
    import torch

    import kron.torch  # noqa: F401  (makes tensors known)

    q = x.new_empty((rows, features), dtype=getattr(torch, kind))
    stream = torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else 0
    scale = x.new_empty(rows, dtype=torch.float64 if wide else torch.float32)
    return q, scale, {"stream": stream}


@functools.lru_cache(maxsize=256)
def _kernel(element, features, kind, orders, device):
    """On any number of rows; after a rotation by factors of `orders`, if there are any."""
    from kron import _compile

    program = _core.Program(on_tensors=True)
    rows = (None, features)
    x = source = program.argument("x", rows, element)
    factors = [program.argument(f"f{i}", (order, order), element)
               for i, order in enumerate(orders)]

    def empty(sizes, kind):
        return program.allocate(sizes, kind, like=x, axis=0)

    if factors:
        source, = program.operation("mkm", {"input": x, "factors": factors,
                                            "init": empty(rows, element)})
    results = program.operation("quantize", {
        "input": source, "init": empty(rows, KINDS[kind]),
        "scales": empty((None,), "f64" if element == "f64" else "f32")})
    for result, name in zip(results, ("q", "scale")):
        program.result(result, name)
    return _compile.compile(program, device=device)


def rotated(x, factors, kind):
    """(q, scale) of the rows of x times the Kronecker product of square `factors`."""
    element = _element_of(x)
    features = x.shape[-1]
    rows = x.reshape(-1, features) if features else x.reshape(0, 0)
    is_tensor = _is_tensor(x)
    rows = rows.contiguous() if is_tensor else np.ascontiguousarray(rows)
    if is_tensor and x.requires_grad:
        rows = rows.detach()
    q, scale, options = _allocate(rows, rows.shape[0], features, kind)
    device = x.device.index if is_tensor and x.is_cuda else -1
    orders = tuple(map(len, factors))
    _kernel(element, features, kind, orders, device)(rows, *factors, q, scale, **options)
    return q.reshape(x.shape), scale.reshape(x.shape[:-1])


def quantize(x, dtype="int8"):
    """(q, scale) of rows, which the last axis of x is: q, shaped as x, of 8 bits, "int8",
    "float8_e4m3fn" or "float8_e5m2" (NumPy's are those of ml_dtypes), and a float32 per row
    (a float64 where x is one), so that q * scale is about x:

        scale = abs(x).max(-1) / 127            (448 for float8_e4m3fn, 57344 for float8_e5m2)
        q = round(x * (1 / scale))              to nearest, ties to even

    Rows of zeros have scale 0, rows with a NaN or an infinity scale NaN; q is 0 there. x is
    float32, float16 or bfloat16, on a CPU or a GPU, or float64 on a CPU."""
    check_kind(dtype)
    _element_of(x)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError(f"expects x to have rows that are not empty, but got shape "
                         f"{tuple(x.shape)}")
    return rotated(x, (), dtype)
