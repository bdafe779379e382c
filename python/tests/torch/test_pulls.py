# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Exchanges in which ranks read from each other's windows, on streams that are simulated: whatever
order they take work up in, products are right, and no stream waits for ever."""

import collections
import contextlib
import ctypes
import math
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies

from boxes_support import Place, copy, product_by_numpy, split
from kron.distributed import _exchange, _overlap, _peers, _pieces, _pulls
from kron.distributed._boxes import Move
from kron.distributed._chunks import chunks
from kron.distributed._plan import Plan

sizes = strategies.integers(1, 6)
signals = strategies.sampled_from(("words", "kernels"))


class Event:
    is_done = False


class Task:
    """What a stream does next: `action`, once `is_ready`."""

    def __init__(self, action, is_ready, has_timeout=False):
        self.action, self.is_ready, self.has_timeout = action, is_ready, has_timeout


class Stream:
    """Gives work to a queue, which other streams may share."""

    device = None

    def __init__(self, queue):
        self.queue = queue

    def add(self, action=lambda: None, is_ready=lambda: True, has_timeout=False):
        self.queue.append(Task(action, is_ready, has_timeout))

    def wait_event(self, event):
        self.add(is_ready=lambda: event.is_done)

    def record_event(self):
        event = Event()
        self.add(lambda: setattr(event, "is_done", True))
        return event

    def wait_stream(self, stream):
        self.wait_event(stream.record_event())


class Machine:
    """GPUs, each with a window and streams. Hosts run one after the other, and far ahead."""

    def __init__(self, ranks, window_bytes, shares_queue):
        self.windows = [np.full(window_bytes, 0xEE, np.uint8) for _ in range(ranks)]
        #: Words of driver and signals of PyTorch: address -> value.
        self.words = collections.Counter()
        self.barriers = [0] * ranks
        self.queues, self.streams, self.current = [], [], None
        #: Arrays that copies may write to.
        self.arrays = []
        for _ in range(ranks):
            # One for each rank, and two that products are asked for on.
            queues = [collections.deque() for _ in range(1 if shares_queue else ranks + 2)]
            self.queues.append(queues)
            self.streams.append([Stream(queues[n % len(queues)]) for n in range(ranks + 2)])

    @contextlib.contextmanager
    def stream(self, stream):
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def run(self, order, dead=None, steps_of_dead=0):
        """Until nothing can be done. `dead` is a rank that ends after so many steps. Queues are fast
        and slow."""
        speeds = {id(queue): 10 ** -order.uniform(0, 4) for queues in self.queues for queue in queues}
        while True:
            ready = [(rank, queue) for rank, queues in enumerate(self.queues) for queue in queues
                     if queue and queue[0].is_ready() and (rank != dead or steps_of_dead)]
            if not ready:
                return
            [(rank, queue)] = order.choices(ready, [speeds[id(queue)] for _, queue in ready])
            steps_of_dead -= rank == dead
            queue.popleft().action()

    # The driver.

    def copy(self, box, target, source, stream):
        lines = [(target + (plane * box.dstHeight + line) * box.dstPitch,
                  source + (plane * box.srcHeight + line) * box.srcPitch, box.LineBytes)
                 for plane in range(box.Planes) for line in range(box.Lines)]
        stream.add(lambda: [ctypes.memmove(*line) for line in lines])

    def write(self, address, word, stream):
        assert word < 2**32
        stream.add(lambda: self.words.update({address: word - self.words[address]}))

    def wait(self, address, word, stream):
        assert word < 2**32
        stream.add(is_ready=lambda: (self.words[address] - word) % 2**32 < 2**31)


class Handle:
    """Of symmetric memory, on one rank."""

    def __init__(self, machine, rank):
        self.machine, self.rank = machine, rank
        self.buffer_ptrs = [window.ctypes.data for window in machine.windows]
        self.signal_pad_ptrs = [4096 * n for n in range(len(machine.windows))]

    def barrier(self, channel, timeout_ms):
        barriers, count = self.machine.barriers, [0]

        def arrive():
            barriers[self.rank] += 1
            count[0] = barriers[self.rank]

        self.machine.current.add(arrive)
        self.machine.current.add(is_ready=lambda: min(barriers) >= count[0], has_timeout=True)

    def put_signal(self, rank, channel, timeout_ms):
        self._change(self.signal_pad_ptrs[rank], channel, self.rank, 0)

    def wait_signal(self, rank, channel, timeout_ms):
        self._change(self.signal_pad_ptrs[self.rank], channel, rank, 1)

    def _change(self, pad, channel, rank, before):
        address = pad + 4 * (channel * len(self.signal_pad_ptrs) + rank)
        words = self.machine.words
        self.machine.current.add(lambda: words.update({address: 1 - 2 * before}),
                                 lambda: words[address] == before, has_timeout=True)


def _multiply(x, factors, out):
    """The last axis of x times the Kronecker product of factors."""
    rows = x.numpy().reshape(math.prod(x.shape[:-1]), *(factor.shape[0] for factor in factors))
    y = product_by_numpy(rows, [factor.numpy() for factor in factors])
    out.copy_(torch.from_numpy(y.reshape(out.shape)))


class Product(_overlap._Product):
    """Arithmetic takes place on the stream that is current when it is asked for, and is NumPy's: it
    compiles nothing."""

    machine = None

    def product(self, x, out=None):
        self.machine.current.add(lambda: _multiply(x, self.before, out))

    def finish(self, arrays, columns=slice(None)):
        if arrays is not None:
            moved, result = (array[:, :, columns] for array in arrays)
            self.machine.current.add(lambda: _multiply(moved.mT, self.after, result.mT))


@contextlib.contextmanager
def small_steps(kind, piece_bytes=1, column_bytes=1):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pulls, "SIGNALS", kind)
        patch.setattr(_pulls, "LEAST_RANKS", 2)
        patch.setattr(_pieces, "PIECE_BYTES", piece_bytes)
        patch.setattr(_pieces, "COLUMN_BYTES", column_bytes)
        patch.setattr(_peers, "LINE_BYTES", 8)
        yield patch


@contextlib.contextmanager
def simulated(machine, current, memory):
    """PyTorch's streams are those of the machine, and new arrays have this memory."""
    with pytest.MonkeyPatch.context() as patch, machine.stream(current):
        patch.setattr(torch.cuda, "current_stream", lambda device: machine.current)
        patch.setattr(torch.cuda, "stream", machine.stream)
        machine.arrays.append(memory)
        patch.setattr(torch.Tensor, "new_empty",
                      lambda x, shape: memory[:math.prod(shape)].view(shape))
        yield


