"""Instructions of the matrix unit: which thread holds which element, and products.

Products are exact and their sums are rounded once, to the accumulator's type; hardware cuts
off more.

SPDX-License-Identifier: MIT
"""

import functools
import re

import numpy as np

from .operands import integer
from .parser import Unsupported
from .shared import Fault
from .values import float_of_bf16, tf32_of

LANE = np.arange(32)
#: Of a lane: the row of eight, and the place in it.
GROUP, PLACE = LANE >> 2, LANE & 3
MMA = {("m8n8k4", "f64"): (8, 8, 4), ("m16n8k8", "f64"): (16, 8, 8), ("m16n8k8", "tf32"): (16, 8, 8),
       ("m16n8k16", "f16"): (16, 8, 16), ("m16n8k16", "bf16"): (16, 8, 16)}
#: Bytes of an element of the operands.
BYTES = {"tf32": 4, "f16": 2, "bf16": 2}
SWIZZLES = {0: 0, 1: 7, 2: 3, 3: 1}


def elements(registers, type_):
    """(warps, lanes, elements) in float64 of (warps, lanes, registers), two 16-bit ones in each."""
    if type_ == "f64":
        return registers.view(np.float64)
    if type_ == "tf32":
        return tf32_of(registers).astype(np.float64)
    halves = np.ascontiguousarray(registers).view(np.uint16)
    return halves.view(np.float16).astype(np.float64) if type_ == "f16" else float_of_bf16(halves).astype(np.float64)


@functools.cache
def places_a(k, type_):
    """(row, column) of the elements of A that a lane holds, (lanes, elements) each, of 16 x k or 8 x 4."""
    if k == 4:
        return GROUP[:, None], PLACE[:, None]
    rows, columns = [], []
    for register in range(4):
        for half in range(2 if type_ in ("f16", "bf16") else 1):
            rows.append(GROUP + 8 * (register & 1))
            columns.append(PLACE * 2 + half + 8 * (register >> 1) if k == 16 else PLACE + 4 * (register >> 1))
    return np.stack(rows, 1), np.stack(columns, 1)


@functools.cache
def places_b(k, type_):
    """(k, n) of the elements of B that a lane holds."""
    rows = []
    for register in range(1 if k == 4 else 2):
        for half in range(2 if type_ in ("f16", "bf16") else 1):
            rows.append(PLACE * 2 + half + 8 * register if k == 16 else PLACE + 4 * register)
    return np.stack(rows, 1), np.broadcast_to(GROUP[:, None], (32, len(rows)))


@functools.cache
def places_c(rows, columns):
    """(row, column) of the accumulator's elements that a lane holds."""
    number = rows * columns // 32
    i = np.arange(number)
    row = GROUP[:, None] + 8 * (i >> 1 & 1 if rows == 16 else 0 * i)
    return row, PLACE[:, None] * 2 + (i & 1) + 8 * (i >> 2 if rows == 16 else i >> 1)


def spread(held, places, shape):
    """Matrices, one per warp, from (warps, lanes, elements)."""
    matrix = np.empty((len(held), *shape))
    matrix[:, places[0], places[1]] = held
    return matrix


def stack(registers, warps):
    """(warps, lanes, registers) of registers of all threads or numbers."""
    size = 32 * (int(warps.max()) + 1)
    return np.stack([np.broadcast_to(r, max(size, np.size(r))).reshape(-1, 32)[warps] for r in registers], 2)


def multiply(shape, type_, a, b, c, warps):
    """(warps, lanes, registers) of D = A B + C; the registers hold bits."""
    m, n, k = shape
    left = spread(elements(stack(a, warps), type_), places_a(k, type_), (m, k))
    right = spread(elements(stack(b, warps), type_), places_b(k, type_), (k, n))
    accumulator = np.float64 if type_ == "f64" else np.float32
    rows, columns = places_c(m, n)
    sums = (left @ right)[:, rows, columns] + stack(c, warps).view(accumulator)
    return sums.astype(accumulator).view(np.uint64 if type_ == "f64" else np.uint32)


