"""Exceptions.

SPDX-License-Identifier: MIT
"""


class CompileError(RuntimeError):
    """A module that cannot be compiled; the message is the compiler's."""
