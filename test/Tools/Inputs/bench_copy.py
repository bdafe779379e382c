"""The copy that kron-bench compares batched arrays with on a GPU, on a driver that is made up and
refuses what leaves its memory. See kron-bench-copy.test."""

import bench_gpu
import numpy as np
from bench_cases import Case


class Memory:
    def __init__(self, cuda, size):
        self.address, self.size = cuda.end, size
        cuda.end += size + 4096

    def upload(self, values):
        assert values.nbytes == self.size

    def fill(self, byte):
        pass


class Cuda:
    def __init__(self, device):
        self.end, self.memory = 4096, []

    def allocate(self, size):
        self.memory.append(Memory(self, size))
        return self.memory[-1]

    def l2_bytes(self):
        return 1

    def event(self):
        return None

    def find(self, address, size):
        """The array that holds all of these bytes."""
        for array in self.memory:
            if array.address <= address and address + size <= array.address + array.size:
                return array
        raise SystemExit(f"{size} bytes at {address} are in no array")

    def call(self, name, target, source, size, stream):
        assert name == "cuMemcpyDtoDAsync_v2" and stream is None
        target, source = (self.find(place.value, size.value) for place in (target, source))
        assert target is not source
        print(f"{size.value} bytes from {source.size} to {target.size}")


bench_gpu.import_torch, bench_gpu.Cuda = lambda: None, Cuda
gpu = bench_gpu.Gpu(0, cold=False)
for factors in ("4,4", "5:4,4", "4:5,4"):
    case = Case({"op": "batched", "type": "f32", "rows": 3, "factors": factors})
    print(case.name)
    gpu.copy(gpu.arrays(case, np.random.default_rng(0)))()
