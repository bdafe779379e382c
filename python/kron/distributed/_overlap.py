# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""A product with its leading mode divided, computed while parts of it travel.

The exchange goes in pieces: some rows of M, or part of a row where there are few. While one
piece travels (on NCCL's own stream), the factors of the next one are applied, and the leading
factor to the one before. Nothing is packed or unpacked:

- What rank d gets is a product of its own, in which the factor of the mode that will be divided
  has the columns of d only: its result is the message. That repeats no arithmetic of this
  factor, and reads x once per rank; with many ranks that is more than packing one product
  reads and writes, which is then what is done.
- Of every row, a rank's message is a contiguous block [its part of P1, Q2, ..., its part of Qt,
  ...] of the array [P1, ...] that the other rank makes whole, and arrives in its place there.
"""

import dataclasses
import math

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _resolve_process_group

from .. import torch as kt
from ..torch import _dispatch
from ._chunks import chunk
from ._exchange import move
from ._local import apply

#: Bytes from which on a message between two ranks is worth being sent on its own: NCCL was
#: measured to move 137, 220, 274 and 327 GB/s between two H200 with 16, 64, 256 and 1024 MiB per
#: rank. And pieces at most, each of which has launches of its own.
PIECE_BYTES = 32 << 20
MOST_PIECES = 8
#: Bytes of one row's message from which on it is not better packed with those of other rows.
ROW_BYTES = 256 << 10
#: Ranks up to which a product per rank moves fewer bytes than packing: g reads and a write
#: against two of each.
_MOST_PRODUCTS = 3


@dataclasses.dataclass(frozen=True)
class _Piece:
    """Rows `begin` to `end`, of which part `part` of `parts` of this rank's positions."""

    begin: int
    end: int
    part: int
    parts: int

    def positions(self, count):
        """(number, first) of the positions of a rank that has `count`."""
        return chunk(count, self.parts, self.part)

    @property
    def is_last(self):
        """Whether its rows are whole when it has come."""
        return self.part == self.parts - 1


