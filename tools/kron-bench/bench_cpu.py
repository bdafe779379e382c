"""Arrays, timing and limits of the processor; same interface as bench_gpu.Gpu.

Launches are timed by a loop in C, as compiled programs make them: one from Python costs a
microsecond more, which is longer than many products of one row take.

Arrays start at a cache line. Large ones lie in huge pages where the system has them (NumPy asks
for them), and so does what the copy rate is measured on.

SPDX-License-Identifier: MIT
"""

import math
import os
import pathlib
import re
import time

import numpy as np

from bench_cases import CODES, STORAGE, random_array
from bench_quiet import Quiet
from kronlib import Call

#: Of the processor, each with the least value of KronIsa whose kernels may use it.
FEATURES = {"avx2": 2, "fma": 2, "f16c": 2, "avx512f": 3, "avx512_vnni": 3, "avx512_bf16": 3,
            "avx512_fp16": 3, "amx_tile": 4}
WARM_SECONDS, SAMPLE_SECONDS = 0.05, 0.002
LINE_BYTES = 64
LIMIT_ROUNDS = 3  # in which the machine's rates are measured; the best counts


class Cpu:
    target, device, in_turn = 0, 0, True
    patience = 300  # seconds for one case, in which a peer may tune itself

    def __init__(self, kron, threads, cold):
        self.kron, self.cold = kron, cold
        self.threads = threads or len(os.sched_getaffinity(0))
        # What is compiled gets the records for so many.
        kron.check(kron.runtime.kronSetNumThreads(self.threads))
        self.cache = np.zeros(2**28, np.uint8) if cold else None
        self._limits, self._bytes = {}, 0
        self._quiet = Quiet(sorted(os.sched_getaffinity(0)) if self.threads == 1 else ())

    def machine(self):
        text = pathlib.Path("/proc/cpuinfo").read_text()
        fields = dict(re.findall(r"^(\w[\w ]*?)\s*: (.*)$", text, re.M))
        flags = set(fields.get("flags", "").split())
        return {"processor": fields.get("model name", "unknown"),
                "family": fields.get("cpu family"), "model": fields.get("model"),
                "features": [feature for feature, least in FEATURES.items()
                             if feature in flags and least <= self.kron.runtime.kronGetIsa()],
                "threads": self.threads,
                "numpy": np.__version__, "l2": self._l2()}

    @staticmethod
    def _l2():
        path = pathlib.Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
        return path.read_text().strip() if path.exists() else "unknown"

    def copies(self, case):
        return 1

    def arrays(self, case, rng):
        arrays = [self._aligned(shape, STORAGE[name])
                  for shape, name in zip(case.shapes, case.types)]
        for array, name in zip(arrays if case.beta else arrays[:-1], case.types):
            array[...] = random_array(name, rng, array.shape)
        if not case.beta:
            self.poison(arrays[-1])
        return arrays

    @staticmethod
    def _aligned(shape, dtype):
        """New memory that starts at a cache line, as that of PyTorch does."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        memory = np.empty(size + LINE_BYTES, np.uint8)
        start = -memory.ctypes.data % LINE_BYTES
        return memory[start:start + size].view(dtype).reshape(shape)

    def empty(self, case):
        """The output of a case."""
        array = self._aligned(case.shapes[-1], STORAGE[case.type])
        array[...] = 0
        return array

    @staticmethod
    def address(array):
        return array.ctypes.data

    def take(self, array, name, shape, rows, axis):
        if name == "bf16" and hasattr(array, "data_ptr"):
            import torch
            array = array.contiguous().view(torch.int16).numpy().view(np.uint16)
        return np.moveaxis(np.take(np.asarray(array).reshape(shape), rows, axis), axis, 0)

    @staticmethod
    def poison(array):
        array.view(np.uint8)[...] = 0xFF

    def free(self):
        pass

    def usable(self):
        return True

    def synchronize(self):
        pass

    def begin(self, case):
        """A case's samples follow."""
        self._bytes = case.bytes
        self._quiet.begin()

    def remarks(self):
        """What to record of the samples since `begin`."""
        return {"disturbed": self._quiet.disturbed} if self._quiet.disturbed else {}

    def _run(self, calls, repeats):
        if isinstance(calls[0], Call):
            return calls[0].host_seconds(repeats) * 1e3
        start = time.perf_counter()
        for i in range(repeats):
            calls[i % len(calls)]()
        return (time.perf_counter() - start) / repeats * 1e3

    def prepare(self, calls):
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < WARM_SECONDS or not count:
            calls[0]()
            count += 1
        once = (time.perf_counter() - start) / count
        return 1 if self.cold else max(1, math.ceil(SAMPLE_SECONDS / once))

    def sample(self, calls, repeats):
        """Milliseconds per call, while nobody else uses the processor as far as can be told."""
        if self.cold:
            self.cache += 1
            return self._run(calls, repeats)
        return self._quiet.take(lambda: self._run(calls, repeats), self._bytes)

    def _measure(self, case):
        kind = {"c32": "f32", "c64": "f64", "f16": "f32", "bf16": "f32"}.get(case.type, case.type)
        key = kind, int(math.log2(max(case.bytes, 1)))
        if key not in self._limits:
            rounds = [self._quiet.take(lambda: self.kron.measure_limits(
                CODES[kind], case.bytes, self.threads), case.bytes) for _ in range(LIMIT_ROUNDS)]
            self._limits[key] = tuple(map(max, zip(*rounds)))
        return self._limits[key]

    def bandwidth(self, case):
        return self._measure(case)[1]

    def peak(self, case):
        """Of multiply-adds in the type that the case computes in."""
        return self._measure(case)[0]

    def limits(self):
        return {f"{name} of 2^{size} bytes": value for (name, size), value in self._limits.items()}
