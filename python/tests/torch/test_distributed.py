# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Several processes, over gloo, against one. KRON_TEST_DEVICE=cuda runs them over NCCL."""

import functools

import pytest
import torch

if not torch.distributed.is_available():
    pytest.skip("PyTorch without torch.distributed", allow_module_level=True)

import distributed_cases
import distributed_worker


@functools.cache
def results(world, names):
    return distributed_worker.run(world, names)


@pytest.mark.parametrize("world, name", [(world, name) for world in (2, 3, 4, 8)
                                         for name, case in distributed_cases.CASES.items()
                                         if world in case.worlds])
def test_case(world, name, request):
    chosen = [item.callspec.params for item in request.session.items
              if getattr(item, "originalname", None) == "test_case"
              and item.path == request.node.path]
    names = tuple(params["name"] for params in chosen if params["world"] == world)
    message = results(world, names)[name]
    assert message is None, message
