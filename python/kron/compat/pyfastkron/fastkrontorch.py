# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""gemkm and gekmm on PyTorch tensors; differentiable."""

import torch

from .fastkronbase import FastKronBase


class FastKronTorch(FastKronBase):
    def __init__(self):
        super().__init__(x86=True, cuda=torch.cuda.is_available())

    def supportedDevice(self, x):
        return x.device.type in ("cpu", "cuda")

    def check(self, x, fs, y=None, z=None, stream=None):
        devices = {t.device for t in (x, *fs, y, z) if t is not None}
        if len(devices) != 1:
            raise RuntimeError("expects all tensors to be on one device, but got "
                               f"{sorted(map(str, devices))}")

    def _run(self, array_type, mmtype, x, fs, alpha, beta, y, trX=False, trF=False):
        self._check(array_type, x, fs, y, beta)
        self.check(x, fs, y)
        return super()._run(array_type, mmtype, x, fs, alpha, beta, y, trX, trF)

    def gemkm(self, requires_grad, x, fs, alpha=1.0, beta=0.0, y=None, trX=False,
              trF=False):
        with torch.set_grad_enabled(torch.is_grad_enabled() and bool(requires_grad)):
            return self._run(torch.Tensor, self.MMTypeMKM, x, fs, alpha, beta, y, trX,
                             trF)

    def gekmm(self, requires_grad, fs, x, alpha=1.0, beta=0.0, y=None, trX=False,
              trF=False):
        with torch.set_grad_enabled(torch.is_grad_enabled() and bool(requires_grad)):
            return self._run(torch.Tensor, self.MMTypeKMM, x, fs, alpha, beta, y, trX,
                             trF)

    def shuffleGeMKM(self, x, fs, alpha=1.0, beta=0.0, y=None):
        return self.gemkm(True, x, fs, alpha, beta, y)

    def shuffleGeKMM(self, fs, x, alpha=1.0, beta=0.0, y=None):
        return self.gekmm(True, fs, x, alpha, beta, y)


fastkrontorch = FastKronTorch()
__fastkrontorch = fastkrontorch


class MKM:
    """What PyFastKron's users of its autograd functions call: MKM.apply."""

    @staticmethod
    def apply(x, *fs):
        return fastkrontorch.gemkm(True, x, fs)


class KMM:
    """The same for gekmm."""

    @staticmethod
    def apply(x, *fs):
        return fastkrontorch.gekmm(True, fs, x)


def gemkm(x, fs, alpha=1.0, beta=0.0, y=None, trX=False, trF=False):
    """alpha * op(x) @ (op(fs[0]) kron op(fs[1]) kron ...) + beta * y."""
    return fastkrontorch.gemkm(True, x, fs, alpha, beta, y, trX, trF)


def gekmm(fs, x, alpha=1.0, beta=0.0, y=None, trX=False, trF=False):
    """alpha * (op(fs[0]) kron op(fs[1]) kron ...) @ op(x) + beta * y."""
    return fastkrontorch.gekmm(True, fs, x, alpha, beta, y, trX, trF)