class Calls:
    """Products on the same ranks, one after the other."""

    def __init__(self, ranks, shapes, shares_queue):
        """`shapes` has (rows, sizes, target, count of leading factors) of each."""
        rng = np.random.default_rng(sum(rows for rows, *_ in shapes) + 10 * ranks)
        self.products, self.expected, self.results = [], [], []
        for rows, p, target, count in shapes:
            whole = rng.standard_normal((rows, *p))
            factors = [rng.standard_normal((n, n)) for n in p]
            plan = Plan(1, target, tuple(range(count + 1, len(p) + 1)), tuple(range(1, count + 1)),
                        (rows, *p))
            parts = split(whole, chunks(p[0], ranks), 1)
            self.products.append([
                Product(torch.from_numpy(part.copy()), [torch.from_numpy(f) for f in factors],
                        Place(rank, ranks, (rows, *p)), plan, "full")
                for rank, part in enumerate(parts)])
            self.expected.append(split(product_by_numpy(whole, factors),
                                       chunks(p[target - 1], ranks), target))
        geometries = [product.geometry for products in self.products for product in products]
        self.machine = machine = Machine(ranks, max(g.window_bytes for g in geometries),
                                         shares_queue)
        most = max(math.prod(geometry.leading_shape) for geometry in geometries)
        for rank in range(ranks):
            # As an allocator gives the same memory again to the next call on a stream.
            memories = [torch.full((most,), math.nan, dtype=torch.float64) for _ in range(2)]
            pulls = _pulls.Pulls(Handle(machine, rank), rank, ranks, 1000,
                                 machine.streams[rank][:ranks], machine)
            self.results.append([
                self.call(products[rank], pulls, machine.streams[rank][ranks + number % 2],
                          memories[number % 2]) for number, products in enumerate(self.products)])

    def call(self, product, pulls, current, memory):
        """The host's part of a product."""
        machine, geometry = self.machine, product.geometry
        product.machine = machine
        window = torch.from_numpy(machine.windows[pulls.rank])
        window = window[:math.prod(geometry.window_shape) * 8].view(torch.float64)
        result = torch.full(geometry.result_shape, math.nan, dtype=torch.float64)
        with simulated(machine, current, memory):
            product.by_pulls(pulls, window.view(geometry.window_shape), result)
        return result.view(geometry.shape).numpy()

    def check(self):
        assert not any(queue for queues in self.machine.queues for queue in queues)
        for rank, results in enumerate(self.results):
            for result, expected in zip(results, self.expected):
                np.testing.assert_allclose(result, expected[rank], rtol=1e-11, atol=1e-9)


