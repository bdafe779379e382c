"""Is this processor ours alone? On shared machines another tenant of the same core or memory
makes everything slower for seconds.

What is timed is judged by what it cannot change: a product of small matrices that stay in the L1
cache, and for large arrays a copy that does not fit the L2 cache, right before and after it. On
the host of an H200 the product takes 93 to 110 us in quiet moments and 130 to 170 us in others;
these last from tenths of a second to many seconds, in more than half of the time, and are over
sooner on another processor.

SPDX-License-Identifier: MIT
"""

import os
import time

import numpy as np

TOLERANCE = {"arithmetic": 1.18, "memory": 1.25}  # of the fastest probe so far
LARGE_BYTES = 2**22
WAIT_SECONDS, PAUSE_SECONDS = 1.5, 0.005  # per case, at most; between two looks


class Quiet:
    """Tells samples that others disturbed, and waits until they are gone, on one of `processors`
    after the other if these are several."""

    def __init__(self, processors=()):
        self._processors, self._moved = list(processors), False
        self._move()
        self._a = np.ones((64, 64), np.float32)
        self._product = np.empty_like(self._a)
        self._from = np.ones(LARGE_BYTES, np.uint8)
        self._to = np.empty_like(self._from)
        self._fastest = {}
        self._left, self._calm = 0.0, False
        self.disturbed = 0  # samples of the case that were taken all the same
        for _ in range(50):
            self._look(True)

    def begin(self):
        """A new case, with patience of its own."""
        self._left, self._calm, self.disturbed = WAIT_SECONDS, False, 0

    def take(self, sample, size):
        """What `sample` returns, from a call that nothing disturbed; `size`: bytes it touches."""
        large = size >= LARGE_BYTES
        while True:
            self._wait(large)
            if self._moved:
                sample()  # into the caches of this processor
                self._moved = False
            start = time.perf_counter()
            value = sample()
            before, self._calm = self._calm, self._look(large)
            if before and self._calm:
                return value
            self._left -= time.perf_counter() - start
            if self._left <= 0:
                self.disturbed += 1
                return value

    def _wait(self, large):
        while not self._calm and self._left > 0:
            start = time.perf_counter()
            self._calm = self._look(large)
            if not self._calm:
                self._move()
                time.sleep(PAUSE_SECONDS)
            self._left -= time.perf_counter() - start

    def _move(self):
        if self._processors:
            self._moved = len(self._processors) > 1
            self._processors.append(self._processors.pop(0))
            os.sched_setaffinity(0, self._processors[-1:])

    def _look(self, large):
        """Whether the probes are as fast as they have been."""
        calm = self._probe("arithmetic", self._multiply)
        return (not large or self._probe("memory", self._copy)) and calm

    def _probe(self, kind, work):
        start = time.perf_counter()
        work()
        spent = time.perf_counter() - start
        self._fastest[kind] = min(self._fastest.get(kind, spent), spent)
        return spent <= TOLERANCE[kind] * self._fastest[kind]

    def _multiply(self):
        # Not by a BLAS, which has threads.
        for _ in range(3):
            np.einsum("ik,jk->ij", self._a, self._a, out=self._product)

    def _copy(self):
        np.copyto(self._to, self._from)
