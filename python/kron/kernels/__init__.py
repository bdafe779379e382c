"""Distances and kernel matrices of all pairs of rows.

SPDX-License-Identifier: MIT
"""

from kron.kernels._cdist import cdist
from kron.kernels._kernel import Kernel, kernel

__all__ = ["Kernel", "cdist", "kernel"]
