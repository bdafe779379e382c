# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Calls that are one node of the graph: what autograd does with nodes, and the same results
and words as the operations have."""

import contextlib
import gc
import threading
import weakref

import bad_calls
import pytest
import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

import kron
import kron.torch as kt
from kron import _core
from kron import nn as knn
from kron.torch import _kernels, _programs

REAL = torch.float64


def array(*shape, dtype=REAL):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


class _Passive(TorchDispatchMode):
    """A mode that changes nothing, but has to see the operations."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def chain_weights(dtype=REAL):
    return [array(2, 2, 1, 2, dtype=dtype), array(1, 3, 4, 2, dtype=dtype)]


def cases(dtype=REAL):
    """name -> (function, tensors)"""
    def new(*shape):
        return array(*shape, dtype=dtype)

    features, weights = new(5, 4), chain_weights(dtype)
    return {
        "mkm": (lambda x, a, b: kt.mkm(x, [a, b]), [new(5, 6), new(2, 3), new(3, 2)]),
        "mkm-scaled": (lambda x, z, a, b: kt.mkm(
            x, [a, b], alpha=2, beta=0.5, z=z, trans_factors=["T", "N"]),
            [new(5, 6), new(6), new(3, 2), new(3, 2)]),
        "mkm-trans": (lambda x, a, b: kt.mkm(x, [a, b], trans_x=True, trans_factors=True),
                      [new(6, 5), new(3, 2), new(2, 3)]),
        "mkm-batched": (lambda x, a, b: kt.mkm(x, [a, b]),
                        [new(2, 5, 6), new(2, 2, 3), new(3, 2)]),
        "mkm-vector": (lambda x, a, b: kt.mkm(x, [a, b]), [new(6), new(2, 3), new(3, 2)]),
        "kmm": (lambda x, a, b: kt.kmm(x, [a, b]), [new(6, 5), new(3, 2), new(2, 3)]),
        "batched": (lambda x, a, b: kt.batched(x, [a, b]),
                    [new(5, 2, 3), new(3, 2), new(2, 3)]),
        "ksmm": (lambda x, w, bias: kt.ksmm(x, w, (1, 3, 2, 2), bias=bias),
                 [features, new(1, 3, 2, 2), new(6)]),
        "ksmm-all": (lambda x, w, bias, z, residual: kt.ksmm(
            x, w, bias=bias, z=z, residual=residual, alpha=1.5, beta=-0.5, scale=0.75,
            epilogue="gelu", trans_weights=True),
            [features, new(1, 4, 6, 1), new(6), new(5, 6), new(5, 6)]),
        "chain": (lambda x, bias, *w: kt.ksmm_chain(x, w, bias=bias),
                  [features, new(6), *weights]),
        "chain-silu": (lambda x, bias, z, *w: kt.ksmm_chain(
            x, w, bias=bias, z=z, beta=2, alpha=0.5, epilogue="silu", trans_weights="N"),
            [features, new(6), new(5, 6), *weights]),
        "chain-last": (lambda x, bias, *w: kt.ksmm_chain(x, w, layout="batch_last", bias=bias),
                       [new(4, 5), new(6), *weights]),
    }


CASES = list(cases())


def is_node(y):
    """Whether a result, or what it is a view of, comes from one of the nodes."""
    node = y.grad_fn
    if "Squeeze" in node.name():
        node = node.next_functions[0][0]
    return node.name() in ("KronProductBackward", "KronSparseBackward")


def through_node(function):
    def call(*tensors):
        y = function(*tensors)
        assert is_node(y)
        return y

    return call


def by_operations(function, tensors, upstream=None, mode=_Passive):
    """The result and gradients of the operations."""
    with mode():
        y = function(*tensors)
        assert not is_node(y)
        if upstream is None:
            upstream = torch.ones_like(y)
        return y, torch.autograd.grad(y, tensors, upstream)


