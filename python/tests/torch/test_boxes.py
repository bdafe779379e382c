# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Boxes that copy engines move between GPUs, here moved by NumPy: every rank has what the other
sharding gives it, and a product of threads that write to each other's memory is the product."""

import ctypes
import dataclasses
import math
import random
import threading

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies

from kron.distributed import _overlap, _peers, _pieces
from kron.distributed._boxes import Move
from kron.distributed._chunks import chunks
from kron.distributed._plan import Plan, plan_to


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


@dataclasses.dataclass(frozen=True)
class Place:
    """A rank and what it shares, in place of a Layout with its mesh."""

    rank: int
    ranks: int
    sizes: tuple
    group: str = ""
    axis: int = 1


class Threads:
    """What ranks that are threads have in common: a window each, and who has signalled what."""

    def __init__(self, sizes):
        self.windows = [np.full(size, 0xEE, np.uint8) for size in sizes]
        self.signals = {}
        self.changed = threading.Condition()


class ThreadPeers:
    """One of them, in place of _peers.Peers. Everything happens at once."""

    def __init__(self, threads, rank):
        self.threads, self.rank = threads, rank
        ranks = len(threads.windows)
        self.others = [(rank + step) % ranks for step in range(1, ranks)]
        self.now, self.sent = 0, []

    def window(self, shape, dtype):
        window = torch.from_numpy(self.threads.windows[self.rank])
        return window[:math.prod(shape) * dtype.itemsize].view(dtype).view(shape)

    def begin(self):
        pass

    def end(self):
        pass

    def mark(self):
        self.now += 1
        return self.now

    def send(self, number, boxes, source, after, tells=True):
        """`source` is an address."""
        self.sent.append(number)
        for rank in self.others:
            if rank in boxes:
                self.copy(rank, boxes[rank], source, after)
        if tells:
            with self.threads.changed:
                self.threads.signals[self.rank] = number
                self.threads.changed.notify_all()

    def copy(self, rank, found, source, after):
        assert after <= self.now
        box, target, here = found
        source += here
        lines = (box.Planes - 1) * box.srcHeight + box.Lines
        memory = (ctypes.c_uint8 * (lines * box.srcPitch)).from_address(source)
        copy(box, self.threads.windows[rank], np.ctypeslib.as_array(memory), target, 0)

    def keep(self, found, source, after):
        self.copy(self.rank, found, source, after)
        return self.now

    def wait(self, number, kept):
        assert kept is None or kept <= self.now
        with self.threads.changed:
            assert self.threads.changed.wait_for(
                lambda: all(self.threads.signals.get(rank, -1) >= number for rank in self.others), 60)


@settings(deadline=None, max_examples=60)
@given(rows=sizes, p=strategies.lists(sizes, min_size=2, max_size=5), ranks=strategies.integers(2, 5),
       target=strategies.integers(2, 5), count=strategies.integers(1, 3),
       piece_bytes=strategies.sampled_from((1, 64, 1 << 20)),
       column_bytes=strategies.sampled_from((1, 128)))
