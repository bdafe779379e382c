"""Preconditioned conjugate gradients for (K + noise I) X = B, on arrays of NumPy or PyTorch.

Columns of B are systems of their own that advance together, by one product with K a step.

SPDX-License-Identifier: MIT
"""

import dataclasses
import numbers
import warnings

import numpy as np

from kron.kernels._arrays import cast, element_of, host_values, namespace

#: Of types whose residuals can be trusted so far.
_TOLERANCES = {"f32": 1e-5, "f64": 1e-10}
#: A pivot below this part of the largest diagonal element is rounding.
_SMALLEST_PIVOT = 1e-6


@dataclasses.dataclass(frozen=True)
class Options:
    """What a solve is told; `tolerance` is of residuals, relative to right sides."""

    tolerance: float
    max_iterations: int
    rank: int


def options(like, tolerance, max_iterations, rank):
    """Checked Options for arrays of the type of `like`."""
    if element_of(like) not in _TOLERANCES:
        raise TypeError(f"expects a kernel of float32 or float64 to solve with, but got {like.dtype}")
    if tolerance is None:
        tolerance = _TOLERANCES[element_of(like)]
    if not isinstance(tolerance, numbers.Real) or not tolerance >= 0:
        raise ValueError(f"expects tolerance to be a number from 0 on, but got {tolerance!r}")
    for name, value in (("max_iterations", max_iterations), ("rank", rank)):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
            raise ValueError(f"expects {name} to be an integer from 0 on, but got {value!r}")
    return Options(float(tolerance), int(max_iterations), int(rank))


def _sums(left, right):
    """Inner products of columns, [..., 1, C]."""
    return (left * right).sum(-2)[..., None, :]


def _row(array, index):
    """Row number `index`, [...], of every matrix of an array, as [..., 1, C]."""
    xp = namespace(array)
    return (xp.take_along_axis if xp is np else xp.take_along_dim)(array, index[..., None, None], -2)


def pivoted_cholesky(matrix, rank):
    """L, [..., N, rank], of which L L^T is close to a positive semi-definite Kernel: Cholesky's first
    steps, each by the row whose diagonal element has most left."""
    xp = namespace(matrix.a)
    left = matrix.diag()
    least = _SMALLEST_PIVOT * xp.amax(left, -1)[..., None, None]
    rows = xp.broadcast_to(matrix.a, (*matrix.shape[:-2], *matrix.a.shape[-2:]))
    found = left[..., None][..., :0]
    for _ in range(rank):
        pivot = left.argmax(-1)
        size = _row(left[..., None], pivot)
        row = matrix.with_operands((_row(rows, pivot), *matrix.operands[1:])).to_dense()
        column = row.swapaxes(-1, -2) - found @ _row(found, pivot).swapaxes(-1, -2)
        column = column / xp.sqrt(xp.where(size > least, size, np.inf))
        found = xp.concatenate((found, column), -1)
        left = (left - column[..., 0] ** 2).clip(0)
    return found


class _Preconditioner:
    """The inverse of L L^T + noise I by Woodbury's identity, whose differences take double precision."""

    def __init__(self, factor, noise):
        xp = namespace(factor)
        self.factor, self.noise = cast(factor, xp.float64), cast(noise, xp.float64)
        self.transposed = self.factor.swapaxes(-1, -2)
        inner = self.transposed @ self.factor
        # The identity, on the device of the factor.
        index = xp.cumsum(xp.ones_like(inner[..., :1, :]), -1)
        self.inverse = xp.linalg.inv(inner + self.noise * (index == index.swapaxes(-1, -2)))

    def __call__(self, residual):
        wide = cast(residual, self.factor.dtype)
        wide = (wide - self.factor @ (self.inverse @ (self.transposed @ wide))) / self.noise
        return cast(wide, residual.dtype)


