# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Interfaces of other projects on top of kron: change an import, keep the program."""
