# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The factors of linear_operator's Kronecker products as matrices."""

import torch
from linear_operator.operators import (
    ConstantMulLinearOperator, DenseLinearOperator, DiagLinearOperator, ToeplitzLinearOperator,
    TriangularLinearOperator)

#: Entries up to which a factor with a structure of its own is written out: such a matrix
#: stays in the second-level cache, where its product takes less than the FFTs or gathers
#: of the structure. Beyond that the structure saves memory and work.
_MOST_ENTRIES = 512 * 512


def is_plain(op):
    """Whether products with `op` are best done by its entries."""
    if isinstance(op, ConstantMulLinearOperator):
        return is_plain(op.base_linear_op)
    has_entries = isinstance(op, (DenseLinearOperator, TriangularLinearOperator))
    if has_entries and not isinstance(op, DiagLinearOperator):
        return True
    return op.matrix_shape.numel() <= _MOST_ENTRIES


def to_matrix(op):
    """The entries of `op`, differentiable by what it is made of."""
    if type(op) is DenseLinearOperator:
        return op.tensor
    if type(op) is ToeplitzLinearOperator:
        return _toeplitz(op.column)
    return op.to_dense()


def _toeplitz(column):
    """Row i of the symmetric matrix is the window of c[n-1] ... c[0] ... c[n-1] that begins
    at n-1-i; linear_operator transforms the identity instead, and its derivative takes
    transforms of one column after another."""
    size = column.size(-1)
    mirrored = torch.cat([column[..., 1:].flip(-1), column], -1)
    return mirrored.unfold(-1, size, 1).flip(-2)
