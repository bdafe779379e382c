"""Global memory: allocations with elements that a kernel may read or write.

Reported are accesses of anything else, or not aligned, and elements that CTAs of one launch write and others
access: nothing orders these.

SPDX-License-Identifier: MIT
"""

import numpy as np

from .operands import UNSIGNED
from .shared import Fault

#: Each allocation has addresses of its own, so that none is behind another one.
SPACE = 1 << 40
READ, WRITE = 1, 2
SEVERAL = -2


class Allocation:
    """Memory of a GPU as test/gpu/device.py uses it."""

    def __init__(self, number, size):
        self.size = size
        self.address = (number + 1) * SPACE
        data = np.full(-(-max(size, 1) // 16) * 2, np.uint64(0xFFFEFFFBFFFEFFFB))
        self.views = {bits // 8: data.view(dtype) for bits, dtype in UNSIGNED.items()}
        self.bytes = self.views[1][:size]
        self.allow(1, np.full(size, READ | WRITE, np.uint8))

    def allow(self, unit, rights):
        """What may be done with each element of `unit` bytes."""
        self.unit, self.rights = unit, rights
        self.forget()

    def forget(self):
        """A launch begins."""
        self.writer = np.full(len(self.rights), -1, np.int32)
        self.reader = np.full(len(self.rights), -1, np.int32)

    def upload(self, array):
        self.bytes[: array.nbytes] = array.reshape(-1).view(np.uint8)

    def download(self, array, offset=0):
        array.reshape(-1).view(np.uint8)[...] = self.bytes[offset : offset + array.nbytes]
        return array

    def fill(self, byte):
        self.bytes[...] = byte


class Memory:
    def __init__(self):
        self.allocations = []

    def allocate(self, size):
        self.allocations.append(Allocation(len(self.allocations), size))
        return self.allocations[-1]

    def begin_launch(self):
        for allocation in self.allocations:
            allocation.forget()

    def accesses(self, addresses, size, text):
        """(allocation, which of the addresses, their offsets), for each allocation."""
        numbers = addresses >> np.uint64(40)
        first = int(numbers[0])
        same = bool((numbers == first).all())
        for number in [first] if same else np.unique(numbers):
            where = slice(None) if same else np.flatnonzero(numbers == number)
            if not 1 <= number <= len(self.allocations):
                raise Fault(f"address {int(addresses[where][0]):#x} is in no array: {text}")
            allocation = self.allocations[int(number) - 1]
            offsets = (addresses[where] - np.uint64(allocation.address)).astype(np.int64)
            if (offsets % size).any():
                raise Fault(f"byte {offsets[offsets % size != 0][0]} of array {number} is not aligned to {size} bytes: "
                            f"{text}")
            yield allocation, where, offsets

    def check(self, allocation, offsets, size, right, ctas, report, text):
        """`size` bytes each, or as many as there are elements of an array."""
        unit = allocation.unit
        if np.ndim(size) == 0:
            units = (offsets // unit)[:, None] + np.arange(max(size // unit, 1))
            ctas = np.broadcast_to(ctas[:, None], units.shape)
        else:
            counts = -(-size // unit)
            units = np.repeat(offsets // unit - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            ctas = np.repeat(ctas, counts)
            if not units.size:
                return
        what = "write" if right == WRITE else "read"
        if units.min() < 0 or units.max() >= len(allocation.rights):
            raise Fault(f"a {what} of elements {units.min()} to {units.max()} of {len(allocation.rights)}: {text}")
        if not (allocation.rights[units] & right).all():
            bad = units[(allocation.rights[units] & right) == 0]
            raise Fault(f"a {what} of element {bad.flat[0]}, which is none of the array's or not to be used so: {text}")
        other = (allocation.writer[units] != -1) & (allocation.writer[units] != ctas)
        if right == WRITE:
            other |= (allocation.reader[units] != -1) & (allocation.reader[units] != ctas)
            allocation.writer[units] = ctas
            other |= allocation.writer[units] != ctas
        else:
            several = (allocation.reader[units] != -1) & (allocation.reader[units] != ctas)
            allocation.reader[units] = np.where(several, SEVERAL, ctas)
        if other.any():
            report(f"a {what} of an element that another CTA accesses", text)

    def load(self, addresses, width, number, ctas, report, text):
        values = np.empty((len(addresses), number), UNSIGNED[8 * width])
        size = width * number
        for allocation, where, offsets in self.accesses(addresses, size, text):
            self.check(allocation, offsets, size, READ, ctas[where], report, text)
            values[where] = allocation.views[width][(offsets // width)[:, None] + np.arange(number)]
        return values

    def store(self, addresses, width, values, ctas, report, text):
        number = values.shape[1]
        size = width * number
        for allocation, where, offsets in self.accesses(addresses, size, text):
            self.check(allocation, offsets, size, WRITE, ctas[where], report, text)
            allocation.views[width][(offsets // width)[:, None] + np.arange(number)] = values[where]

    def load_prefix(self, addresses, size, sizes, ctas, report, text):
        """Words of `size` bytes each, of which the first `sizes` are read and zeros follow."""
        found = np.zeros((len(addresses), size), np.uint8)
        for allocation, where, offsets in self.accesses(addresses, size, text):
            count = sizes[where]
            self.check(allocation, offsets, count, READ, ctas[where], report, text)
            inside = np.arange(size) < count[:, None]
            # Behind an allocation's end nothing is read.
            index = np.where(inside, offsets[:, None] + np.arange(size), 0)
            found[where] = np.where(inside, allocation.views[1][index], np.uint8(0))
        return found.view(np.uint32)
