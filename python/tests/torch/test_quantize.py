"""Rows of 8 bits on tensors, on the CPU and, where there is one, on a GPU.

SPDX-License-Identifier: MIT
"""

import pytest
import torch

import kron

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
LARGEST = {"int8": 127, "float8_e4m3fn": 448, "float8_e5m2": 57344}


def steps(kind, exact, scale):
    """How far apart neighbouring numbers are, at most."""
    if kind == "int8":
        return scale[..., None].expand_as(exact)
    relative, least = (2.0**-3, 2.0**-9) if kind == "float8_e4m3fn" else (2.0**-2, 2.0**-16)
    return torch.maximum(exact.abs() * relative, scale[..., None] * least)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", LARGEST)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_quantize(device, kind, dtype):
    torch.manual_seed(0)
    x = torch.randn(3, 7, 96, device=device).to(dtype)
    x[0, 0], x[1, 2, 3] = 0, torch.nan
    q, scale = kron.quantize(x, kind)
    assert q.dtype == getattr(torch, kind) and q.device == x.device and q.shape == x.shape
    assert scale.dtype == torch.float32 and scale.shape == x.shape[:-1]
    assert scale[0, 0] == 0 and torch.isnan(scale[1, 2])
    assert not q[0, 0].float().any() and not q[1, 2].float().any()
    fine = torch.isfinite(scale)
    assert int(fine.sum()) == 20
    x, q, scale = x[fine].float(), q[fine].float(), scale[fine]
    torch.testing.assert_close(scale, x.abs().amax(-1) / LARGEST[kind])
    error = (q * scale[:, None] - x).abs()
    assert bool((error <= 0.501 * steps(kind, x, scale)).all())


@pytest.mark.parametrize("device", DEVICES)
def test_float64(device):
    x = torch.randn(3, 7, 96, dtype=torch.float64, device=device)
    if device == "cuda":
        with pytest.raises(TypeError, match="bfloat16 on a GPU, but got torch.float64"):
            kron.quantize(x)
        return
    q, scale = kron.quantize(x)
    torch.testing.assert_close(scale, x.abs().amax(-1) / 127)
    assert bool(((q * scale[..., None] - x).abs() <= 0.501 * scale[..., None]).all())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n", [4096, 5120, 384])
def test_rotation(device, n):
    torch.manual_seed(1)
    x = torch.randn(2, 33, n, device=device).half()
    q, scale = kron.rotations.Rotation(n, quantize="int8")(x)
    exact = kron.rotations.Rotation(n)(x.double())
    error = (q.double() * scale[..., None].double() - exact).abs()
    assert bool((error <= 0.8 * scale[..., None]).all())


def test_results_need_no_gradient():
    x = torch.randn(4, 8, requires_grad=True)
    q, scale = kron.quantize(x)
    assert not scale.requires_grad and q.shape == x.shape


# Verify kron.ksmm on tensors of 8 bits, beside ones of other types and in both layouts.
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
@pytest.mark.parametrize("x_type, k_type", [
    (torch.float8_e4m3fn, torch.float8_e5m2), (torch.float8_e5m2, torch.float16),
    (torch.bfloat16, torch.float8_e4m3fn)])
def test_ksmm(device, layout, x_type, k_type):
    torch.manual_seed(0)
    x = torch.randn(33, 2 * 8 * 3, device=device).to(x_type)
    k = torch.randn(2, 4, 8, 3, device=device).to(k_type)
    expected = next((t for t in (x_type, k_type) if t.itemsize > 1), torch.float32)
    bias = torch.randn(2 * 4 * 3, device=device).to(expected)
    if layout == "batch_last":
        x = x.view(torch.int8).t().contiguous().view(x_type) if x_type.itemsize == 1 \
            else x.t().contiguous()
    y = kron.ksmm(x, k, layout=layout, alpha=0.25, bias=bias, epilogue="gelu")
    assert y.dtype == expected and y.device == x.device
    rows = x.double() if layout == "batch_first" else x.double().t()
    exact = torch.einsum("nikt,ijkt->nijt", rows.reshape(33, 2, 8, 3), k.double()).reshape(33, -1)
    exact = torch.nn.functional.gelu(0.25 * exact + bias.double())
    y = y.double() if layout == "batch_first" else y.double().t()
    tolerance = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[expected]
    assert (y - exact).norm() <= tolerance * exact.norm()
    out = torch.empty_like(y, dtype=torch.float16)
    if k_type == torch.float16 and layout == "batch_first":
        assert kron.torch.ksmm(x, k, out=out) is out


def test_ksmm_gradient():
    x = torch.ones(2, 4).to(torch.float8_e5m2)
    k = torch.ones(1, 4, 4, 1, requires_grad=True)
    with pytest.raises(ValueError, match="to need no gradient"):
        kron.ksmm(x, k)
