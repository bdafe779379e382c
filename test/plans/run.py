#!/usr/bin/env python3
"""Whether code is a function of the printed plan, and of nothing else.

usage: run.py --build BUILD [--only TEXT]

Every golden case of test/gpu/ptxas.py (sm_80, sm_90a) and of test/asm (as five
processors) is lowered up to --kron-plan and printed. A new process parses that text and converts it: the
result must be that of the first process, character by character. A second
--kron-plan must leave every plan as it is, and so must one for another machine,
whose numbers are others: a complete plan is nobody's to choose again. Fields of these plans, a few
of each kind, are given to a --kron-plan of the same machine by hand (constraints.py). Ends with a line
`N passed, N failed`.

SPDX-License-Identifier: MIT
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / name) for name in ("gpu", "asm", "exec")]
sys.path.insert(0, str(ROOT / "tools/kron-bench"))
sys.dont_write_bytecode = True

import constraints  # noqa: E402
import ptxas  # noqa: E402

import importlib.util  # noqa: E402

_spec = importlib.util.spec_from_file_location("asm_run", ROOT / "test/asm/run.py")
asm = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(asm)


class Target:
    """The passes of a target, and another machine of its kind; `convert` are those that
    follow each other behind the plan."""

    def __init__(self, name, pipeline, plan, other, *convert):
        self.name, self.pipeline, self.plan = name, pipeline, plan
        self.other, self.convert = other, convert


def gpu_target(chip, other):
    return Target(chip, f"--kron-gpu-pipeline=chip={chip}",
                  f"--kron-plan=target=cuda chip={chip}",
                  f"--kron-plan=target=cuda chip={other}",
                  f"--kron-tile=chip={chip}", "--convert-tile-to-nvvm")


# The other machine has as much shared memory and the same instructions.
GPUS = [gpu_target("sm_90a", "h100-pcie"), gpu_target("sm_80", "a100-80")]


def cpu_target(name, options, other):
    """`options` are those of the pipeline and of --kron-plan, `other` those of another processor."""
    return Target(name, f"--kron-cpu-pipeline={options}", f"--kron-plan={options}",
                  f"--kron-plan={other}", "--convert-pairwise-to-vector", "--convert-kron-to-vector")


# Small caches for those that have other numbers then, non-temporal stores from few bytes on.
CPUS = [cpu_target("512 bits", "vector-bits=512",
                   "vector-bits=512 l2-bytes=524288 cache-bytes=16384"),
        cpu_target("256 bits", "vector-bits=256 l2-bytes=524288",
                   "vector-bits=512 l2-bytes=2097152 cache-bytes=49152 stream-bytes=1"),
        cpu_target("128 bits", "vector-bits=128 l2-bytes=262144",
                   "vector-bits=256 l2-bytes=1048576 fast-shuffles"),
        cpu_target("long segments", "vector-bits=512 column-bytes=256 row-tile-bytes=8192 "
                   "stream-bytes=4097 stream-columns-bytes=4097 pair-products fast-shuffles",
                   "vector-bits=512 slow-pair-products"),
        cpu_target("matrix tiles", "vector-bits=512 matrix-tiles stream-columns-bytes=4097 "
                   "l2-bytes=2097152", "vector-bits=512 matrix-tiles")]


def run(tool, text, *options, may_fail=False):
    """stdout and stderr of kron-opt; RuntimeError if it fails."""
    done = subprocess.run([tool, "-", *options], input=text, capture_output=True, text=True)
    if done.returncode and not may_fail:
        raise RuntimeError(f"{' '.join(options)}: {done.stderr.strip().splitlines()[:2]}")
    return done.stdout, done.stderr


def dumps(text):
    """The modules that --mlir-print-ir-after has printed, by the argument of the pass."""
    parts = re.split(r"^// -----// IR Dump After \w+ \(([\w-]+)[^)]*\).*$", text, flags=re.M)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2])))


def check(tool, case, target):
    """What is wrong, or None, and the printed plans."""
    planned = ""
    convert = re.match(r"--([\w-]+)", target.convert[-1])[1]
    try:
        _, printed = run(tool, case.mlir(), target.pipeline, "--mlir-print-ir-after=kron-plan",
                         f"--mlir-print-ir-after={convert}")
        found = dumps(printed)
        planned, wanted = found["kron-plan"], found[convert]
        converted = run(tool, planned, *target.convert)[0].strip()
        if converted != wanted:
            return f"{target.convert[-1]} of the printed plans is not what the pipeline has made", planned
        for plan in (target.plan, target.other):
            again = run(tool, planned, plan)[0].strip()
            if again != planned:
                return f"'{plan}' changes complete plans", planned
    except RuntimeError as error:
        return str(error), planned
    return None, planned


def check_constraints(tool, variants, target):
    """What is wrong with the first one, or None."""
    def opt(text, *options):
        return run(tool, text, *options, may_fail=True)

    wrong = constraints.check(opt, variants, target.plan)
    return wrong[0] if wrong else None


def jobs():
    for golden in ptxas.GOLDEN:
        case = ptxas.make_case(golden)
        for target in GPUS:
            yield case, target
    cases = [make(fields) for make, shapes, _ in asm.GROUPS for fields in shapes]
    for target in CPUS:
        yield from ((case, target) for case in cases)
    # Functions of pairs depend on the bits of vectors alone.
    pairs = [case for case in map(ptxas.make_case, ptxas.GOLDEN) if isinstance(case, ptxas.Pairs)]
    for target in CPUS[:3]:
        yield from ((case, target) for case in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in the name")
    options = parser.parse_args()
    tool = options.build.resolve() / "bin/kron-opt"
    chosen = [(case, target) for case, target in jobs()
              if options.only in f"{case.name} for {target.name}"]
    counts = collections.Counter()

    def count(case, target, problem):
        counts[bool(problem)] += 1
        if problem:
            print(f"FAILED {case.name} for {target.name}: {problem}", flush=True)

    chooser, given = constraints.Chooser(), []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = pool.map(lambda job: check(tool, *job), chosen)
        for (case, target), (problem, planned) in zip(chosen, results):
            count(case, target, problem)
            if variants := chooser.variants(target.name, planned):
                given.append((case, target, variants))
        results = pool.map(lambda job: check_constraints(tool, job[2], job[1]), given)
        for (case, target, _), problem in zip(given, results):
            count(case, target, problem)
    passed, failed = counts[False], counts[True]
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
