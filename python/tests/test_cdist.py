"""kron.kernels.cdist against float64, with the bounds of test_pairwise: the sum of powers may be off
by (K + 8 (p + 1)) roundings of the accumulation type, its root by 1/p of that and 8 more.

SPDX-License-Identifier: MIT
"""

import ml_dtypes
import numpy as np
import pytest
import reference
from test_pairwise import FUNCTIONS, NAMES, SIZES, expected, laid_out

import kron
from kron.kernels import cdist

EXPONENTS = [*FUNCTIONS, 2.7]


def sums(p, a, b):
    if p in FUNCTIONS:
        return expected(p, a, b)
    return (np.abs(reference.wide(a)[..., :, None, :] - reference.wide(b)[..., None, :, :])**p).sum(-1)


def check(p, root, result, a, b):
    dtype = a.dtype
    wanted = sums(p, a, b)
    accumulator = 2.0**-53 if dtype == np.float64 else 2.0**-24
    own = float(ml_dtypes.finfo(dtype).eps) / 2
    power = p if 0 < p < np.inf else 0
    roundings = a.shape[-1] + 8 * (power + 1)
    if root and power:
        wanted, roundings = wanted**(1 / p), roundings / p + 8
    assert result.shape == wanted.shape and result.dtype == dtype
    bound = (roundings * accumulator + own) * wanted + float(ml_dtypes.finfo(dtype).smallest_subnormal)
    # Sums of 16-bit types may be too large for them.
    with np.errstate(over="ignore"):
        finite = np.isfinite(wanted.astype(dtype))
    assert np.all(np.abs(reference.wide(result) - wanted)[finite] <= bound[finite])


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("p", EXPONENTS)
def test_random_shapes(p, dtype):
    rng = np.random.default_rng()
    for m, n, k in rng.choice(SIZES, (12, 3)):
        a, b = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k)))
        for root in (True, False) if dtype == np.float32 else (True,):
            check(p, root, cdist(a, b, p, root=root), a, b)


@pytest.mark.parametrize("p", [0, 1, 1.3, 2, np.inf])
def test_batches_and_layouts(p):
    rng = np.random.default_rng()
    for batches in (((3, 1), (5,)), ((), (2, 1, 3)), ((1,), (1,)), ((0,), (1,)), ((2, 0), (1, 1)),
                    ((2, 3), (4, 5, 2, 3))):
        a, b = (rng.standard_normal((*batch, size, 7)) for batch, size in zip(batches, (5, 11)))
        for given in ((a, b), (laid_out(a, "N", 3), laid_out(b, "N", 5)), (a[..., ::-1, :], b[..., ::-1]),
                      (np.asfortranarray(a), b.astype(">f8"))):
            check(p, True, cdist(*given, p), *given)


def test_rows_of_one_array():
    """Clustered data far from the origin: rows that are equal have no distance."""
    x = (1e4 + 1e-2 * np.random.default_rng().standard_normal((33, 6))).astype(np.float32)
    for p in EXPONENTS:
        result = cdist(x, x, p)
        assert np.all(np.diag(result) == 0)
        np.testing.assert_array_equal(result, result.T)
        check(p, True, result, x, x)


@pytest.mark.parametrize("p", EXPONENTS)
def test_what_is_not_finite_stays_in_its_row_and_column(p):
    rng = np.random.default_rng()
    a, b = (rng.standard_normal((7, 5)).astype(np.float32) for _ in range(2))
    a[2, 3] = b[4, 0] = np.nan
    a[6, 1] = np.inf
    result = cdist(a, b, p)
    wanted = np.zeros((7, 7), bool)
    wanted[2], wanted[:, 4] = True, True
    np.testing.assert_array_equal(np.isnan(result), wanted)
    np.testing.assert_array_equal(np.isposinf(result[6]), ~wanted[6] if p else False)


def test_numbers_of_any_type_are_exponents():
    a = np.random.default_rng().standard_normal((3, 2))
    for p in (2, np.float32(2), np.int64(2)):
        np.testing.assert_array_equal(cdist(a, a, p), cdist(a, a))


BAD = {
    "list": (TypeError, "expects a to be a NumPy array or a PyTorch tensor, but got list",
             lambda a: cdist([[1.0]], a)),
    "number": (TypeError, "expects b to be a NumPy array or a PyTorch tensor, but got float",
               lambda a: cdist(a, 1.0)),
    "vector": (ValueError, r"expects a to have at least 2 axes, \[..., M, K\], but got shape \(3,\)",
               lambda a: cdist(a[0], a)),
    "vector b": (ValueError, r"expects b to have at least 2 axes, \[..., N, K\], but got shape \(3,\)",
                 lambda a: cdist(a, a[0])),
    "k": (ValueError, r"expects the last axis of b to have size 3 as that of a, but got shape \(4, 2\)",
          lambda a: cdist(a, a[:, :2])),
    "batch": (ValueError, r"expects the leading axes of b to broadcast with \(2,\), but got \(3,\)",
              lambda a: cdist(np.stack([a] * 2), np.stack([a] * 3))),
    "integers": (TypeError, "expects a to have dtype float16, bfloat16, float32, float64, but got int64",
                 lambda a: cdist(a.astype(np.int64), a)),
    "complex": (TypeError, "expects b to have dtype .*, but got complex128", lambda a: cdist(a, a + 0j)),
    "mixed types": (TypeError, "expects b to have dtype float64 as a, but got float32",
                    lambda a: cdist(a, a.astype(np.float32))),
    "negative p": (ValueError, "expects p to be a number from 0 on, or infinity, but got -1.0",
                   lambda a: cdist(a, a, -1)),
    "nan": (ValueError, "expects p to be a number from 0 on, or infinity, but got nan",
            lambda a: cdist(a, a, np.nan)),
    "text": (TypeError, "expects p to be a number, but got str", lambda a: cdist(a, a, "2")),
    "bool": (TypeError, "expects p to be a number, but got bool", lambda a: cdist(a, a, True)),
    "large p": (ValueError, "expects p to be a number whose inverse float32 has, but got 1e\\+39",
                lambda a: cdist(a.astype(np.float32), a.astype(np.float32), 1e39)),
    "small p": (ValueError, "expects p to be a number whose inverse float64 has, but got 1e-310",
                lambda a: cdist(a, a, 1e-310)),
    "sizes": (ValueError, r"expects results of at most \d+ bytes, but a and b give shape \(\d+, \d+\)",
              lambda a: cdist(*[np.broadcast_to(a[:1], (2**32, 3))] * 2)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    kind, message, call = BAD[name]
    with pytest.raises(kind, match=message):
        call(np.ones((4, 3)))


def test_is_part_of_the_package():
    assert kron.kernels.cdist is cdist and "kernels" in dir(kron)
