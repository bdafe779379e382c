"""Whole programs with kron beside what they replace.

usage: programs.py [--set programs|kernels] [--target cpu|cuda] [--only PATTERN...] [--quick]
                   [--seed N] [--list] [--threads N] [--seconds S] [--rounds N] [--out FILE] [--profile]

--set kernels measures distances and kernel matrices instead of programs. Each case is a step of a program, done in several ways on the same fresh random data: with
kron, and with what PyTorch or GPyTorch have for it. All ways use as many threads. First
steps are recorded apart ("first_ms"), kron's with an empty cache of kernels unless an
earlier case has compiled the same ones; everything else is measured with caches warm. The
results of the first step are compared with float64: relative L2, the largest over what
the step computes. Then the ways take turns: a round has a block of steps of each, and a
time is that from before a block until the device has done all of it, by the number of
steps. Recorded are medians and quartiles over rounds, and of the ratios to kron within a
round, so that other work on the machine falls out of them. `host_ms`, on a GPU, is how
long the host takes to hand over a step. `phases_ms` are parts of a step, the device waited
for after each.

--only takes programs, or patterns of PROGRAM/CASE; what is not measured anew keeps its
figures if they are of the same machine, commit and seed. --quick: tiny sizes. --profile
prints which operations kron's steps consist of. Needs the kron package, PyTorch and GPyTorch. The
file, docs/benchmarks/results/SET_TARGET.json by default, is complete after every
case. Exit status 1 if kron fails in a case, or is less exact than rounding and the others
explain.
"""

import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FEATURES = ("avx2", "avx512f", "avx512_bf16", "amx_tile")


def commit():
    """Of the source tree or the bundle that this script is part of."""
    if (ROOT / "COMMIT").exists():
        return (ROOT / "COMMIT").read_text().strip()
    import python

    return python.commit()


def machine(target):
    import gpytorch
    import torch

    text = pathlib.Path("/proc/cpuinfo").read_text()
    fields = dict(re.findall(r"^(\w[\w ]*?)\s*: (.*)$", text, re.M))
    flags = fields.get("flags", "").split()
    info = {"processor": fields.get("model name", platform.machine()),
            "family": fields.get("cpu family"), "model": fields.get("model"),
            "features": [name for name in FEATURES if name in flags],
            "system": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(), "torch": torch.__version__,
            "gpytorch": gpytorch.__version__}
    if target == "cuda":
        info["gpu"], info["cuda"] = torch.cuda.get_device_name(), torch.version.cuda
        try:
            info["driver"] = subprocess.run(
                ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                text=True, capture_output=True, check=True).stdout.split()[0]
        except (OSError, subprocess.CalledProcessError):
            pass  # PyTorch does not know it
    return info


def command(options):
    """What measures all of it, without where to write to."""
    scheduled = os.sched_getscheduler(0) == os.SCHED_FIFO
    first = f"chrt -f {os.sched_getparam(0).sched_priority} " if scheduled else ""
    quick = " --quick" if options.quick else ""
    which = "" if options.set == "programs" else f"--set {options.set} "
    return (f"{first}docs/benchmarks/programs.py {which}--target {options.target}{quick} "
            f"--seed {options.seed} --threads {options.threads} "
            f"--seconds {options.seconds:g} --rounds {options.rounds}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=["programs", "kernels"], default="programs")
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN",
                        help="programs, or patterns of PROGRAM/CASE")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, seconds in all")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--profile", action="store_true",
                        help="print the operations of kron's steps")
    parser.add_argument("--seed", type=int,
                        default=int(datetime.date.today().strftime("%Y%m%d")))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="of the rounds of a case, at least")
    parser.add_argument("--rounds", type=int, default=7, help="of a case, at least")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.threads < 1:
        parser.error(f"expects --threads of 1 or more, but got {options.threads}")
    if options.rounds < 1:
        parser.error(f"expects --rounds of 1 or more, but got {options.rounds}")
    options.out = options.out or HERE / f"results/{options.set}_{options.target}.json"
    return options


def is_wanted(case, patterns):
    return any(fnmatch.fnmatchcase(case.program, pattern)
               or fnmatch.fnmatchcase(f"{case.program}/{case.name}", pattern)
               for pattern in patterns)


