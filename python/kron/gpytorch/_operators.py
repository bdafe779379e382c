# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""linear_operator's classes with kron's products, and without what repeats."""

import sys

import torch
from linear_operator import settings
from linear_operator.operators import (
    AddedDiagLinearOperator, ConstantDiagLinearOperator, ConstantMulLinearOperator,
    DiagLinearOperator, KroneckerProductAddedDiagLinearOperator,
    KroneckerProductDiagLinearOperator, KroneckerProductTriangularLinearOperator,
    MatmulLinearOperator, RootLinearOperator)
from linear_operator.operators import (
    KroneckerProductLinearOperator as _Original)
from linear_operator.operators._linear_operator import LinearOperator
from linear_operator.utils.memoize import cached

from .. import torch as kt
from . import _spectral
from ._factors import is_plain, to_matrix


def _is_distributed(array):
    """Whether it is a DTensor; nothing is imported to find out."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(array, module.DTensor)


class KroneckerProductLinearOperator(_Original):
    """The Kronecker product of linear operators or matrices; see linear_operator. Products,
    and solves and quadratic forms with a constant added to the diagonal, take DTensors of shape
    [rows, columns], too."""

    def _matrices(self):
        """The factors' entries. Those written out without gradients are kept: iterative
        solvers multiply by the same ones again and again."""
        if torch.is_grad_enabled():
            return [to_matrix(op) for op in self.linear_ops]
        kept = self.__dict__.get("_kept_matrices")
        if kept is None:
            kept = self._kept_matrices = [to_matrix(op) for op in self.linear_ops]
        return kept

    def matmul(self, other):
        """self @ other."""
        if not _is_distributed(other):
            return super().matmul(other)
        from . import _sharded

        return _sharded.product(other, self._matrices(), False)

    def _product(self, array, trans):
        is_vector = array.dim() == 1
        array = array.unsqueeze(-1) if is_vector else array
        result = kt.kmm(array, self._matrices(), trans_factors=trans)
        return result.squeeze(-1) if is_vector else result

    def _matmul(self, rhs):
        if not all(map(is_plain, self.linear_ops)):
            return _Original._matmul(self, rhs)
        return self._product(rhs, False)

    def _t_matmul(self, rhs):
        if not all(map(is_plain, self.linear_ops)):
            return _Original._t_matmul(self, rhs)
        return self._product(rhs, True)

    def rmatmul(self, other):
        """other @ self."""
        if isinstance(other, LinearOperator):
            return MatmulLinearOperator(other, self)
        if not all(map(is_plain, self.linear_ops)):
            return _Original.rmatmul(self, other)
        return kt.mkm(other, self._matrices())

    def __add__(self, other):
        if isinstance(other, (KroneckerProductDiagLinearOperator, ConstantDiagLinearOperator)):
            return _AddedDiag(self, other)
        return super().__add__(other)

    def add_diagonal(self, diag):
        return _with_spectrum(super().add_diagonal(diag))

    def _mul_constant(self, other):
        return _Scaled(self, other)

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
        return self.__class__(*map(torch.linalg.inv, self._matrices()))

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

    _matrices = KroneckerProductLinearOperator._matrices
    _product = KroneckerProductLinearOperator._product
    _matmul = KroneckerProductLinearOperator._matmul
    _t_matmul = KroneckerProductLinearOperator._t_matmul
    _solve = KroneckerProductLinearOperator._solve


# ----------------------------------------------------------------------------------
# With a constant on the diagonal
# ----------------------------------------------------------------------------------

#: Operations that an eigendecomposition takes, in n^3 of a matrix, and of Cholesky's n^3.
_DECOMPOSITION, _CHOLESKY = 9, 1 / 3
#: Products that conjugate gradients take when they converge fast, each with the columns of
#: ten probe vectors and one right side.
_ITERATIONS, _COLUMNS = 20, 11


def _with_spectrum(result):
    """The sum of a product and a diagonal in the class of this file."""
    if type(result) is KroneckerProductAddedDiagLinearOperator:
        return _AddedDiag(result.linear_op, result.diag_tensor)
    return result


class _Scaled(ConstantMulLinearOperator):
    """A Kronecker product times a constant, which knows its sums with a diagonal."""

    def __add__(self, other):
        if isinstance(other, ConstantDiagLinearOperator):
            return _ScaledAddedDiag(self, other)
        return super().__add__(other)

    def add_diagonal(self, diag):
        result = super().add_diagonal(diag)
        if type(result) is AddedDiagLinearOperator:
            return _ScaledAddedDiag(result._linear_op, result._diag_tensor)
        return result


class _Spectral:
    """What a Kronecker product, or a multiple of one, plus a constant times the identity gets
    from the eigenvectors of the factors."""

    def _spectral_factors(self, whatever_it_takes=False):
        """The factors as matrices, or None where linear_operator's own way takes less."""
        product, constant = self._linear_op, None
        if isinstance(product, ConstantMulLinearOperator):
            product, constant = product.base_linear_op, product._constant
        if not (isinstance(product, _Original) and self._has_constant_diagonal(product)):
            return None
        ops = product.linear_ops
        if not all(op.is_square and is_plain(op) and not isinstance(op, DiagLinearOperator)
                   for op in ops):
            return None
        operations = _DECOMPOSITION * sum(op.size(-1) ** 3 for op in ops)
        if operations > self._stock_operations(ops) and not whatever_it_takes:
            return None
        factors = [to_matrix(op) for op in ops]
        if constant is not None:
            if constant.dim() == 1 and constant.numel() == 1:
                constant = constant.squeeze(0)
            k = min(range(len(ops)), key=lambda k: factors[k].size(-1))
            factors[k] = factors[k] * constant[..., None, None]
        return factors

    def _has_constant_diagonal(self, product):
        return (isinstance(self._diag_tensor, ConstantDiagLinearOperator)
                and not product.dtype.is_complex
                and self._diag_tensor.size(-1) == product.size(-1))

    def _sharded_factors(self):
        """The factors for a DTensor, of which each rank has a part."""
        factors = self._spectral_factors(whatever_it_takes=True)
        if factors is None:
            raise ValueError("expects a Kronecker product, or a multiple of one, of several plain "
                             "matrices, and a constant diagonal for a right side that is a "
                             "DTensor")
        return factors

    def solve(self, right_tensor, left_tensor=None):
        if not _is_distributed(right_tensor) or left_tensor is not None:
            return super().solve(right_tensor, left_tensor)
        from . import _sharded

        return _sharded.solve(self._sharded_factors(), self._diag_tensor.diag_values,
                              right_tensor)

    def inv_quad_logdet(self, inv_quad_rhs=None, logdet=False, reduce_inv_quad=True):
        if _is_distributed(inv_quad_rhs):
            if not (logdet and reduce_inv_quad):
                raise ValueError("expects logdet=True and reduce_inv_quad=True for a right side "
                                 "that is a DTensor")
            from . import _sharded

            return _sharded.inv_quad_logdet(self._sharded_factors(),
                                            self._diag_tensor.diag_values, inv_quad_rhs)
        factors = None
        if (inv_quad_rhs is not None and logdet and settings.fast_computations.log_prob.on()
                and inv_quad_rhs.dim() >= 2
                and inv_quad_rhs.shape[:-1] == self.shape[:-1]):
            factors = self._spectral_factors()
        if factors is None:
            return super().inv_quad_logdet(inv_quad_rhs, logdet, reduce_inv_quad)
        inv_quad, logdet = _spectral.inv_quad_logdet(
            factors, self._diag_tensor.diag_values, inv_quad_rhs,
            settings._linalg_dtype_symeig.value())
        return inv_quad.sum(-1) if reduce_inv_quad else inv_quad, logdet

    def _solve(self, rhs, preconditioner=None, num_tridiag=0):
        factors = None
        if num_tridiag == 0 and not torch.is_grad_enabled():
            factors = self._spectral_factors()
        if factors is None:
            return super()._solve(rhs, preconditioner, num_tridiag)
        return _spectral.solve(factors, self._diag_tensor.diag_values, rhs,
                               settings._linalg_dtype_symeig.value())


class _AddedDiag(_Spectral, KroneckerProductAddedDiagLinearOperator):
    """K + s I for a Kronecker product K."""

    def _stock_operations(self, ops):
        size = self.size(-1)
        if size > settings.max_cholesky_size.value():
            return float("inf")  # decomposes the factors too
        return _CHOLESKY * size ** 3


class _ScaledAddedDiag(_Spectral, AddedDiagLinearOperator):
    """c K + s I for a Kronecker product K: linear_operator knows no structure of it, and has
    Cholesky's factors or conjugate gradients."""

    def _stock_operations(self, ops):
        size = self.size(-1)
        if size <= settings.max_cholesky_size.value():
            return _CHOLESKY * size ** 3
        return _ITERATIONS * _COLUMNS * 2 * size * sum(op.size(-1) for op in ops)

    def _preconditioner(self):
        if self._spectral_factors() is not None:
            return None, None, None  # nothing is solved iteratively
        return super()._preconditioner()
