# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Fake kernels: shapes of the results without computing them."""

from . import _checks


def product(kind):
    """The fake kernel of mkm, kmm or batched."""

    def fake(x, factors, alpha=1, z=None, beta=0, trans_x="N", trans_factors="",
             precision="full"):
        return x.new_empty(_checks.product(kind, x, factors, z, beta, trans_x, trans_factors))

    return fake


def ksmm(x, weights, bias=None, residual=None, z=None, alpha=1, beta=0, scale=1,
         trans_weights="N", layout="batch_first", activation="identity",
         precision="full"):
    """The fake kernel of ksmm."""
    return x.new_empty(_checks.ksmm(x, [weights], bias, residual, z, beta, trans_weights, layout,
                                    activation))


def ksmm_chain(x, weights, bias=None, layout="batch_first", precision="full"):
    """The fake kernel of ksmm_chain."""
    return x.new_empty(_checks.ksmm(x, weights, bias, None, None, 0, "N" * len(weights), layout,
                                    "identity", is_chain=True))


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
