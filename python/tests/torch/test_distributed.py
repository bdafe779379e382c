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
import distributed_worker


WORLDS = [int(number) for number in os.environ.get("KRON_TEST_RANKS", "2,3,4,8").split(",")]


@functools.cache
def results(world, names):
    return distributed_worker.run(world, names)


@pytest.mark.parametrize("world, name", [(world, name) for world in WORLDS
                                         for name, case in distributed_cases.CASES.items()
                                         if world in case.worlds])
def test_case(world, name, request):
    chosen = [item.callspec.params for item in request.session.items
              if getattr(item, "originalname", None) == "test_case"
              and item.path == request.node.path]
    names = tuple(params["name"] for params in chosen if params["world"] == world)
    message = results(world, names)[name]
    assert message is None, message


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
    distributed_worker.stop(processes, 120)
    for rank in (0, 2):
        seconds, _, found = (tmp_path / f"rank{rank}").read_text().partition(" ")
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
