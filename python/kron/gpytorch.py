# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""A Kronecker product operator for GPyTorch (linear_operator) on kron's kernels.

`KroneckerProductLinearOperator` is the class of that name in linear_operator with its
products, solves and decompositions done by kron; it passes every isinstance check for
the original. `install()` puts it in the original's place, so that kernels which build
Kronecker products themselves (GridKernel, MultitaskKernel, ...) use it.
"""

import contextlib
import sys

import torch
from linear_operator.operators import (
    DenseLinearOperator, DiagLinearOperator, KroneckerProductDiagLinearOperator,
    KroneckerProductTriangularLinearOperator, MatmulLinearOperator, RootLinearOperator)
from linear_operator.operators import (
    KroneckerProductLinearOperator as _Original)
from linear_operator.operators._linear_operator import LinearOperator
from linear_operator.utils.memoize import cached

from . import torch as kt

__all__ = ["KroneckerProductLinearOperator", "install", "installed"]


def _factors(operators):
    """The factors as matrices; each is small beside the product."""
    return [op.tensor if type(op) is DenseLinearOperator else op.to_dense()
            for op in operators]


class KroneckerProductLinearOperator(_Original):
    """The Kronecker product of linear operators or matrices; see linear_operator."""

    def _product(self, array, trans):
        is_vector = array.dim() == 1
        array = array.unsqueeze(-1) if is_vector else array
        result = kt.kmm(array, _factors(self.linear_ops), trans_factors=trans)
        return result.squeeze(-1) if is_vector else result

    def _matmul(self, rhs):
        return self._product(rhs, False)

    def _t_matmul(self, rhs):
        return self._product(rhs, True)

    def rmatmul(self, other):
        """other @ self."""
        if isinstance(other, LinearOperator):
            return MatmulLinearOperator(other, self)
        return kt.mkm(other, _factors(self.linear_ops))

    def _solve(self, rhs, preconditioner=None, num_tridiag=0):
        # (A kron B)^-1 (A kron B)^-1 ... factor by factor, by the factor's own solver.
        batch = torch.broadcast_shapes(self.batch_shape, rhs.shape[:-2])
        result = rhs.expand(*batch, *rhs.shape[-2:])
        sizes = [op.size(-1) for op in self.linear_ops]
        outside, inside = 1, rhs.size(-2)
        columns = rhs.size(-1)
        for size, op in zip(sizes, self.linear_ops):
            inside //= size
            # [batch, outside, size, inside * columns]; the solver wants one matrix.
            array = result.reshape(*batch, outside, size, inside * columns)
            array = array.movedim(-2, -3).reshape(*batch, size, -1)
            array = op.solve(array).reshape(*batch, size, outside, inside * columns)
            result = array.movedim(-3, -2)
            outside *= size
        result = result.reshape(*batch, rhs.size(-2), columns)
        if num_tridiag == 0:
            return result
        values, _ = self.diagonalization()
        values = values.unsqueeze(0).expand(num_tridiag, *values.shape)
        return result, DiagLinearOperator(values).to_dense()

    @cached
    def inverse(self):
        return self.__class__(*map(torch.linalg.inv, _factors(self.linear_ops)))

    def _symeig(self, eigenvectors=False, return_evals_as_lazy=False):
        values, vectors = zip(*[op._symeig(eigenvectors=eigenvectors)
                                for op in self.linear_ops])
        values = KroneckerProductDiagLinearOperator(*map(DiagLinearOperator, values))
        vectors = KroneckerProductLinearOperator(*vectors) if eigenvectors else None
        return values if return_evals_as_lazy else values._diagonal(), vectors

    @cached(name="svd")
    def _svd(self):
        u, s, v = zip(*[op.svd() for op in self.linear_ops])
        s = KroneckerProductDiagLinearOperator(*map(DiagLinearOperator, s))._diagonal()
        return (KroneckerProductLinearOperator(*u), s,
                KroneckerProductLinearOperator(*v))

    @cached(name="cholesky")
    def _cholesky(self, upper=False):
        return _Triangular(*[op.cholesky(upper=upper) for op in self.linear_ops],
                           upper=upper)

    @cached(name="root_decomposition")
    def root_decomposition(self, method=None):
        return self._root(super().root_decomposition(method=method))

    @cached(name="root_inv_decomposition")
    def root_inv_decomposition(self, initial_vectors=None, test_vectors=None,
                               method=None):
        return self._root(super().root_inv_decomposition(method=method))

    @staticmethod
    def _root(root):
        """The root with its Kronecker product in this class."""
        if isinstance(root, RootLinearOperator) and type(root.root) is _Original:
            return RootLinearOperator(
                KroneckerProductLinearOperator(*root.root.linear_ops))
        return root


class _Triangular(KroneckerProductTriangularLinearOperator):
    """A Kronecker product of triangular matrices whose products kron computes."""

    _product = KroneckerProductLinearOperator._product
    _matmul = KroneckerProductLinearOperator._matmul
    _t_matmul = KroneckerProductLinearOperator._t_matmul
    _solve = KroneckerProductLinearOperator._solve


def install():
    """Replaces linear_operator's class in every module that has imported it. Returns a
    function that undoes it."""
    places = []
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if name.split(".")[0] not in ("linear_operator", "gpytorch", "botorch"):
            continue
        if vars(module).get("KroneckerProductLinearOperator") is _Original:
            module.KroneckerProductLinearOperator = KroneckerProductLinearOperator
            places.append(module)

    def restore():
        for module in places:
            module.KroneckerProductLinearOperator = _Original

    return restore


@contextlib.contextmanager
def installed():
    """install() for the time of a with statement."""
    restore = install()
    try:
        yield
    finally:
        restore()
