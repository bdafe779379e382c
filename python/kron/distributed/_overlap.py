# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""A product with its leading mode divided, computed while parts of it travel.

The exchange goes in pieces: some rows of M, or part of a row where there are few. While one
piece travels, the inner factors are applied to the next one, and the leading ones to the piece
before; columns of the last piece come some at a time. Of every row, what a rank sends to another one is a contiguous block [its part of P1, P2,
..., the other's part of Qt, ...] of the array [P1, ...] that the other rank makes whole.

GPUs of one host write it there themselves (_peers.py): boxes go out of the product's result
without being packed. Other ranks send a message for each row, packed.
"""

import math

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _resolve_process_group

from .. import torch as kt
from ..torch import _dispatch
from . import _peers, _pieces
from ._exchange import move
from ._local import apply


class _Product:
    """One call on one rank."""

    def __init__(self, x, matrices, layout, plan, precision):
        shapes = tuple((matrix.shape[0], matrix.shape[1]) for matrix in matrices)
        self.geometry = _pieces.geometry(
            layout.group, layout, plan, shapes, x.shape[0], x.element_size(),
            (_pieces.PIECE_BYTES, _pieces.COLUMN_BYTES, _pieces.MOST_PIECES))
        count = self.geometry.count
        self.after, self.before = matrices[:count], matrices[count:]
        self.layout, self.precision = layout, precision
        self.x = x.resolve_conj().resolve_neg().reshape(self.geometry.x_shape)

    def product(self, x, out=None):
        """The inner factors on a part of x."""
        return kt.mkm(x, self.before, precision=self.precision, out=out)

    def parts(self):
        """The part of x for each piece."""
        if self.geometry.step:
            return self.x.split(self.geometry.step)
        parts = []
        for piece in self.geometry.pieces:
            count, begin = piece.positions(self.geometry.own)
            parts.append(self.x[piece.begin:piece.end, begin:begin + count])
        return parts

    def finishes(self, moved, result):
        """For each piece the rows of both arrays that are whole with it, or None."""
        if not moved.numel() or not result.numel():
            return [None] * len(self.geometry.pieces)
        if self.geometry.step:
            step = self.geometry.step
            return list(zip(moved.split(step), result.split(step)))
        return [(moved[piece.begin:piece.end], result[piece.begin:piece.end])
                if piece.is_last else None for piece in self.geometry.pieces]

    def finish(self, arrays, columns=slice(None)):
        """Applies the leading factors to rows that are whole, or to such columns of them."""
        if arrays is not None:
            moved, result = (array[:, :, columns] for array in arrays)
            kt.kmm(moved, self.after, trans_factors=True, precision=self.precision, out=result)

    def run(self, keeps=False):
        """(the product, what was exchanged or, unless `keeps`, None)."""
        peers = self.find_peers()
        result = self.x.new_empty(self.geometry.result_shape)
        moved = (self.by_messages(result) if peers is None
                 else self.by_peers(peers, result, keeps))
        return result.view(self.geometry.shape), moved if keeps else None

    #===------------------------------------------------------------------------===#
    # Messages
    #===------------------------------------------------------------------------===#

    def by_messages(self, result):
        moved, waiting = self.x.new_empty(self.geometry.moved_shape), None
        finishes = self.finishes(moved.view(self.geometry.leading_shape), result)
        for number, x in enumerate(self.parts()):
            started = number, self.send(moved, self.geometry.pieces[number], self.product(x))
            if waiting is not None:
                self.receive(*waiting, finishes)
            waiting = started
        if waiting is not None:
            self.receive(*waiting, finishes)
        return moved

    def send(self, moved, piece, product):
        """Starts the exchange of a piece; returns what has to be waited for and be kept."""
        geometry, blocks, operations = self.geometry, [], []
        group = _resolve_process_group(self.layout.group)
        product = product.view(piece.end - piece.begin, piece.positions(geometry.own)[0],
                               geometry.between, geometry.line)
        for rank, (first, size) in enumerate(geometry.blocks):
            place = moved[geometry.place(piece, rank)]
            block = product.narrow(3, first, size)
            if rank == geometry.rank:
                place.copy_(block)
                continue
            peer = dist.get_global_rank(group, rank)
            block = block.contiguous()
            blocks.append(block)
            if block.numel():
                operations += [dist.P2POp(dist.isend, _bytes(row), peer, group)
                               for row in block]
            if place.numel():
                operations += [dist.P2POp(dist.irecv, _bytes(row), peer, group)
                               for row in place]
        return (dist.batch_isend_irecv(operations) if operations else []), blocks

    def receive(self, number, sent, finishes):
        for work in sent[0]:
            work.wait()
        self.finish(finishes[number])

    #===------------------------------------------------------------------------===#
    # Windows
    #===------------------------------------------------------------------------===#

    def find_peers(self):
        """Whom to write to; None where messages are sent."""
        move, device = self.geometry.move, self.x.device
        if (device.type != "cuda" or not move.fits_boxes
                or len(self.geometry.steps) > _peers.MOST_STEPS):
            return None
        peers = _peers.peers_of(self.layout.group, device)
        return peers if peers is not None and peers.reserve(
            self.geometry.window_bytes) else None

    def by_peers(self, peers, result, keeps):
        """Work is given to streams in the order in which they take it up, with little in between:
        the host has to stay ahead of the GPU."""
        peers.begin()
        geometry, boxes = self.geometry, self.geometry.boxes
        if geometry.is_in_place:
            window = peers.window(geometry.window_shape, self.x.dtype)
            parts = [window[geometry.place(piece, peers.rank)] for piece in geometry.pieces]
            first, columns = geometry.blocks[peers.rank]
            rows, leading, _ = geometry.leading_shape
            moved = window.view(rows, leading, geometry.line).narrow(2, first, columns)
        else:
            parts = [None] * len(geometry.pieces)
            moved = peers.window(geometry.leading_shape, self.x.dtype)
        # The copies that read them are waited for in `end`.
        products = [(self.product(x, part), peers.mark()) for x, part in zip(self.parts(), parts)]
        address = window.data_ptr() if geometry.is_in_place else None
        for number, step in enumerate(geometry.steps):
            product, done = products[step.piece]
            peers.send(number, boxes[number], address or product.data_ptr(), done,
                       tells=geometry.pieces[step.piece].is_last)
        kept, finishes = None, self.finishes(moved, result)
        for number, step in enumerate(geometry.steps):
            product, done = products[step.piece]
            if peers.rank in boxes[number]:
                kept = peers.keep(boxes[number][peers.rank], product.data_ptr(), done)
            if geometry.pieces[step.piece].is_last:
                peers.wait(number, kept)
                self.finish(finishes[step.piece], geometry.columns(step))
        saved = moved.clone(memory_format=torch.contiguous_format) if keeps else None
        peers.end()
        return saved


def _bytes(block):
    """What is sent, whatever its type."""
    return block.view(torch.uint8)


def product(x, matrices, layout, plan, precision):
    """The product of the local part x, sharded along plan.target."""
    if torch.is_grad_enabled() and any(array.requires_grad for array in (x, *matrices)):
        return _Recorded.apply(layout, plan, precision, x, *matrices)
    return _Product(x, matrices, layout, plan, precision).run()[0]


class _Recorded(torch.autograd.Function):
    """The same with derivatives: what has come is kept, for the gradient by the leading factor.
    Backward is one exchange in one piece."""

    @staticmethod
    def forward(ctx, layout, plan, precision, x, *matrices):
        y, moved = _Product(x, matrices, layout, plan, precision).run(keeps=True)
        ctx.options = layout, plan, precision
        ctx.save_for_backward(x, moved, *matrices)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, moved, *matrices = ctx.saved_tensors
        layout, plan, precision = ctx.options
        needs_x, *needs = ctx.needs_input_grad[3:]
        if torch.is_grad_enabled():
            return None, None, None, *_differentiable(ctx, grad, x, matrices)
        count, rows = len(plan.after), x.shape[0]
        after, before = matrices[:count], matrices[count:]
        p, q = (math.prod(matrix.shape[axis] for matrix in after) for axis in (0, 1))
        columns = math.prod(grad.shape[count + 1:])
        by_moved, *by_after = _dispatch.product_grads(
            "kmm", grad.reshape(rows, q, columns), moved.reshape(rows, p, columns), after,
            [needs_x or any(needs[count:]), *needs[:count]], 1, "N", "T" * count, precision)
        if by_moved is None:
            return None, None, None, None, *by_after, *[None] * len(before)
        shape = [rows, *plan.sizes[1:count + 1], *grad.shape[count + 1:]]
        back = move(by_moved.view(shape), layout, plan.target, 1, plan.sizes[plan.target])
        p, q = (math.prod(matrix.shape[axis] for matrix in before) for axis in (0, 1))
        lines = math.prod(x.shape[:count + 1])
        by_x, *by_before = _dispatch.product_grads(
            "mkm", back.reshape(lines, q), x.reshape(lines, p), before, [needs_x, *needs[count:]],
            1, "N", "", precision)
        by_x = None if by_x is None else by_x.view(x.shape)
        return None, None, None, by_x, *by_after, *by_before


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
