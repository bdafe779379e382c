"""Random cases for the GPU, beside those of test/exec: factors and rows of the sizes
that its kernels are made for.

They are built by test/exec/cases.py from other parameters: chains of equal factors
from 2 to 256, N up to 20, mixed and rectangular chains, batched arrays of any rank,
Kronecker-sparse patterns as networks use them, chains of them, dense products, all
precisions, and functions of pairs (pairs.py).

SPDX-License-Identifier: MIT
"""

import dataclasses
import math

import numpy as np

import cases
import chains
import pair_gradients
import pairs
import random_cases
from dtypes import TYPES

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19, 20, 24, 27, 31, 32, 33, 40, 48,
         50, 63, 64, 65, 80, 96, 100, 127, 128, 129, 160, 200, 255, 256)
ROWS = (1, 2, 3, 7, 16, 33, 100, 128, 500, 1000, 4000)
PATTERNS = ((1, 48, 48, 4), (1, 192, 48, 2), (2, 48, 192, 1), (1, 64, 64, 16), (6, 64, 64, 1),
            (4, 64, 16, 4), (1, 128, 128, 3), (16, 8, 8, 16), (3, 17, 9, 5), (1, 256, 256, 1),
            (1, 768, 192, 2), (12, 64, 64, 4), (2, 96, 40, 32), (1, 300, 500, 1), (5, 1, 7, 8),
            (8, 41, 40, 1), (16, 13, 24, 1), (64, 7, 5, 1), (1, 48, 64, 6), (1, 64, 48, 12),
            (2, 96, 192, 16))
PATTERN_SIZES = ((1, 1, 2, 3, 4, 6, 7, 8, 12), (1, 2, 5, 8, 13, 16, 24, 31, 48, 64, 100, 130),
                 (1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32, 40, 48))
NAMES = ("f32", "f64", "f16", "bf16", "c32", "c64", "i32", "i64")
WEIGHTS = (.42, .18, .12, .12, .04, .04, .04, .04)
MAX_ELEMENTS = 1_500_000
# The reference of f64 computes in a type without BLAS.
MAX_FLOPS = {"f64": 12_000_000, "c64": 6_000_000, "i32": 20_000_000, "i64": 20_000_000}
OTHER_FLOPS = 150_000_000
MAX_PAIRS = 4_000_000
TF32_UNIT = 2.0**-11


