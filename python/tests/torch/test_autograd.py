# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""First and second derivatives against finite differences in float64."""

import itertools

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import kron.torch as kt

REAL, COMPLEX = torch.float64, torch.complex128


def array(*shape, dtype=REAL):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def stored(kind, p, q, trans, batch=(), dtype=REAL):
    """A factor that contracts p and results in q when used as `trans`."""
    rows = (kind == "mkm") == (trans == "N")
    return array(*batch, *((p, q) if rows else (q, p)), dtype=dtype)


def check(function, inputs, second=True):
    assert gradcheck(function, inputs)
    if second:
        assert gradgradcheck(function, inputs)


@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
@pytest.mark.parametrize("trans_x, trans", [("N", "NN"), ("T", "TN"), ("N", "NT")])
def test_product(kind, trans_x, trans):
    p, q = (2, 3), (3, 2)
    if kind == "batched":
        x = array(2, *(p if trans_x == "N" else p[::-1]))
    else:
        shape = (2, 6) if (kind == "mkm") == (trans_x == "N") else (6, 2)
        x = array(*shape)
    factors = [stored(kind, *size, letter) for *size, letter in zip(p, q, trans)]
    function = getattr(kt, kind)
    check(lambda x, *f: function(x, f, trans_x=trans_x, trans_factors=list(trans)),
          (x, *factors))


@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
@pytest.mark.parametrize("trans_x, trans", [("N", "NC"), ("C", "TN"), ("T", "CT")])
def test_complex_product(kind, trans_x, trans):
    p, q = (2, 1), (2, 2)
    if kind == "batched":
        x = array(*(p if trans_x == "N" else p[::-1]), dtype=COMPLEX)
    else:
        shape = (2, 2) if (kind == "mkm") == (trans_x == "N") else (2, 2)
        x = array(*shape, dtype=COMPLEX)
    factors = [stored(kind, *size, letter, dtype=COMPLEX)
               for *size, letter in zip(p, q, trans)]
    function = getattr(kt, kind)
    check(lambda x, *f: function(x, f, alpha=0.5 - 2j, trans_x=trans_x,
                                 trans_factors=list(trans)), (x, *factors))


@pytest.mark.parametrize("kind", ["mkm", "kmm"])
def test_scaling_and_addend(kind):
    factors = [array(2, 2), array(3, 3)]
    z = array(2, 6) if kind == "mkm" else array(6, 2)
    x = array(*z.shape)
    function = getattr(kt, kind)
    check(lambda x, z, *f: function(x, f, alpha=-1.5, beta=0.5, z=z), (x, z, *factors))


@pytest.mark.parametrize("kind", ["mkm", "kmm"])
def test_broadcast_batches(kind):
    x = array(3, 1, 2, 4) if kind == "mkm" else array(3, 1, 4, 2)
    factors = [array(2, 2, 2), array(2, 2)]
    function = getattr(kt, kind)
    check(lambda x, *f: function(x, f), (x, *factors))


@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
def test_three_factors_with_a_long_inside(kind):
    """Every way to contract for a factor: inside of size 1, small and large."""
    p, q = (2, 3, 5), (3, 2, 4)
    x = {"mkm": lambda: array(2, 30), "kmm": lambda: array(30, 2),
         "batched": lambda: array(2, 2, 3, 5)}[kind]()
    factors = [stored(kind, *size, "N") for size in zip(p, q)]
    function = getattr(kt, kind)
    check(lambda x, *f: function(x, f), (x, *factors), second=False)


@pytest.mark.parametrize("needed", list(itertools.product([False, True], repeat=4))[1:])
def test_partial_gradients(needed):
    """Only what needs a gradient gets one, and the right one."""
    inputs = [array(4, 12), array(2, 3), array(3, 2), array(2, 2)]
    expected = torch.autograd.grad(kt.mkm(inputs[0], inputs[1:]).square().sum(), inputs)
    for tensor, flag in zip(inputs, needed):
        tensor.requires_grad_(flag)
    kt.mkm(inputs[0], inputs[1:]).square().sum().backward()
    for tensor, flag, gradient in zip(inputs, needed, expected):
        assert (tensor.grad is not None) == flag
        if flag:
            torch.testing.assert_close(tensor.grad, gradient)


PATTERNS = [(1, 2, 3, 1), (2, 2, 1, 1), (1, 2, 2, 2), (2, 1, 2, 2)]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
@pytest.mark.parametrize("trans", ["N", "T"])
def test_ksmm(pattern, layout, trans):
    a, b, c, d = pattern
    features = a * (c if trans == "N" else b) * d
    results = a * (b if trans == "N" else c) * d
    x = array(3, features) if layout == "batch_first" else array(features, 3)
    check(lambda x, w, bias: kt.ksmm(x, w, pattern, layout, bias=bias,
                                     trans_weights=trans),
          (x, array(*pattern), array(results)))


