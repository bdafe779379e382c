# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Solutions of kernel matrices with derivatives of any order that the kernel has."""

import torch

from ..kernels import _cg
from ._pairwise import Mapping, cores_of, gradients


class _Solve(torch.autograd.Function):
    """The solution. That for a gradient, by the same matrix, is the gradient by the right sides; its
    outer product with the solution, negated, is the one by the matrix."""

    @staticmethod
    def forward(matrix, options, rhs, noise, *operands):
        plain = matrix.with_operands([array.detach() for array in operands])
        with torch.no_grad():
            return _cg.solve(plain, rhs.detach(), noise.detach(), options)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.matrix, ctx.options, rhs, noise, *operands = inputs
        ctx.rhs_shape = rhs.shape
        ctx.save_for_backward(output, noise, *operands)

    @staticmethod
    def backward(ctx, grad):
        x, noise, *operands = ctx.saved_tensors
        adjoint = _Solve.apply(ctx.matrix, ctx.options, grad, noise, *operands)
        needs = ctx.needs_input_grad[2:]
        by_rhs = adjoint.sum_to_size(ctx.rhs_shape) if needs[0] else None
        by_noise = None
        if needs[1]:
            by_noise = -(adjoint * x).sum((-1, -2)).sum_to_size(noise.shape)
        by_operands = gradients(operands, [-adjoint, x], [], needs[2:], ctx.matrix.function)
        return None, None, by_rhs, by_noise, *by_operands

    @staticmethod
    def vmap(info, in_dims, matrix, options, rhs, noise, *operands):
        dim_rhs, dim_noise, *dims = in_dims[2:]
        mapping = Mapping(info.batch_size, (operands, dims, cores_of(operands)), ([rhs], [dim_rhs], [2]),
                          ([noise], [dim_noise], [0]))
        (rhs,), (noise,) = mapping.mapped(1), mapping.mapped(2)
        return _Solve.apply(matrix, options, rhs, noise, *mapping.mapped(0)), 0


def solve(matrix, rhs, noise, options):
    """_cg.solve with derivatives."""
    return _Solve.apply(matrix, options, rhs, noise, *matrix.operands)
