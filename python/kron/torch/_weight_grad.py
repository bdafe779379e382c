# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The gradient by the weights of a Kronecker-sparse factor,

    dK[i, j, k, t] = sum_n grad[n, i, j, t] * conj(x[n, i, k, t])

On a GPU it is kron.ksmm_grad. On a CPU it is that where the compiler fills registers with
(k, t), else products of matrices by PyTorch.
"""

import functools

import torch

from ._streams import stream_of

#: Rows up to which 16-bit types are multiplied as float32: a kernel reads elements where they
#: lie, matrix products take copies.
_FEW_ROWS = 32
#: Elements of a block, from which on copies for matrix products are worth it.
LARGE_BLOCK = 1 << 16
#: Elements of a block up to which the compiler's code is as fast as a matrix product,
#: without t and with it.
_KERNEL_BLOCK = {True: 1 << 16, False: 1 << 18}
ELEMENTS = {torch.float32: "f32", torch.float64: "f64"}
SIXTEEN_BIT = (torch.float16, torch.bfloat16)
#: Types of which a GPU has matrix instructions.
GPU_ELEMENTS = ELEMENTS | {torch.float16: "f16", torch.bfloat16: "bf16"}


def ksmm_weight_grad(grad, x, pattern, layout="batch_first"):
    """Shaped as the pattern."""
    pattern = tuple(pattern)
    if not x.numel() or not grad.numel():
        return x.new_zeros(pattern)
    if x.is_cuda and x.dtype in GPU_ELEMENTS:
        return _on_gpu(grad, x, pattern, layout)
    if layout == "batch_first" and x.device.type == "cpu":
        if has_kernel(pattern, x.dtype):
            return _summed(grad, x, pattern)
        if (x.dtype in SIXTEEN_BIT and x.numel() <= _FEW_ROWS * x.shape[-1]
                and has_kernel(pattern, torch.float32)):
            return _summed(grad.float(), x.float(), pattern).to(x.dtype)
    return _contracted(grad, x, pattern, layout)


# ----------------------------------------------------------------------------------
# kron.ksmm_grad
# ----------------------------------------------------------------------------------


@functools.cache
def _vector_bytes():
    """Of the processor's registers, as far as patterns are chosen by it."""
    return 64 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 32


def has_kernel(pattern, dtype):
    """Whether the compiler fills registers with (k, t): whole groups of t, and rows of
    several registers."""
    _, b, c, d = pattern
    return (dtype in ELEMENTS and b * c <= _KERNEL_BLOCK[d == 1] and d & (d - 1) == 0
            and d * dtype.itemsize <= _vector_bytes()
            and c * d * dtype.itemsize >= 2 * _vector_bytes())


@functools.lru_cache(maxsize=256)
def _kernel(pattern, dtype, layout="batch_first", device=-1):
    """The gradient over any number of rows."""
    from .. import _compile, _core

    a, b, c, d = pattern
    element = GPU_ELEMENTS[dtype]

    def rows(features):
        return (None, features) if layout == "batch_first" else (features, None)

    program = _core.Program(on_tensors=False)
    program.operation("ksmm_grad", {
        "input": program.argument("x", rows(a * c * d), element),
        "grad": program.argument("grad", rows(a * b * d), element),
        "init": program.argument("y", pattern, element)}, {"layout": layout})
    return _compile.compile(program, device=device)


def _on_gpu(grad, x, pattern, layout):
    """By kron.ksmm_grad, on the current stream."""
    if layout == "batch_first":
        grad, x = grad.reshape(-1, grad.shape[-1]), x.reshape(-1, x.shape[-1])
    else:
        grad, x = grad.reshape(grad.shape[0], -1), x.reshape(x.shape[0], -1)
    result = x.new_empty(pattern)
    kernel = _kernel(pattern, x.dtype, layout, x.device.index)
    kernel(x.contiguous(), grad.contiguous(), result, stream=stream_of(x))
    return result


def _summed(grad, x, pattern):
    """By kron.ksmm_grad."""
    grad = grad.reshape(-1, grad.shape[-1])
    x = x.reshape(-1, x.shape[-1])
    result = x.new_empty(pattern)
    _kernel(pattern, x.dtype)(x.contiguous(), grad.contiguous(), result)
    return result


# ----------------------------------------------------------------------------------
# Matrix products
# ----------------------------------------------------------------------------------


