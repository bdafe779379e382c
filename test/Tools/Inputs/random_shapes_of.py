"""Prints what docs/benchmarks/draw.py draws, and what random_shapes.py and random_tables.py
make of a few made-up rows.

usage: random_shapes_of.py FOLDER    (docs/benchmarks)
"""

import itertools

import made_up

import draw
import random_shapes
import random_tables
from bench_cases import Case

LIMITS = 1e6, 2e8


def check_draws(family):
    """That cases are what draw.py states, and the same for the same seed."""
    fields = random_shapes.cases_of(family, 7, 40, LIMITS)
    assert fields == random_shapes.cases_of(family, 7, 40, LIMITS)
    assert fields != random_shapes.cases_of(family, 8, 40, LIMITS)
    cases = [Case(f) for f in fields]
    for case in cases:
        ends = (case.shapes[0], case.shapes[-1])
        size = sum(draw.math.prod(shape) for shape in ends) * draw.SIZES[case.type]
        # Rows are rounded.
        assert LIMITS[0] / 2 <= size <= LIMITS[1] * 1.5, case.name
        assert all(2 <= side <= 512 for pair in case.factors for side in pair), case.name
        assert case.rows <= draw.MOST_ROWS or family == "batched", case.name
    kinds = {"types": {c.type for c in cases}, "flags": {c.trans for c in cases},
             "layouts": {c.layout for c in cases}}
    print(family, {name: len(found) for name, found in kinds.items()})


def multiply_adds(factors):
    """Of an array of one row, in this order."""
    size, total = draw.math.prod(p for p, _ in factors), 0
    for p, q in factors:
        size = size // p * q
        total += size * p
    return total


def check_flops():
    """That operations are counted in the cheapest order, which is not that of the shrinking:
    2:1 goes before 64:4, as the compiler has it. Seven different factors, in both directions."""
    for text in ("2:1,64:4", "64:4,2:1", "5:2,7:3,3:9,2:4,64:4,6:5,2:1"):
        case = Case({"op": "batched", "type": "f64", "factors": text, "rows": 3})
        orders = itertools.permutations(case.factors)
        assert case.flops == 6 * min(map(multiply_adds, orders)), text


def row(case, ms, **more):
    fields = {"compile_ms": 100.0, "first_launch_ms": 1.0, "bytes": 2e7, "of_floor": 0.5}
    return made_up.row(case, ms, **fields | more)


def main():
    for family in draw.FAMILIES:
        check_draws(family)
    check_flops()
    rows = [row("mkm f32 8 x 8^4", 1.0, torch_ratio=4.0, numpy_ratio=9.0),
            row("mkm f64 9 x 8^4", 2.0, torch_ratio=0.9, gpytorch_ratio=0.5, of_floor=0.25),
            row("mkm bf16 9 x 8^4", 2.0, bytes=1e6, of_floor=0.1),
            {"case": "mkm f16 7 x 8^4", "problem": "out of memory"}]
    parts = {"all": random_shapes.summary(rows)}
    parts |= {name: random_shapes.summary(own)
              for name, own in random_shapes.groups(rows).items()}
    for name, part in parts.items():
        random_shapes.print_summary(f"mkm {name}", part)
    parts["all"]["worst"][0]["plan"] = "tile = 8"
    machine = {"processor": "A processor", "family": "6", "model": "85", "features": ["avx2"],
               "threads": 1}
    result = made_up.result("Random shapes", [], machine) | {
        "bytes": LIMITS, "families": {"mkm": {"7": parts, "8": parts}}}
    print(random_tables.table(result))
    print(random_tables.summary(result))
    print(random_tables.worst(result))
    print(random_tables.svg(result, "Random shapes").count("<polyline"), "lines")


main()
