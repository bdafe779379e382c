"""Is a result right? Some of its rows against the same computed in a wider type.

On a GPU with PyTorch the reference is computed there, since large rows take NumPy
seconds. f64 is judged in long double where that takes NumPy less than a second, else
in f64 itself.

SPDX-License-Identifier: MIT
"""

import numpy as np

from bench_cases import relative_error, to_wide

ROWS = 6
# Above so many multiply-adds the reference of f64 computes in f64 itself.
LONG_DOUBLE_LIMIT = 20_000_000


class Check:
    """The rows of one case that are looked at, and what they must be. Made before any
    launch, from the arrays as they are then."""

    def __init__(self, case, place, arrays, rng):
        self.case, self.place = case, place
        self.rows = case.sample_rows(rng, ROWS)
        self.wide, self.torch = None, getattr(place, "torch", None)
        work = case.flops / 2 / max(case.rows, 1) * len(self.rows)
        if case.type in ("f64", "c64") and work < LONG_DOUBLE_LIMIT:
            self.wide = np.longdouble if case.type == "f64" else np.clongdouble
        if self.wide or case.type[0] == "i":
            self.torch = None
        x = self.part(arrays[0], 0, self.rows, case.batch_axis(0))
        factors = [self.part(f, k + 1, np.arange(case.shapes[k + 1][0]), 0)
                   for k, f in enumerate(arrays[1:-1])]
        self.expected = case.expected(x, factors, self.torch or np)
        if case.beta:
            z = self.part(arrays[-1], -1, case.result_rows(self.rows), case.batch_axis(1))
            self.expected = self.expected + case.beta * z.reshape(self.expected.shape)

    def part(self, array, which, rows, axis):
        """Rows of an array in the type of the reference; the first axis is the row."""
        shape, name = self.case.shapes[which], self.case.types[which]
        if self.torch:
            return self.place.take_wide(array, name, shape, rows, axis)
        return to_wide(name, self.place.take(array, name, shape, rows, axis), self.wide)

    def error(self, y):
        """Relative, in L2, over all rows looked at."""
        got = self.part(y, -1, self.case.result_rows(self.rows), self.case.batch_axis(1))
        got = got.reshape(self.expected.shape)
        if not self.torch:
            return relative_error(got, self.expected)
        norm = float(self.torch.linalg.vector_norm(self.expected))
        error = float(self.torch.linalg.vector_norm(got - self.expected))
        return error / norm if norm else error
