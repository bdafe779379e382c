"""The record of a run of the GPU suite, as docs/benchmarks/results/gpu_suite.json holds
one: counts and failures, with date, commit, command and machine.

SPDX-License-Identifier: MIT
"""

import collections
import datetime
import json
import shlex
import sys
import time

import numpy as np

from bench_results import commit
from kronlib import Cuda


def command():
    """As one would type it, without what only says where files are."""
    arguments, skip = [], False
    for argument in sys.argv[1:]:
        path = argument in ("--root", "--json")
        if not skip and not path:
            arguments.append(argument)
        skip = path
    return shlex.join(["kron/run-gpu-tests.sh", *arguments])


def content(suite):
    times = np.sort(suite.compile_times or [0.0])
    coverage = collections.defaultdict(dict)
    for (op, name, tag), count in sorted(suite.coverage.items()):
        if tag == "all":
            coverage[op][name] = count
    failures = [{"case": index, "variant": variant, "message": message.splitlines()[0]}
                for (index, variant), message in sorted(suite.failures.items())]
    return {"command": command(), "date": datetime.datetime.now().isoformat(timespec="minutes"),
            "commit": commit(), "machine": Cuda(suite.options.device).machine(),
            "seed": suite.options.seed, "processes": suite.options.jobs,
            "seconds": round(time.monotonic() - suite.begin), "passed": suite.passed,
            "failed": sum(v["failed"] for v in suite.variants), "variants": suite.variants,
            "compile_ms": {"median": float(np.median(times)), "most": float(times[-1]),
                           "p99": float(times[int(len(times) * .99)])},
            "coverage": coverage, "failures": failures}


def write(suite):
    """To the file that was asked for, if any; after every part of the run."""
    if suite.options.json:
        suite.options.json.write_text(json.dumps(content(suite), indent=1) + "\n")
