"""Floating-point numbers of 8 bits: f8E4M3FN and f8E5M2, which NumPy lacks.

SPDX-License-Identifier: MIT
"""

import functools

import numpy as np


@functools.cache
def float8_numbers(name):
    """The number of each of 256 codes of `name`, e4m3 or e5m2."""
    mantissa, bias = (3, 7) if name == "e4m3" else (2, 15)
    codes = np.arange(128)
    exponent, fraction = codes >> mantissa, (codes & (1 << mantissa) - 1) * 2.0**-mantissa
    numbers = np.where(exponent == 0, fraction * 2.0 ** (1 - bias),
                       (1 + fraction) * 2.0 ** (exponent - bias))
    if name == "e4m3":
        numbers[127] = np.nan
    else:
        numbers[124], numbers[125:] = np.inf, np.nan
    return np.concatenate([numbers, -numbers])
