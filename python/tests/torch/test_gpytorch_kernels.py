# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kernels for GPyTorch against GPyTorch's own."""

import pytest
import torch

gpytorch = pytest.importorskip("gpytorch")

import linear_operator.operators as lo  # noqa: E402

import kron.gpytorch as kgp  # noqa: E402

F64 = torch.float64
#: The Gaussian, and Matern's orders.
NUS = [None, 0.5, 1.5, 2.5]


def close(ours, stock, tolerance=1e-7):
    """GPyTorch's distances of equal rows are roots of rounding errors, about 1e-8."""
    torch.testing.assert_close(ours, stock, rtol=tolerance, atol=tolerance)


def kernel_pair(nu, **options):
    """kron's kernel and GPyTorch's, with the same random length scales."""
    if nu is None:
        ours, stock = kgp.KronRBF(**options), gpytorch.kernels.RBFKernel(**options)
    else:
        ours, stock = kgp.KronMatern(nu=nu, **options), gpytorch.kernels.MaternKernel(nu=nu, **options)
    ours, stock = ours.double(), stock.double()
    stock.raw_lengthscale.data.normal_()
    ours.load_state_dict(stock.state_dict())
    return ours, stock


def rows(*shape):
    return torch.randn(shape, dtype=F64)


#: Arguments of a kernel, shapes of both sides.
SHAPES = [({}, (9, 3), (7, 3)), ({"ard_num_dims": 3}, (9, 3), (7, 3)),
          ({"batch_shape": torch.Size([2])}, (2, 9, 3), (2, 7, 3)),
          ({"batch_shape": torch.Size([2]), "ard_num_dims": 3}, (9, 3), (7, 3)),
          ({"batch_shape": torch.Size([2, 1])}, (3, 9, 2), (7, 2)),
          ({"active_dims": (0, 2)}, (9, 3), (7, 3))]


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("options, left, right", SHAPES)
def test_matrix_and_products(nu, options, left, right):
    ours, stock = kernel_pair(nu, **options)
    x1, x2 = rows(*left), rows(*right)
    for args in ((x1, x2), (x1,), (x1, x1.clone())):
        matrix, dense = ours(*args).evaluate_kernel(), stock(*args).to_dense()
        assert isinstance(matrix, kgp.PairwiseLinearOperator)
        close(matrix.to_dense(), dense)
        v, w = rows(dense.shape[-1], 4), rows(*dense.shape[:-1], 2)
        close(matrix @ v, dense @ v)
        close(matrix @ v[:, 0], dense @ v[:, 0])
        close(matrix.mT @ w, dense.mT @ w)
        close(v.new_ones(2, dense.shape[-2]) @ matrix, v.new_ones(2, dense.shape[-2]) @ dense)
        if len(args) == 1:
            close(ours(x1, diag=True), stock(x1, diag=True))
            close(ours(x1).diagonal(dim1=-1, dim2=-2), dense.diagonal(dim1=-1, dim2=-2))
    other = rows(*left)
    close(ours(x1, other, diag=True), stock(x1, other, diag=True))


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.filterwarnings("ignore:The last_dim_is_batch argument")
def test_last_dim_is_batch(nu):
    ours, stock = kernel_pair(nu, ard_num_dims=3)
    x1, x2 = rows(2, 5, 3), rows(2, 4, 3)
    close(ours(x1, x2, last_dim_is_batch=True).to_dense(), stock(x1, x2, last_dim_is_batch=True).to_dense())
    close(ours(x1, diag=True, last_dim_is_batch=True), stock(x1, diag=True, last_dim_is_batch=True))


INDICES = [(slice(1, 5), slice(2, None)), (3, slice(None)), (slice(None), 2), (slice(1, 7, 2), slice(1, 7, 2)),
           (torch.tensor([0, 2, 2]), slice(None)), (torch.tensor([0, 4]), torch.tensor([5, 1])),
           (torch.tensor([[0], [4]]), torch.tensor([5, 1, 1]))]
BATCH_INDICES = [(), (1,), (slice(0, 1),), (torch.tensor([1, 0]),), (Ellipsis,)]


