# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The operator for GPyTorch against linear_operator's own."""

import math

import pytest
import torch

gpytorch = pytest.importorskip("gpytorch")

import linear_operator.operators as lo  # noqa: E402

import kron.gpytorch as kgp  # noqa: E402
from kron.gpytorch import _spectral  # noqa: E402


def spd(*shape):
    root = torch.randn(*shape, shape[-1], dtype=torch.float64)
    return root @ root.mT + shape[-1] * torch.eye(shape[-1], dtype=torch.float64)


def pair(batch=(), sizes=(3, 4, 2)):
    factors = [spd(*batch, n) for n in sizes]
    return (kgp.KroneckerProductLinearOperator(*factors),
            lo.KroneckerProductLinearOperator(*factors))


CASES = [((), ()), ((2,), ()), ((2,), (2,)), ((), (3, 2)), ((2, 1), (1, 3))]


@pytest.mark.parametrize("batch, right_batch", CASES)
def test_products(batch, right_batch):
    ours, stock = pair(batch)
    assert isinstance(ours, lo.KroneckerProductLinearOperator)
    right = torch.randn(*right_batch, 24, 5, dtype=torch.float64)
    dense = stock.to_dense()
    torch.testing.assert_close(ours @ right, dense @ right)
    torch.testing.assert_close(ours.mT @ right, dense.mT @ right)
    torch.testing.assert_close(ours.rmatmul(right.mT), right.mT @ dense)
    torch.testing.assert_close(ours.to_dense(), dense)
    torch.testing.assert_close(ours.diagonal(dim1=-1, dim2=-2), dense.diagonal(
        dim1=-1, dim2=-2))


def test_rectangular_and_vector():
    factors = [torch.randn(2, 3, dtype=torch.float64),
               torch.randn(4, 2, dtype=torch.float64)]
    ours = kgp.KroneckerProductLinearOperator(*factors)
    dense = torch.kron(*factors)
    vector = torch.randn(6, dtype=torch.float64)
    torch.testing.assert_close(ours @ vector, dense @ vector)
    torch.testing.assert_close(ours._t_matmul(dense @ vector), dense.mT @ dense @ vector)
    torch.testing.assert_close(vector.new_ones(8) @ ours, vector.new_ones(8) @ dense)


@pytest.mark.parametrize("batch, right_batch", CASES)
def test_solve_and_logdet(batch, right_batch):
    ours, _ = pair(batch)
    dense = ours.to_dense()
    right = torch.randn(*right_batch, 24, 5, dtype=torch.float64)
    torch.testing.assert_close(ours.solve(right), torch.linalg.solve(dense, right))
    torch.testing.assert_close(ours.logdet(), torch.logdet(dense))
    if batch == right_batch:  # all that linear_operator takes
        quad, logdet = ours.inv_quad_logdet(right, logdet=True)
        expected = (right * torch.linalg.solve(dense, right)).sum((-2, -1))
        torch.testing.assert_close(quad, expected)
        torch.testing.assert_close(logdet, torch.logdet(dense))


@pytest.mark.parametrize("noise", ["constant", "kronecker", "diagonal"])
def test_added_diagonal(noise):
    ours, stock = pair()
    if noise == "constant":
        diagonal = torch.full((24,), 0.7, dtype=torch.float64)
        ours, stock = ours.add_diagonal(diagonal[:1]), stock.add_diagonal(diagonal[:1])
    elif noise == "kronecker":
        parts = [lo.ConstantDiagLinearOperator(torch.tensor([value], dtype=torch.float64),
                                               n) for value, n in ((0.5, 3), (2.0, 4),
                                                                   (1.5, 2))]
        added = lo.KroneckerProductDiagLinearOperator(*parts)
        ours, stock = ours + added, stock + added
    else:
        diagonal = torch.rand(24, dtype=torch.float64) + 0.1
        ours, stock = ours.add_diagonal(diagonal), stock.add_diagonal(diagonal)
    dense = stock.to_dense()
    right = torch.randn(24, 3, dtype=torch.float64)
    torch.testing.assert_close(ours @ right, dense @ right)
    torch.testing.assert_close(ours.solve(right), torch.linalg.solve(dense, right),
                               rtol=1e-5, atol=1e-8)
    torch.testing.assert_close(ours.logdet(), torch.logdet(dense))


