# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kernel matrices of tensors: derivatives, solutions, torch.compile, vmap and torch.func."""

import warnings

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import grad, jacrev, vmap
from torch.utils._python_dispatch import TorchDispatchMode

from kron.kernels import cdist, kernel


GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def array(*shape, dtype=torch.float64, requires_grad=False, device="cpu"):
    return torch.randn(*shape, dtype=dtype, requires_grad=requires_grad, device=device)


def positive(*shape, device="cpu"):
    return torch.rand(shape, dtype=torch.float64, device=device).add_(0.5).requires_grad_()


def cauchy(x, y, width):
    return 1 / (1 + torch.sum((x - y) ** 2) / torch.square(width))


def skewed(x, y, width):
    return torch.tanh(torch.sum(torch.exp(-width * abs(x)) * y))


#: name or function -> hyper-parameters
KERNELS = {"gaussian": ["lengthscale"], "laplace": ["lengthscale"], "matern12": ["lengthscale"],
           "matern32": ["lengthscale"], "matern52": ["lengthscale"],
           "rational_quadratic": ["lengthscale", "alpha"], "periodic": ["lengthscale", "period"],
           cauchy: ["width"], skewed: ["width"]}


def made(name, a, b, values):
    return kernel(a, b, name, **dict(zip(KERNELS[name], values)))


@pytest.mark.parametrize("name", KERNELS)
def test_agrees_with_numpy(name):
    a, b, v = array(2, 1, 5, 3), array(3, 7, 3), array(7, 2)
    values = [0.7, 1.3][:len(KERNELS[name])]
    matrix = made(name, a, b, values)
    if callable(name):
        assert matrix.to_dense().shape == (2, 3, 5, 7)
    else:
        plain = made(name, a.numpy(), b.numpy(), values)
        np.testing.assert_array_equal(matrix.to_dense(), plain.to_dense())
    dense = matrix.to_dense()
    for found, wanted in ((matrix @ v, dense @ v), (a[0, 0, :, 0] @ matrix, a[0, 0, :, 0] @ dense),
                          (a[0, 0].mT @ matrix, a[0, 0].mT @ dense), (matrix.mT.to_dense(), dense.mT)):
        torch.testing.assert_close(found, wanted)
    np.testing.assert_array_equal(np.asarray(matrix), dense)


@pytest.mark.parametrize("name, device", [
    *((name, "cpu") for name in KERNELS),
    # Others have sines, or powers whose exponents are hyper-parameters.
    *(pytest.param(name, "cuda", marks=GPU) for name in ("gaussian", "laplace", "matern12", "matern32", "matern52", cauchy))])
def test_derivatives(name, device):
    """First and second ones by rows, vectors and hyper-parameters; all hyper-parameters but the first one
    change with the batch."""
    a, b = (array(*shape, requires_grad=True, device=device) for shape in ((3, 2), (2, 4, 2)))
    v = array(4, 2, requires_grad=True, device=device)
    values = [positive(*(2,) * (index > 0), device=device) for index in range(len(KERNELS[name]))]

    def dense(a, b, *values):
        return made(name, a, b, values).to_dense()

    def product(a, b, v, *values):
        return made(name, a, b, values) @ v

    for function, given in ((dense, (a, b, *values)), (product, (a, b, v, *values))):
        assert gradcheck(function, given)
        assert gradgradcheck(function, given)


def test_derivatives_by_length_scales_of_features():
    a, b = array(3, 4, requires_grad=True), array(5, 4, requires_grad=True)
    for scales in (positive(4), positive(2, 1, 4), positive(2, 1, 1)):
        assert gradcheck(lambda a, b, scales: kernel(a, b, "matern52", lengthscale=scales).to_dense(), (a, b, scales))


