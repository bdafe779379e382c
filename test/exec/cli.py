"""kron-run on NPY files: its --verify, and its output against NumPy.

SPDX-License-Identifier: MIT
"""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import cases
from compare import check
from dtypes import TYPES

PER_COMBINATION = 1


def suitable(case):
    """kron-run takes neither padded arrays nor poisons that make no sense to
    --verify, and command lines hold no complex scalars."""
    scalars = [a for a in case.args if a.role == "scalar"]
    return not (any(a.poisoned and a.role == "in" for a in case.args)
                or any(a.role == "inout" for a in case.args)
                or (case.form == "memref" and case.beta.kind == "operand_zero")
                or any(a.element.is_complex for a in scalars))


def selected(seed):
    """One case of every operation and type, on tensors and memrefs in turn."""
    counts = {(op, t): 0 for op in cases.ALL_OPS for t in TYPES}
    for i, p in enumerate(cases.exhaustive()):
        key = p["op"], p["type"]
        form = ("tensor", "memref")[sum(counts.values()) % 2]
        if counts[key] == PER_COMBINATION or p["form"] != form:
            continue
        case = cases.make(seed, i)
        if suitable(case):
            counts[key] += 1
            yield case


def run_case(suite, case, verify=True):
    """What is wrong, or None. The bounds of --verify are those of one operation."""
    values = case.data()
    source = suite.folder / f"{case.name}-cli.mlir"
    source.write_text(case.mlir())
    result = suite.folder / f"{case.name}-y.npy"
    command = [suite.build / "bin/kron-run", source, *(["--verify"] if verify else [])]
    files = [source, result]
    def has_dtype(arg):
        return arg.element.name in TYPES and arg.element.name != "bf16"

    npy = all(map(has_dtype, case.args))
    for arg in case.call_order():
        if arg.role == "out":
            continue
        if arg.role == "scalar":
            text = f"value:{values[arg.name]}:{arg.element.mlir}"
        elif not has_dtype(arg):
            text = (f"random:{'x'.join(map(str, arg.shape))}:{arg.element.mlir}:"
                    f"{case.index}")
        else:
            files.append(suite.folder / f"{case.name}-{arg.name}.npy")
            np.save(files[-1], values[arg.name])
            text = str(files[-1])
        command += ["--arg", text]
    if npy:
        command += ["--out", result]
    out = next(i for i, a in enumerate(a for a in case.args if a.role == "out"))
    y = case.arg("y")
    command += ["--out-shape", f"{out}:{'x'.join(map(str, y.shape))}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.strip()}"
    if npy:
        problem = check(case, np.load(result), case.expected_of(values))
        if problem:
            return f"{' '.join(map(str, command))}: {problem}"
    for file in files:
        file.unlink(missing_ok=True)
    return None


def run(suite):
    chosen = list(selected(suite.options.seed))
    with ThreadPoolExecutor(suite.options.jobs) as pool:
        problems = list(pool.map(lambda case: run_case(suite, case), chosen))
    failed = [p for p in problems if p]
    for problem in failed:
        print("FAILED kron-run: " + problem)
    print(f"kron-run --verify: {len(chosen)} cases, {len(failed)} failed")
    return len(chosen) - len(failed), len(failed)
