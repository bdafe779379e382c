# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Linear operators and kernels for GPyTorch with kron's products.

`KroneckerProductLinearOperator` is the class of that name in linear_operator with its
products, solves and decompositions done by kron; it passes every isinstance check for
the original. `install()` puts it in the original's place, so that kernels which build
Kronecker products themselves (GridKernel, MultitaskKernel, ...) use it.

`KronRBF` and `KronMatern` are GPyTorch's RBFKernel and MaternKernel, whose matrices are
`PairwiseLinearOperator`s: products and derivatives never have the matrix in memory.
"""

import contextlib
import sys

from linear_operator.operators import KroneckerProductLinearOperator as _Original

from ._kernels import KronMatern, KronRBF
from ._operators import KroneckerProductLinearOperator
from ._pairs import PairwiseLinearOperator

__all__ = ["KronMatern", "KronRBF", "KroneckerProductLinearOperator", "PairwiseLinearOperator", "install",
           "installed"]


def install():
    """Replaces linear_operator's class in every module that has imported it. Returns a
    function that undoes it."""
    places = []
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "")
        if name.split(".")[0] not in ("linear_operator", "gpytorch", "botorch"):
            continue
        if vars(module).get("KroneckerProductLinearOperator") is _Original:
            module.KroneckerProductLinearOperator = KroneckerProductLinearOperator
            places.append(module)

    def restore():
        for module in places:
            module.KroneckerProductLinearOperator = _Original

    return restore


@contextlib.contextmanager
def installed():
    """install() for the time of a with statement."""
    restore = install()
    try:
        yield
    finally:
        restore()
