# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kernels and distances for scikit-learn's estimators.

`KronRBF` and `KronMatern` are scikit-learn's kernels of Gaussian processes, which its other
estimators take, too (KernelRidge(kernel=...), SVC(kernel=...)). The functions are those of
sklearn.metrics.pairwise. Whole matrices are computed: by the kernels in float64, by the functions in float32
where both sides are, else in float64, too.
"""

from ._kernels import KronMatern, KronRBF
from ._pairwise import euclidean_distances, laplacian_kernel, manhattan_distances, rbf_kernel

__all__ = ["KronMatern", "KronRBF", "euclidean_distances", "laplacian_kernel", "manhattan_distances", "rbf_kernel"]
