"""Which cases the GPU suite runs, by number: those of test/exec, those of shapes.py, and
functions of pairs of test/exec. Also finds the modules that the suite shares with test/exec and kron-bench.

SPDX-License-Identifier: MIT
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/exec"), str(ROOT / "tools/kron-bench")]
sys.dont_write_bytecode = True

import cases  # noqa: E402
import shapes  # noqa: E402

# Numbers from here on are those of shapes.py.
FIRST_SHAPE = 1_000_000


def make(seed, index):
    if FIRST_SHAPE <= index < cases.FIRST_PAIR:
        return shapes.make(seed, index, index - FIRST_SHAPE)
    case = cases.make(seed, index)
    shapes.allow_rounding(case)
    return case


def indices(num_random, num_pairs):
    """All exhaustive cases, those of shapes.py that are fixed, then random ones, two thirds of them of shapes.py, and
    functions of pairs."""
    listed = len(cases.exhaustive())
    common = num_random // 3
    return [*range(listed + common),
            *range(FIRST_SHAPE, FIRST_SHAPE + len(shapes.FIXED) + num_random - common),
            *range(cases.FIRST_PAIR, cases.FIRST_PAIR + num_pairs)]


def tags(case):
    return case.tags | {case.op, case.element.name}
