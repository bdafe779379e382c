"""Distances of all pairs of rows.

SPDX-License-Identifier: MIT
"""

import math
import numbers

import numpy as np

from kron.kernels import _operations
from kron.kernels._arrays import accumulator_of, check_points, check_size


def _check_p(p, dtype):
    if isinstance(p, bool) or not isinstance(p, numbers.Real):
        raise TypeError(f"expects p to be a number, but got {type(p).__name__}")
    p = float(p)
    limits = np.finfo(dtype)
    if not p >= 0:
        raise ValueError(f"expects p to be a number from 0 on, or infinity, but got {p}")
    if 0 < p < math.inf and not 1 / float(limits.max) < p < float(limits.max):
        raise ValueError(f"expects p to be a number whose inverse {dtype} has, but got {p}")
    return p


def cdist(a, b, p=2, *, root=True):
    """Distances of all rows of a, [..., M, K], and b, [..., N, K], as [..., M, N]:

        sum(abs(a[m] - b[n]) ** p) ** (1 / p)

    Leading axes broadcast. `p` is a number from 0 on; for 0 it is the number of elements that
    differ, for infinity the largest difference. Without `root` the sum is the result. Differences are
    computed as such, so that equal rows have a distance of exactly 0. Arrays of NumPy give arrays,
    tensors give tensors with derivatives."""
    shape = check_points(a, b)
    p = _check_p(p, accumulator_of(a))
    check_size(shape, a)
    return _operations.pairwise(_operations.distance_text(a, p, bool(root)), (a, b))
