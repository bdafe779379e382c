# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Functions of sklearn.metrics.pairwise."""

import numbers

import numpy as np
from sklearn.metrics.pairwise import check_pairwise_arrays

from ..kernels import cdist, kernel


def _rbf(x, y, gamma):
    return np.exp(np.sum((x - y) ** 2) * -gamma)


def _laplacian(x, y, gamma):
    return np.exp(np.sum(abs(x - y)) * -gamma)


def _checked_gamma(gamma, X):
    if gamma is None:
        return 1 / X.shape[1]
    # Not above the largest element of the type that it is computed in.
    is_number = isinstance(gamma, numbers.Real) and not isinstance(gamma, (bool, np.bool_))
    if not is_number or not 0 < gamma <= float(np.finfo(X.dtype).max):
        raise ValueError(f"expects gamma to be None or a positive finite number of {X.dtype}, but got {gamma!r}")
    return gamma


def _matrix(function, X, Y, gamma):
    X, Y = check_pairwise_arrays(X, Y)
    return kernel(X, Y, function, gamma=_checked_gamma(gamma, X)).to_dense()


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
