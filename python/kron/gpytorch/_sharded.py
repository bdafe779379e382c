# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Right sides on several ranks: DTensors of shape [P1...PN, columns].

kron.distributed has right sides as rows [columns, P1, ..., PN]. A DTensor with sharded rows is one
there whose first mode is sharded.
"""

import math

from torch.distributed.tensor import Replicate, Shard

from .. import distributed as kd
from ..distributed._chunks import chunks
from ..distributed._parts import part_of, whole_of


def _swapped(placements):
    """With the first two axes exchanged."""
    return [Shard(1 - placement.dim) if placement.is_shard() else placement
            for placement in placements]


def _to_rows(array, sizes):
    """[K, columns] as [columns, P1, ..., PN]."""
    if array.dim() != 2 or array.shape[0] != math.prod(sizes):
        raise ValueError(f"expects a DTensor of shape [{math.prod(sizes)}, columns], but got shape "
                         f"{tuple(array.shape)}")
    mesh, behind = array.device_mesh, math.prod(sizes[1:])
    for dim, placement in enumerate(array.placements):
        ranks = mesh.size(dim)
        if type(placement) not in (Replicate, Shard):
            raise ValueError(f"expects the DTensor to be sharded or replicated on each dimension of "
                             f"its mesh, but got {placement} on dimension {dim}")
        if isinstance(placement, Shard) and placement.dim == 0 and chunks(
                array.shape[0], ranks) != [behind * count for count in chunks(sizes[0], ranks)]:
            raise ValueError(f"expects the rows of the DTensor to be divided among {ranks} ranks "
                             f"between rows of the first factor, whose {sizes[0]} rows are not")
    part = part_of(array)
    first = part.shape[0] // behind
    return whole_of(part.mT.reshape(part.shape[1], first, *sizes[1:]), mesh,
                    _swapped(array.placements), (array.shape[1], *sizes))


def _to_columns(rows):
    """The inverse."""
    part = part_of(rows)
    flat = part.reshape(part.shape[0], math.prod(part.shape[1:]))
    shape = math.prod(rows.shape[1:]), rows.shape[0]
    return whole_of(flat.mT, rows.device_mesh, _swapped(rows.placements), shape)


def product(array, factors, trans):
    """(factors[0] kron ... kron factors[-1]) @ array, or with all of them transposed."""
    sizes = [factor.shape[-2 if trans else -1] for factor in factors]
    rows = _to_rows(array, sizes)
    return _to_columns(kd.mkm(rows, factors, trans_factors=not trans, keep_placement=True))


def solve(factors, sigma, right):
    """(K + s I)^-1 right."""
    rows = _to_rows(right, [factor.shape[-1] for factor in factors])
    return _to_columns(kd.solve(rows, factors, sigma.reshape(())))


def inv_quad_logdet(factors, sigma, right):
    """(the sum of the quadratic forms of the columns, log det(K + s I))."""
    rows = _to_rows(right, [factor.shape[-1] for factor in factors])
    return kd.inv_quad_logdet(rows, factors, sigma.reshape(()))
