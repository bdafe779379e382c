# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kernel matrices of rows as linear operators, whose products never have the matrix in memory."""

import torch
from linear_operator.operators._linear_operator import LinearOperator
from linear_operator.utils.getitem import _noop_index

from ..kernels import _arrays, _named, kernel
from ..torch import _pairwise


class PairwiseLinearOperator(LinearOperator):
    """The matrix of a kernel with a name (one of kron.kernels) of all rows of x1, [..., M, K], and x2,
    [..., N, K], both in units of their length scales; without x2 of x1 and x1. Batches broadcast."""

    def __init__(self, x1, x2=None, *, function):
        """`function` is the name of a kernel that is 1 where rows are equal."""
        # Functions of rows need not be 1 there.
        if not isinstance(function, str) or function not in _named.TEXTS:
            raise ValueError(f"expects function to be one of {', '.join(map(repr, _named.TEXTS))}, but got "
                             f"{function!r}")
        if not torch.is_tensor(x1):
            raise TypeError(f"expects x1 to be a PyTorch tensor, but got {type(x1).__name__}")
        *batch, _, _ = _arrays.check_points(x1, x1 if x2 is None else x2, "x1", "x2")
        if x2 is not None:
            x1, x2 = (x.expand(*batch, *x.shape[-2:]) for x in (x1, x2))
        super().__init__(*([x1] if x2 is None else [x1, x2]), function=function)
        self.x1, self.x2, self.function = x1, x1 if x2 is None else x2, function

    @property
    def _is_symmetric(self):
        return self.x1 is self.x2

    def _kernel(self):
        return kernel(self.x1, self.x2, self.function)

    def _with_rows(self, *rows):
        return self.__class__(*rows, function=self.function)

    def _size(self):
        return torch.Size((*self.x1.shape[:-1], self.x2.shape[-2]))

    def _matmul(self, rhs):
        return self._kernel().matmul(rhs)

    def _transpose_nonbatch(self):
        return self if self._is_symmetric else self._with_rows(self.x2, self.x1)

    def to_dense(self):
        return self._kernel().to_dense()

    def _diagonal(self):
        if self._is_symmetric or torch.equal(self.x1, self.x2):
            return self.x1.new_ones(self.shape[:-1])
        return self._kernel().diag()

    def _bilinear_derivative(self, left_vecs, right_vecs):
        matrix = self._kernel()
        arrays = list(matrix.operands)
        needs = [array.requires_grad for array in arrays[:2]] + [False] * (len(arrays) - 2)
        if not any(needs):
            return (None,) * len(self._args)
        if self._is_symmetric:
            # The derivative by rows of the right side is that by rows of the left side, of the
            # transpose: one evaluation of the kernel gives both.
            left, right = torch.broadcast_tensors(left_vecs, right_vecs)
            left_vecs, right_vecs = torch.cat((left, right), -1), torch.cat((right, left), -1)
            needs[1] = False
        found = _pairwise.gradients(arrays, [left_vecs, right_vecs], [], needs, matrix.function)
        return tuple(found[:len(self._args)])

    def _expand_batch(self, batch_shape):
        return self._with_rows(*(x.expand(*batch_shape, *x.shape[-2:]) for x in self._args))

    def _getitem(self, row_index, col_index, *batch_indices):
        if self._is_symmetric and isinstance(row_index, slice) and row_index == col_index:
            return self._with_rows(self.x1[(*batch_indices, row_index, _noop_index)])
        return self._with_rows(self.x1[(*batch_indices, row_index, _noop_index)],
                               self.x2[(*batch_indices, col_index, _noop_index)])

    def _get_indices(self, row_index, col_index, *batch_indices):
        # A matrix of 1 x 1 for every element.
        x1 = self.x1[(*batch_indices, row_index, _noop_index)].unsqueeze(-2)
        x2 = self.x2[(*batch_indices, col_index, _noop_index)].unsqueeze(-2)
        return self._with_rows(x1, x2).to_dense()[..., 0, 0]
