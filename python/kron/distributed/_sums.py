# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Factors that every rank has, whose gradients are sums over ranks.

`on_all_ranks` returns tensors that all ranks of some groups have alike, for use in local
arithmetic on a part of an array: what a rank finds as their gradient is a partial sum, and
the gradient is the sum over ranks. All of them go in one all-reduce, 16-bit types in float32.
"""

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _resolve_process_group

from ..torch import _ops

_library = _ops._library
_library.define("sum_over_ranks(Tensor[] arrays, str[] groups) -> Tensor[]")


def _wide(array):
    """A real vector in which sums lose nothing more than the array's own rounding."""
    if array.is_complex():
        array = torch.view_as_real(array.resolve_conj())
    array = array.resolve_neg().reshape(-1)
    return array.float() if array.dtype in (torch.float16, torch.bfloat16) else array


def sum_over_ranks(arrays, groups):
    """The kernel."""
    wide = [_wide(array) for array in arrays]
    total = torch.cat(wide)
    for group in groups:
        dist.all_reduce(total, group=_resolve_process_group(group))
    results = []
    for array, part in zip(arrays, total.split([vector.numel() for vector in wide])):
        if array.is_complex():
            part = torch.view_as_complex(part.view(*array.shape, 2))
        results.append(part.view(array.shape).to(array.dtype, copy=True))
    return results


def _fake(arrays, groups):
    return [array.new_empty(array.shape) for array in arrays]


for _key in ("CPU", "CUDA"):
    _library.impl("sum_over_ranks", sum_over_ranks, _key)
torch.library.register_fake("kron::sum_over_ranks", _fake, lib=_library)


class _Sum(torch.autograd.Function):
    """What every rank has is added up."""

    @staticmethod
    def forward(ctx, groups, *arrays):
        ctx.groups = groups
        return tuple(torch.ops.kron.sum_over_ranks(list(arrays), list(groups)))

    @staticmethod
    def backward(ctx, *grads):
        return None, *_Copy.apply(ctx.groups, *grads)


class _Copy(torch.autograd.Function):
    """The adjoint: every rank gets what all have alike."""

    @staticmethod
    def forward(ctx, groups, *arrays):
        ctx.groups = groups
        return tuple(array.view_as(array) for array in arrays)

    @staticmethod
    def backward(ctx, *grads):
        return None, *_Sum.apply(ctx.groups, *grads)


def on_all_ranks(arrays, groups):
    """The tensors, such that their gradients are sums over the groups (names)."""
    if not groups or not torch.is_grad_enabled() or not any(a.requires_grad for a in arrays):
        return list(arrays)
    needed = [array for array in arrays if array.requires_grad]
    copies = iter(_Copy.apply(tuple(groups), *needed))
    return [next(copies) if array.requires_grad else array for array in arrays]


def sum_of_ranks(arrays, groups):
    """The sums of what the ranks of the groups have, on all of them; the adjoint."""
    return list(_Sum.apply(tuple(groups), *arrays))
