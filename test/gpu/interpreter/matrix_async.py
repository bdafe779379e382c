"""wgmma: products of a warp group that run on while its threads do, until they wait.

Accumulators are full of NaN from an instruction up to the wait for it.

SPDX-License-Identifier: MIT
"""

import dataclasses

import numpy as np

from . import tensor
from .parser import GROUP_THREADS

POISON = 0xFFFFFFFF


@dataclasses.dataclass
class Product:
    """One instruction that has not been waited for."""
    batch: int
    accumulators: tuple
    #: (threads, accumulators) bits.
    results: np.ndarray
    #: Registers of A and their bits at the beginning.
    left: tuple
    left_bits: np.ndarray
    #: Of shared memory.
    units: np.ndarray
    text: str


class WarpGroup:
    """The products of 128 threads."""

    def __init__(self, shared, threads, report):
        self.shared, self.threads, self.report = shared, threads, report
        self.batch, self.running = 0, []

    def operand(self, descriptor, size, k, type_, transposed, text):
        """(values in float64, their 16-byte rows) of an operand in shared memory."""
        descriptors = descriptor[self.threads]
        if (descriptors != descriptors[0]).any():
            self.report("threads of a warp group with several matrix descriptors", text)
        # The descriptor has 18 bits of an address, which are all that there are.
        width = tensor.BYTES[type_]
        addresses, rows = tensor.descriptor_addresses(int(descriptors[0]), size, k, type_, transposed)
        offsets = self.shared.offsets(self.threads[:1], addresses, width, text)
        bits = self.shared.views[width][offsets // width]
        return tensor.elements(bits[None], type_)[0].reshape(size, k), self.shared.offsets(
            self.threads[:1], rows, 16, text)

    def multiply(self, n, type_, accumulators, left, right, adds, transposed, text):
        k = 32 // tensor.BYTES[type_]
        b, rows = self.operand(right, n, k, type_, transposed[1], text)
        in_registers = isinstance(left, tuple)
        if in_registers:
            bits = np.stack([r[self.threads] for r in left], 1).reshape(4, 32, len(left))
            a = tensor.spread(tensor.elements(bits, type_), tensor.places_a(k, type_), (16, k))
        else:
            a, more = self.operand(left, 64, k, type_, transposed[0], text)
            a, rows = a.reshape(4, 16, k), np.union1d(rows, more)
        i = np.arange(n // 2)
        row, column = tensor.GROUP[:, None] + 8 * (i >> 1 & 1), tensor.PLACE[:, None] * 2 + (i & 1) + 8 * (i >> 2)
        sums = (a @ b.T)[:, row, column].reshape(GROUP_THREADS, -1)
        if adds:
            sums = sums + self.accumulated(accumulators).view(np.float32)
        units = self.shared.begin_matrix_read(self.threads[::32], rows, text)
        self.running.append(Product(
            self.batch, accumulators, sums.astype(np.float32).view(np.uint32), left if in_registers else (),
            np.stack([r[self.threads] for r in left], 1) if in_registers else np.empty(0), units, text))
        for register in accumulators:
            register[self.threads] = POISON

    def accumulated(self, accumulators):
        """Bits of accumulators that the product before may still be adding to."""
        for product in reversed(self.running):
            if product.accumulators[0] is accumulators[0]:
                return product.results
        return np.stack([r[self.threads] for r in accumulators], 1)

    def commit(self):
        self.batch += 1

    def wait(self, number):
        done = [p for p in self.running if p.batch < self.batch - number]
        self.running = [p for p in self.running if p.batch >= self.batch - number]
        last = {id(p.accumulators[0]): p for p in [*done, *self.running]}
        for product in done:
            self.shared.end_matrix_read(self.threads[::32], product.units)
            if product.left and (np.stack([r[self.threads] for r in product.left], 1) != product.left_bits).any():
                self.report("an operand of a product changes before it was waited for", product.text)
            if last[id(product.accumulators[0])] is not product:
                continue
            for i, register in enumerate(product.accumulators):
                if (register[self.threads] != POISON).any():
                    self.report("an accumulator changes before it was waited for", product.text)
                register[self.threads] = product.results[:, i]