# ----------------------------------------------------------------------------------
# Which calls
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_operations(name):
    function, tensors = cases()[name]
    y = through_node(function)(*tensors)
    upstream = torch.randn_like(y)
    grads = torch.autograd.grad(y, tensors, upstream)
    expected, expected_grads = by_operations(function, tensors, upstream)
    torch.testing.assert_close(y, expected, rtol=1e-14, atol=1e-14)
    for actual, wanted in zip(grads, expected_grads):
        torch.testing.assert_close(actual, wanted, rtol=1e-13, atol=1e-13)
        assert actual.shape == wanted.shape


# Verify that one call of an operation and one node give the same bits.
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64], ids=str)
@pytest.mark.parametrize("name", ["mkm", "mkm-scaled", "kmm", "batched", "ksmm"])
def test_bits_are_those_of_the_operations(name, dtype):
    function, tensors = cases(dtype)[name]
    y = through_node(function)(*tensors)
    expected, expected_grads = by_operations(function, tensors)
    assert torch.equal(y, expected)
    for actual, wanted in zip(torch.autograd.grad(y, tensors, torch.ones_like(y)),
                              expected_grads):
        assert torch.equal(actual, wanted)


def layers(dtype=REAL):
    return [knn.KSLinear([(2, 2, 1, 2), (1, 3, 4, 2)], dtype=dtype),
            knn.KronLinear([2, 2], [3, 3], dtype=dtype),
            knn.Monarch(4, 6, dtype=dtype),
            knn.KSLinear([(1, 3, 4, 1)], bias=False, dtype=dtype)]


@pytest.mark.parametrize("number", range(4))
def test_layers_are_one_node(number):
    layer, x = layers()[number], array(3, 4)
    y = layer(x)
    assert is_node(y)
    parents = {child.name() for child, _ in y.grad_fn.next_functions if child is not None}
    assert parents == {"torch::autograd::AccumulateGrad"}
    y.sum().backward()
    assert x.grad is not None and all(p.grad is not None for p in layer.parameters())


class _Subclass(torch.Tensor):
    pass


def test_what_has_to_see_operations_does():
    x, factors = array(5, 6), [array(2, 3), array(3, 2)]
    assert not is_node(kt.mkm(x.as_subclass(_Subclass), factors))
    assert not is_node(kt.mkm(x, [factors[0], factors[1].as_subclass(_Subclass)]))
    assert not is_node(kt.ksmm(array(5, 4).as_subclass(_Subclass), array(1, 3, 2, 2)))
    with _Passive():
        assert not is_node(kt.mkm(x, factors))
    with torch.profiler.profile() as profile:
        assert not is_node(kt.mkm(x, factors))
    assert "kron::mkm" in {event.key for event in profile.key_averages()}
    with torch.no_grad():
        assert kt.mkm(x, factors).grad_fn is None
    assert kt.mkm(x.detach(), [f.detach() for f in factors]).grad_fn is None


def test_forward_mode_is_refused():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(array(5, 6), torch.ones(5, 6, dtype=REAL))
        with pytest.raises(NotImplementedError, match="forward-mode"):
            kt.mkm(x, [array(2, 3), array(3, 2)])


def test_package_functions_are_nodes():
    assert is_node(kron.mkm(array(5, 6), [array(2, 3), array(3, 2)]))
    assert is_node(kron.ksmm_chain(array(5, 4), chain_weights()))


def test_scalars_that_are_tensors():
    alpha = torch.tensor(2.0, dtype=REAL, requires_grad=True)
    y = kt.mkm(array(5, 6), [array(2, 3), array(3, 2)], alpha=alpha)
    assert is_node(y)
    torch.testing.assert_close(torch.autograd.grad(y.sum(), alpha)[0],
                               (y.sum() / alpha).detach())


# Verify that every wrong call is refused by the same words, with gradients recorded and by
# the operations.
@pytest.mark.parametrize("number", range(len(bad_calls.CALLS)))
def test_wrong_arguments(number):
    call, kind, match = bad_calls.CALLS[number]
    words = []
    for context in (contextlib.nullcontext(), _Passive()):
        for requires_grad in (True, False):
            with context, pytest.raises(kind, match=match) as caught:
                call(lambda *shape: torch.ones(*shape, requires_grad=requires_grad))
            words.append(str(caught.value))
    assert len(set(words)) == 1


