# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Fake kernels: shapes of the results without computing them."""

import math

import torch

from . import _checks
from ._checks import factor_transposes, operator_shape


def product(kind):
    """The fake kernel of mkm, kmm or batched."""

    def fake(x, factors, alpha=1, z=None, beta=0, trans_x="N", trans_factors="",
             precision="full"):
        _checks.product(kind, x, factors, z, beta, trans_x, trans_factors)
        shapes = [operator_shape(kind, factor, trans) for factor, trans in
                  zip(factors, factor_transposes(trans_factors, len(factors)))]
        rank = len(factors) if kind == "batched" else 2
        core = list(x.shape[x.dim() - rank:])
        if trans_x != "N":
            core.reverse()
        if kind == "batched":
            core = [q for _, q in shapes]
        else:
            core[1 if kind == "mkm" else 0] = math.prod(q for _, q in shapes)
        batch = torch.broadcast_shapes(x.shape[:x.dim() - rank],
                                       *(factor.shape[:-2] for factor in factors))
        return x.new_empty((*batch, *core))

    return fake


def ksmm(x, weights, bias=None, residual=None, z=None, alpha=1, beta=0, scale=1,
         trans_weights="N", layout="batch_first", activation="identity",
         precision="full"):
    """The fake kernel of ksmm."""
    _checks.ksmm(x, [weights], bias, residual, z, beta, trans_weights, layout,
                 activation)
    a, b, c, d = weights.shape
    features = a * (b if trans_weights == "N" else c) * d
    if layout == "batch_first":
        return x.new_empty((*x.shape[:-1], features))
    return x.new_empty((features, *x.shape[1:]))


def ksmm_chain(x, weights, bias=None, layout="batch_first", precision="full"):
    """The fake kernel of ksmm_chain."""
    _checks.ksmm(x, weights, bias, None, None, 0, "N" * len(weights), layout, "identity")
    a, b, _, d = weights[-1].shape
    if layout == "batch_first":
        return x.new_empty((*x.shape[:-1], a * b * d))
    return x.new_empty((a * b * d, *x.shape[1:]))


def ksmm_weight_grad(grad, x, pattern, layout="batch_first"):
    """The fake kernel of ksmm_weight_grad."""
    return x.new_empty(tuple(pattern))


def axis_grad(x, grad, rows):
    """The fake kernel of axis_grad."""
    return x.new_empty((x.shape[1], grad.shape[1]))


def product_grads(kind, grad, x, factors, needs, alpha, trans_x, trans_factors, precision):
    """The fake kernel of product_grads."""
    return [array.new_empty(array.shape) for array, flag in zip((x, *factors), needs) if flag]


def ksmm_grads(grad, x, weights, kept, needs, trans, layout, precision):
    """The fake kernel of ksmm_grads."""
    features = grad.shape[-1 if layout == "batch_first" else 0]
    shapes = [x.shape, (features,), *(weight.shape for weight in weights)]
    return [x.new_empty(shape) for shape, flag in zip(shapes, needs) if flag]
