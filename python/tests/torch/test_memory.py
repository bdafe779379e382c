# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Memory of results that is used again."""

import os
import subprocess
import sys
import threading

import pytest
import torch

import kron

ROWS = 4096
FACTORS = [torch.eye(8), torch.eye(16)]


def product(rows=ROWS, dtype=torch.float32):
    x = torch.arange(rows * 128).remainder(97).reshape(rows, 128).to(dtype)
    return x, kron.mkm(x, [f.to(dtype) for f in FACTORS])


@pytest.fixture(autouse=True)
def empty_pool():
    kron.release_memory()
    yield
    kron.release_memory()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16,
                                   torch.int32, torch.int64, torch.complex64, torch.complex128],
                         ids=str)
def test_results_are_ordinary_tensors(dtype):
    x, y = product(ROWS, dtype)
    assert type(y) is torch.Tensor and y.dtype == dtype and y.is_contiguous()
    assert y.data_ptr() % 64 == 0 and torch.equal(x, y)
    y += 1
    assert torch.equal(x + 1, y) and torch.equal(y.clone(), y)


def test_memory_is_used_again_only_when_nobody_has_it():
    _, y = product()
    address, row = y.data_ptr(), y[3]
    del y
    _, other = product()
    assert other.data_ptr() != address and row.data_ptr() == address + 3 * 512
    del row
    assert product()[1].data_ptr() == address


def test_other_sizes_do_not_share():
    _, y = product()
    address = y.data_ptr()
    del y
    _, larger = product(2 * ROWS)
    _, smaller = product(ROWS // 2 + 64)
    assert address not in (larger.data_ptr(), smaller.data_ptr())


def test_release():
    assert kron.release_memory() == 0
    _, y = product()
    assert kron.release_memory() == 0
    size = y.nbytes
    del y
    assert size <= kron.release_memory() <= 1.5 * size + 2**21
    # Small results are not the pool's.
    product(16)
    assert kron.release_memory() == 0


def test_gradients():
    x = torch.randn(ROWS, 128, requires_grad=True)
    factors = [f.clone().requires_grad_() for f in FACTORS]
    for _ in range(3):
        x.grad = None
        (kron.mkm(x, factors) ** 2).sum().backward()
        torch.testing.assert_close(x.grad, 2 * x)
    graph = kron.mkm(x, factors)
    assert graph.requires_grad and graph.grad_fn is not None


def test_threads():
    failures = []

    def work(seed):
        x = torch.full((ROWS, 128), float(seed))
        kept = [kron.mkm(x, FACTORS) for _ in range(3)]
        for i in range(30):
            kept[i % 3] = kron.mkm(x, FACTORS)
            if not all(torch.equal(y, x) for y in kept):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("size, kept", [("0", False), ("1", False), ("64", True)])
def test_limit(size, kept):
    code = ("import torch, kron; x = torch.ones(4096, 128); f = [torch.eye(128)]; "
            "kron.mkm(x, f); print(kron.release_memory())")
    output = subprocess.run([sys.executable, "-c", code], text=True, check=True,
                            stdout=subprocess.PIPE,
                            env={**os.environ, "KRON_POOL_SIZE": size}).stdout
    assert (int(output) > 0) == kept


@pytest.mark.parametrize("size", ["-2", "many", "1.5", "3x"])
def test_bad_limit(size):
    code = "import kron.torch, kron; kron.release_memory()"
    errors = subprocess.run([sys.executable, "-c", code], text=True, check=True,
                            stderr=subprocess.PIPE,
                            env={**os.environ, "KRON_POOL_SIZE": size}).stderr
    assert errors.count(f"expects KRON_POOL_SIZE to be a number of megabytes, "
                        f"but got '{size}'") == 1
