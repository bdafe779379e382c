#!/usr/bin/env python3
"""Which plans two builds of kron-opt choose otherwise.

usage: compare.py BEFORE AFTER [--chips sm_90a,a100-80] [--only TEXT] [--show N] [--ignore REGEX]

BEFORE and AFTER are two programs kron-opt. Compared is what --kron-plan leaves of the golden cases of
test/gpu/ptxas.py, of all GPU cases of docs/benchmarks/cases, and of those that test/gpu/shapes.py lists.
--ignore leaves out text that only one of the two has, as `, shift = [0-9]+` of a field that is new.
Prints the cases whose plans differ, N of them with what is in one alone, and ends with a line `N the same, N differ`.

SPDX-License-Identifier: MIT
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / name) for name in ("gpu", "exec")]
sys.path.insert(0, str(ROOT / "tools/kron-bench"))
sys.dont_write_bytecode = True

import ptxas  # noqa: E402
import shapes  # noqa: E402
from bench_files import read  # noqa: E402

def cases():
    """(name, MLIR) of all cases, each once."""
    found = {}
    for golden in ptxas.GOLDEN:
        case = ptxas.make_case(golden)
        found[f"golden {case.name}"] = case.mlir()
    for path in sorted((ROOT / "docs/benchmarks/cases").glob("gpu_*.json")):
        for case in read(path)[1]:
            found[f"{path.stem} {case.name}"] = case.mlir()
    for number in range(len(shapes.FIXED)):
        case = shapes.make(seed=1, index=number, number=number)
        found[f"shapes {number}"] = case.mlir()
    return found


def planned(tool, text, chip):
    """The module behind --kron-plan, or why there is none."""
    done = subprocess.run([tool, "-", f"--kron-gpu-pipeline=plan-only chip={chip}"], input=text,
                          capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else done.stderr.strip()


def compare(tools, text, chip):
    return [planned(tool, text, chip) for tool in tools]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--chips", default="sm_90a,a100-80")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in the name")
    parser.add_argument("--show", type=int, default=5, metavar="N", help="cases whose plans are printed")
    parser.add_argument("--ignore", default="", metavar="REGEX", help="text that is left out")
    options = parser.parse_args()
    tools = [options.before.resolve(), options.after.resolve()]
    jobs = [(f"{name} for {chip}", text, chip) for name, text in cases().items()
            for chip in options.chips.split(",") if options.only in name]
    same = differ = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = pool.map(lambda job: compare(tools, *job[1:]), jobs)
        for (name, _, _), texts in zip(jobs, results):
            before, after = (re.sub(options.ignore, "", text) if options.ignore else text for text in texts)
            if before == after:
                same += 1
                continue
            differ += 1
            print(f"{name} differs", flush=True)
            if differ <= options.show:
                lines = [text.splitlines() for text in (before, after)]
                for mark, own, other in (("-", *lines), ("+", *lines[::-1])):
                    for line in own:
                        if line not in other:
                            print(f"  {mark} {line.strip()}")
    print(f"{same} the same, {differ} differ")


if __name__ == "__main__":
    main()
