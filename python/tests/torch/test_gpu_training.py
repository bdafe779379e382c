# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Training on a GPU: gradients by one compiled function, streams, CUDA graphs, autocast."""

import copy

import pytest
import torch
import torch_reference as reference
from test_eager import is_node

import kron.torch as kt
from kron import _core
from kron import nn as knn
from kron.torch import _programs

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or _core.cuda_device_count() == 0, reason="no GPU")

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
PATTERNS = [(1, 192, 48, 2), (2, 48, 192, 1)]


def layers():
    return {"chain": knn.KSLinear(PATTERNS), "single": knn.KSLinear([(3, 8, 5, 2)]),
            "long": knn.KSLinear([(4, 8, 8, 1), (2, 8, 8, 2), (1, 8, 8, 4)], bias=False),
            "last": knn.KSLinear(PATTERNS, bs_last=True), "monarch": knn.Monarch(64, 96),
            "kron": knn.KronLinear([8, 5], [4, 6]),
            "three": knn.KronLinear([4, 4, 4], [4, 2, 6], bias=False)}


def gradients(layer, x, upstream):
    y = layer(x)
    assert is_node(y)
    return y, torch.autograd.grad(y, [x, *layer.parameters()], upstream)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("rows", [1, 7, 196, 3000])
@pytest.mark.parametrize("name", layers())
def test_layers_beside_float64_on_the_processor(name, rows, dtype):
    layer = layers()[name].to("cuda", dtype)
    exact = copy.deepcopy(layer).to("cpu", torch.float64)
    size = layer.in_features if hasattr(layer, "in_features") else layer.in_size
    shape = (size, rows) if getattr(layer, "bs_last", False) else (rows, size)
    x = torch.randn(shape, dtype=dtype, device="cuda", requires_grad=True)
    wide = x.detach().cpu().double().requires_grad_()
    upstream = torch.randn_like(layer(x))
    y, actual = gradients(layer, x, upstream)
    expected = torch.autograd.grad(exact(wide), [wide, *exact.parameters()],
                                   upstream.cpu().double())
    # What lies between factors is rounded.
    bound = 4 * reference.bound(dtype)
    assert reference.error(y.cpu(), exact(wide)) <= bound
    for a, e in zip(actual, expected):
        assert a.is_cuda and a.dtype == dtype and a.shape == e.shape
        assert reference.error(a.cpu(), e) <= bound


# Verify that whole functions of gradients run on a GPU, and give the same bits every time.
@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
def test_products_are_one_function(kind, monkeypatch):
    used = []
    own = _programs._product_kernel
    monkeypatch.setattr(_programs, "_product_kernel",
                        lambda *arguments: used.append(arguments) or own(*arguments))
    core = {"mkm": (64, 64), "kmm": (64, 64), "batched": (64, 8, 8)}[kind]
    tensors = [torch.randn(s, device="cuda", requires_grad=True)
               for s in (core, (8, 8), (8, 8))]
    y = getattr(kt, kind)(tensors[0], tensors[1:])
    upstream = torch.randn_like(y)
    first = torch.autograd.grad(y, tensors, upstream, retain_graph=True)
    wide = [t.detach().cpu().double().requires_grad_() for t in tensors]
    expected = torch.autograd.grad(reference.product(kind, wide[0], wide[1:]), wide,
                                   upstream.cpu().double())
    for a, b, e in zip(first, torch.autograd.grad(y, tensors, upstream), expected):
        assert torch.equal(a, b)
        assert reference.error(a.cpu(), e) <= 2 * reference.bound(torch.float32)
    # Looked up once: the second pass launches what the node found.
    assert used


def test_side_stream():
    layer = knn.KSLinear(PATTERNS, device="cuda")
    x = torch.randn(196, layer.in_size, device="cuda", requires_grad=True)
    upstream = torch.randn(196, layer.out_size, device="cuda")
    _, expected = gradients(layer, x, upstream)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        # Both passes must come after what the stream has to do before.
        late, late_upstream = torch.zeros_like(x), torch.zeros_like(upstream)
        torch.cuda._sleep(20_000_000)
        late.copy_(x.detach())
        late_upstream.copy_(upstream)
        _, actual = gradients(layer, late.detach().requires_grad_(), late_upstream)
    stream.synchronize()
    for a, e in zip(actual, expected):
        torch.testing.assert_close(a, e)