def test_decompositions():
    ours, _ = pair()
    dense = ours.to_dense()
    values, vectors = torch.linalg.eigh(ours)
    assert isinstance(vectors, kgp.KroneckerProductLinearOperator)
    torch.testing.assert_close(vectors @ (values.unsqueeze(-1) * vectors.mT.to_dense()),
                               dense, rtol=1e-5, atol=1e-2)  # it adds some jitter
    root = ours.root_decomposition()
    torch.testing.assert_close(root.to_dense(), dense, rtol=1e-5, atol=1e-3)
    cholesky = ours.cholesky()
    torch.testing.assert_close(cholesky.to_dense(), torch.linalg.cholesky(dense))
    right = torch.randn(24, 2, dtype=torch.float64)
    torch.testing.assert_close(cholesky @ right, torch.linalg.cholesky(dense) @ right)
    torch.testing.assert_close(cholesky.solve(right),
                               torch.linalg.solve(torch.linalg.cholesky(dense), right))
    u, s, v = ours.svd()
    torch.testing.assert_close(u.to_dense() @ torch.diag(s) @ v.to_dense().mT, dense)
    torch.testing.assert_close(ours.inverse().to_dense(), torch.linalg.inv(dense))
    with gpytorch.settings.max_cholesky_size(1):
        big, _ = pair()
        root = big.root_decomposition().root
        assert type(root) is kgp.KroneckerProductLinearOperator
        torch.testing.assert_close(root @ root.mT.to_dense(), big.to_dense(), rtol=1e-5,
                                   atol=1e-2)


def test_gradients():
    factors = [spd(3).requires_grad_(), spd(2).requires_grad_()]
    right = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)

    def gradients(cls, function):
        value = function(cls(*factors))
        return torch.autograd.grad(value.square().sum(), [*factors, right],
                                   allow_unused=True)

    for function in (lambda op: op @ right, lambda op: op.solve(right),
                     lambda op: op.add_diagonal(torch.tensor(0.5).double()).logdet(),
                     lambda op: op.inv_quad_logdet(right, logdet=True)[0]):
        ours = gradients(kgp.KroneckerProductLinearOperator, function)
        stock = gradients(lo.KroneckerProductLinearOperator, function)
        for a, b in zip(ours, stock):
            if b is not None:
                torch.testing.assert_close(a, b)


def noisy(cls, factors, noise, scale=None):
    product = cls(*factors)
    product = product if scale is None else product * scale
    if noise.size(-1) == 1:
        noise = lo.ConstantDiagLinearOperator(noise, product.size(-1))
        return product + noise
    return product.add_diagonal(noise)


# Batch of the factors, of the noise and of the right side (which linear_operator wants to be
# that of the sum); the sizes reach every way of adding up products.
SPECTRAL = [((), (), (9, 8, 2), 1), ((), (), (2, 9, 8), 3), ((3,), (3,), (4, 3, 5), 1),
            ((3,), (1,), (4, 3, 5), 2), ((2, 1), (2, 3), (4, 6), 2), ((), (), (30, 6), 1)]


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("batch, noise_batch, sizes, columns", SPECTRAL)
def test_spectral_gradients(batch, noise_batch, sizes, columns, scaled, monkeypatch):
    """Quadratic form, log determinant and all their derivatives against a dense matrix's."""
    calls = []
    original = _spectral.inv_quad_logdet
    monkeypatch.setattr(_spectral, "inv_quad_logdet",
                        lambda *args: calls.append(1) or original(*args))
    factors = [spd(*batch, n).requires_grad_() for n in sizes]
    noise = (torch.rand(*noise_batch, 1, dtype=torch.float64) + 0.5).requires_grad_()
    scale = torch.rand((), dtype=torch.float64).add(0.5).requires_grad_() if scaled else None
    ours = noisy(kgp.KroneckerProductLinearOperator, factors, noise, scale)
    assert isinstance(ours, lo.AddedDiagLinearOperator)
    dense = lo.KroneckerProductLinearOperator(*factors).to_dense() * (1 if scale is None else scale)
    dense = dense + noise.unsqueeze(-1) * torch.eye(dense.size(-1), dtype=torch.float64)
    right = torch.randn(*dense.shape[:-1], columns, dtype=torch.float64, requires_grad=True)
    inputs = [*factors, noise, right, *([scale] if scaled else [])]
    for reduce in (True, False):
        quad, logdet = ours.inv_quad_logdet(right, logdet=True, reduce_inv_quad=reduce)
        quads = (right * torch.linalg.solve(dense, right)).sum(-2)
        expected = quads.sum(-1) if reduce else quads
        torch.testing.assert_close(quad, expected)
        torch.testing.assert_close(logdet, torch.logdet(dense))
        weight, other = torch.randn_like(quad), torch.randn_like(logdet)
        mine = torch.autograd.grad((quad * weight).sum() + (logdet * other).sum(), inputs,
                                   retain_graph=True)
        theirs = torch.autograd.grad(
            (expected * weight).sum() + (torch.logdet(dense) * other).sum(), inputs,
            retain_graph=True)
        names = ("factor",) * len(factors) + ("noise", "right", "scale")
        for name, a, b in zip(names, mine, theirs):
            # A factor stands for symmetric matrices.
            a, b = ((a + a.mT, b + b.mT) if name == "factor" else (a, b))
            torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-9, msg=lambda m: f"{name}: {m}")
    assert len(calls) == 2