def cases(place, which):
    if which == "kernels":
        import program_kernels

        for program in program_kernels.PROGRAMS:
            yield from program(place)
        return
    import program_arrays
    import program_gp
    import program_layers

    for program in (program_gp.gp, program_layers.kslinear, program_layers.monarch,
                    program_layers.transformer, program_layers.lokr, program_arrays.update,
                    program_arrays.solve, program_arrays.dct, program_arrays.qubits):
        yield from program(place)


class Results:
    """The file, replaced as a whole after each case. Rows of an earlier run stay where
    nothing but the choice of cases differs."""

    SAME = ("target", "seed", "threads", "quick", "commit", "machine")

    def __init__(self, path, about, order):
        self.path, self.about, self.order = path, about, order
        self.rows = {}
        if path.exists():
            before = json.loads(path.read_text())
            if all(before.get(key) == about[key] for key in self.SAME):
                self.rows = {self._key(row): row for row in before["rows"]}

    @staticmethod
    def _key(row):
        return row["program"], row["case"]

    def add(self, row):
        self.rows[self._key(row)] = row
        rows = [self.rows[key] for key in self.order if key in self.rows]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps({**self.about, "rows": rows}, indent=1) + "\n")
        temporary.replace(self.path)


def show(row):
    def text(name, record):
        if "ms" not in record:
            return f"{name}: {record.get('problem')}"
        ratio = f" ({record['ratio']:.2f}x)" if "ratio" in record else ""
        return f"{name} {record['ms']:.4g}{ratio}"
    print(f"{row['program']}: {row['case']}: ms "
          + "  ".join(text(*item) for item in row["ways"].items())
          + f"  error {row['ways']['kron'].get('error', float('nan')):.1e}"
          + (f"  PROBLEM: {row['problem']}" if "problem" in row else ""), flush=True)


def print_profile(way, place):
    """Operations of some steps, by the time that they take themselves."""
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * place.is_cuda
    with way.context(), profile(activities=activities) as record:
        for _ in range(5):
            way.step()
        place.synchronize()
    for key in ("self_cpu_time_total",) + ("self_device_time_total",) * place.is_cuda:
        print(record.key_averages().table(sort_by=key, row_limit=16,
                                          max_name_column_width=50), flush=True)


def run(options):
    import torch

    import kron
    import program_timing

    warnings.simplefilter("ignore")  # GPyTorch's own
    # f32 is f32: by default convolutions on a GPU round to TF32.
    torch.backends.cudnn.allow_tf32 = False
    torch.set_num_threads(options.threads)
    kron.set_num_threads(options.threads)
    if options.target == "cuda" and not torch.cuda.is_available():
        sys.exit("programs.py: expects a GPU that PyTorch can use for --target cuda")
    place = program_timing.Place(options.target, options.seed, options.quick)
    found = list(cases(place, options.set))
    chosen = [case for case in found if is_wanted(case, options.only)]
    if not chosen:
        sys.exit(f"programs.py: expects --only to match one of the programs "
                 f"{', '.join(dict.fromkeys(case.program for case in found))}, but got "
                 f"{', '.join(options.only)}")
    if options.list:
        print("\n".join(f"{case.program}/{case.name}" for case in chosen))
        return 0
    about = {"name": options.set, "target": options.target,
             "date": datetime.datetime.now().isoformat(timespec="minutes"),
             "commit": commit(), "seed": options.seed, "threads": options.threads,
             "quick": options.quick, "seconds": options.seconds,
             "command": command(options),
             "machine": machine(options.target)}
    results = Results(options.out, about, [(case.program, case.name) for case in found])
    place.warm_up()
    failed = 0
    for case in chosen:
        measurement = program_timing.Measurement(case, place, options.seconds,
                                                 options.rounds)
        row = measurement.row()
        failed += "problem" in row
        results.add(row)
        show(row)
        if options.profile and "kron" in measurement.ways:
            print_profile(measurement.ways["kron"], place)
        del measurement
        place.release()
    print(f"wrote {options.out}: {len(chosen)} cases, {failed} with a problem of kron")
    return 1 if failed else 0


def main():
    options = parse_arguments()
    # Every run compiles what it needs: first steps do not depend on earlier runs.
    with tempfile.TemporaryDirectory(prefix="kron-programs-") as folder:
        os.environ["KRON_CACHE_DIR"] = os.path.join(folder, "cache")
        os.environ["KRON_NUM_THREADS"] = str(options.threads)
        return run(options)


if __name__ == "__main__":
    sys.exit(main())