def test_out_with_gradients_is_refused():
    x, factors = array(5, 6), [array(2, 3), array(3, 2)]
    with pytest.raises(RuntimeError, match="need a gradient when out is given"):
        kt.mkm(x, factors, out=torch.empty(5, 6, dtype=REAL))


# Verify that strides which compiled code does not take end in an operation.
def test_strides_that_no_kernel_takes():
    x = array(10, 12)
    factor = array(4, 6)
    y = kt.mkm(x[::2, ::2], [factor[::2, ::2], array(3, 2)])
    assert y.requires_grad and not is_node(y)


# ----------------------------------------------------------------------------------
# Derivatives
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_first_and_second_derivatives(name):
    function, tensors = cases()[name]
    assert gradcheck(through_node(function), tensors)
    assert gradgradcheck(through_node(function), tensors)


@pytest.mark.parametrize("name", CASES)
def test_only_what_is_needed(name, monkeypatch):
    function, tensors = cases()[name]
    expected = by_operations(function, tensors)[1]
    asked = []
    for kernel, position in (("product_grads", 4), ("ksmm_grads", 4)):
        own = getattr(_kernels, kernel)

        def spy(*arguments, own=own, position=position):
            result = own(*arguments)
            needs = arguments[position]
            assert [r is not None for r in result] == list(needs)
            asked.append(list(needs))
            return result

        monkeypatch.setattr(_kernels, kernel, spy)
    for chosen in range(len(tensors)):
        asked.clear()
        for k, tensor in enumerate(tensors):
            tensor.requires_grad_(k == chosen)
        y = through_node(function)(*tensors)
        y.sum().backward()
        torch.testing.assert_close(tensors[chosen].grad, expected[chosen])
        assert len(asked) == 1 and sum(asked[0]) <= 1
        assert all((t.grad is not None) == (k <= chosen) for k, t in enumerate(tensors))


# Verify that compiled code computes gradients where factors are transposed arrays and z is an array
# like the result, as where a product is added to that of another layer.
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
def test_added_products_of_transposed_factors(kind, dtype, monkeypatch):
    shapes = {"mkm": [(5, 6), (5, 6)], "kmm": [(6, 5), (6, 5)], "batched": [(5, 2, 3), (5, 3, 2)]}
    x, z = (array(*shape, dtype=dtype) for shape in shapes[kind])
    # Stored as 3 x 2 and 3 x 2: one as the product takes it, one transposed.
    a, b = (array(3, 2, dtype=dtype) for _ in range(2))

    def function(x, z, a, b):
        factors = [a.mT, b] if kind == "mkm" else [b, a.mT]
        return getattr(kt, kind)(x, factors, beta=1, z=z)

    tensors = [x, z, a, b]
    upstream = torch.randn_like(z)
    expected = by_operations(function, tensors, upstream)[1]

    def refuse(*arguments):
        raise AssertionError("Python code has been asked")

    monkeypatch.setattr(_kernels, "product_grads", refuse)
    actual = torch.autograd.grad(through_node(function)(*tensors), tensors, upstream)
    for found, wanted in zip(actual, expected):
        torch.testing.assert_close(found, wanted)
        assert found.shape == wanted.shape


def test_unused_inputs():
    x, a, b, other = array(5, 6), array(2, 3), array(3, 2), array(1)
    y = through_node(lambda x, a, b: kt.mkm(x, [a, b]))(x, a, b)
    grad, none = torch.autograd.grad(y.sum(), [a, other], allow_unused=True, retain_graph=True)
    assert none is None and grad.shape == a.shape
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad(y.sum(), [other])


@pytest.mark.parametrize("name", CASES)
def test_gradients_that_lie_apart(name):
    function, tensors = cases()[name]
    y = through_node(function)(*tensors)
    dense = torch.randn_like(y)
    apart = torch.empty(*y.shape, 2, dtype=REAL)[..., 0].copy_(dense)
    turned = dense.mT.contiguous().mT if y.dim() > 1 else dense
    expected = torch.autograd.grad(y, tensors, dense, retain_graph=True)
    for upstream in (apart, turned):
        for actual, wanted in zip(torch.autograd.grad(y, tensors, upstream, retain_graph=True),
                                  expected):
            torch.testing.assert_close(actual, wanted)
    # That of a sum has strides of 0.
    ones = torch.autograd.grad(y, tensors, torch.ones_like(y), retain_graph=True)
    for actual, wanted in zip(torch.autograd.grad(y.sum(), tensors), ones):
        torch.testing.assert_close(actual, wanted)