def test_spectral_gradients_of_f32():
    """Gradients of f32 are those of f64, rounded: that by the noise adds up all points, and
    those by smooth factors nearly cancel along what their parameters change."""
    torch.manual_seed(0)
    sizes, found = (64, 48, 16), []
    right = torch.randn(math.prod(sizes), 1)
    axes = [torch.linspace(0, n / 20, n) for n in sizes]
    rounded = [torch.exp(-(x.unsqueeze(-1) - x).square()) for x in axes]
    for dtype in (torch.float64, torch.float32):
        factors = [factor.to(dtype).requires_grad_() for factor in rounded]
        noise = torch.full((1,), 0.7).to(dtype).requires_grad_()
        total = sum(noisy(kgp.KroneckerProductLinearOperator, factors, noise).inv_quad_logdet(
            right.to(dtype), logdet=True))
        found.append([g.double() for g in torch.autograd.grad(total, [*factors, noise])])
    for exact, single in zip(*found):
        assert (single - exact).norm() < 2e-7 * exact.norm()


def test_spectral_gradients_again():
    """The gradients have derivatives, and come twice from one graph."""
    factors = [spd(3).requires_grad_(), spd(4).requires_grad_()]
    noise = torch.tensor([0.7], dtype=torch.float64, requires_grad=True)
    right = torch.randn(12, 2, dtype=torch.float64, requires_grad=True)

    def function(first, second, noise, right):
        symmetric = [(f + f.mT) / 2 for f in (first, second)]
        return _spectral.inv_quad_logdet(symmetric, noise, right, torch.float64)

    inputs = (*factors, noise, right)
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)
    value = sum(part.sum() for part in function(*inputs))
    first = torch.autograd.grad(value, inputs, retain_graph=True)
    for a, b in zip(first, torch.autograd.grad(value, inputs)):
        assert torch.equal(a, b)


@pytest.mark.parametrize("scaled", [False, True])
def test_spectral_solve(scaled, monkeypatch):
    """A solve, its derivative and a second solve decompose the factors once."""
    decomposed = []
    original = torch.linalg.eigh
    monkeypatch.setattr(torch.linalg, "eigh",
                        lambda matrix: decomposed.append(matrix.shape) or original(matrix))
    factors = [spd(8).requires_grad_(), spd(5).requires_grad_(), spd(8).requires_grad_()]
    noise = torch.tensor([0.7], dtype=torch.float64)
    scale = torch.tensor(1.5, dtype=torch.float64) if scaled else None
    right = torch.randn(320, 2, dtype=torch.float64, requires_grad=True)
    inputs = [*factors, right]
    with gpytorch.settings.max_cholesky_size(1):
        ours = noisy(kgp.KroneckerProductLinearOperator, factors, noise, scale)
        result = ours.solve(right)
        found = torch.autograd.grad(result.square().sum(), inputs)
    if not scaled:
        assert decomposed == [(2, 8, 8), (1, 5, 5)]
    dense = lo.KroneckerProductLinearOperator(*factors).to_dense() * (1.5 if scaled else 1)
    expected = torch.linalg.solve(dense + 0.7 * torch.eye(320, dtype=torch.float64), right)
    torch.testing.assert_close(result, expected)
    for a, b in zip(found, torch.autograd.grad(expected.square().sum(), inputs)):
        a, b = (a + a.mT, b + b.mT) if a.shape[0] == a.shape[1] else (a, b)
        torch.testing.assert_close(a, b)


