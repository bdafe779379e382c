# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The gradient by the weights of a Kronecker-sparse factor,

    dK[i, j, k, t] = sum_n grad[n, i, j, t] * conj(x[n, i, k, t])

With t > 1 it is a mode product of x over the batch, whose factor is the gradient and
varies over i and t: a kernel of kron, for a fixed number of rows. Without t it is a
product of matrices, of which PyTorch has a fast one.
"""

import functools

import torch

#: Rows that a kernel takes at a time, so that they stay in the cache.
_ROWS = 64
#: Positions of k that the compiler puts into one tile.
_TILE = 64
#: Elements of a block, from which on copies for matrix products are worth it.
_LARGE_BLOCK = 1 << 16
_ELEMENTS = {torch.float32: "f32", torch.float64: "f64"}


def ksmm_weight_grad(grad, x, pattern, layout="batch_first"):
    """Shaped as the pattern."""
    pattern = tuple(pattern)
    if layout == "batch_first" and x.device.type == "cpu" and _has_kernel(pattern, x.dtype):
        return _mode_products(grad, x, pattern)
    return _contracted(grad, x, pattern, layout)


# ----------------------------------------------------------------------------------
# Mode products
# ----------------------------------------------------------------------------------


@functools.cache
def _vector_bytes():
    """Of the processor's registers, as far as patterns are chosen by it."""
    return 64 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 32


def _has_kernel(pattern, dtype):
    """Whether the compiler fills registers with (k, t): whole groups of t, and tiles of
    a known size. Large blocks are products that PyTorch's library is better at."""
    _, b, c, d = pattern
    return (dtype in _ELEMENTS and d > 1 and b * c <= _LARGE_BLOCK and d & (d - 1) == 0
            and d * dtype.itemsize <= _vector_bytes() and (c <= _TILE or c % _TILE == 0))


@functools.lru_cache(maxsize=256)
def _kernel(pattern, dtype):
    """y = beta * y + the gradient over _ROWS rows."""
    from .. import _compile

    a, b, c, d = pattern
    element = _ELEMENTS[dtype]

    def rows(features):
        return f"memref<{_ROWS}x{features}x{element}, strided<[?, 1], offset: ?>>"

    def view(size):
        return (f"memref<{_ROWS}x{a}x{size}x{d}x{element}, "
                f"strided<[?, {size * d}, {d}, 1], offset: ?>>")

    def expand(name, size):
        return (f"%{name}_view = memref.expand_shape %{name} [[0], [1, 2, 3]] "
                f"output_shape [{_ROWS}, {a}, {size}, {d}] : {rows(a * size * d)} "
                f"into {view(size)}")

    result = f"memref<{a}x{b}x{c}x{d}x{element}>"
    swapped = (f"memref<{b}x{a}x{c}x{d}x{element}, "
               f"strided<[{c * d}, {b * c * d}, {d}, 1]>>")
    return _compile.compile(
        f"func.func @main(%x: {rows(a * c * d)}, %g: {rows(a * b * d)}, "
        f"%beta: {element}, %y: {result}) {{\n"
        f"  {expand('x', c)}\n  {expand('g', b)}\n"
        f"  %y_view = memref.transpose %y (i, j, k, t) -> (j, i, k, t) "
        f": {result} to {swapped}\n"
        f"  kron.mode_product axis(0) ins(%x_view : {view(c)}) "
        f"factor(%g_view [p, 1, q, 3] : {view(b)}) outs(%y_view : {swapped}) "
        f"beta(%beta : {element})\n  return\n}}\n")


def _mode_products(grad, x, pattern):
    grad = grad.reshape(-1, grad.shape[-1])
    x = x.reshape(-1, x.shape[-1])
    if grad.stride(-1) != 1 or x.stride(-1) != 1:
        grad, x = grad.contiguous(), x.contiguous()
    whole = x.shape[0] // _ROWS * _ROWS
    if whole == 0:
        return _contracted(grad, x, pattern, "batch_first")
    kernel, result = _kernel(pattern, x.dtype), x.new_empty(pattern)
    beta = 0.0
    for rows, grad_rows in zip(x[:whole].split(_ROWS), grad[:whole].split(_ROWS)):
        kernel(rows, grad_rows, beta, result)
        beta = 1.0
    if whole < x.shape[0]:
        result += _contracted(grad[whole:], x[whole:], pattern, "batch_first")
    return result


# ----------------------------------------------------------------------------------
# Matrix products
# ----------------------------------------------------------------------------------


def _contracted(grad, x, pattern, layout):
    """By PyTorch's matrix products; half types are summed in float32."""
    a, b, c, d = pattern
    x = x.conj().resolve_conj() if x.is_complex() else x
    if layout == "batch_last":
        grad = grad.reshape(a, b, d, -1).transpose(1, 2)
        x = x.reshape(a, c, d, -1).transpose(1, 2)
        return (grad @ x.mT).permute(0, 2, 3, 1).contiguous()
    grad = grad.reshape(-1, a, b, d)
    x = x.reshape(-1, a, c, d)
    if d == 1:
        # [a, b, n] @ [a, n, c] on views.
        product = torch.bmm(grad.squeeze(-1).permute(1, 2, 0),
                            x.squeeze(-1).permute(1, 0, 2))
        return product.unsqueeze(-1)
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    sum_rows = _sum_planes if d >= _LONG_T and x.device.type == "cpu" else _sum_blocks
    result = x.new_zeros((d, a, b, c), dtype=wide)
    sum_rows(result, grad, x)
    return result.permute(1, 2, 3, 0).to(x.dtype).contiguous()


def _sum_blocks(result, grad, x):
    """Adds to [d, a, b, c]: copies by elements, some rows at a time into the same memory,
    and batched products."""
    d, a, b, c = result.shape
    rows = x.shape[0]
    piece = rows if x.device.type != "cpu" else 512 if b * c > _LARGE_BLOCK else 256
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


#: Of rows whose transposes stay in the caches.
_PIECE_BYTES = 1 << 21
#: From so many t on a matrix transpose is the faster copy.
_LONG_T = 8
