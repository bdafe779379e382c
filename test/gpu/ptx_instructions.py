"""The interpreter of PTX by itself: instructions against Python's integers and floating-point numbers, and kernels of
a few lines that do what a kernel must not.

SPDX-License-Identifier: MIT
"""

import math
import struct

import numpy as np

from interpreter import machine, parser
from interpreter.code import Code
from interpreter.memory import Memory
from interpreter.parser import Unsupported
from interpreter.shared import Fault

MODULE = """
.extern .shared .align 1024 .b8 kron_smem[];
.visible .entry k(
  .param .u64 .ptr .global .align 1 k_param_0,
  .param .u64 .ptr .global .align 1 k_param_1
)
.maxntid {threads}
{{
  .reg .pred %p<10>;
  .reg .b16 %rs<10>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<20>;
  ld.param.b64 %rd10, [k_param_0];
  ld.param.b64 %rd11, [k_param_1];
  mov.u32 %r10, %tid.x;
  mul.wide.u32 %rd12, %r10, 8;
  mov.b64 %rd13, kron_smem;
  mul.wide.u32 %rd14, %r10, 4;
  add.s64 %rd15, %rd13, %rd14;
{body}
  ret;
}}
"""
#: Each thread has a, b and c, with their low words in %r2, %r3 and %r4, and stores %rd9.
LOADS = """
  mul.wide.u32 %rd5, %r10, 24;
  add.s64 %rd5, %rd5, %rd10;
  ld.global.b64 %rd2, [%rd5];
  ld.global.b64 %rd3, [%rd5+8];
  ld.global.b64 %rd4, [%rd5+16];
  cvt.u32.u64 %r2, %rd2;
  cvt.u32.u64 %r3, %rd3;
  cvt.u32.u64 %r4, %rd4;
  mov.b32 %r9, 0;
  mov.b64 %rd9, 0;
  {instruction}
  {widen}
  add.s64 %rd12, %rd12, %rd11;
  st.global.b64 [%rd12], %rd9;
"""


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def single(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def bits_of(value):
    return struct.unpack("<I", np.float32(value).tobytes())[0]


def half(value):
    return struct.unpack("<H", struct.pack("<e", value))[0]


def bf16(value):
    """By the two neighbours."""
    low = bits_of(value) >> 16
    below, above = single(low << 16), single(low + 1 << 16)
    nearer_above = abs(value - below) > abs(above - value)
    return low + (nearer_above or (abs(value - below) == abs(above - value) and low & 1))


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def permuted(a, b, selector):
    both = (a & 0xFFFFFFFF | (b & 0xFFFFFFFF) << 32).to_bytes(8, "little")
    taken = [both[selector >> 4 * i & 7] for i in range(4)]
    taken = [255 * (t >> 7) if selector >> 4 * i & 8 else t for i, t in enumerate(taken)]
    return int.from_bytes(bytes(taken), "little")


INTEGERS = (
    ("add.s32 %r9, %r2, %r3;", lambda a, b, c: a + b), ("sub.s64 %rd9, %rd2, %rd3;", lambda a, b, c: a - b),
    ("mul.lo.s32 %r9, %r2, %r3;", lambda a, b, c: a * b),
    ("mul.hi.u32 %r9, %r2, %r3;", lambda a, b, c: (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF) >> 32),
    ("mul.hi.s32 %r9, %r2, %r3;", lambda a, b, c: signed(a, 32) * signed(b, 32) >> 32),
    ("mul.hi.u64 %rd9, %rd2, %rd3;", lambda a, b, c: a * b >> 64),
    ("mul.wide.s32 %rd9, %r2, %r3;", lambda a, b, c: signed(a, 32) * signed(b, 32)),
    ("mad.lo.s64 %rd9, %rd2, %rd3, %rd4;", lambda a, b, c: a * b + c),
    ("div.s32 %r9, %r2, %r3;", lambda a, b, c: truncated(signed(a, 32), signed(b, 32) or 1) if b & 0xFFFFFFFF else -1),
    ("rem.s64 %rd9, %rd2, %rd3;",
     lambda a, b, c: signed(a, 64) - truncated(signed(a, 64), signed(b, 64)) * signed(b, 64)),
    ("div.u64 %rd9, %rd2, %rd3;", lambda a, b, c: a // b),
    ("shl.b32 %r9, %r2, %r3;", lambda a, b, c: a << min(b & 0xFFFFFFFF, 32)),
    ("shr.u32 %r9, %r2, %r3;", lambda a, b, c: (a & 0xFFFFFFFF) >> min(b & 0xFFFFFFFF, 32)),
    ("shr.s64 %rd9, %rd2, 7;", lambda a, b, c: signed(a, 64) >> 7),
    ("bfe.u32 %r9, %r2, 5, 9;", lambda a, b, c: a >> 5 & 511),
    ("bfe.s32 %r9, %r2, 5, 9;", lambda a, b, c: signed(a >> 5, 9)),
    ("bfe.u64 %rd9, %rd2, 33, 20;", lambda a, b, c: a >> 33 & (1 << 20) - 1),
    ("prmt.b32 %r9, %r2, %r3, 0x5410U;", lambda a, b, c: permuted(a, b, 0x5410)),
    ("prmt.b32 %r9, %r2, %r3, 0x9f8eU;", lambda a, b, c: permuted(a, b, 0x9F8E)),
    ("prmt.b32 %r9, %r2, %r3, %r4;", lambda a, b, c: permuted(a, b, c & 0xFFFF)),
    ("min.s32 %r9, %r2, %r3;", lambda a, b, c: min(signed(a, 32), signed(b, 32))),
    ("max.u64 %rd9, %rd2, %rd3;", lambda a, b, c: max(a, b)),
    ("setp.lt.s32 %p1, %r2, %r3; selp.b32 %r9, 1, 0, %p1;", lambda a, b, c: signed(a, 32) < signed(b, 32)),
    ("setp.hi.u32 %p1, %r2, %r3; selp.b32 %r9, 1, 0, %p1;", lambda a, b, c: a & 0xFFFFFFFF > b & 0xFFFFFFFF),
    ("cvt.s64.s32 %rd9, %r2;", lambda a, b, c: signed(a, 32)),
    ("cvt.u16.u32 %rs1, %r2; cvt.s32.s16 %r9, %rs1;", lambda a, b, c: signed(a, 16)),
    ("cvt.s64.s8 %rd9, %r2;", lambda a, b, c: signed(a, 8)),
    ("mov.b32 {%rs1, %rs2}, %r2; mov.b32 %r9, {%rs2, %rs1};", lambda a, b, c: a >> 16 & 0xFFFF | (a & 0xFFFF) << 16),
    ("mov.b64 %rd9, {%r3, %r2};", lambda a, b, c: a << 32 | b & 0xFFFFFFFF),
    ("not.b32 %r9, %r2;", lambda a, b, c: ~a), ("xor.b64 %rd9, %rd2, %rd3;", lambda a, b, c: a ^ b),
)
#: Of a, b and c as f32.
FLOATS = (
    ("fma.rn.f32 %r9, %r2, %r3, %r4;", lambda a, b, c: bits_of(np.float64(a) * b + c)),
    ("cvt.rn.bf16.f32 %rs1, %r2; cvt.rn.bf16.f32 %rs2, %r3; fma.rn.bf16 %rs1, %rs1, 0x3F80, %rs2; cvt.u32.u16 %r9, %rs1;",
     lambda a, b, c: bf16(single(bf16(a) << 16) + single(bf16(b) << 16))),
    ("add.rn.f32 %r9, %r2, %r3;", lambda a, b, c: bits_of(np.float64(a) + b)),
    ("abs.f32 %r9, %r2;", lambda a, b, c: bits_of(abs(a))), ("neg.f32 %r9, %r2;", lambda a, b, c: bits_of(-a)),
    ("copysign.f32 %r9, %r2, %r3;", lambda a, b, c: bits_of(math.copysign(b, a))),
    ("max.f32 %r9, %r2, %r3;", lambda a, b, c: bits_of(max(a, b))),
    ("setp.le.f32 %p1, %r2, %r3; selp.b32 %r9, 1, 0, %p1;", lambda a, b, c: a <= b),
    ("cvt.rn.f16.f32 %rs1, %r2; cvt.u32.u16 %r9, %rs1;", lambda a, b, c: half(a)),
    ("cvt.rn.f16x2.f32 %r9, %r2, %r3;", lambda a, b, c: half(a) << 16 | half(b)),
    ("cvt.rn.bf16.f32 %rs1, %r2; cvt.u32.u16 %r9, %rs1;", lambda a, b, c: bf16(a)),
    ("cvt.rn.bf16x2.f32 %r9, %r2, %r3;", lambda a, b, c: bf16(a) << 16 | bf16(b)),
    ("cvt.rzi.s32.f32 %r9, %r2;", lambda a, b, c: math.trunc(a)),
    ("cvt.rni.s32.f32 %r9, %r2;", lambda a, b, c: round(a)),
)
#: Of numbers and NaN: a < b, or their order is unknown.
NAN = (("ltu", True), ("lt", False), ("neu", True), ("ne", False), ("nan", True), ("num", False), ("equ", True))
#: Within a warp: lane i has 10 i in %r2.
LANES = (
    ("shfl.sync.bfly.b32 %r9, %r2, 3, 31, -1;", lambda i: 10 * (i ^ 3)),
    ("shfl.sync.idx.b32 %r9, %r2, 5, 31, -1;", lambda i: 50),
    ("shfl.sync.up.b32 %r9, %r2, 2, 0, -1;", lambda i: 10 * (i - 2 if i >= 2 else i)),
    ("shfl.sync.down.b32 %r9, %r2, 4, 31, -1;", lambda i: 10 * (i + 4 if i < 28 else i)),
    ("shfl.sync.down.b32 %r9, %r2, 4, 0x181f, -1;", lambda i: 10 * (i + 4 if i % 8 < 4 else i)),
    ("setp.gt.s32 %p1, %r2, 300; vote.sync.ballot.b32 %r9, %p1, -1;", lambda i: 1 << 31),
    ("setp.gt.s32 %p1, %r2, 300; vote.sync.any.pred %p2, %p1, -1; selp.b32 %r9, 1, 0, %p2;", lambda i: 1),
)
STORE, LOAD = "st.shared.b32 [%rd15], %r10;", "ld.shared.b32 %r9, [%rd15+4];"
SPIN = "setp.lt.u32 %p1, %r10, 32; @%p1 bra $L; bar.sync 0; $L: ret;"
COPY = "add.s64 %rd16, %rd10, %rd14; cp.async.ca.shared.global [%rd15], [%rd16], 4; cp.async.commit_group;"
#: A barrier behind the words of 64 threads, a copy of 256 bytes to these that the first thread starts, and a wait for it.
PHASES = ("setp.ne.u32 %p1, %r10, 0; @%p1 bra $I; mbarrier.init.shared::cta.b64 [kron_smem+256], 1; $I: bar.sync 0;",
          "@%p1 bra $C; mbarrier.arrive.expect_tx.shared::cta.b64 _, [kron_smem+256], 256; "
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [kron_smem], [%rd10], 256, [kron_smem+256]; $C:",
          "mbarrier.try_wait.parity.shared::cta.b64 %p2, [kron_smem+256], 0; @!%p2 bra $W;")
WAIT_PHASE = f"$W: {PHASES[2]}"
BEGIN_PHASE = " ".join(PHASES[:2])
#: (what is wrong, or None, in a kernel of two warps on 128 bytes of shared memory more than they have words, lines).
WRONG = (
    (None, f"{STORE} bar.sync 0; {LOAD}"), (None, f"{COPY} cp.async.wait_group 0; bar.sync 0; {LOAD}"),
    (None, "st.shared.b32 [%rd15], %r10; bar.warp.sync -1; ld.shared.b32 %r9, [%rd15];"),
    ("a read after a write by another thread", f"{STORE} {LOAD}"),
    ("a read after a write by another thread", f"{STORE} bar.warp.sync -1; {LOAD}"),
    ("a write after a read by another thread", f"{LOAD} {STORE}"),
    ("a write after a write by another thread", "st.shared.b32 [kron_smem], %r10;"),
    ("a read of a copy that was not waited for", f"{COPY} bar.sync 0; {LOAD}"),
    ("a read after a write by another thread", f"{COPY} cp.async.wait_group 0; {LOAD}"),
    ("copies that no thread has waited for", COPY),
    ("bytes of shared memory", "ld.shared.b32 %r9, [%rd15+256];"),
    ("not aligned to 4 bytes", "ld.shared.b32 %r9, [%rd15+2];"),
    ("a read of elements", "add.s64 %rd12, %rd12, %rd10; ld.global.b32 %r9, [%rd12+4096];"),
    ("not aligned to 8 bytes", "ld.global.b64 %rd9, [%rd10+4];"),
    ("is in no array", "mov.b64 %rd9, 0; ld.global.b32 %r9, [%rd9];"),
    ("which is none of the array's or not to be used so", "st.global.b32 [%rd10], %r10;"),
    ("another CTA accesses", "add.s64 %rd12, %rd12, %rd11; st.global.b32 [%rd12], %r10;"),
    ("threads have ended before a barrier of all", SPIN),
    ("threads wait for ever", "setp.lt.u32 %p1, %r10, 32; @%p1 bra $L; bar.sync 1, 64; $L: ret;"),
    ("a part of a warp", "setp.lt.u32 %p1, %r10, 16; @%p1 bra $L; bar.sync 0; ret; $L: bar.sync 0;"),
    ("a part of a warp", "setp.lt.u32 %p1, %r10, 16; @%p1 bra $L; shfl.sync.bfly.b32 %r9, %r10, 1, 31, -1; $L: ret;"),
    (None, f"{BEGIN_PHASE} {WAIT_PHASE} {LOAD}"),
    (None, f"{BEGIN_PHASE} {WAIT_PHASE} bar.sync 0; {STORE}"),
    ("a read of a copy that was not waited for", f"{BEGIN_PHASE} bar.sync 0; {LOAD} {WAIT_PHASE}"),
    ("a write to a copy that was not waited for", f"{BEGIN_PHASE} bar.sync 0; {STORE} {WAIT_PHASE}"),
    ("copies that no thread has waited for", BEGIN_PHASE),
    ("a write after a read by another thread", f"{PHASES[0]} {LOAD} {PHASES[1]} {WAIT_PHASE}"),
    ("threads wait for ever", f"{PHASES[0]} {WAIT_PHASE}"),
    ("threads wait for ever", f"{BEGIN_PHASE} {WAIT_PHASE}".replace("256;", "272;", 1)),
    ("a barrier that another thread makes", f"{BEGIN_PHASE} {WAIT_PHASE}".replace("bar.sync 0;", "", 1)),
    ("more than 1 arrivals", f"{PHASES[0]} mbarrier.arrive.expect_tx.shared::cta.b64 _, [kron_smem+256], 16;"),
    ("no barrier at byte", WAIT_PHASE), ("a barrier in the place of another one", f"{PHASES[0]} "
     "mbarrier.init.shared::cta.b64 [kron_smem+256], 1;"),
    ("a bulk copy of 8 bytes", f"{BEGIN_PHASE} {WAIT_PHASE}".replace("[%rd10], 256", "[%rd10], 8")),
    ("not aligned to 16 bytes", f"{BEGIN_PHASE} {WAIT_PHASE}".replace("[kron_smem], [%rd10]", "[kron_smem+8], [%rd10]")),
    ("an unknown instruction", "tanh.approx.f32 %r9, %r10;"), ("no end after", "$L: bra.uni $L;"),
)


def execute(body, threads, inputs, grid=1, shared_bytes=0, read_only=False):
    """(results, problems) of a kernel on arrays of `inputs` and of a 64-bit number per thread."""
    memory, problems = Memory(), []
    arrays = [memory.allocate(inputs.nbytes), memory.allocate(8 * threads)]
    arrays[0].upload(inputs)
    if read_only:
        arrays[0].allow(1, np.full(inputs.nbytes, 1, np.uint8))
    parameters = {f"k_param_{i}": array.address for i, array in enumerate(arrays)}
    try:
        text = MODULE.format(threads=threads, body=body)
        code = Code(parser.parse("k", parser.split(text)["k"]))
        launch = machine.Launch(grid, threads, 1, shared_bytes, parameters)
        machine.run(code, launch, memory, lambda kind, line: problems.append(f"{kind}: {line}"))
    except (Fault, Unsupported) as error:
        problems.append(str(error))
    return arrays[1].download(np.empty(threads, np.uint64)), problems


def differs(instruction, inputs, expected):
    """What is wrong with an instruction on (threads, 3) numbers of 64 bits, or None."""
    wide = "%rd9" in instruction
    body = LOADS.format(instruction=instruction, widen="" if wide else "cvt.u64.u32 %rd9, %r9;")
    found, problems = execute(body, len(inputs), inputs)
    if problems:
        return problems[0]
    mask = (1 << (64 if wide else 32)) - 1
    for numbers, got, want in zip(inputs.tolist(), found.tolist(), expected):
        if got != int(want) & mask:
            return f"of {[hex(n) for n in numbers]}: got {got:#x}, expected {int(want) & mask:#x}"
    return None


def checks():
    """(line, function that returns what is wrong or None) of all."""
    rng = np.random.default_rng(5)
    whole = rng.integers(1, 1 << 63, (64, 3), np.uint64) >> rng.integers(0, 60, (64, 3), np.uint64) | np.uint64(1)
    whole[:8] |= np.uint64(1 << 63 | 1 << 31)
    numbers = (rng.standard_normal((64, 3)) * 4.0 ** rng.integers(-4, 5, (64, 3))).astype(np.float32)
    floats = numbers.view(np.uint32).astype(np.uint64)
    for instruction, expected in INTEGERS:
        yield instruction, lambda i=instruction, f=expected: differs(i, whole, [f(*row) for row in whole.tolist()])
    for instruction, expected in FLOATS:
        yield instruction, lambda i=instruction, f=expected: differs(i, floats, [f(*row) for row in numbers.tolist()])
    nan = np.full((32, 3), 0x7FC00000, np.uint64)
    nan[:, 0] = 0x3F800000
    for how, holds in NAN:
        line = f"setp.{how}.f32 %p1, %r2, %r3; selp.b32 %r9, 1, 0, %p1;"
        yield f"{line} of NaN", lambda i=line, holds=holds: differs(i, nan, [holds] * 32)
    lanes = np.zeros((64, 3), np.uint64)
    lanes[:, 0] = 10 * (np.arange(64) % 32)
    for instruction, expected in LANES:
        yield instruction, lambda i=instruction, f=expected: differs(i, lanes, [f(n % 32) for n in range(64)])
    for problem, body in WRONG:
        yield f"{body} has to give '{problem}'", lambda p=problem, b=body: misses(p, b)


def misses(expected, body):
    """What is wrong with the problems of a kernel, or None."""
    grid = 2 if expected and "another CTA" in expected else 1
    _, problems = execute(body, 64, np.zeros(64, np.uint32), grid, 64 * 4 + 128, read_only=True)
    if expected is None:
        return problems[0] if problems else None
    return None if any(expected in problem for problem in problems) else f"got {problems[:2]}"
