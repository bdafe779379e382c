"""What kron's functions must compute, in NumPy's float64, complex128 or wrapping
integers, with the a-priori bound on the error.

SPDX-License-Identifier: MIT
"""

from functools import reduce

import ml_dtypes
import numpy as np

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.int64,
          np.complex64, np.complex128]
_EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7,
            "complex64": 2.0**-23, "complex128": 2.0**-52}


def random(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "i":
        return rng.integers(-9, 10, shape).astype(dtype)
    values = rng.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values, dtype)


def wide(array):
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.int64 if array.dtype.kind == "i" else np.float64)


def op(array, trans):
    if trans in (False, "N"):
        return array
    array = np.swapaxes(array, -1, -2)
    return array.conj() if trans == "C" else array


def kron_all(factors):
    """Kronecker product with batch dimensions."""

    def two(a, b):
        product = np.einsum("...ij,...kl->...ikjl", a, b)
        shape = product.shape
        return product.reshape(shape[:-4] + (shape[-4] * shape[-3], shape[-2] * shape[-1]))

    return reduce(two, factors)


def mkm(x, factors, trans_x="N", trans_factors="N"):
    if isinstance(trans_factors, (str, bool)):
        trans_factors = [trans_factors] * len(factors)
    dense = kron_all([op(wide(f), t) for f, t in zip(factors, trans_factors)])
    return op(wide(x), trans_x) @ dense


def kmm(x, factors, trans_x="N", trans_factors="N"):
    if isinstance(trans_factors, (str, bool)):
        trans_factors = [trans_factors] * len(factors)
    dense = kron_all([op(wide(f), t) for f, t in zip(factors, trans_factors)])
    return dense @ op(wide(x), trans_x)


def ksmm(x, weights, layout="batch_first", trans="N"):
    weights = wide(weights)
    if trans != "N":
        weights = weights.transpose(0, 2, 1, 3)
        weights = weights.conj() if trans == "C" else weights
    a, b, c, d = weights.shape
    x = wide(x)
    if layout == "batch_last":
        x = np.moveaxis(x, 0, -1)
    y = np.einsum("ijkt,...ikt->...ijt", weights, x.reshape(x.shape[:-1] + (a, c, d)))
    y = y.reshape(x.shape[:-1] + (a * b * d,))
    return np.moveaxis(y, -1, 0) if layout == "batch_last" else y


def check(actual, expected, dtype, scale=None):
    """Relative L2 error within 16 epsilon of the type; integers exactly.

    `scale` replaces the norm of `expected`, where terms of a sum may cancel."""
    dtype = np.dtype(dtype)
    assert actual.dtype == dtype
    assert actual.shape == np.shape(expected)
    if dtype.kind == "i":
        np.testing.assert_array_equal(actual, np.asarray(expected).astype(dtype))
        return
    if actual.size == 0:
        return
    error = np.linalg.norm(wide(actual).ravel() - np.ravel(expected))
    norm = np.linalg.norm(np.ravel(expected)) if scale is None else scale
    assert error <= 16 * _EPSILON[dtype.name] * norm + 1e-300