def _preconditioner(matrix, noise, rank):
    """The inverse of an approximation of K + noise I; of the identity where there is no noise."""
    rank = min(rank, matrix.shape[-1])
    values = host_values(noise)
    has_noise = bool((noise > 0).all()) if values is None else np.all(values > 0)
    if rank == 0 or not has_noise:
        return lambda residual: residual
    return _Preconditioner(pivoted_cholesky(matrix, rank), noise)


def _descend(product, precondition, residual, goal, limit):
    """(what reduces residuals until their squares are at most `goal`, steps)"""
    xp = namespace(residual)
    x = xp.zeros_like(residual)
    direction = preconditioned = precondition(residual)
    rho = _sums(residual, preconditioned)
    for step in range(limit):
        if not (_sums(residual, residual) > goal).any():
            return x, step
        image = product(direction)
        curvature = _sums(direction, image)
        if not (curvature > 0).any():
            return x, step
        length = xp.where(curvature > 0, rho / curvature, 0)
        x = x + length * direction
        residual = residual - length * image
        preconditioned = precondition(residual)
        last, rho = rho, _sums(residual, preconditioned)
        direction = preconditioned + xp.where(last > 0, rho / last, 0) * direction
    return x, limit


def _solve(matrix, rhs, noise, options):
    """(X, steps, relative norms of residuals that should be smaller and could be, others 0)"""
    xp = namespace(rhs)
    noise = noise[..., None, None]
    precondition = _preconditioner(matrix, noise, options.rank)

    def product(x):
        return matrix.matmul(x) + noise * x

    # Squares of columns whose largest element is about 1 neither overflow nor vanish.
    sizes = xp.amax(abs(rhs), -2)[..., None, :] if rhs.shape[-2] else abs(rhs).sum(-2)[..., None, :]
    scales = xp.where((sizes > 0) & (sizes < np.inf), sizes, 1)
    batch = np.broadcast_shapes(tuple(rhs.shape[:-2]), tuple(matrix.shape[:-2]), tuple(noise.shape[:-2]))
    residual = rhs = xp.broadcast_to(rhs / scales, (*batch, *rhs.shape[-2:]))
    x = xp.zeros_like(rhs)
    squares = whole = _sums(rhs, rhs)
    goal = options.tolerance ** 2 * whole
    steps = 0
    while steps < options.max_iterations:
        change, count = _descend(product, precondition, residual, goal, options.max_iterations - steps)
        steps, before = steps + count, squares
        # Residuals that are updated drift from those that are computed, and may grow.
        found = x + change
        residual_found = rhs - product(found)
        squares_found = _sums(residual_found, residual_found)
        grows = squares_found > squares
        x, residual, squares = (xp.where(grows, old, new) for old, new in
                                ((x, found), (residual, residual_found), (squares, squares_found)))
        if count == 0 or not ((squares > goal) & (squares < before / 4)).any():
            break
    residual, whole = xp.sqrt(squares), xp.sqrt(whole)
    missed = residual > options.tolerance * whole
    if missed.any():
        # No product is more exact than by its own roundings.
        sizes = matrix.matmul(abs(x)) + noise * abs(x)
        missed = residual > options.tolerance * whole + xp.finfo(x.dtype).eps * xp.sqrt(_sums(sizes, sizes))
    x = xp.where(xp.isfinite(residual), x * scales, np.nan)
    return x, steps, xp.where(missed, residual / xp.where(whole > 0, whole, 1), 0)


def solve(matrix, rhs, noise, options):
    """X with (K + noise I) X = `rhs` for a Kernel of rows with themselves."""
    with np.errstate(all="ignore"):
        x, steps, missed = _solve(matrix, rhs, noise, options)
    if (missed > 0).any():
        warnings.warn(f"conjugate gradients have a relative residual of {float(missed.max()):.2g} after {steps} steps, "
                      f"which is more than {options.tolerance:g}", RuntimeWarning, stacklevel=4)
    return x
