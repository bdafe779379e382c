# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What the NumPy and the PyTorch side share."""

import math
import platform

import kron

#: The version of the interface that this module follows.
__version__ = "1.1.0"


def version():
    return __version__


class FastKronHandle:
    """Stands for a backend, 'x86' or 'cuda'. kron needs no initialisation, so that a
    handle holds nothing but its name."""

    def __init__(self, backend, libFastKron=None):
        if backend.lower() not in ("x86", "cuda"):
            raise ValueError(f"expects backend to be 'x86' or 'cuda', but got {backend!r}")
        self.backend = backend.lower()
        self.libFastKron = libFastKron

    def version(self):
        return __version__

    def gekmmSizes(self, xshape, ps, qs):
        """Elements of the result, and of the largest intermediate."""
        rows = xshape[0]
        sizes = [rows * math.prod(qs[k:]) * math.prod(ps[:k])
                 for k in range(len(ps) + 1)]
        return rows * math.prod(qs), max(sizes)


class FastKronBase:
    """Questions that programs ask before they call, and checks of arguments."""

    MMTypeMKM = 1
    MMTypeKMM = 2
    #: Element types by name; of their own, since NumPy and PyTorch name them alike.
    _TYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64",
              "complex64", "complex128")

    def __init__(self, x86=True, cuda=False):
        self.x86, self.cuda = bool(x86), bool(cuda)

    def hasX86(self):
        return self.x86

    def hasCUDA(self):
        return self.cuda

    def supportedSystem(self):
        return platform.system() == "Linux"

    def supportedProcessor(self):
        return platform.machine() in ("x86_64", "AMD64")

    def supportedTypes(self, x, fs):
        return str(x.dtype).rpartition(".")[2] in self._TYPES

    def supportedDevice(self, x):
        return True

    def isSupported(self, x, fs):
        return (self.supportedSystem() and self.supportedProcessor()
                and self.supportedTypes(x, fs) and self.supportedDevice(x))

    def gekmmSizes(self, mmtype, x, fs, trX=False, trF=False):
        """Shape of the result, and elements of the largest intermediate."""
        shape = self._result_shape(mmtype, x, fs, trX, trF)
        is_mkm = mmtype == self.MMTypeMKM
        p = [f.shape[-2] if is_mkm != trF else f.shape[-1] for f in fs]
        q = [f.shape[-1] if is_mkm != trF else f.shape[-2] for f in fs]
        rows = shape[-2] if is_mkm else shape[-1]
        _, largest = FastKronHandle("x86").gekmmSizes((rows,), p, q)
        return shape, math.prod(shape[:-2]) * largest

    def _result_shape(self, mmtype, x, fs, trX, trF):
        is_mkm = mmtype == self.MMTypeMKM
        rows, columns = x.shape[-2:][::-1] if trX else x.shape[-2:]
        p = math.prod(f.shape[-2] if is_mkm != trF else f.shape[-1] for f in fs)
        q = math.prod(f.shape[-1] if is_mkm != trF else f.shape[-2] for f in fs)
        contracted = columns if is_mkm else rows
        if contracted != p:
            raise ValueError(f"expects x to have {p} {'columns' if is_mkm else 'rows'}, "
                             f"but got {contracted}")
        batch = _broadcast(x.shape[:-2], fs[0].shape[:-2])
        return batch + ((rows, q) if is_mkm else (q, columns))

    def _check(self, array_type, x, fs, y, beta):
        name = array_type.__name__
        if not isinstance(x, array_type):
            raise ValueError(f"expects x to be a {name}, but got {type(x).__name__}")
        if not isinstance(fs, (list, tuple)):
            raise ValueError(f"expects fs to be a list of {name}, but got "
                             f"{type(fs).__name__}")
        for k, f in enumerate(fs):
            if not isinstance(f, array_type):
                raise ValueError(f"expects fs[{k}] to be a {name}, but got "
                                 f"{type(f).__name__}")
            if f.dtype != x.dtype:
                raise ValueError(f"expects fs[{k}] to be of x's type {x.dtype}, but got "
                                 f"{f.dtype}")
        if y is not None and not isinstance(y, array_type):
            raise ValueError(f"expects y to be a {name}, but got {type(y).__name__}")
        if y is None and beta != 0:
            raise ValueError("expects y when beta is not 0")

    def _run(self, array_type, mmtype, x, fs, alpha, beta, y, trX=False, trF=False):
        self._check(array_type, x, fs, y, beta)
        is_mkm = mmtype == self.MMTypeMKM
        # Vectors: one row or column of x, one column of a factor.
        x = x.reshape((1, -1) if is_mkm != trX else (-1, 1)) if x.ndim == 1 else x
        fs = [f.reshape((-1, 1) if is_mkm != trF else (1, -1)) if f.ndim == 1 else f
              for f in fs]
        function = kron.mkm if is_mkm else kron.kmm
        if str(x.dtype).endswith("float16"):
            # PyFastKron leaves 16-bit types to the library, which rounds the product,
            # alpha times it, and the sum.
            result = function(x, fs, trans_x=trX, trans_factors=trF)
            result = result if alpha == 1 else alpha * result
            return result if y is None or beta == 0 else result + beta * y
        options = {"alpha": alpha, "trans_x": trX, "trans_factors": trF}
        if y is None or beta == 0:
            return function(x, fs, **options)
        try:
            return function(x, fs, beta=beta, z=y, **options)
        except ValueError:
            # y may have more batch dimensions than x and fs give.
            return function(x, fs, **options) + beta * y


def _broadcast(a, b):
    result = []
    for i in range(1, max(len(a), len(b)) + 1):
        sizes = {s[-i] for s in (a, b) if i <= len(s)} - {1}
        if len(sizes) > 1:
            raise ValueError(f"expects the batch dimensions {tuple(a)} of x and "
                             f"{tuple(b)} of fs to broadcast")
        result.append(sizes.pop() if sizes else 1)
    return tuple(reversed(result))
