# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The interface of kermac, against float64."""

import inspect
import itertools

import pytest
import torch

import kron.compat.kermac as kermac
from kron.compat.kermac import InnerOperator, KernelDescriptor, KernelType, PowerType

EXPONENTS = [0.5, 1.0, 1.3, 1.5, 2.0, 3, 4.5]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]

#: Functions of kermac 0.1 with their arguments, without defaults those that have to be given.
FUNCTIONS = {
    "cdist": "a b out=None p=2.0 skip_epilogue=False try_to_align=False debug=False",
    "cdist_grad": "a b c d out=None p=2.0 eps=1e-08 debug=False",
    "run_kernel": "kernel_descriptor a b out=None p=None inner_p=None outer_p=None bandwidth=None epsilon=None "
                  "regularization=None regularization_offset_x=0 regularization_offset_y=0 try_to_align=False "
                  "debug=False",
    "pre_compile_descriptors": "device descriptors try_to_align=False debug=False",
    "KernelDescriptor": "inner_operator inner_power outer_power kernel_type",
    "linalg.solve_cholesky": "a b fill_mode=FillMode.LOWER overwrite_a=False overwrite_b=False check_errors=False "
                             "debug=False",
    "linalg.solve_lu": "a b overwrite_a=False overwrite_b=False check_errors=False debug=False",
    "linalg.eigh": "a fill_mode=FillMode.LOWER overwrite_a=False check_errors=False",
}
ENUMERATIONS = {
    "InnerOperator": ["DIFF", "DOT"], "PowerType": ["NOOP", "ABS", "SQUARE", "SQRT", "POW"],
    "KernelType": ["NONE", "LAPLACE", "GAUSSIAN"], "Symmetry": ["NonSymmetric", "Symmetric"],
    "FillMode": ["UPPER", "LOWER"],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_those_of_kermac(name):
    module = kermac.linalg if name.startswith("linalg.") else kermac
    signature = inspect.signature(getattr(module, name.removeprefix("linalg.")))
    found = [key if value.default is value.empty else f"{key}={value.default}"
             for key, value in signature.parameters.items()]
    assert " ".join(found) == FUNCTIONS[name]


def test_names_are_those_of_kermac():
    for name, members in ENUMERATIONS.items():
        assert [member.name for member in getattr(kermac, name)] == members
    named = {name for name in dir(kermac) if name.startswith("kernel_descriptor_")}
    assert named == {"kernel_descriptor_" + name for name in ("laplace_l1", "laplace_l2", "p_norm", "l1_norm",
                                                              "l2_norm", "mma")}


def test_timer():
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="expects a GPU for CudaTimer, but CUDA is not available"):
            kermac.CudaTimer()
        return
    timer = kermac.CudaTimer()
    timer.start()
    assert timer.stop() >= 0


def matrix(*shape, column_major=False):
    return torch.randn(*shape[:-2], shape[-1], shape[-2]).mT if column_major else torch.randn(*shape)


def powers(a, b, p):
    difference = (a.double()[..., :, None, :] - b.double()[..., None, :, :]).abs()
    return (difference ** p).sum(-1)


@pytest.mark.parametrize("p", EXPONENTS)
def test_distances_of_all_layouts(p):
    for layouts in itertools.product((False, True), repeat=3):
        for batch_a, batch_b in (((), ()), ((2,), (2,)), ((2,), ()), ((1,), (3,))):
            a, b = matrix(*batch_a, 5, 7, column_major=layouts[0]), matrix(*batch_b, 9, 7, column_major=layouts[1])
            wanted = powers(a, b, p)
            wanted = wanted if wanted.dim() == 3 else wanted[None]
            out = matrix(*wanted.shape, column_major=layouts[2])
            assert kermac.cdist(a, b, out=out, p=p) is out
            torch.testing.assert_close(out.double(), wanted ** (1 / p), rtol=1e-5, atol=0)
            result = kermac.cdist(a, b, p=p, skip_epilogue=True)
            assert result.shape == wanted.shape and result.dtype == torch.float32
            torch.testing.assert_close(result.double(), wanted, rtol=1e-5, atol=0)