@pytest.mark.parametrize("name", ["gaussian", "matern32", "matern52", "rational_quadratic", "periodic"])
def test_derivatives_at_equal_rows(name):
    """Kernels that are smooth there have their second derivatives there; a difference quotient tells."""
    x, scale = array(4, 2, requires_grad=True), positive()

    def loss(x, scale):
        return (kernel(x, x, name, lengthscale=scale).to_dense() * torch.arange(16.0, dtype=x.dtype).view(4, 4)).sum()

    assert gradcheck(loss, (x, scale))
    assert gradgradcheck(loss, (x, scale), atol=2e-4)
    # By one side alone.
    b = x.detach().clone().requires_grad_()
    first, = torch.autograd.grad(kernel(x, b, name).to_dense().trace(), x, create_graph=True)
    torch.testing.assert_close(first, torch.zeros_like(first))
    second, = torch.autograd.grad(first.sum(), x)
    factors = {"matern32": 3, "matern52": 5 / 3, "periodic": 4 * np.pi**2}
    torch.testing.assert_close(second, torch.full_like(second, -factors.get(name, 1)), rtol=1e-4, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types(dtype):
    a, b, v = (array(*shape, dtype=dtype, requires_grad=True) for shape in ((5, 3), (7, 3), (7, 2)))
    scale = torch.tensor(1.5, requires_grad=True)
    result = kernel(a, b, "matern32", lengthscale=scale) @ v
    wide = [tensor.detach().double().requires_grad_() for tensor in (a, b, v, scale)]
    wanted = kernel(*wide[:2], "matern32", lengthscale=wide[3]) @ wide[2]
    precise = {"rtol": 3e-2, "atol": 3e-2}
    torch.testing.assert_close(result.double(), wanted, **precise)
    result.sum().backward()
    wanted.sum().backward()
    for found, other in zip((a, b, v, scale), wide):
        assert found.grad.dtype == found.dtype
        torch.testing.assert_close(found.grad.double(), other.grad, **precise)


@pytest.mark.parametrize("name", ["gaussian", "rational_quadratic"])
def test_solutions_and_their_derivatives(name):
    x, noise = array(6, 2, requires_grad=True), positive()
    values = [positive() for _ in KERNELS[name]]
    for rhs in (array(6, 2, requires_grad=True), array(6, requires_grad=True)):
        def solved(x, rhs, noise, *values):
            return made(name, x, None, values).solve(rhs, noise=noise, tolerance=1e-13)

        dense = made(name, x, None, values).to_dense() + noise * torch.eye(6)
        torch.testing.assert_close(solved(x, rhs, noise, *values), torch.linalg.solve(dense, rhs))
        assert gradcheck(solved, (x, rhs, noise, *values))
        assert gradgradcheck(solved, (x, rhs, noise, *values))


def test_solutions_of_batches():
    x, noise, rhs = array(2, 1, 5, 2, requires_grad=True), positive(3), array(5, 1, requires_grad=True)

    def solved(x, rhs, noise):
        return kernel(x).solve(rhs, noise=noise, tolerance=1e-13)

    assert solved(x, rhs, noise).shape == (2, 3, 5, 1)
    assert gradcheck(solved, (x, rhs, noise))
    with pytest.warns(RuntimeWarning, match="after 1 steps"):
        kernel(x.detach()).solve(rhs.detach(), noise=1, max_iterations=1, rank=0)


def test_transforms():
    b, v, many = array(4, 3), array(4, 2), array(6, 5, 3)
    scales = torch.rand(6, dtype=torch.float64) + 0.5

    def fused(a, scale):
        return (kernel(a, b, lengthscale=scale) @ v).square().sum()

    def plain(a, scale):
        squares = (a[:, None] - b).square().sum(-1)
        return (torch.exp(-squares / (2 * scale**2)) @ v).square().sum()

    for transform in (vmap, lambda f: vmap(grad(f, (0, 1))), lambda f: vmap(jacrev(grad(f)))):
        torch.testing.assert_close(transform(fused)(many, scales), transform(plain)(many, scales))
    torch.testing.assert_close(vmap(lambda a: kernel(a).diag())(many), torch.ones(6, 5, dtype=torch.float64))
    # Only the vectors are mapped.
    vectors = array(3, 4)
    torch.testing.assert_close(vmap(lambda v: kernel(b) @ v)(vectors), (kernel(b).to_dense() @ vectors.mT).mT)


def test_transforms_of_solutions():
    many, rhs, noises = array(3, 5, 2), array(3, 5, 1), torch.rand(3, dtype=torch.float64) + 0.5

    def solved(x, rhs, noise):
        return kernel(x).solve(rhs, noise=noise, tolerance=1e-13)

    def plain(x, rhs, noise):
        squares = (x[:, None] - x).square().sum(-1)
        return torch.linalg.solve(torch.exp(-squares / 2) + noise * torch.eye(5, dtype=x.dtype), rhs)

    for dims in ((0, 0, 0), (None, 0, 0), (0, None, None), (None, None, 0)):
        given = [array if dim == 0 else array[0] for array, dim in zip((many, rhs, noises), dims)]
        for transform in (lambda f: f, lambda f: grad(lambda *given: f(*given).square().sum(), (0, 1, 2)),
                          lambda f: jacrev(grad(lambda *given: f(*given).square().sum()))):
            torch.testing.assert_close(vmap(transform(solved), dims)(*given), vmap(transform(plain), dims)(*given))


def test_compiles_as_one_graph():
    kernel(np.zeros((3, 2))).to_dense()  # PyTorch cannot trace what knows types of NumPy by themselves.
    a, b, v = array(5, 3, requires_grad=True), array(4, 3), array(4, 2)
    scale = positive()

    def loss(a, b, v, scale):
        matrix = kernel(a, b, "matern32", lengthscale=scale)
        return matrix.matmul(v).square().sum() + kernel(a).to_dense().sum()

    compiled = torch.compile(loss, fullgraph=True)(a, b, v, scale)
    torch.testing.assert_close(compiled, loss(a, b, v, scale))
    found, wanted = (torch.autograd.grad(value, (a, scale)) for value in (compiled, loss(a, b, v, scale)))
    torch.testing.assert_close(found, wanted)


def test_hyper_parameters_of_other_types():
    """Numbers and tensors without dimensions are converted, gradients come back in their types."""
    a = array(4, 2)
    single = torch.tensor(1.5, requires_grad=True)
    kernel(a, lengthscale=single).to_dense().sum().backward()
    assert single.grad.dtype == torch.float32 and single.grad != 0
    whole = kernel(a, lengthscale=torch.tensor(2)).to_dense()
    torch.testing.assert_close(whole, kernel(a, lengthscale=2).to_dense())


def test_bad_tensors():
    a = array(4, 3)
    for kind, message, call in (
            (ValueError, "expects lengthscale to be positive and finite",
             lambda: kernel(a, lengthscale=torch.tensor(-1.0))),
            (TypeError, "expects lengthscale to be a number or a tensor, but got ndarray",
             lambda: kernel(a, lengthscale=np.ones(3))),
            (TypeError, "expects lengthscale to be a number or a NumPy array, but got Tensor",
             lambda: kernel(a.numpy(), lengthscale=torch.ones(3))),
            (ValueError, "expects lengthscale on cpu as a, but it is on meta",
             lambda: kernel(a, lengthscale=torch.ones(3, device="meta"))),
            (TypeError, "expects v to be a tensor as a, but got ndarray", lambda: kernel(a) @ np.ones((4, 1))),
            (TypeError, r"but got torch.median of 1 value\(s\)",
             lambda: kernel(a, a, lambda x, y: torch.median(x * y))),
            (TypeError, "expects tensors that need gradients to be hyper-parameters of a function of rows",
             lambda: kernel(a, a, lambda x, y: torch.sum(x * y) * torch.tensor(2.0, requires_grad=True))),
            (TypeError, "expects no arguments 'keepdim'",
             lambda: kernel(a, a, lambda x, y: torch.sum(x * y, -1, keepdim=True)))):
        with pytest.raises(kind, match=message):
            call()


def test_arrays_that_need_gradients_are_not_numpy_arrays():
    a = array(4, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(kernel(a))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.asarray(kernel(a.detach())).shape == (4, 4)


def test_calls_that_somebody_sees_are_operations():
    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    a, v, seen = torch.randn(5, 3), torch.randn(5, 2), []
    wanted = cdist(a, a), kernel(a, lengthscale=1.25).matmul(v)
    with Names():
        found = cdist(a, a), kernel(a, lengthscale=1.25).matmul(v)
    assert [name for name in seen if name.startswith("kron")] == ["kron.pairwise.default", "kron.pairwise_apply.default"]
    assert all(map(torch.equal, found, wanted))


def test_numbers_of_inference_serve_derivatives():
    a = torch.randn(5, 3, requires_grad=True)
    with torch.inference_mode():
        wanted = kernel(a, lengthscale=1.375).to_dense()
    result = kernel(a, lengthscale=1.375).to_dense()
    assert torch.equal(result, wanted)
    result.sum().backward()
    assert a.grad.isfinite().all()
