"""Cases whose kernels are interpreted: some of each family that a plan can name, then random ones.

Of an unknown number of rows a plan expects many, so a few rows take the kernels of large arrays. There are as few
of them as go around a kernel's ring some times on a GPU of SMS multiprocessors.

SPDX-License-Identifier: MIT
"""

import math

import selection  # noqa: F401  (finds the modules below)

import cases
import shapes
from shapes import OPEN, PLAIN

SMS = 2
CHIPS = ("sm_90a", "sm_80")
#: What a random case may cost, in elements of arrays and multiply-adds.
MAX_ELEMENTS = 100_000
MAX_PRODUCTS = 4_000_000


def product(op, name, sizes, rows, **more):
    return PLAIN | dict(type=name, op=op, sizes=list(sizes), rows=rows, x_batch=(), f_batches=((),) * len(sizes),
                        dynamic=OPEN, op_x="N", ops=["N"] * len(sizes)) | more


def batched(name, sizes, count, **more):
    return product("batched", name, sizes, 1, x_batch=(count,), dynamic=("batch",), **more)


SCALED = dict(alpha="operand", beta="operand", addend="operand")
#: By the kernel of their plan, on both chips unless one stands behind it.
FAMILIES = {
    "batched": (
        batched("f32", [(8, 8)] * 3, 61), batched("f32", [(9, 9)] * 3, 40, **SCALED),
        batched("f64", [(4, 4)] * 3, 150), batched("f32", [(6, 3), (5, 5), (4, 7)], 33, memref_layout="any")),
    "ffma": (
        product("mkm", "f32", [(8, 8)] * 4, 5), product("kmm", "f32", [(16, 16)] * 2, 9),
        product("mkm", "f64", [(5, 5)] * 4, 4, **SCALED), product("mkm", "f32", [(14, 15), (13, 9), (11, 6)], 3)),
    "simt": (
        product("mkm", "i32", [(4, 4)] * 3, 5), product("mkm", "c32", [(3, 5), (4, 2)], 7),
        product("kmm", "f16", [(3, 2), (5, 5)], 6)),
}


def fixed():
    """(family, parameters, chip) of all."""
    return [(family, p, chip) for family, listed in FAMILIES.items() for p in listed for chip in CHIPS]


def build(index, p):
    return shapes.build(index, dict(p))


# --- random ones --------------------------------------------------------------


def _cost(p):
    """(elements, multiply-adds) of arrays and products of a row."""
    if "sizes" in p:
        elements = [math.prod(q for _, q in p["sizes"][:i]) * math.prod(s for s, _ in p["sizes"][i:])
                    for i in range(len(p["sizes"]) + 1)]
        return max(elements), sum(n * s for n, (s, _) in zip(elements[1:], p["sizes"]))
    patterns = p["patterns"] if "patterns" in p else [p["pattern"]]
    return (max(a * max(b, c) * d for a, b, c, d in patterns), sum(a * b * c * d for a, b, c, d in patterns))


def _reduced(p):
    """With as many rows as it may cost, or None."""
    if p["op"] not in ("mkm", "kmm", "batched", "ksmm", "ksmm_grad", "chain"):
        return None
    if p["op"] == "chain" and p.get("kind") != "sparse":
        return None
    elements, products = _cost(p)
    rows = min(MAX_ELEMENTS // elements, MAX_PRODUCTS // max(products, 1))
    if rows < 1:
        return None
    if p["op"] == "batched":
        return p | dict(x_batch=(min(p["x_batch"][0], rows),)) if p["x_batch"] else p
    return p | dict(rows=min(p["rows"], rows))


def random(seed, count):
    """(name, parameters, chip) of `count` cases of shapes.py."""
    number, found = len(shapes.FIXED), []
    while len(found) < count:
        p = _reduced(shapes.parameters(seed, number))
        if p:
            found.append((f"random {number}", p, CHIPS[len(found) % 2]))
        number += 1
    return found