def test_retain_graph():
    function, tensors = cases()["chain"]
    y = through_node(function)(*tensors).sum()
    first = torch.autograd.grad(y, tensors, retain_graph=True)
    for a, b in zip(first, torch.autograd.grad(y, tensors)):
        assert torch.equal(a, b)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, tensors)


@pytest.mark.parametrize("name, position", [("mkm", 0), ("mkm", 2), ("ksmm", 0), ("ksmm", 1),
                                            ("ksmm-all", 2), ("ksmm-all", 3), ("chain", 0),
                                            ("chain", 2), ("chain", 3)])
def test_changes_after_the_call_are_found(name, position):
    function, tensors = cases()[name]
    y = through_node(function)(*tensors)
    with torch.no_grad():
        tensors[position].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_result_may_change_in_place():
    function, tensors = cases()["mkm"]
    y = through_node(function)(*tensors)
    y.mul_(3)
    expected = torch.autograd.grad(function(*tensors).sum(), tensors)
    for actual, wanted in zip(torch.autograd.grad(y.sum(), tensors), expected):
        torch.testing.assert_close(actual, 3 * wanted)


# ----------------------------------------------------------------------------------
# What PyTorch does with nodes
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mkm", "chain"])
def test_hooks(name):
    function, tensors = cases()[name]
    y = through_node(function)(*tensors)
    calls = []
    y.register_hook(lambda grad: calls.append("result") or 2 * grad)
    y.grad_fn.register_prehook(lambda grads: calls.append("before"))
    y.grad_fn.register_hook(lambda grads, outer: calls.append("after"))
    tensors[0].register_post_accumulate_grad_hook(lambda tensor: calls.append("sum"))
    y.sum().backward()
    assert calls == ["result", "before", "after", "sum"]
    expected = torch.autograd.grad(function(*tensors).sum(), tensors)
    torch.testing.assert_close(tensors[0].grad, 2 * expected[0])


def test_module_hooks():
    layer, x, seen = layers()[0], array(3, 4), []
    layer.register_full_backward_hook(lambda module, before, after: seen.append(
        (before[0].shape, after[0].shape)))
    layer(x).sum().backward()
    assert seen == [((3, 4), (3, 6))]


def test_saved_tensors_hooks():
    function, tensors = cases()["chain"]
    packed, unpacked = [], []
    with torch.autograd.graph.saved_tensors_hooks(
            lambda t: packed.append(t.shape) or t.numpy(force=True).copy(),
            lambda a: unpacked.append(a.shape) or torch.from_numpy(a)):
        y = through_node(function)(*tensors)
    grads = torch.autograd.grad(y.sum(), tensors)
    # x, two weights and what lies between them.
    assert len(packed) == len(unpacked) == 4
    for actual, wanted in zip(grads, by_operations(function, tensors)[1]):
        torch.testing.assert_close(actual, wanted)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint(reentrant):
    function, tensors = cases()["chain"]
    y = checkpoint(through_node(function), *tensors, use_reentrant=reentrant) if not reentrant \
        else checkpoint(function, *tensors, use_reentrant=True)
    y.sum().backward()
    for tensor, wanted in zip(tensors, by_operations(function, tensors)[1]):
        torch.testing.assert_close(tensor.grad, wanted)


def test_anomaly_mode():
    x, factor = array(5, 6), torch.full((6, 2), float("nan"), dtype=REAL)
    with torch.autograd.detect_anomaly(check_nan=True):
        y = kt.mkm(x, [factor])
        assert is_node(y)
        with pytest.warns(UserWarning, match="KronProductBackward"), \
                pytest.raises(RuntimeError, match="KronProductBackward.*nan"):
            y.sum().backward()


