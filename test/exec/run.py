"""Execution tests: compiled kernels against NumPy.

usage: run.py --build BUILD [options]

Compiles functions over all operations, types and flags with kronc, runs them
through libkron_runtime on strided arrays in guarded memory, and compares with
the references of reference.py within the bounds of compare.py. A share of the
modules is compiled for several instruction sets and run with each. Prints what
was covered, operations, types and flags as well as paths through the code generator
(paths.py); ends with a line `N passed, N failed`.

SPDX-License-Identifier: MIT
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np

import cases
import cli
import launch_checks
import paths
import reference
import sanitize
from dtypes import TYPES

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 40
ISAS = ("x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-amx")
ISA_FLAGS = {
    "x86-64-v2": {"sse4_2"},
    "x86-64-v3": {"avx2", "fma", "f16c"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v4-amx": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_bf16",
                      "amx_tile", "amx_bf16"},
}
# Seconds after which a compiler or a worker is taken to hang, however busy the machine is: one
# takes a hundredth of it. A worker has some more for every case.
COMPILER_TIMEOUT, WORKER_TIMEOUT = 7200, 1200


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--cases", type=int, default=2000, help="number of random cases")
    parser.add_argument("--programs", type=int, default=300, help="number of random programs of "
                        "several operations, which also run through kron-run and Python")
    parser.add_argument("--pairs", type=int, default=160, help="number of random functions of "
                        "pairs, their products and gradients")
    parser.add_argument("--seed", type=int, default=2601)
    parser.add_argument("--only", default="", metavar="TAG,...",
                        help="only cases with all of these: an operation, a type, or a tag of "
                        "the coverage table such as x=T, alpha=zero, memref")
    parser.add_argument("--case", type=int, action="append", metavar="N",
                        help="only case N, with its IR printed; may be repeated")
    parser.add_argument("--ir", type=pathlib.Path, metavar="FILE", help="with one --case: its "
                        "function from this file, with a plan by hand, say")
    parser.add_argument("--isa", choices=ISAS, help="compile and run all cases for this "
                        "instruction set")
    parser.add_argument("--sanitize", choices=sanitize.KINDS, help="run the kernels under this "
                        "sanitizer of clang")
    parser.add_argument("--runtime", type=pathlib.Path, help="libkron_runtime.so, if not the "
                        "build's: with --sanitize one that is built with it")
    parser.add_argument("--paths", action="store_true", help="only count the paths through the "
                        "code generator: nothing runs")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="only the K-th of N parts")
    parser.add_argument("--json", type=pathlib.Path, help="add a record of this run to this file")
    parser.add_argument("--option", action="append", default=[],
                        help="passed on to kronc, e.g. --option=--mcpu=x86-64-v3")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--no-cli", action="store_true", help="leave out kron-run and the "
                        "checks of launches")
    options = parser.parse_args()
    if options.ir and len(options.case or ()) != 1:
        parser.error(f"expects one --case with --ir, but got {len(options.case or ())}")
    return options


def available_isas():
    flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    return [isa for isa in ISAS if ISA_FLAGS[isa] <= flags]


class Suite:
    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.runtime = options.runtime or self.build / "lib/libkron_runtime.so"
        self.kronc, self.kron_opt = self.build / "bin/kronc", self.build / "bin/kron-opt"
        # Runs that differ can go side by side.
        self.folder = self.build / "test" / "-".join(filter(None, (
            "exec-run", options.isa, options.sanitize,
            options.part.replace("/", "of") if options.part != "1/1" else "")))
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.isas = available_isas()
        self.coverage = collections.Counter()
        self.reached = collections.Counter()  # (operation, path)
        self.failures = {}  # (case, variant) -> message
        self.passed = 0
        self.compile_seconds = self.run_seconds = 0.0

    def without(self):
        """What this machine does not have, for the protocol."""
        missing = [isa for isa in ISAS if isa not in self.isas]
        return f" (SKIPPED: {', '.join(missing)})" if missing else ""

    def has_variants(self, batch):
        """Whether a batch is compiled for several instruction sets."""
        return not self.options.isa and not self.options.sanitize and batch % 10 == 5

    # --- choosing -------------------------------------------------------------

    def selected(self):
        if self.options.case:
            return self.options.case
        wanted = set(filter(None, self.options.only.split(",")))
        indices = [*range(len(cases.exhaustive()) + self.options.cases),
                   *range(cases.FIRST_PROGRAM, cases.FIRST_PROGRAM + self.options.programs),
                   *range(cases.FIRST_PAIR, cases.FIRST_PAIR + self.options.pairs)]
        if not wanted:
            return indices
        return [i for i in indices if wanted <= self.tags(cases.make(self.options.seed, i))]

    @staticmethod
    def tags(case):
        return case.tags | {case.op, case.element.name}

    # --- compiling ------------------------------------------------------------

    def text(self, index):
        """The IR of a case."""
        if self.options.ir:
            return self.options.ir.read_text()
        return cases.make(self.options.seed, index).mlir()

    def compile(self, indices, name, variants):
        """Compiles the cases into one shared library; those that do not compile
        fail by themselves. Returns the library and the cases in it."""
        texts = {i: self.text(i) for i in indices}
        message = self.run_kronc("\n".join(texts.values()), name, variants)
        if message is None:
            return self.folder / f"{name}.so", indices
        good = []
        for i, text in texts.items():
            message = self.run_kronc(text, f"{name}-{i}", variants)
            if message is None:
                good.append(i)
            else:
                self.fail(i, "compile", message)
        if not good:
            return None, []
        message = self.run_kronc("\n".join(texts[i] for i in good), name, variants)
        if message is not None:
            for i in good:
                self.fail(i, "compile", "compiles alone, but not with others: " + message)
            return None, []
        return self.folder / f"{name}.so", good

    def run_kronc(self, text, name, variants):
        """None, or the error."""
        source = self.folder / f"{name}.mlir"
        source.write_text(text)
        library = self.folder / f"{name}.so"
        output = library.with_suffix(".ll") if self.options.sanitize else library
        command = [self.kronc, source, "-o", output, *self.options.option]
        if not variants and not any("--mcpu" in o for o in self.options.option):
            # ThreadSanitizer sees no accesses of more than 16 bytes.
            own = "x86-64-v2" if self.options.sanitize == "thread" else "native"
            command.append(f"--mcpu={self.options.isa or own}")
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  timeout=COMPILER_TIMEOUT)
        except subprocess.TimeoutExpired:
            return "kronc did not end within 600 s"
        message = None
        if done.returncode == 0 and self.options.sanitize:
            message = sanitize.link(self.options.sanitize, output, library)
        self.compile_seconds += time.monotonic() - start
        if done.returncode == 0:
            return message
        lines = [l for l in done.stderr.splitlines() if "error" in l] or done.stderr.splitlines()
        return f"kronc exits with {done.returncode}: " + (lines[0] if lines else "")

    # --- other front ends -----------------------------------------------------

    def run_front_ends(self, indices):
        """Programs as users of the Python package write them, and a tenth of them through
        kron-run."""
        found = [i for i in indices if cases.FIRST_PROGRAM <= i < cases.FIRST_PAIR]
        for i in found:
            if i % 10 == 0:
                error = cli.run_case(self, cases.make(self.options.seed, i), verify=False)
                self.settle(i, "kron-run", error)
        in_python = [i for i in found if cases.make(self.options.seed, i).in_python]
        if (self.build / "python/kron").exists():
            self.run_workers("program_python.py", in_python, "python",
                             {"PYTHONPATH": str(self.build / "python"), "KRON_CACHE": "0"})

    # --- running --------------------------------------------------------------

    def run_batch(self, number, indices, variants):
        start = time.monotonic()
        if self.options.paths:
            self.find_paths(indices)
            return
        library, compiled = self.compile(indices, f"batch{number}", variants)
        isas = self.isas if variants else [self.options.isa]
        for isa in isas:
            self.run_cases(library, compiled, isa)
        if library:
            library.unlink()
            self.find_paths(compiled)
        if not (self.options.isa or self.options.sanitize or self.options.no_cli):
            self.run_front_ends(compiled)
        seconds = time.monotonic() - start
        bad = sum(1 for i, _ in self.failures if i in set(indices))
        where = f" ({', '.join(isas)})" if variants else ""
        print(f"batch {number}: {len(indices)} cases{where}, {bad} failed, {seconds:.1f} s",
              flush=True)

    def find_paths(self, indices):
        """Counts what the cases reach, those that passed or not; without kron-opt, nothing."""
        if not self.kron_opt.exists():
            return
        texts = {i: self.text(i) for i in indices}
        machine = paths.PIPELINE_OPTIONS[self.machine_isa()]
        found = paths.of_batch(self.kron_opt, texts, machine)
        for i, reached in found.items():
            for path in reached:
                self.reached[cases.make(self.options.seed, i).op, path] += 1

    def run_cases(self, library, indices, isa):
        """Runs the cases in worker processes, a new one after each crash."""
        environment = {}
        if self.options.sanitize:
            suppressions = HERE.parent / "unit/tsan.supp"
            environment |= sanitize.environment(self.options.sanitize, suppressions)
        if isa:
            environment["KRON_ISA"] = isa
        job = {"runtime": str(self.runtime), "module": str(library), "threads": [1, 2]}
        self.run_workers("worker.py", indices, isa or "native", environment, job)

    def run_workers(self, script, indices, variant, environment, job=None):
        """Runs the cases in processes of `script`, a new one after each crash."""
        own = {name: value for name, value in os.environ.items() if name != "KRON_ISA"}
        environment = {**own, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1",
                       **environment}
        remaining = list(indices)
        start = time.monotonic()
        while remaining:
            job = {**(job or {}), "cases": remaining, "seed": self.options.seed}
            remaining = self.run_worker(script, job, environment, variant)
        self.run_seconds += time.monotonic() - start

    def run_worker(self, script, job, environment, variant):
        """One worker; returns the cases left to run."""
        try:
            done = subprocess.run([sys.executable, HERE / script], input=json.dumps(job),
                                  capture_output=True, text=True, env=environment,
                                  timeout=WORKER_TIMEOUT + 10 * len(job["cases"]))
            output, errors, how = done.stdout, done.stderr, f"exit status {done.returncode}"
        except subprocess.TimeoutExpired as expired:
            output, errors, how = (expired.stdout or b"").decode(), "", "no end in sight"
        finished, current = set(), None
        for line in output.splitlines():
            event = json.loads(line)
            if "start" in event:
                current = event["start"]
                continue
            finished.add(event["done"])
            current = None
            self.settle(event["done"], variant, event["error"])
        left = [i for i in job["cases"] if i not in finished]
        if left:
            lines = errors.strip().splitlines()
            last = [l for l in lines if "SUMMARY:" in l][:1] or lines[-1:] or [""]
            # Without a current case the library did not even load.
            for i in left if current is None else [current]:
                self.fail(i, variant, f"the process died: {how} {last[0]}")
            left = [i for i in left if current not in (None, i)]
        return left

    def settle(self, index, variant, error):
        if error:
            self.fail(index, variant, error)
            return
        self.passed += 1
        self.cover(index, variant)

    def cover(self, index, variant):
        case = cases.make(self.options.seed, index)
        for tag in case.tags | {variant, "all"}:
            self.coverage[case.op, case.element.name, tag] += 1

    def fail(self, index, variant, message):
        self.failures[index, variant] = message
        case = cases.make(self.options.seed, index)
        path = self.folder / f"case{index}.mlir"
        path.write_text(self.text(index))
        print(f"FAILED case {index} [{variant}] {case.op} {case.element.name} "
              f"{' '.join(sorted(case.tags))}\n  {message}\n  IR: {path}\n  again: "
              f"{sys.executable} {HERE / 'run.py'} --build {self.build} "
              f"--seed {self.options.seed} --case {index}", flush=True)

    # --- reporting ------------------------------------------------------------

    def print_coverage(self):
        """Table of operation x type x tag; returns combinations never hit."""
        names = list(TYPES)
        tags = sorted({tag for _, _, tag in self.coverage} - {"all"})
        print("== cases that passed, by operation and type")
        print(f"{'':28}" + "".join(f"{n:>7}" for n in names))
        missing = []
        for op in (*cases.ALL_OPS, "chain", "program"):
            for tag in ["all", *tags]:
                counts = [self.coverage[op, n, tag] for n in names]
                if sum(counts):
                    label = op if tag == "all" else f"  {tag}"
                    print(f"{label:28}" + "".join(f"{c:7}" for c in counts))
                if tag == "all" and op in cases.ALL_OPS:
                    missing += [f"{op} on {n}" for n, c in zip(names, counts) if not c]
        return missing

    def machine_isa(self):
        """The instruction set whose paths are counted."""
        return self.options.isa or self.isas[-1]

    def print_paths(self):
        """Table of path x operation; returns the paths that no case took."""
        ops = [op for op in (*cases.ALL_OPS, "chain", "program")
               if any(o == op for o, _ in self.reached)]
        print("== cases by path through the code generator and operation")
        print(f"{'':28}" + "".join(f"{op:>13}" for op in ops))
        required = paths.required(self.machine_isa())
        names = [*required, *sorted({p for _, p in self.reached} - set(required))]
        for path in names:
            print(f"{path:28}" + "".join(f"{self.reached[op, path]:13}" for op in ops))
        return [p for p in required if not any(self.reached[op, p] for op in ops)]

    def record(self, seconds, failed):
        """Adds what was run to the file of --json."""
        options = self.options
        content = {"runs": []}
        if options.json.exists():
            content = json.loads(options.json.read_text())
        flags = pathlib.Path("/proc/cpuinfo").read_text()
        mark = HERE.parents[1] / "COMMIT"  # of a bundle
        commit = mark.read_text().strip() if mark.exists() else subprocess.run(
            ["git", "-C", HERE, "rev-parse", "HEAD"], capture_output=True,
            text=True).stdout.strip()
        counts = collections.Counter()
        for (op, name, tag), count in self.coverage.items():
            if tag == "all":
                counts[f"{op} {name}"] += count
        content["runs"].append({
            "isa": options.isa or "native", "sanitizer": options.sanitize, "part": options.part, "seed": options.seed,
            "cases": options.cases, "passed": self.passed, "failed": failed,
            "seconds": round(seconds), "commit": commit,
            "date": datetime.datetime.now().isoformat(timespec="minutes"),
            "processor": next((l.split(": ")[1] for l in flags.splitlines() if "model name" in l),
                              "unknown"),
            "failures": [{"case": i, "variant": v, "message": m[:200]}
                         for (i, v), m in self.failures.items()],
            "operations": dict(counts),
            "paths": {f"{op}: {path}": n for (op, path), n in self.reached.items()}})
        options.json.write_text(json.dumps(content, indent=1) + "\n")

    def main(self):
        options, start = self.options, time.monotonic()
        reference.selftest()
        indices = self.selected()
        print(f"seed {options.seed}: {len(indices)} cases, {len(cases.exhaustive())} of the "
              f"whole list exhaustive; instruction sets {', '.join(self.isas)}"
              f"{self.without()}", flush=True)
        if options.case:
            for i in indices:
                print(self.text(i))
        # Shuffled, so that every batch has some of all: each tenth is compiled for
        # and run with several instruction sets.
        shuffled = np.random.default_rng(options.seed).permutation(indices).tolist()
        batches = [shuffled[i : i + BATCH] for i in range(0, len(shuffled), BATCH)]
        part, parts = map(int, options.part.split("/"))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(self.run_batch, n, b, self.has_variants(n))
                    for n, b in enumerate(batches) if n % parts == part - 1]
            for job in jobs:
                job.result()
        failed = len(self.failures)
        whole = not options.case and not options.only and options.part == "1/1"
        missing = self.print_coverage() if not options.case and not options.paths else []
        if self.kron_opt.exists():
            missing += [f"path {p}" for p in self.print_paths()]
        if whole and missing:
            print("FAILED: no case passed for " + ", ".join(missing))
            failed += len(missing)
        if options.json:
            self.record(time.monotonic() - start, failed)
        if not options.no_cli and whole:
            for passed, bad in (launch_checks.run(self), cli.run(self)):
                self.passed += passed
                failed += bad
        print(f"compiling took {self.compile_seconds:.0f} s, running {self.run_seconds:.0f} s "
              f"of processes")
        print(f"{self.passed} passed, {failed} failed")
        return 0 if (self.passed or options.paths) and not failed else 1


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(Suite(parse_arguments()).main())