def _contracted(grad, x, pattern, layout):
    """By PyTorch's matrix products."""
    a, b, c, d = pattern
    x = x.conj().resolve_conj() if x.is_complex() else x
    if layout == "batch_last":
        grad = grad.reshape(a, b, d, -1).transpose(1, 2)
        x = x.reshape(a, c, d, -1).transpose(1, 2)
        return (grad @ x.mT).permute(0, 2, 3, 1).contiguous()
    grad = grad.reshape(-1, a, b, d)
    x = x.reshape(-1, a, c, d)
    is_16_bit = x.dtype in SIXTEEN_BIT and x.device.type == "cpu"
    is_slow = is_16_bit and not _multiplies(x.dtype)
    if is_16_bit and not is_slow and _is_fast_whole(len(x), pattern, x.dtype):
        return _product_whole(grad, x)
    if d == 1 and not is_slow:
        # [a, b, n] @ [a, n, c] on views.
        product = torch.bmm(grad.squeeze(-1).permute(1, 2, 0),
                            x.squeeze(-1).permute(1, 0, 2))
        return product.unsqueeze(-1)
    if is_16_bit and not is_slow:
        piece = min(_MOST_ROWS, _16_BIT_BYTES // (a * (b + c) * d * x.element_size()), len(x))
        if piece == len(x) or piece >= _LEAST_ROWS:
            return _sum_16_bit(grad, x, pattern, piece).permute(0, 2, 3, 1).contiguous()
    wide = torch.float32 if x.dtype in SIXTEEN_BIT else x.dtype
    sum_rows = _sum_planes if d >= _LONG_T and x.device.type == "cpu" else _sum_blocks
    result = x.new_zeros((d, a, b, c), dtype=wide)
    sum_rows(result, grad, x)
    return result.permute(1, 2, 3, 0).to(x.dtype).contiguous()


@functools.cache
def _multiplies(dtype):
    """Whether PyTorch's matrix products of a 16-bit type on this processor take its matrix or
    vector units, sums in float32; others take ten times as long as those of float32."""
    name = "bf16" if dtype == torch.bfloat16 else "fp16"
    return getattr(torch.ops.mkldnn, f"_is_mkldnn_{name}_supported")()


@functools.cache
def _flop_rate(dtype):
    """Operations per second of such a product on one thread."""
    has_tiles = getattr(torch.cpu, "_is_amx_tile_supported", bool)
    if dtype == torch.float16:
        has_tiles = getattr(torch.cpu, "_is_amx_fp16_supported", bool)
    return _RATES["tiles" if has_tiles() else dtype]


def _is_fast_whole(rows, pattern, dtype):
    """Whether products of all t with all t, of which only those of a t with itself are wanted,
    take less time than copies by elements of both arrays."""
    _, b, c, d = pattern
    unwanted = 2 * rows * b * c * d * (d - 1) / _flop_rate(dtype)
    return _CALL_SECONDS + unwanted < rows * (b + c) * d * _COPY_SECONDS


def _product_whole(grad, x):
    """[a, b, c, d] from [n, a, b, d] and [n, a, c, d]: a product of matrices for each a, which
    are read where they lie."""
    n, a, b, d = grad.shape
    c = x.shape[2]
    result = x.new_empty(a, b, c, d)
    for group, left, right in zip(result, grad.reshape(n, a, -1).unbind(1),
                                  x.reshape(n, a, -1).unbind(1)):
        group.copy_((left.mT @ right).view(b, d, c, d).diagonal(dim1=1, dim2=3))
    return result


def _sum_16_bit(grad, x, pattern, piece):
    """[a, d, b, c] by products of 16-bit types: copies by elements, `piece` rows at a time into
    the same memory. Sums of pieces, which are rounded, are added up in float32."""
    a, b, c, d = pattern
    if piece == len(x):
        left, right = (array.permute(1, 3, 0, 2).reshape(a * d, piece, -1)
                       for array in (grad, x))
        return torch.bmm(left.mT, right).view(a, d, b, c)
    left, right = (x.new_empty((a, d, piece, size)) for size in (b, c))
    total = x.new_zeros((a * d, b, c), dtype=torch.float32)
    for begin in range(0, len(x), piece):
        count = min(piece, len(x) - begin)
        for copy, array in ((left, grad), (right, x)):
            copy[:, :, :count].copy_(array[begin:begin + count].permute(1, 3, 0, 2))
        total += torch.bmm(left.view(a * d, piece, b)[:, :count].mT,
                           right.view(a * d, piece, c)[:, :count])
    return total.to(x.dtype).view(a, d, b, c)


def _sum_blocks(result, grad, x):
    """Adds to [d, a, b, c]: copies by elements, some rows at a time into the same memory,
    and batched products."""
    d, a, b, c = result.shape
    rows = x.shape[0]
    piece = rows if x.device.type != "cpu" else 512 if b * c > LARGE_BLOCK else 256
    piece = max(1, min(piece, rows))
    left = result.new_empty((d, a, piece, b))
    right = result.new_empty((d, a, piece, c))
    total = result.view(d * a, b, c)
    for begin in range(0, rows, piece):
        count = min(piece, rows - begin)
        for copy, array in ((left, grad), (right, x)):
            copy[:, :, :count].copy_(array[begin:begin + count].permute(3, 1, 0, 2))
        total.baddbmm_(left.view(d * a, piece, b)[:, :count].mT,
                       right.view(d * a, piece, c)[:, :count])


def _sum_planes(result, grad, x):
    """Adds to [d, a, b, c]: transposes matrices [.., d], some rows at a time, then d
    products."""
    d, a, b, c = result.shape
    piece = max(16, _PIECE_BYTES // (a * (b + c) * d * result.element_size()))
    for begin in range(0, x.shape[0], piece):
        left, right = (array[begin:begin + piece].to(result.dtype).reshape(-1, d).t()
                       .contiguous().view(d, -1, a, size)
                       for array, size in ((grad, b), (x, c)))
        for t in range(d):
            result[t].baddbmm_(left[t].permute(1, 2, 0), right[t].permute(1, 0, 2))


#: Measured on one thread (docs/notes/0178-steps-in-16-bits.md): products of matrices of 16-bit
#: types by matrix tiles and by vectors, an element's copy, and all that a product is called by.
_RATES = {"tiles": 0.6e12, torch.float16: 0.13e12, torch.bfloat16: 0.07e12}
_COPY_SECONDS, _CALL_SECONDS = 0.8e-9, 40e-6
#: Of rows whose transposes stay in the caches, and of those of 16-bit types, whose products
#: take so many rows at a time.
_PIECE_BYTES = 1 << 21
_16_BIT_BYTES, _LEAST_ROWS, _MOST_ROWS = 1 << 23, 256, 2048
#: From so many t on a matrix transpose is the faster copy.
_LONG_T = 8
