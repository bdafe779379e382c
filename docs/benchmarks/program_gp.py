"""GPyTorch models on grids for programs.py: a training step with linear_operator's own
Kronecker product, and the same with kron's in its place."""

import contextlib
import math

import gpytorch
import linear_operator
import torch

import kron.gpytorch as kgp
from program_timing import Case, Way

GRIDS = [((96, 128, 3), "f64"), ((64, 64, 64), "f64"), ((30, 30, 30, 10), "f64"),
         ((128, 128, 32), "f32")]
QUICK_GRIDS = [((5, 6, 3), "f64"), ((4, 5, 6), "f32")]


class GridKernel(gpytorch.kernels.Kernel):
    """A Matern kernel per axis, on all points of a grid; the covariance of the last axis
    is free if it has a few positions only."""

    def __init__(self, sizes):
        super().__init__()
        self.root, count = None, len(sizes)
        if sizes[-1] <= 10:
            root = torch.eye(sizes[-1]) * torch.linspace(0.5, 1, sizes[-1])
            self.root, count = torch.nn.Parameter(root), count - 1
        for k, n in enumerate(sizes[:count]):
            self.register_buffer(f"axis{k}", torch.linspace(0, n / 20, n).unsqueeze(-1))
        self.along = torch.nn.ModuleList(gpytorch.kernels.MaternKernel(nu=1.5)
                                         for _ in range(count))

    def factors(self):
        matrices = [kernel(getattr(self, f"axis{k}")).to_dense()
                    for k, kernel in enumerate(self.along)]
        return matrices + ([] if self.root is None else [self.root @ self.root.mT])

    def forward(self, x1, x2, diag=False, **options):
        # Looked up in every step: install() changes what it is.
        operator = linear_operator.operators.KroneckerProductLinearOperator(*self.factors())
        return operator.diagonal(dim1=-1, dim2=-2) if diag else operator


class Model(gpytorch.models.ExactGP):
    def __init__(self, kernel, y, likelihood):
        super().__init__(torch.arange(len(y), device=y.device).to(y), y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = kernel

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x),
                                                         self.covar_module(x))


def new_model(sizes, y):
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(GridKernel(sizes), y, likelihood).to(y)
    return model, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def training(sizes, y, context):
    model, objective = new_model(sizes, y)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
    state = {}

    def forward():
        optimizer.zero_grad()
        state["loss"] = -objective(model(*model.train_inputs), model.train_targets)

    return Way({"forward": forward, "backward": lambda: state["loss"].backward(),
                "optimizer": optimizer.step},
               lambda: {"loss": state["loss"], "gradients": gradients(model)}, context)


def along_axes(matrices, array):
    """The Kronecker product of the matrices times an array of the grid."""
    for axis, matrix in enumerate(matrices):
        array = torch.tensordot(matrix, array, ([1], [axis])).movedim(0, axis)
    return array


def exact_training(sizes, y):
    """Loss and gradients in f64, by eigendecompositions whose own derivatives are not
    needed: K + s I = Q (E + s) Q', and the derivative of -log p by K is
    (K^-1 - a a') / 2 with a = K^-1 y."""
    model, objective = new_model(sizes, y.double())
    noise, mean = model.likelihood.noise, model.mean_module.constant
    factors = model.covar_module.factors()
    grid = [f.shape[0] for f in factors]
    with torch.no_grad():
        pairs = [torch.linalg.eigh(f) for f in factors]
        vectors = [q for _, q in pairs]
        values = torch.ones((), dtype=torch.float64, device=y.device)
        for e, _ in pairs:
            values = values.unsqueeze(-1) * e
        inverse = 1 / (values + noise)
        residual = (y.double() - mean).reshape(grid)
        solved = along_axes(vectors, inverse * along_axes([q.mT for q in vectors], residual))
        loss = 0.5 * ((residual * solved).sum() - inverse.log().sum()
                      + y.numel() * math.log(2 * math.pi)) / y.numel()
        by_factor = []
        for k, q in enumerate(vectors):
            others = [f if i != k else torch.eye(len(f)).to(f) for i, f in enumerate(factors)]
            apart = [n for n in range(len(grid)) if n != k]
            quadratic = torch.tensordot(solved, along_axes(others, solved), (apart, apart))
            weights = inverse
            for i, (e, _) in enumerate(pairs):
                if i != k:
                    weights = weights * e.view([-1 if n == i else 1 for n in range(len(grid))])
            trace = (q * weights.sum(apart)) @ q.mT
            by_factor.append((trace - quadratic) / (2 * y.numel()))
        by_noise = (inverse.sum() - solved.square().sum()) / (2 * y.numel())
        by_mean = -solved.sum() / y.numel()
    torch.autograd.backward([*factors, noise, mean],
                            [*by_factor, by_noise.expand_as(noise), by_mean.expand_as(mean)])
    return {"loss": loss, "gradients": gradients(model)}


def gp(place):
    def case(sizes, type_name):
        def setup():
            y = place.randn(math.prod(sizes), type=type_name)
            ways = {"kron": lambda: training(sizes, y, kgp.installed),
                    "gpytorch": lambda: training(sizes, y, contextlib.nullcontext)}
            return ways, exact_training(sizes, y)

        group = f"grid {' x '.join(map(str, sizes))}"
        return Case("GPyTorch training", f"{group}, {type_name}", type_name, setup,
                    {"group": group})

    for sizes, type_name in QUICK_GRIDS if place.quick else GRIDS:
        yield case(sizes, type_name)
