"""Products with kernel matrices, diagonals and solutions, against float64.

A sum along N may be off by (K + 32) e + 16 + N roundings of the accumulation type in the sizes of its
terms, where e is that of test_kernels.

SPDX-License-Identifier: MIT
"""

import pathlib
import resource
import warnings

import numpy as np
import pytest
import reference
from test_kernels import KERNELS, cauchy, check_close, weighted
from test_pairwise import NAMES

from kron.kernels import _cg, kernel

SIZES = (0, 1, 2, 5, 13, 31)
COLUMNS = (0, 1, 7, 63, 64, 65, 131)


def check_product(name, result, a, b, v, lengthscale, **parameters):
    """`v` is an array of matrices."""
    value, exponent = KERNELS[name][0](a, b, lengthscale, **parameters)
    sizes = ((a.shape[-1] + 32) * exponent + 16 + b.shape[-2]) * value
    check_close(result, value @ reference.wide(v), a.dtype, sizes @ np.abs(reference.wide(v)))


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", KERNELS)
def test_random_shapes(name, dtype):
    rng = np.random.default_rng()
    parameters = KERNELS[name][1]
    for m, k, c in rng.choice(SIZES, (6, 3)):
        n = rng.choice(COLUMNS)
        a, b, v = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k), (n, c)))
        lengthscale = np.float32(rng.uniform(0.3, 3) * max(k, 1)**0.5)
        matrix = kernel(a, b, name, lengthscale=lengthscale, **parameters)
        check_product(name, matrix.matmul(v), a, b, v, lengthscale, **parameters)


def test_operators():
    rng = np.random.default_rng()
    a, b = rng.standard_normal((5, 3)), rng.standard_normal((7, 3))
    u, v = rng.standard_normal((2, 5)), rng.standard_normal((7, 2))
    for matrix in (kernel(a, b, "matern32"), kernel(a, b, weighted)):
        dense = matrix.to_dense()
        for found, wanted in ((matrix @ v, dense @ v), (u @ matrix, u @ dense), (matrix @ v[:, 0], dense @ v[:, 0]),
                              (u[0] @ matrix, u[0] @ dense), (matrix.mT @ u.T, dense.T @ u.T),
                              (matrix @ v[::-1], dense @ v[::-1])):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
            assert found.shape == wanted.shape


def test_batches():
    rng = np.random.default_rng()
    a, b = rng.standard_normal((3, 1, 5, 4)), rng.standard_normal((2, 7, 4))
    scales = rng.uniform(0.5, 2, (2, 1, 1))
    matrix = kernel(a, b, lengthscale=scales)
    for shape in ((7, 3), (2, 7, 3), (3, 1, 7, 3), (6, 1, 1, 7, 3)):
        v = rng.standard_normal(shape)
        check_product("gaussian", matrix @ v, a, b, v, scales)
    assert (matrix @ np.ones(7)).shape == (3, 2, 5)


def test_the_matrix_is_not_in_memory():
    """It would take 64 MB."""
    matrix = kernel(np.zeros((64, 1), np.float32), np.zeros((1 << 18, 1), np.float32))
    # The most memory that was in use begins with what is in use.
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.testing.assert_array_equal(matrix @ np.ones((1 << 18, 1), np.float32), 1 << 18)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


@pytest.mark.parametrize("name", KERNELS)
def test_diagonals(name):
    rng = np.random.default_rng()
    a, b = rng.standard_normal((2, 1, 7, 4)), rng.standard_normal((3, 7, 4))
    parameters = {key: rng.uniform(0.5, 2, (3,)) for key in KERNELS[name][1]}
    for matrix in (kernel(a, b, name, lengthscale=rng.uniform(1, 2, (3, 1, 1)), **parameters), kernel(a[0, 0], b, name),
                   kernel(b[0], b[0], name)):
        wanted = np.diagonal(matrix.to_dense(), axis1=-2, axis2=-1)
        np.testing.assert_allclose(matrix.diag(), wanted, rtol=1e-14)
    assert kernel(np.ones((0, 3)), None, name).diag().shape == (0,)


