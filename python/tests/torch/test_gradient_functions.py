# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Compiled functions of all gradients of a call, beside gradients step by step."""

import pytest
import torch
from test_eager import REAL, array, cases, chain_weights, through_node

import kron.torch as kt
from kron import _core
from kron.torch import _eager, _kernels, _programs


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
