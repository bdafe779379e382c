"""Libraries of matrix products as peers of mkm: MKL, OpenBLAS and LIBXSMM, in ctypes.

What one writes with a BLAS: the product along the last axis of every row moves it to the
front, Y[m] = F^T X[m]^T, so a factor is one product per row and no transpose. MKL takes
all rows in one call, OpenBLAS one by one; LIBXSMM does batches of small products along
each axis where it lies.

`KRON_MKL`, `KRON_OPENBLAS` and `KRON_LIBXSMM` name a library file; else it must be where
the dynamic linker looks, MKL's and OpenBLAS's also in this Python's packages.

SPDX-License-Identifier: MIT
"""

import ctypes
import ctypes.util
import functools
import math
import os
import pathlib
import sys
from ctypes import c_double, c_float, c_int, c_int64, c_void_p

import numpy as np

LIBRARIES = {"mkl": ("mkl_rt", "libmkl_rt.so*"), "openblas": ("openblas", "libopenblas*.so*"),
             "libxsmm": ("xsmm", "libxsmm.so*")}
ROW_MAJOR, PLAIN, TURNED = 101, 111, 112


def describe(name):
    return f"library {LIBRARIES[name][1].rstrip('*')} (or KRON_{name.upper()} to name one)"


@functools.lru_cache
def find(name):
    """The library file of a peer, or None."""
    given = os.environ.get(f"KRON_{name.upper()}")
    if given:
        return given if pathlib.Path(given).exists() else None
    short, pattern = LIBRARIES[name]
    found = ctypes.util.find_library(short)
    if found:
        return found
    for folder in (pathlib.Path(sys.prefix) / "lib", *map(pathlib.Path, sys.path)):
        for path in sorted(folder.glob(pattern)):
            return str(path)
    return None


@functools.lru_cache
def load(name):
    if name == "mkl":
        # The only layer that needs no other library.
        threads = os.environ.get("OMP_NUM_THREADS", "1")
        os.environ.setdefault("MKL_THREADING_LAYER", "SEQUENTIAL" if threads == "1" else "GNU")
    library = ctypes.CDLL(find(name))
    if name == "openblas":
        library.openblas_set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    if name == "libxsmm":
        library.libxsmm_init()
    return library


def make(name, case, arrays):
    """The function that computes a case, or None."""
    if case.op != "mkm" or case.type not in ("f32", "f64"):
        return None
    run = _xsmm if name == "libxsmm" else _mkl if name == "mkl" else _openblas
    return run(load(name), case, *arrays[:-1])


def _steps(case, x, factors):
    """(input, p, q, inner elements, factor, output) along the last axis, then the one
    before, ...; all arrays are allocated here."""
    steps, current, size = [], x, math.prod(p for p, _ in case.factors)
    for (p, q), factor in reversed(list(zip(case.factors, factors))):
        rest = size // p
        result = np.empty((case.rows, q * rest), x.dtype)
        steps.append((current, p, q, rest, factor, result))
        current, size = result, q * rest
    return steps, current


def _number(case):
    return c_float if case.type == "f32" else c_double


def _address(array):
    return c_void_p(array.ctypes.data)


def _mkl(library, case, x, *factors):
    number = _number(case)
    product = getattr(library, f"cblas_{'s' if case.type == 'f32' else 'd'}gemm_batch_strided")
    steps, result = _steps(case, x, factors)
    calls = [(ROW_MAJOR, TURNED, TURNED, q, rest, p, number(1), _address(f), q, c_int64(0),
              _address(a), p, c_int64(p * rest), number(0), _address(y), rest,
              c_int64(q * rest), case.rows) for a, p, q, rest, f, y in steps]

    def run(keep=steps):
        for call in calls:
            product(*call)
        return result
    return run


def _openblas(library, case, x, *factors):
    number = _number(case)
    letter = "s" if case.type == "f32" else "d"
    product = getattr(library, f"cblas_{letter}gemm", None)
    product = product or getattr(library, f"scipy_cblas_{letter}gemm64_")
    steps, result = _steps(case, x, factors)
    width = x.dtype.itemsize
    calls = [(ROW_MAJOR, TURNED, TURNED, q, rest, p, number(1), _address(f), q,
              c_void_p(a.ctypes.data + m * p * rest * width), p, number(0),
              c_void_p(y.ctypes.data + m * q * rest * width), rest)
             for a, p, q, rest, f, y in steps for m in range(case.rows)]

    def run(keep=steps):
        for call in calls:
            product(*call)
        return result
    return run


def _xsmm(library, case, x, *factors):
    """Batches of small products, [inner, p] by [p, q] seen column by column; along the
    last axis [q, p] by [p, 64]."""
    precision = c_int(1 if case.type == "f32" else 0)
    plain, keep, calls = ctypes.c_char_p(b"N"), [], []
    sizes, current, inner = [p for p, _ in case.factors], x, 1

    def pointer(value, kind=c_int):
        keep.append(kind(value))
        return ctypes.byref(keep[-1])

    def block(size, p, q):
        """So many of a batch's rows or columns that its products get kernels: LIBXSMM
        leaves those beyond 64 x 64 x 64 to a BLAS."""
        return math.gcd(size, min(64, max(1, 2**18 // (p * q))))

    one, zero = pointer(1, _number(case)), pointer(0, _number(case))
    for k in reversed(range(len(factors))):
        p, q = case.factors[k]
        outer = case.rows * math.prod(sizes[:k])
        y = np.empty(outer * q * inner, x.dtype)
        some = block(outer if inner == 1 else inner, p, q)
        if inner == 1:
            shape, a, b, leading = (q, some, p), factors[k], current, (q, p, q)
            steps = [np.arange(outer // some) * d for d in (0, p * some, q * some)]
        else:
            shape, a, b = (some, q, p), current, np.ascontiguousarray(factors[k].T)
            leading = inner, p, inner
            parts = np.arange(inner // some) * some
            steps = [(np.arange(outer)[:, None] * (d * inner) + parts).ravel() for d in (p, q)]
            steps.insert(1, np.zeros(outer * (inner // some)))
        indices = [np.ascontiguousarray(s, np.int32) for s in steps]
        keep += [a, b, y, *indices]
        # A negative count: no two products write the same matrix.
        calls.append((precision, precision, plain, plain, *map(c_int, shape), one,
                      _address(a), pointer(leading[0]), _address(b), pointer(leading[1]), zero,
                      _address(y), pointer(leading[2]), c_int(0), c_int(4),
                      *map(_address, indices), c_int(-len(indices[0]))))
        current, inner = y, inner * q

    def run(keep=keep):
        for call in calls:
            library.libxsmm_gemm_batch(*call)
        return current
    return run
