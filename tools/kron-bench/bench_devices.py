"""Cases shared out among several devices by kron-run --devices, beside one of them.

Rows of mkm, ksmm and chain, or with --shard-axes the modes of mkm, by NCCL. Arrays go to
kron-run as NPY files, and what it computes on all devices is checked against a wider type on
some of the rows. Times are kron-run's: from when all devices begin to when all have ended,
with the arrays where they belong.

SPDX-License-Identifier: MIT
"""

import pathlib
import re
import subprocess
import tempfile

import numpy as np

from bench_cases import random_array, relative_error, to_wide
from kronlib import KronError

CHECKED_ROWS = 8
TIMES = re.compile(r"^bench: median ([0-9.]+) ms, min ([0-9.]+) ms", re.M)


def refusal(case, modes):
    """Why a case cannot be shared out; None if it can."""
    if case.op not in (("mkm",) if modes else ("mkm", "ksmm", "chain")):
        return f"expects {'mkm' if modes else 'mkm, ksmm or chain'} with --devices, but got {case.op}"
    if case.trans != "NN" or case.layout != "batch_first" or case.beta:
        return "expects --devices with operands as they are: trans NN, batch_first, without beta"
    if case.type == "bf16" or case.of_8_bits:
        return "expects a type that NPY files have with --devices, but got bf16 or 8 bits"
    return None


def find_tool(root):
    """kron-run of a build folder or an unpacked bundle."""
    for name in ("bin/kron-run", "build/bin/kron-run"):
        path = pathlib.Path(root or pathlib.Path(__file__).resolve().parents[2]) / name
        if path.exists():
            return path
    raise KronError("kron-run", "expects kron-run in the bin folder of --root")


class Devices:
    """Runs cases on all of options.devices."""

    patience = 900  # seconds for one case

    def __init__(self, options):
        self.numbers = options.devices.split(",")
        if not all(number.isdigit() for number in self.numbers):
            raise SystemExit(f"kron-bench: expects --devices to be numbers of GPUs, but got "
                             f"{options.devices}")
        self.options, self.tool = options, find_tool(options.root)
        self.modes = options.shard_axes and options.shard_axes != "0:0"

    def run(self, case):
        """Results of one case."""
        if problem := refusal(case, self.modes):
            raise KronError("case", problem)
        with tempfile.TemporaryDirectory(prefix="kron-bench-") as folder:
            folder = pathlib.Path(folder)
            (folder / "bench.mlir").write_text(case.open_mlir())
            rng = np.random.default_rng(self.options.seed)
            arrays = [random_array(case.type, rng, shape) for shape in case.shapes[:-1]]
            for k, array in enumerate(arrays):
                np.save(folder / f"{k}.npy", array)
            arguments = [f"--arg={folder / f'{k}.npy'}" for k in range(len(arrays))]
            one = self.times(folder, [*arguments, f"--devices={self.numbers[0]}"])
            axes = [f"--shard-axes={self.options.shard_axes}"] if self.modes else []
            several = self.times(folder, [*arguments, f"--devices={','.join(self.numbers)}", *axes,
                                          f"--out={folder / 'y.npy'}"])
            error = self.error(case, arrays, np.load(folder / "y.npy", mmap_mode="r"))
        count = len(self.numbers)
        return {"case": case.name, "op": case.op, "type": case.type, "rows": case.rows,
                "factors": case.text, "precision": case.precision, **case.extra,
                "devices": count, "shard_axes": self.options.shard_axes or "0:0",
                "ms": several[0], "ms_low": several[1], "one_ms": one[0],
                "of_linear": one[0] / several[0] / count, "error": error}

    def times(self, folder, arguments):
        """(median, least) milliseconds that kron-run prints."""
        target = ["--target=cpu"] if self.options.target == "cpu" else []
        done = subprocess.run([self.tool, folder / "bench.mlir", *arguments, *target,
                               f"--time={self.options.samples}"], capture_output=True, text=True)
        found = TIMES.search(done.stdout)
        if done.returncode or not found:
            raise KronError("kron-run", done.stderr or done.stdout)
        return float(found[1]), float(found[2])

    @staticmethod
    def error(case, arrays, result):
        """Relative, in L2, on some of the rows."""
        rows = case.sample_rows(np.random.default_rng(0), CHECKED_ROWS)
        wide = [to_wide(case.type, array) for array in (arrays[0][rows], *arrays[1:])]
        return relative_error(to_wide(case.type, result[rows]),
                              case.expected(wide[0], wide[1:]))

    @staticmethod
    def text(row):
        return (f"{row['case']:44} {row['ms']:9.4f} ms on {row['devices']}, {row['one_ms']:.4f} ms on "
                f"one ({row['of_linear'] * 100:3.0f} % of linear)  error {row['error']:.1e}")
