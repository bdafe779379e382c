# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Processes that run the cases of distributed_cases.py together, over gloo.

One group of processes for each number of ranks runs all of its cases: starting them takes
longer than most cases. A server that has imported PyTorch forks them.
"""

import datetime
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile
import traceback

#: Of the process group: what a rank waits for others at most.
TIMEOUT = datetime.timedelta(seconds=60)
#: Of all cases of a group.
LIMIT_S = 600

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["torch.distributed.tensor", "torch.distributed.fsdp",
                                 "kron.distributed"])


def initialise(rank, world, folder, timeout=TIMEOUT):
    """One thread, and a process group whose store is a file."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    import torch.distributed as dist

    import kron

    torch.set_num_threads(1)
    kron.set_num_threads(1)
    device = os.environ.get("KRON_TEST_DEVICE", "cpu")
    if device == "cuda":
        torch.cuda.set_device(rank % torch.cuda.device_count())
        # Several ranks on one GPU pass for machines of their own.
        if torch.cuda.device_count() < world:
            os.environ["NCCL_HOSTID"] = f"rank{rank}"
            for name, value in (("NCCL_SOCKET_IFNAME", "lo"), ("NCCL_IB_DISABLE", "1"),
                                ("NCCL_NVLS_ENABLE", "0")):
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


def stop(processes, limit_s):
    """Waits for all processes, and ends those that take longer."""
    import time

    end = time.monotonic() + limit_s
    for process in processes:
        process.join(max(0, end - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def run(world, names):
    """Runs cases on `world` ranks. Returns the name of each -> what failed, or None."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        stop(start(world, _work, folder, names), LIMIT_S)
        results = {}
        for rank in range(world):
            path = folder / f"rank{rank}.jsonl"
            lines = path.read_text().splitlines() if path.exists() else []
            found = dict(map(json.loads, lines))
            for name in names:
                message = found.get(name, "did not run: an earlier case has failed")
                if message is not None:
                    results[name] = results.get(name, "") + f"rank {rank}: {message}\n"
        return {name: results.get(name) for name in names}
