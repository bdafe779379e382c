"""mbarrier: phases that arrivals end, and bytes of bulk copies; and cp.async.bulk.

A copy arrives at once, and what it brings is there once a thread has waited for the phase that counts its bytes.

SPDX-License-Identifier: MIT
"""

import dataclasses

import numpy as np

from .operands import integer
from .order import WARP
from .parser import Unsupported
from .shared import Fault

PIECE = 16


@dataclasses.dataclass
class Barrier:
    """One of `count` arrivals in each phase."""
    count: int
    known: np.ndarray
    #: The warp that made it, and when.
    maker: int
    time: int
    phase: int = 0
    pending: int = 0
    bytes: int = 0
    #: Copies of this phase: (thread, time, offsets, words).
    copies: list = dataclasses.field(default_factory=list)
    #: Of the phase before: what is known to who waits for it, and copies that nobody has waited for.
    ended: np.ndarray | None = None
    unseen: list = dataclasses.field(default_factory=list)

    def end_phase(self):
        if self.pending or self.bytes:
            return
        if self.unseen:
            raise Fault("a phase ends whose copies before nobody has waited for")
        self.ended, self.unseen = self.known.copy(), self.copies
        self.phase, self.pending, self.copies = self.phase + 1, self.count, []


class Phases:
    """The barriers of all CTAs that run."""

    def __init__(self, shared, memory, report, cta):
        self.shared, self.order, self.memory, self.report, self.cta = shared, shared.order, memory, report, cta
        self.barriers = {}

    def at(self, thread, address, text):
        offset = int(self.shared.offsets(np.array([thread]), np.array([address]), 8, text)[0])
        if offset not in self.barriers:
            raise Fault(f"no barrier at byte {offset}: {text}")
        barrier, warp = self.barriers[offset], thread // WARP
        if warp != barrier.maker and self.order.known[warp, self.order.column(barrier.maker)] < barrier.time:
            self.report("a use of a barrier that another thread makes without a barrier in between", text)
        return barrier

    def start(self, t, addresses, counts, text):
        for thread, address, count in zip(t, addresses, counts):
            offset = int(self.shared.offsets(np.array([thread]), np.array([address]), 8, text)[0])
            if offset in self.barriers:
                raise Fault(f"a barrier in the place of another one: {text}")
            warps, maker = self.order.known.shape[1], int(thread) // WARP
            self.barriers[offset] = Barrier(int(count), np.zeros(warps, np.int32), maker, int(self.order.clock[maker]),
                                            pending=int(count))

    def tell(self, thread, barrier):
        """Whoever waits for the phase knows what the warp of `thread` has done."""
        warp = np.array([thread // WARP])
        barrier.known = np.maximum(barrier.known, self.order.before(warp))
        self.order.step(warp)

    def arrive(self, t, addresses, added, text):
        for thread, address, more in zip(t, addresses, added):
            barrier = self.at(thread, address, text)
            if not barrier.pending:
                raise Fault(f"more than {barrier.count} arrivals in a phase: {text}")
            self.tell(thread, barrier)
            barrier.pending, barrier.bytes = barrier.pending - 1, barrier.bytes + int(more)
            barrier.end_phase()

    def copy(self, t, to, source, sizes, addresses, text):
        for thread, first, begin, size, address in zip(t, to, source, sizes, addresses):
            size = int(size)
            if size <= 0 or size % PIECE:
                raise Fault(f"a bulk copy of {size} bytes: {text}")
            barrier, behind = self.at(thread, address, text), np.arange(0, size, PIECE)
            threads = np.full(len(behind), thread)
            words = self.memory.load((np.uint64(begin) + behind.astype(np.uint64)), 8, 2, self.cta[threads], self.report,
                                     text).view(np.uint32)
            offsets = self.shared.begin_copy(threads, int(first) + behind, PIECE, text)
            barrier.copies.append((thread, self.order.clock[thread // WARP], offsets, words))
            self.tell(thread, barrier)
            barrier.bytes -= size
            barrier.end_phase()

    def passes(self, thread, address, parity, text):
        """Whether `thread`, which waits for the phase of that parity, goes on."""
        barrier = self.at(thread, address, text)
        if barrier.phase % 2 == parity:
            return False
        if barrier.ended is not None:
            self.order.learn(np.array([thread // WARP]), barrier.ended)
        for copier, time, offsets, words in barrier.unseen:
            self.shared.land(copier, time, offsets, words)
        barrier.unseen = []
        return True

    def check_end(self, name):
        if any(barrier.copies or barrier.unseen for barrier in self.barriers.values()):
            self.report("copies that no thread has waited for", name)


# --- instructions ---------------------------------------------------------------


def _address(o, text):
    base, offset = o.address(text)
    return f"address({base}, {offset}, t)"


def _gather(o, operand, bits):
    return f"gather(t, np.uint{bits}, ({o.read(operand, f'u{bits}')},))[:, 0]"


def emit_barrier(o, parts, operands, text):
    if parts[1:] == ["init", "shared::cta", "b64"]:
        return [f"phases.start(t, {_address(o, operands[0])}, {_gather(o, operands[1], 32)}, {text})"]
    if parts[1:] == ["arrive", "shared::cta", "b64"] and operands[0] == "_":
        return [f"phases.arrive(t, {_address(o, operands[1])}, np.zeros(len(t)), {text})"]
    if parts[1:] == ["arrive", "expect_tx", "shared::cta", "b64"] and operands[0] == "_":
        return [f"phases.arrive(t, {_address(o, operands[1])}, {_gather(o, operands[2], 32)}, {text})"]
    raise Unsupported("an unknown operation of a barrier")


def emit_bulk_copy(o, parts, operands, text):
    if parts[2:] != ["bulk", "shared::cluster", "global", "mbarrier::complete_tx::bytes"]:
        raise Unsupported("an unknown bulk copy")
    to, source, size, barrier = operands
    return [f"check_early(t, {text})",
            f"phases.copy(t, {_address(o, to)}, {_address(o, source)}.view(np.uint64), {_gather(o, size, 32)}, "
            f"{_address(o, barrier)}, {text})"]


def parity_of(operand, namespace, t):
    return namespace[operand[1:]][t] if operand.startswith("%") else np.full(len(t), integer(operand))
