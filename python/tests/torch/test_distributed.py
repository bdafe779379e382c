# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Several processes, over gloo, against one. KRON_TEST_DEVICE=cuda runs them over NCCL, and
KRON_TEST_RANKS=2,4 with these numbers of processes only."""

import datetime
import functools
import os
import pathlib
import subprocess
import sys
import time

import pytest
import torch

if not torch.distributed.is_available():
    pytest.skip("PyTorch without torch.distributed", allow_module_level=True)

import distributed_cases
import distributed_support
import distributed_worker


WORLDS = [int(number) for number in os.environ.get("KRON_TEST_RANKS", "2,3,4,8").split(",")]


@pytest.fixture(scope="module")
def groups():
    """number of ranks -> the group of processes that runs cases now"""
    running = {}
    yield running
    for group in running.values():
        group.close()


@pytest.mark.parametrize("world, name", [(world, name) for world in WORLDS
                                         for name, case in distributed_cases.CASES.items()
                                         if world in case.worlds])
def test_case(world, name, groups, request):
    if world not in groups or not groups[world].is_running:
        # The others of the same number of ranks will come in this order.
        chosen = [item.callspec.params for item in request.session.items
                  if getattr(item, "originalname", None) == "test_case"
                  and item.path == request.node.path]
        names = [params["name"] for params in chosen if params["world"] == world]
        groups[world] = distributed_worker.Group(world, names[names.index(name):])
    message = groups[world].wait(name)
    assert message is None, message


def _hangs_or_fails(rank, world, folder, names):
    """As _work, of cases that do what their names say on rank 1."""
    cases = {name: distributed_support.Case(functools.partial(_do, name), ())
             for name in ("nothing", "waits", "raises", "ends")}
    distributed_cases.CASES.update(cases)
    distributed_worker._work(rank, world, folder, names)


def _do(name, context):
    import torch.distributed as dist

    if context.rank == 1 and name == "waits":
        time.sleep(3600)
    if context.rank == 1 and name == "raises":
        raise ValueError("of rank 1")
    if context.rank == 1 and name == "ends":
        os.abort()
    dist.barrier()


@pytest.mark.parametrize("name, limit_s, expected", [
    ("waits", 10, ["rank 0, in or before case waits, after 10 s, waits here:", "in barrier",
                   "rank 1, in or before case waits, after 10 s, waits here:", "in _do"]),
    ("raises", 60, ["rank 1: Traceback", "ValueError: of rank 1", "rank 0"]),
    ("ends", 60, ["rank 1, in or before case ends, when another rank had failed or ended, "
                  "has ended by SIGABRT", "rank 0"]),
])
def test_errors_name_ranks(name, limit_s, expected, monkeypatch):
    """What a test of several processes says where one of them hangs or fails."""
    monkeypatch.setattr(distributed_worker, "_work", _hangs_or_fails)
    group = distributed_worker.Group(2, ["nothing", name, "nothing"])
    assert group.wait("nothing") is None
    assert group.is_running
    message = group.wait(name, limit_s)
    for text in expected:
        assert text in message, message
    assert not group.is_running


TIMEOUT_S = 3


def _fails_behind_one(rank, world, folder):
    """Rank 1 ends after the first of two products; the others say what they see, and when."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    # Else NCCL's watchdog ends the process, instead of an error in it.
    os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"
    device = distributed_worker.initialise(rank, world, folder,
                                           datetime.timedelta(seconds=TIMEOUT_S))
    from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

    import kron.distributed as kd

    mesh = init_device_mesh(device, (world,))
    x = distribute_tensor(torch.ones(1, 6, 6, device=device), mesh, [Shard(1)])
    factors = [torch.ones(6, 6, device=device)] * 2
    kd.mkm(x, factors)
    mode = (folder / "mode").read_text()
    if rank == 1:
        if mode == "stays":
            time.sleep(2 * TIMEOUT_S)
        os._exit(0)
    begin = time.monotonic()
    try:
        kd.mkm(x, factors).full_tensor()
        found = "nothing"
    except RuntimeError as error:
        found = f"RuntimeError: {error}"
    (folder / f"rank{rank}").write_text(f"{time.monotonic() - begin} {found}")
    os._exit(0)


@pytest.mark.parametrize("mode", ["ends", "stays"])
def test_failed_rank(mode, tmp_path):
    """One that has ended, or does not come: an error on all others within the timeout."""
    (tmp_path / "mode").write_text(mode)
    processes = distributed_worker.start(3, _fails_behind_one, tmp_path)
    distributed_worker.stop(processes, tmp_path, 120)
    for rank in (0, 2):
        report = tmp_path / f"rank{rank}"
        assert report.exists(), f"rank {rank} has ended before its second product"
        seconds, _, found = report.read_text().partition(" ")
        assert found.startswith("RuntimeError"), found
        # A wait of each step that ranks do together, on a machine that has other work.
        assert float(seconds) < 20 * TIMEOUT_S


def test_model():
    """The model agrees with what was measured, and its tables are those of the page."""
    docs = pathlib.Path(__file__).resolve().parents[3] / "docs"
    if not (docs / "Distributed.md").exists():
        pytest.skip("there is no documentation here")
    script = docs / "benchmarks/distributed_model.py"
    subprocess.run([sys.executable, script, "--check"], check=True)
    text = subprocess.run([sys.executable, script], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    page = (docs / "Distributed.md").read_text()
    for table in text.strip().split("\n\n"):
        assert table in page


@pytest.mark.parametrize("code, absent", [
    ("import kron", "torch"),
    ("import torch, kron.torch; x = torch.ones(2, 4, requires_grad=True);"
     "torch.ops.kron.mkm(x, [torch.ones(4, 4)])", "torch.distributed.tensor"),
    ("import kron.distributed", "torch._dynamo"),
])
def test_imports(code, absent):
    """What a program does not use is not loaded."""
    code += f"; import sys; assert {absent!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
