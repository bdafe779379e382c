"""Runs kron's test suites and adds up their counts.

usage: run-tests.py --build BUILD [SUITE...]

Without names every suite runs. Ends with a line `N passed, N failed`; exit status 0
only if something passed and nothing failed. A suite that dies before it has
counted anything is one failure.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Counts:
    """How many tests of a suite passed, failed and did not apply here."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} not for this machine" if self.skipped else "")


def run(command, **kwargs):
    """Runs a command in the repository's root; returns its exit status."""
    return subprocess.run([str(c) for c in command], cwd=ROOT, **kwargs).returncode


def settle(counts, status, name):
    """A suite that exits with an error has failed even if its counts do not say so;
    one that ran nothing has not passed, unless it says that this machine cannot."""
    if counts.failed == 0 and (status != 0 or counts.passed + counts.skipped == 0):
        print(f"{name}: exit status {status} after {counts}", file=sys.stderr)
        counts.failed += 1
    return counts


def cache_variable(build, name):
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    raise SystemExit(f"run-tests.py: expects {name} in {build}/CMakeCache.txt")


# Whose rates estimates are counted from is up to tests.
os.environ.setdefault("KRON_CALIBRATE", "0")
# Modules are verified after each pass, which users do not wait for.
os.environ.setdefault("KRON_VERIFY_EACH", "1")


def suite_lit(build):
    """IR and tool tests (lit, FileCheck)."""
    lit = pathlib.Path(cache_variable(build, "KRON_LLVM_PREFIX")) / "bin/lit"
    report = build / "test/lit.json"
    report.unlink(missing_ok=True)
    status = run([sys.executable, lit, "-s", "-v", "-o", report, build / "test"])
    counts = Counts()
    tests = json.loads(report.read_text())["tests"] if report.exists() else []
    for test in tests:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            counts.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            counts.skipped += 1
        else:
            counts.failed += 1
    return settle(counts, status, "lit")


def suite_unit(build):
    """Unit tests (GoogleTest): every program bin/*Tests."""
    counts = Counts()
    for program in sorted((build / "bin").glob("*Tests")):
        report = program.parent / (program.name + ".json")
        report.unlink(missing_ok=True)
        status = run([program, "--gtest_brief=1", f"--gtest_output=json:{report}"])
        own = Counts()
        if report.exists():
            result = json.loads(report.read_text())
            skipped = sum(test.get("result") == "SKIPPED"
                          for suite in result["testsuites"] for test in suite["testsuite"])
            own.failed = result["failures"] + result.get("errors", 0)
            own.skipped = skipped + result["disabled"]
            own.passed = result["tests"] - own.failed - own.skipped
        counts.add(settle(own, status, program.name))
    return settle(counts, 0, "unit")


def counted(name, command):
    """Runs a suite that ends with its own line `N passed, N failed`, perhaps with
    `, N not for this machine`."""
    process = subprocess.Popen([str(c) for c in command], cwd=ROOT, text=True,
                               stdout=subprocess.PIPE)
    last = None
    for line in process.stdout:
        print(line, end="", flush=True)
        last = re.search(r"(\d+) passed, (\d+) failed(?:, (\d+) not for)?", line) or last
    status = process.wait()
    counts = Counts(*(int(n or 0) for n in last.groups())) if last else Counts()
    return settle(counts, status, name)


def suite_asm(build):
    """Innermost loops of CPU kernels against a budget of loads and spills."""
    return counted("asm", [sys.executable, ROOT / "test/asm/run.py", "--build", build])


def suite_plans(build):
    """Code is a function of the printed plans."""
    return counted("plans", [sys.executable, ROOT / "test/plans/run.py", "--build", build])


def suite_exec(build):
    """Compiled programs against NumPy."""
    return counted("exec", [sys.executable, ROOT / "test/exec/run.py", "--build", build])


def suite_fuzz(build):
    """Mutated programs and files, for a minute at most."""
    return counted("fuzz", [sys.executable, ROOT / "test/fuzz/run.py", "--build", build])


def suite_mpi(build):
    """Sharded products as 2 and as 4 processes."""
    return counted("mpi", [sys.executable, ROOT / "test/mpi/run.py", "--build", build])


def suite_gpu(build):
    """Compiled programs on a GPU against NumPy."""
    return counted("gpu", [sys.executable, ROOT / "test/gpu/run.py", "--root", build])


