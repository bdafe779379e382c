"""What instructions do with values that NumPy has no function for.

Arrays have one element per thread; warps are 32 of them in a row.

SPDX-License-Identifier: MIT
"""

import ml_dtypes
import numpy as np

LANES = np.arange(32, dtype=np.int64)
#: Largest finite values of the types of 8 bits.
FLOAT8 = {"e4m3x2": (ml_dtypes.float8_e4m3fn, 448.0), "e5m2x2": (ml_dtypes.float8_e5m2, 57344.0)}


def float_of_bf16(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def bf16_of_float(values):
    """The nearest bf16, ties to even; NaN is 0x7FFF."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), np.uint32(0x7FFF), rounded).astype(np.uint16)


def tf32_of(bits):
    """What the matrix unit takes of an f32: 10 bits of its mantissa, the others are cut off."""
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


def pair(high, low, bits=16):
    """Two values as one of twice as many bits."""
    wide = {8: np.uint16, 16: np.uint32, 32: np.uint64}[bits]
    return high.astype(wide) << wide(bits) | low.astype(wide)


def float8_pair(high, low, type_):
    dtype, largest = FLOAT8[type_]
    codes = []
    for values in (high, low):
        values = np.broadcast_to(values, np.broadcast_shapes(np.shape(high), np.shape(low)))
        code = np.clip(values, -largest, largest).astype(dtype).view(np.uint8)
        codes.append(np.where(np.isnan(values), np.uint8(0x7F), code))
    return pair(codes[0], codes[1], 8)


def halves_of_float8(pairs, type_):
    """Two f16 from each two values of 8 bits, which f16 has exactly."""
    codes = np.ascontiguousarray(pairs).view(np.uint8).view(FLOAT8[type_][0])
    return codes.astype(np.float16).view(np.uint32)


def on_halves(function, *registers):
    """A function of f16 on both halves of 32-bit registers."""
    shape = np.broadcast_shapes(*(np.shape(r) for r in registers))
    halves = [np.ascontiguousarray(np.broadcast_to(r, shape or (1,))).view(np.float16) for r in registers]
    return function(*halves).view(np.uint32)


def integer_of_float(values, rounding, dtype):
    """Rounded and clamped to the integers of a type; NaN is 0."""
    limits = np.iinfo(dtype)
    wide = rounding(values.astype(np.float64))
    inside = np.clip(np.nan_to_num(wide, nan=0.0), float(limits.min), np.nextafter(float(limits.max) + 1, 0))
    return np.where(np.isnan(wide), 0, inside).astype(dtype)


def fma(a, b, c):
    """Of f32 with one rounding (of a sum in f64); of f64 with two."""
    if np.result_type(a, b, c) == np.float32:
        return np.add(np.multiply(a, b, dtype=np.float64), c).astype(np.float32)
    return a * b + c


def fma_bf16(a, b, c):
    """Of numbers as they lie; the sum in f64 rounds to f32 first."""
    a, b, c = (float_of_bf16(np.asarray(x)) for x in (a, b, c))
    return bf16_of_float(fma(a, b, c))


def fma_down(a, b, c):
    """Of f32, rounded to the number below."""
    exact = np.add(np.multiply(a, b, dtype=np.float64), c)
    value = exact.astype(np.float32)
    return np.where(value > exact, np.nextafter(value, np.float32(-np.inf)), value)


def fma_saturated(a, b, c):
    """Within [0, 1]; NaN become 0."""
    return np.fmin(np.fmax(fma(a, b, c), np.float32(0)), np.float32(1))


def multiply_high(a, b):
    dtype = np.result_type(a, b)
    bits = dtype.itemsize * 8
    if bits == 32:
        wide = np.int64 if dtype.kind == "i" else np.uint64
        return (np.multiply(a, b, dtype=wide) >> wide(32)).astype(dtype)
    a, b = np.broadcast_arrays(a, b)
    products = [int(x) * int(y) >> bits for x, y in zip(a.ravel(), b.ravel())]
    return np.array(products, dtype)


def divide(a, b, remainder=False):
    """Quotients towards zero, or their remainders; of a division by zero all ones."""
    with np.errstate(all="ignore"):
        quotient = np.floor_divide(a, b)
        if np.result_type(a, b).kind == "i":
            quotient = quotient + ((a - quotient * b != 0) & ((a < 0) != (b < 0)))
        value = a - quotient * b if remainder else quotient
    return np.where(b == 0, np.array(-1).astype(value.dtype), value)


def shift(a, count, left):
    """By a number of bits that may be the type's width or more."""
    bits = a.dtype.itemsize * 8
    inside = np.minimum(count, bits - 1).astype(a.dtype)
    moved = np.left_shift(a, inside) if left else np.right_shift(a, inside)
    if a.dtype.kind == "i":
        return moved
    return np.where(count < bits, moved, a.dtype.type(0))


def permute_bytes(a, b, selector):
    """prmt.b32 in its default mode."""
    size = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(selector))
    size = size or (1,)
    both = np.broadcast_to(pair(np.asarray(b), np.asarray(a), 32), size)
    source = np.ascontiguousarray(both).view(np.uint8).reshape(-1, 8)
    nibbles = np.broadcast_to(np.asarray(selector), size)[:, None] >> np.arange(0, 16, 4, dtype=np.uint32)
    taken = np.take_along_axis(source, (nibbles & 7).astype(np.int64), 1)
    signs = np.where(taken & 0x80, np.uint8(0xFF), np.uint8(0))
    return np.ascontiguousarray(np.where(nibbles & 8, signs, taken)).view(np.uint32)[:, 0]


def shuffle(mode, a, b, c):
    """(values, whether the lane they come from is in range) of shfl.sync."""
    lanes = np.tile(LANES, len(a) // 32)
    b, c = (np.broadcast_to(x, len(a)).astype(np.int64) & limit for x, limit in ((b, 31), (c, 0x1F1F)))
    segment, clamp = c >> 8, c & 31
    least, most = lanes & segment, (lanes & segment) | (clamp & ~segment & 31)
    if mode == "up":
        source = lanes - b
        valid = source >= most
    else:
        source = {"down": lanes + b, "bfly": lanes ^ b, "idx": least | (b & ~segment & 31)}[mode]
        valid = source <= most
    source = np.where(valid, source, lanes) + np.arange(len(a)) // 32 * 32
    return a[source], valid


def vote(mode, a):
    """One value per thread from the predicates of its warp."""
    warps = a.reshape(-1, 32)
    if mode == "ballot":
        bits = (warps.astype(np.uint64) << LANES.astype(np.uint64)).sum(1).astype(np.uint32)
        return np.repeat(bits, 32)
    found = {"any": warps.any(1), "all": warps.all(1)}[mode]
    return np.repeat(found, 32)
