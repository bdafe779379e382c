# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""PyFastKron's Python interface (version 1.1) on top of kron.

`import kron.compat.pyfastkron.fastkrontorch as fk` in place of
`import pyfastkron.fastkrontorch as fk`, and the same for fastkronnumpy. Every element
type, shape and stride that kron takes is computed by kron; nothing falls back to
reshaped matrix products.
"""

from .fastkronbase import FastKronBase, FastKronHandle, __version__, version

__all__ = ["FastKronBase", "FastKronHandle", "FastKronNumpy", "FastKronTorch",
           "__version__", "version"]


def __getattr__(name):
    if name == "FastKronTorch":
        from .fastkrontorch import FastKronTorch

        return FastKronTorch
    if name == "FastKronNumpy":
        from .fastkronnumpy import FastKronNumpy

        return FastKronNumpy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
