# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""linear_operator's own cases for operators (linear_operator.test) on Kronecker products, with install()."""

import unittest

import pytest
import torch

pytest.importorskip("linear_operator.test.linear_operator_test_case")

import linear_operator.operators as lo  # noqa: E402
from linear_operator.test import linear_operator_test_case as cases  # noqa: E402

import kron.gpytorch as kgp  # noqa: E402


def definite(size, *batch):
    root = torch.randn(*batch, size, size)
    return root @ root.mT / size + torch.eye(size)


def dense_product(factors):
    result = factors[0]
    for factor in factors[1:]:
        # Sizes of a Kronecker product of the last two axes.
        shape = (*result.shape[:-2], *(a * b for a, b in zip(result.shape[-2:], factor.shape[-2:])))
        result = torch.einsum("...ij,...kl->...ikjl", result, factor).reshape(shape)
    return result


class Installed:
    """What the name of linear_operator's class stands for is kron's, whoever looks it up."""

    seed = 20240229

    def setUp(self):
        super().setUp()
        self.addCleanup(kgp.install())

    def create_linear_op(self):
        factors = [factor.requires_grad_() for factor in self.factors()]
        operator = lo.KroneckerProductLinearOperator(*map(lo.DenseLinearOperator, factors))
        assert isinstance(operator, kgp.KroneckerProductLinearOperator)
        return operator

    def evaluate_linear_op(self, linear_op):
        return dense_product([factor.tensor for factor in linear_op.linear_ops])


class TestProduct(Installed, cases.LinearOperatorTestCase, unittest.TestCase):
    should_call_lanczos = True
    should_call_lanczos_diagonalization = False

    def factors(self):
        return [definite(size) for size in (3, 2, 4)]


class TestBatch(TestProduct):
    skip_slq_tests = True

    def factors(self):
        return [definite(size, 3) for size in (3, 2, 4)]


class TestRectangular(Installed, cases.RectangularLinearOperatorTestCase, unittest.TestCase):
    def factors(self):
        return [torch.randn(size) for size in ((2, 3), (3, 2), (2, 4))]


class TestAddedDiagonal(Installed, cases.LinearOperatorTestCase, unittest.TestCase):
    should_call_lanczos = False
    should_call_cg = False

    def factors(self):
        return [definite(size) for size in (3, 2, 4)]

    def create_linear_op(self):
        noise = torch.full((1,), 0.5, requires_grad=True)
        return super().create_linear_op() + lo.ConstantDiagLinearOperator(noise, 24)

    def evaluate_linear_op(self, linear_op):
        product, diagonal = linear_op.linear_ops
        assert isinstance(product, kgp.KroneckerProductLinearOperator)
        return super().evaluate_linear_op(product) + diagonal.to_dense()
