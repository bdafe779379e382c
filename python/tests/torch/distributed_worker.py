# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Processes that run the cases of distributed_cases.py together, over gloo.

One group of processes for each number of ranks runs all of its cases: starting them takes
longer than most cases. A server that has imported PyTorch forks them. What takes too long is
ended, and its error says of each rank where in its program it was.
"""

import datetime
import faulthandler
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import tempfile
import time
import traceback

#: Of the process group: what a rank waits for others at most.
TIMEOUT = datetime.timedelta(seconds=60)
#: Of one case; that of the first one is of starting, too.
LIMIT_S = 150
#: What the others get to say what they see, once a rank has failed.
GRACE_S = 5

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["torch.distributed.tensor", "torch.distributed.fsdp",
                                 "kron.distributed"])


def initialise(rank, world, folder, timeout=TIMEOUT):
    """One thread, and a process group whose store is a file."""
    # Kept open as long as the process lives.
    faulthandler.register(signal.SIGUSR1, file=open(folder / f"rank{rank}.stack", "w"))
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    import torch.distributed as dist

    import kron

    torch.set_num_threads(1)
    kron.set_num_threads(1)
    device = os.environ.get("KRON_TEST_DEVICE", "cpu")
    if device == "cuda":
        torch.cuda.set_device(rank % torch.cuda.device_count())
        # All are on one host, whatever networks it has.
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
        # Several ranks on one GPU pass for machines of their own.
        if torch.cuda.device_count() < world:
            os.environ["NCCL_HOSTID"] = f"rank{rank}"
            for name, value in (("NCCL_IB_DISABLE", "1"), ("NCCL_NVLS_ENABLE", "0")):
                os.environ.setdefault(name, value)
    dist.init_process_group("nccl" if device == "cuda" else "gloo", rank=rank, world_size=world,
                            init_method=f"file://{folder}/store", timeout=timeout)
    return device


def _work(rank, world, folder, names):
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    device = initialise(rank, world, folder)
    import torch
    import torch.distributed as dist

    import distributed_cases

    with open(folder / f"rank{rank}.jsonl", "w") as report:
        for name in names:
            torch.manual_seed(20240229)
            message = None
            try:
                distributed_cases.CASES[name].run(distributed_cases.Context(rank, world, device))
            except BaseException:
                message = traceback.format_exc()
            print(json.dumps([name, message]), file=report, flush=True)
            if message is not None:
                # Others may wait for this rank in the middle of a case.
                break
    if message is None:
        dist.destroy_process_group()
    os._exit(0)


def start(world, target, *arguments):
    """Processes that run target(rank, world, *arguments)."""
    processes = [_context.Process(target=target, args=(rank, world, *arguments))
                 for rank in range(world)]
    for process in processes:
        process.start()
    return processes


def _end(process, rank, folder):
    """Ends a process that has called `initialise`. Returns where it was, or how it has ended."""
    if process.is_alive() and (folder / f"rank{rank}.stack").exists():
        os.kill(process.pid, signal.SIGUSR1)
        process.join(1)
    if not process.is_alive():
        code = process.exitcode
        by = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"has ended {by}"
    process.kill()
    process.join()
    path = folder / f"rank{rank}.stack"
    stack = path.read_text() if path.exists() else ""
    # Of the thread that runs Python, with what was called last at the top.
    _, _, own = stack.partition("Current thread")
    return "waits here:\n" + (own.partition("\n\n")[0] or "before its process group is made")


def stop(processes, folder, limit_s):
    """Waits for all processes. An AssertionError names those that take longer, and where they
    were; they are ended."""
    end = time.monotonic() + limit_s
    for process in processes:
        process.join(max(0, end - time.monotonic()))
    late = [f"rank {rank}, after {limit_s} s, {_end(process, rank, folder)}"
            for rank, process in enumerate(processes) if process.is_alive()]
    assert not late, "\n".join(late)


class Group:
    """Ranks that run cases one after the other."""

    def __init__(self, world, names):
        self._folder = tempfile.TemporaryDirectory()
        self._path = pathlib.Path(self._folder.name)
        #: Whether cases that were not waited for can still be.
        self.is_running = True
        self._processes = start(world, _work, self._path, names)

    def _reports(self):
        """Of each rank: name of each case that has ended -> what failed, or None."""
        reports = []
        for rank in range(len(self._processes)):
            path = self._path / f"rank{rank}.jsonl"
            lines = path.read_text().split("\n")[:-1] if path.exists() else []
            reports.append(dict(map(json.loads, lines)))
        return reports

    def wait(self, name, limit_s=LIMIT_S):
        """What failed in a case, or None; cases are waited for in their order."""
        end = time.monotonic() + limit_s
        reason = f"after {limit_s} s"
        while True:
            # Who has ended has written all before.
            ended = [not process.is_alive() for process in self._processes]
            reports = self._reports()
            missing = [rank for rank, report in enumerate(reports) if name not in report]
            if not missing or time.monotonic() >= end:
                break
            if any(report.get(name) for report in reports) or any(ended[r] for r in missing):
                end = min(end, time.monotonic() + GRACE_S)
                reason = "when another rank had failed or ended"
            time.sleep(0.01)
        found = [f"rank {rank}: {report[name]}" for rank, report in enumerate(reports)
                 if report.get(name)]
        if not found and not missing:
            return None
        found += [f"rank {rank}, in or before case {name}, {reason}, "
                  f"{_end(self._processes[rank], rank, self._path)}" for rank in missing]
        self.close()
        return "\n".join(found)

    def close(self):
        for process in self._processes:
            process.kill()
            process.join()
        self.is_running = False
        self._folder.cleanup()