# --- solutions --------------------------------------------------------------------


def solved(matrix, rhs, noise):
    shift = np.asarray(noise, float)[..., None, None] * np.eye(matrix.shape[-1])
    return np.linalg.solve(matrix.to_dense().astype(float) + shift, rhs.astype(float))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*KERNELS, cauchy])
def test_solutions(name, dtype):
    rng = np.random.default_rng()
    parameters = {"width": 1.5} if name is cauchy else KERNELS[name][1]
    for n, k, c, rank in ((1, 1, 1, 15), (2, 3, 2, 0), (61, 2, 3, 15), (97, 4, 1, 5)):
        x, rhs = (rng.standard_normal(shape).astype(dtype) for shape in ((n, k), (n, c)))
        matrix = kernel(x, None, name, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = matrix.solve(rhs, noise=0.1, rank=rank)
        assert result.dtype == dtype and result.shape == rhs.shape
        wanted = solved(matrix, rhs, 0.1)
        # A residual relative to the right side is as large as that over 0.1 in the solution.
        error = np.linalg.norm(result - wanted) / np.linalg.norm(rhs)
        assert error <= (1e-3 if dtype == np.float32 else 1e-8)


def test_solutions_of_batches():
    rng = np.random.default_rng()
    x, scales = rng.standard_normal((3, 1, 31, 2)), rng.uniform(0.5, 2, (2, 1, 1))
    noise = rng.uniform(0.1, 1, (3, 1))
    matrix = kernel(x, None, "matern12", lengthscale=scales)
    for shape in ((31, 3), (2, 31, 1), (4, 1, 1, 31, 2)):
        rhs = rng.standard_normal(shape)
        wanted = solved(matrix, rhs, np.broadcast_to(noise, (3, 2)))
        np.testing.assert_allclose(matrix.solve(rhs, noise=noise), wanted, rtol=1e-7, atol=1e-7)
    vector = rng.standard_normal(31)
    assert matrix.solve(vector, noise=1).shape == (3, 2, 31)


def test_right_sides_of_any_size():
    """Zeros are solved, and squares of right sides may be too large or too small for their type."""
    rng = np.random.default_rng()
    x = rng.standard_normal((23, 2)).astype(np.float32)
    rhs = rng.standard_normal((23, 1)).astype(np.float32) * np.float32([0, 1e-30, 1, 1e30])
    matrix = kernel(x, None, "laplace")
    result = matrix.solve(rhs, noise=1)
    assert np.all(result[:, 0] == 0)
    for column, wanted in zip(result.T, solved(matrix, rhs, 1).T):
        np.testing.assert_allclose(column, wanted, rtol=1e-3, atol=1e-4 * np.max(np.abs(wanted)))
    assert matrix.solve(np.ones((23, 0), np.float32), noise=1).shape == (23, 0)
    assert kernel(x[:0]).solve(np.ones((0, 2), np.float32), noise=1).shape == (0, 2)


def test_what_is_not_finite_stays_in_its_column():
    x, rhs = np.random.default_rng().standard_normal((9, 2)), np.ones((9, 3))
    rhs[4, 1], rhs[2, 2] = np.nan, np.inf
    result = kernel(x).solve(rhs, noise=1)
    np.testing.assert_array_equal(np.isnan(result), [[False, True, True]] * 9)
    x[3, 1] = np.nan
    assert np.all(np.isnan(kernel(x).solve(rhs, noise=1)))


def test_a_preconditioner_takes_fewer_steps():
    rng = np.random.default_rng(1)
    x, rhs = rng.standard_normal((200, 1)), rng.standard_normal((200, 2))
    matrix, noise = kernel(x), np.float64(1e-3)
    steps = [_cg._solve(matrix, rhs, noise, _cg.options(x, None, 1000, rank))[1] for rank in (0, 5, 20)]
    assert steps[0] > steps[1] > steps[2] and steps[2] < 10
    factor = _cg.pivoted_cholesky(matrix, 20)
    np.testing.assert_allclose(factor @ factor.T, matrix.to_dense(), atol=1e-3)


def test_warnings_of_what_is_not_solved():
    x = np.random.default_rng(2).standard_normal((60, 2))
    with pytest.warns(RuntimeWarning, match="a relative residual of .* after 3 steps, which is more than 1e-10"):
        kernel(x, None, "matern12").solve(np.ones(60), noise=0.01, max_iterations=3)
    with pytest.warns(RuntimeWarning, match="a relative residual of 1 after 0 steps"):
        kernel(x, None, lambda x, y: -np.sum(x * y)).solve(np.ones(60))


BAD = {
    "list": (TypeError, "expects v to be a NumPy array or a PyTorch tensor, but got list",
             lambda x: kernel(x) @ [1.0] * 4),
    "type": (TypeError, "expects v to have dtype float64 as a, but got float32",
             lambda x: kernel(x) @ np.ones(4, np.float32)),
    "size": (ValueError, r"expects v to have shape \[4\] or \[..., 4, C\], but got \(3,\)", lambda x: kernel(x) @ x[0]),
    "left": (ValueError, r"expects v to have shape \[4\] or \[..., 4, C\], but got \(3, 4\)", lambda x: x @ kernel(x)),
    "number": (ValueError, r"expects v to have shape .*, but got \(\)", lambda x: kernel(x) @ np.array(1.0)),
    "batch": (ValueError, r"expects the leading axes of v to broadcast with \(2,\), but got \(3,\)",
              lambda x: kernel(np.stack([x] * 2)) @ np.ones((3, 4, 1))),
    "diagonal": (ValueError, r"expects a square matrix, but got shape \(4, 3\)", lambda x: kernel(x, x[:3]).diag()),
    "two arrays": (ValueError, "expects a kernel of rows with themselves", lambda x: kernel(x, x + 0).solve(x)),
    "rhs": (ValueError, r"expects rhs to have shape \[4\] or \[..., 4, C\], but got \(3,\)",
            lambda x: kernel(x).solve(x[0])),
    "16 bits": (TypeError, "expects a kernel of float32 or float64 to solve with, but got float16",
                lambda x: kernel(x.astype(np.float16)).solve(x.astype(np.float16))),
    "noise": (ValueError, "expects noise to be finite and not negative, but got -1",
              lambda x: kernel(x).solve(x, noise=-1)),
    "noise of a batch": (ValueError, r"expects the leading axes of noise to broadcast with \(2,\), but got \(3,\)",
                         lambda x: kernel(np.stack([x] * 2)).solve(x, noise=np.ones(3))),
    "noise of other batches": (ValueError, r"expects the leading axes of noise to broadcast with \(3,\), but got \(2,\)",
                               lambda x: kernel(x).solve(np.ones((3, 4, 1)), noise=np.ones(2))),
    "tolerance": (ValueError, "expects tolerance to be a number from 0 on, but got nan",
                  lambda x: kernel(x).solve(x, tolerance=np.nan)),
    "steps": (ValueError, "expects max_iterations to be an integer from 0 on, but got -1",
              lambda x: kernel(x).solve(x, max_iterations=-1)),
    "rank": (ValueError, "expects rank to be an integer from 0 on, but got 1.5",
             lambda x: kernel(x).solve(x, rank=1.5)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    kind, message, call = BAD[name]
    with pytest.raises(kind, match=message):
        call(np.ones((4, 3)))


@pytest.mark.parametrize("columns", [1, 16])
def test_long_sums_are_sums_of_parts(columns):
    """One after the other, a million terms of 0.1 are off by a hundredth: most roundings are of a large sum."""
    count, value = 10**6, np.float32(0.1)
    a, b = (np.zeros((rows, 1), np.float32) for rows in (16, count))
    total = kernel(a, b).matmul(np.full((count, columns), value))
    bound = (count / 64 + 512) * np.finfo(np.float32).eps / 2
    np.testing.assert_allclose(total, np.full((16, columns), count * float(value)), rtol=bound)