def test_empty_arrays():
    for m, n, k in ((0, 4, 3), (4, 0, 3), (0, 0, 3)):
        assert kermac.cdist(torch.ones(m, k), torch.ones(n, k)).shape == (1, m, n)
        assert kermac.cdist(torch.ones(2, m, k), torch.ones(n, k), p=1.3).shape == (2, m, n)
    torch.testing.assert_close(kermac.cdist(torch.ones(4, 0), torch.ones(5, 0)), torch.zeros(1, 4, 5))
    result = kermac.run_kernel(LAPLACE, torch.ones(4, 0), torch.ones(5, 0), bandwidth=1.0)
    torch.testing.assert_close(result, torch.ones(1, 4, 5))
    gradient = kermac.cdist_grad(torch.ones(0, 5), torch.ones(3, 0), torch.ones(4, 0), torch.ones(3, 5))
    torch.testing.assert_close(gradient, torch.zeros(1, 4, 3, 5))
    for function in (kermac.linalg.solve_cholesky, kermac.linalg.solve_lu):
        assert function(torch.ones(0, 3, 3), torch.ones(0, 2, 3))[0].shape == (0, 2, 3)


def test_outputs_without_a_batch_and_with_gaps():
    a, b = matrix(5, 7), matrix(9, 7)
    wanted = (powers(a, b, 2) ** 0.5).float()
    for out in (torch.empty(5, 9), torch.empty(5, 20)[:, 3:12], torch.empty(12, 5)[2:11].mT):
        before = out.shape
        kermac.cdist(a, b, out=out)
        assert out.shape == before
        torch.testing.assert_close(out, wanted)
    several = torch.empty(4, 5, 9)
    kermac.cdist(a, b, out=several)
    torch.testing.assert_close(several, wanted.expand(4, 5, 9))


def test_exponents_that_change_with_the_batch():
    a, b, p = matrix(3, 5, 4), matrix(9, 4), torch.tensor([0.7, 2.0, 3.0])
    wanted = torch.stack([powers(a[l], b, p[l].item()) for l in range(3)])
    torch.testing.assert_close(kermac.cdist(a, b, p=p, skip_epilogue=True).double(), wanted, rtol=1e-5, atol=0)
    torch.testing.assert_close(kermac.cdist(a, b, p=p).double(), wanted ** (1 / p.double()[:, None, None]), rtol=1e-5,
                               atol=0)
    for one in (torch.tensor(1.5), torch.tensor([1.5])):
        torch.testing.assert_close(kermac.cdist(a, b, p=one), kermac.cdist(a, b, p=1.5), rtol=1e-5, atol=0)


INNER = {PowerType.NOOP: lambda v, p: v, PowerType.ABS: lambda v, p: v.abs(), PowerType.SQUARE: lambda v, p: v * v,
         PowerType.SQRT: lambda v, p: v.sqrt(), PowerType.POW: lambda v, p: v.abs() ** p}
OUTER = {**INNER, PowerType.POW: lambda v, p: v ** p}


@pytest.mark.parametrize("kernel", KernelType)
@pytest.mark.parametrize("inner, outer", list(itertools.product(PowerType, PowerType)))
def test_descriptors(inner, outer, kernel):
    a, b = torch.rand(5, 6), torch.rand(2, 7, 6)
    for operator in InnerOperator:
        options = {}
        if inner is PowerType.POW:
            options["inner_p"] = 1.3
        if outer is PowerType.POW:
            options["outer_p"] = 0.7
        if kernel is not KernelType.NONE:
            options |= {"bandwidth": torch.tensor([0.8, 2.5]), "epsilon": 0.3}
        wide = a.double()[None, :, None], b.double()[:, None]
        value = wide[1] - wide[0] if operator is InnerOperator.DIFF else wide[1] * wide[0]
        value = OUTER[outer](INNER[inner](value, 1.3).sum(-1), 0.7)
        if kernel is not KernelType.NONE:
            # Values next to epsilon would go either way.
            assert ((value - 0.3).abs() > 1e-6).logical_or(value.isnan()).all()
            value = torch.where(value < 0.3, 0, value)
            width = torch.tensor([0.8, 2.5], dtype=torch.float64)[:, None, None]
            value = torch.exp(-value / (width if kernel is KernelType.LAPLACE else 2 * width ** 2))
        result = kermac.run_kernel(KernelDescriptor(operator, inner, outer, kernel), a, b, **options)
        torch.testing.assert_close(result.double(), value, rtol=2e-5, atol=1e-6, equal_nan=True)


