# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Arrays on a GPU: every operation and type, layouts, streams, graphs, gradients."""

import pytest
import torch
import torch_reference

import kron
import kron.torch as kt
from kron import _core

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or _core.cuda_device_count() == 0, reason="no GPU")

DEVICE = "cuda"
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
TYPES = [*FLOATS, torch.int32, torch.int64, torch.complex64, torch.complex128]
SHAPES = [(7, [(8, 8), (8, 8)]), (33, [(5, 7), (3, 2), (4, 4)]), (64, [(16, 16), (16, 16)]),
          (5, [(64, 64)]), (3, [(2, 2)] * 9)]
names = [str(t).removeprefix("torch.") for t in TYPES]


def random(*shape, dtype=torch.float32):
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(*shape, dtype=torch.complex128 if dtype.is_complex
                           else torch.float64).to(dtype).to(DEVICE)
    return torch.randint(-9, 10, shape, dtype=dtype).to(DEVICE)


def wide(tensor):
    """On the processor, in the type that references are computed in."""
    if tensor.is_complex():
        return tensor.detach().cpu().to(torch.complex128)
    return tensor.detach().cpu().to(
        torch.float64 if tensor.is_floating_point() else torch.int64)


def check(actual, expected, steps=1):
    """`steps`: how often f16 and bf16 may be rounded."""
    assert actual.is_cuda == (DEVICE == "cuda") and actual.shape == expected.shape
    if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
        assert torch.equal(actual.cpu(), expected.to(actual.dtype))
        return
    error = torch_reference.error(actual.cpu(), expected)
    assert error <= steps * torch_reference.bound(actual.dtype)


def product(kind, rows, pairs, dtype, trans_x="N", trans="N"):
    """x and factors of kron.torch.<kind>, and what it must give."""
    p = [a for a, _ in pairs]
    if kind == "batched":
        shape, pairs = [rows, *p], [(b, a) for a, b in pairs]
    else:
        size = int(torch.tensor(p).prod())
        shape = [rows, size] if kind == "mkm" else [size, rows]
        pairs = pairs if kind == "mkm" else [(b, a) for a, b in pairs]
    if trans_x != "N":
        shape = shape[::-1] if kind != "batched" else [rows, *shape[:0:-1]]
    x = random(*shape, dtype=dtype)
    factors = [random(*(pair if trans == "N" else pair[::-1]), dtype=dtype) for pair in pairs]
    expected = torch_reference.product(kind, wide(x), [wide(f) for f in factors],
                                       trans_x=trans_x, trans=trans)
    return x, factors, expected


@pytest.mark.parametrize("dtype", TYPES, ids=names)
@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
def test_product(kind, dtype):
    for rows, pairs in SHAPES:
        x, factors, expected = product(kind, rows, pairs, dtype)
        check(getattr(kt, kind)(x, factors), expected, len(factors))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.complex64],
                         ids=str)
@pytest.mark.parametrize("trans_x, trans", [("T", "N"), ("N", "T"), ("C", "C")])
@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
def test_transposed_product(kind, trans_x, trans, dtype):
    for rows, pairs in SHAPES[:3]:
        x, factors, expected = product(kind, rows, pairs, dtype, trans_x, trans)
        check(getattr(kt, kind)(x, factors, trans_x=trans_x, trans_factors=trans), expected)


@pytest.mark.parametrize("dtype", TYPES, ids=names)
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_ksmm(layout, dtype):
    for a, b, c, d in [(1, 4, 4, 4), (3, 8, 5, 2), (2, 48, 16, 1)]:
        x = random(*((21, a * c * d) if layout == "batch_first" else (a * c * d, 21)),
                   dtype=dtype)
        weights = random(a, b, c, d, dtype=dtype)
        expected = torch_reference.ksmm(wide(x), wide(weights), layout)
        check(kt.ksmm(x, weights, layout=layout), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64],
                         ids=str)
@pytest.mark.parametrize("kind", ["mkm", "kmm"])
def test_scaling_addend_batch_and_layout(kind, dtype):
    rows, pairs = 9, [(8, 8), (4, 4)]
    x, factors, plain = product(kind, rows, pairs, dtype)
    z = random(*plain.shape, dtype=dtype)
    result = getattr(kt, kind)(x, factors, alpha=3, beta=-2, z=z)
    check(result, 3 * plain - 2 * wide(z), 2)
    # beta = 0 does not read z.
    if dtype.is_floating_point:
        z.fill_(float("nan"))
        check(getattr(kt, kind)(x, factors, beta=0, z=z), plain, 2)
    # Rows that lie apart, a result that is given, batch dimensions.
    apart = torch.zeros(x.shape[0], x.shape[1] + 3, dtype=dtype, device=DEVICE)
    apart[:, :-3] = x
    out = torch.zeros(plain.shape, dtype=dtype, device=DEVICE)
    assert getattr(kt, kind)(apart[:, :-3], factors, out=out) is out
    check(out, plain, 2)
    check(getattr(kt, kind)(torch.stack([x, 2 * x]), factors), torch.stack([plain, 2 * plain]),
          2)


