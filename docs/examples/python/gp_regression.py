"""Gaussian process regression on a grid: a photograph, from a quarter of its pixels.

usage: python gp_regression.py [--size ROWS COLUMNS] [--steps N] [--json FILE]

The data is scikit-learn's photograph of a flower. Every second row and column is given,
with noise; the rest is predicted. The covariance is a Kronecker product over rows,
columns and colours, so that exact inference takes seconds for tens of thousands of
points. The same GPyTorch model runs twice: on linear_operator's Kronecker product and
on kron's.
"""

import argparse
import json
import statistics
import time

import gpytorch
import linear_operator.operators as lo
import torch
from sklearn.datasets import load_sample_image

import kron.gpytorch as kgp


class GridKernel(gpytorch.kernels.Kernel):
    """Row kernel x column kernel x colour covariance, on all points of a grid."""

    def __init__(self, operator, rows, columns, colours):
        super().__init__()
        self.operator, self.grid = operator, (rows, columns)
        self.row = gpytorch.kernels.MaternKernel(nu=1.5)
        self.column = gpytorch.kernels.MaternKernel(nu=1.5)
        self.register_parameter("root", torch.nn.Parameter(0.5 * torch.eye(colours)))

    def factors(self, left, right):
        return [self.row(left[0], right[0]).to_dense(),
                self.column(left[1], right[1]).to_dense(),
                self.root @ self.root.mT]

    def forward(self, x1, x2, diag=False, **options):
        operator = self.operator(*self.factors(self.grid, self.grid))
        return operator.diagonal(dim1=-1, dim2=-2) if diag else operator


class Model(gpytorch.models.ExactGP):
    def __init__(self, kernel, y, likelihood):
        super().__init__(torch.arange(float(len(y))).to(y), y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = kernel

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x),
                                                         self.covar_module(x))


def load(rows, columns):
    """Noisy pixels of the coarse grid, and all pixels, in [-1, 1]."""
    image = load_sample_image("flower.jpg")[60:60 + 2 * rows - 1, 180:180 + 2 * columns - 1]
    truth = torch.from_numpy(image.copy()).double() / 127.5 - 1
    torch.manual_seed(0)
    coarse = truth[::2, ::2]
    return coarse + 0.05 * torch.randn_like(coarse), truth


def run(operator, coarse, truth, steps):
    """Trains on the coarse grid; error of the prediction where nothing was given."""
    torch.manual_seed(0)
    axes = [torch.linspace(0, n / 20, n).double().unsqueeze(-1) for n in coarse.shape[:2]]
    kernel = GridKernel(operator, *axes, coarse.shape[2]).double()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Model(kernel, coarse.flatten(), likelihood).double()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    times = []
    for _ in range(steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = -objective(model(*model.train_inputs), model.train_targets)
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)

    start = time.perf_counter()
    fine = [torch.linspace(0, (n - 1) / 2 * axis[1].item(), n).double().unsqueeze(-1)
            for n, axis in zip(truth.shape[:2], axes)]
    with torch.no_grad():
        mean = model.mean_module.constant
        prior = kernel(model.train_inputs[0]).evaluate_kernel()
        noisy = prior.add_diagonal(likelihood.noise)
        weights = noisy.solve((model.train_targets - mean).unsqueeze(-1))
        cross = operator(*kernel.factors(fine, axes))
        predicted = (cross @ weights).reshape(truth.shape) + mean
    hidden = torch.ones(truth.shape[:2], dtype=torch.bool)
    hidden[::2, ::2] = False
    error = (predicted - truth)[hidden].square().mean().sqrt().item()
    return {"loss": loss.item(), "error": error, "first_step_s": times[0],
            "step_s": statistics.median(times), "prediction_s": time.perf_counter() - start}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs=2, default=(96, 128))
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--json")
    options = parser.parse_args()
    coarse, truth = load(*options.size)
    result = {"points": coarse.numel(), "steps": options.steps,
              "stock": run(lo.KroneckerProductLinearOperator, coarse, truth,
                           options.steps),
              "kron": run(kgp.KroneckerProductLinearOperator, coarse, truth,
                          options.steps)}
    print(f"{coarse.numel()} points, {options.steps} training steps")
    for name in ("stock", "kron"):
        print(f"{name:6} loss {result[name]['loss']:.6f}  error "
              f"{result[name]['error']:.5f}  step {1e3 * result[name]['step_s']:.1f} ms (the "
              f"first {1e3 * result[name]['first_step_s']:.0f})  prediction "
              f"{result[name]['prediction_s']:.3f} s")
    stock, ours = result["stock"], result["kron"]
    assert abs(ours["loss"] - stock["loss"]) < 1e-4 * max(1, abs(stock["loss"]))
    assert abs(ours["error"] - stock["error"]) < 1e-3 * stock["error"]
    spread = (truth - truth.mean((0, 1))).square().mean().sqrt().item()
    assert ours["error"] < 0.75 * spread, f"no better than the mean, {spread}"
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
