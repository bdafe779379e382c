"""Are the arrays in files those that `random:SHAPE:TYPE:SEED` stands for? Usage:
random_values.py SEED TYPE=FILE.npy... See kron-run-random.test."""

import sys

import numpy as np
from float8 import float8_numbers

MASK = 2**64 - 1
# Bits of the mantissa and exponent of the smallest normal number.
NARROW = {"f16": (10, -14), "bf16": (7, -126), "f8E4M3FN": (3, -6), "f8E5M2": (2, -14)}


def numbers(seed, count):
    """SplitMix64, one number after the other."""
    out = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        out.append(z ^ (z >> 31))
    return out


def rounded(value, mantissa_bits, min_exponent):
    exponent = max(np.frexp(value)[1] - 1, min_exponent)
    unit = 2.0 ** (exponent - mantissa_bits)
    return round(value / unit) * unit


def expected(name, seed, size):
    """As f64 or complex f64."""
    bits = numbers(seed, 2 * size)
    if name[0] == "i":
        return np.array([float(b % 17 - 8) for b in bits[::2]])
    parts = [(b >> 11) / 2**52 - 1 for b in bits]
    if name in NARROW:
        return np.array([rounded(value, *NARROW[name]) for value in parts[::2]])
    if name in ("c32", "c64"):
        array = np.array(parts).view(np.complex128)
        return array.astype(np.complex64).astype(np.complex128) if name == "c32" else array
    array = np.array(parts[::2])
    return array.astype(np.float32).astype(np.float64) if name == "f32" else array


def loaded(name, path):
    array = np.load(path).ravel()
    if name == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    if name.startswith("f8"):
        array = float8_numbers("e4m3" if name == "f8E4M3FN" else "e5m2")[array]
    return array.astype(np.complex128 if name[0] == "c" else np.float64)


for name, _, path in (argument.partition("=") for argument in sys.argv[2:]):
    array = loaded(name, path)
    sample = expected(name, int(sys.argv[1]), min(array.size, 2000))
    where = np.flatnonzero(array[:sample.size] != sample)
    print(f"{name}: {array.size} numbers, {where.size} of {sample.size} wrong")
    if name[0] == "i":
        counts = np.bincount((array + 8).astype(int), minlength=17) / array.size
        print(f"{name}: shares of {counts.size} integers within "
              f"{np.abs(counts * 17 - 1).max():.2f} of each other")
    for part in (array.real, array.imag) if name[0] == "c" else (array,):
        square = np.mean(part**2)
        print(f"{name}: mean {abs(part.mean()):.2f}, square {square:.2f}, neighbours "
              f"{abs(np.mean(part[1:] * part[:-1])) / square:.2f}, from {part.min():.1f} to "
              f"{part.max():.1f}")
