"""Functions of distances.

SPDX-License-Identifier: MIT
"""

import functools
import math

import numpy as np

from kron.kernels import _trace

#: What is summed up where there is a keyword that no function of rows gives.
_KEYWORDS = {0: "not_equal", math.inf: "abs_diff reduce(max)"}


@functools.lru_cache(maxsize=256)
def distance_text(p, root):
    """The text of the function of a distance: a sum of powers, or its root."""
    if p in _KEYWORDS:
        return str(_trace.PairFunction(_KEYWORDS[p], "", ""))

    def distance(x, y):
        total = np.sum(abs(x - y) ** p)
        if not root or p == 1:
            return total
        if p in (0.5, 2):
            return total ** (1 / p)
        # Sums are never negative; the absolute value says so to GPUs.
        return abs(total) ** (1 / p)

    return _trace.text_of(distance)
