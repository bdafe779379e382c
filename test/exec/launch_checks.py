"""What a launch refuses: each kind of wrong argument gets the right status and
message, and nothing is written.

SPDX-License-Identifier: MIT
"""

import ctypes
import subprocess
import sys

import numpy as np

from runtime import Runtime
from checks import Checks
from kronlib import Kernel, make_array

MODULE = """
func.func @on_tensors(%x: tensor<?x8xf32>, %f: tensor<8x4xf32>, %z: tensor<?x4xf32>,
                      %beta: f32) -> tensor<?x4xf32> {
  %y = kron.mkm ins(%x : tensor<?x8xf32>) factors(%f : tensor<8x4xf32>)
         outs(%z : tensor<?x4xf32>) beta(%beta : f32) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
func.func @on_packed(%x: memref<?x8xf32>, %f: memref<8x4xf32>, %y: memref<?x4xf32>) {
  kron.mkm ins(%x : memref<?x8xf32>) factors(%f : memref<8x4xf32>)
    outs(%y : memref<?x4xf32>)
  return
}
func.func @in_place(%x: memref<?x8xf32>, %f: memref<8x4xf32>, %y: memref<?x4xf32>) {
  kron.mkm ins(%x : memref<?x8xf32>) factors(%f : memref<8x4xf32>)
    outs(%y : memref<?x4xf32>) beta(1.0 : f32)
  return
}
"""
F32, F64 = 0, 1
ROWS = 5
KERNELS = ("on_tensors", "on_packed", "in_place")