def _fit(rng, name, sizes, rows, batch=1):
    """Rows, as many of `rows` as the limits allow, or None."""
    limit = MAX_FLOPS.get(name, OTHER_FLOPS)
    elements, flops = random_cases.cost(batch, sizes)
    most = min(MAX_ELEMENTS // max(elements, 1), limit // max(flops, 1))
    fitting = [r for r in rows if r <= most]
    return int(rng.choice(fitting)) if fitting else None


def _equal(rng):
    p = int(rng.choice(SIZES))
    most = max(1, int(math.log(MAX_ELEMENTS, p)))
    n = int(rng.integers(1, min(most, 20) + 1))
    return [(p, p)] * n


def _mixed(rng):
    sizes = []
    for _ in range(int(rng.integers(1, 6))):
        p = int(rng.choice(SIZES[:34]))
        q = p if rng.random() < 0.4 else int(rng.choice(SIZES[:34]))
        sizes.append((p, q))
    return sizes


def _long(rng):
    return [tuple(int(s) for s in rng.choice((1, 2, 2, 2, 3), 2)) for _ in range(rng.integers(8, 21))]


def _product(rng, p):
    make = (_equal, _mixed, _long)[int(rng.choice(3, p=[.55, .38, .07]))]
    while True:
        sizes = make(rng)
        rows = _fit(rng, p["type"], sizes, ROWS)
        if rows is not None:
            break
    n, plain = len(sizes), rng.random() < 0.6
    return p | dict(op=str(rng.choice(["mkm", "kmm"], p=[.6, .4])), sizes=sizes, rows=rows,
                    x_batch=(), f_batches=((),) * n,
                    op_x="N" if plain else str(rng.choice(list("NTC"))),
                    ops=["N" if plain else str(rng.choice(list("NTC"))) for _ in range(n)])


def _batched(rng, p):
    while True:
        rank = int(rng.integers(1, 5))
        n = int(rng.integers(2, 33))
        sizes = [(n, n)] * rank
        if rng.random() < 0.3:
            sizes = [tuple(int(s) for s in rng.integers(1, 33, 2)) for _ in range(rank)]
        count = _fit(rng, p["type"], sizes, (1, 2, 5, 33, 200, 1000, 3000))
        if count is not None:
            break
    plain = rng.random() < 0.7
    return p | dict(op="batched", sizes=sizes, rows=1, x_batch=(count,), f_batches=((),) * rank,
                    op_x="N" if plain else str(rng.choice(list("NTC"))),
                    ops=["N" if plain else str(rng.choice(list("NTC"))) for _ in range(rank)])


def _ksmm(rng, p):
    while True:
        a, b, c, d = PATTERNS[int(rng.integers(len(PATTERNS)))]
        if rng.random() < 0.6:
            outer, sides, inner = PATTERN_SIZES
            a, b, c, d = (int(rng.choice(s)) for s in (outer, sides, sides, inner))
        # Sizes as if the factor were dense would leave few patterns.
        rows = _fit(rng, p["type"], [(a * max(b, c) * d, 4 * max(b, c))],
                    (0, 1, 2, 5, 7, 16, 33, 64, 100, 196, 500, 1568, 2000))
        if rows is not None:
            break
    layout = str(rng.choice(["batch_first", "batch_last"]))
    if rng.random() < 0.15:
        return p | dict(op="ksmm_grad", pattern=(a, b, c, d), rows=rows, layout=layout,
                        conj=(False, False))
    transposed = ["N" if rng.random() < 0.75 else "T" for _ in range(2)]
    return p | dict(op="ksmm", pattern=(a, b, c, d), rows=rows, op_x=transposed[0],
                    op_weights=transposed[1],
                    layout=layout, activation="identity", bias=bool(rng.random() < .3),
                    residual=bool(rng.random() < .2), scale=False)


def _dense(rng, p):
    """Products that cuBLAS takes, if it is there, and gradients that warpgroups take: of an
    unknown number of rows the plan expects many."""
    p["type"] = str(rng.choice(("f16", "bf16", "f32")))
    if p["type"] == "f32":
        p["attributes"] = ["precision = #kron.precision<tf32>"]
    a = int(rng.choice((1, 1, 2, 3)))
    b, c = (int(rng.choice((128, 130, 192, 256, 300, 320))) for _ in range(2))
    rows = _fit(rng, p["type"], [(a * max(b, c), 2 * max(b, c))], (0, 7, 16, 33, 100, 500, 1000))
    layout = str(rng.choice(["batch_first", "batch_last"]))
    if rng.random() < 0.3:
        if rng.random() < 0.7:
            p["attributes"] = []
        return p | dict(op="ksmm_grad", pattern=(a, b, c, int(rng.choice((1, 2, 3, 4)))),
                        rows=rows, layout=layout, dynamic=("rows",), conj=(False, False))
    transposed = ["N" if rng.random() < 0.75 else "T" for _ in range(2)]
    return p | dict(op="ksmm", pattern=(a, b, c, 1), rows=rows, op_x=transposed[0],
                    op_weights=transposed[1], dynamic=("rows",), layout=layout,
                    activation="identity", bias=False, residual=False, scale=False)


def _small_groups(rng, p):
    """Many groups of few columns, which threads multiply by themselves: of an unknown number of
    rows the plan expects many."""
    p["type"] = str(rng.choice(("f32", "f16", "bf16")))
    a = int(rng.choice((2, 5, 8, 24, 64, 100, 256, 512)))
    b = int(rng.choice((1, 2, 3, 4, 5, 7, 8, 12, 16, 28)))
    c = int(rng.integers(1, 17))
    rows = _fit(rng, p["type"], [(a * max(b, c), 4 * max(b, c))], (0, 1, 7, 16, 33, 100, 500, 1000))
    return p | dict(op="ksmm", pattern=(a, b, c, 1), rows=rows, op_x="N",
                    op_weights="N" if rng.random() < 0.75 else "T", dynamic=("rows",),
                    layout="batch_first", activation="identity", bias=False, residual=False,
                    scale=False)


def _swapped(rng, p):
    """One matrix of many rows times a batch that is last, of a size known beforehand: the data
    and the factor change places where that leaves few results over."""
    p["type"] = "f32"
    p.pop("special", None)
    rows = int(rng.choice((112, 128, 144, 176, 208, 240, 272, 400)))
    return p | dict(op="ksmm", pattern=(1, int(rng.choice((12000, 16384))), int(rng.choice((64, 96, 128, 160))), 1),
                    rows=rows, op_x="N", op_weights="N", dynamic=(), layout="batch_last",
                    activation="identity", bias=False, residual=False, scale=False)


def _sparse_chain(rng, p):
    limit = MAX_FLOPS.get(p["type"], OTHER_FLOPS)
    p.pop("special", None)
    return chains.sparse_parameters(rng, p, 2048, MAX_ELEMENTS, limit) | dict(attributes=[])


#: Of the cases below: arrays as they are allocated, and nothing beside the product.
PLAIN = dict(form="memref", memref_layout="identity", alpha="absent", beta="absent", addend="outs", init_argument=False,
             dynamic=(), attributes=[])


def _fixed_ksmm(name, pattern, rows, layout="batch_first", dynamic=(), weights="N"):
    return PLAIN | dict(type=name, op="ksmm", pattern=pattern, rows=rows, layout=layout, dynamic=dynamic, op_x="N",
                        op_weights=weights, activation="identity", bias=False, residual=False, scale=False)


def _fixed_grad(name, pattern, rows, layout="batch_first", dynamic=()):
    return PLAIN | dict(type=name, op="ksmm_grad", pattern=pattern, rows=rows, layout=layout, dynamic=dynamic,
                        conj=(False, False))


def _fixed_chain(name, patterns, rows, dynamic=("rows",)):
    """In one kernel, which takes thousands of rows by itself."""
    return PLAIN | dict(type=name, op="chain", kind="sparse", form="tensor", patterns=list(patterns), rows=rows,
                        layout="batch_first", dynamic=dynamic, relus=[False] * len(patterns), bias=False,
                        residual=False, activation="identity", scale=False,
                        plan=f"#kron.gpu_plan<regions = [{len(patterns)}]>")


def _fixed_product(op, name, sizes, rows, dynamic=()):
    return PLAIN | dict(type=name, op=op, sizes=list(sizes), rows=rows, x_batch=(), f_batches=((),) * len(sizes),
                        dynamic=dynamic, op_x="N", ops=["N"] * len(sizes))


def _planned_batched(name, sizes, count, plan):
    """Many small arrays by a plan that is given in part."""
    return PLAIN | dict(type=name, op="batched", sizes=list(sizes), rows=1, x_batch=(count,),
                        f_batches=((),) * len(sizes), op_x="N", ops=["N"] * len(sizes),
                        attributes=[f"plan = #kron.gpu_plan<kernel = batched, {plan}>"])


#: Cases of plans that random ones seldom reach (forms.py), the first ones whatever the seed is. Of an unknown number of
#: rows the plan expects many.
OPEN = ("rows",)
FIXED = (
    # Tiles that two CTAs share, and rows that arrive in pieces.
    _fixed_product("mkm", "f32", [(16, 16)] * 4, 3, OPEN),
    _fixed_product("mkm", "f64", [(32, 32)] * 3, 3, OPEN),
    _fixed_product("mkm", "f64", [(8, 8)] * 5, 5, OPEN),
    # Tiles of such factors that one CTA has.
    _fixed_product("mkm", "f64", [(8, 8)] * 4, 300, OPEN),
    _fixed_product("mkm", "f32", [(16, 16), (16, 16), (16, 16), (8, 8)], 5, OPEN),
    # Many small factors, whose tiles have no room behind them.
    _fixed_product("mkm", "f32", [(2, 1), (2, 2), (3, 3), (2, 3), (3, 1), (3, 1), (3, 2), (2, 3), (3, 2), (1, 2),
                                  (3, 2)], 7, OPEN),
    # Several fused regions of neighbours, and of axes that are none; others are one axis.
    *(_fixed_product(op, name, sizes, rows) | dict(attributes=["plan = #kron.gpu_plan<regions = [2, 2]>"])
      for op, name, sizes, rows in (("mkm", "f32", [(9, 9)] * 4, 3), ("kmm", "f64", [(3, 7), (9, 4), (5, 8), (6, 2)], 13))),
    *(_fixed_product(op, name, [(9, 9)] * 4, rows)
      | dict(attributes=["plan = #kron.region_plans<regions = [1, 3], "
                         "plans = [#kron.gpu_plan<kernel = simt>, #kron.gpu_plan<kernel = mma>]>"])
      for op, name, rows in (("mkm", "f32", 7), ("kmm", "bf16", 11))),
    # A known number of rows: one plan for cuBLAS, small groups and tiles each.
    _fixed_ksmm("f16", (1, 1024, 1024, 1), 128),
    _fixed_ksmm("f16", (256, 7, 8, 1), 1024),
    # By cuBLAS: complex ones, of which a factor is conjugated, along axes that are one in memory, and sums in IEEE f32.
    _fixed_product("mkm", "c64", [(3, 3), (180, 200)], 120),
    _fixed_product("mkm", "c32", [(4, 4), (150, 200)], 120) | dict(ops=["N", "C"]),
    _fixed_product("kmm", "c32", [(3, 3), (196, 128), (2, 2)], 60),
    _fixed_product("kmm", "f64", [(300, 270)], 9000),
    _fixed_product("mkm", "f32", [(128, 128)] * 2, 60) | dict(attributes=["precision = #kron.precision<ieee>"]),
    # Small groups by matrix instructions.
    _fixed_ksmm("bf16", (256, 112, 16, 1), 40, dynamic=OPEN),
    _fixed_ksmm("f16", (256, 64, 12, 1), 17, dynamic=OPEN),
    # Rows that are transposed, since elements of a product lie in no multiples of 16 bytes.
    _fixed_ksmm("f16", (2, 200, 4, 29), 1205),
    _fixed_ksmm("f32", (2, 100, 80, 33), 2003),
    # Factors that lie apart, of which a copy is read, of rows of any number.
    _fixed_ksmm("f64", (2, 157, 140, 107), 66, "batch_last"),
    _fixed_ksmm("bf16", (11, 63, 260, 85), 116, "batch_last"),
    # Copies by 16 bytes wherever rows start: of data, and of the factor, too.
    *(_fixed_ksmm(name, pattern, rows) | dict(attributes=[f"plan = #kron.gpu_plan<kernel = sparse, {plan}>"])
      for name, pattern, rows, plan in (("f16", (2, 45, 40, 10), 300, "whole_copies = 1, keeps_factor = 1"),
                                        ("bf16", (3, 17, 29, 11), 500, "whole_copies = 2, keeps_factor = 0"))),
    # The same of rows that are neighbours, and results of them by way of shared memory.
    *(_fixed_ksmm(name, pattern, rows, "batch_last") | dict(attributes=[f"plan = #kron.gpu_plan<kernel = sparse, {plan}>"])
      for name, pattern, rows, plan in (
          ("f16", (2, 45, 40, 3), 1301, "whole_copies = 1, shared_store = 1"),
          ("bf16", (1, 70, 129, 1), 999, "whole_copies = 1, keeps_factor = 1"),
          ("f32", (3, 45, 40, 2), 1302, "whole_copies = 1, shared_store = 1, keeps_factor = 0"),
          ("f64", (2, 17, 33, 3), 501, "shared_store = 1, row_tiles = 1"))),
    # Tiles that are copied as they lie, of rows and of columns, with results by way of shared memory.
    *(p | dict(attributes=["plan = #kron.gpu_plan<kernel = mma, whole_copies = 1, shared_store = 1>"])
      for p in (_fixed_product("mkm", "f16", [(10, 10)], 20001), _fixed_product("kmm", "bf16", [(5, 7), (9, 3)], 333),
                _fixed_product("mkm", "bf16", [(5, 7), (9, 3), (2, 2)], 999) | dict(beta="operand", addend="operand"))),
    *(_fixed_product(op, name, sizes, rows) for op, name, sizes, rows in (
        ("mkm", "bf16", [(17, 17)] * 2, 1000), ("mkm", "f16", [(51, 45)], 3001), ("kmm", "f16", [(51, 45)], 3001))),
    # One factor of more columns or rows than a CTA takes whole, and rows of results that start anywhere.
    *(_fixed_product(op, "f32", [size], rows) | dict(op_x=t, ops=[t]) for op, size, rows, t in (
        ("mkm", (500, 301), 700, "N"), ("mkm", (257, 130), 1001, "T"), ("kmm", (300, 450), 333, "T"), ("mkm", (40, 511), 999, "N"))),
    # On copies with padded rows: of a transposed X, and of results that are longer.
    *(p | dict(attributes=["plan = #kron.gpu_plan<padded = 1>"])
      for p in (_fixed_product("mkm", "bf16", [(20, 20), (33, 31)], 400) | dict(op_x="T"),
                _fixed_product("kmm", "f32", [(12, 17), (20, 9)], 333),
                _fixed_ksmm("f16", (3, 40, 30, 5), 1111, "batch_last"))),
    # One large factor of 16 bits: of which CTAs have shares, with odd rows, few columns and turned data.
    _fixed_product("mkm", "bf16", [(512, 333)], 700),
    _fixed_product("mkm", "f16", [(5, 5), (317, 301), (19, 19)], 3),
    _fixed_product("kmm", "f16", [(260, 400)], 333),
    # Factors of 16 bits whose pairs are put in order.
    _fixed_ksmm("f16", (4, 256, 256, 4), 60, dynamic=OPEN),
    # Data and factor that change places.
    _fixed_ksmm("f32", (1, 16384, 96, 1), 240, "batch_last"),
    # Gradients by warpgroups, of 16 bits and with packed operands.
    _fixed_grad("f16", (1, 192, 256, 2), 500, "batch_last", OPEN),
    _fixed_grad("bf16", (2, 250, 72, 1), 300, "batch_last", OPEN),
    _fixed_grad("f32", (1, 256, 192, 2), 500, "batch_last", OPEN),
    # Pieces of the batch of other sizes, whose sums threads share otherwise; products of which all share their weights.
    *(_fixed_grad(name, pattern, 500) | dict(attributes=[f"plan = #kron.gpu_plan<kernel = gradient, {plan}>"])
      for name, pattern, plan in (("f32", (1, 48, 40, 2), "split_k = 5, least_piece = 32, sum_threads = 4"),
                                  ("f16", (2, 64, 64, 1), "split_k = 3, least_piece = 160, sum_loads = 2"),
                                  ("f64", (1, 24, 20, 3), "split_k = 16, sum_threads = 2, sum_loads = 5"))),
    # The two innermost factors apart, and results of a step that more, or fewer, warps share than registers ask for.
    *(_fixed_product("mkm", name, sizes, 40) | dict(attributes=[f"plan = #kron.gpu_plan<kernel = mma, {plan}>"])
      for name, sizes, plan in (("f32", [(16, 16)] * 2, "inner_chain = 0"),
                                ("f32", [(24, 8), (16, 24)], "inner_chain = 1"),
                                ("f16", [(16, 16)] * 3, "inner_chain = 0, step_warps = [2, 1, 4]"),
                                ("f64", [(48, 48)] * 2, "step_warps = [1, 2]"),
                                ("f64", [(45, 45), (11, 11)], "inner_rows = 1, tile = 5, step_warps = [1, 3]"),
                                ("f64", [(9, 5), (4, 4), (3, 7)], "inner_rows = 1, alternates = 1, tile = 5"),
                                ("f64", [(41, 20), (36, 36)], "alternates = 1, step_warps = [3, 2]"),
                                ("f32", [(48, 48)] * 2, "step_warps = []"))),
    # Fibres of several rows in one instruction, which the last rows do not fill.
    *(_fixed_product("mkm", name, sizes, 41) | dict(attributes=["plan = #kron.gpu_plan<kernel = mma, inner_chain = 0>"])
      for name, sizes in (("f64", [(7, 7), (12, 20)]), ("f32", [(3, 5), (4, 4), (17, 9)]), ("bf16", [(5, 5), (18, 18)]))),
    # Rows of a transposed X, and fibres of one with columns, that neighbouring threads copy.
    *(_fixed_product(op, name, sizes, 77) | dict(op_x="T", attributes=["plan = #kron.gpu_plan<kernel = ffma>"])
      for op, name, sizes in (("mkm", "f32", [(3, 3)] * 5), ("mkm", "f64", [(4, 4)] * 3), ("kmm", "f32", [(4, 4)] * 3),
                              ("kmm", "f64", [(5, 7), (3, 3)]))),
    # Results that start within chunks, and tiles that start there too.
    _fixed_ksmm("f32", (6, 30, 64, 1), 200) | dict(attributes=["plan = #kron.gpu_plan<kernel = sparse, shift = 0>"]),
    # Chains whose factors stay in shared memory, and one of many rows that passes them through it.
    _fixed_chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 300),
    _fixed_chain("f32", ((4, 32, 32, 1), (1, 128, 32, 4)), 300),
    _fixed_chain("f32", ((8, 16, 16, 1), (1, 128, 16, 8)), 300),
    _fixed_chain("bf16", ((6, 64, 64, 1), (1, 64, 64, 6)), 300),
    _fixed_chain("f16", ((8, 64, 64, 1), (1, 64, 64, 8)), 300),
    _fixed_chain("f16", ((16, 32, 32, 1), (4, 32, 32, 4), (1, 32, 32, 16)), 300),
    # Planes of other sizes, and steps whose code is a loop.
    _planned_batched("f32", [(8, 8)] * 3, 333, "plane_fibres = 2"),
    _planned_batched("f64", [(4, 4)] * 3, 500, "plane_fibres = 2, unrolled = 0"),
    _planned_batched("f32", [(9, 9)] * 3, 200, "unrolled = 1"),
    # Results that are stored at other times, and more or fewer copies at once.
    *(_fixed_product("mkm", name, sizes, rows) | dict(attributes=[f"plan = #kron.gpu_plan<kernel = ffma, {plan}>"])
      for name, sizes, rows, plan in [("f32", [(8, 8)] * 3, 333, "streamed_results = 0"),
                                      ("f32", [(16, 16)] * 3, 30, "streamed_results = 8, copies = 2"),
                                      ("f64", [(4, 4)] * 4, 200, "copies = 16"),
                                      # Fibres of which the last threads have fewer.
                                      ("f64", [(3, 5), (11, 10), (7, 11)], 200, "threads = 96")]),
    # Several fibres and parts of results of a thread, that do and do not divide theirs, and stores from registers.
    *(_fixed_product("mkm", name, sizes, rows) | dict(attributes=[
        f"plan = #kron.gpu_plan<kernel = simt, threads = {threads}, launches = [{{{launch}}}]>"])
      for name, sizes, rows, threads, launch in [
          ("c64", [(20, 20), (33, 31)], 50, 256, "factors = 2, extents = [3, 20, 33], fibres = [5, 4], results = [3, 4], "
                                                 "ctas_per_sm = 1, direct_store = 1"),
          ("c32", [(64, 64)], 333, 128, "factors = 1, extents = [32, 64], fibres = [8], results = [2], ctas_per_sm = 2"),
          ("i64", [(7, 9), (5, 11)], 100, 64, "factors = 2, extents = [8, 7, 5], fibres = [3, 8], results = [4, 4], "
                                              "ctas_per_sm = 2, direct_store = 1"),
          ("f16", [(12, 12)] * 2, 77, 96, "factors = 2, extents = [4, 12, 12], fibres = [1, 6], ctas_per_sm = 2, "
                                          "direct_store = 1"),
          # Factors that stay in global memory: all, or the second one.
          ("f16", [(12, 12)] * 2, 77, 96, "factors = 2, extents = [4, 12, 12], ctas_per_sm = 2, factor_bytes = 0"),
          ("c64", [(20, 20), (33, 31)], 50, 256, "factors = 2, extents = [3, 20, 33], ctas_per_sm = 1, "
                                                 "factor_bytes = 8448")]),
    # Data that go from memory to registers: several fibres, results that tiles cut, and lanes that share out K.
    *(_fixed_ksmm(name, pattern, rows, layout) | dict(attributes=[
        f"plan = #kron.gpu_plan<kernel = simt, threads = 128, launches = [{{factors = 1, extents = {extents}, "
        f"ctas_per_sm = 2, direct_store = 1, direct_load = 1, {fields}}}]>"])
      for name, pattern, rows, layout, extents, fields in [
          ("f32", (19, 23, 50, 23), 38, "batch_first", "[8, 1, 12, 23]", "fibres = [4], results = [3], k_lanes = 2"),
          ("f16", (17, 30, 41, 118), 2, "batch_first", "[2, 1, 8, 30]", "fibres = [2], results = [4]"),
          ("f64", (58, 4, 100, 6), 20, "batch_last", "[1, 4, 6, 10]", "fibres = [5], results = [2], k_lanes = 16"),
          ("c64", (5, 7, 9, 3), 31, "batch_first", "[3, 5, 7, 3]", "fibres = [3], results = [7], k_lanes = 4"),
          # Neighbouring fibres, whose results are stored together.
          ("f32", (3, 19, 7, 5), 203, "batch_last", "[1, 16, 2, 104]", "fibres = [4], results = [2], vector_store = 1"),
          ("bf16", (4, 50, 6, 3), 77, "batch_last", "[2, 50, 3, 80]", "fibres = [8], results = [3], vector_store = 1"),
          ("f64", (2, 21, 9, 11), 45, "batch_last", "[1, 21, 1, 46]", "fibres = [2], results = [5], vector_store = 1")]),
    # Functions of pairs: 4, 8 and 2 bytes, and where a matrix is small, one, two or many columns of values, of one CTA for
    # each tile of rows or of more.
    pairs.parameters("pairwise", "f32", "abs_diff", (300, 270, 100)),
    pairs.parameters("pairwise", "f64", "square_diff", (130, 200, 65), epilogue=True, param="scalar"),
    pairs.parameters("pairwise", "f32", "abs_diff", (300, 270, 101), attributes=[
        "plan = #kron.gpu_plan<kernel = pairwise, ctas_per_sm = 2, thread_columns = 16>"]),
    # The same by matrix products, whose tiles are not exact where an element is not.
    *(pairs.parameters("pairwise", name, function, (700, 300, 100), attributes=[
        f"plan = #kron.gpu_plan<kernel = pairwise, products = {3 if name == 'f32' else 1}>"], **more)
      for name in ("f32", "f64", "f16", "bf16") for function in ("square_diff", "dot")
      for more in ({}, {"special": math.nan})),
    pairs.parameters("pairwise_apply", "f32", "square_diff", (300, 1000, 64, 5), epilogue=True, param="scalar", attributes=[
        "plan = #kron.gpu_plan<kernel = pairwise, products = 3>"]),
    # Values by matrix instructions, infinities among them; rows by warpgroups, where there are such, and not.
    # A function that is 0 where it is too small for f32 would make NaN of infinities.
    *(pairs.parameters("pairwise_apply", name, "dot" if "special_value" in more else "square_diff", (300, 1000, depth, 16),
                       epilogue="special_value" not in more, **more)
      for name, depth in (("f32", 64), ("f32", 256), ("f64", 70), ("f16", 64), ("bf16", 130))
      for more in ({}, {"special_value": math.inf}, {"clusters": 5})),
    *(pairs.parameters("pairwise_apply", "f32", "square_diff", (300, 1000, 64, c), epilogue=True, attributes=[
        f"plan = #kron.gpu_plan<kernel = pairwise, products = 3, {fields}>"])
      for c, fields in ((16, "value_products = 0"), (16, "wgmma = 0"), (1, "wgmma = 0"), (3, "value_products = 3"))),
    *(pairs.parameters("pairwise", "f32", "square_diff", (700, 300, depth), epilogue=True, attributes=[
        f"plan = #kron.gpu_plan<kernel = pairwise, products = 3{wgmma}>"], **more)
      for depth in (20, 100, 1000) for wgmma in ("", ", wgmma = 0") for more in ({}, {"clusters": 5})),
    # Rows with themselves, of which one half is computed: by the function and by matrix instructions of either kind.
    *(pairs.of_one_array(pairs.parameters("pairwise", name, function, (700, 700, depth), epilogue=function != "dot", **more))
      for name, function, depth in (("f32", "abs_diff", 20), ("f64", "abs_diff", 100), ("f16", "pow_diff(1.5)", 33),
                                    ("f32", "square_diff", 100), ("f64", "square_diff", 100), ("bf16", "dot", 65))
      for more in ({}, {"batches": ((3,), (3,), ())}, {"dynamic": "MNK"}, {"memref_layout": "any"})),
    pairs.of_one_array(pairs.parameters("pairwise", "f32", "square_diff", (1000, 1000, 128), clusters=5, attributes=[
        "plan = #kron.gpu_plan<kernel = pairwise, products = 3, wgmma = 0, symmetric = 1>"])),
    pairs.parameters("pairwise", "f16", "pow_diff(1.3)", (64, 130, 40)),
    pairs.parameters("pairwise_apply", "f32", "square_diff", (300, 1000, 3, 1), epilogue=True),
    pairs.parameters("pairwise_apply", "bf16", "abs_diff", (1000, 300, 8, 9), epilogue=True),
    # Rows in registers, of one thread for each or several; roots and powers by polynomials; a K that decides at a launch.
    *(pairs.parameters("pairwise_apply", name, function, sizes, epilogue=function != "dot", attributes=[
        f"plan = #kron.gpu_plan<kernel = pairwise, keeps_rows = 1, column_threads = {lanes}>"])
      for name, function, sizes, lanes in (("f32", "square_diff", (5000, 3000, 3, 1), 1), ("f64", "abs_diff", (700, 900, 4, 2), 4),
                                           ("f16", "dot", (300, 4000, 7, 16), 16))),
    *(pairs.parameters("pairwise", "f32", f"pow_diff({p})", (300, 270, 100), attributes=[
        f"plan = #kron.gpu_plan<kernel = pairwise, polynomials = {share}>"], **more)
      for p, share in ((1.3, 12), (1.5, 5), (2.7, 16)) for more in ({}, {"special": math.inf})),
    *(pairs.parameters("pairwise", name, "square_diff", (300, 270, depth), dynamic="K")
      for name in ("f32", "f64", "f16") for depth in (40, 100)),
    *(pairs.parameters("pairwise_apply", "f32", "square_diff", (200, 333, 5, 2), accumulate=accumulate, attributes=[
        f"plan = #kron.gpu_plan<kernel = pairwise, column_threads = 8, split_ctas = {ctas}>"])
      for accumulate, ctas in (("max", 1), ("logsumexp", 7))),
    # Gradients by an operand: of all types, with values of pairs and without, K of a few positions and of many, and outputs.
    *(pair_gradients.parameters(by, name, function, (300, 270, depth, 2), weights, epilogue=epilogue)
      for name in ("f32", "f64", "f16", "bf16") for by, function, depth, weights, epilogue in
      (("lhs", "square_diff", 20, "uv", True), ("rhs", "abs_diff", 100, "h", False), ("lhs", "pow_diff(1.3)", 3, "huv", True))),
    pair_gradients.parameters("lhs", "f32", "square_diff", (1000, 900, 333, 1), "uv", epilogue=True, dynamic="MNKC", param="scalar"),
    pair_gradients.parameters("lhs", "f32", "pow_diff(1.3)", (300, 200, 64, 1), "huv", batches=((), (), (), (), (11,), (11,))),
    pair_gradients.parameters("lhs", "f64", "pow_diff(2.7)", (130, 100, 30, 1), "uv", batches=((2, 1), (1,), (), (2, 1), (3,), (2, 3))),
    *(pair_gradients.parameters("lhs", "f32", "square_diff", (200, 333, 5, 2), "uv", epilogue=True, attributes=[
        f"plan = #kron.gpu_plan<kernel = pairwise_grad, column_threads = 8, split_ctas = {ctas}>"]) for ctas in (1, 7)),
)


