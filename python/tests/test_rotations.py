"""Hadamard matrices and rotations made of them.

SPDX-License-Identifier: MIT
"""

import math

import numpy as np
import pytest
import reference

import kron
from kron import rotations

# The sizes that language models have, in front of powers of 2.
BASES = (1, 12, 20, 28, 36, 40, 52, 60)


@pytest.mark.parametrize("order", sorted({*BASES, 2, 4, 8, 24, 44, 48, 56, 64, 68, 100, 108}))
def test_hadamard(order):
    signs = rotations.hadamard(order, int, normalized=False)
    assert np.all(np.abs(signs) == 1)
    np.testing.assert_array_equal(signs @ signs.T, order * np.eye(order, dtype=int))
    matrix = rotations.hadamard(order, np.float32)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix, signs / math.sqrt(order), rtol=1e-6)


@pytest.mark.parametrize("order", [3, 6, 92, 94])
def test_no_hadamard(order):
    with pytest.raises(ValueError, match=f"expects order .* but got {order}"):
        rotations.hadamard(order)


@pytest.mark.parametrize("order, error", [(0, ValueError), (-4, ValueError), (4.0, TypeError),
                                          (True, TypeError)])
def test_bad_order(order, error):
    for function in (rotations.hadamard, rotations.sizes):
        with pytest.raises(error, match="expects an order"):
            function(order)


@pytest.mark.parametrize("n, expected", [
    (1, (1,)), (2, (2,)), (64, (64,)), (128, (16, 8)), (4096, (64, 64)), (12, (12,)),
    (5120, (20, 16, 16)), (13824, (108, 16, 8)), (14336, (28, 32, 16)), (28672, (28, 32, 32)),
    (640, (20, 32)), (48, (48,))])
def test_sizes(n, expected):
    assert rotations.sizes(n, 64) == expected


@pytest.mark.parametrize("n, expected", [(4096, (64, 64)), (14336, (112, 128)),
                                         (5120, (80, 64)), (13824, (108, 128)), (128, (128,))])
def test_larger_sizes(n, expected):
    assert rotations.sizes(n, 128) == expected


# Verify that a rotation does not depend on how it is factored.
@pytest.mark.parametrize("seed", [None, 5])
def test_sizes_do_not_matter(seed):
    matrices = [rotations.Rotation(896, most=most, seed=seed).matrix() for most in (2, 16, 128)]
    for matrix in matrices[1:]:
        np.testing.assert_allclose(matrix, matrices[0], atol=1e-14)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("exponent", [0, 3, 9])
def test_all_sizes(base, exponent):
    for most in (64, 32, 2):
        orders = rotations.sizes(base << exponent, most)
        assert math.prod(orders) == base << exponent
        assert all(n & (n - 1) or n <= most for n in orders)


def test_bad_size():
    with pytest.raises(ValueError, match="expects n to be .* but got 11008"):
        rotations.sizes(11008)
    with pytest.raises(TypeError, match="expects n to be an integer or a tuple .* but got float"):
        rotations.Rotation(16.0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("seed", [None, 3])
def test_rotation(dtype, seed):
    rotate = rotations.Rotation(224, most=4, seed=seed)
    assert rotate.sizes == (28, 4, 2) and repr(rotate) == "Rotation(28 x 4 x 2)"
    x = reference.random(np.random.default_rng(1), (2, 5, 224), dtype)
    matrix = rotate.matrix()
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(224), atol=1e-14)
    y = rotate(x)
    assert y.dtype == dtype
    bound = 16 * np.finfo(dtype).eps * np.linalg.norm(x.astype(float))
    assert np.linalg.norm(y - x.astype(float) @ matrix) <= bound
    assert np.linalg.norm(rotate.inverse(y) - x.astype(float)) <= 2 * bound
    assert (seed is None) == np.array_equal(matrix, rotations.Rotation(224, most=4).matrix())


def test_bad_rotation():
    rotate = rotations.Rotation(8)
    for shape in ((3, 9), ()):
        with pytest.raises(ValueError, match="expects the last axis to have size 8"):
            rotate(np.zeros(shape))


def test_own_sizes():
    rotate = rotations.Rotation((4, 12, 2))
    np.testing.assert_allclose(
        rotate.matrix(), np.kron(np.kron(rotations.hadamard(4), rotations.hadamard(12)),
                                 rotations.hadamard(2)))


def test_two_sided():
    rng = np.random.default_rng(2)
    x, a, b = rng.standard_normal((7, 6)), rng.standard_normal((5, 2)), rng.standard_normal((3, 4))
    expected = [(a @ row.reshape(2, 3) @ b).reshape(-1) for row in x]
    np.testing.assert_allclose(kron.rotations.two_sided(x, a, b), expected)
