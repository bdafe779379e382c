# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Calls of operations by all Python code of the package.

Normally a call is one of torch.ops.kron. PyTorch's derivatives of such operations do
not take part in torch.func's transformations (grad, jacrev, ... and vmap of them), so
that within those the same rules are run by an autograd.Function.
"""

import contextlib
import sys
import threading

import torch
from torch.utils import _pytree as pytree

from . import _grads

_this = sys.modules[__name__]

#: name -> (setup_context, backward, vmap); filled by _ops.py.
rules = {}


_state = threading.local()


@contextlib.contextmanager
def operations_only():
    """Makes calls ones of torch.ops.kron whatever is active."""
    before = getattr(_state, "operations_only", False)
    _state.operations_only = True
    try:
        yield
    finally:
        _state.operations_only = before


def load_sharding():
    """Loads what operations do with DTensors, if there can be any."""
    if "torch.distributed.tensor" in sys.modules:
        from ..distributed import _rules  # noqa: F401


class _Context:
    """What the rules see of an autograd.Function's context: structured arguments."""

    def __init__(self, ctx):
        object.__setattr__(self, "_ctx", ctx)

    def __getattr__(self, name):
        if name == "needs_input_grad":
            return pytree.tree_unflatten(list(self._ctx.needs_input_grad[2:]),
                                         self._ctx.structure)
        return getattr(self._ctx, name)

    def __setattr__(self, name, value):
        setattr(self._ctx, name, value)


class _Transformable(torch.autograd.Function):
    @staticmethod
    def forward(name, structure, *leaves):
        op = getattr(torch.ops.kron, name)
        result = op(*pytree.tree_unflatten(list(leaves), structure))
        return tuple(result) if isinstance(result, list) else result

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.name, ctx.structure, *leaves = inputs
        ctx.gives_list = isinstance(output, tuple)
        arguments = pytree.tree_unflatten(leaves, ctx.structure)
        rules[ctx.name][0](_Context(ctx), arguments, output)

    @staticmethod
    def backward(ctx, *grads):
        grads = rules[ctx.name][1](_Context(ctx), grads if ctx.gives_list else grads[0])
        leaves = []
        for value, child in zip(grads, ctx.structure.children()):
            count = child.num_leaves
            values = list(value) if isinstance(value, (list, tuple)) else [value]
            leaves += values if len(values) == count else [None] * count
        return (None, None, *leaves)

    @staticmethod
    def vmap(info, in_dims, name, structure, *leaves):
        dims = pytree.tree_unflatten(list(in_dims[2:]), structure)
        arguments = pytree.tree_unflatten(list(leaves), structure)
        result, out_dims = rules[name][2](info, dims, *arguments)
        return (tuple(result), tuple(out_dims)) if isinstance(result, list) else (result, out_dims)


def _caller(name):
    def call(*arguments):
        if not torch.compiler.is_compiling():
            load_sharding()
        if (not torch.compiler.is_compiling()
                and torch._C._are_functorch_transforms_active()
                and not getattr(_state, "operations_only", False)):
            leaves, structure = pytree.tree_flatten(arguments)
            return _Transformable.apply(name, structure, *leaves)
        return getattr(torch.ops.kron, name)(*arguments)

    return call


mkm = _caller("mkm")
kmm = _caller("kmm")
batched = _caller("batched")
ksmm_chain = _caller("ksmm_chain")
ksmm_weight_grad = _caller("ksmm_weight_grad")
axis_grad = _caller("axis_grad")
_ksmm = _caller("ksmm")
pairwise = _caller("pairwise")
pairwise_apply = _caller("pairwise_apply")
pairwise_grad = _caller("pairwise_grad")


def ksmm(x, weights, bias=None, residual=None, z=None, alpha=1, beta=0, scale=1,
         trans_weights="N", layout="batch_first", activation="identity",
         precision="full"):
    return _ksmm(x, weights, bias, residual, z, alpha, beta, scale, trans_weights,
                 layout, activation, precision)


def is_mapped(grad):
    """Whether a gradient stands for several, by torch.autograd.grad(is_grads_batched=True):
    operations on such a tensor run once for each."""
    return torch._C._functorch.is_legacy_batchedtensor(grad)


def _takes_rules(grad):
    """Whether gradients have to be made of operations, each of which has a rule."""
    return (torch.is_grad_enabled() or torch._C._are_functorch_transforms_active()
            or is_mapped(grad))


def _spread(results, needs):
    results = iter(results)
    return [next(results) if flag else None for flag in needs]


def product_grads(kind, grad, x, factors, needs, *rest):
    """Gradients by x and by every factor, None where not needed."""
    if _takes_rules(grad):
        return _grads.product(_this, kind, grad, x, factors, needs, *rest)
    return _spread(torch.ops.kron.product_grads(kind, grad, x, factors, needs, *rest), needs)


def ksmm_grads(grad, x, weights, kept, needs, *rest):
    """Gradients by x, by a bias and by all weights of a chain, None where not needed."""
    if _takes_rules(grad):
        return _grads.ksmm_chain(_this, grad, x, weights, kept, needs, *rest)
    return _spread(torch.ops.kron.ksmm_grads(grad, x, weights, kept, needs, *rest), needs)
