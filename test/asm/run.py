"""Facts about the assembly of CPU kernels: what their innermost loops must be like.

usage: run.py --build BUILD [--only TEXT] [--verbose] [--update]

Compiles the shapes below for fixed processors (nothing runs, so any machine will do) and
holds them against the budget of facts.json: in the innermost loop with most vector
multiply-adds at least so many of them per load, in all innermost loops together at most so
many vector registers on the stack ("spills") and operations on single elements ("scalars").
Zero is what is wanted; more than that is a loss that is known. When the code gets better,
--update writes the budget anew. Ends with a line `N passed, N failed`.

SPDX-License-Identifier: MIT
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools/kron-bench"))

from bench_cases import Case  # noqa: E402
from loops import innermost  # noqa: E402

CPUS = ("x86-64-v3", "x86-64-v4")
TILES, PAIRS = "x86-64-v4-amx", "znver4"
BUDGET = HERE / "facts.json"


def product(factors, rows=1024, op="mkm", element="f32", trans="NN"):
    return {"op": op, "type": element, "rows": rows, "factors": factors, "trans": trans}


def sparse(pattern, layout="batch_first", element="f32", rows=196):
    return {"op": "ksmm", "type": element, "rows": rows, "pattern": pattern, "layout": layout}


SHAPES = [
    *(product(f) for f in ("64^2", "128^2", "32^3", "16^3", "8^4", "8^5", "4^6", "2^10")),
    *(product(f) for f in ("31^3", "5^6", "12^4", "14:15,19:13,34:23")),
    *(product("64^2", element=t) for t in ("f64", "bf16", "f16", "i32", "c32")),
    product("64^2", op="kmm"), product("64^2", trans="TT"), product("64^2", rows=1),
    product("8^4", op="kmm"), product("8^3", rows=100000, op="batched"),
    *(sparse(p, layout) for p in ([1, 64, 64, 16], [6, 64, 64, 1], [1, 192, 48, 2])
      for layout in ("batch_first", "batch_last")),
    sparse([1, 64, 64, 16], rows=1), sparse([6, 64, 64, 1], element="bf16"),
    *(sparse([1, 64, 64, 64], element=t, rows=r) for t in ("f32", "bf16") for r in (1, 7, 8)),
]

# For matrix tiles: products that are innermost loops.
TILE_SHAPES = [
    product("64^2", element="bf16"), product("128^2", element="bf16"),
    *(sparse([1, 192, 256, 1], layout, "bf16") for layout in ("batch_first", "batch_last")),
]

# For products of pairs of bf16.
PAIR_SHAPES = [
    *(sparse(pattern, layout, "bf16") for pattern in ([1, 64, 64, 16], [6, 64, 64, 1])
      for layout in ("batch_first", "batch_last")),
]

# With a bias and an activation, whose loops count, too.
EPILOGUE_SHAPES = [
    *((sparse([6, 64, 64, 1]), activation) for activation in ("relu", "gelu", "silu")),
    (sparse([1, 64, 64, 16]), "gelu"), (sparse([6, 64, 64, 1], element="bf16"), "gelu"),
]


class EpilogueCase(Case):
    """A sparse factor with the batch first, and what follows it."""

    def __init__(self, fields):
        super().__init__(fields[0])
        self.activation = fields[1]
        self.name += f", bias, {self.activation}"

    def mlir(self):
        bias = f"memref<{self.shapes[-1][1]}x{self.type}>"
        text = super().mlir().replace("%y: ", f"%bias: {bias}, %y: ")
        return text.replace("\n  return", f" bias(%bias : {bias}) "
                            f"{{activation = #kron.activation<{self.activation}>}}\n  return")


#: All cases: what makes one, of which shapes, and the processors that each is compiled for.
GROUPS = ((Case, SHAPES, CPUS), (Case, TILE_SHAPES, [TILES]), (Case, PAIR_SHAPES, [PAIRS]),
          (EpilogueCase, EPILOGUE_SHAPES, CPUS))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in the name")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--update", action="store_true", help="write the budget anew")
    return parser.parse_args()


def facts(kronc, case, cpu):
    """What the loops of a case are like, and the one with most multiply-adds."""
    done = subprocess.run([kronc, "-", "--emit", "asm", "--mcpu", cpu, "-o", "-"],
                          input=case.mlir(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0])
    loops = innermost(done.stdout)
    main = max(loops, key=lambda l: l.multiply_adds, default=None)
    if not main or not main.multiply_adds:
        return {"per_load": 0.0, "spills": 0, "scalars": sum(l.scalars for l in loops)}, None
    loops = [l for l in loops if l.multiply_adds]
    rate = main.multiply_adds / max(main.loads, 1)
    return {"per_load": math.floor(rate * 100) / 100, "spills": sum(l.spills for l in loops),
            "scalars": sum(l.scalars for l in loops)}, main


def worse(found, budget):
    """(what, measured, wanted) of everything beyond the budget."""
    if found["per_load"] < budget["per_load"]:
        yield "multiply-adds per load", found["per_load"], f"at least {budget['per_load']}"
    for name in ("spills", "scalars"):
        if found[name] > budget[name]:
            yield f"{name} in innermost loops", found[name], f"at most {budget[name]}"


def main():
    options = parse_arguments()
    kronc = options.build.resolve() / "bin/kronc"
    budgets = json.loads(BUDGET.read_text()) if BUDGET.exists() else {}
    jobs = [(case, cpu) for make, shapes, cpus in GROUPS for case in map(make, shapes)
            for cpu in cpus if options.only in case.name]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = [pool.submit(facts, kronc, *job) for job in jobs]
        for (case, cpu), result in zip(jobs, results):
            name = f"{case.name} [{cpu}]"
            try:
                found, loop = result.result()
            except RuntimeError as problem:
                print(f"FAILED: {name}: {problem}")
                failed += 1
                continue
            if options.verbose and loop:
                print(f"{name}: {found}; {loop.label}: {loop.multiply_adds} multiply-adds, "
                      f"{loop.loads} loads, {loop.shuffles} shuffles")
            if options.update:
                budgets[name] = found
            problems = list(worse(found, budgets[name])) if name in budgets else [
                ("budget", "none in facts.json", "one; run with --update")]
            for what, measured, wanted in problems:
                print(f"FAILED: {name}: {what}: {measured}, expected {wanted}")
            failed += bool(problems)
            passed += not problems
    if options.update:
        lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in budgets.items())
        BUDGET.write_text(f"{{\n{lines}\n}}\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