def test_changed_factor_is_decomposed_again():
    factor = spd(6)
    noise, right = torch.ones(1, dtype=torch.float64), torch.randn(36, 1, dtype=torch.float64)
    _spectral.solve([factor, factor], noise, right, torch.float64)
    factor += torch.eye(6, dtype=torch.float64)
    dense = torch.kron(factor, factor) + torch.eye(36, dtype=torch.float64)
    torch.testing.assert_close(_spectral.solve([factor, factor], noise, right, torch.float64),
                               torch.linalg.solve(dense, right))


def test_spectral_takes_less():
    """Where the factors are no smaller than the product, or structured and large, the sum
    stays linear_operator's."""
    noise = torch.ones(1, dtype=torch.float64)

    def spectral(*factors, **options):
        return noisy(kgp.KroneckerProductLinearOperator, factors, noise,
                     **options)._spectral_factors() is not None

    scale = torch.tensor(2.0, dtype=torch.float64)
    assert spectral(spd(9), spd(8)) and spectral(spd(9), spd(8), scale=scale)
    assert not spectral(spd(9)) and not spectral(spd(30), torch.eye(1, dtype=torch.float64))
    diagonal = lo.DiagLinearOperator(torch.rand(9, dtype=torch.float64))
    assert not spectral(diagonal, spd(8))
    with gpytorch.settings.max_cholesky_size(1):
        assert spectral(spd(30), spd(2)) and spectral(spd(30), spd(2), scale=scale)
        large = torch.eye(400, dtype=torch.float64).expand(400, 400)
        assert spectral(large, large[:1, :1]) and not spectral(large, large[:1, :1], scale=scale)
    columns = torch.rand(9, 8, dtype=torch.float64).sum(-1)
    added = noisy(kgp.KroneckerProductLinearOperator, [spd(3), spd(3)], columns)
    assert added._spectral_factors() is None  # not a multiple of the identity


def test_structured_factors():
    """Toeplitz factors by their entries, large ones and diagonals by their structure."""
    column = torch.tensor([4.0, 1.0, 0.5, 0.2], dtype=torch.float64, requires_grad=True)
    other = spd(3)
    right = torch.randn(12, 2, dtype=torch.float64)
    results = []
    for cls in (kgp.KroneckerProductLinearOperator, lo.KroneckerProductLinearOperator):
        product = cls(lo.ToeplitzLinearOperator(column), lo.DenseLinearOperator(other))
        value = (product @ right).square().sum() + product.add_diagonal(
            torch.ones(1, dtype=torch.float64)).inv_quad_logdet(right, logdet=True)[1]
        results.append((product.to_dense(), *torch.autograd.grad(value, column)))
    for a, b in zip(*results):
        torch.testing.assert_close(a, b)
    size = 2048
    for structured in (lo.ToeplitzLinearOperator(torch.rand(size, dtype=torch.float64)),
                       lo.DiagLinearOperator(torch.rand(size, dtype=torch.float64))):
        wide = torch.randn(2 * size, 1, dtype=torch.float64)
        ours, stock = (cls(structured, lo.DenseLinearOperator(spd(2))) for cls in (
            kgp.KroneckerProductLinearOperator, lo.KroneckerProductLinearOperator))
        ours._matrices = None  # not to be called
        stock = lo.KroneckerProductLinearOperator(*ours.linear_ops)
        torch.testing.assert_close(ours._matmul(wide), stock._matmul(wide))
        torch.testing.assert_close(ours._t_matmul(wide), stock._t_matmul(wide))
        torch.testing.assert_close(ours.rmatmul(wide.mT), stock.rmatmul(wide.mT))


