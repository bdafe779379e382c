# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""kron on several GPUs and machines, by torch.distributed and its DTensors.

kron's functions and layers take DTensors: rules (_rules.py) say how operations are divided
among ranks. `mkm` here is for products with a sharded mode, by one exchange.
"""

import importlib

from . import _rules  # noqa: F401

_FUNCTIONS = {"BlocksParallel": "_parallel", "RowsParallel": "_parallel", "Solution": "_cg", "cg": "_cg", "mkm": "_mkm"}

__all__ = sorted(_FUNCTIONS)


def __getattr__(name):
    """Functions for torch.compile are loaded when they are used: with its compiler."""
    if name in _FUNCTIONS:
        return getattr(importlib.import_module("kron.distributed." + _FUNCTIONS[name]), name)
    raise AttributeError(f"module 'kron.distributed' has no attribute '{name}'")


def __dir__():
    return sorted(set(globals()) | set(_FUNCTIONS))
