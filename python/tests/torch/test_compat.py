# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The interfaces of PyFastKron and of the KSMM project."""

import numpy as np
import pytest
import torch_reference as reference
import torch

import kron.compat.pyfastkron as fk
import kron.compat.pyfastkron.fastkronnumpy as fk_numpy
import kron.compat.pyfastkron.fastkrontorch as fk_torch
from kron.compat.ksmm import KSLinear


def arrays(kind, dtype, rows, p, q, batch_x=(), batch_f=()):
    x = torch.randint(0, 3, (*batch_x, rows, p ** 2) if kind == "mkm"
                      else (*batch_x, p ** 2, rows)).to(dtype)
    shape = (p, q) if kind == "mkm" else (q, p)
    fs = [torch.randint(0, 3, (*batch_f, *shape)).to(dtype) for _ in range(2)]
    return x, fs


def expected(kind, x, fs, alpha, beta, y):
    result = alpha * reference.product(kind, x.double(), [f.double() for f in fs])
    return result if y is None else result + beta * y.double()


CASES = [((), (), ()), ((2,), (), (2,)), ((2, 3), (2, 3), None), ((2, 1), (3,), None),
         ((2,), (3, 2), (3, 1)), ((3, 3, 1), (3, 1, 4), None)]


@pytest.mark.parametrize("kind", ["mkm", "kmm"])
@pytest.mark.parametrize("batch_x, batch_f, batch_y", CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize("library", ["torch", "numpy"])
def test_pyfastkron(kind, batch_x, batch_f, batch_y, dtype, library):
    x, fs = arrays(kind, dtype, 6, 4, 3, batch_x, batch_f)
    y = None
    if batch_y is not None:
        y = torch.ones(*batch_y, *((6, 9) if kind == "mkm" else (9, 6)), dtype=dtype)
    alpha, beta = 3.0, 0.0 if y is None else 2.0
    want = expected(kind, x, fs, alpha, beta, y)
    if library == "torch":
        module, given = fk_torch, (x, fs, y)
    else:
        module, given = fk_numpy, (x.numpy(), [f.numpy() for f in fs],
                                   None if y is None else y.numpy())
    if kind == "mkm":
        result = module.gemkm(given[0], given[1], alpha, beta, given[2])
    else:
        result = module.gekmm(given[1], given[0], alpha, beta, given[2])
    result = torch.as_tensor(np.asarray(result))
    assert result.dtype == dtype and torch.equal(result.double(), want)


def test_pyfastkron_transposed_views_and_vectors():
    x, fs = arrays("mkm", torch.float64, 6, 4, 3)
    views = [f.mT.contiguous().mT for f in fs]
    torch.testing.assert_close(fk_torch.gemkm(x.mT.contiguous().mT, views),
                               fk_torch.gemkm(x, fs))
    torch.testing.assert_close(fk_torch.gemkm(x.mT, [f.mT for f in fs], trX=True,
                                              trF=True), fk_torch.gemkm(x, fs))
    vector, columns = x[0], [f[:, 0] for f in fs]
    torch.testing.assert_close(fk_torch.gemkm(vector, columns),
                               vector[None] @ torch.kron(*columns)[:, None])


def test_pyfastkron_gradients():
    x, fs = arrays("mkm", torch.float64, 2, 2, 2)
    leaves = [t.requires_grad_() for t in (x, *fs)]
    assert torch.autograd.gradcheck(lambda x, *fs: fk_torch.gemkm(x, list(fs)), leaves)
    assert torch.autograd.gradcheck(lambda x, *fs: fk_torch.gekmm(list(fs), x.mT), leaves)


def test_pyfastkron_autograd_functions():
    for kind, function in (("mkm", fk_torch.MKM), ("kmm", fk_torch.KMM)):
        x, fs = arrays(kind, torch.float64, 3, 2, 2)
        for each in (x, *fs):
            each.requires_grad_()
        assert torch.autograd.gradcheck(function.apply, (x, *fs))


# Verify that float16 rounds where PyFastKron does: 3 * 2047 before 1 is added.
def test_pyfastkron_rounds_half_after_every_step():
    x = torch.full((1, 4), 2047 / 4, dtype=torch.float16)
    fs = [torch.ones(2, 2, dtype=torch.float16)] * 2
    one = torch.ones(1, 4, dtype=torch.float16)
    product = torch.full((1, 4), 2047.0, dtype=torch.float16)
    result = fk_torch.gemkm(x, fs, 3.0, 1.0, one)
    assert torch.equal(result, 3.0 * product + one)
    assert not torch.equal(result.float(), (3.0 * product.float() + 1).half().float())


def test_pyfastkron_handles():
    torch_handle, numpy_handle = fk.FastKronTorch(), fk.FastKronNumpy()
    assert torch_handle.hasX86() and not numpy_handle.hasCUDA()
    x, fs = arrays("mkm", torch.float32, 6, 4, 3)
    assert torch_handle.isSupported(x, fs)
    assert torch_handle.gekmmSizes(fk.FastKronBase.MMTypeMKM, x, fs) == ((6, 9), 96)
    assert fk.FastKronHandle("x86").gekmmSizes((6, 16), [4, 4], [3, 3]) == (54, 96)
    torch.testing.assert_close(torch_handle.gemkm(False, x, fs), fk_torch.gemkm(x, fs))
    array = numpy_handle.gekmm([f.numpy().T for f in fs], x.numpy().T)
    np.testing.assert_allclose(array, fk_torch.gemkm(x, fs).numpy().T)


@pytest.mark.parametrize("call", [
    lambda x, fs: fk_torch.gemkm(x.numpy(), fs),
    lambda x, fs: fk_torch.gemkm(x, fs[0]),
    lambda x, fs: fk_torch.gemkm(x, [fs[0], 1]),
    lambda x, fs: fk_torch.gemkm(x, [fs[0], fs[1].double()]),
    lambda x, fs: fk_torch.gemkm(x, fs[:1]),
    lambda x, fs: fk_torch.gemkm(x, fs, 1.0, 1.0),
    lambda x, fs: fk_numpy.gemkm(x, fs),
])
def test_pyfastkron_errors(call):
    x, fs = arrays("mkm", torch.float32, 6, 4, 3)
    with pytest.raises(ValueError):
        call(x, fs)


def test_ksmm_layer():
    layer = KSLinear([(2, 3, 4, 2)])
    assert layer.algo == "dense" and layer.dtype == torch.float16
    chain = [(2, 4, 4, 1), (1, 6, 4, 2)]
    weights = [torch.randn(pattern) for pattern in chain]
    options = {"patterns": chain, "weights": weights, "dtype": torch.float32,
               "bs_last": True, "bias": False, "device": "cpu"}
    x = torch.randn(8, 5)
    torch.testing.assert_close(KSLinear(algo="kernel", **options)(x),
                               KSLinear(algo="dense", **options)(x))
