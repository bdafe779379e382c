# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Functions of sklearn.metrics.pairwise."""

import numpy as np
from sklearn.metrics.pairwise import check_pairwise_arrays

from ..kernels import cdist, kernel


def _rbf(x, y, gamma):
    return np.exp(np.sum((x - y) ** 2) * -gamma)


def _laplacian(x, y, gamma):
    return np.exp(np.sum(abs(x - y)) * -gamma)


def _matrix(function, X, Y, gamma):
    X, Y = check_pairwise_arrays(X, Y)
    return kernel(X, Y, function, gamma=1 / X.shape[1] if gamma is None else gamma).to_dense()


def rbf_kernel(X, Y=None, gamma=None):
    """exp(-gamma |x - y|^2) of all rows x of X and y of Y (of X without Y); gamma is 1 / n_features if it
    is not given."""
    return _matrix(_rbf, X, Y, gamma)


def laplacian_kernel(X, Y=None, gamma=None):
    """exp(-gamma |x - y|_1) of all rows x of X and y of Y (of X without Y); gamma is 1 / n_features if it
    is not given."""
    return _matrix(_laplacian, X, Y, gamma)


def euclidean_distances(X, Y=None, *, squared=False):
    """|x - y| of all rows x of X and y of Y (of X without Y), or its square."""
    X, Y = check_pairwise_arrays(X, Y)
    return cdist(X, Y, root=not squared)


def manhattan_distances(X, Y=None):
    """|x - y|_1 of all rows x of X and y of Y (of X without Y)."""
    X, Y = check_pairwise_arrays(X, Y)
    return cdist(X, Y, 1)
