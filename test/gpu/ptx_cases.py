"""Cases whose kernels are interpreted: some of each family that a plan can name, then random ones.

Of an unknown number of rows a plan expects many, so a few rows take the kernels of large arrays; there are as many
of them as fill some tiles on a GPU of SMS multiprocessors.

SPDX-License-Identifier: MIT
"""

import math

import selection  # noqa: F401  (finds the modules below)

import cases
import pair_gradients
import pairs
import shapes
from shapes import OPEN

SMS = 4
CHIPS = ("sm_90a", "sm_80")
#: What a random case may cost, in elements of arrays and multiply-adds.
MAX_ELEMENTS = 100_000
MAX_PRODUCTS = 4_000_000
MAX_PAIRS = 200_000

HOPPER = ("sm_90a",)
SCALED = dict(alpha="operand", beta="operand", addend="operand")
UNREAD = SCALED | dict(beta="operand_zero")
TF32 = dict(attributes=["precision = #kron.precision<tf32>"])
IEEE = dict(attributes=["precision = #kron.precision<ieee>"])
FFMA = dict(attributes=["plan = #kron.gpu_plan<kernel = ffma>"])
DMMA = dict(attributes=["plan = #kron.gpu_plan<kernel = dmma>"])
SIMT = dict(attributes=["plan = #kron.gpu_plan<kernel = simt>"])
WGMMA = dict(attributes=["plan = #kron.gpu_plan<kernel = wgmma>"])
EPILOGUE = dict(bias=True, residual=True, activation="gelu", scale=True)


def dmma(fields):
    return dict(attributes=[f"plan = #kron.gpu_plan<kernel = dmma, {fields}>"])


def mma(fields):
    return dict(attributes=[f"plan = #kron.gpu_plan<kernel = mma, {fields}>"])


def pieces(fields, *more):
    """A plan of tiles that arrive in pieces, and attributes beside it."""
    return dict(attributes=[f"plan = #kron.gpu_plan<kernel = wgmma, {fields}>", *more])


def simt(*launches):
    """A plan of launches of these fields, of 96 threads."""
    text = ", ".join(f"{{{fields}}}" for fields in launches)
    return dict(attributes=[f"plan = #kron.gpu_plan<kernel = simt, threads = 96, launches = [{text}]>"], dynamic=())


def direct(extents, fibres, results, lanes=1):
    """A plan of one launch that loads data directly."""
    return simt(f"factors = 1, extents = {extents}, fibres = [{fibres}], results = [{results}], ctas_per_sm = 2, "
                f"direct_store = 1, direct_load = 1, k_lanes = {lanes}")


def vectors(extents, fibres, results):
    """The same, of neighbouring fibres whose results are stored together."""
    return simt(f"factors = 1, extents = {extents}, fibres = [{fibres}], results = [{results}], ctas_per_sm = 2, "
                f"direct_store = 1, direct_load = 1, vector_store = 1")


def product(op, name, sizes, rows, **more):
    return shapes._fixed_product(op, name, sizes, rows, OPEN) | more


def regions(kernel, *factors):
    """A plan of fused regions of so many factors each."""
    return dict(attributes=[f"plan = #kron.gpu_plan<kernel = {kernel}, regions = {list(factors)}>"], dynamic=())


def each_region(**kernels):
    """A plan for each of the regions that `kernels` have, of so many factors."""
    plans = ", ".join(f"#kron.gpu_plan<kernel = {kernel}>" for kernel in kernels)
    return dict(attributes=[f"plan = #kron.region_plans<regions = {list(kernels.values())}, plans = [{plans}]>"],
                dynamic=())


#: Those that shrink the array lie apart.
RECTANGLES = [(3, 5), (4, 3), (3, 4), (5, 2)]


def batched(name, sizes, count, **more):
    return product("batched", name, sizes, 1) | dict(x_batch=(count,), dynamic=("batch",)) | more


def sparse(name, pattern, rows, layout="batch_first", **more):
    return shapes._fixed_ksmm(name, pattern, rows, layout, OPEN) | more


def streamed(fields):
    """A plan of a factor that comes in pieces."""
    return dict(attributes=[f"plan = #kron.gpu_plan<kernel = sparse, ctas_per_sm = 1, {fields}>"])


def groups_plan(fields):
    return [f"plan = #kron.gpu_plan<kernel = small_groups, {fields}>"]


def shared_store(fields="", *more):
    """A plan of results by way of shared memory."""
    fields = f", {fields}" if fields else ""
    return [f"plan = #kron.gpu_plan<kernel = sparse, shared_store = 1{fields}>", *more]


def whole_copies(number, fields=""):
    """A plan of data (1), and of the factor, too (2), that are copied by 16 bytes wherever rows start."""
    fields = f", {fields}" if fields else ""
    return [f"plan = #kron.gpu_plan<kernel = sparse, whole_copies = {number}{fields}>"]


def padded(**more):
    """On copies whose rows start at multiples of 16 bytes."""
    return dict(attributes=["plan = #kron.gpu_plan<padded = 1>"], dynamic=()) | more


def whole_tiles(kernel, fields="", *more):
    """A plan of `kernel` whose tiles are copied as they lie, with results by way of shared memory."""
    fields = f", {fields}" if fields else ""
    return dict(attributes=[f"plan = #kron.gpu_plan<kernel = {kernel}, whole_copies = 1, shared_store = 1{fields}>", *more])


def gradient(name, pattern, rows, layout="batch_first", **more):
    return shapes._fixed_grad(name, pattern, rows, layout, OPEN) | more


def chain(name, patterns, rows, fields="", **more):
    """In one kernel, which the planner plans but for these fields."""
    plan = f"#kron.gpu_plan<kernel = chain, regions = [{len(patterns)}], {fields}>"
    return shapes._fixed_chain(name, patterns, rows) | (dict(plan=plan) if fields else {}) | more


#: Arrays of a function on tensors lie without gaps.
PACKED = dict(memref_layout="packed")


SMALL_PAIRS = "threads = 64, thread_rows = 2, thread_columns = 4, column_threads = 8, stages = 2"


def products(step, number, rows=2, lanes=8, more=""):
    """Fields of tiles of 16 by 32 by matrix products, of `number` parts; of 32 by 16 with four lanes."""
    return (f"threads = 64, thread_rows = {rows}, thread_columns = 4, column_threads = {lanes}, stages = 3, "
            f"k_step = {step}, products = {number}{more}")


def values(number, columns, more=""):
    """Fields of values that matrix instructions multiply, so many columns at a time, in `number` products."""
    return f", value_columns = {columns}, value_products = {number}, split_ctas = 9{more}"


def warpgroups(number, columns, rows=2, threads=128, more=""):
    """Fields of tiles of 64 rows of each warpgroup, or more, by warpgroups, of `number` products."""
    return (f"threads = {threads}, ctas_per_sm = 1, thread_rows = {rows}, thread_columns = {columns}, column_threads = 4, "
            f"stages = 3, k_step = 32, products = {number}, wgmma = 1{more}")


def kept(stages, lanes, more):
    """Fields of tiles whose rows stay in registers, of blocks of as many columns as two for each of the lanes."""
    return (f"threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 2, column_threads = {lanes}, stages = {stages}, "
            f"keeps_rows = 1, {more}")


def pair(name, function, sizes, fields=SMALL_PAIRS, **more):
    """A function of pairs with such a plan; the planner's, if there are no fields."""
    plan = [f"plan = #kron.gpu_plan<kernel = pairwise, {fields}>"] if fields else []
    op = "pairwise_apply" if len(sizes) == 4 else "pairwise"
    return pairs.parameters(op, name, function, sizes, **more) | dict(attributes=plan)


#: Fields of blocks of 16 x 32 and tiles of 16 rows and 8 positions of K; of values of pairs besides.
SMALL_GRADIENTS = ("threads = 64, ctas_per_sm = 2, thread_rows = 2, thread_columns = 4, column_threads = 8, "
                   "thread_positions = 2, k_threads = 4, split_ctas = 9")
SMALL_PAIR_GRADIENTS = f"{SMALL_GRADIENTS}, stages = 2, k_step"


def pair_gradient(by, name, function, sizes, weights="h", fields=SMALL_GRADIENTS, **more):
    """A gradient of a function of pairs with such a plan; the planner's, if there are no fields."""
    plan = [f"plan = #kron.gpu_plan<kernel = pairwise_grad, {fields}>"] if fields else []
    return pair_gradients.parameters(by, name, function, sizes, weights, **more) | dict(attributes=plan)