def test_predefined_descriptors():
    a, b = matrix(5, 4), matrix(7, 4)
    one, two = powers(a, b, 1), powers(a, b, 2) ** 0.5
    for name, options, wanted in (("laplace_l1", {"bandwidth": 2.0}, torch.exp(-one / 2)),
                                  ("laplace_l2", {"bandwidth": 3}, torch.exp(-two / 3)),
                                  ("p_norm", {"p": 3}, powers(a, b, 3) ** (1 / 3)), ("l1_norm", {}, one),
                                  ("l2_norm", {}, two), ("mma", {}, a.double() @ b.double().T)):
        descriptor = getattr(kermac, "kernel_descriptor_" + name)
        before = repr(descriptor)
        kermac.cdist(a, b, p=2.0, skip_epilogue=True)
        result = kermac.run_kernel(descriptor, a, b, **options)
        torch.testing.assert_close(result[0].double(), wanted, rtol=1e-5, atol=1e-6)
        assert repr(descriptor) == before and "PowerType" in before


def test_regularisation():
    a = matrix(2, 4, 3)
    plain = kermac.run_kernel(kermac.kernel_descriptor_laplace_l2, a, a, bandwidth=1.0)
    for column_major in (False, True):
        for x, y in ((0, 0), (3, 1), (0, 2), (0, 9)):
            out = matrix(2, 4, 4, column_major=column_major)
            kermac.run_kernel(kermac.kernel_descriptor_laplace_l2, a, a, out=out, bandwidth=1.0,
                              regularization=torch.tensor([0.5, 0.0]), regularization_offset_x=x,
                              regularization_offset_y=y)
            rows, columns = torch.meshgrid(torch.arange(4) + x, torch.arange(4) + y, indexing="ij")
            wanted = plain.clone()
            wanted[0][rows == columns] = 1.5
            torch.testing.assert_close(out, wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("outputs", [1, 4, 37])
@pytest.mark.parametrize("p", EXPONENTS)
def test_gradients(p, outputs, device):
    sizes = {"a": (6, 5), "b": (3, 6), "c": (outputs, 6), "d": (3, 5)}
    for batches in ({}, {"a": (2,), "d": (2,)}, {"b": (3,), "c": (1,), "d": (3,)}):
        given = {name: torch.randn(*batches.get(name, ()), *size).mul(4).round().div(4) for name, size in sizes.items()}
        a, b, c, d = (given[name].double() for name in "abcd")
        difference = d[..., :, None, :] - b[..., :, :, None]
        slope = difference.sign() * torch.where(difference == 0, 1, difference.abs()) ** (p - 1)
        wanted = torch.einsum("...ok,...km,...nkm->...onm", c, a, slope)
        wanted = (wanted if batches else wanted[None]).to(device)
        given = {name: tensor.to(device) for name, tensor in given.items()}
        result = kermac.cdist_grad(**given, p=p)
        assert result.shape == wanted.shape and result.is_contiguous()
        torch.testing.assert_close(result.double(), wanted, rtol=1e-4, atol=1e-4)
        out = torch.empty(wanted.shape if batches else wanted.shape[1:], device=device)
        assert kermac.cdist_grad(**given, out=out, p=torch.tensor(float(p), device=device)) is out
        torch.testing.assert_close(out.view(wanted.shape).double(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("p", [0.5, 1.3, 2.0, torch.tensor(1.5)])
def test_small_differences_in_gradients(p):
    a, b, c, d = matrix(9, 5), matrix(3, 9), matrix(2, 9), matrix(3, 5)
    d[:, 0] = b[:, 0]
    difference = d[:, None, :].double() - b[:, :, None].double()
    for eps in (0, 0.25):
        size = difference.abs().clamp_min(0 if p == 2 else eps)
        slope = torch.where(difference == 0, 0, difference.sign() * size ** (float(p) - 1))
        wanted = torch.einsum("ok,km,nkm->onm", c.double(), a.double(), slope)[None]
        torch.testing.assert_close(kermac.cdist_grad(a, b, c, d, p=p, eps=eps).double(), wanted, rtol=1e-4, atol=1e-4)


def test_descriptors_are_compiled_before():
    kermac.pre_compile_descriptors("cpu", [kermac.kernel_descriptor_laplace_l1, kermac.kernel_descriptor_p_norm])
    a = matrix(1, 2, 3)
    result = kermac.run_kernel(kermac.kernel_descriptor_laplace_l1, a, a, bandwidth=1.0)
    torch.testing.assert_close(result, torch.exp(-torch.cdist(a, a, p=1)))


# --- factorisations ---------------------------------------------------------------


def definite(*batch, device="cpu"):
    x = torch.randn(*batch, 7, 7, device=device)
    return x @ x.mT + torch.eye(7, device=device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("batch", [(), (1,), (5,)])
@pytest.mark.parametrize("overwrites", [False, True])
def test_solutions(batch, overwrites, device):
    rows = torch.randn(*batch, 3, 7, device=device)
    for fill_mode in kermac.FillMode:
        a, b = definite(*batch, device=device), rows.clone()
        garbage = torch.full_like(a, 7).tril(-1) if fill_mode is kermac.FillMode.UPPER else \
            torch.full_like(a, 7).triu(1)
        given = a + garbage
        x, infos, solved = kermac.linalg.solve_cholesky(given, b, fill_mode, overwrites, overwrites, True)
        torch.testing.assert_close(x @ a, rows, rtol=1e-3, atol=1e-3)
        assert (x.data_ptr() == b.data_ptr()) == overwrites
        if overwrites:
            factor = given.triu() if fill_mode is kermac.FillMode.UPPER else given.tril()
            product = factor.mT @ factor if fill_mode is kermac.FillMode.UPPER else factor @ factor.mT
            torch.testing.assert_close(product, a, rtol=1e-4, atol=1e-4)
        else:
            torch.testing.assert_close(b, rows)
        for info in (infos, solved):
            torch.testing.assert_close(info, torch.zeros(batch or 1, dtype=torch.int32, device=device))
    a, b = torch.randn(*batch, 7, 7, device=device) + 4 * torch.eye(7, device=device), rows.clone()
    before = a.clone()
    x, infos, _ = kermac.linalg.solve_lu(a, b, overwrites, overwrites, check_errors=True)
    torch.testing.assert_close(x @ before, rows, rtol=1e-3, atol=1e-3)
    assert torch.equal(a, before) != overwrites and torch.equal(b, rows) != overwrites and not infos.any()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("overwrites", [False, True])
def test_eigenvalues(overwrites, device):
    for batch in ((), (4,)):
        for fill_mode in kermac.FillMode:
            a = definite(*batch, device=device)
            given = a.clone()
            values, vectors, infos = kermac.linalg.eigh(given, fill_mode, overwrites, True)
            product = vectors @ torch.diag_embed(values) @ vectors.mT
            torch.testing.assert_close(product, a.view(product.shape), rtol=1e-4, atol=1e-4)
            assert values.shape == (*(batch or (1,)), 7) and infos.dtype == torch.int32 and not infos.any()
            torch.testing.assert_close(given.view(product.shape), vectors.mT if overwrites else a.view(product.shape))


@pytest.mark.parametrize("device", DEVICES)
def test_matrices_without_factors(device):
    a, b = definite(3, device=device), torch.randn(3, 2, 7, device=device)
    a[1] = -a[1]
    x, infos, _ = kermac.linalg.solve_cholesky(a, b)
    assert infos.tolist() == [0, 1, 0] and x[1].isnan().all() and x[[0, 2]].isfinite().all()
    with pytest.raises(ValueError, match=r"can be factorised, but .* reports \[1\] of matrices \[1\]"):
        kermac.linalg.solve_cholesky(a, b, check_errors=True)
    a[1] = 0
    with pytest.raises(ValueError, match=r"of matrices \[1\]"):
        kermac.linalg.solve_lu(a, b, check_errors=True)
    a[2, 0, 0] = torch.nan
    values, vectors, infos = kermac.linalg.eigh(a)
    assert infos.tolist() == [0, 0, 1] and values[2].isnan().all() and vectors[:2].isfinite().all()
    with pytest.raises(ValueError, match=r"of matrices \[2\]"):
        kermac.linalg.eigh(a, check_errors=True)


# --- bad input --------------------------------------------------------------------

LAPLACE, NORM, POWER = (getattr(kermac, "kernel_descriptor_" + name) for name in ("laplace_l2", "l2_norm", "p_norm"))
BAD = [
    (TypeError, "expects a to be a PyTorch tensor, but got list", lambda a: kermac.cdist([1.0], a)),
    (TypeError, "expects b to have dtype torch.float32, but got torch.float64", lambda a: kermac.cdist(a, a.double())),
    (ValueError, "expects b on cpu as a, but it is on meta", lambda a: kermac.cdist(a, a.to("meta"))),
    (ValueError, r"expects a to have 2 or 3 axes, but got shape \(3,\)", lambda a: kermac.cdist(a[0], a)),
    (ValueError, r"expects the last axis of b to have size 3", lambda a: kermac.cdist(a, a[:, 1:])),
    (ValueError, "expects b to have a batch of 1 or 2, but got 3",
     lambda a: kermac.cdist(a.expand(2, 4, 3), a.expand(3, 4, 3))),
    (ValueError, r"expects out to have shape \(1, 4, 4\), but got \(1, 4, 5\)",
     lambda a: kermac.cdist(a, a, out=torch.empty(4, 5))),
    (ValueError, "expects out to have stride 1 along one of its last two axes",
     lambda a: kermac.cdist(a, a, out=torch.empty(8, 8)[::2, ::2])),
    (ValueError, "expects p to be finite and positive, but got -1.0", lambda a: kermac.cdist(a, a, p=-1)),
    (ValueError, "expects p to be finite and positive, but got 0.0", lambda a: kermac.cdist(a, a, p=0)),
    (ValueError, "expects p to be finite and positive, but got nan",
     lambda a: kermac.cdist(a, a, p=torch.tensor(torch.nan))),
    (TypeError, "expects p to have dtype torch.float32",
     lambda a: kermac.cdist(a, a, p=torch.tensor(1.0, dtype=torch.float64))),
    (ValueError, "expects p or inner_p for PowerType.POW, but got neither", lambda a: kermac.run_kernel(POWER, a, a)),
    (ValueError, "expects p or outer_p for PowerType.POW, but got p and outer_p",
     lambda a: kermac.run_kernel(KernelDescriptor(InnerOperator.DIFF, PowerType.POW, PowerType.POW, KernelType.NONE),
                                 a, a, p=1.5, outer_p=2.0)),
    (ValueError, "expects no p for PowerType.SQUARE", lambda a: kermac.run_kernel(NORM, a, a, p=2.0)),
    (ValueError, "expects bandwidth for KernelType.LAPLACE", lambda a: kermac.run_kernel(LAPLACE, a, a)),
    (ValueError, "expects no epsilon for KernelType.NONE", lambda a: kermac.run_kernel(NORM, a, a, epsilon=1e-3)),
    (ValueError, "expects bandwidth to be finite and positive, but got 0.0",
     lambda a: kermac.run_kernel(LAPLACE, a, a, bandwidth=0.0)),
    (ValueError, "expects epsilon to be finite and not negative, but got -1.0",
     lambda a: kermac.run_kernel(LAPLACE, a, a, bandwidth=1.0, epsilon=-1)),
    (ValueError, "expects epsilon to have a batch of 1 or 2, but got 3",
     lambda a: kermac.run_kernel(LAPLACE, a, a, bandwidth=torch.ones(2), epsilon=torch.ones(3))),
    (TypeError, "expects bandwidth to be a number or a tensor, but got str",
     lambda a: kermac.run_kernel(LAPLACE, a, a, bandwidth="1")),
    (ValueError, r"expects bandwidth to have at most 1 axis, but got shape \(4, 3\)",
     lambda a: kermac.run_kernel(LAPLACE, a, a, bandwidth=a)),
    (TypeError, "expects kernel_descriptor to be a KernelDescriptor, but got str",
     lambda a: kermac.run_kernel("l2", a, a)),
    (TypeError, "expects inner_power to be a PowerType, but got 2",
     lambda a: KernelDescriptor(InnerOperator.DIFF, 2, PowerType.NOOP, KernelType.NONE)),
    (ValueError, "expects eps to be finite and not negative, but got -1.0",
     lambda a: kermac.cdist_grad(*[a[:3]] * 4, eps=-1)),
    (TypeError, "expects eps to be a number, but got Tensor",
     lambda a: kermac.cdist_grad(*[a[:3]] * 4, eps=a[0, 0])),
    (ValueError, r"expects c to have shape \(4, 4\), but got \(4, 3\)", lambda a: kermac.cdist_grad(
        torch.ones(4, 3), torch.ones(2, 4), a, torch.ones(2, 3))),
    (ValueError, r"expects a to be square, but got shape \(4, 3\)", lambda a: kermac.linalg.eigh(a)),
    (ValueError, r"expects b to have shape \(1, 4, 3\), but got \(1, 4, 2\)",
     lambda a: kermac.linalg.solve_lu(torch.eye(3), a[:, 1:])),
    (TypeError, "expects fill_mode to be a FillMode, but got 'L'", lambda a: kermac.linalg.eigh(torch.eye(3), "L")),
]


@pytest.mark.parametrize("kind, message, call", BAD)
def test_bad_input(kind, message, call):
    with pytest.raises(kind, match=message):
        call(torch.ones(4, 3))
