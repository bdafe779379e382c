"""Runs compiled cases in a process of their own, so that a crash costs one case.

Reads one JSON object from standard input, writes a line of JSON before and after
each case.

SPDX-License-Identifier: MIT
"""

import json
import sys

import numpy as np

import cases
from buffers import Buffer
from compare import check_arrays
from runtime import Runtime
from kronlib import make_array


def run_case(runtime, module, case, threads):
    """What is wrong with the case, or None."""
    rng = np.random.default_rng([case.index, threads])
    values = case.data()
    buffers, arrays = {}, []
    for arg in case.call_order():
        on_line = "streamed" in case.tags and threads == 1
        buffer = Buffer(arg.element, arg.shape, arg.strides, rng, on_line)
        buffer.fill(values[arg.name])
        buffers[arg.name] = buffer
        arrays.append(make_array(buffer.address, arg.element.code, arg.shape, arg.strides))
    status, message = runtime.launch(runtime.kernel(module, case.name), arrays, threads)
    if status != "KRON_SUCCESS":
        return f"{status}: {message}"
    return check_arrays(case, buffers, values)


def main():
    job = json.load(sys.stdin)
    runtime = Runtime(job["runtime"])
    module = runtime.load(job["module"])
    for index in job["cases"]:
        print(json.dumps({"start": index}), flush=True)
        case = cases.make(job["seed"], index)
        error = None
        for threads in job["threads"]:
            error = run_case(runtime, module, case, threads)
            if error:
                error = f"{threads} threads: {error}"
                break
        print(json.dumps({"done": index, "error": error}), flush=True)


if __name__ == "__main__":
    main()