def _pieces(rows, message_bytes):
    """Of an exchange in which a rank sends so many bytes to another one."""
    if not rows:
        return []
    count = max(1, min(MOST_PIECES, message_bytes // PIECE_BYTES))
    if count <= rows:
        step = -(-rows // count)
        return [_Piece(begin, min(begin + step, rows), 0, 1) for begin in range(0, rows, step)]
    parts = -(-count // rows)
    return [_Piece(row, row + 1, part, parts) for row in range(rows) for part in range(parts)]


def is_possible(layout, plan, count, width):
    """Whether all factors but that of the divided, leading mode come before the exchange, and the
    largest message of a row, of elements of `width` bytes, is worth sending. The same on all
    ranks."""
    if (plan.source != 1 or plan.target < 2 or plan.after != (1,)
            or plan.before != tuple(range(2, count + 1))):
        return False
    message = width * math.prod(plan.sizes[2:]) // plan.sizes[plan.target]
    for axis in (1, plan.target):
        message *= chunk(plan.sizes[axis], layout.ranks, 0)[0]
    return message >= ROW_BYTES


class _Product:
    """One call on one rank. Arrays are seen as [rows, leading mode, all other modes]."""

    def __init__(self, x, matrices, layout, plan, precision):
        ranks, self.rank, self.precision = layout.ranks, layout.rank, precision
        self.leading, self.factors = matrices[0], matrices[1:]
        self.group = _resolve_process_group(layout.group)
        self.x = x.resolve_conj().resolve_neg().reshape(*x.shape[:2], math.prod(x.shape[2:]))
        self.starts = [chunk(layout.sizes[1], ranks, rank) for rank in range(ranks)]
        self.slabs = [chunk(plan.sizes[plan.target], ranks, rank) for rank in range(ranks)]
        self.target = plan.target - 2
        self.trailing = list(plan.sizes[2:])
        self.inside = math.prod(self.trailing) // self.trailing[self.target]
        self.trailing[self.target] = self.slabs[self.rank][0]
        rows, own = self.x.shape[0], self.inside * self.slabs[self.rank][0]
        # This rank's part of the target, with all of the leading mode.
        self.moved = x.new_empty(rows, layout.sizes[1], own)
        self.result = x.new_empty(rows, self.leading.shape[1], own)
        # The largest message, which is the same on all ranks, decides.
        most = rows * self.starts[0][0] * self.slabs[0][0] * self.inside
        self.pieces = _pieces(rows, most * x.element_size())

    def run(self):
        waiting = None
        for piece in self.pieces:
            started = piece, self.send(piece)
            if waiting is not None:
                self.finish(*waiting)
            waiting = started
        if waiting is not None:
            self.finish(*waiting)
        return self.result.view(*self.result.shape[:2], *self.trailing)

    def products(self, piece):
        """What each rank gets of this rank's part: [rows, positions, its part of the rest]."""
        count, begin = piece.positions(self.x.shape[1])
        x = self.x[piece.begin:piece.end, begin:begin + count]
        if not x.numel():
            return [None] * len(self.slabs)
        if len(self.slabs) <= _MOST_PRODUCTS:
            return [self.product(x, first, size) if size else None for size, first in self.slabs]
        y = self.product(x, 0, self.factors[self.target].shape[1])
        behind = math.prod(self.trailing[self.target + 1:])
        y = y.view(*x.shape[:2], -1, self.factors[self.target].shape[1], behind)
        return [y[..., first:first + size, :].contiguous().view(*x.shape[:2], -1)
                if size else None for size, first in self.slabs]

    def product(self, x, first, size):
        """All factors but the leading one, of the target's some columns only."""
        factors = list(self.factors)
        if size != factors[self.target].shape[1]:
            factors[self.target] = factors[self.target][:, first:first + size]
        return kt.mkm(x, factors, precision=self.precision)

    def places(self, piece, rank):
        """Where what a rank sends here belongs: one block for each row."""
        size, begin = self.starts[rank]
        count, first = piece.positions(size)
        if not count or not self.moved.shape[2]:
            return []
        begin += first
        return [self.moved[row, begin:begin + count] for row in range(piece.begin, piece.end)]

    def send(self, piece):
        """Starts the exchange of a piece; returns what has to be waited for and be kept."""
        products = self.products(piece)
        operations = []
        for rank, product in enumerate(products):
            places = self.places(piece, rank)
            if rank == self.rank:
                for place, block in zip(places, () if product is None else product):
                    place.copy_(block)
                continue
            peer = dist.get_global_rank(self.group, rank)
            blocks = () if product is None else product
            operations += [dist.P2POp(dist.isend, _bytes(block), peer, self.group)
                           for block in blocks]
            operations += [dist.P2POp(dist.irecv, _bytes(place), peer, self.group)
                           for place in places]
        return (dist.batch_isend_irecv(operations) if operations else []), products

    def finish(self, piece, sent):
        """Applies the leading factor to the rows that are whole now."""
        for work in sent[0]:
            work.wait()
        if not piece.is_last or not self.moved.numel():
            return
        rows = slice(piece.begin, piece.end)
        kt.kmm(self.moved[rows], [self.leading], trans_factors=True, precision=self.precision,
               out=self.result[rows])


def _bytes(block):
    """What is sent, whatever its type."""
    return block.view(torch.uint8)


def product(x, matrices, layout, plan, precision):
    """The product of the local part x, sharded along plan.target."""
    if torch.is_grad_enabled() and any(array.requires_grad for array in (x, *matrices)):
        return _Recorded.apply(layout, plan, precision, x, *matrices)
    return _Product(x, matrices, layout, plan, precision).run()


class _Recorded(torch.autograd.Function):
    """The same with derivatives: what has come is kept, for the gradient by the leading factor.
    Backward is one exchange in one piece."""

    @staticmethod
    def forward(ctx, layout, plan, precision, x, *matrices):
        run = _Product(x, matrices, layout, plan, precision)
        y = run.run()
        ctx.options = layout, plan, precision
        ctx.save_for_backward(x, run.moved, *matrices)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, moved, *matrices = ctx.saved_tensors
        layout, plan, precision = ctx.options
        needs_x, *needs = ctx.needs_input_grad[3:]
        if torch.is_grad_enabled():
            return None, None, None, *_differentiable(ctx, grad, x, matrices)
        leading, *others = matrices
        by_moved, by_leading = _dispatch.product_grads(
            "kmm", grad.reshape(*grad.shape[:2], moved.shape[2]), moved, [leading],
            [needs_x or any(needs[1:]), needs[0]], 1, "N", "T", precision)
        if by_moved is None:
            return None, None, None, None, by_leading, *[None] * len(others)
        shape = list(grad.shape)
        shape[1] = layout.sizes[1]
        back = move(by_moved.view(shape), layout, plan.target, 1, plan.sizes[plan.target])
        rows = math.prod(x.shape[:2])
        by_x, *by_others = _dispatch.product_grads(
            "mkm", back.reshape(rows, math.prod(plan.sizes[2:])),
            x.reshape(rows, math.prod(x.shape[2:])), others, [needs_x, *needs[1:]], 1, "N", "",
            precision)
        by_x = None if by_x is None else by_x.view(x.shape)
        return None, None, None, by_x, by_leading, *by_others


def _differentiable(ctx, grad, x, matrices):
    """Gradients that can be differentiated again, by the steps that kron has derivatives of."""
    with torch.enable_grad():
        y = in_steps(x, matrices, *ctx.options)
    inputs = [array for array, flag in zip((x, *matrices), ctx.needs_input_grad[3:]) if flag]
    found = iter(torch.autograd.grad(y, inputs, grad, create_graph=True))
    return [next(found) if flag else None for flag in ctx.needs_input_grad[3:]]


def in_steps(x, matrices, layout, plan, precision):
    """The product by one factor after the other and an exchange in one piece."""
    x = apply(x, {axis: matrices[axis - 1] for axis in plan.before}, precision)
    x = move(x, layout, plan.source, plan.target, layout.sizes[plan.source])
    return apply(x, {axis: matrices[axis - 1] for axis in plan.after}, precision)