@strategies.composite
def shapes(draw):
    """Leading modes that ranks do not have all of, and targets of which they have all some."""
    p = draw(strategies.lists(sizes, min_size=2, max_size=4)) + [4]
    target = draw(strategies.integers(2, len(p)))
    p[target - 1] *= 3
    return draw(sizes), p, target, draw(strategies.integers(1, min(3, target - 1)))


@settings(deadline=None, max_examples=40)
@given(ranks=strategies.integers(2, 5), calls=strategies.lists(shapes(), min_size=1, max_size=3),
       piece_bytes=strategies.sampled_from((1, 256, 1 << 20)),
       column_bytes=strategies.sampled_from((1, 128)), shares_queue=strategies.booleans(),
       kind=signals, seed=strategies.integers(0, 2**32))
def test_products(ranks, calls, piece_bytes, column_bytes, shares_queue, kind, seed):
    """One after the other, of different sizes. All streams of a GPU may share a queue."""
    with small_steps(kind, piece_bytes, column_bytes):
        all_calls = Calls(ranks, calls, shares_queue)
    all_calls.machine.run(random.Random(seed))
    all_calls.check()


@settings(deadline=None, max_examples=60)
@given(dead=strategies.integers(0, 3), steps=strategies.integers(0, 150), kind=signals,
       seed=strategies.integers(0, 2**32))
def test_dead_rank(dead, steps, kind, seed):
    """What kernels behind an exchange wait for in the end has a timeout."""
    with small_steps(kind):
        calls = Calls(4, [(2, (8, 12, 4), 2, 1)] * 3, False)
    calls.machine.run(random.Random(seed), dead, steps)
    for rank, streams in enumerate(calls.machine.streams):
        *copies, first, second = (stream.queue for stream in streams)
        if rank == dead or not first and not second:
            continue
        waiting = [first, second] if kind == "words" else [first, second, *copies]
        assert any(queue and queue[0].has_timeout for queue in waiting)


class Window:
    """Of a rank: what is copied to it is, on the stream that is current."""

    def __init__(self, machine, array):
        self.machine, self.array = machine, array

    def copy_(self, x):
        self.machine.current.add(lambda: self.array.copy_(x))


class Rank:
    """In place of _peers.Peers."""

    def __init__(self, machine, rank, ranks):
        self.machine, self.rank = machine, rank
        self.pulls = _pulls.Pulls(Handle(machine, rank), rank, ranks, 1000,
                                  machine.streams[rank][:ranks], machine)
        self.others = self.pulls.others

    def window(self, shape, dtype):
        array = torch.from_numpy(self.machine.windows[self.rank])
        return Window(self.machine, array[:8 * math.prod(shape)].view(dtype).view(shape))


@settings(deadline=None, max_examples=60)
@given(shape=strategies.lists(sizes, min_size=2, max_size=4), ranks=strategies.integers(2, 4),
       axes=strategies.permutations(range(4)), kind=signals, seed=strategies.integers(0, 2**32))
