"""Writes down how each GPU benchmark case is computed: its fused regions, with the
kernel, the contracted axes and the bytes of each.

usage: plans.py [--build BUILD] [--chip sm_90a]

Needs `kron-opt` and NumPy, no GPU. The tables of docs/Performance.md show the plans; run
this at the commit that was measured.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools/kron-bench"))
sys.dont_write_bytecode = True

from bench_cases import SIZES  # noqa: E402
from bench_files import read  # noqa: E402
from bench_results import commit  # noqa: E402

TYPE = r"memref<([0-9x]+)x(?:complex<)?\w+>?(?:, strided<[^>]*>)?"
LOOP = re.compile(r"scf\.for \S+ = %c(\d+)\S* to %c(\d+)\S* step %c(\d+)")


def fused_regions(case, kron_opt, chip):
    """(text, how often it runs) of each kron.fused of a case, when everything is decided. Of
    branches, those for row-major arrays come first: the others are left out."""
    done = subprocess.run(
        [kron_opt, f"--kron-gpu-pipeline=chip={chip}",
         "--mlir-print-ir-after=kron-plan", "-o", os.devnull],
        input=case.mlir(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"plans.py: {case.name}: {done.stderr[:500]}")
    found, blocks, inside = [], [], None
    for line in done.stderr.splitlines():
        text = line.lstrip()
        indent = len(line) - len(text)
        if text.startswith("}"):
            if inside == indent:
                inside = None
            blocks = [block for block in blocks if block[0] < indent]
            if text.startswith("} else {"):
                blocks.append((indent, 0))
        elif loop := LOOP.match(text):
            begin, end, step = map(int, loop.groups())
            blocks.append((indent, (end - begin) // step))
        elif text.startswith("kron.fused ins("):
            inside = indent
            found.append([text, math.prod(times for _, times in blocks)])
        elif inside is not None:
            found[-1][0] += text
    return [(text, times) for text, times in found if times]


def elements(text):
    """How many the first memref of a text has."""
    return math.prod(map(int, re.search(TYPE, text)[1].split("x")))


def plan(case, kron_opt, chip):
    """[{kernel, axes, bytes}] of each fused region."""
    regions = []
    for text, times in fused_regions(case, kron_opt, chip):
        # Of a dispatch, the first kernel of our own.
        kernels = [name for name in re.findall(r"<kernel = (\w+)", text) if name != "cublas"]
        outs = text[text.index(" outs("):]
        moved = elements(text[text.index(" : "):]) + elements(outs)
        regions.append({"kernel": kernels[0] if kernels else "simt",
                      "axes": len(re.findall(r"axis\(\d+\)", text)),
                      "bytes": moved * SIZES[case.type] * times})
    return regions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--chip", default="sm_90a")
    options = parser.parse_args()
    kron_opt = options.build / "bin/kron-opt"
    cases = {case.name: case for path in sorted((HERE / "cases").glob("gpu_*.json"))
             for case in read(path)[1]}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        plans = dict(zip(cases, pool.map(lambda c: plan(c, kron_opt, options.chip),
                                         cases.values())))
    content = {"commit": commit(), "chip": options.chip, "plans": plans}
    path = HERE / "results/gpu_plans.json"
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(regions)}"
                       for name, regions in plans.items())
    head = json.dumps({k: v for k, v in content.items() if k != "plans"})[:-1]
    path.write_text(f'{head}, "plans": {{\n{lines}\n}}}}\n')
    print(f"wrote {path.relative_to(ROOT)}: {len(plans)} cases")


if __name__ == "__main__":
    main()