# The line of docs/Python.md.
@pytest.mark.parametrize("name", ["chain", "monarch", "kron"])
def test_graphed_step(name):
    layer = layers()[name].to("cuda")
    plain = copy.deepcopy(layer)
    size = layer.in_features if hasattr(layer, "in_features") else layer.in_size
    sample = torch.randn(196, size, device="cuda", requires_grad=True)
    layer = torch.cuda.make_graphed_callables(layer, (sample,))
    for _ in range(3):
        x = torch.randn_like(sample).requires_grad_()
        y, expected = layer(x), plain(x)
        torch.testing.assert_close(y, expected)
        upstream = torch.randn_like(y)
        for a, e in zip(torch.autograd.grad(y, [x, *layer.parameters()], upstream),
                        torch.autograd.grad(expected, [x, *plain.parameters()], upstream)):
            torch.testing.assert_close(a, e)


def test_compiled_step_in_a_graph():
    pytest.importorskip("triton")
    torch._dynamo.reset()
    layer = knn.KSLinear(PATTERNS, device="cuda")
    compiled = torch.compile(layer, mode="reduce-overhead")
    for _ in range(4):
        x = torch.randn(196, layer.in_size, device="cuda", requires_grad=True)
        upstream = torch.randn(196, layer.out_size, device="cuda")
        _, expected = gradients(layer, x, upstream)
        actual = torch.autograd.grad(compiled(x), [x, *layer.parameters()], upstream)
        for a, e in zip(actual, expected):
            torch.testing.assert_close(a.clone(), e)


def test_compiled_step_calls_one_operation():
    torch._dynamo.reset()
    called = []

    def backend(module, inputs):
        called.extend(str(node.target) for node in module.graph.nodes
                      if str(node.target).startswith("kron."))
        return module.forward

    layer = knn.KSLinear(PATTERNS, device="cuda")
    x = torch.randn(5, layer.in_size, device="cuda", requires_grad=True)
    actual = torch.compile(layer, backend=backend, fullgraph=True)(x)
    assert called == ["kron.ksmm_chain"]
    torch.testing.assert_close(actual, layer(x))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_autocast(dtype):
    layer = knn.KSLinear(PATTERNS, device="cuda")
    x = torch.randn(196, layer.in_size, device="cuda", requires_grad=True)
    with torch.autocast("cuda", dtype=dtype):
        y = layer(x)
    assert is_node(y) and y.dtype == dtype
    # What is cast in one launch is what PyTorch would cast.
    assert torch.equal(y, copy.deepcopy(layer).to(dtype)(x.to(dtype)))
    upstream = torch.randn_like(y)
    actual = torch.autograd.grad(y, [x, *layer.parameters()], upstream)
    expected = torch.autograd.grad(layer(x), [x, *layer.parameters()], upstream.float())
    for a, e in zip(actual, expected):
        assert a.dtype == torch.float32
        assert reference.error(a.cpu(), e.cpu()) <= 8 * reference.bound(dtype)
    # The gradient by the bias, which is f32, is not rounded to 16 bits before.
    exact = upstream.double().sum(0)
    names = [name for name, _ in layer.named_parameters()]
    bias = actual[1 + names.index("bias")]
    assert bias.shape == exact.shape
    assert reference.error(bias.cpu(), exact.cpu()) <= 8 * reference.bound(torch.float32)


def test_nothing_is_synchronised():
    layer = knn.KSLinear(PATTERNS, device="cuda")
    x = torch.randn(196, layer.in_size, device="cuda", requires_grad=True)
    upstream = torch.randn(196, layer.out_size, device="cuda")
    gradients(layer, x, upstream)
    torch.cuda.set_sync_debug_mode("error")
    try:
        gradients(layer, x, upstream)
    finally:
        torch.cuda.set_sync_debug_mode("default")
