#!/usr/bin/env python3
"""GPU kernels in an interpreter of PTX, against float64.

usage: ptx.py --root BUILD [options]

Compiles cases of each family of kernels for sm_80 and sm_90a, launches them by their own host code on a driver
whose kernels interpreter/ runs, on GPUs of few multiprocessors, and compares with the references of test/exec. A
case also fails if its kernels access what they must not, or race. Then kernels from which a
barrier, a wait or a store is taken out have to fail.

The same arguments give the same cases. Ends with a line `N passed, N failed`.

SPDX-License-Identifier: MIT
"""

import argparse
import os
import pathlib
import sys
import time

import selection

import ptx_cases
import ptx_mutations
from interpreted import Interpreted
from interpreter.driver import Driver
from kronlib import Kron


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=selection.ROOT / "build", help="build folder")
    parser.add_argument("--count", type=int, default=24, help="number of random cases")
    parser.add_argument("--seed", type=int, default=2611, help="of the random cases")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose line has this text")
    parser.add_argument("--sms", type=int, default=ptx_cases.SMS, help="multiprocessors of the GPU")
    parser.add_argument("--mutations", choices=("some", "all", "none"), default="some",
                        help="kernels that are changed: those that must be found, or all, with what is not found")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    return parser.parse_args()


def describe(name, p, chip):
    sizes = p.get("sizes") or p.get("patterns") or p.get("pattern")
    rows = p["x_batch"][0] if p.get("x_batch") else p["rows"]
    more = [f"{key}={p[key]}" for key in ("layout", "attributes") if p.get(key)]
    return f"{name}: {p['op']} {p['type']} {sizes} {rows} rows {' '.join(more)} for {chip}"


def run_cases(options, interpreted):
    """(passed, failed)."""
    listed = ptx_cases.fixed() + ptx_cases.random(options.seed, options.count)
    passed = failed = 0
    for index, (name, p, chip) in enumerate(listed):
        line = describe(name, p, chip)
        if options.only not in line:
            continue
        start = time.monotonic()
        case = ptx_cases.build(index, p)
        problem = interpreted.run(case, chip)
        passed, failed = passed + (not problem), failed + bool(problem)
        if problem:
            print(f"FAILED {line}\n  {problem}", flush=True)
        if options.verbose:
            driver = interpreted.driver
            print(f"{time.monotonic() - start:6.2f} s  {line}: {driver.steps} blocks of "
                  f"{', '.join(driver.launches)}", flush=True)
    return passed, failed


def main():
    options = parse_arguments()
    library = options.root / "test/unit/fake/libcuda.so.1"
    # What cuBLAS computes is not interpreted.
    os.environ["KRON_CUBLAS"] = "never"
    interpreted = Interpreted(Kron(options.root), Driver(library.resolve(), options.sms))
    passed, failed = run_cases(options, interpreted)
    if options.mutations != "none" and not options.only:
        found, missed = ptx_mutations.run(interpreted, options.mutations == "all")
        passed, failed = passed + found, failed + missed
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