def test_product_of_peers(rows, p, ranks, target, count, piece_bytes, column_bytes):
    """Ranks write to each other's windows, some rows, positions and columns at a time."""
    p.append(4)
    target = min(target, len(p))
    count = min(count, target - 1)
    p[target - 1] *= 3  # So that every rank has columns to take some at a time.
    rng = np.random.default_rng(rows + 10 * ranks)
    factors = [rng.standard_normal((n, n)) for n in p]
    whole = rng.standard_normal((rows, *p))
    plan = Plan(1, target, tuple(range(count + 1, len(p) + 1)), tuple(range(1, count + 1)),
                (rows, *p))
    parts = split(whole, chunks(p[0], ranks), 1)
    matrices = [torch.from_numpy(factor) for factor in factors]
    products, errors, found = [], [], [None] * ranks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pieces, "PIECE_BYTES", piece_bytes)
        patch.setattr(_pieces, "COLUMN_BYTES", column_bytes)
        patch.setattr(_peers, "LINE_BYTES", 8)
        for rank in range(ranks):
            products.append(_overlap._Product(torch.from_numpy(parts[rank].copy()), matrices,
                                              Place(rank, ranks, (rows, *p)), plan, "full"))
    threads = Threads([product.geometry.window_bytes for product in products])

    def work(rank):
        try:
            product = products[rank]
            result = product.x.new_empty(product.geometry.result_shape)
            peers = ThreadPeers(threads, rank)
            product.by_peers(peers, result, keeps=False)
            # All ranks send all steps, whatever goes where, or their turns would differ.
            assert peers.sent == list(range(len(product.geometry.steps)))
            found[rank] = result.view(product.geometry.shape).numpy()
        except BaseException as error:  # Reported by the main thread.
            errors.append(error)

    workers = [threading.Thread(target=work, args=(rank,)) for rank in range(ranks)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors, errors[0]
    expected = whole
    for axis, factor in enumerate(factors, 1):
        expected = np.moveaxis(np.tensordot(expected, factor, (axis, 0)), -1, axis)
    for part, result in zip(split(expected, chunks(p[target - 1], ranks), target), found):
        np.testing.assert_allclose(result, part, rtol=1e-12, atol=1e-12 * math.prod(p))


@settings(deadline=None, max_examples=100)
@given(rows=sizes, p=strategies.lists(sizes, min_size=2, max_size=4), ranks=strategies.integers(2, 5),
       target=strategies.integers(2, 4), piece_bytes=strategies.sampled_from((1, 64, 1 << 20)))
def test_pieces(rows, p, ranks, target, piece_bytes):
    """Every rank's window gets from all pieces of all ranks what its leading factors read."""
    target = min(target, len(p))
    layouts = [Place(rank, ranks, (rows, *p)) for rank in range(ranks)]
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
        for step, boxes in zip(geometry.steps, geometry.boxes):
            piece = geometry.pieces[step.piece]
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


class Recorder:
    """In place of _peers._Driver: what a rank's stream of copies is given."""

    def __init__(self):
        self.given = []

    def copy(self, stream, box):
        self.given.append(("copy", box.dstDevice))

    def words(self, stream, operations):
        names = {_peers._WAIT: "wait", _peers._WRITE: "write"}
        self.given += [(names[o.operation], o.address, o.value) for o in operations]


class Stream:
    def wait_event(self, event):
        pass


def given_by(rank, ranks, steps, first):
    """What rank `rank` gives its stream in so many steps, behind `first` others."""
    peers = _peers.Peers.__new__(_peers.Peers)
    peers.rank, peers.ranks, peers._driver, peers._stream = rank, ranks, Recorder(), Stream()
    peers.others = [(rank + step) % ranks for step in range(1, ranks)]
    # Windows are numbers of ranks here, and words are far from each other.
    peers._windows = list(range(ranks))
    peers.use_words([n << 20 for n in range(ranks)])
    peers._copies = first
    for number in range(steps):
        boxes = {receiver: (_peers._Box3D(), 0, 0) for receiver in peers.others}
        peers.send(number, boxes, 0, None, tells=False)
    return peers._driver.given


@settings(deadline=None, max_examples=100)
@given(ranks=strategies.integers(3, 8), steps=strategies.integers(2, 5),
       first=strategies.sampled_from((0, 3, 2**32 - 2)), seed=strategies.integers(0, 2**32 - 1))
def test_turns(ranks, steps, first, seed):
    """Ranks begin at any time, and copies take any: no two write to the same rank, and all get to the end."""
    first *= ranks - 1  # Behind whole steps.
    lists = [given_by(rank, ranks, steps, first) for rank in range(ranks)]
    words = {address: first for entries in lists
             for kind, address, *_ in entries if kind != "copy"}
    chance, at, receivers = random.Random(seed), [0] * ranks, [None] * ranks

    def can_go(rank):
        if at[rank] == len(lists[rank]):
            return False
        kind, address, *value = lists[rank][at[rank]]
        # As numbers of 32 bits with a sign.
        return kind != "wait" or (words[address] - value[0]) % 2**32 < 2**31

    while ready := [rank for rank in range(ranks) if can_go(rank)]:
        rank = chance.choice(ready)
        kind, address, *value = lists[rank][at[rank]]
        if kind == "write":
            words[address] = value[0]
        if kind == "copy" and receivers[rank] is None:
            assert address not in receivers, f"ranks {rank} and {receivers.index(address)}"
            receivers[rank] = address
            continue  # It ends when this rank is chosen again.
        receivers[rank] = None
        at[rank] += 1
    assert at == [len(entries) for entries in lists]
