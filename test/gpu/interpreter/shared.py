"""Shared memory of CTAs that run side by side, and what threads must not do to it.

It is full of NaN at the beginning. Reported are accesses outside of it or not aligned, of words that an
asynchronous copy has not brought or an instruction still reads, races (see order.py), and reads of the
matrix unit that no proxy fence separates from the writes before.

SPDX-License-Identifier: MIT
"""

import numpy as np

from .operands import CLUSTER_STRIDE, SHARED_BASE, UNSIGNED
from .order import WARP, Order

#: NaN as f64, f32, two f16 or two bf16.
POISON = 0xFFFEFFFB
SEVERAL = -2


class Fault(Exception):
    """What ends a launch."""


class Shared:
    def __init__(self, report, threads, threads_of_cta, ctas_of_cluster, size, grain):
        """`grain`: bytes of the narrowest access, in which accesses are noted."""
        self.report, self.threads_of_cta, self.ctas_of_cluster = report, threads_of_cta, ctas_of_cluster
        self.size, self.grain = size, grain
        self.stride = -(-size // 16) * 16
        num_ctas = threads // threads_of_cta
        data = np.full(num_ctas * self.stride // 4, POISON, np.uint32)
        self.views = {bits // 8: data.view(dtype) for bits, dtype in UNSIGNED.items()}
        self.cta_of_thread = np.arange(threads) // threads_of_cta
        self.order = Order(threads, threads_of_cta * ctas_of_cluster)
        units = num_ctas * self.stride // grain
        self.writer, self.write_time = np.full(units, -1, np.int32), np.full(units, -1, np.int32)
        warps = self.order.warps_of_cluster
        self.reader = np.full((units, warps), -1, np.int32)
        self.read_time = np.full((units, warps), -1, np.int32)
        self.coming = np.zeros(units, bool)
        self.being_read = np.zeros(units, np.int16)
        #: Written, and no proxy fence since.
        self.unfenced = np.zeros(units, bool)

    # --- addresses --------------------------------------------------------------

    def offsets(self, t, addresses, size, text, cluster=False):
        """Bytes from the beginning of all shared memory."""
        addresses = np.asarray(addresses).astype(np.int64)
        cta = self.cta_of_thread[t]
        if cluster:
            rank = addresses // CLUSTER_STRIDE
            own = rank == 0
            if (rank > self.ctas_of_cluster).any():
                raise Fault(f"an address outside of the cluster's shared memory: {text}")
            cta = np.where(own, cta, cta // self.ctas_of_cluster * self.ctas_of_cluster + rank - 1)
            addresses = addresses % CLUSTER_STRIDE
        offsets = addresses - SHARED_BASE
        if (offsets % size).any():
            raise Fault(f"address {offsets[offsets % size != 0][0]} of shared memory is not aligned to {size} bytes: "
                        f"{text}")
        if offsets.min(initial=0) < 0 or offsets.max(initial=0) + size > self.size:
            raise Fault(f"bytes {offsets.min()} to {offsets.max() + size} of {self.size} bytes of shared memory: "
                        f"{text}")
        return offsets + cta * self.stride

    def units(self, offsets, size):
        return (offsets // self.grain)[:, None] + np.arange(size // self.grain)

    # --- noticing ---------------------------------------------------------------

    def race(self, what, t, units, bad, text):
        if bad.any():
            thread, unit = np.argwhere(bad)[0]
            byte = int(units[thread, unit]) * self.grain
            self.report(f"{what} by another thread without a barrier in between",
                        f"{text} (thread {int(t[thread]) % self.threads_of_cta}, byte {byte % self.stride})")

    def check_writer(self, what, t, units, text):
        warps = self.order.column(self.writer[units] // WARP)
        done = self.order.known[t[:, None] // WARP, warps] >= self.write_time[units]
        self.race(what, t, units, ~done & (self.writer[units] != t[:, None]), text)

    def note_read(self, t, units, text):
        if self.coming[units].any():
            self.report("a read of a copy that was not waited for", text)
        self.check_writer("a read after a write", t, units, text)
        warps = t // WARP
        column, now = self.order.column(warps)[:, None], self.order.clock[warps][:, None]
        threads = np.broadcast_to(t[:, None], units.shape)
        others = (self.read_time[units, column] == now) & (self.reader[units, column] != threads)
        self.reader[units, column] = threads
        self.read_time[units, column] = now
        others |= self.reader[units, column] != threads
        if others.any():
            at = np.nonzero(others)
            self.reader[units[at], column[at[0], 0]] = SEVERAL

    def note_write(self, t, units, text):
        if self.coming[units].any():
            self.report("a write to a copy that was not waited for", text)
        if self.being_read[units].any():
            self.report("a write to what the matrix unit still reads", text)
        self.check_writer("a write after a write", t, units, text)
        warps = t // WARP
        unordered = self.read_time[units] > self.order.known[warps][:, None, :]
        if unordered.any():
            own = self.order.column(warps)
            column = np.arange(units.shape[1])
            rows = np.arange(len(t))[:, None]
            alone = self.reader[units, own[:, None]] == t[:, None]
            unordered[rows, column, own[:, None]] &= ~alone
            self.race("a write after a read", t, units, unordered.any(2), text)
        self.set_writer(t, units)
        self.race("a write after a write", t, units, self.writer[units] != t[:, None], text)

    def set_writer(self, t, units):
        self.writer[units] = t[:, None]
        self.write_time[units] = self.order.clock[t // WARP][:, None]
        self.unfenced[units] = True

    # --- accesses ---------------------------------------------------------------

    def load(self, t, addresses, width, number, text, cluster=False):
        """(threads, number) elements of `width` bytes."""
        offsets = self.offsets(t, addresses, width * number, text, cluster)
        self.note_read(t, self.units(offsets, width * number), text)
        return self.views[width][(offsets // width)[:, None] + np.arange(number)]

    def store(self, t, addresses, width, values, text):
        """`values`: (threads, number)."""
        number = values.shape[1]
        offsets = self.offsets(t, addresses, width * number, text)
        self.note_write(t, self.units(offsets, width * number), text)
        self.views[width][(offsets // width)[:, None] + np.arange(number)] = values

    def begin_copy(self, t, addresses, size, text):
        """The offsets of what asynchronous copies are going to write."""
        offsets = self.offsets(t, addresses, size, text)
        units = self.units(offsets, size)
        self.note_write(t, units, text)
        self.coming[units] = True
        self.views[4][(offsets // 4)[:, None] + np.arange(size // 4)] = POISON
        return offsets

    def end_copy(self, t, offsets, size, words):
        """Copies of threads `t` have arrived, since these wait for them."""
        units = self.units(offsets, size)
        self.coming[units] = False
        self.views[4][(offsets // 4)[:, None] + np.arange(size // 4)] = words
        self.set_writer(t, units)

    def land(self, thread, time, offsets, words):
        """A bulk copy, which `thread` started at `time` of its warp, has arrived; the matrix unit may read it."""
        units = self.units(offsets, 16)
        self.coming[units] = False
        self.views[4][(offsets // 4)[:, None] + np.arange(4)] = words
        self.writer[units], self.write_time[units], self.unfenced[units] = thread, time, False

    # --- the matrix unit --------------------------------------------------------

    def fence(self, t):
        """fence.proxy.async of threads `t`: for what they wrote, or know to be written."""
        units = np.flatnonzero(self.unfenced)
        fencing = np.zeros(len(self.cta_of_thread), bool)
        fencing[t] = True
        done = fencing[self.writer[units]]
        warps = np.unique(t // WARP)
        cluster_of_warp = warps // self.order.warps_of_cluster
        clusters = self.writer[units] // WARP // self.order.warps_of_cluster
        for cluster in np.unique(cluster_of_warp):
            known = self.order.known[warps[cluster_of_warp == cluster]].max(0)
            column = self.order.column(self.writer[units] // WARP)
            done |= (clusters == cluster) & (known[column] >= self.write_time[units])
        self.unfenced[units[done]] = False

    def begin_matrix_read(self, t, offsets, text):
        """16-byte rows at `offsets` that an instruction of warps `t` reads until these wait; returns their units."""
        units = np.unique(self.units(offsets, 16))
        if self.unfenced[units].any():
            self.report("a read of the matrix unit without fence.proxy.async behind the write", text)
        # All threads of the warp group read: the first one of each warp stands for it.
        self.note_read(t, np.broadcast_to(units, (len(t), len(units))), text)
        self.being_read[units] += 1
        return units

    def end_matrix_read(self, t, units):
        self.being_read[units] -= 1
        now, column = self.order.clock[t // WARP], self.order.column(t // WARP)
        self.read_time[units[:, None], column] = now
        self.reader[units[:, None], column] = SEVERAL