def test_saved_arrays_are_released():
    function, tensors = cases()["chain"]
    y = through_node(function)(*tensors)
    kept = weakref.ref(y.grad_fn)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.grad_fn.saved_tensors  # noqa: B018
    del y
    gc.collect()
    assert kept() is None


def test_threads():
    function, tensors = cases()["chain"]
    expected = by_operations(function, tensors)[1]
    failures = []

    def work():
        for _ in range(20):
            y = through_node(function)(*tensors)
            grads = torch.autograd.grad(y.sum(), tensors)
            if not all(torch.allclose(a, e) for a, e in zip(grads, expected)):
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("name", ["mkm", "kmm", "ksmm", "ksmm-all", "chain"])
def test_autocast(name):
    function, tensors = cases(torch.float32)[name]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = through_node(function)(*tensors)
        assert y.dtype == torch.bfloat16
        grads = torch.autograd.grad(y.sum(), tensors, retain_graph=True)
    later = torch.autograd.grad(y.sum(), tensors)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = by_operations(function, tensors)[1]
    for tensor, within, after, wanted in zip(tensors, grads, later, expected):
        assert within.dtype == tensor.dtype
        torch.testing.assert_close(within, wanted, rtol=2e-2, atol=1e-1)
        torch.testing.assert_close(within, after, rtol=2e-2, atol=1e-1)


def upstream_nodes(node):
    return [inner.name().rpartition("::")[2] for inner, _ in node.next_functions
            if inner is not None]


# Verify that the casts of leaves are part of a call's node, those of others nodes of their
# own, and that arrays are saved in autocast's type.
@pytest.mark.parametrize("name", ["mkm", "mkm-scaled", "batched", "ksmm", "ksmm-all", "chain",
                                  "chain-silu"])
def test_autocast_casts_leaves_inside(name):
    function, tensors = cases(torch.float32)[name]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = through_node(function)(*tensors)
        inner = function(2 * tensors[0], *tensors[1:])
    assert set(upstream_nodes(y.grad_fn)) == {"AccumulateGrad"}
    assert upstream_nodes(inner.grad_fn).count("ToCopyBackward0") == 1
    for node in (y.grad_fn, inner.grad_fn):
        assert all(saved.dtype == torch.bfloat16 for saved in node.saved_tensors)
    expected = function(*[t.detach().bfloat16() for t in tensors])
    assert torch.equal(y, expected)


@pytest.mark.parametrize("name", ["mkm", "mkm-scaled", "kmm", "ksmm", "ksmm-all", "chain",
                                  "chain-silu"])
def test_gradients_of_gradients_under_autocast(name):
    function, tensors = cases(torch.float32)[name]

    def second(call):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = call(*tensors)
        first = torch.autograd.grad(y.float().square().sum(), tensors, create_graph=True)
        assert all(grad.dtype == torch.float32 for grad in first)
        return torch.autograd.grad(sum(grad.square().sum() for grad in first), tensors)

    def cast_apart(*values):
        return function(*[value.bfloat16() for value in values])

    for actual, wanted in zip(second(through_node(function)), second(cast_apart)):
        assert actual.dtype == torch.float32
        torch.testing.assert_close(actual, wanted, rtol=5e-2, atol=5e-2 * float(wanted.abs().max()))