class LaunchChecks(Checks):
    def __init__(self, runtime_path, module_path):
        super().__init__("launch check")
        self.runtime = Runtime(runtime_path)
        module = self.runtime.load(module_path)
        self.kernels = {n: self.runtime.kernel(module, n) for n in KERNELS}
        rng = np.random.default_rng(1)
        self.x = rng.standard_normal((ROWS, 8)).astype(np.float32)
        self.f = rng.standard_normal((8, 4)).astype(np.float32)
        self.z = rng.standard_normal((ROWS, 4)).astype(np.float32)
        self.beta = np.array(0.5, np.float32)
        self.y = np.full((ROWS, 4), 7, np.float32)

    def arrays(self, name):
        inputs = [self.x, self.f, self.y]
        if name == "on_tensors":
            inputs = [self.x, self.f, self.z, self.beta, self.y]
        return [make_array(a.ctypes.data, F32, a.shape, None) for a in inputs]

    def refuses(self, what, status, fragment, change, name="on_tensors", **options):
        """`change` makes the arguments wrong; it may return a replacement."""
        arrays = self.arrays(name)
        arrays = change(arrays) or arrays
        self.y[...] = 7
        got = self.runtime.launch(self.kernels[name], arrays, **options)
        good = got[0] == status and fragment in got[1] and (self.y == 7).all()
        self.report(what, good, f"got {got}, expected {status} with '{fragment}'")

    def run_arguments(self):
        mismatch, invalid = "KRON_MISMATCH", "KRON_INVALID_ARGUMENT"
        self.refuses("an argument too few", mismatch, "expects 5 arguments, but got 4",
                     lambda arrays: arrays[:-1])
        self.refuses("an argument too many", mismatch, "expects 5 arguments, but got 6",
                     lambda arrays: arrays + arrays[:1])
        self.refuses("another type", mismatch, "expects element type f32, but got f64",
                     self.set(1, type=F64))
        self.refuses("an unknown type", mismatch, "expects element type f32", self.set(0, type=99))
        self.refuses("another rank", mismatch, "expects rank 2, but got 3",
                     self.reshape(0, (1, ROWS, 8)))
        self.refuses("an array for a scalar", mismatch, "expects rank 0", self.reshape(3, (1,)))
        self.refuses("another fixed size", mismatch, "expects axis 1 to have size 8, but got 7",
                     self.reshape(0, (ROWS, 7)))
        self.refuses("rows that differ", mismatch, "expects axis 0 to have size 5",
                     self.reshape(4, (ROWS - 1, 4)))
        self.refuses("a negative size", invalid, "size of at least 0", self.reshape(0, (-1, 8)))
        self.refuses("a size beyond all memory", invalid, "2^63",
                     self.reshape(0, (2**62, 8)))
        self.refuses("no data", invalid, "expects data, but got NULL", self.set(0, data=None))
        self.refuses("no sizes", invalid, "expects sizes, but got NULL", self.set(1, sizes=None))
        self.refuses("a misaligned address", invalid, "aligned to 4 bytes",
                     self.set(0, data=self.x.ctypes.data + 1))
        self.refuses("a negative stride", invalid, "stride of at least 0",
                     self.reshape(0, (ROWS, 8), (-8, 1)))
        self.refuses("an innermost stride of 2", mismatch, "innermost axis to have stride 1",
                     self.reshape(0, (2, 8), (16, 2)))
        self.refuses("a result whose rows coincide", invalid, "stride of at least 1",
                     self.reshape(4, (ROWS, 4), (0, 1)))
        self.refuses("gaps where there may be none", mismatch, "row-major array without gaps",
                     self.reshape(0, (2, 8), (16, 1)), name="on_packed")
        self.refuses("strides beyond all memory", invalid, "2^63",
                     self.reshape(0, (ROWS, 8), (2**61, 1)))
        self.refuses("a misaligned result", invalid, "aligned to 4 bytes",
                     self.set(4, data=self.y.ctypes.data + 2))

    def run_overlaps(self):
        invalid = "KRON_INVALID_ARGUMENT"
        self.refuses("a result over the addend", invalid, "no overlap with argument 2",
                     self.set(4, data=self.z.ctypes.data))
        self.refuses("a result over X", invalid, "no overlap with argument 0",
                     self.set(4, data=self.x.ctypes.data))
        self.refuses("a result that ends in X", invalid, "no overlap with argument 0",
                     self.set(4, data=self.x.ctypes.data + 4 * (8 * ROWS - 1)))
        self.refuses("a result over a factor", invalid, "no overlap with argument 1",
                     self.set(1, data=self.y.ctypes.data))
        self.refuses("a result whose rows run into each other", invalid, "not to overlap",
                     self.reshape(4, (ROWS, 4), (3, 1)))
        memory = np.random.default_rng(2).standard_normal((ROWS, 12)).astype(np.float32)
        x, y = memory[:, :8], memory[:, 8:]
        expected = x @ self.f + self.z / 2
        arrays = self.arrays("on_tensors")
        for index, part in ((0, x), (4, y)):
            arrays[index] = make_array(part.ctypes.data, F32, part.shape, (12, 1))
        got = self.runtime.launch(self.kernels["on_tensors"], arrays)
        self.report("input and result side by side in one array", got[0] == "KRON_SUCCESS"
                    and np.allclose(y, expected, 1e-5, 1e-5), got)

    def run_in_place(self):
        """The documented form: Z named as the result's old value."""
        y = self.z.copy()
        arrays = [make_array(a.ctypes.data, F32, a.shape, None) for a in (self.x, self.f, y)]
        got = self.runtime.launch(self.kernels["in_place"], arrays)
        self.report("a result that is read first", got[0] == "KRON_SUCCESS"
                    and np.allclose(y, self.x @ self.f + self.z, 1e-5, 1e-5), got)

    def run_accepted(self):
        """Unusual, but right: what comes out has to be."""
        kernel = self.kernels["on_tensors"]

        def computes(what, x, **options):
            arrays = self.arrays("on_tensors")
            strides = tuple(s // 4 for s in x.strides)
            arrays[0] = make_array(x.ctypes.data, F32, x.shape, strides)
            self.y[...] = 7
            got = self.runtime.launch(kernel, arrays, **options)
            good = np.allclose(self.y, x @ self.f + self.z / 2, 1e-5, 1e-5)
            self.report(what, got[0] == "KRON_SUCCESS" and good, got)

        computes("an input with stride 0", np.broadcast_to(self.x[:1], self.x.shape))
        computes("as many threads as there are by default", self.x, threads=0)
        computes("more threads than rows and processors", self.x, threads=10000)
        computes("2^31 - 1 threads", self.x, threads=2**31 - 1)

    def run_options(self):
        invalid = "KRON_INVALID_ARGUMENT"
        keep = lambda arrays: None
        self.refuses("a negative number of threads", invalid, "thread", keep, threads=-1)
        self.refuses("a very negative number of threads", invalid, "thread", keep,
                     threads=-2**31)
        kernel = self.kernels["on_tensors"]
        status, size = self.runtime.workspace_size(kernel, 1)
        self.report("size of the workspace", status == "KRON_SUCCESS", status)
        memory = np.zeros(size + 128, np.uint8)
        aligned = memory.ctypes.data + -memory.ctypes.data % 64
        if size:
            self.refuses("a workspace too small", "KRON_WORKSPACE_TOO_SMALL", f"{size} bytes",
                         keep, threads=1, workspace=aligned, workspace_bytes=size - 1)
        self.refuses("a misaligned workspace", invalid, "aligned to 64", keep, threads=1,
                     workspace=aligned + 4, workspace_bytes=size)
        got = self.runtime.launch(kernel, self.arrays("on_tensors"), 1, aligned, size)
        expected = self.x @ self.f + self.z / 2
        good = got[0] == "KRON_SUCCESS" and np.allclose(self.y, expected, 1e-5, 1e-5)
        self.report("a workspace of exactly the size asked for", good, got)
        other = Kernel.from_buffer_copy(kernel)
        other.api_version += 1
        got = self.runtime.launch(other, self.arrays("on_tensors"))
        self.report("a kernel of another version", got[0] == "KRON_VERSION_MISMATCH", got)
        got = self.runtime.lib.kronLaunch(None, None, 0, None)
        self.report("no kernel", got == 1, got)
        got = self.runtime.lib.kronLaunch(ctypes.byref(kernel), None, 5, None)
        self.report("no arguments", got == 1, got)


def run(suite):
    """Compiles the module and runs the checks in a process of their own."""
    message = suite.run_kronc(MODULE, "launch-checks", variants=False)
    if message:
        print("FAILED launch checks: " + message)
        return 0, 1
    done = subprocess.run(
        [sys.executable, __file__, suite.runtime, suite.folder / "launch-checks.so"],
        capture_output=True, text=True)
    *problems, counts = done.stdout.splitlines() or [""]
    print("\n".join(problems), end="\n" if problems else "")
    if done.returncode or not counts:
        print(f"FAILED launch checks: exit status {done.returncode}: {done.stderr}")
        return 0, 1
    passed, failed = map(int, counts.split())
    print(f"launch checks: {passed + failed}, {failed} failed")
    return passed, failed


if __name__ == "__main__":
    checks = LaunchChecks(sys.argv[1], sys.argv[2])
    checks.run_arguments()
    checks.run_overlaps()
    checks.run_in_place()
    checks.run_accepted()
    checks.run_options()
    print(checks.passed, checks.failed)
