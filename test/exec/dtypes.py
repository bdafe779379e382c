"""Element types: how MLIR, NumPy and the runtime call them, and their rounding.

NumPy has no bf16 and no floating-point type of 8 bits: such arrays are uint16 or uint8 and are converted
here. `wide` is the
next wider type, in which the references compute; integers are computed in int64,
whose wrapping agrees modulo 2^32 and 2^64.

SPDX-License-Identifier: MIT
"""

from dataclasses import dataclass

import numpy as np

import kron_bench_path
from float8 import float8_numbers


@dataclass(frozen=True)
class ElementType:
    name: str  # in reports
    mlir: str
    code: int  # KronType of the runtime
    storage: np.dtype
    wide: np.dtype
    scalar: str  # name of the type of alpha, beta, scale
    unit: float  # unit roundoff of the accumulation type (0: exact)
    store_unit: float  # unit roundoff of rounding the result (0: none)
    tiny: float  # half the distance of subnormal results

    @property
    def is_integer(self):
        return self.unit == 0

    @property
    def is_complex(self):
        return self.mlir.startswith("complex")

    @property
    def epsilon(self):
        """What "eps of the type" means in error bounds."""
        return 2 * (self.store_unit or self.unit)


def _make(name, mlir, code, storage, wide, scalar, unit, store_unit=0.0, tiny=0.0):
    return ElementType(
        name, mlir, code, np.dtype(storage), np.dtype(wide), scalar, unit, store_unit, tiny
    )


TYPES = {
    t.name: t
    for t in (
        _make("f32", "f32", 0, np.float32, np.float64, "f32", 2.0**-24, tiny=2.0**-150),
        _make("f64", "f64", 1, np.float64, np.longdouble, "f64", 2.0**-53),
        _make("f16", "f16", 2, np.float16, np.float64, "f32", 2.0**-24, 2.0**-11, 2.0**-25),
        _make("bf16", "bf16", 3, np.uint16, np.float64, "f32", 2.0**-24, 2.0**-8, 2.0**-134),
        _make("i32", "i32", 4, np.int32, np.int64, "i32", 0.0),
        _make("i64", "i64", 5, np.int64, np.int64, "i64", 0.0),
        _make("c32", "complex<f32>", 6, np.complex64, np.complex128, "c32", 2.0**-24, tiny=2.0**-150),
        _make("c64", "complex<f64>", 7, np.complex128, np.clongdouble, "c64", 2.0**-53),
    )
}
#: What only some operands may be.
FLOAT8 = {
    t.name: t
    for t in (
        _make("e4m3", "f8E4M3FN", 11, np.uint8, np.float64, "f32", 2.0**-24, 2.0**-4, 2.0**-10),
        _make("e5m2", "f8E5M2", 12, np.uint8, np.float64, "f32", 2.0**-24, 2.0**-3, 2.0**-17),
    )
}
REAL_FLOATS = ("f32", "f64", "f16", "bf16")


def bf16_to_f32(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def f32_to_bf16(values):
    """Rounds to nearest even; a NaN stays one."""
    bits = np.array(values, np.float32, order="C").view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def to_float8(name, values):
    """Codes of the nearest values; what is no finite number is a NaN, or e5m2's infinity."""
    values = np.asarray(values, np.float64)
    numbers = float8_numbers(name)
    finite = numbers[: 127 if name == "e4m3" else 124]
    magnitude = np.minimum(np.nan_to_num(np.abs(values), nan=0), finite[-1])
    above = np.clip(np.searchsorted(finite, magnitude), 1, len(finite) - 1)
    codes = np.where(magnitude - finite[above - 1] > finite[above] - magnitude, above, above - 1)
    codes = np.where(np.isfinite(values), codes, 127)
    if name == "e5m2":
        codes = np.where(np.isinf(values), 124, codes)
    return (codes | np.where(np.signbit(values), 128, 0)).astype(np.uint8)


def to_storage(element, values):
    if element.name in FLOAT8:
        return to_float8(element.name, values)
    if element.name == "bf16":
        return f32_to_bf16(np.asarray(values, np.float32))
    return np.asarray(values).astype(element.storage)


def to_wide(element, stored):
    if element.name in FLOAT8:
        return float8_numbers(element.name)[stored]
    if element.name == "bf16":
        return bf16_to_f32(np.asarray(stored)).astype(element.wide)
    return np.asarray(stored).astype(element.wide)


def random_array(element, rng, shape):
    """Uniform in [-1, 1] per part; integers over their whole range, so that
    products wrap, or small, so that errors are easy to read."""
    if element.is_integer:
        bound = 9 if rng.random() < 0.5 else 2 ** (element.storage.itemsize * 8 - 1) - 1
        return rng.integers(-bound, bound, shape, dtype=np.int64).astype(element.storage)
    values = rng.uniform(-1, 1, shape)
    if element.is_complex:
        values = values + 1j * rng.uniform(-1, 1, shape)
    return to_storage(element, values)


def poison(element):
    """A value that shows up in the result if it is used, or damaged if written."""
    if element.is_integer:
        return to_storage(element, 0x5A5A5A5B)
    if element.is_complex:
        return element.storage.type(complex(np.nan, np.nan))
    return to_storage(element, np.nan)