# Verify that parameters can change after a forward pass under autocast, as those of PyTorch's
# own layers can: what was cast is kept, not the parameter.
@pytest.mark.parametrize("has_graph", [False, True])
def test_autocast_lets_parameters_change(has_graph):
    layer, x = knn.KSLinear([(2, 2, 1, 2), (1, 3, 4, 2)]), torch.randn(5, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = torch.autograd.grad(layer(x).sum(), list(layer.parameters()))
        y = layer(x)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(3)
    actual = torch.autograd.grad(y.sum(), list(layer.parameters()), create_graph=has_graph)
    for a, e in zip(actual, expected):
        torch.testing.assert_close(a, e)


# Verify that a bias, which stays in f32, gets a gradient summed in f32: 5001 is a value of
# neither 16-bit type, and sums in bf16 stop at 256.
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("bs_last", [False, True])
def test_autocast_sums_gradients_of_biases_in_f32(dtype, bs_last):
    layer = knn.KSLinear([(1, 8, 4, 2), (2, 4, 8, 1)], bs_last=bs_last)
    x = torch.randn(8, 5001) if bs_last else torch.randn(5001, 8)
    with torch.autocast("cpu", dtype=dtype):
        y = layer(x)
    y.backward(torch.ones_like(y))
    assert y.dtype == dtype and layer.bias.grad.dtype == torch.float32
    assert torch.equal(layer.bias.grad, torch.full((8,), 5001.0))


# Verify that the function of a node sums gradients by a bias, too, in its type; frozen ones get
# none.
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("make", [
    lambda: knn.KSLinear([(1, 4, 2, 2), (2, 2, 4, 1)]), lambda: knn.KronLinear([2, 2], [2, 3]),
    lambda: knn.KSLinear([(1, 4, 2, 2), (2, 2, 4, 1)], bs_last=True)])
def test_gradients_of_biases_are_no_sums_of_pytorch(monkeypatch, make, dtype):
    layer = make()
    x = torch.randn(4, 4, dtype=dtype)
    with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
        y = layer(x)
    upstream = torch.randn_like(y)
    expected = upstream.float().sum(1 if getattr(layer, "bs_last", False) else 0)
    monkeypatch.setattr(torch.Tensor, "sum", None)
    y.backward(upstream, retain_graph=True)
    assert layer.bias.grad.dtype == torch.float32
    torch.testing.assert_close(layer.bias.grad, expected)
    layer.bias.requires_grad_(False)
    with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
        y = layer(x)
    y.backward(upstream)
    torch.testing.assert_close(layer.bias.grad, expected)


# Verify that small arrays are cast in one launch, compiled once, and to what casts one by one
# give, and that the others are cast one by one: large ones, and those with gaps. No other test
# has calls of as many factors.
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_casts_in_one_launch(dtype):
    compiled = []

    def compile_casts(*arguments):
        compiled.append(arguments)
        return _programs.cast_kernel(*arguments)

    def check(x, weights):
        with torch.autocast("cpu", dtype=dtype):
            y = kt.ksmm_chain(x, weights)
        assert is_node(y)
        assert torch.equal(y, kt.ksmm_chain(x.to(dtype), [w.to(dtype) for w in weights]))

    weights = [array(1, 2, 2, 1, dtype=torch.float32) for _ in range(17)]
    gaps = torch.randn(1, 2, 2, 2)[..., ::2].requires_grad_()
    _core.set_cast_kernels(compile_casts)
    try:
        check(array(3000, 2, dtype=torch.float32), weights)
        check(array(3, 2, dtype=torch.float32), [*weights[:-1], gaps])
        assert not compiled
        for rows in (3, 5):
            check(array(rows, 2, dtype=torch.float32), weights)
        # What is of the type already is left as it is.
        check(array(3, 2, dtype=torch.float32).to(dtype), weights)
        name = {torch.bfloat16: "bf16", torch.float16: "f16"}[dtype]
        assert compiled == [(18, name, -1), (17, name, -1)]
    finally:
        _core.set_cast_kernels(_programs.cast_kernel)


# Verify that the node's kernels write gradients by f32 factors in f32, so that nothing has to
# cast them, and as they would be cast; frozen ones get none.
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["mkm", "kmm", "batched", "ksmm", "chain", "chain-last"])
def test_autocast_writes_gradients_in_f32(name, dtype):
    function, tensors = cases(torch.float32)[name]
    factors = [tensor for tensor in tensors[1:] if tensor.dim() > 1]
    for frozen in (None, factors[0]):
        if frozen is not None:
            frozen.requires_grad_(False)
        with torch.autocast("cpu", dtype=dtype):
            y = through_node(function)(*tensors)
        upstream = torch.randn_like(y)
        with torch.no_grad():
            actual = y.grad_fn.apply(upstream)[-len(factors):]
        wanted = [tensor for tensor in factors if tensor is not frozen]
        expected = torch.autograd.grad(function(*[tensor.to(dtype) for tensor in tensors]),
                                       wanted, upstream) if wanted else []
        actual = [grad for grad in actual if grad is not None]
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert a.dtype == torch.float32 and torch.equal(a, e)


