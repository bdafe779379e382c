# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What is computed before and after the exchange of a product, and where it leads.

With mode k divided, the factors of all other modes can be applied at once. The exchange moves
the division to a mode t, whose factor has to be applied before, and makes k whole, whose factor
follows. Factors of the remaining modes go where the array is smaller: in front of the exchange
unless they make it larger. Square ones behind a divided leading mode may follow with it: where
that saves a pass over the array.
"""

import dataclasses
import functools
import math

from ._chunks import chunk


@dataclasses.dataclass(frozen=True)
class Plan:
    #: Axis that is divided in x, and in the result: 1 to N, or 0 for rows.
    source: int
    target: int
    #: Axes whose factors are applied before the exchange, and after it.
    before: tuple
    after: tuple
    #: Sizes of the whole array that is exchanged.
    sizes: tuple

    def passes(self):
        """Over the array, by the kernels on both sides of the exchange."""
        inner, outer = ([self.sizes[axis] for axis in axes] for axes in (self.before, self.after))
        return _passes(inner, True) + _passes(outer, False)

    def elements(self, ranks):
        """Most elements that one rank receives from others, of all rows."""
        whole = math.prod(self.sizes)
        share = chunk(self.sizes[self.target], ranks, 0)[0] / max(self.sizes[self.target], 1)
        own = chunk(self.sizes[self.source], ranks, 0)[0] / max(self.sizes[self.source], 1)
        return whole * share * (1 - own)


#: Elements of neighbouring axes whose factors kernels apply in one pass over an array: innermost
#: axes, which lie together, and others, of which several columns have to fit beside each other.
#: Longer factors on such axes have a pass each. These are the sizes for f32; all types take them,
#: since only sums of passes are compared.
_MOST_INNER, _MOST_OUTER, _LONG = 1 << 16, 1 << 12, 64


def _passes(sizes, is_inner):
    """Passes over an array for factors on neighbouring axes of these sizes."""
    passes, elements, most = 0, 1, _MOST_INNER if is_inner else _MOST_OUTER
    for size in reversed(sizes):
        if passes and elements * size <= most and (most == _MOST_INNER or size < _LONG):
            elements *= size
            continue
        if passes:
            most = _MOST_OUTER
        passes, elements = passes + 1, size
    return passes


def _count_leading(source, factors, target):
    """Leading factors that follow the exchange: that of mode 1, and more where that saves a pass."""
    sizes = [p for p, _ in factors]
    if source != 1 or any(p != q for p, q in factors):
        return 1
    return min(range(1, target), key=lambda count: _passes(sizes[:count], False)
               + _passes(sizes[count:], True), default=1)


def plan_to(layout, factors, target):
    """The plan with a given target; `factors` has (P, Q) of each factor."""
    before, sizes = [], list(layout.sizes)
    leading = _count_leading(layout.axis, factors, target)
    for axis, (p, q) in enumerate(factors, 1):
        follows = layout.axis == 1 and axis <= leading
        if axis != layout.axis and not follows and (axis == target or q <= p):
            before.append(axis)
            sizes[axis] = q
    after = [axis for axis in range(1, len(factors) + 1) if axis not in before]
    return Plan(layout.axis, target, tuple(before), tuple(after), tuple(sizes))


def best_plan(layout, factors):
    """The best one, by `_best_plan`."""
    find = _best_plan if all(type(n) is int for n in layout.sizes) else _best_plan.__wrapped__
    return find(layout, tuple(factors))


@functools.lru_cache(maxsize=256)
def _best_plan(layout, factors):
    """The plan in which the rank with the most to receive gets the least. Among equal ones modes
    come before rows, since rows are exchanged some at a time, then those with fewer passes over
    the array, and outer modes before inner ones: what goes to one rank then lies in longer
    pieces."""
    modes = [axis for axis in range(1, len(factors) + 1) if axis != layout.axis]
    targets = modes + ([] if layout.row_groups() else [0])
    plans = [plan_to(layout, factors, target) for target in targets]
    if not plans:
        raise ValueError("expects x with a divided mode to have another mode or its rows whole, "
                         "to which an exchange can move the division")
    return min(plans, key=lambda plan: (plan.elements(layout.ranks), not plan.target,
                                        plan.passes()))
