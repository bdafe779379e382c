"""Which parts of the CPU code generator a case reaches.

`kron-opt` compiles a batch once more, without LLVM's part; its remarks say how every step
is mapped and what is packed, joined or copied, the LLVM dialect that comes out shows
masks, streaming stores, prefetches and calls of the thread pool.

SPDX-License-Identifier: MIT
"""

import re
import subprocess

PIPELINE_OPTIONS = {"x86-64-v2": "vector-bits=128", "x86-64-v3": "vector-bits=256",
                    "x86-64-v4": "vector-bits=512",
                    "x86-64-v4-amx": "vector-bits=512 matrix-tiles"}
# Every run over all cases has to reach all of these.
REQUIRED = ("inner", "varying", "fibre", "k", "repeat", "packed factor", "joined factors",
            "copied in", "copied out", "rows outside", "packed by tiles", "scaled", "masks",
            "streaming stores", "staged segments", "threads", "no kron.fused", "factor panels",
            "input panels", "packed broadcasts", "segments", "pairs along p", "lanes inside")
# The same where vectors have 512 bits.
REQUIRED_WIDE = ("remainder groups", "sharing rows")
REMARK = re.compile(r":(\d+):\d+: remark: \[\w+\] (Step|Fused) .*?Category:kron-emit \| (.*)")
FLAGS = {"Packed": "packed factor", "Joined": "joined factors", "CopiesIn": "copied in",
         "CopiesOut": "copied out", "RowsOutside": "rows outside",
         "PacksInBody": "packed by tiles", "Pairs": "pairs of bf16", "Scaled": "scaled",
         "StagedSegments": "staged segments", "FactorPanels": "factor panels",
         "InputPanels": "input panels", "PackedBroadcasts": "packed broadcasts",
         "Remainder": "remainder groups", "SharingRows": "sharing rows", "Segments": "segments",
         "AlongAxis": "along an axis", "PackedSegments": "packed segments",
         "ReadsPairs": "pairs along p", "LanesInside": "lanes inside"}
IN_CODE = {"masks": "llvm.intr.masked", "streaming stores": "nontemporal",
           "prefetches": "llvm.intr.prefetch"}
FUNCTION = re.compile(r"^  llvm\.func .*?@\"?case(\d+)([\w.]*)", re.M)


def required(isa):
    """The paths that a run for `isa` has to reach."""
    return REQUIRED + (REQUIRED_WIDE if "512" in PIPELINE_OPTIONS[isa] else ())


def of_remarks(errors, first_lines):
    """{case: paths} from remarks; `first_lines` has the first line of every case."""
    found = {}
    for line, kind, fields in REMARK.findall(errors):
        case = max((first, i) for i, first in first_lines.items() if first <= int(line))[1]
        values = dict(field.split("=") for field in fields.split(", "))
        paths = found.setdefault(case, set())
        if kind == "Step":
            paths.add(values["Mapping"])
        paths |= {name for key, name in FLAGS.items() if values.get(key, "0") not in ("0", "false")}
    return found


def of_code(text):
    """{case: paths} from the functions of the LLVM dialect."""
    found, starts = {}, list(FUNCTION.finditer(text))
    for match, after in zip(starts, [*starts[1:], None]):
        body = text[match.start():after.start() if after else len(text)]
        paths = {name for name, mark in IN_CODE.items() if mark in body}
        if "@kronRtParallelFor" in body:
            paths.add("threads")
        found.setdefault(int(match[1]), set()).update(paths)
    return found


def of_batch(kron_opt, texts, machine):
    """{case: paths} of the cases whose MLIR `texts` holds."""
    lines, first_lines = 1, {}
    for index, text in texts.items():
        first_lines[index] = lines
        lines += text.count("\n") + 1
    done = subprocess.run(
        [kron_opt, "-", f"--kron-cpu-pipeline={machine}",
         "--remarks-filter=kron-emit"], input="\n".join(texts.values()),
        capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"kron-opt: {done.stderr[:300]}")
    remarks, code = of_remarks(done.stderr, first_lines), of_code(done.stdout)
    return {index: (remarks.get(index) or {"no kron.fused"}) | code.get(index, set())
            for index in texts}
