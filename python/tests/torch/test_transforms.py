# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""torch.compile, opcheck, vmap and torch.func, autocast."""

import pytest
import torch
from torch.func import grad, jacrev, vmap

import kron
import kron.torch as kt
from kron import nn as knn

OPS = torch.ops.kron


def array(*shape, dtype=torch.float64, requires_grad=False):
    return torch.randn(*shape, dtype=dtype, requires_grad=requires_grad)


def samples():
    """(name, operation, arguments) that opcheck runs."""
    g = {"requires_grad": True}
    x, a, b = array(3, 12, **g), array(3, 2, **g), array(4, 5, **g)
    yield "mkm", OPS.mkm, (x, [a, b])
    yield "mkm-addend", OPS.mkm, (x, [a, b], 2.0, array(3, 10, **g), 0.5)
    yield "mkm-transposed", OPS.mkm, (x.mT, [a, b.mT], 1, None, 0, "T", "NT")
    yield "mkm-batch", OPS.mkm, (array(2, 3, 12, **g), [array(2, 3, 2, **g), b])
    yield "mkm-integer", OPS.mkm, (torch.ones(3, 4, dtype=torch.int64),
                                   [torch.ones(4, 2, dtype=torch.int64)])
    yield "kmm", OPS.kmm, (array(12, 3, **g), [array(2, 3, **g), array(5, 4, **g)])
    yield "batched", OPS.batched, (array(2, 3, 4, **g),
                                   [array(2, 3, **g), array(5, 4, **g)])
    weights, features = array(2, 3, 2, 2, **g), array(5, 8, **g)
    yield "ksmm", OPS.ksmm, (features, weights)
    yield "ksmm-all", OPS.ksmm, (features, weights, array(12, **g), array(5, 12, **g),
                                 array(5, 12, **g), 1.5, 0.5, 2.0, "N", "batch_first",
                                 "gelu")
    yield "ksmm-last", OPS.ksmm, (array(12, 5, **g), weights, None, None, None, 1, 0, 1,
                                  "T", "batch_last")
    yield "ksmm_chain", OPS.ksmm_chain, (features, [weights, array(1, 2, 12, 1, **g)])
    yield "ksmm_weight_grad", OPS.ksmm_weight_grad, (array(5, 12, **g), features,
                                                     (2, 3, 2, 2))
    yield "axis_grad", OPS.axis_grad, (array(5, 2, 3, **g), array(5, 4, 3, **g), "outside")


SAMPLES = {name: (op, args) for name, op, args in samples()}


@pytest.mark.parametrize("name", SAMPLES)
def test_opcheck(name):
    op, args = SAMPLES[name]
    torch.library.opcheck(op.default, args)


def loss(x, a, b, weights, bias):
    y = torch.relu(kt.mkm(x, [a, b]))
    y = kt.ksmm(y, weights, bias=bias, epilogue="gelu")
    return kt.kmm(y, [a.mT.contiguous() @ a]).square().sum()


def inputs():
    return [array(2, 6, requires_grad=True), array(2, 2, requires_grad=True),
            array(3, 4, requires_grad=True), array(2, 3, 4, 1, requires_grad=True),
            array(6, requires_grad=True)]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_compile_fullgraph(backend, dynamic):
    torch._dynamo.reset()
    arguments = inputs()
    compiled = torch.compile(loss, backend=backend, fullgraph=True, dynamic=dynamic)
    try:
        actual = compiled(*arguments)
    except torch._inductor.exc.InductorError as error:
        if "compiler" not in str(error):
            raise
        pytest.skip("no C++ compiler for torch.compile")
    expected = loss(*arguments)
    torch.testing.assert_close(actual, expected)
    for a, e in zip(torch.autograd.grad(actual, arguments),
                    torch.autograd.grad(expected, arguments)):
        torch.testing.assert_close(a, e)


def test_compile_layers():
    torch._dynamo.reset()
    model = torch.nn.Sequential(knn.KSLinear([(2, 3, 4, 1), (1, 5, 3, 2)]),
                                torch.nn.ReLU(), knn.KronLinear([2, 5], [3, 3]),
                                knn.Monarch(9, 6))
    x = torch.randn(4, 8)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), model(x))
    compiled(x).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_compile_with_changing_batch():
    torch._dynamo.reset()
    factors = [array(2, 3), array(3, 2)]
    compiled = torch.compile(lambda x: kt.mkm(x, factors) * 2, backend="aot_eager",
                             fullgraph=True, dynamic=True)
    for rows in (2, 5, 8, 33):
        x = array(rows, 6)
        torch.testing.assert_close(compiled(x), kt.mkm(x, factors) * 2)


def test_export():
    model = knn.KSLinear([(2, 3, 4, 1)])
    x = torch.randn(5, 8)
    program = torch.export.export(model, (x,))
    torch.testing.assert_close(program.module()(x), model(x))


