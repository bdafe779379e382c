#!/usr/bin/env python3
"""Random shapes: how fast is kron on what nobody listed?

usage: random_shapes.py [--family NAME]... [--target cpu|cuda] [--seed S]... [--count N] [options]
       random_shapes.py --add-plans FILE

Draws cases (draw.py states the distributions), times them with tools/kron-bench beside every
other implementation that this Python has, and reports for each family and kind of type: the
geometric mean over the best of the others, the share of cases that are slower than 0.95x of it,
the worst five with their plans, shares of the floor (of arrays of 16 MB and more), compile times.
The seed is today's date unless given; with several, each has a summary of its own. Nothing of a
measured case is left out: those that fail are counted.

Plans need `kron-opt`; where a result comes from a machine without it, --add-plans fills them in.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tools/kron-bench")]
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402

import draw  # noqa: E402
from bench_cases import Case  # noqa: E402
from bench_peers import NAMES  # noqa: E402

LEFT = 75  # exit status of kron-bench when a case has spoilt its process
SLOWER, LARGE_BYTES, WORST = 0.95, 16e6, 5
GROUPS = {"f32": "f32", "f64": "f64", "f16": "16-bit", "bf16": "16-bit", "c64": "complex"}
PIPELINES = {"cpu": "--kron-cpu-pipeline", "cuda": "--kron-gpu-pipeline=chip={chip}"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--family", action="append", choices=draw.FAMILIES,
                        help="may be repeated (default: all)")
    parser.add_argument("--target", default="cpu", choices=list(PIPELINES))
    parser.add_argument("--seed", type=int, action="append",
                        help="may be repeated (default: today's date)")
    parser.add_argument("--count", type=int, default=100, help="cases per family and seed")
    parser.add_argument("--bytes", type=float, nargs=2, metavar=("LEAST", "MOST"),
                        help="of input and output together (default: 1e6 to 2e9 on a GPU, to 1e8 "
                        "on a CPU)")
    parser.add_argument("--threads", type=int, default=1, help="of the CPU")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT / "build",
                        help="build folder or unpacked bundle")
    parser.add_argument("--chip", default="sm_90a", help="whose plans to print")
    parser.add_argument("--json", type=pathlib.Path, help="where to write the result")
    parser.add_argument("--rows", type=pathlib.Path, help="where to keep kron-bench's own results")
    parser.add_argument("--add-plans", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    if options.count < 1:
        parser.error(f"expects --count to be at least 1, but got {options.count}")
    options.bytes = options.bytes or [1e6, 2e9 if options.target == "cuda" else 1e8]
    if not 1 <= options.bytes[0] <= options.bytes[1]:
        parser.error(f"expects --bytes to be 1 <= LEAST <= MOST, but got {options.bytes}")
    options.family = options.family or list(draw.FAMILIES)
    options.seed = options.seed or [int(datetime.date.today().strftime("%Y%m%d"))]
    return options


#===------------------------------------------------------------------------===#
# Measuring
#===------------------------------------------------------------------------===#


def cases_of(family, seed, count, limits):
    """Fields of the cases, each name once."""
    rng = np.random.default_rng([seed, draw.FAMILIES.index(family)])
    found = {}
    while len(found) < count:
        fields = draw.case(rng, family, limits)
        found.setdefault(Case(fields).name, fields)
    return list(found.values())


def measure(cases, title, options, folder):
    """kron-bench's result of the cases."""
    folder.mkdir(parents=True, exist_ok=True)
    path, result = folder / "cases.json", folder / "result.json"
    path.write_text(json.dumps({"title": title, "cases": cases}))
    result.unlink(missing_ok=True)
    command = [sys.executable, str(ROOT / "tools/kron-bench/kron-bench"), str(path), "--root",
               str(options.root), "--target", options.target, "--peer", "all", "--samples",
               str(options.samples), "--json", str(result)]
    if options.target == "cpu":
        command += ["--threads", str(options.threads)]
    status = subprocess.run(command).returncode
    while status == LEFT:
        status = subprocess.run([*command, "--resume"]).returncode
    if not result.exists():
        raise SystemExit(f"random_shapes.py: kron-bench ended with {status} and no result")
    return json.loads(result.read_text())


#===------------------------------------------------------------------------===#
# Reporting
#===------------------------------------------------------------------------===#


def best_peer(row):
    """(name, its time over kron's) of the fastest other implementation, or None."""
    found = [(name, row[f"{name}_ratio"]) for name in NAMES if f"{name}_ratio" in row]
    return min(found, key=lambda item: item[1], default=None)


def quantile(values, share):
    return float(np.quantile(values, share)) if values else None


