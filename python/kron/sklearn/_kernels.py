# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kernels of scikit-learn's Gaussian processes."""

import math

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

from ..kernels import _operations, kernel

_MATERN = {0.5: "matern12", 1.5: "matern32", 2.5: "matern52", math.inf: "gaussian"}


def _rows(value, name):
    """`value` as an array of rows; one axis is one row, as scikit-learn has it."""
    rows = np.atleast_2d(value)
    if rows.ndim != 2:
        raise ValueError(f"expects {name} to have 2 axes, [rows, features], but got shape {rows.shape}")
    return rows


def _length_scale(X, length_scale):
    scale = np.squeeze(length_scale).astype(float)
    if scale.ndim > 1 or scale.ndim == 1 and scale.shape[0] != X.shape[1]:
        raise ValueError(f"expects length_scale to be a number or to have one element for each of {X.shape[1]} "
                         f"features, but got shape {np.shape(length_scale)}")
    return scale


def _gradient(owner, matrix):
    """Derivatives by the logarithms of length scales, [M, M, parameters]: rows in units of these move
    along minus themselves."""
    rows = matrix.a
    if owner.hyperparameter_length_scale.fixed:
        return np.empty((*matrix.shape, 0))
    masks = np.eye(rows.shape[1]) if owner.anisotropic else np.ones((1, rows.shape[1]))
    # What does not move has directions of zeros.
    fixed = [np.zeros_like(array) for array in matrix.operands[2:]]
    result = np.empty((*matrix.shape, len(masks)))
    for number, mask in enumerate(masks):
        result[..., number] = _operations.tangent(matrix.function, matrix.operands,
                                                  [-rows * mask, -matrix.b * mask, *fixed])
    return result


def _evaluate(owner, function, X, Y, eval_gradient):
    """The matrix of the kernel with the name `function`, and its derivatives if these are wanted."""
    if Y is not None and eval_gradient:
        raise ValueError("expects no Y where eval_gradient is True, but got one")
    X = _rows(X, "X")
    if Y is not None:
        Y = _rows(Y, "Y")
        if Y.shape[1] != X.shape[1]:
            raise ValueError(f"expects Y to have {X.shape[1]} features as X, but got shape {Y.shape}")
    scale = _length_scale(X, owner.length_scale)
    left = X / scale
    right = left if Y is None else Y / scale
    matrix = kernel(left, right, function)
    dense = matrix.to_dense()
    return (dense, _gradient(owner, matrix)) if eval_gradient else dense


class KronRBF(RBF):
    """sklearn.gaussian_process.kernels.RBF with kron's code."""

    def __call__(self, X, Y=None, eval_gradient=False):
        return _evaluate(self, "gaussian", X, Y, eval_gradient)


class KronMatern(Matern):
    """sklearn.gaussian_process.kernels.Matern with kron's code for nu 0.5, 1.5, 2.5 and infinity."""

    def __call__(self, X, Y=None, eval_gradient=False):
        if self.nu not in _MATERN:
            return super().__call__(X, Y, eval_gradient)
        return _evaluate(self, _MATERN[self.nu], X, Y, eval_gradient)
