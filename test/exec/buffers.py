"""Strided arrays inside buffers that notice stray reads and writes.

Everything around and between the elements of an array holds a poison (NaN, or an
odd integer), so a read outside shows up in the result; a write outside damages
it. Every other buffer ends at an inaccessible page instead, which turns a read
past the end into a crash. Under AddressSanitizer what lies around an array cannot be
accessed at all.

SPDX-License-Identifier: MIT
"""

import ctypes
import math
import mmap

import numpy as np

from dtypes import poison
from sanitize import SHIELD

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def strides_for(shape, layout, rng):
    """Strides in elements: `packed` row-major without gaps, `rows` with gaps
    between rows (innermost stride 1), `any` in any order with gaps."""
    order = list(range(len(shape)))
    stride = 1
    if layout == "any":
        rng.shuffle(order)
        stride = int(rng.integers(1, 4))
    strides = [0] * len(shape)
    for axis in reversed(order):
        strides[axis] = stride
        gap = 0 if layout == "packed" else int(rng.choice([0, 0, 1, 3, 8]))
        stride = stride * max(shape[axis], 1) + gap
    return tuple(strides)


class Buffer:
    """An array of `shape` and `strides` (elements) in guarded memory; `on_line`: from the
    start of a cache line on, as non-temporal stores want it."""

    def __init__(self, element, shape, strides, rng, on_line=False):
        self.element, self.shape, self.strides = element, tuple(shape), tuple(strides)
        extent = 0
        if math.prod(shape):
            extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
        if on_line:
            size = element.storage.itemsize
            raw = np.empty(extent + 192 // size + 64, element.storage)
            self._start = 64 // size + -raw.ctypes.data % 64 // size
        elif rng.random() < 0.5:
            raw = self._ending_at_guard_page(extent)
            self._start = raw.size - extent
        else:
            before = 16 + int(rng.integers(0, 16))
            raw = np.empty(before + extent + 64, element.storage)
            self._start = before
        raw[...] = poison(element)
        self._raw = raw
        size = element.storage.itemsize
        self.view = np.lib.stride_tricks.as_strided(
            raw[self._start :], self.shape, [s * size for s in self.strides]
        )
        self.address = raw.ctypes.data + self._start * size
        first, last = raw.ctypes.data, raw.ctypes.data + raw.nbytes
        self._outside = [(first, self.address), (self.address + extent * size, last)]

    def _ending_at_guard_page(self, extent):
        size = self.element.storage.itemsize
        pages = -(-max(extent * size, 1) // _PAGE) + 1
        self._map = mmap.mmap(-1, (pages + 1) * _PAGE)
        whole = np.frombuffer(self._map, np.uint8)
        if _libc.mprotect(whole.ctypes.data + pages * _PAGE, _PAGE, 0):
            raise OSError(ctypes.get_errno(), "mprotect")
        return whole[: pages * _PAGE].view(self.element.storage)

    def fill(self, values):
        self.view[...] = values
        self._expected = self._raw.copy()
        SHIELD.close(self._outside)

    def damage(self, writable):
        """What is wrong with the memory since `fill`, or nothing: any change
        outside the array, and inside it too unless it is `writable`."""
        SHIELD.open(self._outside)
        expected = self._expected
        if writable:
            # Put what was computed into the expectation: only the rest counts.
            size = self.element.storage.itemsize
            inside = np.lib.stride_tricks.as_strided(
                expected[self._start :], self.shape, [s * size for s in self.strides]
            )
            inside[...] = self.view
        changed = np.flatnonzero(
            (expected.view(np.uint8) != self._raw.view(np.uint8)).reshape(
                -1, self.element.storage.itemsize
            ).any(axis=1)
        )
        if not changed.size:
            return None
        offset = int(changed[0]) - self._start
        return f"{changed.size} elements outside the result changed, first at offset {offset}"
