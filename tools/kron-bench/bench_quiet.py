"""Is this processor ours alone? On shared machines another tenant of the same core or memory
makes everything slower for seconds.

What is timed is judged by what it cannot change: a product of small matrices that stay in the L1
cache, and for large arrays a copy that does not fit the L2 cache, right before and after it.

SPDX-License-Identifier: MIT
"""

import time

import numpy as np

TOLERANCE = {"arithmetic": 1.06, "memory": 1.15}  # of the fastest probe so far
LARGE_BYTES = 2**22
WAIT_SECONDS, PAUSE_SECONDS = 2.0, 0.02  # per case, at most; between two looks


class Quiet:
    """Tells samples that others disturbed, and waits until they are gone."""

    def __init__(self):
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
            value = sample()
            before, self._calm = self._calm, self._look(large)
            if before and self._calm:
                return value
            if self._left <= 0:
                self.disturbed += 1
                return value

    def _wait(self, large):
        while not self._calm and self._left > 0:
            start = time.perf_counter()
            self._calm = self._look(large)
            if not self._calm:
                time.sleep(PAUSE_SECONDS)
            self._left -= time.perf_counter() - start

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
        for _ in range(20):
            np.matmul(self._a, self._a, out=self._product)

    def _copy(self):
        np.copyto(self._to, self._from)
