# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The gradient by a matrix that was applied along one axis,

    D[p, q] = sum over o and i of conj(x)[o, p, i] * grad[o, q, i]

By kron.ksmm_grad, as if there were weights for every position inside (or outside) of the
axis, whose gradients are then added up, on a GPU, and on a CPU where PyTorch would
multiply many small matrices; else by PyTorch.
"""

import functools

import torch

from ._streams import stream_of
from ._weight_grad import ELEMENTS, GPU_ELEMENTS

#: On a CPU: elements inside of the axis up to which lanes of a register are these, and
#: elements of the gradient up to which its sums for all of them stay in the cache.
_MOST_INSIDE = 64
_MOST_ELEMENTS = 256
#: On a GPU: sums that are kept, and rows and columns of the gradient, where that is one
#: matrix product, up to which the kernel is as fast as PyTorch's: of a type that was not
#: measured none.
_MOST_SUMS = 1 << 18
_MOST_ROWS = {torch.float64: 64, torch.float32: 128, torch.float16: 128, torch.bfloat16: 128}
#: Terms of every sum from which on a kernel is worth the call.
_TERMS = 1024


def axis_grad(x, grad, rows):
    """`x` is [o, p, i], `grad` [o, q, i]. `rows` says which of "outside" (o) and "inside"
    (i) may be of any size: kernels are compiled for the other one."""
    if x.shape[0] == 1:
        rows = "inside"
    elif x.shape[2] == 1:
        rows = "outside"
    if _has_kernel(x, grad.shape[1], rows):
        return _summed(x, grad, rows)
    return contract(x, grad)


def _has_kernel(x, q, rows):
    outside, p, inside = x.shape
    if not x.numel() or not q:
        return False
    if x.is_cuda:
        return x.dtype in GPU_ELEMENTS and is_fast_on_gpu(x.dtype, p, q, inside if rows == "outside" else outside)
    return (x.device.type == "cpu" and x.dtype in ELEMENTS and rows == "outside"
            and 1 < inside <= _MOST_INSIDE and p * q <= _MOST_ELEMENTS
            and outside * inside >= _TERMS)


def is_fast_on_gpu(dtype, p, q, other):
    """Measured on an H200: many small products of PyTorch's take up to eight times as long,
    one product of large matrices less."""
    if other == 1:
        return max(p, q) <= _MOST_ROWS.get(dtype, 0)
    return p * q * other <= _MOST_SUMS


def _pattern(p, q, other, rows):
    return (1, p, q, other) if rows == "outside" else (other, p, q, 1)


@functools.lru_cache(maxsize=256)
def _kernel(p, q, other, rows, dtype, device):
    from .. import _compile, _core

    element = GPU_ELEMENTS[dtype]

    def shape(size):
        return (None, size * other) if rows == "outside" else (size * other, None)

    program = _core.Program(on_tensors=False)
    x, grad = (program.argument(name, shape(size), element)
               for name, size in (("x", p), ("grad", q)))
    program.operation("ksmm_grad", {
        "input": grad, "grad": x,
        "init": program.argument("y", _pattern(p, q, other, rows), element)},
        {"layout": "batch_first" if rows == "outside" else "batch_last"})
    return _compile.compile(program, device=device)


def _summed(x, grad, rows):
    (outside, p, inside), q = x.shape, grad.shape[1]
    if rows == "outside":
        other, shape = inside, (outside, -1)
    else:
        other, shape = outside, (-1, inside)
    result = x.new_empty(_pattern(p, q, other, rows))
    device = x.device.index if x.is_cuda else -1
    kernel = _kernel(p, q, other, rows, x.dtype, device)
    kernel(x.reshape(shape).contiguous(), grad.reshape(shape).contiguous(), result,
           stream=stream_of(x))
    return result.view(p, q) if other == 1 else result.sum((0, 3))


def contract(a, b):
    """The same by PyTorch's matrix products, with any batch in front, which is kept."""
    inside = a.shape[-1]
    a = a.conj() if a.is_complex() else a
    if inside == 1:
        return a.squeeze(-1).mT @ b.squeeze(-1)
    if inside <= 4:
        # All pairs of inside indices in one product, of which the diagonal counts:
        # more arithmetic than needed, but in one long contraction.
        p, q = a.shape[-2], b.shape[-2]
        pairs = a.flatten(-2).mT @ b.flatten(-2)
        pairs = pairs.unflatten(-1, (q, inside)).unflatten(-3, (p, inside))
        return pairs.diagonal(dim1=-3, dim2=-1).sum(-1)
    if inside <= 128 and a.shape[-2] + b.shape[-2] < 32:
        # One long product of copies takes half the time of many tiny ones.
        return a.transpose(-3, -2).flatten(-2) @ b.transpose(-3, -2).flatten(-2).mT
    return (a @ b.mT).sum(-3)