#: (a kernel of the plan, chips, parameters).
FIXED = (
    ("batched", CHIPS, batched("f32", [(9, 9)] * 3, 40, **SCALED)),
    ("batched", CHIPS, batched("f64", [(4, 4)] * 3, 150)),
    ("batched", CHIPS, batched("f32", [(8, 8)] * 2, 50, **UNREAD)),
    ("batched", CHIPS, batched("f32", [(6, 3), (5, 5), (4, 7)], 33, memref_layout="any")),
    ("batched", CHIPS, product("mkm", "f64", [(5, 5)] * 4, 4, **SCALED)),
    # One row of a tile, whose fibres are no multiple of what threads take together.
    ("batched", ("sm_90a",), product("mkm", "f64", [(2, 2), (5, 5), (6, 6), (7, 7), (8, 8)], 5)),
    ("batched", CHIPS, product("mkm", "f32", [(14, 15), (13, 9), (11, 6)], 3)),
    ("batched", CHIPS, product("mkm", "f32", [(9, 9), (7, 5)], 37, dynamic=(), attributes=[
        "plan = #kron.gpu_plan<kernel = batched, slack = 0>"])),
    ("ffma", CHIPS, product("mkm", "f32", [(8, 8)] * 4, 5)),
    ("ffma", CHIPS, product("kmm", "f32", [(16, 16)] * 2, 12, **IEEE)),
    ("ffma", CHIPS, product("mkm", "f32", [(8, 8)] * 4, 3, **SCALED, **FFMA)),
    ("ffma", CHIPS, product("mkm", "f32", [(8, 8)] * 3, 3, **UNREAD, **FFMA)),
    ("ffma", CHIPS, product("mkm", "f64", [(6, 5), (7, 8), (3, 4)], 9, op_x="T", **FFMA)),
    # Neighbours of a transposed X along rows of a tile, or along fibres.
    ("ffma", CHIPS, product("mkm", "f32", [(4, 4)] * 3, 37, op_x="T", **FFMA)),
    ("ffma", CHIPS, product("kmm", "f32", [(4, 4)] * 3, 37, op_x="T", **FFMA)),
    ("ffma", CHIPS, product("kmm", "f64", [(5, 7), (3, 3)], 9, op_x="T", **FFMA)),
    ("ffma", CHIPS, product("mkm", "f32", [(16, 16), (15, 12)], 5, ops=["T", "N"], **FFMA)),
    # Two f64 fibres of a thread, of which the last threads have one.
    ("ffma", CHIPS, product("kmm", "f64", [(7, 11), (11, 10), (3, 5)], 16, **FFMA)),
    # Several fused regions, whose axes are neighbours or not; others are one axis.
    ("ffma", CHIPS, product("mkm", "f32", RECTANGLES, 6, **regions("ffma", 2, 2))),
    ("ffma", CHIPS, product("kmm", "f64", [(3, 3)] * 5, 11, op_x="T", **regions("ffma", 2, 3))),
    ("mma", CHIPS, product("mkm", "f64", RECTANGLES, 6, **regions("mma", 2, 2))),
    ("mma", CHIPS, product("kmm", "bf16", [(5, 5)] * 4, 3, **regions("mma", 2, 2))),
    ("simt", CHIPS, product("kmm", "f16", RECTANGLES, 5, op_x="T", **regions("simt", 1, 3))),
    ("simt", CHIPS, product("mkm", "c64", RECTANGLES, 3, **regions("simt", 2, 1, 1))),
    ("simt", CHIPS, product("mkm", "f32", [(5, 5)] * 4, 6, **each_region(simt=1, mma=3))),
    ("ffma", CHIPS, product("kmm", "f64", RECTANGLES, 5, **each_region(mma=2, ffma=1, simt=1))),
    # A part of the next tile in the ring; groups of threads with barriers of their own.
    ("ffma", CHIPS, product("mkm", "f32", [(8, 8)] * 3, 12, dynamic=(), attributes=[
        "plan = #kron.gpu_plan<kernel = ffma, extents = [2, 8, 8, 8], threads = 128, ctas_per_sm = 1, ring_slots = 3>"])),
    ("ffma", HOPPER, product("mkm", "f32", [(8, 8)] * 5, 64, dynamic=(), **FFMA)),
    ("simt", CHIPS, product("mkm", "i32", [(4, 4)] * 3, 5)),
    ("simt", CHIPS, product("mkm", "c32", [(3, 5), (4, 2)], 7)),
    ("simt", CHIPS, product("mkm", "c64", [(3, 5), (4, 2)], 40, ops=["C", "N"], **SCALED)),
    ("simt", CHIPS, product("kmm", "i64", [(5, 6), (3, 3)], 11, ops=["T", "N"], **SCALED)),
    ("simt", CHIPS, product("mkm", "bf16", [(5, 6), (7, 3)], 90, memref_layout="any", **SIMT, **UNREAD)),
    ("simt", CHIPS, sparse("f16", (5, 9, 7, 3), 40, **EPILOGUE, **SIMT)),
    ("simt", CHIPS, sparse("c32", (3, 5, 6, 4), 30, op_weights="T")),
    ("simt", CHIPS, product("mkm", "f32", [(3, 70), (4, 90)], 3, **SIMT)),
    # Several fibres, parts that do not divide the results or the fibres, and stores from registers.
    ("simt", CHIPS, product("mkm", "c64", [(3, 11), (13, 10)], 7, ops=["N", "C"], **SCALED, **simt(
        "factors = 2, extents = [2, 3, 13], fibres = [4, 3], results = [4, 4], ctas_per_sm = 1, direct_store = 1"))),
    ("simt", CHIPS, product("mkm", "c32", [(3, 11), (13, 10)], 7, **simt(
        "factors = 1, extents = [2, 3, 13], fibres = [4], results = [3], ctas_per_sm = 2, direct_store = 1",
        "factors = 1, extents = [2, 3, 7], fibres = [5], results = [8], ctas_per_sm = 1"))),
    ("simt", CHIPS, product("kmm", "f16", [(6, 9), (8, 5)], 21, **UNREAD, **simt(
        "factors = 2, extents = [6, 8, 8], fibres = [2, 8], results = [2, 5], ctas_per_sm = 1, direct_store = 1"))),
    ("simt", CHIPS, product("kmm", "i32", [(9, 100)], 21, ops=["T"], **SCALED, **simt(
        "factors = 1, extents = [9, 8], fibres = [8], results = [16], ctas_per_sm = 1, direct_store = 1"))),
    # Data from memory to registers: tiles that cut the results, ends of all axes, lanes that share out K, and more of
    # these than K has positions; and by hand a factor that does not vary.
    ("simt", CHIPS, sparse("f32", (3, 7, 9, 5), 13, **direct("[4, 2, 4, 5]", 2, 2, 4))),
    ("simt", CHIPS, sparse("f64", (2, 6, 11, 3), 10, "batch_last", **SCALED, **direct("[1, 6, 2, 4]", 4, 3))),
    ("simt", CHIPS, sparse("bf16", (2, 5, 8, 6), 9, **EPILOGUE, **direct("[3, 1, 5, 6]", 3, 5, 8))),
    ("simt", CHIPS, sparse("c32", (3, 5, 6, 4), 7, op_weights="C", **direct("[4, 3, 3, 2]", 1, 3, 2))),
    ("simt", CHIPS, sparse("i64", (2, 4, 20, 3), 6, **direct("[2, 2, 4, 3]", 2, 4, 32))),
    ("simt", CHIPS, product("mkm", "f32", [(9, 12)], 13, **direct("[4, 7]", 2, 3, 4))),
    ("simt", CHIPS, product("kmm", "bf16", [(30, 2)], 19, op_x="T", **direct("[2, 6]", 3, 2, 8))),
    ("simt", CHIPS, sparse("f16", (4, 3, 9, 7), 21, "batch_last", **UNREAD, **direct("[2, 2, 7, 8]", 2, 1, 16))),
    ("simt", CHIPS, sparse("f32", (3, 5, 9, 4), 7, of_8_bits=("e5m2", "e4m3"), **EPILOGUE, **direct("[2, 1, 5, 4]", 2, 5, 2))),
    # Results of neighbouring fibres together, of rows that start anywhere: tiles that have all of them, that cut both
    # axes, whose results all lie alike, and of fewer results than lie differently; with what is added to them.
    ("simt", CHIPS, product("kmm", "bf16", [(5, 21)], 37, **vectors("[21, 40]", 4, 2))),
    ("simt", CHIPS, product("kmm", "f32", [(3, 11)], 29, **SCALED, **vectors("[9, 12]", 4, 1))),
    ("simt", CHIPS, product("kmm", "f16", [(4, 9)], 64, ops=["T"], **vectors("[9, 64]", 8, 3))),
    ("simt", CHIPS, product("kmm", "i32", [(4, 40)], 18, **vectors("[40, 20]", 2, 5))),
    ("simt", CHIPS, sparse("f64", (2, 6, 11, 3), 15, "batch_last", **SCALED, **vectors("[1, 6, 2, 8]", 2, 3))),
    ("simt", CHIPS, sparse("f16", (4, 3, 9, 7), 21, "batch_last", **EPILOGUE, **vectors("[2, 2, 7, 24]", 8, 1))),
    ("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 4, 5)),
    ("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 5, 2, **SCALED)),
    ("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 4, 2, **UNREAD)),
    # Warps by themselves, one of them alone, two tiles ahead, and the rows behind the last whole tile.
    ("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 2, 100, **dmma("threads = 64, ctas_per_sm = 1, tile = 8"))),
    ("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 3, 9, ops=["T", "N", "T"], **dmma("threads = 32, tile = 1"))),
    ("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 3, 19, **dmma("stages = 3, ctas_per_sm = 1, tile = 2"), **SCALED)),
    # Barriers of some warps and of all; columns, two of them and 16, of which the last ones do not exist.
    ("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 4, 9, **dmma("threads = 512, ctas_per_sm = 1, stages = 3"))),
    ("dmma", HOPPER, product("kmm", "f64", [(8, 8)] * 3, 4, dynamic=(), **dmma("extents = [8, 8, 8, 4]"))),
    ("dmma", HOPPER, product("kmm", "f64", [(8, 8)] * 2, 36, dynamic=(), **dmma("extents = [8, 8, 16]"), **SCALED)),
    ("dmma", HOPPER, product("kmm", "f64", [(8, 8)] * 4, 16, ops=["T"] * 4, dynamic=(), **DMMA)),
    # Two CTAs: without room for a part of the next tile, with some, and with all.
    *(("dmma", HOPPER, product("mkm", "f64", [(8, 8)] * 4, 9, **dmma(
        f"extents = [1, 8, 8, 8, 8], cluster = 2, ring_slots = {slots}, threads = {threads}"), **more))
      for slots, threads, more in ((4, 128, {}), (6, 512, SCALED), (8, 256, {}), (9, 256, UNREAD))),
    ("dmma", HOPPER, product("kmm", "f64", [(8, 8)] * 3, 32, dynamic=(), **dmma("extents = [8, 8, 8, 16], cluster = 2"))),
    ("mma", CHIPS, product("mkm", "f64", [(16, 16)] * 3, 3)),
    ("mma", CHIPS, product("mkm", "f64", [(32, 32)] * 3, 2)),
    ("mma", CHIPS, product("mkm", "f64", [(24, 17), (20, 16)], 9, op_x="T", ops=["T", "N"])),
    ("mma", CHIPS, product("mkm", "bf16", [(12, 12)] * 3, 9)),
    ("mma", CHIPS, product("mkm", "f16", [(31, 31)] * 2, 9, attributes=["plan = #kron.gpu_plan<kernel = mma>"])),
    ("mma", CHIPS, product("kmm", "f16", [(16, 16)] * 3, 4, ops=["T"] * 3, **SCALED)),
    ("mma", CHIPS, product("mkm", "f32", [(16, 16)] * 4, 2, **SCALED)),
    # Rows of one factor that start anywhere; results by 8 and 4 bytes.
    ("mma", CHIPS, product("mkm", "f32", [(26, 54)], 70, dynamic=(), **mma("tile = 64"))),
    ("mma", CHIPS, product("mkm", "f32", [(17, 9)], 150, dynamic=(), **mma("tile = 128"), **SCALED)),
    ("mma", CHIPS, product("batched", "f32", [(9, 20)], 33, dynamic=(), attributes=["plan = #kron.gpu_plan<kernel = mma>"])),
    ("mma", CHIPS, product("mkm", "f32", [(18, 26), (22, 22)], 5, dynamic=(), attributes=["plan = #kron.gpu_plan<kernel = mma>"])),
    ("mma", CHIPS, product("mkm", "bf16", [(9, 9)] * 3, 3, dynamic=(), attributes=["plan = #kron.gpu_plan<kernel = mma>"])),
    ("mma", CHIPS, product("mkm", "f16", [(10, 22), (14, 14)], 6, dynamic=(), **mma("inner_chain = 1"), **SCALED)),
    ("mma", CHIPS, product("kmm", "f16", [(6, 6), (5, 5)], 22, dynamic=(), attributes=["plan = #kron.gpu_plan<kernel = mma>"])),
    ("mma", CHIPS, product("mkm", "f16", [(16, 16)] * 2, 9, **UNREAD)),
    # Fibres of several rows that share an instruction.
    ("mma", CHIPS, product("mkm", "f64", [(7, 7), (12, 20)], 9, **mma("inner_chain = 0"))),
    ("mma", CHIPS, product("mkm", "f32", [(3, 5), (4, 4), (17, 9)], 7, **mma("inner_chain = 0"), **SCALED)),
    ("mma", CHIPS, product("mkm", "bf16", [(5, 5), (18, 18)], 11, **mma("inner_chain = 0"))),
    ("mma", HOPPER, product("mkm", "f64", [(60, 60), (2, 2), (11, 11)], 5)),
    ("mma", ("sm_80",), product("mkm", "f32", [(24, 40), (17, 16)], 9)),
    # One slot and three; warps that are no whole group; pieces of two CTAs, and warps of which few lanes have results.
    ("mma", CHIPS, product("mkm", "f32", [(16, 16)] * 3, 9, **mma("stages = 1"))),
    ("mma", HOPPER, product("mkm", "f64", [(12, 12)] * 3, 17, **mma("stages = 3, ctas_per_sm = 1"))),
    ("mma", CHIPS, product("mkm", "f32", [(64, 64)] * 2, 5, **mma("threads = 96, ctas_per_sm = 1"))),
    ("mma", HOPPER, product("mkm", "f32", [(32, 32)] * 3, 9, **mma("cluster = 2"), **SCALED)),
    ("mma", HOPPER, product("kmm", "f32", [(16, 16), (12, 12), (17, 17)], 1, ops=["T", "N", "T"], dynamic=(),
                            memref_layout="any", **mma("cluster = 2"))),
    # The two innermost factors apart; warps that share results, of one tile of 16 and of three.
    ("mma", CHIPS, product("mkm", "f32", [(16, 16)] * 2, 9, **mma("inner_chain = 0"))),
    ("mma", CHIPS, product("mkm", "f16", [(16, 16)] * 3, 5, **mma("inner_chain = 0, step_warps = [2, 1, 4]"))),
    ("mma", HOPPER, product("mkm", "f64", [(48, 48)] * 2, 3, **mma("step_warps = [1, 2]"), **SCALED)),
    ("mma", CHIPS, product("mkm", "f32", [(48, 48)] * 2, 3, **mma("step_warps = []"))),
    # Rows right outside of the innermost axis, whose padding are columns too; two buffers; three of four warps.
    ("mma", CHIPS, product("mkm", "f64", [(45, 45), (11, 11)], 7, **mma(
        "inner_rows = 1, tile = 3, threads = 128, step_warps = [1, 3]"), **SCALED)),
    ("mma", CHIPS, product("mkm", "f64", [(9, 5), (4, 4), (3, 7)], 9, **mma(
        "inner_rows = 1, alternates = 1, tile = 5"))),
    ("mma", CHIPS, product("mkm", "f64", [(5, 9), (6, 3), (13, 12)], 9, **mma(
        "inner_rows = 1, tile = 2, inner_chain = 0"))),
    ("mma", CHIPS, product("mkm", "f64", [(41, 20), (36, 36)], 7, **mma("alternates = 1, step_warps = [3, 2]"))),
    ("mma", CHIPS, product("kmm", "f64", [(5, 5), (20, 23)], 37, **mma("alternates = 1"))),
    # An odd number of blocks for two CTAs.
    ("mma", HOPPER, product("mkm", "f16", [(64, 1), (1, 31), (31, 3)], 5, **mma("cluster = 2"))),
    ("wgmma", HOPPER, product("mkm", "f32", [(32, 32)] * 3, 3)),
    ("wgmma", HOPPER, product("mkm", "f16", [(32, 32)] * 3, 3, **SCALED, **WGMMA)),
    ("wgmma", HOPPER, product("mkm", "f16", [(32, 32)] * 3, 3, **UNREAD, **WGMMA)),
    ("mma", HOPPER, product("mkm", "f16", [(32, 32)] * 3, 3, **SCALED)),
    ("wgmma", HOPPER, product("mkm", "f32", [(24, 31), (17, 16)], 9, **UNREAD, **WGMMA)),
    # A factor of one row, whose ring has room for more positions than a tile has.
    ("wgmma", HOPPER, product("kmm", "bf16", [(128, 1)], 256, dynamic=(), **WGMMA)),
    ("wgmma", HOPPER, product("mkm", "f32", [(24, 40), (17, 16)], 9)),
    ("wgmma", HOPPER, product("mkm", "bf16", [(128, 128)] * 2, 2)),
    ("wgmma", HOPPER, product("mkm", "f32", [(64, 64)] * 2, 5, **TF32)),
    # Tiles that are not refilled: the interpreter takes no warpgroup of which one warp is behind in its guard.
    ("wgmma", HOPPER, product("kmm", "f32", [(32, 32)] * 2, 40, op_x="T",
                              attributes=["plan = #kron.gpu_plan<kernel = wgmma, columns = 16, stages = 2>"])),
    ("wgmma", HOPPER, product("mkm", "f32", [(256, 256)], 300)),
    # Pieces: several tiles of each group, the last one of which has few rows; columns, and K that ends in a piece.
    ("wgmma", HOPPER, product("mkm", "f32", [(128, 128)], 530, **pieces("k_piece = 32, tile = 32"))),
    ("wgmma", HOPPER, product("kmm", "f32", [(100, 70)], 90, **SCALED, **pieces("k_piece = 32"))),
    ("wgmma", HOPPER, product("kmm", "f32", [(70, 100)], 9, dynamic=(), **UNREAD, **pieces("k_piece = 48, columns = 9"))),
    # Single elements along either side; more CTAs than share the columns evenly; more turns ahead than one.
    ("wgmma", HOPPER, product("mkm", "f32", [(200, 130)], 150, op_x="T", ops=["T"],
                              **WGMMA, **UNREAD)),
    ("wgmma", HOPPER, product("mkm", "f32", [(96, 50)], 333, memref_layout="any", **SCALED, **pieces(
        "k_piece = 64, stages = 6, threads = 128", TF32["attributes"][0]))),
    ("wgmma", HOPPER, product("kmm", "f32", [(160, 31)], 66, ops=["T"], **pieces("stages = 5, columns = 8"))),
    ("wgmma", HOPPER, product("mkm", "f32", [(40, 129)], 200, **pieces("tile = 5, stages = 3"))),
    # Results of rows that start anywhere, of two shares, too, and of few; K of more than half of a share's bytes.
    ("wgmma", HOPPER, product("mkm", "f32", [(64, 45)], 70, dynamic=(), **pieces("k_piece = 32"))),
    ("wgmma", HOPPER, product("mkm", "f32", [(48, 131)], 40, dynamic=(), alpha="operand", **pieces("k_piece = 32, tile = 64"))),
    ("wgmma", HOPPER, product("mkm", "f32", [(40, 3)], 200, **pieces("k_piece = 16, tile = 64"))),
    ("wgmma", HOPPER, product("mkm", "f32", [(500, 66)], 40, **pieces("k_piece = 32, tile = 64"))),
    # A large factor of 16 bits, beside whole tiles: alone, and of which CTAs have a share of the columns each, the last one
    # fewer; rows that start anywhere, columns and a transposed input; what is added.
    ("wgmma", HOPPER, product("mkm", "f16", [(200, 150)], 150, **SCALED, **WGMMA)),
    ("wgmma", HOPPER, product("mkm", "bf16", [(130, 300)], 70, ops=["T"], **UNREAD, **WGMMA)),
    ("wgmma", HOPPER, product("mkm", "f16", [(301, 333)], 70, dynamic=(), **WGMMA)),
    ("wgmma", HOPPER, product("mkm", "f16", [(512, 201)], 70, dynamic=(), **pieces("tile = 64, threads = 128"))),
    ("wgmma", HOPPER, product("kmm", "bf16", [(150, 270)], 90, **SCALED, **WGMMA)),
    ("wgmma", HOPPER, product("kmm", "f16", [(257, 131)], 45, dynamic=(), **pieces("columns = 16, whole_copies = 1"))),
    ("wgmma", HOPPER, product("mkm", "f16", [(256, 260)], 70, op_x="T", **SCALED, **WGMMA)),
    # A factor with neighbours along K, more of these than threads.
    ("wgmma", HOPPER, product("mkm", "f32", [(300, 20)], 40, ops=["T"], **pieces("k_piece = 32, tile = 64, threads = 128"))),
    # Tiles that lie as a transposed input does: refilled, with few rows of the last one; not aligned; in pieces. Columns
    # as rows of a tile, stored in pairs and, where these are no neighbours or not aligned, one by one.
    ("wgmma", HOPPER, product("mkm", "f32", [(32, 32)] * 2, 36, op_x="T", ops=["T", "T"], **pieces("tile = 8, stages = 1"))),
    ("wgmma", HOPPER, product("mkm", "f32", [(24, 40), (32, 18)], 20, op_x="T", **pieces("stages = 1"), **SCALED)),
    ("wgmma", HOPPER, product("mkm", "f32", [(32, 32), (32, 31)], 19, op_x="T", **pieces("stages = 1"), **UNREAD)),
    ("wgmma", HOPPER, product("mkm", "f32", [(128, 50)], 150, op_x="T", **pieces("k_piece = 32, tile = 16"), **SCALED)),
    ("wgmma", HOPPER, product("kmm", "f32", [(128, 70)], 52, op_x="T", **pieces("k_piece = 32"), **SCALED)),
    ("wgmma", HOPPER, product("kmm", "f32", [(64, 33)], 44, op_x="T", ops=["T"], **pieces("k_piece = 0"))),
    ("wgmma", HOPPER, product("kmm", "f32", [(40, 20)], 45, op_x="T", **pieces("k_piece = 0"), **UNREAD)),
    ("wgmma", HOPPER, product("kmm", "f32", [(40, 20)], 45, op_x="T", dynamic=(), **pieces("k_piece = 0, columns = 1"))),
    ("wgmma", HOPPER, product("kmm", "f32", [(40, 2), (223, 4)], 8, op_x="T", ops=["T", "T"], dynamic=())),
    # Sizes of which few elements lie together: accesses of 4 and of 8 bytes.
    ("wgmma", HOPPER, product("kmm", "f16", [(21, 33)], 70, dynamic=(), **WGMMA)),
    ("wgmma", HOPPER, product("mkm", "bf16", [(36, 20), (28, 36)], 9, dynamic=(), **SCALED, **WGMMA)),
    ("wgmma", HOPPER, product("kmm", "f32", [(34, 40)], 46, dynamic=(), **UNREAD, **WGMMA)),
    # Tiles that are copied as they lie: of rows, of columns, and of both where segments end within a tile.
    ("wgmma", HOPPER, product("mkm", "bf16", [(17, 17)] * 2, 21, **whole_tiles("wgmma", "tile = 4"))),
    ("wgmma", HOPPER, product("mkm", "f16", [(33, 21)], 150, dynamic=(), **SCALED, **whole_tiles("wgmma", "tile = 16, stages = 1"))),
    ("wgmma", HOPPER, product("kmm", "f16", [(21, 33)], 171, dynamic=(), **UNREAD, **whole_tiles("wgmma", "columns = 64, stages = 2"))),
    ("wgmma", HOPPER, product("kmm", "bf16", [(18, 20), (5, 7)], 9, dynamic=(), **whole_tiles("wgmma", "stages = 2"))),
    ("wgmma", HOPPER, product("mkm", "f32", [(35, 33)], 70, dynamic=(), **pieces("k_piece = 0, whole_copies = 1"))),
    ("mma", CHIPS, product("mkm", "f16", [(10, 10)], 130, dynamic=(), **whole_tiles("mma"))),
    ("mma", CHIPS, product("mkm", "bf16", [(5, 3), (7, 9)], 40, dynamic=(), **SCALED, **whole_tiles("mma", "stages = 1"))),
    ("mma", CHIPS, product("kmm", "f16", [(6, 6)] * 3, 7, dynamic=(), **UNREAD, **whole_tiles("mma"))),
    ("mma", CHIPS, product("kmm", "bf16", [(7, 5), (3, 3)], 75, dynamic=(), **whole_tiles("mma", "stages = 2, columns = 32"))),
    ("mma", CHIPS, product("mkm", "f32", [(5, 5), (7, 9)], 33, dynamic=(), **mma("whole_copies = 1"))),
    # Odd rows of three factors, with a zero behind the last one of a row; the last tile has few rows.
    ("mma", CHIPS, product("mkm", "f16", [(7, 9), (9, 5), (11, 13)], 13, dynamic=(), **SCALED, **mma("whole_copies = 1"))),
    ("mma", CHIPS, product("mkm", "f16", [(12, 9), (16, 5)], 40, op_x="T", dynamic=(), **mma("shared_store = 1"))),
    ("sparse", CHIPS, sparse("f32", (1, 64, 64, 16), 70)),
    ("sparse", CHIPS, sparse("f16", (6, 64, 64, 1), 150)),
    ("sparse", CHIPS, sparse("bf16", (3, 17, 9, 5), 70, "batch_last")),
    ("sparse", CHIPS, sparse("f64", (2, 48, 40, 1), 33)),
    ("sparse", CHIPS, sparse("f16", (6, 64, 64, 1), 40, **UNREAD)),
    ("sparse", CHIPS, sparse("f32", (1, 96, 40, 8), 60, "batch_last", op_x="T", op_weights="T")),
    ("sparse", CHIPS, sparse("f16", (2, 48, 192, 1), 70, bias=True, residual=True, activation="gelu", scale=True)),
    ("sparse", CHIPS, sparse("f16", (2, 48, 192, 1), 7)),
    ("sparse", CHIPS, sparse("bf16", (64, 28, 12, 1), 70)),
    # Chunks along K, of lanes (of which two halves are exchanged, or 48 bytes), and along rows; with remainders of all,
    # open strides, warps that share K, groups that begin anywhere, and single copies.
    ("sparse", CHIPS, sparse("f32", (2, 40, 44, 1), 70, **SCALED, **streamed(
        "stages = 3, row_warps = 2, result_tiles = 2, result_warps = 2, k_step = 16"))),
    ("sparse", CHIPS, sparse("f64", (2, 20, 41, 1), 37, memref_layout="any", **EPILOGUE, **streamed(
        "stages = 2, row_warps = 2, result_tiles = 1, result_warps = 2, k_step = 32, k_warps = 2"))),
    ("sparse", CHIPS, sparse("f16", (1, 24, 40, 8), 40, **EPILOGUE, **streamed(
        "stages = 2, row_tiles = 2, row_warps = 1, result_tiles = 2, result_warps = 1, k_step = 32"))),
    ("sparse", CHIPS, sparse("f32", (3, 20, 24, 16), 40, **streamed(
        "stages = 4, row_warps = 2, result_tiles = 2, result_warps = 1, k_step = 8, lane_chunks = 2"))),
    ("sparse", CHIPS, sparse("f32", (2, 20, 40, 3), 40, **UNREAD, **streamed(
        "stages = 2, row_warps = 2, result_tiles = 2, result_warps = 1, k_step = 16, chunk_bytes = 48"))),
    ("sparse", CHIPS, sparse("f32", (2, 20, 40, 4), 75, "batch_last", **SCALED, **streamed(
        "stages = 3, row_warps = 2, result_tiles = 1, result_warps = 2, k_step = 16, bf16_residuals = 1"))),
    ("sparse", CHIPS, sparse("bf16", (2, 24, 40, 2), 136, "batch_last", dynamic=(), **EPILOGUE, **streamed(
        "stages = 2, row_warps = 1, result_tiles = 2, result_warps = 2, k_step = 128, k_warps = 2"))),
    ("sparse", CHIPS, sparse("f16", (8, 41, 64, 1), 30, dynamic=(), **streamed(
        "stages = 2, row_warps = 2, result_tiles = 4, result_warps = 1, k_step = 32"))),
    ("sparse", CHIPS, sparse("f16", (1, 40, 70, 6), 9, "batch_last", dynamic=(), **streamed(
        "stages = 2, result_tiles = 1, result_warps = 2, k_step = 64, k_warps = 2, lane_chunks = 3, skinny_m = 9, "
        "copies_singly = 1"))),
    # Results by way of shared memory: of all lanes, of some of them, of one; several tiles of a warp; what is read for
    # results; split-K; warpgroups.
    ("sparse", CHIPS, sparse("f64", (3, 20, 7, 6), 40, attributes=shared_store())),
    ("sparse", CHIPS, sparse("f32", (2, 13, 9, 5), 100, attributes=shared_store("row_tiles = 2"), **SCALED)),
    ("sparse", CHIPS, sparse("bf16", (3, 17, 9, 11), 70, attributes=shared_store("lane_chunks = 3"))),
    ("sparse", CHIPS, sparse("f16", (2, 45, 40, 3), 70, bias=True, residual=True, activation="gelu", scale=True,
                             attributes=shared_store("chunk_bytes = 48"))),
    ("sparse", CHIPS, sparse("f32", (2, 83, 70, 1), 33, attributes=shared_store())),
    ("sparse", CHIPS, sparse("f64", (2, 9, 33, 3), 5, dynamic=(), attributes=shared_store("k_warps = 2"))),
    ("sparse", HOPPER, sparse("f32", (2, 70, 60, 3), 300, attributes=shared_store("wgmma = 1"))),
    # The same of rows that are neighbours: of every type, of tiles of rows and results, of rows that end in a tile, of
    # sums that are read, split-K and groups of warps.
    ("sparse", CHIPS, sparse("f32", (2, 20, 40, 2), 301, "batch_last", **SCALED, attributes=shared_store(
        "row_tiles = 2, result_tiles = 3"))),
    ("sparse", CHIPS, sparse("f64", (2, 9, 17, 2), 77, "batch_last", dynamic=(), attributes=shared_store())),
    ("sparse", CHIPS, sparse("f16", (2, 24, 40, 1), 261, "batch_last", dynamic=(), bias=True, activation="gelu",
                             attributes=shared_store("keeps_factor = 0"))),
    ("sparse", CHIPS, sparse("bf16", (1, 9, 140, 3), 70, "batch_last", attributes=shared_store("k_warps = 2"))),
    ("sparse", CHIPS, sparse("f32", (1, 40, 33, 3), 131, "batch_last", dynamic=(), attributes=shared_store(
        "keeps_factor = 1, warp_groups = 2"))),
    # Copies by 16 bytes of rows that start anywhere: of all lanes, of some of them, of pairs and of four of them in a
    # chunk, of one; the factor kept, or so copied, too; warp groups, split-K, few rows; the end of arrays.
    ("sparse", CHIPS, sparse("f32", (2, 13, 40, 3), 100, dynamic=(), attributes=whole_copies(1, "keeps_factor = 1"))),
    ("sparse", CHIPS, sparse("f32", (3, 20, 37, 11), 40, dynamic=(), attributes=whole_copies(
        2, "keeps_factor = 0, lane_chunks = 4"), **SCALED)),
    ("sparse", CHIPS, sparse("f32", (1, 9, 70, 6), 50, dynamic=(), attributes=whole_copies(
        2, "keeps_factor = 0, chunk_bytes = 16"))),
    ("sparse", CHIPS, sparse("f64", (3, 20, 17, 5), 40, dynamic=(), attributes=whole_copies(
        1, "warp_groups = 2, ctas_per_sm = 1"))),
    ("sparse", CHIPS, sparse("bf16", (3, 17, 29, 11), 70, dynamic=(), attributes=whole_copies(
        2, "keeps_factor = 0, lane_chunks = 3, shared_store = 1"))),
    ("sparse", CHIPS, sparse("f16", (2, 45, 40, 10), 70, dynamic=(), attributes=whole_copies(1, "keeps_factor = 1"))),
    ("sparse", CHIPS, sparse("f16", (1, 12, 100, 20), 24, dynamic=(), attributes=whole_copies(2))),
    ("sparse", CHIPS, sparse("f16", (3, 24, 75, 1), 33, dynamic=(), attributes=whole_copies(2, "k_warps = 2"))),
    ("sparse", CHIPS, sparse("f32", (2, 30, 131, 1), 70, dynamic=(), attributes=whole_copies(2, "keeps_factor = 0"))),
    ("sparse", CHIPS, sparse("f32", (2, 9, 45, 7), 5, dynamic=(), attributes=whole_copies(
        2, "skinny_m = 5, k_warps = 2"))),
    ("sparse", CHIPS, sparse("f32", (2, 13, 33, 5), 100, attributes=whole_copies(1, "keeps_factor = 1"))),
    # The same of rows that are neighbours, of each type: of tiles that end within rows and K, of the factor kept or not,
    # of groups of warps and split-K.
    ("sparse", CHIPS, sparse("f16", (2, 24, 40, 1), 261, "batch_last", dynamic=(), attributes=whole_copies(
        1, "shared_store = 1"))),
    ("sparse", CHIPS, sparse("bf16", (1, 40, 37, 3), 299, "batch_last", dynamic=(), **SCALED, attributes=whole_copies(
        1, "keeps_factor = 1, warp_groups = 2"))),
    ("sparse", CHIPS, sparse("f32", (2, 20, 44, 2), 131, "batch_last", dynamic=(), attributes=whole_copies(
        1, "keeps_factor = 0"))),
    ("sparse", CHIPS, sparse("f64", (2, 9, 17, 2), 77, "batch_last", dynamic=(), attributes=whole_copies(1))),
    ("sparse", CHIPS, sparse("f16", (1, 9, 140, 3), 71, "batch_last", dynamic=(), attributes=whole_copies(
        1, "k_warps = 2"))),
    # Parts of a factor that stay for some tiles: in turns of few blocks of rows, of groups of warps that start ahead
    # of it, with values put in pairs, along rows, shifted, of 8 bits and of open strides.
    ("sparse", CHIPS, sparse("f32", (2, 40, 44, 1), 210, **SCALED, **streamed(
        "stages = 3, row_warps = 2, result_tiles = 2, result_warps = 2, k_step = 16, keeps_factor = 1, kept_tiles = 2"))),
    ("sparse", CHIPS, sparse("f64", (2, 20, 41, 1), 70, memref_layout="any", **EPILOGUE, **streamed(
        "stages = 2, row_warps = 1, result_tiles = 1, result_warps = 2, k_step = 16, keeps_factor = 1, warp_groups = 2"))),
    ("sparse", CHIPS, sparse("f16", (2, 24, 80, 4), 100, **EPILOGUE, **streamed(
        "stages = 3, row_warps = 2, result_tiles = 2, result_warps = 1, k_step = 32, keeps_factor = 1, pairs_factor = 1"))),
    ("sparse", CHIPS, sparse("bf16", (1, 24, 40, 2), 136, dynamic=(), **streamed(
        "stages = 2, row_warps = 1, result_tiles = 2, result_warps = 1, k_step = 32, keeps_factor = 1, pairs_factor = 1, "
        "warp_groups = 4, kept_tiles = 3"))),
    ("sparse", CHIPS, sparse("f32", (2, 20, 40, 4), 300, "batch_last", **SCALED, **streamed(
        "stages = 3, row_warps = 2, result_tiles = 1, result_warps = 2, k_step = 16, bf16_residuals = 1, "
        "keeps_factor = 1, kept_tiles = 1"))),
    ("sparse", CHIPS, sparse("f16", (8, 41, 64, 1), 90, dynamic=(), **streamed(
        "stages = 2, row_warps = 2, result_tiles = 4, result_warps = 1, k_step = 32, keeps_factor = 1"))),
    ("sparse", CHIPS, sparse("f32", (2, 13, 9, 5), 130, attributes=shared_store(
        "row_tiles = 2, keeps_factor = 1, warp_groups = 2"), **SCALED)),
    # Warpgroups: a factor that stays, of one stage or several; and one that is packed ahead of the products, with an
    # even and an odd number of steps.
    ("sparse", HOPPER, sparse("f16", (2, 64, 80, 1), 300, **streamed(
        "stages = 1, row_warps = 4, result_tiles = 8, result_warps = 1, k_step = 32, keeps_factor = 1, wgmma = 1"))),
    ("sparse", HOPPER, sparse("f32", (2, 48, 72, 2), 200, **SCALED, **streamed(
        "stages = 3, row_warps = 4, result_tiles = 4, result_warps = 1, k_step = 16, keeps_factor = 1, wgmma = 1, "
        "bf16_residuals = 2, warp_groups = 2, kept_tiles = 2"))),
    ("sparse", HOPPER, sparse("f32", (2, 64, 100, 1), 200, **streamed(
        "stages = 3, row_warps = 4, result_tiles = 8, result_warps = 1, k_step = 32, wgmma = 1, bf16_residuals = 1"))),
    ("sparse", HOPPER, sparse("bf16", (2, 64, 70, 1), 200, **EPILOGUE, **streamed(
        "stages = 2, row_warps = 4, result_tiles = 4, result_warps = 2, k_step = 32, wgmma = 1"))),
    ("sparse", HOPPER, sparse("f32", (1, 200, 140, 1), 160, "batch_last", dynamic=(), **streamed(
        "stages = 2, row_warps = 4, result_tiles = 4, result_warps = 1, k_step = 32, wgmma = 1, bf16_residuals = 1, "
        "swaps_operands = 1"))),
    # A large factor among others, in a launch of its own: neighbouring axes are one there.
    ("sparse", CHIPS, product("mkm", "f32", [(3, 3), (520, 60), (8, 4), (8, 7)], 4, **SCALED)),
    ("sparse", CHIPS, product("kmm", "f64", [(2, 3), (5, 5), (140, 133)], 3, op_x="T")),
    ("small_groups", CHIPS, sparse("f16", (256, 7, 8, 1), 60)),
    ("small_groups", CHIPS, sparse("f32", (100, 4, 8, 1), 90)),
    # Results of one group in two columns, of two groups in one, and of others in each; weights in any order.
    ("small_groups", CHIPS, sparse("f32", (24, 8, 3, 1), 70)),
    ("small_groups", CHIPS, sparse("bf16", (40, 4, 2, 1), 70)),
    ("small_groups", CHIPS, sparse("f32", (100, 6, 3, 1), 70)),
    ("small_groups", CHIPS, sparse("f16", (100, 8, 5, 1), 70, op_weights="T")),
    # Idle threads, rows beside each other, and more parts of a row than CTAs.
    ("small_groups", CHIPS, sparse("f32", (100, 4, 8, 1), 90, attributes=groups_plan(
        "row_chunks = 30, threads = 128, row_tiles = 2, ctas_per_sm = 2"))),
    ("small_groups", CHIPS, sparse("f16", (64, 3, 4, 1), 50, attributes=groups_plan(
        "row_chunks = 1, threads = 32, row_tiles = 1, ctas_per_sm = 1"))),
    # Matrix instructions: all of K or not, results of a group in one or two columns, which they fill or not.
    ("small_groups", CHIPS, sparse("bf16", (64, 24, 16, 1), 150)),
    ("small_groups", CHIPS, sparse("f16", (24, 40, 12, 1), 100)),
    ("small_groups", CHIPS, sparse("f16", (20, 40, 16, 1), 100, attributes=groups_plan(
        "threads = 96, row_tiles = 1, result_tiles = 4, ctas_per_sm = 2"))),
    ("gradient", CHIPS, gradient("f32", (1, 64, 64, 4), 70)),
    ("gradient", CHIPS, gradient("f16", (2, 48, 40, 3), 90, "batch_last")),
    ("gradient", CHIPS, gradient("f64", (3, 17, 9, 5), 40)),
    ("gradient", CHIPS, gradient("f32", (1, 64, 64, 4), 40, **UNREAD)),
    ("gradient", CHIPS, gradient("bf16", (1, 128, 130, 1), 100)),
    ("gradient", HOPPER, gradient("f32", (1, 128, 128, 2), 200, "batch_last")),
    # Weights that groups or products t share, in the order of the weights; scaled, of one piece and of several.
    ("gradient", CHIPS, gradient("f32", (2, 16, 16, 24), 70, shared=(False, True))),
    ("gradient", CHIPS, gradient("f16", (5, 9, 16, 3), 40, "batch_last", shared=(True, False), **SCALED)),
    ("gradient", CHIPS, gradient("f32", (1, 20, 16, 4), 150, dynamic=(), memref_layout="any", **SCALED)),
    ("gradient", HOPPER, gradient("bf16", (1, 64, 72, 1), 130, "batch_last", **SCALED)),
    ("gradient", HOPPER, gradient("f32", (1, 64, 40, 4), 100, **SCALED)),
    # Tiles of 16 by 32, so that there are several, and ends of them.
    ("pairwise", CHIPS, pair("f32", "abs_diff", (37, 45, 21), batches=((2, 1), (3,), ()), epilogue=True, param=(2, 1))),
    ("pairwise", CHIPS, pair("f64", "square_diff", (20, 70, 9), trans="TTN", memref_layout="any")),
    ("pairwise", CHIPS, pair("f16", "dot", (33, 40, 35), reduce="max", form="tensor", dynamic="MNK")),
    ("pairwise", CHIPS, pair("bf16", "pow_diff(1.5)", (18, 33, 50), memref_layout="rows", epilogue=True, param="scalar")),
    ("pairwise", CHIPS, pair("f32", "not_equal", (16, 32, 32), special=math.nan)),
    ("pairwise", CHIPS, pair("f32", "", (19, 21, 18), batches=((3,), (), ()), param=(3,))),
    ("pairwise", CHIPS, pair("f32", "pow_diff(1.3)", (70, 150, 20), fields="")),
    # One half: of odd and of whole tiles, of a batch, of columns next to each other; by threads, whose stores pass through
    # shared memory or do not, and by matrix instructions of either kind, not all of which are exact.
    *(("pairwise", chips, pairs.of_one_array(pair(name, function, (rows, rows, depth), fields=f"{fields}, symmetric = 1", **more)))
      for chips, name, function, rows, depth, fields, more in (
          (CHIPS, "f32", "abs_diff", 70, 21, SMALL_PAIRS, dict(batches=((3,), (3,), ()), epilogue=True, param=(3,))),
          (CHIPS, "f64", "square_diff", 50, 9, SMALL_PAIRS, dict(trans="TNN", memref_layout="any", dynamic="M")),
          (CHIPS, "f16", "pow_diff(1.5)", 64, 18, SMALL_PAIRS, dict(memref_layout="rows")),
          (CHIPS, "f32", "not_equal", 33, 5, SMALL_PAIRS.replace("thread_rows = 2", "thread_rows = 3"), {}),
          (CHIPS, "f32", "abs_diff", 1, 5, SMALL_PAIRS, {}),
          (CHIPS, "f32", "square_diff", 70, 70, products(32, 3), dict(special=math.nan, epilogue=True)),
          (CHIPS, "f32", "square_diff", 66, 40, products(32, 3, 2, 4), dict(clusters=5, dynamic="MK", memref_layout="any")),
          (CHIPS, "f64", "dot", 41, 17, products(8, 1), dict(batches=((2,), (2,), ()))),
          (HOPPER, "f32", "square_diff", 200, 41, warpgroups(3, 8), dict(batches=((2,), (2,), ()), dynamic="M", epilogue=True)),
          (HOPPER, "f16", "square_diff", 330, 70, warpgroups(1, 16), dict(clusters=9)))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (20, 100, 3, 5), batches=((2,), (), (2,)), epilogue=True,
                             fields=f"{SMALL_PAIRS}, value_columns = 2, split_ctas = 9")),
    ("pairwise", CHIPS, pair("f64", "abs_diff", (40, 33, 7, 2), accumulate="max", trans="NNT", dynamic="LMNKC")),
    ("pairwise", CHIPS, pair("f16", "square_diff", (18, 75, 17, 3), accumulate="logsumexp", epilogue=True, param="scalar",
                             fields=f"{SMALL_PAIRS}, value_columns = 3, split_ctas = 4")),
    ("pairwise", CHIPS, pair("f32", "dot", (5, 300, 40, 9), fields="")),
    # Powers of a table, of some elements, with several factors and in registers; infinite ones, and a power below 1.
    ("pairwise", CHIPS, pair("f32", "pow_diff(1.5)", (33, 45, 21), fields=f"{SMALL_PAIRS}, polynomials = 5")),
    ("pairwise", CHIPS, pair("f32", "pow_diff(2.7)", (33, 45, 21), reduce="max", fields=f"{SMALL_PAIRS}, polynomials = 12")),
    ("pairwise", CHIPS, pair("f32", "pow_diff(1.3)", (18, 40, 5), special=math.inf, fields=f"{SMALL_PAIRS}, polynomials = 16")),
    ("pairwise", CHIPS, pair("f32", "pow_diff(1.5)", (18, 40, 5), special=math.inf, fields=f"{SMALL_PAIRS}, polynomials = 16")),
    ("pairwise", CHIPS, pair("f32", "pow_diff(1.3)", (18, 40, 5), special=math.nan, fields=f"{SMALL_PAIRS}, polynomials = 16")),
    ("pairwise", CHIPS, pair("f32", "pow_diff(2.7)", (18, 40, 5), fields=f"{SMALL_PAIRS}, polynomials = 16")),
    ("pairwise", CHIPS, pair("f32", "pow_diff(0.7)", (18, 40, 5), fields=SMALL_PAIRS)),
    # Rows in registers: one thread for a row or several, several parts and blocks of columns, and tails of all.
    ("pairwise", CHIPS, pair("f32", "square_diff", (150, 100, 3, 1), epilogue=True,
                             fields=kept(4, 1, "split_ctas = 2"))),
    ("pairwise", CHIPS, pair("f32", "pow_diff(1.3)", (150, 100, 3, 1), fields=kept(4, 1, "split_ctas = 2, polynomials = 8"))),
    ("pairwise", CHIPS, pair("f32", "abs_diff", (20, 100, 5, 3), batches=((2,), (), (2,)), trans="TTT", memref_layout="any",
                             dynamic="LMNC", epilogue=True, param=(2,), fields=kept(2, 8, "value_columns = 2, split_ctas = 9"))),
    ("pairwise", CHIPS, pair("f64", "dot", (40, 33, 2, 2), accumulate="max", fields=kept(4, 4, "value_columns = 2"))),
    ("pairwise", CHIPS, pair("f16", "square_diff", (18, 75, 7, 3), accumulate="logsumexp", special=math.nan,
                             fields=kept(4, 16, "value_columns = 3, split_ctas = 4"))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (300, 150, 3, 2), epilogue=True, fields="")),
    # Blocks that arrive together, with their values, in parts that end within such, of four and of two.
    ("pairwise", CHIPS, pair("f32", "square_diff", (20, 101, 3, 2), epilogue=True,
                             fields=kept(8, 2, "value_columns = 2, split_ctas = 3"))),
    ("pairwise", CHIPS, pair("f64", "square_diff", (18, 33, 3, 3), dynamic="MNC", fields=kept(6, 2, "split_ctas = 2"))),
    # A whole power beyond those that are written as products, with positions behind K.
    ("pairwise", CHIPS, pair("f32", "pow_diff(9.0)", (18, 40, 5), fields="")),
    # K decides at a launch whether squares are products, and whether rows stay in registers.
    *(("pairwise", CHIPS, pair("f32", "square_diff", (20, 40, depth), dynamic="K", fields="")) for depth in (30, 70)),
    *(("pairwise", CHIPS, pair("f32", "abs_diff", (200, 100, depth, 1), dynamic="MNKC", epilogue=True, fields=""))
      for depth in (0, 1, 3, 4, 5)),
    # Matrix products, of all types; and tiles where they are not exact: equal rows, NaN, and no sum.
    ("pairwise", CHIPS, pair("f32", "square_diff", (37, 45, 70), batches=((2, 1), (3,), ()), epilogue=True, param=(2, 1),
                             fields=products(32, 3))),
    ("pairwise", CHIPS, pair("f32", "dot", (20, 70, 41), trans="TTN", memref_layout="any", fields=products(32, 3))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (33, 34, 32), special=math.nan, fields=products(32, 3))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (40, 70, 1), fields=products(32, 3))),
    ("pairwise", CHIPS, pair("f64", "square_diff", (18, 40, 27), dynamic="MNK", fields=products(8, 1))),
    ("pairwise", CHIPS, pair("f16", "square_diff", (18, 40, 35), fields=products(32, 1))),
    ("pairwise", CHIPS, pair("bf16", "dot", (33, 40, 35), form="tensor", dynamic="MNK", fields=products(32, 1))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (20, 100, 50, 5), batches=((2,), (), (2,)), epilogue=True,
                             fields=products(32, 3, 4, 4, ", value_columns = 2, split_ctas = 9"))),
    ("pairwise", CHIPS, pair("f64", "dot", (40, 33, 17, 2), accumulate="max", trans="NNT", fields=products(8, 1, 2, 4))),
    ("pairwise", CHIPS, pair("f16", "square_diff", (18, 75, 17, 3), accumulate="logsumexp", epilogue=True, param="scalar",
                             fields=products(32, 1, 2, 4))),
    # Values by matrix instructions: of all types, several passes over them, several parts and tails of all; infinities among
    # them, and rows that are equal or near each other.
    ("pairwise", CHIPS, pair("f32", "square_diff", (40, 101, 60, 13), batches=((2,), (), (2,)), epilogue=True, param="scalar",
                             fields=products(32, 3, 4, 4, values(3, 16)))),
    ("pairwise", CHIPS, pair("f32", "dot", (33, 70, 40, 9), trans="TNT", memref_layout="any", dynamic="LMNKC",
                             fields=products(32, 3, 2, 4, values(3, 8)))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (33, 40, 52, 3), special_value=math.inf, epilogue=True,
                             fields=products(32, 3, 2, 4, values(3, 8)))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (20, 33, 20, 2), epilogue=True, special_value=3.4e38,
                             fields=products(32, 3, 2, 4, values(3, 8)))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (40, 80, 64, 8), clusters=3, epilogue=True,
                             fields=products(32, 3, 2, 4, values(3, 8)))),
    ("pairwise", CHIPS, pair("f16", "square_diff", (18, 75, 17, 3), epilogue=True, param="scalar", special_value=math.nan,
                             fields=products(32, 1, 2, 4, values(2, 8)))),
    ("pairwise", CHIPS, pair("bf16", "dot", (18, 40, 35, 8), form="tensor", dynamic="MNKC",
                             fields=products(32, 1, 2, 4, values(2, 8)))),
    ("pairwise", CHIPS, pair("f64", "square_diff", (40, 33, 70, 11), epilogue=True, trans="NNT",
                             fields=products(8, 1, 4, 4, values(1, 16)))),
    ("pairwise", CHIPS, pair("f32", "square_diff", (150, 200, 64, 16), epilogue=True, dynamic="MN", fields="")),
    # Rows by warpgroups: one or two, 64 rows of each or more, K within the ring or beyond it, and blocks of columns.
    ("pairwise", HOPPER, pair("f32", "square_diff", (137, 45, 130), batches=((2, 1), (3,), ()), epilogue=True, param=(2, 1),
                              fields=warpgroups(3, 8))),
    ("pairwise", HOPPER, pair("f32", "dot", (150, 70, 41), trans="TTN", memref_layout="any", fields=warpgroups(3, 8, 4))),
    ("pairwise", HOPPER, pair("f32", "square_diff", (133, 34, 32), special=math.nan, fields=warpgroups(3, 16, 2, 256))),
    ("pairwise", HOPPER, pair("f32", "square_diff", (70, 70, 100), clusters=4, fields=warpgroups(3, 16))),
    ("pairwise", HOPPER, pair("f16", "square_diff", (18, 140, 70), dynamic="MNK", fields=warpgroups(1, 16))),
    ("pairwise", HOPPER, pair("bf16", "dot", (65, 40, 35), form="tensor", fields=warpgroups(1, 8))),
    ("pairwise", HOPPER, pair("f32", "square_diff", (70, 200, 64, 2), batches=((2,), (), (2,)), epilogue=True,
                              fields=warpgroups(3, 8, more=", value_columns = 2, split_ctas = 5"))),
    ("pairwise", HOPPER, pair("f32", "square_diff", (150, 100, 200, 3), accumulate="logsumexp", epilogue=True, dynamic="MNK",
                              fields=warpgroups(3, 8, 4, more=", value_columns = 3, split_ctas = 2"))),
    ("pairwise", HOPPER, pair("f32", "square_diff", (70, 200, 64, 13), epilogue=True, special_value=math.inf,
                              fields=warpgroups(3, 8, more=values(3, 16)))),
    ("pairwise", HOPPER, pair("f32", "dot", (70, 150, 20, 8), dynamic="MNKC", fields=warpgroups(3, 8, 4, more=values(3, 8)))),
    ("pairwise", HOPPER, pair("f16", "square_diff", (140, 75, 17, 3), epilogue=True, param="scalar", clusters=2,
                              fields=warpgroups(1, 16, 2, 256, values(2, 8)))),
    ("pairwise", HOPPER, pair("f32", "square_diff", (70, 130, 0, 3), dynamic="K", fields=warpgroups(3, 8, more=values(3, 8)))),
    # Gradients: of sums, by either side, of one column and several, of the batch and added up along it, of all types, of
    # tails along all axes, of infinities' neighbours; with values of pairs; and outputs.
    ("pairwise_grad", CHIPS, pair_gradient("lhs", "f32", "abs_diff", (37, 45, 21, 1), batches=((2, 1), (3,), (), (), (), (2, 3)))),
    ("pairwise_grad", CHIPS, pair_gradient("rhs", "f32", "pow_diff(1.3)", (37, 45, 11, 1), "huv", trans="TNTNT", memref_layout="any")),
    ("pairwise_grad", CHIPS, pair_gradient("lhs", "f64", "square_diff", (20, 70, 9, 3), "uv", batches=((3,), (), (), (), (3,), ()))),
    ("pairwise_grad", CHIPS, pair_gradient("rhs", "f16", "dot", (33, 40, 35, 2), "uv", form="tensor", dynamic="MNKC")),
    ("pairwise_grad", CHIPS, pair_gradient("lhs", "bf16", "", (18, 33, 16, 1), batches=((2,), (2,), (), (), (), (1,)))),
    ("pairwise_grad", CHIPS, pair_gradient("lhs", "f32", "pow_diff(0.5)", (18, 40, 5, 1), dynamic="LMNK", fields="")),
    ("pairwise_grad", CHIPS, pair_gradient("lhs", "f32", "square_diff", (37, 70, 20, 3), "uv", epilogue=True, param=(2,),
                                           batches=((2,), (), (), (), (), (2,)), fields=f"{SMALL_PAIR_GRADIENTS} = 8")),
    ("pairwise_grad", CHIPS, pair_gradient("rhs", "f64", "abs_diff", (37, 45, 12, 1), "h", epilogue=True, trans="TTNNN",
                                           dynamic="K", fields=f"{SMALL_PAIR_GRADIENTS} = 4")),
    ("pairwise_grad", CHIPS, pair_gradient("lhs", "f16", "square_diff", (33, 20, 17, 1), "huv", epilogue=True, param="scalar",
                                           fields=f"{SMALL_PAIR_GRADIENTS} = 16")),
    *(("pairwise_grad", CHIPS, pair_gradient("lhs", "f32", "square_diff", (150, 100, depth, 2), "uv", epilogue=True,
                                             dynamic="MNK", fields="")) for depth in (3, 16, 40)),
    ("pairwise_grad", CHIPS, pair_gradient("lhs", "f32", "pow_diff(1.3)", (37, 45, 10, 1), "huv", dynamic="MNK",
                                           batches=((), (), (), (), (7,), (7,)), fields=f"{SMALL_GRADIENTS}, outputs = 4")),
    ("pairwise_grad", CHIPS, pair_gradient("rhs", "f64", "abs_diff", (20, 33, 12, 1), "uv",
                                           batches=((2, 1), (1, 1), (), (2, 3), (), (2, 3)), fields=f"{SMALL_GRADIENTS}, outputs = 3")),
    ("chain", CHIPS, chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 100)),
    ("chain", CHIPS, chain("f32", ((8, 16, 16, 1), (1, 128, 16, 8)), 100)),
    ("chain", CHIPS, chain("bf16", ((16, 16, 16, 1), (4, 16, 16, 4), (1, 16, 16, 16)), 90)),
    # On copies with padded rows, along an axis that a factor contracts or none does, outside of one of a single position,
    # of results that are wider or narrower than X, of a transposed X, of each size of elements.
    ("mma", HOPPER, product("mkm", "bf16", [(5, 5), (13, 13)], 70, **padded())),
    ("simt", ("sm_80",), product("mkm", "bf16", [(5, 5), (13, 13)], 70, **padded())),
    ("mma", ("sm_80",), product("mkm", "bf16", [(9, 9), (13, 11)], 75, **padded(op_x="T"))),
    ("mma", ("sm_80",), product("mkm", "f16", [(9, 9), (13, 11)], 130, **padded(op_x="T"))),
    ("wgmma", HOPPER, product("mkm", "f16", [(6, 6), (9, 21)], 40, **padded(alpha=SCALED["alpha"]))),
    ("batched", HOPPER, product("mkm", "f32", [(3, 5), (16, 7), (11, 9)], 90, **padded(op_x="T"))),
    ("mma", ("sm_80",), product("mkm", "f32", [(3, 5), (16, 7), (11, 9)], 90, **padded(op_x="T"))),
    ("simt", ("sm_80",), product("kmm", "f16", [(12, 12), (20, 9)], 35, **padded())),
    ("mma", CHIPS, product("kmm", "bf16", [(7, 7)] * 3, 1, **padded(ops=["T"] * 3))),
    ("mma", CHIPS, product("mkm", "f64", [(3, 4), (5, 7)], 333, **padded())),
    ("sparse", CHIPS, sparse("f16", (3, 17, 9, 5), 45, "batch_last", **padded())),
    ("sparse", HOPPER, product("mkm", "f16", [(130, 150), (60, 50)], 3, **padded())),
    # Factors that stream, of two steps and of as many that rows lie where others were; rows that are innermost; and sizes
    # of which a group's positions end within a piece.
    ("chain", CHIPS, chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 100, "keeps_factor = 0")),
    ("chain", CHIPS, chain("f32", ((16, 16, 16, 1), (8, 16, 16, 2), (4, 16, 16, 4), (1, 16, 16, 16)), 70, "keeps_factor = 0")),
    ("chain", CHIPS, chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 264, layout="batch_last")),
    ("chain", CHIPS, chain("f32", ((3, 5, 7, 1), (1, 9, 5, 3)), 100)),
    # Arrays without gaps, which are copied by 16 bytes at a time.
    ("chain", CHIPS, chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 100, **PACKED)),
    ("chain", CHIPS, chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 100, "keeps_factor = 0", **PACKED)),
)


def fixed():
    """(family, parameters, chip) of all."""
    return [(family, p, chip) for family, chips, p in FIXED for chip in chips]


def build(index, p):
    return shapes.build(index, dict(p))


def exhaustive(share):
    """(name, number, chip): one of `share` of the small ones of test/exec, of all operations."""
    numbers = range(0, len(cases.exhaustive()), share)
    return [(f"exhaustive {number}", number, CHIPS[i % 2]) for i, number in enumerate(numbers)]


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
    if p["op"] in (*pairs.OPS, "pairwise_grad"):
        return p if math.prod(p["sizes"][:3]) <= MAX_PAIRS else None
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
