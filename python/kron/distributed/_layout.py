# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Which axis of an array [M, P1, ..., PN] is divided, among which ranks."""

import dataclasses
import functools
import math

from torch.distributed.tensor import Replicate, Shard

from ._chunks import chunk, chunks


@dataclasses.dataclass(frozen=True)
class Layout:
    """Of a DTensor that `mkm` takes, seen as [M, P1, ..., PN]."""

    mesh: object
    #: The mesh's dimension of whose ranks each has a part of the axis `axis`, or None.
    mesh_dim: int | None
    #: 1 to N, or 0 if no mode is divided.
    axis: int
    #: Placements of the other dimensions of the mesh; None in place of `mesh_dim`.
    others: tuple
    #: Whole sizes.
    sizes: tuple
    #: Names of the groups of the mesh's dimensions.
    groups: tuple

    @functools.cached_property
    def ranks(self):
        return self.mesh.size(self.mesh_dim)

    @functools.cached_property
    def rank(self):
        return self.mesh.get_local_rank(self.mesh_dim)

    @property
    def group(self):
        return self.groups[self.mesh_dim]

    def row_groups(self):
        """Names of the groups among which rows are divided."""
        return [group for group, placement in zip(self.groups, self.others)
                if isinstance(placement, Shard)]

    def local_sizes(self):
        """Sizes of this rank's part."""
        return list(self._local_sizes)

    @functools.cached_property
    def _local_sizes(self):
        sizes = list(self.sizes)
        for dim, placement in enumerate(self.others):
            if isinstance(placement, Shard):
                sizes[0] = chunk(sizes[0], self.mesh.size(dim), self.mesh.get_local_rank(dim))[0]
        if self.axis:
            sizes[self.axis] = chunk(sizes[self.axis], self.ranks, self.rank)[0]
        return sizes

    def placements(self, axis):
        """Where `axis` is divided instead."""
        return tuple(Shard(axis) if placement is None else placement
                     for placement in self.others)


def mesh_dimension(mesh, mesh_dim):
    """The number of a mesh's dimension that is given as a number or by its name."""
    if isinstance(mesh_dim, str):
        names = mesh.mesh_dim_names or ()
        if mesh_dim not in names:
            raise ValueError(f"expects mesh_dim to be one of the mesh's {tuple(names)}, but got "
                             f"{mesh_dim!r}")
        return names.index(mesh_dim)
    if isinstance(mesh_dim, bool) or not isinstance(mesh_dim, int):
        raise TypeError(f"expects mesh_dim to be a number or a name, but got "
                        f"{type(mesh_dim).__name__}")
    if not -mesh.ndim <= mesh_dim < mesh.ndim:
        raise ValueError(f"expects mesh_dim to be one of the mesh's {mesh.ndim} dimensions, but "
                         f"got {mesh_dim}")
    return mesh_dim % mesh.ndim


def layout_of(x, sizes, mesh_dim):
    """The layout of x, whose factors contract `sizes`. Raises ValueError where its shape or
    placements are no such."""
    if mesh_dim is not None:
        mesh_dim = mesh_dimension(x.device_mesh, mesh_dim)
    mesh = x.device_mesh
    # Meshes of the same ranks are equal, but their groups may be new ones.
    groups = tuple(mesh.get_group(dim).group_name for dim in range(mesh.ndim))
    # Sizes that are not known yet cannot be looked up.
    find = _layout if all(type(n) is int for n in x.shape) else _layout.__wrapped__
    return find(mesh, groups, tuple(x.placements), tuple(x.shape), tuple(sizes), mesh_dim)


@functools.lru_cache(maxsize=256)
def _layout(mesh, groups, placements, shape, sizes, mesh_dim):
    count, rank = len(sizes), len(shape)
    if rank not in (2, count + 1):
        axes = ", ".join(["M", *(f"P{k + 1}" for k in range(count))])
        raise ValueError(f"expects x to have the axes [{axes}] of {count} factors, or [M, K], but "
                         f"got shape {tuple(shape)}")
    sharded = []
    for dim, placement in enumerate(placements):
        if type(placement) not in (Replicate, Shard):
            raise ValueError(f"expects x to be sharded or replicated on each dimension of its "
                             f"mesh, but got {placement} on dimension {dim}")
        if isinstance(placement, Shard) and placement.dim % rank > 0:
            sharded.append(dim)
    if len(sharded) > 1 or (mesh_dim is not None and sharded not in ([], [mesh_dim])):
        where = "one dimension" if mesh_dim is None else f"dimension {mesh_dim}"
        raise ValueError(f"expects modes of x to be sharded on {where} of its mesh at most, but "
                         f"got placements {placements}")
    axis = placements[sharded[0]].dim % rank if sharded else 0
    whole = (shape[0], *sizes)
    if rank == count + 1 and tuple(shape) != whole:
        raise ValueError(f"expects x to have the sizes {tuple(sizes)} that the factors contract "
                         f"behind its first axis, but got shape {tuple(shape)}")
    others = tuple(Shard(0) if isinstance(placement, Shard) else Replicate()
                   for placement in placements)
    if not sharded:
        return Layout(mesh, None, 0, others, whole, groups)
    dim = sharded[0]
    others = (*others[:dim], None, *others[dim + 1:])
    layout = Layout(mesh, dim, axis, others, whole, groups)
    behind = math.prod(sizes[1:])
    if rank == 2 and chunks(shape[1], layout.ranks) != [
            behind * own for own in chunks(sizes[0], layout.ranks)]:
        raise ValueError(f"expects the columns of x to be divided among {layout.ranks} ranks "
                         f"between rows of the first factor, whose {sizes[0]} rows are not; a "
                         f"tensor of shape {whole} can be divided along any mode")
    return layout