def emit_mma(o, parts, operands, text):
    shape, types = parts[3], parts[6:]
    key = (shape, types[1])
    wide = "f64" if types[1] == "f64" else "f32"
    if parts[1:3] != ["sync", "aligned"] or parts[4:6] != ["row", "col"] or key not in MMA or \
            types != [wide, types[1], types[1], wide]:
        raise Unsupported("a shape or type")
    d, *rest = operands
    bits = "b64" if wide == "f64" else "b32"
    a, b, c = (f"({', '.join(o.read(r, bits) for r in o.list(x))},)" for x in rest)
    return [f"products = matrix_multiply({MMA[key]}, {types[1]!r}, {a}, {b}, {c}, t[::32] // 32)",
            f"assign(m, t, {o.names(d, bits)}, products.reshape(-1, products.shape[2]))"]


# --- ldmatrix -----------------------------------------------------------------


def emit_ldmatrix(o, parts, operands, text):
    number = int(parts[4][1:])
    transposed = "trans" in parts
    if parts[3] != "m8n8" or parts[-1] != "b16" or "shared" not in parts:
        raise Unsupported("a shape or type")
    base, offset = o.address(operands[1])
    return [f"assign(m, t, {o.names(operands[0], 'b32')}, "
            f"load_matrices(t, address({base}, {offset}, t), {number}, {transposed}, {text}))"]


def load_matrices(shared, t, addresses, number, transposed, text):
    """(threads, number) registers: lanes 8 i to 8 i + 7 have the addresses of the rows of matrix i."""
    first = (t & 31) < 8 * number
    rows = shared.load(t[first], addresses[first], 2, 8, text).reshape(-1, number, 8, 8)
    if transposed:
        rows = rows.swapaxes(2, 3)
    words = np.ascontiguousarray(rows).view(np.uint32)
    return words[:, :, GROUP, PLACE].swapaxes(1, 2).reshape(-1, number)


# --- wgmma --------------------------------------------------------------------


def emit_wgmma(o, parts, operands, text):
    match = re.fullmatch(r"m64n(\d+)k(8|16)", parts[4])
    accumulator, type_ = parts[5:7]
    if parts[1:4] != ["mma_async", "sync", "aligned"] or not match or accumulator != "f32" or type_ not in BYTES or \
            int(match[2]) * BYTES[type_] != 32 or parts[7] != type_:
        raise Unsupported("a shape or type")
    d, a, b, scale, *signs = operands
    transposed = [integer(x) for x in signs[2:]] if type_ != "tf32" else []
    if [integer(x) for x in signs[:2]] != [1, 1]:
        raise Unsupported("operands with signs")
    in_registers = a.startswith("{")
    left = o.names(a, "b32") if in_registers else o.view(a, "b64")
    flags = ([0] if in_registers else []) + transposed + [0, 0]
    adds = o.predicate(scale) if o.is_register(scale) else str(bool(integer(scale)))
    return [f"matrix_async(t, {int(match[1])}, {type_!r}, {o.names(d, 'b32')}, {left}, {o.view(b, 'b64')}, {adds}, "
            f"{tuple(flags[:2])}, {text})"]


@functools.lru_cache(1024)
def descriptor_addresses(descriptor, size, k, type_, transposed):
    """(addresses in the window of shared memory of the elements of a (size, k) operand, those of its 16-byte rows);
    K is the leading dimension unless it is transposed."""
    start = (descriptor & 0x3FFF) << 4
    leading, stride = (descriptor >> 16 & 0x3FFF) << 4, (descriptor >> 32 & 0x3FFF) << 4
    if descriptor >> 49 & 7:
        raise Fault("a matrix descriptor with a base offset")
    mode = descriptor >> 62
    row = {0: 16, 1: 128, 2: 64, 3: 32}[mode]
    width = BYTES[type_]
    chunk = 16 // width
    position, depth = np.arange(size)[:, None], np.arange(k)[None, :]
    if not transposed:
        across = position % 8 * row + position // 8 * stride
        along = depth % chunk * width + depth // chunk * (leading if mode == 0 else 16)
    elif mode == 0:
        across = position % chunk * width + position // chunk * stride
        along = depth % 8 * 16 + depth // 8 * leading
    else:
        wide = row // width
        across = position % wide * width + position // wide * leading
        along = depth % 8 * row + depth // 8 * stride
    addresses = start + across + along
    addresses ^= (addresses >> 7 & SWIZZLES[mode]) << 4
    return addresses, np.unique(addresses // 16) * 16


INSTRUCTIONS = {"mma": emit_mma, "ldmatrix": emit_ldmatrix, "wgmma": emit_wgmma}
