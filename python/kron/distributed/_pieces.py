# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What of a product with its leading mode divided goes where, and in which pieces: all that follows
from sizes alone, worked out once for calls of the same sizes."""

import dataclasses
import functools
import math

from . import _peers
from ._boxes import Move
from ._chunks import chunk

#: Bytes from which on what a rank sends to all others is worth being sent on its own: NCCL was
#: measured to move 137, 220, 274 and 327 GB/s between two H200 with 16, 64, 256 and 1024 MiB per
#: rank, and a host takes some 60 us for the launches of a piece. And pieces at most.
PIECE_BYTES = 64 << 20
MOST_PIECES = 8
#: Parts of a single row: the leading factors need all of them, and inner ones take few positions at
#: a lower rate.
_MOST_PARTS = 4
#: Bytes from which on some columns of the last piece are worth being sent on their own, and parts of
#: it at most: the leading factors begin with columns that have come, while the others travel.
COLUMN_BYTES = 16 << 20
_MOST_COLUMNS = 4
#: Ranks up to which a window of the whole array moves fewer bytes: none for what stays on a rank,
#: which is a part of 1/ranks, read and written.
_MOST_IN_PLACE = 3
#: Bytes of one row's message from which on it is not better packed with those of other rows.
ROW_BYTES = 256 << 10


@dataclasses.dataclass(frozen=True)
class Piece:
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


@dataclasses.dataclass(frozen=True)
class Step:
    """Of an exchange between windows: piece `piece`, of which part `part` of `parts` of each
    receiver's share of the target."""

    piece: int
    part: int
    parts: int

    def share(self, count):
        """(number, first) of the positions of a receiver that gets `count`."""
        return chunk(count, self.parts, self.part)