@pytest.mark.parametrize("name", ["mkm", "ksmm", "chain"])
def test_autocast_without_gradients(name):
    function, tensors = cases(torch.float32)[name]
    plain = [tensor.detach() for tensor in tensors]
    expected = function(*[tensor.bfloat16() for tensor in plain])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(function(*plain), expected)
        with torch.no_grad():
            assert torch.equal(function(*tensors), expected)
        x = tensors[0].detach()
        y = function(x, *tensors[1:])
    assert torch.equal(y, expected) and is_node(y)


def test_autocast_leaves_other_types():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = kt.mkm(array(5, 6), [array(2, 3), array(3, 2)])
        assert y.dtype == REAL and is_node(y)
        with torch.autocast("cpu", enabled=False):
            assert layers(torch.float32)[0](torch.ones(3, 4)).dtype == torch.float32


# Verify that a node's backward takes several gradients at once where operations do, which
# PyTorch maps only without lists of tensors.
@pytest.mark.parametrize("name", ["ksmm", "ksmm-all", "chain", "chain-last"])
def test_batched_gradients(name):
    function, tensors = cases()[name]
    y = through_node(function)(*tensors)
    upstream = torch.randn(3, *y.shape, dtype=REAL)
    together = torch.autograd.grad(y, tensors, upstream, is_grads_batched=True,
                                   retain_graph=True)
    for row in range(3):
        for actual, wanted in zip(together, torch.autograd.grad(y, tensors, upstream[row],
                                                                retain_graph=True)):
            torch.testing.assert_close(actual[row], wanted)


@pytest.mark.parametrize("name", ["mkm", "ksmm-all", "chain"])
def test_function_transforms_of_the_same_function(name):
    function, tensors = cases()[name]
    y = through_node(function)(*tensors)
    expected = torch.autograd.grad(y.sum(), tensors)
    actual = torch.func.grad(lambda *t: function(*t).sum(), tuple(range(len(tensors))))(
        *[t.detach() for t in tensors])
    for a, e in zip(actual, expected):
        torch.testing.assert_close(a, e)
    rows = torch.stack([tensors[0], 2 * tensors[0]]).detach()
    mapped = torch.func.vmap(lambda x: function(x, *tensors[1:]))(rows)
    torch.testing.assert_close(mapped[1], function(rows[1], *tensors[1:]))


def test_compiled_and_eager_agree():
    torch._dynamo.reset()
    for layer in layers():
        x = array(3, 4)
        y = layer(x)
        assert is_node(y)
        compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)(x)
        torch.testing.assert_close(compiled, y)
        inputs = [x, *layer.parameters()]
        for actual, wanted in zip(torch.autograd.grad(compiled.square().sum(), inputs),
                                  torch.autograd.grad(y.square().sum(), inputs)):
            torch.testing.assert_close(actual, wanted)


# Verify that compiled forwards and backwards refuse what only PyTorch may call them with.
def test_forwards_and_backwards_count_their_arguments():
    for name, count in (("forward_product", 4), ("forward_sparse", 6), ("backward_product", 2),
                        ("backward_sparse", 2)):
        with pytest.raises(TypeError, match=f"expects {count} arguments, but got 1"):
            getattr(_core, name)(None)


# Verify that contexts get saved tensors by their attribute only where that is the same.
def test_saving_is_known():
    from kron.torch import _eager

    def other(context, *arrays):
        context.to_save = arrays
        context.more = None

    def refusing(context, *arrays):
        raise TypeError("no context")

    known = _eager._saving_is_setting
    assert known("to_save", lambda context, *arrays: setattr(context, "to_save", arrays))
    assert not known("to_save", lambda context, *arrays: setattr(context, "to_save", arrays[:1]))
    assert not known("to_save", other) and not known("to_save", refusing)
    assert not known("another", lambda context, *arrays: setattr(context, "to_save", arrays))