@pytest.mark.parametrize("trans", ["N", "T", "C"])
def test_complex_ksmm(trans):
    x, weights = array(2, 4, dtype=COMPLEX), array(1, 2, 2, 2, dtype=COMPLEX)
    check(lambda x, w: kt.ksmm(x, w, trans_weights=trans, alpha=1 + 2j), (x, weights))


@pytest.mark.parametrize("epilogue", ["relu", "gelu", "silu"])
def test_epilogue(epilogue):
    x, weights, bias = array(3, 4), array(2, 3, 2, 1), array(6)
    residual, z = array(3, 6), array(3, 6)
    check(lambda x, w, bias, residual, z: kt.ksmm(
        x, w, bias=bias, residual=residual, z=z, alpha=1.5, beta=-0.5, scale=0.75,
        epilogue=epilogue), (x, weights, bias, residual, z))


@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_chain(layout):
    weights = [array(2, 2, 1, 2), array(1, 3, 4, 2)]
    x = array(3, 4) if layout == "batch_first" else array(4, 3)
    check(lambda x, bias, *w: kt.ksmm_chain(x, w, layout=layout, bias=bias),
          (x, array(6), *weights))


def test_chain_operation_itself():
    """torch.ops.kron.ksmm_chain, which keeps no intermediate."""
    weights = [array(2, 2, 1, 2), array(1, 3, 4, 2)]
    check(lambda x, bias, *w: torch.ops.kron.ksmm_chain(x, w, bias),
          (array(3, 4), array(6), *weights))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_weight_gradient(pattern, layout):
    a, b, c, d = pattern
    grad, x = array(3, a * b * d), array(3, a * c * d)
    if layout == "batch_last":
        grad, x = (t.detach().mT.contiguous().requires_grad_() for t in (grad, x))
    check(lambda grad, x: torch.ops.kron.ksmm_weight_grad(grad, x, pattern, layout),
          (grad, x))


@pytest.mark.parametrize("rows", ["outside", "inside"])
@pytest.mark.parametrize("shape", [(3, 2, 4), (2, 3, 1), (1, 2, 6)])
def test_axis_gradient(shape, rows):
    outside, p, inside = shape
    for dtype in (REAL, COMPLEX):
        check(lambda x, grad: torch.ops.kron.axis_grad(x, grad, rows),
              (array(*shape, dtype=dtype), array(outside, p + 1, inside, dtype=dtype)))


# Verify sums of so many terms that kernels of kron make them.
def test_axis_gradient_of_many_rows():
    check(lambda x, grad: torch.ops.kron.axis_grad(x, grad, "outside"),
          (array(512, 1, 2), array(512, 2, 2)), second=False)


def test_vector_input():
    check(lambda x, a, b: kt.mkm(x, [a, b]), (array(4), array(2, 3), array(2, 2)))
    check(lambda x, a, b: kt.kmm(x, [a, b]), (array(4), array(3, 2), array(2, 2)))


def test_scalars_that_are_tensors():
    x, z, factors = array(3, 4), array(3, 6), [array(2, 3), array(2, 2)]
    scalars = [torch.tensor(value, dtype=REAL, requires_grad=True) for value in (2.0, -3.0)]
    check(lambda alpha, beta: kt.mkm(x, factors, alpha=alpha, beta=beta, z=z), scalars)
    weights, z = array(1, 3, 2, 2), array(3, 6)
    for function in (kt.ksmm, lambda x, w, **k: kt.ksmm_chain(x, [w], **k)):
        check(lambda alpha, beta: function(x, weights, alpha=alpha, beta=beta, z=z), scalars)
    with pytest.raises(ValueError, match="alpha .*shape"):
        kt.mkm(x, factors, alpha=torch.ones(2, dtype=REAL))
    with pytest.raises(ValueError, match="z"):
        kt.mkm(x, factors, beta=scalars[0])


@pytest.mark.parametrize("kind", ["mkm", "kmm"])
def test_gradients_of_batched_factors(kind):
    """Long and short segments behind an axis, of which products of matrices are made."""
    torch.manual_seed(0)
    factors = [array(2, 6, 6) for _ in range(4)]
    x = array(1, *((5, 1296) if kind == "mkm" else (1296, 5)))
    y = getattr(kt, kind)(x, factors)
    grad = torch.randn_like(y)
    actual = torch.autograd.grad(y, factors, grad)
    for k, factor in enumerate(factors):
        # The product is linear in a factor.
        step = torch.randn_like(factor)
        changed = getattr(kt, kind)(x, [*factors[:k], step, *factors[k + 1:]])
        torch.testing.assert_close((actual[k] * step).sum(), (changed * grad).sum())


def test_no_columns():
    """Gradients of a product without columns are zeros of the right shapes."""
    x = torch.empty(2, 6, 0, dtype=REAL, requires_grad=True)
    factors = [array(3, 2), array(4, 3)]
    found = torch.autograd.grad(kt.kmm(x, factors).sum(), [x, *factors])
    for gradient, leaf in zip(found, [x, *factors]):
        assert gradient.shape == leaf.shape and not gradient.any()