@pytest.mark.parametrize("batch", BATCH_INDICES)
@pytest.mark.parametrize("index", INDICES)
def test_elements(index, batch):
    x1, x2 = rows(*([2] if batch else []), 9, 3), rows(7, 3)
    with gpytorch.settings.debug(True):
        for args in ((x1, x2), (x1,)):
            matrix = kgp.PairwiseLinearOperator(*args, function="matern32")
            dense = matrix.to_dense()
            full = (*batch, *index)
            if any(map(torch.is_tensor, batch)) and any(i.numel() == 3 for i in index if torch.is_tensor(i)):
                continue  # sizes of indices that belong together have to be the same
            found = matrix[full]
            assert isinstance(found, torch.Tensor) or isinstance(found, kgp.PairwiseLinearOperator)
            close(lo.to_dense(found), dense[full])


def test_batches():
    """Batches are expanded, permuted, and added up."""
    matrix = kgp.PairwiseLinearOperator(rows(2, 1, 5, 3), rows(3, 4, 3), function="gaussian")
    dense = matrix.to_dense()
    assert matrix.shape == dense.shape == (2, 3, 5, 4)
    close(matrix.permute(1, 0, 2, 3).to_dense(), dense.permute(1, 0, 2, 3))
    close(matrix.unsqueeze(1).to_dense(), dense.unsqueeze(1))
    close(matrix.expand(6, 2, 3, 5, 4).to_dense(), dense.expand(6, 2, 3, 5, 4))
    close(matrix.sum(0).to_dense(), dense.sum(0))
    close((matrix + 2 * matrix).to_dense(), 3 * dense)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("ard", [None, 3])
def test_gradients(nu, ard):
    """By length scales, rows and vectors, of products and of elements."""
    ours, stock = kernel_pair(nu, ard_num_dims=ard)
    x1, x2, v = rows(8, 3).requires_grad_(), rows(6, 3).requires_grad_(), rows(6, 2).requires_grad_()
    weight, square = rows(8, 2), rows(8, 8)
    # A Matern kernel of GPyTorch has no derivatives at distance 0 by rows.
    fixed = x1.detach()
    found = []
    for kernel in (ours, stock):
        parameter = kernel.raw_lengthscale
        found.append([*torch.autograd.grad((kernel(x1, x2) @ v * weight).sum(), [parameter, x1, x2, v]),
                      *torch.autograd.grad((kernel(x1, x2).to_dense() @ v * weight).sum(), [parameter, x1, x2]),
                      *torch.autograd.grad((kernel(fixed) @ square[:, :2] * weight).sum(), [parameter]),
                      *torch.autograd.grad((kernel(fixed).to_dense() * square).sum(), [parameter]),
                      *torch.autograd.grad(kernel(x1, x2)[2:5, 1].sum(), [parameter, x1])])
    for a, b in zip(*found, strict=True):
        close(a, b)


def test_gradients_of_equal_rows():
    """A matrix of rows with themselves has derivatives by both sides, and second ones."""
    x, v = rows(5, 2).requires_grad_(), rows(5, 2).requires_grad_()
    square = rows(5, 5)

    def product(x, v):
        return kgp.PairwiseLinearOperator(x, function="matern52") @ v

    assert torch.autograd.gradcheck(product, (x, v))
    assert torch.autograd.gradgradcheck(product, (x, v))
    # A square weight that is not symmetric.
    matrix = kgp.PairwiseLinearOperator(x, function="gaussian")
    dense = torch.exp(-(x.unsqueeze(-2) - x).square().sum(-1) / 2)
    left, right = rows(5, 3), rows(5, 3)
    found = torch.autograd.grad((left * (matrix @ right)).sum(), x)
    close(found, torch.autograd.grad((left * (dense @ right)).sum(), x))
    found = torch.autograd.grad((matrix.to_dense() * square).sum(), x)
    close(found, torch.autograd.grad((torch.exp(-(x.unsqueeze(-2) - x).square().sum(-1) / 2) * square).sum(), x))
    # Rows that are equal, but are arrays of their own.
    kernel, other = kgp.KronRBF().double(), x.detach().clone().requires_grad_()
    by_x, by_other = torch.autograd.grad((kernel(x, other) @ v * v.detach()).sum(), [x, other])
    close(by_x, by_other)
    assert by_x.abs().max() > 0.01


def test_far_from_the_origin():
    """Rows are centred before they are divided: f32 rows at 10^4 keep their differences."""
    exact = rows(50, 2)
    x = (exact + 1e4).float()
    kernel = kgp.KronRBF()
    difference = x.double().unsqueeze(-2) - x.double()
    expected = torch.exp(-difference.square().sum(-1) / (2 * kernel.lengthscale.item() ** 2))
    assert (kernel(x).to_dense().double() - expected).abs().max() < 2e-6


