"""Plans that measuring finds for the cases of kron-bench, by kron-tune.

SPDX-License-Identifier: MIT
"""

import math
import pathlib
import re
import subprocess
import tempfile

from bench_cases import MLIR
from kronlib import CUDA, find_libraries

#: Seconds that kron-tune may take beside those of the search: random arrays of several GB, their
#: copies, the checks of results.
PATIENCE = 120
#: A default that takes so much longer than the tuned plan is off; a tuned one is, that does.
OFF, SLOWER = 1.1, 1.02
#: What kron-tune calls types of 8 bits.
EIGHT_BITS = {name: MLIR[name] for name in ("e4m3", "e5m2")}


class Tuner:
    """Tunes what has no record in a file yet, for some seconds an operation."""

    def __init__(self, options, place):
        self.records, self.seconds, self.place = options.tuned, options.tune, place
        self.tool = find_libraries(options.root).parent / "bin/kron-tune"
        if options.tune and not self.tool.exists():
            raise SystemExit(f"kron-bench: expects {self.tool} with --tune")
        if not options.tune and not options.tuned.is_file():
            raise SystemExit(f"kron-bench: expects a file of records with --tuned, but got "
                             f"'{options.tuned}'")

    def tune(self, case):
        """Records of the case are in the file then, if it has a plan at all. Returns how many plans
        were measured for it: none where it had records before."""
        if not self.seconds:
            return 0
        inputs = len(case.shapes) if case.beta else len(case.shapes) - 1
        specs = [f"random:{'x'.join(map(str, shape))}:{EIGHT_BITS.get(name, name)}:{number + 1}"
                 for number, (shape, name) in enumerate(zip(case.shapes[:inputs], case.types))]
        where = ([f"--target=cuda:{self.place.device}"] if self.place.target == CUDA else
                 ["--target=cpu", f"--threads={self.place.threads}"])
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "case.mlir"
            program.write_text(case.mlir())
            command = [self.tool, program, "--missing", f"--seconds={self.seconds}",
                       *where, "-o", self.records,
                       *(word for spec in specs for word in ("--arg", spec))]
            try:
                done = subprocess.run(command, capture_output=True, text=True,
                                      timeout=PATIENCE + self.seconds)
            except subprocess.TimeoutExpired as problem:
                raise RuntimeError(f"kron-tune: did not end within {problem.timeout:g} s") from None
        if done.returncode:
            raise RuntimeError(f"kron-tune: {done.stderr.strip()}")
        return sum(map(int, re.findall(r"^  (\d+) plans were measured", done.stdout, re.MULTILINE)))


def summary(rows):
    """What tuning has brought to cases, in one line; none if nothing was tuned."""
    gains = [row["ms"] / row["tuned_ms"] for row in rows if "tuned_ms" in row]
    if not gains:
        return None
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    return (f"tuned over default: geometric mean {mean:.3f}x over {len(gains)} cases; the default is "
            f"within {OFF - 1:.0%} of tuned in {sum(gain <= OFF for gain in gains)}; tuned is slower "
            f"by more than {SLOWER - 1:.0%} in {sum(gain < 1 / SLOWER for gain in gains)}")
