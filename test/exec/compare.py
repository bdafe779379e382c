"""The error bounds of the suite, in one place.

Integers are exact. Otherwise, with `y` the reference in the next wider type:
- element-wise, |result - y| is at most the a-priori bound `gamma_n * sum |terms|`
  of the plain formula (builder.Case._bound), and
- in L2, the error is at most 16 eps times the norm: that of `y`, or if it is
  larger the norm that terms of random signs would give, so that a result of a
  few elements that cancel does not count.
Where `y` is NaN or infinite the result is too, in the same way.

SPDX-License-Identifier: MIT
"""

import numpy as np

from dtypes import to_wide

L2_FACTOR = 16


def _at(condition):
    where = tuple(int(i[0]) for i in np.nonzero(condition))
    return where, f"{np.count_nonzero(condition)} of {condition.size} elements, first at {list(where)}"


def check_arrays(case, buffers, values):
    """What is wrong after a launch with the arrays of `buffers`, by the names of the
    arguments, or None."""
    for arg in case.args:
        if arg.name not in buffers:
            continue
        damage = buffers[arg.name].damage(writable=arg.role in ("out", "inout"))
        if damage:
            return f"argument {arg.name}: {damage}"
    return check(case, buffers[case.result].view.copy(), case.expected_of(values))


def check(case, stored, expected):
    """What is wrong with the result, or None."""
    y, bound, energy = expected
    element = case.arg(case.result).element
    result = to_wide(element, stored)
    if y.shape != result.shape:
        return f"reference has shape {y.shape}, result {result.shape}"
    if element.is_integer:
        wrong = y.astype(element.storage) != stored
        if not wrong.any():
            return None
        where, text = _at(wrong)
        return f"{text}: got {stored[where]}, expected {y.astype(element.storage)[where]}"
    finite = np.isfinite(y)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(finite, np.abs(result - y), 0)
        # An infinity that relu has cut off leaves no bound.
        rounding = L2_FACTOR * element.epsilon * np.maximum(np.abs(y), 1)
        bound = np.where(np.isfinite(bound), bound, rounding)
        wrong = ~(error <= np.where(finite, bound, 0)) & finite
    if element.is_complex:
        wrong |= ~finite & np.isfinite(result)
    else:
        wrong |= ~finite & ~((result == y) | (np.isnan(result) & np.isnan(y)))
    if wrong.any():
        where, text = _at(wrong)
        return (f"{text}: got {result[where]}, expected {y[where]}, "
                f"error {error[where]:.3g}, bound {bound[where]:.3g}")
    if finite.all() and y.size:
        norm = max(np.linalg.norm(np.abs(y).ravel()), np.linalg.norm(energy.ravel()))
        total = np.linalg.norm(error.ravel())
        limit = L2_FACTOR * element.epsilon * norm + element.tiny * np.sqrt(y.size)
        if np.isfinite(limit) and not total <= limit:
            return f"L2 error {total:.3g} above {limit:.3g}"
    return None
