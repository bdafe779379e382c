# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""kron.jit and compiled libraries on tensors."""

import numpy as np
import pytest
import torch

import kron


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.int64])
def test_jit_on_tensors(dtype):
    def make(*shape):
        return torch.randint(-3, 4, shape).to(dtype)

    @kron.jit(dynamic={"x": {0: "m"}, "z": {0: "m"}})
    def f(x, factors, z):
        return kron.mkm(x, factors) * 2 + z, x.T

    factors = [make(2, 3), make(3, 2)]
    for rows in (1, 5):
        x, z = make(rows, 6), make(rows, 6)
        y, transposed = f(x, factors, z)
        assert y.dtype == dtype and isinstance(y, torch.Tensor)
        assert torch.equal(y, x @ torch.kron(*factors) * 2 + z)
        assert torch.equal(transposed, x.T)
    assert len(f._compiled) == 1


def test_tensors_and_arrays_do_not_share_code_paths():
    f = kron.jit(lambda x: x * 2)
    assert isinstance(f(np.ones(3)), np.ndarray)
    assert isinstance(f(torch.ones(3, dtype=torch.float64)), torch.Tensor)
    with pytest.raises(TypeError, match="float16|dtype"):
        f(torch.ones(3, dtype=torch.int8))


def test_library_on_tensors():
    library = kron.compile(lambda x, a: kron.mkm(x, [a]), kron.Spec(("m", 4), "f4"),
                           kron.Spec((4, 3), "f4"))
    x, a = torch.randn(6, 4), torch.randn(4, 3)
    torch.testing.assert_close(library(x, a), x @ a)
    out = torch.empty(6, 3)
    assert library(x, a, out=out) is out
    torch.testing.assert_close(out, x @ a)
    with pytest.raises((TypeError, ValueError)):
        library(x, a.double())


def test_layouts_of_sparse_products():
    """Row-major tensors get a function for nothing else, others one that takes all."""
    @kron.jit
    def f(x, weights):
        return kron.ksmm_chain(x, [weights])

    rows, weights = torch.randn(5, 12), torch.randn(1, 2, 3, 4)
    gaps = torch.randn(5, 14)[:, :12]
    for x in (rows, gaps, rows, gaps):
        expected = kron.ksmm(x.contiguous(), weights)
        torch.testing.assert_close(f(x, weights), expected)
    assert [function.needs_row_major for function, _ in f._compiled.values()] == [True, False]


def test_column_of_a_function_for_row_major():
    """A last axis of size 1 says nothing of the others."""
    library = kron.compile(lambda x, weights: kron.ksmm(x, weights), kron.Spec((5, 1)),
                           kron.Spec((1, 2, 1, 1)), row_major=True)
    x, weights = torch.randn(5, 3)[:, :1], torch.randn(1, 2, 1, 1)
    torch.testing.assert_close(library(x, weights), x @ weights.reshape(2, 1).T)
