# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""A product on one rank: factors before the exchange, the exchange, and factors after it."""

import math

from . import _overlap, _pieces
from ._exchange import move
from ._local import apply
from ._parts import is_traced, whole_of


def summed_groups(layout):
    """Names of the groups among which x is divided, over which gradients by factors are sums."""
    groups = layout.row_groups()
    return [*groups, layout.group] if layout.axis else groups


def _exchanged(local, matrices, layout, plan, precision):
    """The product of a local part, sharded along plan.target."""
    if not is_traced(local) and _pieces.is_possible(
            layout, plan, len(matrices), local.element_size()):
        return _overlap.product(local, matrices, layout, plan, precision)
    return _overlap.in_steps(local, matrices, layout, plan, precision)


def multiply(local, matrices, layout, plan, precision, keep_placement=False):
    """(the product of a local part, its axis that is sharded)."""
    if plan is None:
        return apply(local, dict(enumerate(matrices, 1)), precision), 0
    y = _exchanged(local, matrices, layout, plan, precision)
    if not keep_placement:
        return y, plan.target
    return move(y, layout, plan.target, layout.axis, plan.sizes[plan.target]), layout.axis


def distributed(local, x, layout, sizes, axis):
    """A local part as a DTensor with sizes [M, ...] whose `axis` is sharded, on x's mesh and
    with as many axes as x has."""
    if x.dim() == 2:
        local = local.reshape(local.shape[0], math.prod(local.shape[1:]))
        sizes = [sizes[0], math.prod(sizes[1:])]
    return whole_of(local, x.device_mesh, layout.placements(axis), sizes)
