# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""kron on several GPUs and machines, by torch.distributed and its DTensors.

kron's functions and layers take DTensors: rules (_rules.py) say how operations are divided
among ranks. `mkm` here is for products with a sharded mode, by one exchange.
"""

import importlib

from . import _rules  # noqa: F401

#: What is loaded when it is first used -> its module: torch.compile's compiler takes seconds.
_FUNCTIONS = {"BlocksParallel": "_parallel", "RowsParallel": "_parallel", "Solution": "_cg",
              "cg": "_cg", "inv_quad_logdet": "_spectral", "mkm": "_mkm", "solve": "_spectral"}

__all__ = sorted(_FUNCTIONS)


def __getattr__(name):
    if name in _FUNCTIONS:
        return getattr(importlib.import_module("kron.distributed." + _FUNCTIONS[name]), name)
    raise AttributeError(f"module 'kron.distributed' has no attribute '{name}'")


def __dir__():
    return sorted(set(globals()) | set(_FUNCTIONS))