def test_moves(shape, ranks, axes, kind, seed):
    """A sharding that moves from one axis to another, there and back."""
    source, target = [axis for axis in axes if axis < len(shape)][:2]
    first, last = sorted((source, target))
    whole = np.random.default_rng(seed).standard_normal(shape)
    machine = Machine(ranks, 8 * math.prod(shape), False)
    results = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pulls, "SIGNALS", kind)
        peers = [Rank(machine, rank, ranks) for rank in range(ranks)]
    for rank in range(ranks):
        x = torch.from_numpy(split(whole, chunks(shape[source], ranks), source)[rank].copy())
        for there, back in ((source, target), (target, source)):
            sizes_, counts = (chunks(shape[axis], ranks) for axis in (there, back))
            move = Move(math.prod(shape[:first]), math.prod(shape[first + 1:last]),
                        math.prod(shape[last + 1:]), there < back, tuple(sizes_), tuple(counts),
                        rank, 8)
            moved = list(shape)
            moved[back] = counts[rank]
            current = machine.streams[rank][ranks]
            with simulated(machine, current, torch.full((math.prod(moved),), math.nan,
                                                        dtype=torch.float64)):
                x = _exchange._by_pulls(x, moved, move, peers[rank])
            copied = torch.empty(moved, dtype=torch.float64)
            current.add(lambda copied=copied, x=x: copied.copy_(x))
            results.append((rank, back, copied))
    machine.run(random.Random(seed))
    for rank, axis, found in results:
        np.testing.assert_array_equal(found, split(whole, chunks(shape[axis], ranks), axis)[rank])


def test_words_wrap():
    """Counts of steps go beyond what a word has."""
    machine = Machine(2, 64, False)
    words = [_pulls._Words(Handle(machine, rank), rank, 2, machine) for rank in range(2)]
    for one in words:
        one._given = 2**32 - 2
    for rank, pad in enumerate(Handle(machine, 0).signal_pad_ptrs):
        machine.words[pad + 4 * (2 * _pulls._STEPS + 1 - rank)] = 2**32 - 2
    taken = []
    for _ in range(3):
        for rank, one in enumerate(words):
            one.begin()
            one.give(1 - rank, 0, machine.streams[rank][2])
            one.take(1 - rank, 0, machine.streams[rank][1 - rank])
            machine.streams[rank][1 - rank].add(lambda: taken.append(len(taken)))
    machine.run(random.Random(1))
    assert taken == list(range(6))


@settings(deadline=None, max_examples=100)
@given(shape=shapes(), ranks=strategies.integers(2, 5),
       piece_bytes=strategies.sampled_from((1, 64, 1 << 20)))
def test_boxes(shape, ranks, piece_bytes):
    """Every element of what a rank has in the end is written once."""
    rows, p, target, count = shape
    plan = Plan(1, target, tuple(range(count + 1, len(p) + 1)), tuple(range(1, count + 1)),
                (rows, *p))
    whole = np.arange(rows * math.prod(p), dtype=np.int32).reshape(rows, *p)
    with small_steps("words", piece_bytes):
        geometries = [_pieces.Geometry(Place(rank, ranks, (rows, *p)), plan, [(n, n) for n in p],
                                       rows, 4) for rank in range(ranks)]
    parts = split(whole, chunks(p[0], ranks), 1)
    for geometry, part in zip(geometries, parts):
        assert part.nbytes == 4 * math.prod(geometry.window_shape) <= geometry.window_bytes
    for geometry, expected in zip(geometries, split(whole, chunks(p[target - 1], ranks), target)):
        moved = np.full(expected.nbytes, 0xEE, np.uint8)
        written = np.zeros(expected.nbytes, np.uint8)
        for boxes in geometry.pulled:
            for rank, (box, there, here) in boxes.items():
                copy(box, moved, parts[rank].reshape(-1).view(np.uint8), there, here)
                once = np.zeros_like(written)
                copy(box, once, np.ones(parts[rank].nbytes, np.uint8), there, here)
                written += once
        assert (written == 1).all()
        np.testing.assert_array_equal(moved.view(np.int32), expected.reshape(-1))
