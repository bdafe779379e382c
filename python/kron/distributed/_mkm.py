# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kronecker products of an array that is divided among ranks, by one exchange."""

import torch
from torch.distributed.tensor import DTensor

from ._arguments import agreed, checked
from ._parts import is_traced, part_of, plain_part
from ._product import distributed, multiply, summed_groups
from ._sums import on_all_ranks


@torch.compiler.allow_in_graph
def mkm(x, factors, *, mesh_dim=None, to=None, keep_placement=False, trans_factors=False,
        precision="full"):
    """x (op(factors[0]) kron ... kron op(factors[-1])) for a DTensor x.

    Rows need no communication. Where a mode is sharded, the factors of the other modes are
    applied to the local part, one all-to-all moves the sharding to another mode, and the
    remaining factors are applied. In f32, with square factors and sizes that the number g of
    ranks divides, all ranks together send 4 K M (g-1)/g bytes per exchange.

    Args:
        x: a DTensor of shape [M, P1, ..., PN] for N factors, with any of its axes sharded, or of
            shape [M, K] with K = P1...PN, with rows sharded, or with columns sharded such that
            the first mode is. One dimension of its mesh at most may shard a mode; the others
            may shard rows or replicate. Sizes need not be divisible: ranks have as many
            positions as with torch.chunk, the last ones perhaps none.
        factors: N matrices [Pk, Qk] of x's type. Tensors are expected to be the same on all ranks
            (which is not checked); DTensors are on x's mesh, and gathered unless replicated.
        mesh_dim: number or name of the mesh's dimension that shards a mode; by default the one
            that does.
        to: axis of the result that is sharded instead of x's mode: 1 to N, or 0 for rows, if
            no other dimension of the mesh shards these. By default the one to which the fewest
            bytes travel; outer modes come first.
        keep_placement: whether the result has x's placements. By default it has the
            placements that one exchange leads to, which a product by the same factors transposed
            can take back (`to`); a mode keeps its sharding at the price of a second exchange.
        trans_factors: False, True, "N", "T" or "C" for all factors, or a list with one of these
            for each.
        precision: as in kron.mkm.

    Returns:
        A DTensor of shape [M, Q1, ..., QN] ([M, Q1...QN] for x of shape [M, K]) on x's mesh,
        whose placements say where it is sharded. It can be differentiated any number of times;
        gradients by x have x's placements, gradients by factors are summed over ranks by one
        all-reduce, so that every rank has all of them.

    Raises:
        TypeError, ValueError: for arguments that do not go together. All ranks compare what their
            arguments look like before the first exchange (ranks with GPUs when it is new,
            compiled code never); where one of them is wrong or differs, all raise, and the
            message names the rank and the argument.
        RuntimeError: from torch.distributed, when a rank has failed, within the timeout of the
            process group.
    """
    if not isinstance(x, DTensor):
        raise TypeError(f"expects x to be a DTensor, but got {type(x).__name__}")
    if is_traced(plain_part(x)):
        call = checked(x, factors, mesh_dim, to, keep_placement, trans_factors)
    else:
        call = agreed(x, factors, mesh_dim, to, keep_placement, trans_factors, precision)
    layout, matrices, plan = call
    matrices = on_all_ranks(matrices, summed_groups(layout))
    local = part_of(x).reshape(layout.local_sizes())
    y, axis = multiply(local, matrices, layout, plan, precision, keep_placement)
    sizes = [layout.sizes[0], *(matrix.shape[1] for matrix in matrices)]
    return distributed(y, x, layout, sizes, axis)
