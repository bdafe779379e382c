"""Fuzzing for a while: mutations of the lit tests' programs and of files that kron reads.

usage: run.py --build BUILD [--seconds 60] [--seed N] [--only TARGET,...]

Runs bin/kron-fuzz on every target (test/fuzz/Target.h) and cache_entries.py, first on
the seeds, then on mutations: as many of them as TARGETS says or as the time allows. That
time is over is no failure; a crash, a fault or an input without an end is one, and stays
in BUILD/test/fuzz/TARGET.input. Works with kron built for libFuzzer as well
(KRON_FUZZ), which then keeps what it finds in BUILD/test/fuzz/TARGET. Ends with a line
`N passed, N failed`, one for every target.

SPDX-License-Identifier: MIT
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Share of the time, and mutations at most: what takes about that share of a minute on a
#: processor of 2020. The same seed so gives the same inputs wherever time is not short.
TARGETS = {"text": (0.5, 4_000), "bytecode": (0.15, 600), "record": (0.15, 100),
           "manifest": (0.08, 5_000), "npy": (0.06, 50_000), "cache": (0.06, 500)}
#: Seconds beyond its time after which a target is taken to hang, however busy the machine.
HANGS = 1800
COUNTS = re.compile(r"runs (\d+), parsed (\d+), accepted (\d+), completed (\d+)")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unbounded", action="store_true", help="until the time is over, "
                        "however many mutations that are")
    parser.add_argument("--only", default="", metavar="TARGET,...",
                        help="out of " + ", ".join(TARGETS))
    return parser.parse_args()


def lit_tests():
    files = [*(ROOT / "test").rglob("*.mlir"), *(ROOT / "docs/examples").rglob("*.mlir")]
    return sorted(f for f in files if "Inputs" not in f.parts)


def command(options, target, seconds, runs, folder):
    """The command line of a target, whose corpus is made first."""
    if target == "cache":
        return [sys.executable, HERE / "cache_entries.py", f"--seconds={seconds}",
                f"--runs={runs}", f"--seed={options.seed}"]
    corpus = folder / target
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True)
    program = [options.build / "bin/kron-fuzz", f"--target={target}"]
    subprocess.run([*program, f"--make-seeds={corpus}", *lit_tests()], check=True)
    runs += sum(1 for _ in corpus.iterdir())
    return [*program, corpus, f"-runs={runs}", f"-max_total_time={max(1, round(seconds))}",
            f"-seed={options.seed}", f"-artifact_prefix={folder}/"]


def run_target(options, target, folder):
    """Whether the target passed."""
    share, runs = TARGETS[target]
    chosen = options.only.split(",") if options.only else TARGETS
    seconds = options.seconds * share / sum(TARGETS[t][0] for t in chosen)
    state = folder / target
    environment = dict(os.environ, KRON_FUZZ_STATE=str(state),
                       PYTHONPATH=str(options.build / "python"), PYTHONDONTWRITEBYTECODE="1")
    problem = None
    try:
        line = command(options, target, seconds, 10**9 if options.unbounded else runs, folder)
        done = subprocess.run(line, env=environment, capture_output=True, text=True,
                              errors="replace", timeout=seconds + HANGS)
        output = done.stdout + done.stderr
        counts = COUNTS.search(output)
        if done.returncode or not counts:
            problem = f"exit status {done.returncode}\n" + "\n".join(output.splitlines()[-40:])
    except subprocess.CalledProcessError as error:
        problem = f"no seeds: exit status {error.returncode}"
    except subprocess.TimeoutExpired:
        problem = "no end in sight"
    if problem:
        again = (f"{options.build}/bin/kron-fuzz --target={target} {state}.input"
                 if target != "cache" else f"an entry of the cache with these contents")
        print(f"FAILED {target}: {problem}\n  input: {state}.input\n  again: {again}", flush=True)
        return False
    number, parsed, accepted, completed = map(int, counts.groups())
    print(f"{target}: {number} inputs, {parsed / number:.0%} parse, {accepted / number:.0%} are "
          f"accepted, {completed / number:.0%} run without an error", flush=True)
    return True


def main():
    options = parse_arguments()
    options.build = options.build.resolve()
    folder = options.build / "test/fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = options.only.split(",") if options.only else list(TARGETS)
    results = [run_target(options, target, folder) for target in chosen]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