class Model(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, kernel):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def train(kernel, points, steps):
    """Losses of a training, its parameters, mean and variance of predictions."""
    torch.manual_seed(3)
    x = torch.rand(points, 2, dtype=F64)
    y = torch.sin(6 * x[:, 0]) * torch.cos(3 * x[:, 1]) + 0.05 * torch.randn(points, dtype=F64)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Model(x, y, likelihood, kernel).double()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval(), likelihood.eval()
    with torch.no_grad():
        predicted = likelihood(model(torch.rand(7, 2, dtype=F64)))
        return (torch.tensor(losses), torch.cat([p.flatten() for p in model.parameters()]), predicted.mean,
                predicted.variance)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("ard", [None, 2])
def test_training(nu, ard):
    """A small model has Cholesky's factor of the matrix."""
    ours, stock = (train(kernel, 40, 8) for kernel in kernel_pair(nu, ard_num_dims=ard))
    assert ours[0][-1] < ours[0][0]
    for a, b in zip(ours, stock):
        close(a, b, 1e-6)


@pytest.mark.parametrize("nu", [None, 1.5])
def test_training_by_products(nu, monkeypatch):
    """A large one is never in memory: training takes products, and so does the prediction."""
    def refuse(matrix):
        if matrix.shape[-2] > 100:
            raise AssertionError("the matrix is in memory")
        return original(matrix)

    kernels = kernel_pair(nu)
    original = kgp.PairwiseLinearOperator.to_dense
    monkeypatch.setattr(kgp.PairwiseLinearOperator, "to_dense", refuse)
    with gpytorch.settings.max_cholesky_size(1), gpytorch.settings.cg_tolerance(1e-4), \
            gpytorch.settings.max_preconditioner_size(5), gpytorch.settings.min_preconditioning_size(10), \
            gpytorch.settings.eval_cg_tolerance(1e-4):
        ours, stock = (train(kernel, 150, 3) for kernel in kernels)
    # Both draw the same probe vectors.
    for a, b in zip(ours, stock):
        close(a, b, 1e-3)


def test_deep_copies_and_errors():
    kernel = kgp.KronMatern(nu=1.5, ard_num_dims=2)
    assert isinstance(kernel, gpytorch.kernels.MaternKernel)
    with pytest.raises(RuntimeError, match="nu expected to be 0.5, 1.5, or 2.5"):
        kgp.KronMatern(nu=2)
    x = torch.randn(4, 2)
    close(kernel.expand_batch(torch.Size([3]))(x).to_dense(), kernel(x).to_dense().expand(3, 4, 4), 1e-6)
    kernel.nu = 0.7
    with pytest.raises(ValueError, match="expects nu to be 0.5, 1.5 or 2.5, but got 0.7"):
        kernel(x).to_dense()


#: Both sides, and what is wrong with them.
BAD_ROWS = [(rows(4, 3), rows(4, 2), ValueError, r"last axis of x2 to have size 3 as that of x1, but got .*\(4, 2\)"),
            (rows(3), None, ValueError, r"expects x1 to have at least 2 axes, \[..., M, K\], but got shape \(3,\)"),
            (rows(4, 3), rows(3), ValueError, r"expects x2 to have at least 2 axes, .*, but got shape \(3,\)"),
            (rows(4, 3), rows(4, 3).float(), TypeError, "x2 to have dtype torch.float64 as x1, but got torch.float32"),
            (rows(2, 4, 3), rows(3, 4, 3), ValueError, r"leading axes of x2 to broadcast with \(2,\), but got \(3,\)"),
            (rows(4, 3).long(), None, TypeError, "expects x1 to have dtype .*, but got torch.int64"),
            (rows(4, 3).numpy(), None, TypeError, "expects x1 to be a PyTorch tensor, but got ndarray"),
            (rows(4, 3), rows(4, 3).numpy(), TypeError, "expects x2 to be a tensor as x1, but got ndarray")]


@pytest.mark.parametrize("x1, x2, error, message", BAD_ROWS)
def test_bad_rows(x1, x2, error, message):
    """Operators are checked where they are made."""
    with pytest.raises(error, match=message):
        kgp.PairwiseLinearOperator(x1, x2, function="gaussian")


@pytest.mark.parametrize("function", ["gauss", None, lambda x, y: ((x - y) ** 2).sum()])
def test_bad_functions(function):
    """A function of rows need not be 1 where these are equal, which the diagonal takes for granted."""
    with pytest.raises(ValueError, match="expects function to be one of 'gaussian', .*, but got "):
        kgp.PairwiseLinearOperator(rows(4, 3), function=function)
