"""Strided arrays on the GPU that notice stray reads and writes.

As in test/exec/buffers.py, a poison stands around and between the elements. Most
arrays start at an address that vector accesses like, some at any element; half of
them end where their memory ends, for compute-sanitizer.

SPDX-License-Identifier: MIT
"""

import math

import numpy as np

from buffers import Buffer
from dtypes import poison
from kronlib import make_array

ALIGNMENT = 256


class DeviceBuffer(Buffer):
    """A Buffer whose memory has a copy on the GPU."""

    def __init__(self, cuda, element, shape, strides, rng, aligned=False):
        self.element, self.shape, self.strides = element, tuple(shape), tuple(strides)
        extent = 0
        if math.prod(shape):
            extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
        size = element.storage.itemsize
        self._start = ALIGNMENT // size
        if not aligned and rng.random() < 0.25:
            self._start += int(rng.integers(1, 16))
        after = 0 if rng.random() < 0.5 else 64
        raw = np.full(self._start + extent + after, poison(element), element.storage)
        self._raw = raw
        # Kernels do not see this memory, so nothing of it is shielded.
        self._outside = []
        self.view = np.lib.stride_tricks.as_strided(
            raw[self._start :], self.shape, [s * size for s in self.strides])
        self.memory = cuda.allocate(raw.nbytes)
        self.address = self.memory.address + self._start * size

    def fill(self, values):
        super().fill(values)
        self.memory.upload(self._raw)

    def fetch(self):
        """Brings back what the GPU made of it."""
        self.memory.download(self._raw)


class DeviceWorkspace:
    """Memory for a launch with a tail that must stay as it is."""

    TAIL = 4096

    def __init__(self, cuda, size):
        self.size = size
        self.memory = cuda.allocate(size + self.TAIL)
        self.memory.fill(0xA5)
        self.address = self.memory.address

    def damage(self):
        tail = self.memory.download(np.empty(self.TAIL, np.uint8), self.size)
        return None if (tail == 0xA5).all() else "memory behind the workspace changed"


def pass_arguments(case, values, make_buffer):
    """What a call of `case` takes: buffers by name, which `make_buffer` makes of arguments, the arrays of the runtime
    in order, and the scalars, which these point to."""
    buffers, arrays, scalars = {}, [], []
    for arg in case.call_order():
        if arg.role == "scalar":
            scalars.append(np.ascontiguousarray(values[arg.name]))
            arrays.append(make_array(scalars[-1].ctypes.data, arg.element.code, ()))
            continue
        buffer = buffers[arg.name] = make_buffer(arg)
        arrays.append(make_array(buffer.address, arg.element.code, arg.shape, arg.strides))
    return buffers, arrays, scalars
