"""Runs kron-mpi-tests as 2 and as 4 processes.

usage: run.py --build BUILD

Ends with a line `N passed, N failed`; a build without MPI counts as one test that is not
for this machine.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True

import mpirun

# A hundred times what they take.
TIMEOUT = 300


def run(program, ranks):
    """Passed and failed tests of rank 0, which counts what fails on any rank."""
    report = program.parent / f"{program.name}.{ranks}.json"
    report.unlink(missing_ok=True)
    try:
        status = subprocess.run(
            mpirun.command(ranks, str(program), "--gtest_brief=1",
                           f"--gtest_output=json:{report}"),
            env=mpirun.environment(), timeout=TIMEOUT).returncode
    except subprocess.TimeoutExpired:
        print(f"{ranks} ranks: expects an end within {TIMEOUT} s", file=sys.stderr)
        return 0, 1
    if not report.exists():
        print(f"{ranks} ranks: exit status {status}, and no report", file=sys.stderr)
        return 0, 1
    result = json.loads(report.read_text())
    failed = result["failures"] + result.get("errors", 0)
    passed = result["tests"] - failed
    if failed == 0 and status != 0:
        print(f"{ranks} ranks: exit status {status}", file=sys.stderr)
        failed = 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    program = parser.parse_args().build.resolve() / "bin/kron-mpi-tests"
    if not program.exists() or not mpirun.exists():
        print("0 passed, 0 failed, 1 not for this machine: no MPI")
        return 0
    counts = [run(program, ranks) for ranks in (2, 4)]
    passed, failed = (sum(count) for count in zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
