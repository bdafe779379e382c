"""Checks of 8 bits (eight_bits.py) whose kernels are interpreted.

SPDX-License-Identifier: MIT
"""

import functools

import eight_bits
from interpreted import DEVICES
from kronlib import KronError

ONE_KERNEL = "#kron.gpu_plan<kernel = chain, regions = [2], quantize = 1>"
#: (check, arguments): rows by themselves, behind a rotation, behind sparse factors in a kernel of their own or of
#: both, and products of 8 bits. Behind a single factor one kernel takes more rows than are run here.
CHECKS = (
    *(("quantize", (element, features, kind, 5, offset)) for element, features, offset in (
        ("f32", 129, 0), ("f16", 4096, 1)) for kind in eight_bits.LARGEST),
    *(("quantize", (element, features, kind, 37, 0, fields)) for fields, features in eight_bits.PLANNED.items()
      for element, kind in (("f16", "i8"), ("f32", "f8E5M2"))),
    ("rotate", ("f32", (64, 64), "i8", 5, 0)), ("rotate", ("f16", (64, 64), "f8E4M3FN", 5, 1)),
    ("rotate", ("f16", (12, 32), "i8", 7, 0)), ("rotate", ("f16", (112, 128), "f8E5M2", 4, 0)),
    ("sparse", ("f32", ((3, 16, 9, 5),), "i8", True, 33, 0)),
    # Few rows of what has a kernel of both for many only.
    ("sparse", ("f16", ((16, 16, 16, 1),), "i8", False, 33, 0)),
    ("sparse", ("f32", ((4, 32, 32, 1), (1, 128, 32, 4)), "i8", False, 50, 0, ONE_KERNEL)),
    ("sparse", ("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), "f8E5M2", True, 40, 0, ONE_KERNEL)),
    ("multiply", ((1, 64, 64, 4), ("f8E4M3FN", "f8E4M3FN", "f16"), "batch_first", 40)),
    ("multiply", ((3, 17, 9, 5), ("f8E5M2", "f32", "f32"), "batch_last", 21)),
)


class InterpretedChecks(eight_bits.Checks):
    def __init__(self, kron, driver, chip):
        self.driver = self.cuda = driver
        self.device = DEVICES[chip]
        self.compile = functools.partial(kron.compile, chips=chip)

    def run(self, text, inputs, results):
        found = self.launch(self.compile(text), inputs, results)
        if self.driver.problems:
            raise ValueError(self.driver.summary())
        return found

    def call(self, call):
        if size := call.workspace_size():
            call.use_workspace(self.driver.allocate(size).address, size)
        call.launch()

    def check(self, name, arguments):
        """What is wrong, or None."""
        self.driver.reset()
        try:
            return getattr(self, name)(*arguments)
        except (KronError, ValueError) as error:
            return self.driver.summary() or str(error)
