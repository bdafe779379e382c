# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The operator for GPyTorch against linear_operator's own."""

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


class GridModel(gpytorch.models.ExactGP):
    def __init__(self, grid, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        base = gpytorch.kernels.RBFKernel(ard_num_dims=2)
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.GridKernel(base, grid=grid))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x),
                                                         self.covar_module(x))


def train(steps=12):
    torch.manual_seed(3)
    grid = [torch.linspace(0, 1, 12, dtype=torch.float64),
            torch.linspace(0, 2, 9, dtype=torch.float64)]
    x = gpytorch.utils.grid.create_data_from_grid(grid)
    y = torch.sin(6 * x[:, 0]) * torch.cos(3 * x[:, 1]) + 0.05 * torch.randn(len(x)).double()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = GridModel(grid, x, y, likelihood).double()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    with gpytorch.settings.use_toeplitz(False):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = -objective(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def test_model_trains_to_the_same_loss(monkeypatch):
    stock = train()
    calls = []
    original = _spectral.decompose
    monkeypatch.setattr(_spectral, "decompose",
                        lambda factors, dtype: calls.append(1) or original(factors, dtype))
    with kgp.installed():
        ours = train()
    assert len(calls) == len(ours), "every step decomposes the factors once"
    assert ours[-1] < ours[0]
    torch.testing.assert_close(torch.tensor(ours), torch.tensor(stock), rtol=1e-6,
                               atol=1e-6)


def test_install_is_undone():
    original = lo.KroneckerProductLinearOperator
    with kgp.installed():
        assert lo.KroneckerProductLinearOperator is kgp.KroneckerProductLinearOperator
        assert (gpytorch.kernels.grid_kernel.KroneckerProductLinearOperator
                is kgp.KroneckerProductLinearOperator)
    assert lo.KroneckerProductLinearOperator is original