class CudaArray:
    """What other libraries show of an array on a GPU."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


class DlpackArray:
    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **kwargs):
        return self.tensor.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


@pytest.mark.parametrize("protocol", [CudaArray, DlpackArray])
def test_arrays_of_other_libraries(protocol):
    x, factors, expected = product("mkm", 10, [(8, 8), (8, 8)], torch.float32)
    out = torch.empty(expected.shape, device=DEVICE)
    kron.mkm(protocol(x), [protocol(f) for f in factors], out=protocol(out))
    torch.cuda.synchronize()
    check(out, expected)


def test_side_stream():
    x, factors, expected = product("mkm", 4096, [(16, 16)] * 3, torch.float32)
    kt.mkm(x, factors)
    stream, late = torch.cuda.Stream(), torch.zeros_like(x)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        # The product must come after what the stream has to do before.
        torch.cuda._sleep(20_000_000)
        late.copy_(x)
        result = kt.mkm(late, factors)
    stream.synchronize()
    check(result, expected)


def test_graph():
    # Two fused regions, so that there is a workspace.
    x, factors = random(100, 8**6), [random(8, 8) for _ in range(6)]
    kt.mkm(x, factors)  # compiled before the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = kt.mkm(x, factors)
    for _ in range(3):
        x.copy_(random(*x.shape))
        graph.replay()
        torch.cuda.synchronize()
        check(result, mkm_of_equal_factors(x, factors))


def mkm_of_equal_factors(x, factors):
    """The reference, without the product of all factors."""
    y = wide(x)
    for factor in map(wide, reversed(factors)):
        y = y.reshape(len(x), -1, len(factor)) @ factor
        y = y.mT
    return y.reshape(len(x), -1)


@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
def test_gradients(kind):
    x, factors, _ = product(kind, 2, [(2, 3), (3, 2)], torch.float64)
    inputs = [t.requires_grad_() for t in (x, *factors)]
    assert torch.autograd.gradcheck(lambda x, *f: getattr(kt, kind)(x, f), inputs)


def test_gradients_of_ksmm():
    inputs = [random(3, 8, dtype=torch.float64), random(2, 3, 2, 2, dtype=torch.float64)]
    assert torch.autograd.gradcheck(kt.ksmm, [t.requires_grad_() for t in inputs])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_gradients_of_ksmm_beside_einsum(layout, dtype):
    """Those that PyTorch derives from an einsum of the same values in float64."""
    rows, equation = 130, "nikt,ijkt->nijt"
    if layout == "batch_last":
        equation = "iktn,ijkt->ijtn"
    for a, b, c, d in [(1, 64, 64, 4), (3, 17, 9, 5), (2, 96, 48, 1), (1, 256, 192, 2)]:
        split = [rows, a, c, d] if layout == "batch_first" else [a, c, d, rows]
        shape = [rows, a * c * d] if layout == "batch_first" else [a * c * d, rows]
        inputs = [random(*shape, dtype=dtype), random(a, b, c, d, dtype=dtype)]
        result = kt.ksmm(*[t.requires_grad_() for t in inputs], layout=layout)
        upstream = random(*result.shape, dtype=dtype)
        x, weights = [wide(t).requires_grad_() for t in inputs]
        exact = torch.einsum(equation, x.reshape(split), weights).reshape(result.shape)
        for actual, expected in zip(torch.autograd.grad(result, inputs, upstream),
                                    torch.autograd.grad(exact, (x, weights), wide(upstream))):
            check(actual, expected)


def test_bad_input_leaves_the_context_usable():
    x, factors, expected = product("mkm", 4, [(8, 8)] * 2, torch.float32)
    with pytest.raises((TypeError, ValueError), match=r"factors\[1\]"):
        kt.mkm(x, [factors[0], factors[1].cpu()])
    with pytest.raises((TypeError, ValueError), match="columns|size|64"):
        kt.mkm(x[:, :-1], factors)
    check(kt.mkm(x, factors), expected)
