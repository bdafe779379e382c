# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Compiled functions of all gradients of a call, beside gradients step by step."""

import pytest
import torch
from test_eager import REAL, array, cases, chain_weights, through_node

import kron.torch as kt
from kron import _core
from kron.torch import _eager, _kernels, _programs, _weight_grad
from kron.torch._axis_grad import is_fast_on_gpu


def compare_programs(monkeypatch, owner, name, call, tensors):
    """Gradients by one function beside those step by step."""
    results, y = [], through_node(call)(*tensors)
    upstream = torch.randn_like(y)
    for has_program in (True, False):
        used = []

        def chosen(*arguments, has_program=has_program, used=used):
            used.append(has_program)
            return has_program

        monkeypatch.setattr(owner, name, chosen)
        _core.forget_kernels()
        results.append(torch.autograd.grad(y, tensors, upstream, retain_graph=True))
        # Compiled code and Python code ask.
        assert set(used) == {has_program}
    _core.forget_kernels()
    for together, steps in zip(*results):
        torch.testing.assert_close(together, steps, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
@pytest.mark.parametrize("trans", ["NNN", "TNC", "NTT"])
@pytest.mark.parametrize("precision", ["full", "ieee"])
def test_gradients_of_products_by_one_function(monkeypatch, kind, trans, precision):
    p, q, rows = (2, 3, 4), (3, 1, 5), 7
    shapes = [(a, b) if (kind == "mkm") == (letter == "N") else (b, a)
              for a, b, letter in zip(p, q, trans)]
    x = {"mkm": (rows, 24), "kmm": (24, rows), "batched": (rows, *p)}[kind]
    tensors = [array(*x), *[array(*shape) for shape in shapes]]
    compare_programs(
        monkeypatch, _programs, "_has_product",
        lambda x, *f: getattr(kt, kind)(x, f, alpha=1.5, trans_factors=list(trans),
                                        precision=precision), tensors)


@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
@pytest.mark.parametrize("trans", ["NN", "TN", "CT"])
@pytest.mark.parametrize("rows", [(9,), (2, 35)])
def test_gradients_of_chains_by_one_function(monkeypatch, layout, trans, rows):
    patterns = [(2, 3, 4, 2), (3, 2, 4, 1)]
    weights = [array(a, b, c, d) if letter == "N" else array(a, c, b, d)
               for (a, b, c, d), letter in zip(patterns, trans)]
    x = array(*rows, 16) if layout == "batch_first" else array(16, *rows)
    compare_programs(
        monkeypatch, _programs, "_has_chain",
        lambda x, bias, *w: kt.ksmm_chain(x, w, layout=layout, bias=bias,
                                          trans_weights=list(trans)),
        [x, array(6), *weights])


# Verify that a function without the inputs of factors computes them.
def test_chain_whose_inputs_are_not_kept(monkeypatch):
    weights, x = chain_weights(), array(9, 4)
    arguments = [[], [True] * 4, "NN", "batch_first", "full"]
    grad = torch.randn(9, 6, dtype=REAL)
    results = []
    for has_program in (True, False):
        monkeypatch.setattr(_programs, "_has_chain", lambda *_, flag=has_program: flag)
        with torch.no_grad():
            results.append(_kernels.ksmm_grads(grad, x, weights, *arguments))
    for together, steps in zip(*results):
        torch.testing.assert_close(together, steps, rtol=1e-13, atol=1e-13)


def test_there_is_a_function_for_calls_that_take_longer_to_ask_for(monkeypatch):
    compiled = []
    own = _programs._product_kernel
    monkeypatch.setattr(_programs, "_product_kernel",
                        lambda *arguments: compiled.append(arguments) or own(*arguments))
    function, tensors = cases()["mkm"]
    function(*tensors).sum().backward()
    assert len(compiled) == 1
    assert _eager._operations(tensors[0].detach()) is _eager._dispatch
    with torch.no_grad():
        assert _eager._operations(tensors[0].detach()) is _kernels


# Verify gradients by weights of 16-bit types on a CPU: by products of 16-bit types of all rows or
# of some at a time, and by those of float32 where the processor has no others.
@pytest.mark.parametrize("pattern", [(2, 3, 4, 2), (1, 4, 3, 9), (3, 4, 5, 1)], ids=str)
@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("multiplies", [True, False])
def test_weight_gradients_of_16_bit_types(monkeypatch, pattern, rows, dtype, multiplies):
    a, b, c, d = pattern
    grad = torch.randn(rows, a * b * d).to(dtype)
    x = torch.randn(rows, a * c * d).to(dtype)
    used = []
    multiply = torch.bmm

    def recorded(left, right):
        used.append((left.dtype, left.shape[-1]))
        return multiply(left, right)

    monkeypatch.setattr(_weight_grad, "_multiplies", lambda dtype: multiplies)
    monkeypatch.setattr(_weight_grad, "_is_fast_whole", lambda *shape: False)
    monkeypatch.setattr(_weight_grad, "_MOST_ROWS", 32)
    monkeypatch.setattr(_weight_grad, "_LEAST_ROWS", 16)
    monkeypatch.setattr(torch, "bmm", recorded)
    actual = _kernels.ksmm_weight_grad(grad, x, pattern)
    pieces = [rows] if d == 1 or rows <= 32 else [32, 32, 32, 4]
    assert used == ([(dtype, piece) for piece in pieces] if multiplies else [])
    expected = torch.einsum("nijt,nikt->ijkt", grad.double().view(rows, a, b, d),
                            x.double().view(rows, a, c, d))
    assert actual.dtype == dtype and actual.shape == pattern and actual.is_contiguous()
    error = (actual.double() - expected).norm() / expected.norm()
    assert error < 2 * torch.finfo(dtype).eps


# Verify gradients by weights of 16-bit types on a CPU by products of all t with all t, where an
# infinity among what is not wanted stays there.
@pytest.mark.parametrize("pattern", [(2, 3, 4, 2), (1, 4, 3, 9), (3, 4, 5, 1)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_weight_gradients_of_all_t_at_once(monkeypatch, pattern, dtype):
    a, b, c, d = pattern
    grad, x = torch.randn(7, a * b * d).to(dtype), torch.randn(7, a * c * d).to(dtype)
    x[0, 0] = float("inf")
    monkeypatch.setattr(_weight_grad, "_multiplies", lambda dtype: True)
    monkeypatch.setattr(_weight_grad, "_is_fast_whole", lambda *shape: True)
    monkeypatch.setattr(torch, "bmm", None)
    actual = _kernels.ksmm_weight_grad(grad, x, pattern)
    expected = torch.einsum("nijt,nikt->ijkt", grad.double().view(7, a, b, d),
                            x.double().view(7, a, c, d))
    assert actual.dtype == dtype and actual.shape == pattern and actual.is_contiguous()
    torch.testing.assert_close(actual.double(), expected, rtol=0.02, atol=0.05)


# Verify that such products are taken where they are less work than copies: of many rows, and the
# fewer t, or the more of them, the faster the processor multiplies.
@pytest.mark.parametrize("rows, pattern, rate, expected", [
    (1568, (1, 192, 48, 2), "tiles", True), (32, (1, 192, 48, 2), "tiles", False),
    (1568, (1, 192, 48, 2), torch.bfloat16, False), (1568, (2, 48, 192, 1), torch.bfloat16, True),
    (1568, (1, 64, 64, 64), "tiles", False), (1568, (64, 64, 64, 1), "tiles", True)], ids=str)
def test_all_t_at_once_where_copies_take_longer(monkeypatch, rows, pattern, rate, expected):
    monkeypatch.setattr(_weight_grad, "_flop_rate", lambda dtype: _weight_grad._RATES[rate])
    assert _weight_grad._is_fast_whole(rows, pattern, torch.bfloat16) == expected


# Verify that arrays are small up to more elements for chains and short factors than for long
# ones.
@pytest.mark.parametrize("size, rows, expected", [(16, 512, True), (16, 513, False),
                                                  (32, 32, True), (32, 33, False)])
def test_small_products(size, rows, expected):
    x, factors = torch.randn(rows, size * size), [torch.randn(size, size) for _ in range(2)]
    kernel = _programs.product_kernel(x, x, factors, (True,) * 3 + (False,), (False,) * 3, "mkm", "",
                                      "full")
    assert (kernel is not None) == expected


# Verify that 16-bit types have functions, too, but for large blocks and long factors, of which
# PyTorch's products are faster.
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_functions_of_16_bit_types(dtype):
    def product(size):
        x, factors = torch.ones(2, size, dtype=dtype), [torch.ones(size, size, dtype=dtype)]
        return _programs.product_kernel(x, x, factors, (True, True, False), (False,) * 2, "mkm", "",
                                        "full")

    def chain(size):
        x, weights = torch.ones(2, size, dtype=dtype), [torch.ones(1, size, size, 1, dtype=dtype)]
        return _programs.chain_kernel(x, x, weights, (True,) * 3, (False,) * 2, False, "N",
                                      "batch_first", "full")

    assert product(31) is not None and product(32) is None
    assert chain(256) is not None and chain(257) is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["mkm", "mkm-scaled", "kmm", "batched", "ksmm", "chain",
                                  "chain-last"])
def test_gradients_of_16_bit_types(monkeypatch, name, dtype):
    function, tensors = cases(dtype)[name]
    if name != "mkm-scaled":
        # Compiled code does it all.
        monkeypatch.setattr(_eager, "_saved_inputs", None)
    y = through_node(function)(*tensors)
    upstream = torch.randn_like(y)
    actual = torch.autograd.grad(y, tensors, upstream)
    wide = [tensor.detach().double().requires_grad_() for tensor in tensors]
    expected = torch.autograd.grad(function(*wide), wide, upstream.double())
    for a, e in zip(actual, expected):
        assert a.dtype == dtype
        assert (a.double() - e).norm() <= 8 * torch.finfo(dtype).eps * e.norm()


# Three inner positions do not fill registers, so that there is no function for more rows.
@pytest.mark.parametrize("rows, expected", [(682, True), (683, False)])
def test_small_chains(rows, expected):
    x, weights = torch.randn(rows, 192), [torch.randn(1, 64, 64, 3)]
    kernel = _programs.chain_kernel(x, x, weights, (True,) * 3, (False,) * 2, False, "N",
                                    "batch_first", "full")
    assert (kernel is not None) == expected


def test_matrices_of_types_that_were_not_measured_are_pytorchs():
    for dtype in _weight_grad.GPU_ELEMENTS:
        assert is_fast_on_gpu(dtype, 16, 16, other=1)
    assert not is_fast_on_gpu(torch.float8_e5m2, 16, 16, other=1)