def summary(rows):
    """What is reported of some rows."""
    done = [row for row in rows if "ms" in row]
    peers = [(row, best_peer(row)) for row in done]
    peers = [(row, *peer) for row, peer in peers if peer]
    ratios = [ratio for *_, ratio in peers]
    shares = [row["of_floor"] for row in done if row["bytes"] >= LARGE_BYTES]
    compiled = [row["compile_ms"] + row["first_launch_ms"] for row in done]
    worst = sorted(peers, key=lambda item: item[2])[:WORST]
    return {
        "cases": len(rows), "failed": len(rows) - len(done), "with_peer": len(peers),
        "geometric_mean": math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None,
        "slower": sum(ratio < SLOWER for ratio in ratios),
        "large": len(shares), "floor_median": quantile(shares, .5), "floor_low": quantile(shares, .1),
        "compile_median": quantile(compiled, .5), "compile_high": quantile(compiled, .99),
        "compile_worst": max(compiled, default=None),
        "worst": [{"case": row["case"], "peer": name, "ratio": ratio, "ms": row["ms"],
                   "of_floor": row["of_floor"]} for row, name, ratio in worst],
        "problems": [{"case": row["case"], "problem": row["problem"]} for row in rows
                     if "problem" in row],
        "ratios": sorted(round(ratio, 3) for ratio in ratios),
        "shares": sorted(round(share, 3) for share in shares)}


def groups(rows):
    """{kind of type: rows}, of all that there are."""
    found = {}
    for row in rows:
        found.setdefault(GROUPS[row["case"].split()[1]], []).append(row)
    return found


def print_summary(name, part):
    def text(value, form):
        return "-" if value is None else format(value, form)

    print(f"{name:18} {part['cases']:4} cases, {part['failed']} failed: "
          f"{text(part['geometric_mean'], '.2f')}x the best other, {part['slower']} of "
          f"{part['with_peer']} slower; floor {text(part['floor_median'], '.0%')}, a tenth below "
          f"{text(part['floor_low'], '.0%')} ({part['large']} cases); compile and load "
          f"{text(part['compile_median'], '.0f')} ms, 99 % "
          f"{text(part['compile_high'], '.0f')} ms, worst {text(part['compile_worst'], '.0f')} ms")
    for row in part["worst"]:
        print(f"    {row['ratio']:.2f}x of {row['peer']}: {row['case']}, {row['ms']:.4f} ms, "
              f"{row['of_floor']:.0%} of the floor")
    for row in part["problems"]:
        print(f"    FAILED: {row['case']}: {row['problem']}")


#===------------------------------------------------------------------------===#
# Plans
#===------------------------------------------------------------------------===#


def plan_of(fields, target, options):
    """The plans of a case's kernels, as they are printed."""
    done = subprocess.run(
        [options.root / "bin/kron-opt", PIPELINES[target].format(chip=options.chip),
         "--mlir-print-ir-after=kron-plan", "-o", "/dev/null"],
        input=Case(fields).mlir(), capture_output=True, text=True)
    if done.returncode:
        return "none: " + (done.stderr.strip().splitlines() or [""])[0][:200]
    # Of a dispatch, all that may be launched.
    found = re.findall(r"<((?:kernel|vector_bits) = [^>]*)>", done.stderr)
    return "; ".join(dict.fromkeys(found)) or "default"


def add_plans(result, options):
    """Plans of the worst cases, whose seeds give their fields."""
    for family, seeds in result["families"].items():
        for seed, parts in seeds.items():
            fields = {Case(c).name: c for c in cases_of(family, int(seed), result["count"],
                                                        result["bytes"])}
            for part in parts.values():
                for row in part["worst"]:
                    row["plan"] = plan_of(fields[row["case"]], result["target"], options)


def write(path, result):
    path.write_text(json.dumps(result, indent=1) + "\n")


def main():
    options = parse_arguments()
    if options.add_plans:
        result = json.loads(options.add_plans.read_text())
        add_plans(result, options)
        write(options.add_plans, result)
        return
    # Without the place of the result, which is a path of that machine.
    arguments = re.sub(r" ?--json[ =]\S+", "", " ".join(sys.argv[1:]))
    result = {"title": "Random shapes",
              "command": f"docs/benchmarks/random_shapes.py {arguments}", "target": options.target,
        "count": options.count, "bytes": options.bytes, "families": {}}
    for family in options.family:
        for seed in options.seed:
            with tempfile.TemporaryDirectory() as folder:
                title = f"{family}, {options.count} random shapes of seed {seed}"
                measured = measure(cases_of(family, seed, options.count, options.bytes), title,
                                   options, options.rows or pathlib.Path(folder))
            result |= {key: measured[key] for key in ("date", "commit", "machine", "samples")}
            parts = {"all": summary(measured["rows"])}
            by_type = groups(measured["rows"])
            parts |= {name: summary(by_type[name]) for name in sorted(by_type)}
            result["families"].setdefault(family, {})[str(seed)] = parts
            for name, part in parts.items():
                print_summary(f"{family} {name}", part)
            if options.json:
                write(options.json, result)
    if (options.root / "bin/kron-opt").exists() and options.json:
        add_plans(result, options)
        write(options.json, result)


if __name__ == "__main__":
    main()
