"""Launches that must be refused, each with a status and a sentence, and after each
the GPU must still work.

SPDX-License-Identifier: MIT
"""

import numpy as np

from checks import Checks
from kronlib import CUDA, Call, Cuda, KronError, make_array

MODULE = """
func.func @product(%x: memref<?x64xf32, strided<[?, 1], offset: ?>>, %f: memref<8x8xf32>,
                   %g: memref<8x8xf32>, %y: memref<?x64xf32, strided<[?, 1], offset: ?>>) {
  kron.mkm ins(%x : memref<?x64xf32, strided<[?, 1], offset: ?>>)
    factors(%f, %g : memref<8x8xf32>, memref<8x8xf32>)
    outs(%y : memref<?x64xf32, strided<[?, 1], offset: ?>>)
  return
}
func.func @two(%x: tensor<?x512xf32>, %f: tensor<512x300xf32>, %g: tensor<300x8xf32>)
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%m) : tensor<?x300xf32>
  %t = kron.mkm ins(%x : tensor<?x512xf32>) factors(%f : tensor<512x300xf32>)
         outs(%e : tensor<?x300xf32>) -> tensor<?x300xf32>
  %o = tensor.empty(%m) : tensor<?x8xf32>
  %y = kron.mkm ins(%t : tensor<?x300xf32>) factors(%g : tensor<300x8xf32>)
         outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
"""
F32, F64, ROWS = 0, 1, 5
INVALID, MISMATCH = "KRON_INVALID_ARGUMENT", "KRON_MISMATCH"


class LaunchChecks(Checks):
    def __init__(self, kron, device, chips):
        super().__init__("bad input")
        self.kron, self.device = kron, device
        self.cuda = Cuda(device)
        self.program = kron.compile(MODULE, chips)
        rng = np.random.default_rng(1)
        shapes = {"product": [(ROWS, 64), (8, 8), (8, 8), (ROWS, 64)],
                  "two": [(ROWS, 512), (512, 300), (300, 8), (ROWS, 8)]}
        self.data, self.memory = {}, {}
        for name, arrays in shapes.items():
            self.data[name] = [rng.standard_normal(s).astype(np.float32) for s in arrays]
            self.memory[name] = [self.cuda.allocate(a.nbytes) for a in self.data[name]]
            for memory, array in zip(self.memory[name], self.data[name]):
                memory.upload(array)

    def arrays(self, name="product"):
        return [make_array(m.address, F32, a.shape)
                for m, a in zip(self.memory[name], self.data[name])]

    def launch(self, arrays, name="product", **options):
        call = Call(self.program, name, arrays, CUDA, self.device)
        for field, value in options.items():
            setattr(call.options, field, value)
        try:
            call.launch()
            self.cuda.synchronize()
        except KronError as error:
            return error.status, error.message
        return "KRON_SUCCESS", ""

    def expected(self, name="product"):
        x, f, g, _ = self.data[name]
        return x @ np.kron(f, g) if name == "product" else x @ f @ g

    def works(self, name="product", **options):
        """Whether a right launch still gives the right result."""
        self.memory[name][-1].fill(0xFF)
        status = self.launch(self.arrays(name), name, **options)
        y = self.memory[name][-1].download(np.empty_like(self.data[name][-1]))
        error = np.linalg.norm(y - self.expected(name)) / np.linalg.norm(self.expected(name))
        return status[0] == "KRON_SUCCESS" and error < 1e-5, (status, error)

    def refuses(self, what, status, fragment, change=None, name="product", **options):
        """`change` makes the arguments wrong. The result must stay untouched."""
        arrays = self.arrays(name)
        self.memory[name][-1].fill(0xFF)
        if change:
            change(arrays)
        got = self.launch(arrays, name, **options)
        y = self.memory[name][-1].download(np.empty_like(self.data[name][-1]))
        good = got[0] == status and fragment in got[1] and np.isnan(y).all()
        self.report(what, good, f"got {got}, expected {status} with '{fragment}'")
        self.report(f"a launch after {what}", *self.works())

    def run_arguments(self):
        host = np.zeros((ROWS, 64), np.float32)
        self.refuses("host memory for x", INVALID, "", self.set(0, data=host.ctypes.data))
        self.refuses("host memory for a factor", INVALID, "", self.set(1, data=host.ctypes.data))
        self.refuses("host memory for y", INVALID, "", self.set(3, data=host.ctypes.data))
        self.refuses("an address that is none", INVALID, "", self.set(0, data=0x1000))
        self.refuses("no data", INVALID, "expects data, but got NULL", self.set(0, data=None))
        self.refuses("a misaligned address", INVALID, "aligned to 4 bytes",
                     self.set(0, data=self.memory["product"][0].address + 1))
        self.refuses("another type", MISMATCH, "f64", self.set(1, type=F64))
        self.refuses("rows that differ", MISMATCH, "size", self.reshape(3, (ROWS - 1, 64)))
        self.refuses("a size beyond all memory", INVALID, "2^63", self.reshape(0, (2**62, 64)))
        self.refuses("y over x", INVALID, "overlap",
                     self.set(3, data=self.memory["product"][0].address))

    def run_options(self):
        self.refuses("a GPU that is not there", "KRON_NO_DEVICE", "99", device=99)
        self.refuses("a GPU of negative number", "KRON_NO_DEVICE", "", device=-1)
        size = Call(self.program, "two", self.arrays("two"), CUDA, self.device).workspace_size()
        self.report("workspace for what does not fit one fused region", size > 0, size)
        memory = self.cuda.allocate(size + 256)
        self.refuses("a workspace too small", "KRON_WORKSPACE_TOO_SMALL", str(size), name="two",
                     workspace=memory.address, workspace_bytes=size - 1)
        self.refuses("a misaligned workspace", INVALID, "256", name="two",
                     workspace=memory.address + 16, workspace_bytes=size)
        host = np.zeros(size + 512, np.uint8)
        aligned = host.ctypes.data + -host.ctypes.data % 256
        self.refuses("a workspace on the host", INVALID, "", name="two",
                     workspace=aligned, workspace_bytes=size)
        self.report("a workspace of exactly the size asked for",
                    *self.works("two", workspace=memory.address, workspace_bytes=size))
        self.report("the runtime's own workspace", *self.works("two"))
        stream = self.cuda.stream()
        self.report("a stream of the caller", *self.works("two", stream=stream))

    def run_sizes(self):
        """Nothing to do is no error."""
        arrays = self.arrays()
        self.reshape(0, (0, 64))(arrays)
        self.reshape(3, (0, 64))(arrays)
        self.report("no rows", self.launch(arrays)[0] == "KRON_SUCCESS", "")
        arrays[0].data = arrays[3].data = None
        self.report("no rows and no memory", self.launch(arrays)[0] == "KRON_SUCCESS", "")


def run(kron, device, chips, _jobs):
    try:
        checks = LaunchChecks(kron, device, chips)
    except KronError as error:
        print(f"FAILED bad input: the module does not compile: {error}")
        return 0, 1
    checks.run_arguments()
    checks.run_options()
    checks.run_sizes()
    print(f"bad input: {checks.passed + checks.failed} checks, {checks.failed} failed")
    return checks.passed, checks.failed
