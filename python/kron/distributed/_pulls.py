# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Exchanges among GPUs of one host in which each rank reads what it gets out of the others' windows.

Where several ranks write to each other piece by piece, they drift apart until two write to the same
one and share its wire. A rank that reads from each of the others on a stream of its own keeps all
wires busy, whatever the others do.

Protocol of one exchange, on every rank:

    begin()               the current stream waits until all have read this rank's window
    give(n)               step n of what this rank gives is in its window, counted from 0
    seal()                the current stream waits until all have given all
    pull(rank, n, ...)    a box of a rank's step n, this one's among them
    wait(pull...)         the current stream waits for what has been pulled

Hosts call all `give`s before any `pull`, and streams that share a queue of the GPU take work up in
that order: so no stream waits in front of what another rank waits for.

begin and seal are barriers of all ranks. A rank's stream gets to a barrier when all that it has pulled
before is there: its `wait`s come before it, and `end` does, also where something fails behind `seal`.
"""

import torch

from ._driver import Driver

#: Ranks from which on they read. Two write, at 380 GB/s between two H200; among four, reading moves
#: 354 to 362 GB/s into each, also in pieces, and writing 357, in four pieces 278.
LEAST_RANKS = 4
#: How `give` tells the others. "words": streams write and wait for words in memory, which takes no
#: SM, so that it happens beside kernels that occupy all of them. "kernels": signals of PyTorch.
SIGNALS = "words"

_BEGIN = 0
#: Channel of the words; of the signals, the one of step 0.
_STEPS = 1
#: Another one, so that a rank that begins anew meets none that waits for its last step.
_SEAL = 2


class _Words:
    """A word for each rank in the others' signal pads, which counts steps of all exchanges. Nothing
    ends waiting for words: `seal` has a timeout, and behind it all of them are there."""

    def __init__(self, handle, rank, ranks, driver):
        pads = handle.signal_pad_ptrs
        self._driver, place = driver, 4 * ranks * _STEPS
        self._there = [pad + place + 4 * rank for pad in pads]
        self._here = [pads[rank] + place + 4 * other for other in range(ranks)]
        self._before = self._given = 0

    def begin(self):
        self._before = self._given

    def give(self, rank, number, stream):
        self._given = self._before + number + 1
        self._driver.write(self._there[rank], self._given % 2**32, stream)

    def take(self, rank, number, stream):
        self._driver.wait(self._here[rank], (self._before + number + 1) % 2**32, stream)


class _Kernels:
    """Signals that are small kernels, which find SMs only when a large kernel leaves some."""

    def __init__(self, handle, timeout_ms):
        self._handle, self._timeout_ms = handle, timeout_ms

    def begin(self):
        pass

    def give(self, rank, number, stream):
        with torch.cuda.stream(stream):
            self._handle.put_signal(rank, _STEPS + number, self._timeout_ms)

    def take(self, rank, number, stream):
        with torch.cuda.stream(stream):
            self._handle.wait_signal(rank, _STEPS + number, self._timeout_ms)


class Pulls:
    """Exchanges of one rank by the windows of a handle of symmetric memory."""

    def __init__(self, handle, rank, ranks, timeout_ms, streams, driver=None):
        """`streams` has one for each rank."""
        self._handle, self._timeout_ms, self._streams = handle, timeout_ms, streams
        self.rank = rank
        #: The other ranks, each rank beginning behind itself, so that not all read from one.
        self.others = [(rank + step) % ranks for step in range(1, ranks)]
        self._driver = driver or Driver()
        self._windows = list(handle.buffer_ptrs)
        self._signals = (_Words(handle, rank, ranks, self._driver) if SIGNALS == "words"
                         else _Kernels(handle, timeout_ms))
        self._current = self._last = None
        self._given, self._taken = [], []

    def begin(self):
        """What is pulled goes to arrays that have been allocated before: no rank gives anything until
        the current stream has done with what had their memory."""
        self._current = torch.cuda.current_stream(self._streams[0].device)
        if self._last is not None:
            # The exchange before may have had another current stream.
            self._current.wait_event(self._last)
        self._handle.barrier(_BEGIN, self._timeout_ms)
        self._signals.begin()
        self._given, self._taken = [], [0] * len(self._streams)

    def give(self):
        """The next step: what the current stream has been given up to here."""
        number = len(self._given)
        self._given.append(self._current.record_event())
        for rank in self.others:
            self._signals.give(rank, number, self._current)

    def seal(self):
        """Behind all steps."""
        self._handle.barrier(_SEAL, self._timeout_ms)

    def pull(self, rank, number, box, target, source):
        """Copies a box of step `number` out of a rank's window. `target` is an address, `source` an
        offset in bytes. Returns an event to wait for."""
        self._take(rank, number)
        self._driver.copy(box, target, self._windows[rank] + source, self._streams[rank])
        return self._streams[rank].record_event()

    def _take(self, rank, number):
        """Each step of each rank is taken once, whether or not it has anything for this one."""
        if rank == self.rank:
            self._streams[rank].wait_event(self._given[number])
            return
        for step in range(self._taken[rank], number + 1):
            self._signals.take(rank, step, self._streams[rank])
        self._taken[rank] = max(self._taken[rank], number + 1)

    def wait(self, pulled):
        """The current stream waits for what `pull` has returned."""
        for event in pulled:
            self._current.wait_event(event)

    def end(self):
        """Behind the last `pull`."""
        for rank in self.others:
            self._take(rank, len(self._given) - 1)
        for stream in self._streams:
            self._current.wait_stream(stream)
        self._last = self._current.record_event()
