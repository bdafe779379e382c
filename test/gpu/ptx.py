#!/usr/bin/env python3
"""GPU kernels in an interpreter of PTX, against float64.

usage: ptx.py --root BUILD [options]

Compiles cases of each family of kernels, random ones, small ones of all operations, and what tutorials add, for sm_80
and sm_90a; launches them by their own host code on a driver whose kernels interpreter/ runs, on GPUs of few
multiprocessors; and compares with the references of test/exec. A case also fails if its kernels access what they must not, or race. Then
kernels from which a barrier, a wait or a store is taken out have to fail.

The same arguments give the same cases. Ends with a line `N passed, N failed`.

SPDX-License-Identifier: MIT
"""

import argparse
import os
import pathlib
import re
import sys
import time

# Products are small: threads would wait for each other. NumPy reads this once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import selection  # noqa: E402

import forms  # noqa: E402
import ptx_cases  # noqa: E402
import ptx_instructions  # noqa: E402
import ptx_mutations  # noqa: E402
from interpreted import Interpreted  # noqa: E402
from interpreted_bits import CHECKS, InterpretedChecks  # noqa: E402
from interpreter.driver import Driver  # noqa: E402
from kronlib import Kron  # noqa: E402
import tutorials  # noqa: E402

#: The driver of the unit tests, in a build folder.
LIBRARY = "test/unit/fake/libcuda.so.1"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=selection.ROOT / "build", help="build folder")
    parser.add_argument("--count", type=int, default=24, help="number of random cases")
    parser.add_argument("--share", type=int, default=20, help="one of so many of the small cases of test/exec")
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


class Suite:
    def __init__(self, options):
        self.options = options
        self.interpreted = Interpreted(Kron(options.root), Driver(options.root / LIBRARY, options.sms))
        self.passed = self.failed = 0

    def attempt(self, line, check):
        """Counts a check, which returns what is wrong or None."""
        if self.options.only not in line:
            return
        start = time.process_time()
        problem = check()
        self.passed, self.failed = self.passed + (not problem), self.failed + bool(problem)
        if problem:
            print(f"FAILED {line}\n  {problem}", flush=True)
        if self.options.verbose:
            driver = self.interpreted.driver
            print(f"{time.process_time() - start:6.2f} s  {line}: {driver.steps} blocks of "
                  f"{', '.join(driver.launches)}", flush=True)

    def run_cases(self):
        fixed = ptx_cases.fixed()
        planned = kernels_of(self.options.root, fixed)
        listed = fixed + ptx_cases.random(self.options.seed, self.options.count)
        for index, (name, p, chip) in enumerate(listed):
            def check(index=index, name=name, p=p, chip=chip):
                is_fixed = index < len(fixed)
                # One without a plan runs code that is not of its family.
                if is_fixed and name not in planned.get(index, ()):
                    return f"expects a plan of {name}, but got {', '.join(planned.get(index, ())) or 'none'}"
                return self.interpreted.run(ptx_cases.build(index, p), chip, aligned=is_fixed, unread=is_fixed)
            self.attempt(describe(name, p, chip), check)

    def run_instructions(self):
        for line, check in ptx_instructions.checks():
            self.attempt(f"instructions: {line}", check)

    def run_exhaustive(self):
        for name, number, chip in ptx_cases.exhaustive(self.options.share):
            case = selection.make(self.options.seed, number)
            line = f"{name}: {case.op} {case.element.name} {' '.join(sorted(case.tags))} for {chip}"
            self.attempt(line, lambda: self.interpreted.run(case, chip))

    def run_eight_bits(self):
        for chip in ptx_cases.CHIPS:
            checks = InterpretedChecks(self.interpreted.kron, self.interpreted.driver, chip)
            for name, arguments in CHECKS:
                self.attempt(f"8 bits: {name} {arguments} for {chip}", lambda: checks.check(name, arguments))

    def run_tutorials(self):
        for chip in ptx_cases.CHIPS:
            checks = tutorials.Tutorials(self.options.root, self.interpreted.kron, self.interpreted.driver, chip)
            for name, arguments in tutorials.CHECKS:
                self.attempt(f"tutorials: {name} {arguments} for {chip}", lambda: checks.check(name, arguments))

    def run_mutations(self):
        found, missed = ptx_mutations.run(self.interpreted, self.options.mutations == "all")
        self.passed, self.failed = self.passed + found, self.failed + missed


def kernels_of(root, listed):
    """{index: kernels in the plan} of cases."""
    found = {}
    for chip in ptx_cases.CHIPS:
        texts = [ptx_cases.build(index, p).mlir() for index, (_, p, own) in enumerate(listed) if own == chip]
        for part in re.split(r"(?=func\.func @)", forms.plan(root / "bin/kron-opt", texts, chip))[1:]:
            index = int(re.match(r"func\.func @case(\d+)", part)[1])
            found[index] = {plan["kernel"] for plans in forms.plans_of(part) for plan in plans}
    return found


def main():
    options = parse_arguments()
    options.root = options.root.resolve()
    # What cuBLAS computes is not interpreted.
    os.environ["KRON_CUBLAS"] = "never"
    suite = Suite(options)
    suite.run_instructions()
    suite.run_cases()
    suite.run_eight_bits()
    suite.run_tutorials()
    suite.run_exhaustive()
    if options.mutations != "none" and not options.only:
        suite.run_mutations()
    print(f"{suite.passed} passed, {suite.failed} failed")
    return 0 if suite.passed and not suite.failed else 1


if __name__ == "__main__":
    sys.exit(main())
