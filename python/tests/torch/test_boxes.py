# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Boxes that copy engines move between GPUs, here moved by NumPy: every rank has what the other
sharding gives it."""

import math
import types

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from kron.distributed import _pieces
from kron.distributed._boxes import Move
from kron.distributed._chunks import chunks
from kron.distributed._plan import plan_to


def copy(box, target, source, target_offset, source_offset):
    """Does a CUDA_MEMCPY3D within arrays of bytes."""
    for plane in range(box.Planes):
        for line in range(box.Lines):
            to = target_offset + (plane * box.dstHeight + line) * box.dstPitch
            start = source_offset + (plane * box.srcHeight + line) * box.srcPitch
            assert to + box.LineBytes <= target.nbytes
            assert start + box.LineBytes <= source.nbytes
            target[to:to + box.LineBytes] = source[start:start + box.LineBytes]


def split(array, counts, axis):
    return np.split(array, np.cumsum(counts)[:-1], axis)


sizes = strategies.integers(1, 6)


@settings(deadline=None, max_examples=200)
@given(outside=sizes, first=sizes, between=sizes, last=sizes, inside=sizes,
       is_inward=strategies.booleans(), ranks=strategies.integers(1, 4), parts=sizes,
       dtype=strategies.sampled_from((np.float16, np.float32, np.complex128)))
def test_boxes(outside, first, between, last, inside, is_inward, ranks, parts, dtype):
    """All at once, or for some planes and positions at a time."""
    whole = np.arange(outside * first * between * last * inside).astype(dtype)
    whole = whole.reshape(outside, first, between, last, inside)
    source, target = (1, 3) if is_inward else (3, 1)
    own, counts = chunks(whole.shape[source], ranks), chunks(whole.shape[target], ranks)
    before, after = split(whole, own, source), split(whole, counts, target)
    moves = [Move(outside, between, inside, is_inward, tuple(own), tuple(counts), rank,
                  whole.itemsize) for rank in range(ranks)]
    windows = [np.full(part.nbytes, 0xEE, np.uint8) for part in after]
    for rank, move in enumerate(moves):
        assert math.prod(move.received_shape(rank)) == after[rank].size
        for row in range(0, outside, parts) if is_inward else (0,):
            rows = min(parts, outside - row) if is_inward else outside
            for begin in range(0, own[rank], parts) if is_inward else (0,):
                count = min(parts, own[rank] - begin) if is_inward else own[rank]
                piece = np.take(before[rank][row:row + rows], range(begin, begin + count), source)
                data = np.ascontiguousarray(piece).view(np.uint8).reshape(-1)
                for receiver in range(ranks):
                    if found := move.box(receiver, (rows, row), (count, begin)):
                        box, there, here = found
                        copy(box, windows[receiver], data, there, here)
    for window, part in zip(windows, after):
        np.testing.assert_array_equal(window.view(dtype), part.reshape(-1))


@pytest.mark.parametrize("sizes, counts, inside, is_inward, expected", [
    ((2, 2), (2, 2), 64, True, True),      # lines of 512 bytes
    ((2, 2), (2, 2), 63, True, False),
    ((4, 0), (4, 4), 64, True, True),      # a rank with nothing to send
    ((4, 4), (4, 0), 64, True, False),     # or to get
    ((4, 0), (4, 4), 64, False, False),
    ((1, 1), (2, 2), 1 << 28, True, False),  # farther apart than the driver takes
])
def test_fits_boxes(sizes, counts, inside, is_inward, expected):
    assert Move(3, 5, inside, is_inward, sizes, counts, 0, 4).fits_boxes is expected


@settings(deadline=None, max_examples=100)
@given(rows=sizes, p=strategies.lists(sizes, min_size=2, max_size=4), ranks=strategies.integers(2, 5),
       target=strategies.integers(2, 4), piece_bytes=strategies.sampled_from((1, 64, 1 << 20)))
def test_pieces(rows, p, ranks, target, piece_bytes):
    """Every rank's window gets from all pieces of all ranks what its leading factors read."""
    target = min(target, len(p))
    layouts = [types.SimpleNamespace(ranks=ranks, rank=rank, sizes=(rows, *p), axis=1)
               for rank in range(ranks)]
    whole = np.arange(rows * math.prod(p), dtype=np.float32).reshape(rows, *p)
    plan = plan_to(layouts[0], [(n, n) for n in p], target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pieces, "PIECE_BYTES", piece_bytes)
        geometries = [_pieces.Geometry(layout, plan, [(n, n) for n in p], rows, 4)
                      for layout in layouts]
    shapes = [g.window_shape if g.is_in_place else g.moved_shape for g in geometries]
    windows = [np.full(math.prod(shape), -1, np.float32) for shape in shapes]
    parts = split(whole, chunks(p[0], ranks), 1)
    for rank, geometry in enumerate(geometries):
        own = parts[rank].reshape(rows, geometry.own, geometry.between, geometry.line)
        for piece, boxes in zip(geometry.pieces, geometry.boxes):
            count, begin = piece.positions(geometry.own)
            product = np.ascontiguousarray(own[piece.begin:piece.end, begin:begin + count])
            source = product.reshape(-1)
            if geometry.is_in_place:
                windows[rank].reshape(shapes[rank])[geometry.place(piece, rank)] = product
                source = windows[rank]
            for receiver, (box, there, here) in boxes.items():
                copy(box, windows[receiver].view(np.uint8), source.view(np.uint8), there, here)
    for rank, geometry in enumerate(geometries):
        leading = windows[rank].reshape(*geometry.leading_shape[:2], -1)
        if geometry.is_in_place:
            first, columns = geometry.blocks[rank]
            leading = leading[:, :, first:first + columns]
        expected = split(whole, chunks(p[target - 1], ranks), target)[rank]
        np.testing.assert_array_equal(leading, expected.reshape(geometry.leading_shape))
