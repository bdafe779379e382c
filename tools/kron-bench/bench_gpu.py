"""Arrays, timing and limits of a GPU.

SPDX-License-Identifier: MIT
"""

import math
from ctypes import c_size_t, c_uint64

import numpy as np

from bench_cases import SIZES, STORAGE, random_array
from kronlib import Cuda, CudaError

# Used where PyTorch is not there to measure: cuBLAS on an H200, TFLOP/s.
H200_TFLOPS = {"f32": 50.9, "tf32": 406.0, "f64": 56.1, "f16": 750.0, "bf16": 762.0}
ROTATION = 3  # small arrays take turns until they cover the L2 cache so many times
SAMPLE_MS = 1.0  # launches of one sample take at least so long


def import_torch():
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


class Gpu:
    target, threads, in_turn = 1, 0, False
    patience = 90  # seconds for one case

    def __init__(self, device, cold):
        self.device, self.cold = device, cold
        self.torch = import_torch()
        self.cuda = Cuda(device)
        if self.torch:
            self.torch.cuda.set_device(device)
        self.l2 = self.cuda.l2_bytes()
        self.start, self.stop = self.cuda.event(), self.cuda.event()
        self.flush = self.cuda.allocate(2 * self.l2) if cold else None
        self._limits = {}

    def machine(self):
        info = self.cuda.machine()
        if self.torch:
            info |= {"torch": self.torch.__version__, "cuda": self.torch.version.cuda}
        return info

    # --- arrays ---------------------------------------------------------------

    def copies(self, case):
        """How many sets of arrays take turns."""
        if self.cold:
            return 1
        return max(1, min(64, math.ceil(ROTATION * self.l2 / max(case.bytes, 1))))

    def arrays(self, case, rng):
        """Random inputs and an output full of NaN (of values, with beta)."""
        out = [self._array(name, shape, rng)
               for name, shape in zip(case.types, case.shapes[:-1])]
        if case.beta:
            return [*out, self._array(case.type, case.shapes[-1], rng)]
        y = self.empty(case)
        self.poison(y)
        return [*out, y]

    def empty(self, case):
        """The output of a case."""
        if self.torch:
            return self.torch.empty(case.shapes[-1], dtype=self._dtype(case.type), device="cuda")
        return self.cuda.allocate(math.prod(case.shapes[-1]) * SIZES[case.type])

    def _dtype(self, name):
        torch = self.torch
        return {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
                "bf16": torch.bfloat16, "i32": torch.int32, "i64": torch.int64,
                "c32": torch.complex64, "c64": torch.complex128,
                "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}[name]

    def _array(self, name, shape, rng):
        if not self.torch:
            values = np.ascontiguousarray(random_array(name, rng, shape))
            memory = self.cuda.allocate(values.nbytes)
            memory.upload(values)
            return memory
        torch, dtype = self.torch, self._dtype(name)
        torch.manual_seed(int(rng.integers(2**31)))
        if name[0] == "i":
            return torch.randint(-8, 9, shape, dtype=dtype, device="cuda")
        if name[0] == "c":
            parts = torch.rand([*shape, 2], dtype=self._dtype("f" + name[1:]), device="cuda")
            return torch.view_as_complex(parts * 2 - 1)
        if name in ("f16", "bf16", "e4m3", "e5m2"):
            return torch.rand(shape, dtype=torch.float32, device="cuda").mul_(2).sub_(1).to(dtype)
        return torch.rand(shape, dtype=dtype, device="cuda").mul_(2).sub_(1)

    @staticmethod
    def address(array):
        return array.data_ptr() if hasattr(array, "data_ptr") else array.address

    def take(self, array, name, shape, rows, axis):
        """Rows of an array as a NumPy array whose first axis is the row."""
        if hasattr(array, "data_ptr"):
            torch = self.torch
            index = torch.as_tensor(np.asarray(rows), device="cuda")
            part = array.reshape(shape).index_select(axis, index).movedim(axis, 0).contiguous()
            part = part.view(torch.int16) if name == "bf16" else part
            host = part.cpu().numpy()
            return host.view(np.uint16) if name == "bf16" else host
        whole = array.download(np.empty(shape, STORAGE[name]))
        return np.moveaxis(np.take(whole, rows, axis), axis, 0)

    def take_wide(self, array, name, shape, rows, axis):
        """The same as a tensor of f64 or complex f64."""
        torch = self.torch
        index = torch.as_tensor(np.asarray(rows), device="cuda")
        of_8_bits = name in ("e4m3", "e5m2")
        # PyTorch takes no rows out of those.
        array = array.view(torch.uint8) if of_8_bits else array
        part = array.reshape(shape).index_select(axis, index).movedim(axis, 0)
        part = part.contiguous().view(self._dtype(name)) if of_8_bits else part
        return part.to(torch.complex128 if name[0] == "c" else torch.float64)

    def poison(self, array):
        """Fills an output with NaN."""
        if self.torch:
            array.view(self.torch.uint8).fill_(0xFF)
        else:
            array.fill(0xFF)

    def free(self):
        """Gives back the memory of arrays that are gone."""
        if self.torch:
            self.torch.cuda.empty_cache()

    def synchronize(self):
        self.cuda.synchronize()

    # --- time -----------------------------------------------------------------

    def begin(self, case):
        """A case's samples follow: nobody else uses a GPU."""

    def remarks(self):
        """What to record of the samples since `begin`."""
        return {}

    def _run(self, calls, repeats):
        self.cuda.record(self.start)
        for i in range(repeats):
            calls[i % len(calls)]()
        self.cuda.record(self.stop)
        return self.cuda.milliseconds(self.start, self.stop) / repeats

    def prepare(self, calls):
        """Warms up; returns how many launches make a sample."""
        for call in calls:
            call()
        once = self._run(calls, max(len(calls), 3))
        warm = max(1, min(2000, int(20 / max(once, 1e-3))))
        once = self._run(calls, warm)
        if self.cold:
            return 1
        return max(1, math.ceil(SAMPLE_MS / max(once, 1e-4)))

    def sample(self, calls, repeats):
        """Milliseconds per launch, launches back to back; or of one launch after
        something else went through the cache."""
        if self.cold:
            self.flush.fill(1)
        else:
            calls[-1]()  # the first launch behind another kernel's is slower
        return self._run(calls, repeats)

    def copy(self, arrays):
        """A copy that reads and writes as many bytes in all as there are in the first array
        and the last one: of the first into the last where they have one size, else between
        the larger and memory of its own."""
        ends = arrays[0], arrays[-1]
        size = sum(map(self._bytes, ends)) // 2
        source, target = sorted(ends, key=self._bytes, reverse=True)
        if self._bytes(target) < size:
            target = self.cuda.allocate(size)
        operands = c_uint64(self.address(target)), c_uint64(self.address(source)), c_size_t(size)
        return lambda keep=target: self.cuda.call("cuMemcpyDtoDAsync_v2", *operands, None)

    @staticmethod
    def _bytes(array):
        return array.nbytes if hasattr(array, "data_ptr") else array.size

    def usable(self):
        """False after an error that this process cannot get over."""
        try:
            self.cuda.synchronize()
        except CudaError:
            return False
        return True

    # --- limits ---------------------------------------------------------------

    def bandwidth(self, case):
        """Bytes per second, read plus written, of a copy of 1 GiB."""
        if "copy" not in self._limits:
            source, target = self.cuda.allocate(2**30), self.cuda.allocate(2**30)
            source.fill(1)
            calls = [lambda: target.copy_from(source)]
            best = min(self._run(calls, 5) for _ in range(4))
            self._limits["copy"] = 2 * 2**30 / best * 1e3
        return self._limits["copy"]

    def _tflops(self, name):
        if name not in self._limits:
            self._limits[name] = (self._measure_matmul(name) if self.torch
                                  else H200_TFLOPS[name] * 1e12)
        return self._limits[name]

    def _measure_matmul(self, name):
        torch = self.torch
        n = 4096 if name == "f64" else 8192
        allowed = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        a, b = (torch.randn(n, n, device="cuda", dtype=torch.float32).to(
            self._dtype("f32" if name == "tf32" else name)) for _ in range(2))
        best = min(self._run([lambda: a @ b], 3) for _ in range(5))
        torch.backends.cuda.matmul.allow_tf32 = allowed
        return 2 * n**3 / best * 1e3

    def peak(self, case):
        """Operations per second that this type and precision could have at best;
        infinite for integers, whose rate is not known."""
        name = {"c32": "f32", "c64": "f64"}.get(case.type, case.type)
        if name[0] == "i":
            return math.inf
        if name != "f32" or case.precision == "ieee":
            return self._tflops(name)
        if case.precision == "tf32":
            return self._tflops("tf32")
        # Three TF32 products make one of f32.
        return max(self._tflops("f32"), self._tflops("tf32") / 3)

    def limits(self):
        return {name: value for name, value in self._limits.items()}
