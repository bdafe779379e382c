# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Which boxes of an array go where, when its sharding moves from one axis to another.

Arrays are seen as [outside, first, between, last]: the two axes in their order, of which the
last one takes in all axes behind it. A rank's part before the move has all of `target` and its
own positions of `source`; what it has after it, the other way round.
"""

import dataclasses
import functools
import math

from . import _peers


@dataclasses.dataclass(frozen=True)
class Move:
    """Of one rank's part of an array."""

    outside: int
    between: int
    #: Elements behind the last of the two axes.
    inside: int
    #: Whether `source` is the first of the two.
    is_inward: bool
    #: Positions of each rank along `source` and `target`.
    sizes: tuple
    counts: tuple
    rank: int
    #: Bytes of an element.
    width: int

    def received_shape(self, rank):
        """Of what a rank has after the move."""
        first, last = sum(self.sizes), self.counts[rank]
        if not self.is_inward:
            first, last = last, first
        return [self.outside, first, self.between, last * self.inside]

    @functools.cached_property
    def received_bytes(self):
        """The most that a rank has after the move."""
        return max(math.prod(self.received_shape(rank)) for rank in range(len(self.sizes))
                   ) * self.width

    @functools.cached_property
    def fits_boxes(self):
        """Whether copy engines move its lines at their full rate. The same on all ranks."""
        line = min(self.counts if self.is_inward else self.sizes) * self.inside * self.width
        pitch = max(sum(self.sizes), sum(self.counts)) * self.inside * self.width
        return line >= _peers.LINE_BYTES and pitch <= _peers.MOST_PITCH

    def box(self, receiver, outside=None, positions=None, share=None):
        """(box, offset in the receiver's array, offset in this rank's part), offsets in bytes, of
        what `receiver` gets of `outside` = (count, first), of this rank's `positions` = (count,
        first) of the source, whose array is that of these outside and positions alone, and of its
        own `share` = (count, first) of the target; None if that is nothing. By default all of
        them."""
        rows, row = outside or (self.outside, 0)
        own, first = positions or (self.sizes[self.rank], 0)
        begin = sum(self.sizes[:self.rank]) + first
        count, part = share or (self.counts[receiver], 0)
        start = sum(self.counts[:receiver]) + part
        all_counts = sum(self.counts)
        _, first_axis, _, last = self.received_shape(receiver)
        if self.is_inward:
            lines, width = own * self.between, count * self.inside
            pitch = all_counts * self.inside
            planes = own * self.between * pitch
            source = start * self.inside
            target = begin * self.between * last + part * self.inside
        else:
            lines, width = count * self.between, own * self.inside
            pitch = own * self.inside
            planes = all_counts * self.between * pitch
            source = start * self.between * pitch
            target = part * self.between * last + begin * self.inside
        plane = first_axis * self.between * last
        box = _peers.box_of((rows, lines, width), (plane, last), (planes, pitch), self.width)
        return box and (box, (row * plane + target) * self.width, source * self.width)
