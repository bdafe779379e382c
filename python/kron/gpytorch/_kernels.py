# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""GPyTorch's kernels with kron's products."""

from gpytorch import settings
from gpytorch.kernels import MaternKernel, RBFKernel

from ._pairs import PairwiseLinearOperator

_MATERN = {0.5: "matern12", 1.5: "matern32", 2.5: "matern52"}


def _covariance(kernel, function, x1, x2, diag, last_dim_is_batch):
    """The matrix of the kernel with the name `function`, or its diagonal."""
    # Equal rows with derivatives of their own are two arrays.
    same = x1 is x2 or not (x1.requires_grad or x2.requires_grad) and x1.shape == x2.shape and x1.equal(x2)
    # Kernels depend on differences: rows far from the origin keep their digits.
    origin = x1.detach().mean(-2, keepdim=True)
    x1, x2 = ((x - origin).div(kernel.lengthscale) for x in (x1, x2))
    if last_dim_is_batch:
        x1, x2 = (x.mT.unsqueeze(-1) for x in (x1, x2))
    matrix = PairwiseLinearOperator(x1, None if same else x2, function=function)
    if diag:
        return matrix.diagonal(dim1=-1, dim2=-2)
    return matrix.to_dense() if settings.trace_mode.on() else matrix


class KronRBF(RBFKernel):
    """gpytorch.kernels.RBFKernel, with its arguments, whose matrix is a linear operator with products
    and derivatives that never have it in memory."""

    def forward(self, x1, x2, diag=False, last_dim_is_batch=False, **params):
        return _covariance(self, "gaussian", x1, x2, diag, last_dim_is_batch)


class KronMatern(MaternKernel):
    """gpytorch.kernels.MaternKernel, with its arguments, whose matrix is a linear operator with products
    and derivatives that never have it in memory."""

    def forward(self, x1, x2, diag=False, last_dim_is_batch=False, **params):
        if self.nu not in _MATERN:
            raise ValueError(f"expects nu to be 0.5, 1.5 or 2.5, but got {self.nu!r}")
        return _covariance(self, _MATERN[self.nu], x1, x2, diag, last_dim_is_batch)