@pytest.mark.parametrize("name", ["mkm", "kmm", "batched"])
@pytest.mark.parametrize("mapped", ["x", "factor", "both", "nested"])
def test_vmap_products(name, mapped):
    function = getattr(kt, name)
    x = {"mkm": (3, 6), "kmm": (6, 3), "batched": (2, 3)}[name]
    first, second = array(4, 2, 2), array(3, 3)
    call = lambda x, a: function(x, [a, second])  # noqa: E731
    if mapped == "nested":
        xs = array(4, 5, *x)
        actual = vmap(vmap(call, in_dims=(0, None)), in_dims=(0, 0))(xs, first)
        expected = torch.stack([torch.stack([call(x, a) for x in row])
                                for row, a in zip(xs, first)])
        torch.testing.assert_close(actual, expected)
        return
    xs = array(4, *x) if mapped != "factor" else array(*x)
    matrices = first if mapped != "x" else first[0]
    in_dims = (0 if mapped != "factor" else None, 0 if mapped != "x" else None)
    expected = torch.stack([call(xs[i] if mapped != "factor" else xs,
                                 matrices[i] if mapped != "x" else matrices)
                            for i in range(4)])
    torch.testing.assert_close(vmap(call, in_dims=in_dims)(xs, matrices), expected)


def test_vmap_addend():
    x, factor, z = array(3, 4), array(4, 5), array(2, 3, 5)
    call = lambda z: kt.mkm(x, [factor], beta=2, z=z)  # noqa: E731
    torch.testing.assert_close(vmap(call)(z), torch.stack([call(each) for each in z]))


@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
@pytest.mark.parametrize("mapped", [(0, None, None, None), (1, 0, None, None),
                                    (None, 1, 0, None), (0, None, None, 0),
                                    (0, 0, 0, 0)])
def test_vmap_ksmm(layout, mapped):
    shapes = [(3, 8), (2, 3, 2, 2), (12,), (3, 12)]
    if layout == "batch_last":
        shapes[0], shapes[3] = shapes[0][::-1], shapes[3][::-1]
    arrays = []
    for shape, dim in zip(shapes, mapped):
        value = array(*shape) if dim is None else array(4, *shape).movedim(0, dim)
        arrays.append(value)

    def call(x, weights, bias, residual):
        return kt.ksmm(x, weights, layout=layout, bias=bias, residual=residual,
                       epilogue="silu")

    def pick(i):
        return [value if dim is None else value.select(dim, i)
                for value, dim in zip(arrays, mapped)]

    expected = torch.stack([call(*pick(i)) for i in range(4)])
    torch.testing.assert_close(vmap(call, in_dims=mapped)(*arrays), expected)


def test_vmap_chain():
    x, first, second = array(4, 3, 4), array(4, 2, 2, 2, 1), array(1, 3, 4, 1)
    call = lambda x, w: OPS.ksmm_chain(x, [w, second])  # noqa: E731
    expected = torch.stack([call(*pair) for pair in zip(x, first)])
    torch.testing.assert_close(vmap(call)(x, first), expected)


def test_per_sample_gradients():
    weights = array(2, 3, 2, 1)
    xs, bias = array(5, 4), array(6)

    def sample_loss(weights, x):
        return kt.ksmm(x.unsqueeze(0), weights, bias=bias).square().sum()

    actual = vmap(grad(sample_loss), in_dims=(None, 0))(weights, xs)
    expected = torch.stack([grad(sample_loss)(weights, x) for x in xs])
    torch.testing.assert_close(actual, expected)


def test_jacobian_and_hessian():
    x, b = array(2, 6), array(3, 2)
    a = array(2, 2)
    f = lambda a: kt.mkm(x, [a, b])  # noqa: E731
    expected = torch.stack([torch.autograd.grad(f(a.requires_grad_()).flatten()[i], a)[0]
                            for i in range(8)]).reshape(2, 4, 2, 2)
    torch.testing.assert_close(jacrev(f)(a.detach()), expected)
    g = lambda a: kt.mkm(x, [a, a @ a, b]).square().sum()  # noqa: E731
    x = array(2, 12)
    actual = jacrev(jacrev(g))(a.detach())
    expected = torch.autograd.functional.hessian(g, a.detach())
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(dtype):
    x = torch.randn(4, 12, requires_grad=True)
    factors = [torch.randn(3, 2, requires_grad=True), torch.randn(4, 5)]
    with torch.autocast("cpu", dtype=dtype):
        y = kt.mkm(x, factors)
        module = knn.KSLinear([(2, 3, 5, 1)])
        assert module(y).dtype == dtype
        assert kt.mkm(x.double(), [f.double() for f in factors]).dtype == torch.float64
    assert y.dtype == dtype
    expected = kt.mkm(x.to(dtype), [f.to(dtype) for f in factors])
    assert torch.equal(y, expected)
    y.sum().backward()
    assert x.grad.dtype == torch.float32 and factors[0].grad.dtype == torch.float32
    assert kt.mkm(x, factors).dtype == torch.float32


def test_tensor_subclass_and_meta():
    x = torch.empty(3, 12, device="meta")
    y = kt.mkm(x, [torch.empty(3, 2, device="meta"), torch.empty(4, 5, device="meta")])
    assert y.device.type == "meta" and y.shape == (3, 10)
    parameter = torch.nn.Parameter(torch.randn(4, 2))
    assert type(kt.mkm(torch.randn(3, 4), [parameter])) is torch.Tensor


def test_compile_package_functions():
    torch._dynamo.reset()
    function = lambda x, f: kron.ksmm(kron.mkm(x, [f, f]), weights)  # noqa: E731
    x, f = torch.randn(4, 16), torch.nn.Parameter(torch.randn(4, 4))
    weights = torch.randn(2, 3, 4, 2)
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, f), function(x, f))
