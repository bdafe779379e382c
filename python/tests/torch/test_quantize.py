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