def parameters(seed, number):
    if number < len(FIXED):
        return dict(FIXED[number])
    rng = np.random.default_rng([seed, number, 9])
    p = random_cases.common_parameters(rng)
    p["type"] = str(rng.choice(NAMES, p=WEIGHTS))
    p["dynamic"] = tuple(d for d in p["dynamic"] if d == "rows")
    p["attributes"] = []
    if TYPES[p["type"]].is_integer:
        p.pop("special", None)
    precision = rng.random()
    if p["type"] in ("f32", "c32") and precision < 0.3:
        p["attributes"] = ["precision = #kron.precision<%s>" % ("ieee" if precision < 0.15 else "tf32")]
    kind = rng.random()
    if kind < 0.05:
        return pairs.random(rng, MAX_PAIRS)
    if kind < 0.06:
        return pair_gradients.random(rng, MAX_PAIRS)
    make = (_product if kind < 0.62 else _batched if kind < 0.78 else
            _ksmm if kind < 0.9 else _sparse_chain if kind < 0.97 else
            _dense if kind < 0.985 else _small_groups if kind < 0.995 else _swapped)
    return make(rng, p)


def make(seed, index, number):
    return build(index, parameters(seed, number))


def build(index, p):
    case = cases.build(index, p)
    if p["op"] in (*pairs.OPS, "pairwise_grad"):
        return case
    if p["op"] == "ksmm" and p["pattern"][3] == 1 and "rows" in p["dynamic"]:
        case.tags.add("dense")
    if any("tf32" in a for a in p["attributes"]):
        _allow_tf32(case)
    allow_rounding(case)
    return case


def allow_rounding(case):
    """Tensor cores take f16 and bf16: the values between two factors are rounded to the type of the arrays."""
    factors = sum(arg.name.startswith("f") and arg.name[1:].isdigit() for arg in case.args)
    case.num_stores = max(case.num_stores, factors)


def _allow_tf32(case):
    """The bounds of a type whose products keep 11 bits."""
    coarse = dataclasses.replace(case.element, unit=TF32_UNIT)
    case.tags.add("tf32")
    for arg in case.args:
        if arg.element == case.element:
            arg.element = coarse
    case.element = coarse
