# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""One all-to-all that moves the sharding of an array from one axis to another.

`torch.ops.kron.move_sharding` takes the local part of an array whose axis `source` is
divided among the ranks of a group, and returns that of the same array with `target` divided
instead. It is linear, and its adjoint is the move back: derivatives of any order are moves
again. torch.compile sees one operation.
"""

import math

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _resolve_process_group

from ..torch import _ops
from . import _peers
from ._boxes import Move
from ._chunks import chunk, chunks

_library = _ops._library
_library.define("move_sharding(Tensor x, int source, int target, SymInt size, int ranks, "
                "int rank, str group) -> Tensor")


def all_to_all(send, sizes, received_sizes, group):
    """Rank r of the group gets `sizes[r]` elements of the vector `send`, in order. Returns the
    vector of what comes, `received_sizes[r]` from rank r. Elements of any type go as bytes."""
    received = send.new_empty(sum(received_sizes))
    width = send.element_size()
    dist.all_to_all_single(
        received.view(torch.uint8), send.view(torch.uint8), [width * n for n in received_sizes],
        [width * n for n in sizes], group=_resolve_process_group(group))
    return received


def _outside(shape, axis):
    """Whether the axis is the outermost one with more than one position."""
    return math.prod(shape[:axis]) == 1


def _by_peers(x, source, target, counts, sizes, rank, group):
    """The same where ranks write to each other's memory, or None where they do not."""
    if x.device.type != "cuda":
        return None
    first, last = sorted((source, target))
    move = Move(math.prod(x.shape[:first]), math.prod(x.shape[first + 1:last]),
                math.prod(x.shape[last + 1:]), source < target, tuple(sizes), tuple(counts), rank,
                x.element_size())
    peers = _peers.peers_of(group, x.device) if move.fits_boxes else None
    if peers is None or not peers.reserve(move.received_bytes):
        return None
    address = x.data_ptr()
    peers.begin()
    start = peers.mark()
    peers.send(0, {receiver: found for receiver in peers.others if (found := move.box(receiver))},
               address, start)
    kept = None
    if found := move.box(rank):
        kept = peers.keep(found, address, start)
    peers.wait(0, kept)
    shape = list(x.shape)
    shape[source], shape[target] = sum(sizes), counts[rank]
    result = peers.window(shape, x.dtype).clone()
    peers.end()
    return result


def move_sharding(x, source, target, size, ranks, rank, group):
    """The kernel. `size` is that of the whole axis `source`."""
    x = x.resolve_conj().resolve_neg().contiguous()
    counts, sizes = chunks(x.shape[target], ranks), chunks(size, ranks)
    result = _by_peers(x, source, target, counts, sizes, rank, group)
    if result is not None:
        return result
    inside = x.numel() // max(x.shape[target], 1)
    # What goes to one rank lies together already if nothing but `target` is outside of it.
    send = x.reshape(-1)
    if not _outside(x.shape, target):
        send = torch.cat([block.reshape(-1) for block in x.split(counts, target)])
    shape = list(x.shape)
    shape[target] = counts[rank]
    shape[source] = 1
    piece = math.prod(shape)
    received = all_to_all(send, [inside * n for n in counts], [piece * n for n in sizes], group)
    shape[source] = size
    if _outside(shape, source):
        return received.view(shape)
    blocks = received.split([piece * n for n in sizes])
    return torch.cat([block.view(*shape[:source], n, *shape[source + 1:])
                      for block, n in zip(blocks, sizes)], source)


def _fake(x, source, target, size, ranks, rank, group):
    shape = list(x.shape)
    shape[source] = size
    shape[target] = chunk(x.shape[target], ranks, rank)[0]
    return x.new_empty(shape)


def _setup(ctx, inputs, output):
    x, ctx.source, ctx.target, _, ctx.ranks, ctx.rank, ctx.group = inputs
    ctx.size = x.shape[ctx.target]


def _backward(ctx, grad):
    moved = torch.ops.kron.move_sharding(grad, ctx.target, ctx.source, ctx.size, ctx.ranks,
                                         ctx.rank, ctx.group)
    return moved, *[None] * 6


for _key in ("CPU", "CUDA"):
    _library.impl("move_sharding", move_sharding, _key)
torch.library.register_fake("kron::move_sharding", _fake, lib=_library)
torch.library.register_autograd("kron::move_sharding", _backward, setup_context=_setup,
                                lib=_library)


def move(local, layout, source, target, size):
    """The local part of an array whose axis `source`, of this whole size, is divided among
    the layout's ranks, with `target` divided instead."""
    return torch.ops.kron.move_sharding(local, source, target, size, layout.ranks, layout.rank,
                                        layout.group)
