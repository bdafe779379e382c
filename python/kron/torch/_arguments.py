# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Transposes as users write them, as the strings that operations take."""

from .._rules import letter_of, letters_of


def letter(name, value):
    return "N" if value is None else letter_of(value, name)


def letters(value, count):
    """One per factor; none if all are N."""
    if value is None or value is False:
        return ""
    return "".join(letters_of(value, count, "trans_factors"))


def sparse_letters(value, count):
    """One per weight."""
    return "N" * count if value is None else "".join(letters_of(value, count, "trans_weights"))