def test_scaled_product_adds_up():
    """A product times a constant has linear_operator's sums with anything but a constant
    diagonal."""
    ours, stock = pair()
    scale = torch.tensor(1.5, dtype=torch.float64)
    ours, stock = ours * scale, stock * scale
    assert isinstance(ours, lo.ConstantMulLinearOperator)
    right = torch.randn(24, 3, dtype=torch.float64)
    diagonal = torch.rand(24, dtype=torch.float64)
    for a, b in ((ours + ours, stock + stock), (ours + 2 * ours, stock + 2 * stock),
                 (ours.add_diagonal(diagonal), stock.add_diagonal(diagonal)),
                 (ours + lo.DiagLinearOperator(diagonal), stock + lo.DiagLinearOperator(diagonal)),
                 (ours.mT, stock.mT), (ours.add_jitter(0.1).add_diagonal(diagonal),
                                       stock.add_jitter(0.1).add_diagonal(diagonal))):
        torch.testing.assert_close(a.to_dense(), b.to_dense())
        torch.testing.assert_close(a @ right, b @ right)
        torch.testing.assert_close(a.solve(right), b.solve(right))
    batch = lo.KroneckerProductLinearOperator(spd(2, 3), spd(2, 4))
    ours = kgp.KroneckerProductLinearOperator(*batch.linear_ops)
    scales = torch.tensor([[[0.5]], [[2.0]]], dtype=torch.float64)
    noise = torch.full((1,), 0.3, dtype=torch.float64)
    torch.testing.assert_close((ours * scales).add_diagonal(noise).logdet(),
                               (batch * scales).add_diagonal(noise).logdet())
    torch.testing.assert_close(
        (ours * scales).add_diagonal(noise).inv_quad_logdet(right[:12].expand(2, 12, 3), True)[1],
        torch.logdet((batch * scales).add_diagonal(noise).to_dense()))


class GridModel(gpytorch.models.ExactGP):
    def __init__(self, grid, x, y, likelihood, scaled):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        kernel = gpytorch.kernels.GridKernel(gpytorch.kernels.RBFKernel(ard_num_dims=2), grid=grid)
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel) if scaled else kernel

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x),
                                                         self.covar_module(x))


def train(scaled, toeplitz, dtype=torch.float64, sizes=(12, 9), steps=12):
    """Losses of a training, gradients of its last step, mean and variance of predictions."""
    torch.manual_seed(3)
    grid = [torch.linspace(0, 1 + k, n, dtype=dtype) for k, n in enumerate(sizes)]
    x = gpytorch.utils.grid.create_data_from_grid(grid)
    y = torch.sin(6 * x[:, 0]) * torch.cos(3 * x[:, 1]) + 0.05 * torch.randn(len(x), dtype=dtype)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(dtype)
    model = GridModel(grid, x, y, likelihood, scaled).to(dtype)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    with gpytorch.settings.use_toeplitz(toeplitz):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = -objective(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        gradients = torch.cat([p.grad.flatten() for p in model.parameters()])
        model.eval(), likelihood.eval()
        with torch.no_grad():
            predicted = likelihood(model(x[:7] + 0.01))
            return losses, gradients, predicted.mean, predicted.variance


@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-6), (torch.float32, 2e-3)])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("toeplitz", [False, True])
def test_model_trains_to_the_same_loss(scaled, toeplitz, dtype, tolerance, monkeypatch):
    stock = train(scaled, toeplitz, dtype)
    calls = []
    original = _spectral.inv_quad_logdet
    monkeypatch.setattr(_spectral, "inv_quad_logdet",
                        lambda *args: calls.append(1) or original(*args))
    with kgp.installed():
        ours = train(scaled, toeplitz, dtype)
    assert len(calls) == len(ours[0]), "every step is spectral"
    assert ours[0][-1] < ours[0][0]
    for a, b in zip(ours, stock):
        torch.testing.assert_close(torch.as_tensor(a), torch.as_tensor(b), rtol=tolerance,
                                   atol=tolerance)


def test_large_model_trains_to_the_same_loss():
    """Beyond the sizes for which linear_operator multiplies the product out."""
    stock = train(False, False, sizes=(36, 29), steps=3)
    with kgp.installed():
        ours = train(False, False, sizes=(36, 29), steps=3)
    # The variances are those of a few Lanczos vectors.
    for a, b in zip(ours[:3], stock[:3]):
        torch.testing.assert_close(torch.as_tensor(a), torch.as_tensor(b), rtol=1e-6, atol=1e-6)


def test_install_is_undone():
    original = lo.KroneckerProductLinearOperator
    with kgp.installed():
        assert lo.KroneckerProductLinearOperator is kgp.KroneckerProductLinearOperator
        assert (gpytorch.kernels.grid_kernel.KroneckerProductLinearOperator
                is kgp.KroneckerProductLinearOperator)
    assert lo.KroneckerProductLinearOperator is original
