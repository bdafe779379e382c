# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""gemkm and gekmm on NumPy arrays."""

import numpy as np

from .fastkronbase import FastKronBase


class FastKronNumpy(FastKronBase):
    def __init__(self):
        super().__init__(x86=True, cuda=False)

    def gemkm(self, x, fs, alpha=1.0, beta=0.0, y=None, trX=False, trF=False):
        return self._run(np.ndarray, self.MMTypeMKM, x, fs, alpha, beta, y, trX, trF)

    def gekmm(self, fs, x, alpha=1.0, beta=0.0, y=None, trX=False, trF=False):
        return self._run(np.ndarray, self.MMTypeKMM, x, fs, alpha, beta, y, trX, trF)

    shuffleGeMKM = gemkm
    shuffleGeKMM = gekmm


fastkronnumpy = FastKronNumpy()
__fastkronnumpy = fastkronnumpy


def gemkm(x, fs, alpha=1.0, beta=0.0, y=None, trX=False, trF=False):
    """alpha * op(x) @ (op(fs[0]) kron op(fs[1]) kron ...) + beta * y."""
    return fastkronnumpy.gemkm(x, fs, alpha, beta, y, trX, trF)


def gekmm(fs, x, alpha=1.0, beta=0.0, y=None, trX=False, trF=False):
    """alpha * (op(fs[0]) kron op(fs[1]) kron ...) @ op(x) + beta * y."""
    return fastkronnumpy.gekmm(fs, x, alpha, beta, y, trX, trF)
