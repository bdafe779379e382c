"""Kernels that the tutorials add (test/lib), interpreted.

SPDX-License-Identifier: MIT
"""

import pathlib
import subprocess

import numpy as np

from interpreted_bits import InterpretedChecks

#: (check, arguments): rows and results that tiles and parts divide, and others.
CHECKS = (("max_plus", (64, 12, 10)), ("max_plus", (201, 7, 3)), ("max_plus", (1, 1, 1)), ("max_plus", (70, 200, 33)))


class Tutorials(InterpretedChecks):
    def __init__(self, root, kron, driver, chip):
        super().__init__(kron, driver, chip)
        self.program, self.chip = pathlib.Path(root) / "bin/kron-tutorials-opt", chip

    def max_plus(self, rows, size_k, size_n):
        text = (f"func.func @main(%x: memref<?x{size_k}xf32>, %f: memref<{size_k}x{size_n}xf32>, "
                f"%y: memref<?x{size_n}xf32>) attributes {{max_plus}} {{\n  return\n}}\n")
        done = subprocess.run([self.program, f"--test-max-plus=chip={self.chip}"], input=text, text=True,
                              capture_output=True)
        if done.returncode:
            return done.stderr
        rng = np.random.default_rng(rows)
        x, f = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, size_k), (size_k, size_n)))
        y, = self.run(done.stdout, [("f32", x, 0), ("f32", f, 0)], [("f32", (rows, size_n), 0)])
        return None if np.array_equal(y, (x[:, :, None] + f).max(1)) else "results differ"
