"""Compiles cases for the GPU and runs them, in a process of their own.

Reads one JSON object from standard input, writes a line of JSON before and after
each case. An error of the driver may leave the context unusable, so the process ends
with it and costs one case.

Every case is launched twice, and its results have to be the same bit for bit. With
"poison" among the job's keys, kernels fill their shared memory with NaN first; results
then have to be what they are without, for which a digest of them stands in the answer.

SPDX-License-Identifier: MIT
"""

import hashlib
import json
import sys

import selection

import numpy as np

from compare import check_arrays
from device import DeviceBuffer, DeviceWorkspace, pass_arguments
from kronlib import CUDA, Call, Cuda, Kron, KronError


def digest(buffers):
    """A name for the bits of arrays that were written; all NaN are one."""
    total = hashlib.sha256()
    for buffer in buffers:
        values = np.array(buffer.view, order="C", ndmin=1)
        if values.dtype.kind in "fc":
            parts = values.view(values.real.dtype)
            parts[np.isnan(parts)] = np.nan
        elif buffer.element.name == "bf16":
            values[values & 0x7FFF > 0x7F80] = 0x7FC0
        total.update(values.tobytes())
    return total.hexdigest()


class Worker:
    def __init__(self, job):
        self.job = job
        self.cuda = Cuda(job["device"])
        self.kron = Kron(job["root"])
        self.stream = self.cuda.stream()
        self.milliseconds = 0.0

    def run(self, index):
        """(what is wrong with the case or None, the digest of its results)."""
        case = selection.make(self.job["seed"], index)
        try:
            program = self.kron.compile(case.mlir(), self.job["chips"],
                                        poison=self.job.get("poison", False))
        except KronError as error:
            lines = [l for l in error.message.splitlines() if "error" in l]
            return f"does not compile: {(lines or [error.message])[0]}", None
        self.milliseconds += sum(program.times().values())
        values = case.data()
        rng = np.random.default_rng([index, 3])
        # The scalars live as long as the call.
        buffers, arrays, _scalars = pass_arguments(
            case, values, lambda arg: DeviceBuffer(self.cuda, arg.element, arg.shape, arg.strides, rng))
        stream = self.stream if rng.random() < 0.5 else None
        call = Call(program, case.name, arrays, CUDA, self.job["device"], stream)
        try:
            workspace = self.workspace(call, rng)
            digests = []
            for _ in range(2):
                for name, buffer in buffers.items():
                    buffer.fill(values[name])
                # A stream of its own does not wait for what filled the memory.
                self.cuda.synchronize()
                call.launch()
                self.cuda.synchronize()
                error = self.judge(case, values, buffers, workspace)
                if error:
                    return error, None
                digests.append(digest(buffers[arg.name] for arg in case.args
                                      if arg.role in ("out", "inout")))
        except KronError as error:
            return str(error), None
        if digests[0] != digests[1]:
            return "two launches give different bits", None
        return None, digests[0]

    def workspace(self, call, rng):
        """One of exactly the size asked for, or nothing: the runtime's."""
        if rng.random() < 0.5:
            return None
        size = call.workspace_size()
        workspace = DeviceWorkspace(self.cuda, size)
        if size:
            call.use_workspace(workspace.address, size)
        return workspace

    def judge(self, case, values, buffers, workspace):
        if workspace and workspace.damage():
            return workspace.damage()
        for buffer in buffers.values():
            buffer.fetch()
        return check_arrays(case, buffers, values)


def main():
    job = json.load(sys.stdin)
    worker = Worker(job)
    for index in job["cases"]:
        print(json.dumps({"start": index}), flush=True)
        before = worker.milliseconds
        error, found = worker.run(index)
        print(json.dumps({"done": index, "error": error, "digest": found,
                          "compile_ms": worker.milliseconds - before}), flush=True)


if __name__ == "__main__":
    main()
