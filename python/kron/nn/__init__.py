# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Layers with Kronecker-structured weights, for PyTorch."""

from ._layers import KronLinear, Monarch
from ._sparse import KSLinear

__all__ = ["KSLinear", "KronLinear", "Monarch"]
