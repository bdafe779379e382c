# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""DTensors and the parts of them that ranks have, there and back.

DTensor.to_local and from_local do the same; before PyTorch 2.12 their gradients have no
derivatives of their own.
"""

import math

import torch
from torch.compiler import is_compiling
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.tensor import DTensor

#: Of parts that have elements.
_PLAIN = (torch.Tensor, torch.nn.Parameter, AsyncCollectiveTensor)


def is_traced(part):
    """Whether a call is looked at by torch.compile, so that there are no elements."""
    return is_compiling() or type(part) not in _PLAIN


@torch.no_grad()
def plain_part(x):
    """This rank's part, of which no derivatives are wanted."""
    return x.to_local().detach()


@torch.no_grad()
def plain_whole(part, mesh, placements, shape):
    """The DTensor of this shape of which this rank has `part`, without derivatives."""
    strides = tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))
    return DTensor.from_local(part.detach().contiguous(), mesh, placements, run_check=False,
                              shape=torch.Size(shape), stride=strides)


class _Part(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.whole = x.device_mesh, x.placements, x.shape
        part = plain_part(x)
        return part.view_as(part)

    @staticmethod
    def backward(ctx, grad):
        return _Whole.apply(grad, *ctx.whole)


class _Whole(torch.autograd.Function):
    @staticmethod
    def forward(ctx, part, mesh, placements, shape):
        ctx.placements = placements
        return plain_whole(part, mesh, placements, shape)

    @staticmethod
    def backward(ctx, grad):
        if tuple(grad.placements) != tuple(ctx.placements):
            grad = grad.redistribute(placements=ctx.placements)
        return _Part.apply(grad), None, None, None


def _is_plain(array):
    """Whether nothing records what is done with an array: most of the host's time would go into
    that."""
    return not (is_compiling() or (torch.is_grad_enabled() and array.requires_grad))


def part_of(x):
    """This rank's part of a DTensor."""
    return plain_part(x) if _is_plain(x) else _Part.apply(x)


def whole_of(part, mesh, placements, shape):
    """The DTensor of this shape of which this rank has `part`."""
    whole = plain_whole if _is_plain(part) else _Whole.apply
    return whole(part, mesh, tuple(placements), torch.Size(shape))