def pytest(name, build, python, *arguments):
    """Runs pytest on the Python package of the build tree."""
    report = build / f"python/{name}.xml"
    report.unlink(missing_ok=True)
    environment = dict(os.environ, PYTHONPATH=str(build / "python"))
    status = run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
                  f"--junit-xml={report}", *arguments], env=environment)
    counts = Counts()
    if report.exists():
        for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
            number = {key: int(suite.get(key)) for key in ("tests", "failures", "errors",
                                                           "skipped")}
            counts.failed += number["failures"] + number["errors"]
            counts.skipped += number["skipped"]
            counts.passed += number["tests"] - sum(
                number[key] for key in ("failures", "errors", "skipped"))
    return settle(counts, status, name)


def suite_python(build):
    """The Python package against NumPy (pytest)."""
    return pytest("python", build, sys.executable, "--ignore=python/tests/torch",
                  ROOT / "python/tests")


def suite_torch(build):
    """The Python package with PyTorch and GPyTorch (pytest)."""
    venv, requirements = build / "venv-torch", ROOT / "tools/requirements-torch.txt"
    mark = venv / "requirements.txt"
    if not mark.exists() or mark.read_bytes() != requirements.read_bytes():
        print("installing the packages of tools/requirements-torch.txt (2 GB)", flush=True)
        status = run(["/usr/bin/python3", "-m", "venv", "--clear", venv]) or run(
            [venv / "bin/pip", "install", "-q", "--disable-pip-version-check",
             "--no-compile", "--no-deps", "-r", requirements])
        if status != 0:
            return settle(Counts(), status, "torch")
        shutil.copy(requirements, mark)
    os.environ.setdefault("CXX", "clang++-22")
    return pytest("torch", build, venv / "bin/python", ROOT / "python/tests/torch")


def suite_ptxas(build):
    """GPU kernels against a budget of registers, by ptxas."""
    return counted("ptxas", [sys.executable, ROOT / "test/gpu/ptxas.py", "--root", build])


def suite_ptx(build):
    """GPU kernels in an interpreter of PTX, against float64."""
    return counted("ptx", [sys.executable, ROOT / "test/gpu/ptx.py", "--root", build])


def suite_docs(build):
    """The documentation against the sources it is generated from or quotes."""
    return counted("docs", [sys.executable, ROOT / "docs/check.py", "--build", build])


def suite_examples(build):
    """Every docs/examples/*/run.py; each checks its own result, and exits with 77 where the
    machine lacks what it needs."""
    counts = Counts()
    for script in sorted((ROOT / "docs/examples").glob("*/run.py")):
        print(f"-- {script.relative_to(ROOT)}", flush=True)
        status = run([sys.executable, script, "--build", build])
        if status == 0:
            counts.passed += 1
        elif status == 77:
            counts.skipped += 1
        else:
            print(f"FAILED: {script.relative_to(ROOT)}", file=sys.stderr)
            counts.failed += 1
    return settle(counts, 0, "examples")


# The examples follow the suite that installs PyTorch, which one of them needs.
SUITES = {"lit": suite_lit, "unit": suite_unit, "docs": suite_docs, "asm": suite_asm, "plans": suite_plans,
          "exec": suite_exec, "fuzz": suite_fuzz, "mpi": suite_mpi, "python": suite_python,
          "torch": suite_torch, "examples": suite_examples, "ptxas": suite_ptxas,
          "ptx": suite_ptx, "gpu": suite_gpu}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("suites", nargs="*", metavar="SUITE",
                        help=", ".join(SUITES) + " (default: all)")
    options = parser.parse_args()
    unknown = set(options.suites) - set(SUITES)
    if unknown:
        parser.error(f"expects suites out of {', '.join(SUITES)}, but got "
                     f"{', '.join(sorted(unknown))}")
    build = options.build.resolve()
    os.environ["PATH"] = os.pathsep.join([str(build / "bin"), os.environ["PATH"]])
    total, lines = Counts(), []
    for name in options.suites or SUITES:
        print(f"== {name}: {SUITES[name].__doc__.strip()}", flush=True)
        start = time.monotonic()
        counts = SUITES[name](build)
        lines.append(f"{name:9} {counts} ({time.monotonic() - start:.0f} s)")
        total.add(counts)
    print("== summary")
    print("\n".join(lines))
    print(f"{total.passed} passed, {total.failed} failed")
    return 0 if total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
