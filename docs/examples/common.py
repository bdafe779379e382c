"""What the examples and benchmarks share: kron-run, the NumPy way, timing.

Import it before NumPy: it limits OpenBLAS to one thread, since everything that is
timed here runs on one core.
"""

import argparse
import ctypes
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MEDIAN = re.compile(r"median\D*?([\d.]+(?:e[-+]?\d+)?) *(ns|us|ms|s)\b")
UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def parse_options(description, add=None):
    """Command line of an example: --build, and what `add(parser)` adds."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build",
                        help="kron's build folder (default: build)")
    if add:
        add(parser)
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not (options.build / "bin/kron-run").exists():
        parser.error(f"expects {options.build}/bin/kron-run; run tools/setup.sh first")
    return options


def output_folder(options, name):
    folder = options.build / "examples" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def pin_to_one_core():
    """This process and what it starts stay on one core, so that both sides of a
    comparison get the same one."""
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def run(*command, **kwargs):
    """What a command prints; ends this program where it fails."""
    process = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, **kwargs)
    if process.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{process.stdout}")
    return process.stdout


def build_project(options, source, folder):
    """Installs kron's library and compiler and builds the project in `source` as a user's that
    finds it there; returns where the program is."""
    prefix, project = folder / "install", folder / "project"
    for path in (prefix, project):
        shutil.rmtree(path, ignore_errors=True)
    for component in ("runtime", "compiler"):
        run("cmake", "--install", options.build, "--component", component, "--prefix", prefix)
    run("cmake", "-G", "Ninja", "-S", source, "-B", project, "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_COMPILER=clang++-22")
    run("cmake", "--build", project)
    return project


def kron_run(options, program, entry, folder, inputs, times=0, extra=()):
    """Runs `entry` of the .mlir file `program` on NumPy arrays.

    Returns the result, the median seconds of one call (None unless `times` > 0) and
    what kron-run printed."""
    out = folder / f"{entry}.out.npy"
    command = [options.build / "bin/kron-run", program, "--entry", entry]
    for index, array in enumerate(inputs):
        if isinstance(array, np.ndarray):
            path = folder / f"{entry}.arg{index}.npy"
            np.save(path, np.ascontiguousarray(array))
            array = path
        command += ["--arg", array]
    command += ["--out", out, "--threads", "1", *extra]
    if times:
        command += ["--time", times]
    process = subprocess.run([str(c) for c in command], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = process.stdout + process.stderr
    if process.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{text}")
    seconds = None
    if times:
        match = MEDIAN.search(text)
        if not match:
            sys.exit(f"expects kron-run --time to print a median, but got:\n{text}")
        seconds = float(match[1]) * UNIT[match[2]]
    return np.load(out), seconds, text


def mkm_by_shuffles(x, factors):
    """X (F1 (x) ... (x) FN) the way NumPy users write it: reshape, matmul and
    transpose once per factor."""
    rows = x.shape[0]
    y = x
    for factor in reversed(factors):
        p, q = factor.shape
        y = y.reshape(-1, p) @ factor
        y = y.reshape(rows, -1, q).transpose(0, 2, 1)
    return y.reshape(rows, -1)


def median_seconds(function, times):
    """Median seconds of `times` calls after a first one that does not count."""
    function()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def blas_name():
    """Which BLAS NumPy calls, and for which processor."""
    config = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    name = f"{config['name']} {config['version']}"
    for library in (pathlib.Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*"):
        corename = getattr(ctypes.CDLL(str(library)), "scipy_openblas_get_corename64_", None)
        if corename:
            corename.restype = ctypes.c_char_p
            name += f" ({corename().decode()})"
    return name


def relative_error(actual, exact):
    """Relative L2 error."""
    return float(np.linalg.norm(actual.astype(exact.dtype) - exact) / np.linalg.norm(exact))


class Checks:
    """Prints what was checked; `done` ends the program with their outcome."""

    def __init__(self):
        self.failed = False

    def below(self, what, value, bound):
        good = bool(value <= bound)
        self.failed |= not good
        print(f"{what}: {value:.3g} ({'within' if good else 'EXCEEDS'} {bound:.3g})")

    def done(self):
        sys.exit(1 if self.failed else 0)
