"""One case of the GPU suite without a GPU: compiled, launched by its own host code, and interpreted.

SPDX-License-Identifier: MIT
"""

import numpy as np

from compare import check_arrays
from device import DeviceBuffer, pass_arguments
from interpreter.memory import READ, WRITE
from kronlib import CUDA, Call, KronError

#: GPUs of the driver that stands in for CUDA's.
DEVICES = {"sm_90a": 0, "sm_80": 1}


class InterpretedBuffer(DeviceBuffer):
    """An array whose elements alone may be read, unless `is_read` is false, and, if it is a result, written: nothing
    around or between them."""

    def __init__(self, driver, arg, rng, aligned, is_read):
        super().__init__(driver, arg.element, arg.shape, arg.strides, rng, aligned)
        rights = np.zeros(self._raw.size, np.uint8)
        elements = np.lib.stride_tricks.as_strided(rights[self._start :], self.shape, self.strides)
        elements[...] = (READ if is_read else 0) | (WRITE if arg.role in ("out", "inout") else 0)
        self.memory.allow(self.element.storage.itemsize, rights)


class Interpreted:
    def __init__(self, kron, driver):
        self.kron, self.driver = kron, driver

    def run(self, case, chip, **rules):
        """What is wrong, or None, with the rules of `launch`."""
        try:
            program = self.kron.compile(case.mlir(), chip)
        except KronError as error:
            return f"does not compile: {error}"
        with np.errstate(all="ignore"):
            return self.launch(program, case, chip, **rules)

    def launch(self, program, case, chip, aligned=False, unread=False):
        """`aligned`: arrays begin where vector accesses may, else some do not; `unread`: what is added to a result is
        not read where beta is 0, nor is a result to which nothing is added."""
        self.driver.reset()
        rng = np.random.default_rng([case.index, 3])
        values = case.data()

        def make_buffer(arg):
            is_read = not (unread and arg.poisoned and arg.name in (case.addend, case.result))
            return InterpretedBuffer(self.driver, arg, rng, aligned, is_read)

        # The scalars live as long as the call.
        buffers, arrays, _scalars = pass_arguments(case, values, make_buffer)
        for name, buffer in buffers.items():
            buffer.fill(values[name])
        call = Call(program, case.name, arrays, CUDA, DEVICES[chip])
        try:
            if size := call.workspace_size():
                call.use_workspace(self.driver.allocate(size).address, size)
            call.launch()
        except KronError as error:
            return self.driver.summary() or str(error)
        if self.driver.problems:
            return self.driver.summary()
        for buffer in buffers.values():
            buffer.fetch()
        return check_arrays(case, buffers, values)
