"""Counts of checks, and arguments of launches that are wrong on purpose.

SPDX-License-Identifier: MIT
"""

import kron_bench_path
from kronlib import make_array


class Checks:
    """`title` names the checks in messages about those that fail."""

    def __init__(self, title):
        self.title = title
        self.passed = self.failed = 0

    def report(self, what, good, details):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {self.title}: {what}: {details}")

    @staticmethod
    def set(index, **fields):
        """A change to a list of arrays: other fields of one of them."""
        def change(arrays):
            for field, value in fields.items():
                setattr(arrays[index], field, value)
        return change

    @staticmethod
    def reshape(index, shape, strides=None):
        """A change to a list of arrays: another shape on the same memory."""
        def change(arrays):
            old = arrays[index]
            arrays[index] = make_array(old.data, old.type, shape, strides)
        return change
