#!/usr/bin/env python3
"""GPU tests: compiled kernels on an NVIDIA GPU against NumPy.

usage: run.py --root ROOT [options]

ROOT is a build folder or an unpacked bundle. Compiles functions over all operations,
types and flags for this machine's GPU, runs them on strided arrays with sentinels, and
compares with the references of test/exec within the bounds of test/exec/compare.py.
A share is compiled for sm_80 and runs without Hopper's instructions; dense products run
with cuBLAS, if CUDA's folder or the loader has it, and without. All run again with shared
memory that is full of NaN when a kernel starts, and have to give the same bits. Then come launches that
must be refused, arrays of more than 2^31 elements, and cases under compute-sanitizer if it
is there.

First kron-opt plans the cases, which needs no GPU: each form of the table of plan fields that a
case takes has passed, and one that none takes has failed (forms.py).

Ends with a line `N passed, N failed`; without a GPU, after a line that says so,
`N passed, N failed, N not for this machine`.

SPDX-License-Identifier: MIT
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import selection

import numpy as np

import bad_input
import cases
import eight_bits
import forms
import large
import record
import reference
from dtypes import TYPES
from kronlib import Cuda, CudaError, Kron

HERE = pathlib.Path(__file__).resolve().parent
SILENCE = 1200  # seconds without a word from a worker, however busy the machine is
WITHOUT_CUBLAS = "without cuBLAS"
POISONED = "poisoned"
SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")


def find_cublas():
    """The path of a cuBLAS beside the CUDA compiler, or ""."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    return max(map(str, pathlib.Path(home, "lib64").glob("libcublas.so.1[123]")), default="")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, required=True,
                        help="build folder or unpacked bundle")
    parser.add_argument("--cases", type=int, default=1200, help="number of random cases, beside "
                        "the exhaustive ones")
    parser.add_argument("--pairs", type=int, default=3000, help="number of random functions of "
                        "pairs, their products and gradients, beside these")
    parser.add_argument("--seed", type=int, default=2601)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--chips", help="what to compile for (default: this GPU's own)")
    parser.add_argument("--only", default="", metavar="TAG,...", help="only cases with all of "
                        "these: an operation, a type, or a tag such as x=T, batch, tf32")
    parser.add_argument("--case", type=int, action="append", metavar="N",
                        help="only case N, with its IR printed; may be repeated")
    parser.add_argument("--jobs", type=int, default=min(16, len(os.sched_getaffinity(0))))
    parser.add_argument("--sanitize", type=int, default=48, metavar="N",
                        help="cases per compute-sanitizer tool (0: none)")
    parser.add_argument("--coverage", action="store_true", help="count by tags as well")
    parser.add_argument("--sanitizers", default=",".join(SANITIZERS), metavar="TOOL,...")
    parser.add_argument("--json", type=pathlib.Path, help="write counts and failures, with "
                        "date, commit and machine, to this file")
    return parser.parse_args()


class Suite:
    def __init__(self, options):
        self.options = options
        self.coverage = collections.Counter()
        self.failures = {}  # (case, variant) -> message
        self.passed = 0
        self.compile_times = []
        self.digests = {}  # case -> digest of its results
        self.variants = []
        self.begin = time.monotonic()
        self.lock = threading.Lock()

    # --- choosing -------------------------------------------------------------

    def selected(self):
        options = self.options
        if options.case:
            return options.case
        indices = selection.indices(options.cases, options.pairs)
        wanted = set(filter(None, options.only.split(",")))
        if wanted:
            indices = [i for i in indices
                       if wanted <= selection.tags(selection.make(options.seed, i))]
        return np.random.default_rng(options.seed).permutation(indices).tolist()

    # --- running --------------------------------------------------------------

    def run_all(self, indices, chips, variant, jobs, prefix=()):
        """The cases in `jobs` processes side by side."""
        start = time.monotonic()
        shares = [indices[i::jobs] for i in range(jobs)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for future in [pool.submit(self.run_share, share, chips, variant, prefix)
                           for share in shares if share]:
                future.result()
        bad = sum(1 for _, v in self.failures if v == variant)
        seconds = time.monotonic() - start
        self.variants.append({"name": variant, "chips": chips, "cases": len(indices),
                              "failed": bad, "seconds": round(seconds, 1)})
        print(f"{variant}: {len(indices)} cases for {chips}, {bad} failed, {seconds:.0f} s",
              flush=True)
        record.write(self)

    def run_share(self, indices, chips, variant, prefix):
        """The cases in one worker after another, a new one after each crash."""
        while indices:
            job = {"root": str(self.options.root), "cases": indices, "chips": chips,
                   "seed": self.options.seed, "device": self.options.device,
                   "poison": variant == POISONED}
            indices = self.run_worker(job, variant, prefix)

    def run_worker(self, job, variant, prefix):
        """One worker; returns the cases left to run."""
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1",
                           OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
        # What cuBLAS does is not ours to sanitize.
        if prefix or variant == WITHOUT_CUBLAS:
            environment["KRON_CUBLAS"] = "never"
        elif found := find_cublas():
            environment.setdefault("KRON_CUBLAS", found)
        worker = subprocess.Popen(
            [*prefix, sys.executable, str(HERE / "worker.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        errors = []
        reader = threading.Thread(target=lambda: errors.extend(worker.stderr), daemon=True)
        reader.start()
        worker.stdin.write(json.dumps(job))
        worker.stdin.close()
        finished, current = set(), None
        watchdog = self.watch(worker, None)
        for line in worker.stdout:
            watchdog = self.watch(worker, watchdog)
            if not line.startswith("{"):
                errors.append(line)
                continue
            event = json.loads(line)
            current = event.get("start")
            if "done" in event:
                finished.add(event["done"])
                self.record(event, variant)
        status = worker.wait()
        watchdog.cancel()
        reader.join()
        left = [i for i in job["cases"] if i not in finished]
        if left and current is None:
            # It did not get as far as a case.
            for i in left:
                self.fail(i, variant, self.death(status, errors))
            return []
        if left:
            self.fail(current, variant, self.death(status, errors))
        elif status:
            self.fail(job["cases"][-1], variant, self.death(status, errors))
        return [i for i in left if i != current]

    @staticmethod
    def watch(worker, watchdog):
        """Ends the worker if it says nothing for long."""
        if watchdog:
            watchdog.cancel()
        watchdog = threading.Timer(SILENCE, worker.kill)
        watchdog.daemon = True
        watchdog.start()
        return watchdog

    @staticmethod
    def death(status, errors):
        lines = [e.strip() for e in errors if e.strip()]
        tell = [l for l in lines if "=====" in l] or lines[-1:]
        return f"the process ended with {status}: " + "\n  ".join(tell[:8])

    def record(self, event, variant):
        if event["error"]:
            self.fail(event["done"], variant, event["error"])
            return
        expected = event["digest"]
        if variant == "own":
            self.digests[event["done"]] = expected
        elif variant == POISONED:
            expected = self.digests.get(event["done"], expected)
        if event["digest"] != expected:
            self.fail(event["done"], variant, "results depend on shared memory that "
                      "nobody wrote: with NaN there they are other bits")
            return
        case = selection.make(self.options.seed, event["done"])
        with self.lock:
            self.passed += 1
            self.compile_times.append(event["compile_ms"])
            for tag in case.tags | {variant, "all"}:
                self.coverage[case.op, TYPES_BY_MLIR[case.element.mlir], tag] += 1

    def fail(self, index, variant, message):
        case = selection.make(self.options.seed, index)
        with self.lock:
            self.failures[index, variant] = message
            print(f"FAILED case {index} [{variant}] {case.op} {case.element.name} "
                  f"{' '.join(sorted(case.tags))}\n  {message}\n  again: {sys.executable} "
                  f"{HERE / 'run.py'} --root {self.options.root} --seed {self.options.seed} "
                  f"--case {index}", flush=True)

    def count_forms(self):
        """How many forms of plans no case takes, of the whole suite."""
        if self.options.case or self.options.only:
            return 0
        passed, missing = count_forms(self.options)
        self.passed += passed
        return missing

    # --- compute-sanitizer ----------------------------------------------------

    def with_pairs(self, indices):
        """`indices` in another order, a quarter of which, for each tool, are functions of pairs, as
        far as there are enough."""
        tools = len(self.options.sanitizers.split(","))
        found = [i for i in indices if i >= cases.FIRST_PAIR]
        others = [i for i in indices if i < cases.FIRST_PAIR]
        ordered = []
        while found and others:
            ordered += found[:tools] + others[:3 * tools]
            found, others = found[tools:], others[3 * tools:]
        return ordered + found + others

    def sanitize(self, indices, chips):
        program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        if not os.path.exists(program):
            print("compute-sanitizer: not found, left out")
            return
        tools = [t for t in self.options.sanitizers.split(",") if t]
        indices = self.with_pairs(indices)
        for number, tool in enumerate(tools):
            # Its own share of the cases, so that the tools together see more.
            share = indices[number :: len(tools)][: self.options.sanitize]
            prefix = [program, "--tool", tool, "--error-exitcode", "86", "--target-processes",
                      "all", "--print-limit", "3"]
            if tool == "memcheck":
                prefix += ["--leak-check", "no"]
            self.run_all(share, chips, tool, self.options.jobs, tuple(prefix))

    # --- reporting ------------------------------------------------------------

    def print_coverage(self):
        names = list(TYPES)
        print("== cases that passed, by operation and type")
        print(f"{'':28}" + "".join(f"{n:>7}" for n in names))
        tags = sorted({tag for _, _, tag in self.coverage} - {"all"})
        tags = tags if self.options.coverage else []
        for op in sorted({op for op, _, _ in self.coverage}):
            for tag in ["all", *tags]:
                counts = [self.coverage[op, n, tag] for n in names]
                if sum(counts):
                    label = op if tag == "all" else f"  {tag}"
                    print(f"{label:28}" + "".join(f"{c:7}" for c in counts))

    def main(self):
        options = self.options
        reference.selftest()
        kron = Kron(options.root)
        chips = options.chips or kron.chip(options.device)
        indices = self.selected()
        print(f"GPU {options.device}: {Cuda(options.device).name()}, driver for CUDA "
              f"{Cuda(options.device).driver_version()}; seed {options.seed}, {len(indices)} "
              f"cases, {options.jobs} processes", flush=True)
        if options.case:
            for i in indices:
                print(selection.make(options.seed, i).mlir())
        self.run_all(indices, chips, "own", options.jobs)
        self.run_all(indices, chips, POISONED, options.jobs)
        dense = [i for i in indices
                 if "dense" in selection.tags(selection.make(options.seed, i))]
        if dense:
            print(f"cuBLAS: {find_cublas() or 'what the loader finds'}", flush=True)
            self.run_all(dense, chips, WITHOUT_CUBLAS, options.jobs)
        if not options.case and not options.chips:
            self.run_all(indices[::5], "sm_80", "sm_80", options.jobs)
        failed = self.count_forms()
        if not options.case and not options.only:
            for name, checks in (("refused", bad_input), ("8 bits", eight_bits),
                                 ("large", large)):
                start = time.monotonic()
                passed, wrong = checks.run(kron, options.device, chips, options.jobs)
                self.passed += passed
                failed += wrong
                self.variants.append({"name": name, "chips": chips, "cases": passed + wrong,
                                      "failed": wrong,
                                      "seconds": round(time.monotonic() - start, 1)})
        if options.sanitize:
            self.sanitize(indices, chips)
        record.write(self)
        self.print_coverage()
        if self.compile_times:
            times = np.sort(self.compile_times)
            print(f"compiling took {np.median(times):.0f} ms in the median, "
                  f"{times[int(len(times) * .99)]:.0f} ms at the 99th percentile, at most "
                  f"{times[-1]:.0f} ms ({options.jobs} processes at once)")
        failed += len(self.failures)
        print(f"{self.passed} passed, {failed} failed")
        return 0 if self.passed and not failed else 1


TYPES_BY_MLIR = {t.mlir: t.name for t in TYPES.values()}


def count_forms(options):
    """(passed, failed) of forms.py."""
    return forms.check(options.root, options.seed, selection.indices(options.cases, options.pairs))


def main():
    options = parse_arguments()
    try:
        Cuda(options.device)
    except CudaError as error:
        print(f"no GPU: {error}")
        passed, failed = count_forms(options)
        print(f"{passed} passed, {failed} failed, {len(selection.indices(options.cases, options.pairs))} not for this machine")
        return 1 if failed else 0
    return Suite(options).main()


if __name__ == "__main__":
    sys.exit(main())
