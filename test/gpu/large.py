"""Kronecker-sparse products with more than 2^31 elements in an array: numbers of
elements that do not fit 32 bits, in the batch of both layouts and in the weights.

The arrays repeat a small block, so that the results repeat too: blocks from both ends
and from around element 2^31 are compared with a reference of the small one.

SPDX-License-Identifier: MIT
"""

import ctypes
import math

import numpy as np

from kronlib import CUDA, Call, Cuda, CudaError, make_array

F16 = 2
LIMIT = 2**31
# eps of f16; sums are f32, so that the store's rounding is what is left.
BOUND = 2.0**-10

MODULE = """
func.func @first(%x: memref<?x2048xf16>, %k: memref<4x64x64x8xf16>, %y: memref<?x2048xf16>) {
  kron.ksmm ins(%x : memref<?x2048xf16>) weights(%k : memref<4x64x64x8xf16>)
    outs(%y : memref<?x2048xf16>)
  return
}
func.func @last(%x: memref<32x?xf16>, %k: memref<1x16x16x2xf16>, %y: memref<32x?xf16>) {
  kron.ksmm ins(%x : memref<32x?xf16>) weights(%k : memref<1x16x16x2xf16>)
    outs(%y : memref<32x?xf16>) {layout = #kron.layout<batch_last>}
  return
}
func.func @weights(%x: memref<?x46400xf16>, %k: memref<1x46400x46400x1xf16>, %y: memref<?x46400xf16>) {
  kron.ksmm ins(%x : memref<?x46400xf16>) weights(%k : memref<1x46400x46400x1xf16>)
    outs(%y : memref<?x46400xf16>)
  return
}
"""


class Repeated:
    """An array of f16 on the GPU whose slices along `axis` are those of `block`, again
    and again."""

    def __init__(self, cuda, shape, block, axis):
        self.cuda, self.shape, self.block, self.axis = cuda, shape, block, axis
        self.memory = cuda.allocate(2 * math.prod(shape))
        run = 2 * math.prod(shape[axis:])
        for index in range(math.prod(shape[:axis])):
            self._fill(self.memory.address + index * run, run,
                       np.ascontiguousarray(block.reshape(-1, *block.shape[axis:])[index]))

    def _fill(self, address, size, block):
        done = min(block.nbytes, size)
        self.cuda.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address),
                       ctypes.c_void_p(block.ctypes.data), ctypes.c_size_t(done))
        while done < size:
            count = min(done, size - done)
            self.cuda.call("cuMemcpyDtoD_v2", ctypes.c_uint64(address + done),
                           ctypes.c_uint64(address), ctypes.c_size_t(count))
            done += count

    def array(self):
        return make_array(self.memory.address, F16, self.shape)


class Results:
    """An array for results, NaN until they are there."""

    def __init__(self, cuda, shape):
        self.shape, self.memory = shape, cuda.allocate(2 * math.prod(shape))
        self.memory.fill(0xFF)

    def array(self):
        return make_array(self.memory.address, F16, self.shape)

    def elements(self, first, count):
        return self.memory.download(np.empty(count, np.float16), 2 * first)


def _near(total, count):
    """Where to look: both ends, and around element 2^31."""
    return sorted({0, min(LIMIT - count // 2, total - count), total - count})


def _check(result, expected, total, count, place):
    """The largest error of blocks of `count` elements, relative to the largest result;
    `place(index)` is where in `expected` the elements from `index` on stand."""
    scale, worst = np.abs(expected).max(), 0
    for first in _near(total, count):
        got = result.elements(first, count).astype(np.float64)
        error = np.abs(got - place(np.arange(first, first + count))).max()
        worst = max(worst, math.inf if np.isnan(error) else error)
    return worst / scale


def _numbers(rng, *shape):
    return rng.standard_normal(shape).astype(np.float16)


def _ksmm(x, k):
    a, b, c, d = k.shape
    y = np.einsum("ajkt,nakt->najt", k.astype(np.float64),
                  x.astype(np.float64).reshape(-1, a, c, d))
    return y.reshape(-1, a * b * d)


def _first(cuda, rng):
    period, features, rows = 512, 2048, LIMIT // 2048 + 77
    block, k = _numbers(rng, period, features), _numbers(rng, 4, 64, 64, 8)
    expected = _ksmm(block, k)
    x = Repeated(cuda, (rows, features), block, 0)
    return (x, Repeated(cuda, k.shape, k, 0), (rows, features), expected,
            lambda i: expected[i // features % period, i % features])


def _last(cuda, rng):
    period, features, rows = 512, 32, LIMIT // 32 + 96
    block, k = _numbers(rng, features, period), _numbers(rng, 1, 16, 16, 2)
    expected = _ksmm(block.T, k)
    x = Repeated(cuda, (features, rows), block, 1)
    return (x, Repeated(cuda, k.shape, k, 0), (features, rows), expected,
            lambda i: expected[i % rows % period, i // rows])


def _weights(cuda, rng):
    period, features, rows = 16, 46400, 3
    x, block = _numbers(rng, rows, features), _numbers(rng, 1, period, features, 1)
    expected = _ksmm(x, block)
    k = Repeated(cuda, (1, features, features, 1), block, 1)
    return (Repeated(cuda, x.shape, x, 0), k, (rows, features), expected,
            lambda i: expected[i // features, i % features % period])


CASES = {"first": _first, "last": _last, "weights": _weights}


def run(kron, device, chips, _jobs):
    """Numbers of checks that passed and failed; says which found too little memory."""
    cuda, rng = Cuda(device), np.random.default_rng(31)
    program = kron.compile(MODULE, chips)
    passed = failed = 0
    for name, make in CASES.items():
        try:
            x, k, shape, expected, place = make(cuda, rng)
            y = Results(cuda, shape)
        except CudaError as error:
            print(f"large, {name}: left out: {error}")
            continue
        call = Call(program, name, [x.array(), k.array(), y.array()], CUDA, device)
        size = call.workspace_size()
        workspace = cuda.allocate(size)
        call.use_workspace(workspace.address, size)
        call.launch()
        cuda.synchronize()
        total = math.prod(shape)
        error = _check(y, expected, total, min(total, 1 << 16), place)
        if error <= BOUND:
            passed += 1
        else:
            failed += 1
            print(f"FAILED large, {name}: error {error:.3g}, bound {BOUND:.3g}")
    return passed, failed