def _pieces(rows, sent_bytes):
    """Of an exchange in which a rank sends so many bytes."""
    if not rows:
        return []
    count = max(1, min(MOST_PIECES, sent_bytes // PIECE_BYTES))
    if rows > 1:
        step = -(-rows // min(count, rows))
        return [Piece(begin, min(begin + step, rows), 0, 1) for begin in range(0, rows, step)]
    parts = min(count, _MOST_PARTS)
    return [Piece(0, 1, part, parts) for part in range(parts)]


def is_possible(layout, plan, count, width):
    """Whether the leading mode is divided, its factor and perhaps some behind it come after the
    exchange and all others before it, and the largest message of a row, of elements of `width`
    bytes, is worth sending. The same on all ranks."""
    after = len(plan.after)
    if (plan.source != 1 or plan.target <= after or plan.after != tuple(range(1, after + 1))
            or plan.before != tuple(range(after + 1, count + 1))):
        return False
    message = width * math.prod(plan.sizes[2:]) // plan.sizes[plan.target]
    for axis in (1, plan.target):
        message *= chunk(plan.sizes[axis], layout.ranks, 0)[0]
    return message >= ROW_BYTES


class Geometry:
    """Of one rank. Arrays are seen as [rows, leading mode, modes up to the target, the target and
    those behind it]."""

    def __init__(self, layout, plan, factors, rows, width):
        ranks, self.rank = layout.ranks, layout.rank
        sizes, target, count = plan.sizes, plan.target, len(plan.after)
        starts = [chunk(layout.sizes[1], ranks, rank) for rank in range(ranks)]
        shares = [chunk(sizes[target], ranks, rank) for rank in range(ranks)]
        between, inside = math.prod(sizes[2:target]), math.prod(sizes[target + 1:])
        #: Factors that follow the exchange.
        self.count, self.ranks, self.own = count, ranks, starts[self.rank][0]
        self.move = Move(rows, between, inside, True, tuple(size for size, _ in starts),
                         tuple(size for size, _ in shares), self.rank, width)
        # The largest message, which is the same on all ranks, decides.
        most = rows * starts[0][0] * between * shares[0][0] * inside
        self.pieces = _pieces(rows, most * width * (ranks - 1))
        #: Rows of each piece but the last, if pieces are whole rows, else 0.
        self.step = 0 if any(piece.parts > 1 for piece in self.pieces) else max(
            (piece.end - piece.begin for piece in self.pieces), default=0)
        columns = math.prod(p for p, _ in factors[count:])
        self.x_shape = [rows, self.own, math.prod(sizes[2:count + 1]), columns]
        self.line = sizes[target] * inside
        self.between = between
        #: (first column, columns) of a line that a rank gets.
        self.blocks = [(first * inside, size * inside) for size, first in shares]
        #: (first position, positions) of the leading mode that a rank has.
        self.starts = [(first, size) for size, first in starts]
        self.inside = inside
        self.moved_shape = self.move.received_shape(self.rank)
        #: Whether windows have the lines of all ranks, so that the product is written where the
        #: leading factors read it: with few ranks that is less than copying what stays here.
        self.is_in_place = ranks <= _MOST_IN_PLACE and target == count + 1
        self.window_shape = [rows, layout.sizes[1], between, self.line]
        self.window_bytes = (math.prod(self.window_shape) * width if self.is_in_place
                             else self.move.received_bytes)
        p, q = (math.prod(factor[axis] for factor in factors[:count]) for axis in (0, 1))
        self.steps = self._steps(target == count + 1)
        trailing = list(sizes[count + 1:])
        trailing[target - count - 1] = shares[self.rank][0]
        #: The moved array and the result as kmm of the leading factors takes them.
        self.leading_shape = [rows, p, math.prod(trailing)]
        self.result_shape = [rows, q, math.prod(trailing)]
        self.shape = [rows, *(factor[1] for factor in factors[:count]), *trailing]

    def place(self, piece, rank):
        """(rows, positions) of an array of `moved_shape` that a piece of `rank` fills."""
        begin, size = self.starts[rank]
        count, first = piece.positions(size)
        return slice(piece.begin, piece.end), slice(begin + first, begin + first + count)

    def _steps(self, splits_columns):
        """The same on all ranks. Columns of the leading factors lie together, so that they can be
        taken some at a time, where the target is the outermost axis behind them."""
        steps = [Step(number, 0, 1) for number in range(len(self.pieces))]
        if not steps or not splits_columns:
            return steps
        piece, counts = self.pieces[-1], self.move.counts
        line = self.inside * self.move.width
        message = ((piece.end - piece.begin) * piece.positions(self.starts[0][1])[0]
                   * self.between * counts[0] * line)
        parts = min(_MOST_COLUMNS, message * (self.ranks - 1) // COLUMN_BYTES, min(counts),
                    min(counts) * line // _peers.LINE_BYTES)
        if parts > 1:
            steps[-1:] = [Step(steps[-1].piece, part, parts) for part in range(parts)]
        return steps

    def columns(self, step):
        """Those of `leading_shape` that a step makes whole."""
        count, first = step.share(self.move.counts[self.rank])
        if step.parts == 1:
            return slice(None)
        return slice(first * self.inside, (first + count) * self.inside)

    @functools.cached_property
    def boxes(self):
        """For each step: for each rank that gets something, its (box, offset in its window, offset
        in the piece's product, or in this rank's window if products are written there)."""
        find = self._box_in_place if self.is_in_place else self._box
        ranks = [rank for rank in range(self.ranks) if rank != self.rank or not self.is_in_place]
        return [{rank: box for rank in ranks
                 if (box := find(self.pieces[step.piece], rank, step.share(self.move.counts[rank])))}
                for step in self.steps]

    def _box(self, piece, rank, share):
        rows = piece.end - piece.begin, piece.begin
        return self.move.box(rank, rows, piece.positions(self.own), share)

    def _box_in_place(self, piece, rank, share):
        """All windows look alike."""
        rows, positions = self.place(piece, self.rank)
        line, lines = self.line, self.window_shape[1] * self.between
        count, first = (number * self.inside for number in share)
        sizes = piece.end - piece.begin, (positions.stop - positions.start) * self.between, count
        box = _peers.box_of(sizes, (lines * line, line), (lines * line, line), self.move.width)
        offset = (rows.start * lines + positions.start * self.between) * line
        offset += self.blocks[rank][0] + first
        return box and (box, offset * self.move.width, offset * self.move.width)


@functools.lru_cache(maxsize=256)
def geometry(group, layout, plan, factors, rows, width, limits):
    """The Geometry of products on a group; `limits` are those of pieces, by which they differ."""
    return Geometry(layout, plan, factors, rows, width)
