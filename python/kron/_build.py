"""Kernels for calls that the fast path describes, and numbers as MLIR writes them.

SPDX-License-Identifier: MIT
"""

import contextlib
import sys

_recorders = []


def scalar_type(element):
    return "f32" if element in ("f16", "bf16") else element


#: The largest number of a floating-point type, and the smallest one of full precision.
_RANGES = {"f32": (2.0**128 - 2.0**104, 2.0**-126), "f64": (sys.float_info.max, sys.float_info.min)}


def _parts(number, scalar):
    """(real and imaginary part or just the number, their type)"""
    if scalar.startswith("complex"):
        number = complex(number)
        return (number.real, number.imag), scalar[8:-1]
    return (number,), scalar


def has_range_for(number, scalar):
    """Whether a scalar type has the number, rounded but with all its digits."""
    parts, kind = _parts(number, scalar)
    if kind not in _RANGES:
        return True
    most, least = _RANGES[kind]
    return all(part == 0 or least <= abs(part) <= most for part in parts)


def check_number(number, scalar, name):
    """Refuses a constant that is not finite in its type."""
    parts, kind = _parts(number, scalar)
    if kind in _RANGES and not all(abs(part) <= _RANGES[kind][0] for part in parts):
        raise ValueError(f"expects {name} to be a finite number of type {scalar}, "
                         f"but got {number}")


def literals(number, scalar, name="the number"):
    """(numbers as MLIR reads them, their type); several for a complex type."""
    check_number(number, scalar, name)
    parts, kind = _parts(number, scalar)
    if kind not in _RANGES:
        return [str(int(part)) for part in parts], kind
    texts = [repr(float(part)) for part in parts]
    return [text if "." in text else text.replace("e", ".0e") for text in texts], kind


def attribute(number, scalar, name="the number"):
    """A number as an attribute of a scalar type."""
    texts, kind = literals(number, scalar, name)
    if scalar.startswith("complex"):
        return f"#complex.number<:{kind} {', '.join(texts)}>"
    return f"{texts[0]} : {kind}"


def multiply_adds(sizes):
    """Per element of the result of a Kronecker product, in the cheapest order of
    factors, whose (contracted, resulting) sizes are given."""
    total, results = 0, 1
    for _, q in sizes:
        results *= q
    if results == 0:
        return 0
    current = 1
    for p, _ in sizes:
        current *= p
    # Shrinking factors first, and among those the strongest.
    for p, q in sorted(sizes, key=lambda s: s[1] / max(s[0], 1)):
        total += current * q
        current = current // max(p, 1) * q
    return total / results


def build(program, device, shapes, factors):
    """The kernel for a call of the fast path: its program, the shapes of its arguments, and
    sizes of its factors (CallProgram in Calls.h)."""
    from kron import _compile

    for calls in _recorders:
        calls.append((program, factors))
    return _compile.compile(program, device=device, shapes=shapes)


@contextlib.contextmanager
def recording():
    """Collects (program, factors) of kernels that are built meanwhile."""
    calls = []
    _recorders.append(calls)
    try:
        yield calls
    finally:
        _recorders.remove(calls)
