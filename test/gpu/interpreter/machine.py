"""A launch: threads of some CTAs side by side, in the order of the text of their kernel.

Of the threads that can go on, those execute their block whose block comes first; barriers open when no thread
can go on.

SPDX-License-Identifier: MIT
"""

import dataclasses

import numpy as np

from . import tensor
from .matrix_async import WarpGroup
from .operands import CLUSTER_STRIDE, UNSIGNED, integer
from .parser import GROUP_THREADS
from .phases import Phases, parity_of
from .shared import Fault, Shared

#: Threads that run side by side, where a cluster is not larger.
THREADS = 1024
MOST_STEPS = 200_000
RUNNING, AT_BARRIER, AT_WARP_BARRIER, AT_CLUSTER_BARRIER, AT_PHASE, ENDED = range(6)


@dataclasses.dataclass
class Launch:
    grid: int
    block: int
    cluster: int
    shared_bytes: int
    #: {name: value} of the kernel's parameters.
    parameters: dict
    #: Whether the kernel before may still run.
    starts_early: bool = False


class Machine:
    """CTAs `first` to `first + count` of a launch."""

    def __init__(self, code, launch, memory, report, first, count):
        self.code, self.launch, self.memory, self.report = code, launch, memory, report
        size, number = launch.block, launch.block * count
        threads = np.arange(number)
        self.threads, self.number = threads, number
        self.cta = threads // size + first
        self.shared = Shared(report, number, size, launch.cluster, launch.shared_bytes, code.grain)
        self.order = self.shared.order
        self.phases = Phases(self.shared, memory, report, self.cta)
        #: What threads wait for: the address of a barrier, the parity of its phase, and the instruction.
        self.awaited = {}
        code.allocate(number)
        self.copies, self.batch = [], np.zeros(number, np.int64)
        #: Threads that may run beside the kernel before, up to griddepcontrol.wait.
        self.early = np.full(number, launch.starts_early)
        self.warp_groups = {}
        #: How often a thread came to its cluster's barrier, and what the warps of each time had done.
        self.arrivals, self.arrived = np.zeros(number, np.int64), {}
        self.namespace = code.namespace
        self.namespace.update(
            tid_x=(threads % size).astype(np.uint32), ctaid_x=self.cta.astype(np.uint32),
            ntid_x=np.uint32(size), nctaid_x=np.uint32(launch.grid), laneid=(threads % 32).astype(np.uint32),
            cluster_ctarank=(self.cta % launch.cluster).astype(np.uint32),
            address=self.address, assign=self.assign, gather=self.gather, parameter=self.parameter,
            load_global=self.load_global, store_global=self.store_global, load_shared=self.load_shared,
            store_shared=self.shared.store, load_shared_cluster=self.load_shared_cluster,
            begin_copy=self.begin_copy, commit_copies=self.commit_copies, wait_copies=self.wait_copies,
            map_address=self.map_address, matrix_multiply=tensor.multiply, load_matrices=self.load_matrices,
            matrix_async=self.matrix_async, commit_matrix=self.commit_matrix, wait_matrix=self.wait_matrix,
            fence_proxy=self.shared.fence, wait_for_kernel=self.wait_for_kernel, phases=self.phases,
            check_early=self.check_early)

    # --- what blocks call -------------------------------------------------------

    @staticmethod
    def address(base, offset, t):
        return np.full(len(t), offset) if base is None else base[t].astype(np.int64) + offset

    def assign(self, m, t, registers, found):
        for i, register in enumerate(registers):
            register[slice(None) if m is True else t] = found[:, i]

    def gather(self, t, dtype, registers):
        found = np.empty((len(t), len(registers)), dtype)
        for i, register in enumerate(registers):
            found[:, i] = register[t] if np.ndim(register) else register
        return found

    def parameter(self, name, bits):
        return UNSIGNED[bits](self.launch.parameters[name] & (1 << bits) - 1)

    def wait_for_kernel(self, t):
        self.early[t] = False

    def check_early(self, t, text):
        if self.early[t].any():
            self.report("an access of memory in front of the wait for the kernel before", text)

    def load_global(self, t, addresses, width, number, text):
        self.check_early(t, text)
        return self.memory.load(addresses.view(np.uint64), width, number, self.cta[t], self.report, text)

    def store_global(self, t, addresses, width, stored, text):
        self.check_early(t, text)
        self.memory.store(addresses.view(np.uint64), width, stored, self.cta[t], self.report, text)

    def load_shared(self, t, addresses, width, number, text):
        return self.shared.load(t, addresses, width, number, text)

    def load_shared_cluster(self, t, addresses, width, number, text):
        return self.shared.load(t, addresses, width, number, text, cluster=True)

    def map_address(self, address, rank):
        return np.asarray(address).astype(np.int64) + (np.asarray(rank).astype(np.int64) + 1) * CLUSTER_STRIDE

    def begin_copy(self, t, to, source, size, sizes, text):
        self.check_early(t, text)
        offsets = self.shared.begin_copy(t, to, size, text)
        source = source.view(np.uint64)
        if sizes is None:
            words = self.memory.load(source, 4, size // 4, self.cta[t], self.report, text) if size == 4 else \
                self.memory.load(source, 8, size // 8, self.cta[t], self.report, text).view(np.uint32)
        else:
            if (sizes < 0).any() or (sizes > size).any():
                raise Fault(f"a copy of {sizes.min()} to {sizes.max()} bytes: {text}")
            words = self.memory.load_prefix(source, size, sizes.astype(np.int64), self.cta[t], self.report, text)
        self.copies.append((t, self.batch[t], offsets, size, words))

    def commit_copies(self, t):
        self.batch[t] += 1

    def wait_copies(self, t, number):
        waits = np.zeros(self.number, bool)
        waits[t] = True
        left = []
        for threads, batches, offsets, size, words in self.copies:
            done = waits[threads] & (batches < self.batch[threads] - number)
            if done.any():
                self.shared.end_copy(threads[done], offsets[done], size, words[done])
            if not done.all():
                rest = ~done
                left.append((threads[rest], batches[rest], offsets[rest], size, words[rest]))
        self.copies = left

    def load_matrices(self, t, addresses, number, transposed, text):
        return tensor.load_matrices(self.shared, t, addresses, number, transposed, text)

    def groups(self, t, text="wgmma"):
        starts = t[t % GROUP_THREADS == 0]
        if len(t) != len(starts) * GROUP_THREADS or (t.reshape(-1, GROUP_THREADS)[:, 0] != starts).any():
            raise Fault(f"a part of a warp group: {text}")
        for start in starts:
            if start not in self.warp_groups:
                self.warp_groups[start] = WarpGroup(self.shared, np.arange(start, start + GROUP_THREADS), self.report)
            yield self.warp_groups[start]

    def matrix_async(self, t, n, type_, accumulators, left, right, adds, transposed, text):
        for group in self.groups(t, text):
            own = adds if isinstance(adds, bool) else bool(adds[group.threads[0]])
            group.multiply(n, type_, accumulators, left, right, own, transposed, text)

    def commit_matrix(self, t):
        for group in self.groups(t):
            group.commit()

    def wait_matrix(self, t, number):
        for group in self.groups(t):
            group.wait(number)

    # --- the order of threads ---------------------------------------------------

    def run(self):
        """Returns how many blocks were executed."""
        blocks, functions = self.code.kernel.blocks, self.code.blocks
        self.at, self.state = np.zeros(self.number, np.int64), np.full(self.number, RUNNING, np.int8)
        self.barrier = np.zeros((self.number, 2), np.int64)
        for steps in range(MOST_STEPS):
            running = self.state == RUNNING
            if not running.any():
                if (self.state == ENDED).all():
                    self.check_end()
                    return steps
                self.open_barriers()
                continue
            number, m, t = self.choose(running, blocks)
            if number is None:
                self.open_barriers()
                continue
            functions[number](m, t)
            self.leave(number, t, blocks[number].end)
        raise Fault(f"no end after {MOST_STEPS} blocks")

    def choose(self, running, blocks):
        """(block, mask or True, threads) that come next; no block where one of their warp waits for a phase first."""
        places = self.at if running.all() else self.at[running]
        first = int(places.min())
        if len(places) == self.number and first == int(places.max()):
            return first, True, self.threads
        while True:
            m = running & (self.at == first)
            together = blocks[first].collective
            if together > 1:
                m &= np.repeat(m.reshape(-1, together).all(1), together)
            if m.any():
                return first, m, np.flatnonzero(m)
            later = places[places > first]
            if not later.size and (self.state == AT_PHASE).any():
                return None, None, None
            if not later.size:
                raise Fault(f"a part of a warp alone: {blocks[int(places.min())].instructions[0].text}")
            first = int(later.min())

    def leave(self, number, t, end):
        if end is None:
            self.at[t] = number + 1
            return
        taken = True
        if end.predicate:
            taken = self.namespace[end.predicate[1:]][t] ^ end.negated
        if end.op.startswith("bra"):
            target = self.code.kernel.labels[end.operands[0]]
            self.at[t] = target if taken is True else np.where(taken, target, number + 1)
            return
        self.at[t] = number + 1
        if taken is not True:
            t = t[taken]
        if end.op in ("ret", "exit"):
            self.state[t] = ENDED
        elif end.op == "bar.sync":
            name, count = (*end.operands, "0")[:2]
            self.barrier[t, 0], self.barrier[t, 1] = self.number_of(name, t), self.number_of(count, t)
            self.state[t] = AT_BARRIER
        elif end.op == "bar.warp.sync":
            self.state[t] = AT_WARP_BARRIER
        elif end.op == "mbarrier.try_wait.parity.shared::cta.b64":
            base, offset = self.code.operands.address(end.operands[1])
            addresses = self.address(self.namespace.get(base), offset, t)
            parities = parity_of(end.operands[2], self.namespace, t)
            self.awaited.update(zip(t.tolist(), zip(addresses.tolist(), parities.tolist(), [end.text] * len(t))))
            self.state[t] = AT_PHASE
        elif end.op.startswith("barrier.cluster.arrive"):
            self.arrive(t)
        elif end.op.startswith("barrier.cluster.wait"):
            self.state[t] = AT_CLUSTER_BARRIER
        else:
            raise Fault(f"cannot run '{end.text}'")

    def number_of(self, text, t):
        return self.namespace[text[1:]][t] if text.startswith("%") else integer(text)

    def whole_warps(self, t, text):
        """The warps of threads `t`, which are there as a whole, at the same instruction."""
        warps = np.unique(t // 32)
        there = np.zeros(self.number, bool)
        there[t] = True
        there, live = there.reshape(-1, 32)[warps], (self.state != ENDED).reshape(-1, 32)[warps]
        at = self.at.reshape(-1, 32)[warps]
        apart = there & (at != np.where(there, at, -1).max(1, keepdims=True))
        if (there != live).any() or apart.any():
            raise Fault(f"a part of a warp is at {text}")
        return warps

    def open_barriers(self):
        before = self.state.copy()
        waiting = np.flatnonzero(self.state == AT_WARP_BARRIER)
        if waiting.size:
            self.order.step(self.whole_warps(waiting, "bar.warp.sync"))
            self.state[waiting] = RUNNING
        for thread in np.flatnonzero(self.state == AT_PHASE):
            if self.phases.passes(thread, *self.awaited[int(thread)]):
                self.state[thread] = RUNNING
        waiting = np.flatnonzero(self.state == AT_BARRIER)
        for cta in np.unique(self.cta[waiting]):
            own = waiting[self.cta[waiting] == cta]
            for name in np.unique(self.barrier[own, 0]):
                self.open(own[self.barrier[own, 0] == name], cta, name)
        self.open_clusters()
        if (before == self.state).all():
            at = np.unique(self.barrier[waiting], axis=0).tolist() if waiting.size else "a cluster's or of phases"
            raise Fault(f"threads wait for ever at barriers {at}")

    def open(self, t, cta, name):
        """Barrier `name` of a CTA, if all have come."""
        counts = np.unique(self.barrier[t, 1])
        if len(counts) > 1:
            raise Fault(f"barrier {name} waits for {counts.tolist()} threads")
        expected = int(counts[0])
        if not expected:
            own = self.cta == cta
            expected = int((self.state[own] != ENDED).sum())
            if expected != own.sum():
                self.report("threads have ended before a barrier of all", f"barrier {name}")
        if len(t) > expected:
            raise Fault(f"{len(t)} threads at barrier {name}, which waits for {expected}")
        if len(t) == expected:
            self.order.meet(self.whole_warps(t, f"barrier {name}"))
            self.state[t] = RUNNING

    def arrive(self, t):
        size = self.launch.block * self.launch.cluster
        for cluster in np.unique(t // size):
            own = t[t // size == cluster]
            warps = self.whole_warps(own, "barrier.cluster.arrive")
            key = int(cluster), int(self.arrivals[own[0]])
            done = self.order.before(warps)
            self.arrived[key] = np.maximum(self.arrived.get(key, 0), done)
            self.order.step(warps)
        self.arrivals[t] += 1

    def open_clusters(self):
        size = self.launch.block * self.launch.cluster
        waiting = np.flatnonzero(self.state == AT_CLUSTER_BARRIER)
        for cluster in np.unique(waiting // size):
            own = waiting[waiting // size == cluster]
            everyone = slice(cluster * size, (cluster + 1) * size)
            times = int(self.arrivals[own[0]])
            if (self.arrivals[everyone][self.state[everyone] != ENDED] < times).any():
                continue
            warps = self.whole_warps(own, "barrier.cluster.wait")
            self.order.learn(warps, self.arrived[int(cluster), times - 1])
            self.state[own] = RUNNING

    def check_end(self):
        if self.copies:
            self.report("copies that no thread has waited for", self.code.kernel.name)
        self.phases.check_end(self.code.kernel.name)
        if any(group.running for group in self.warp_groups.values()):
            self.report("products that no thread has waited for", self.code.kernel.name)


def run(code, launch, memory, report):
    """All CTAs of a launch; returns how many blocks were executed."""
    memory.begin_launch()
    count = max(launch.cluster, THREADS // launch.block // launch.cluster * launch.cluster)
    with np.errstate(all="ignore"):
        return sum(Machine(code, launch, memory, report, first, min(count, launch.grid - first)).run()
                   for first in range(0, launch.grid, count))
