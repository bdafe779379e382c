# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Transposes as users write them."""

_LETTERS = {False: "N", True: "T", "N": "N", "T": "T", "C": "C", None: "N"}


def letter(name, value):
    try:
        return _LETTERS[value]
    except (KeyError, TypeError):
        raise ValueError(f"expects {name} to be a bool, 'N', 'T' or 'C', but got "
                         f"{value!r}") from None


def letters(value, count):
    """One per factor; none if all are N."""
    if value is None or value is False:
        return ""
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"expects one of trans_factors for each of {count} factors, "
                             f"but got {len(value)}")
        return "".join([letter("trans_factors", each) for each in value])
    return letter("trans_factors", value) * count


def sparse_letters(value, count):
    """One per weight; fewer or more if as many were given."""
    if isinstance(value, (list, tuple)):
        return "".join([letter("trans_weights", each) for each in value])
    return letter("trans_weights", value) * count
