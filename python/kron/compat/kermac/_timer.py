# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The time that a GPU takes."""

import torch


class CudaTimer:
    """Time between `start` and `stop` on the current stream."""

    def __init__(self):
        if not torch.cuda.is_available():
            raise RuntimeError("expects a GPU for CudaTimer, but CUDA is not available")
        self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def start(self):
        self._begin.record()

    def stop(self):
        """Milliseconds since `start`; waits for the GPU."""
        self._end.record()
        self._end.synchronize()
        return self._begin.elapsed_time(self._end)
