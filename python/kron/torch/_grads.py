# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Derivatives, made of Kronecker operations: no product is ever materialised.

With X_k = X after the factors before k and G_k = the gradient after the conjugate
transposes of the factors behind k, the derivative by factor k sums X_k * G_k over
all axes but k's. That is one more mode product per factor and direction, and the
last G is the derivative by X.

`ops` holds the operations that these are made of: _dispatch, whose results have derivatives
again, or _kernels.
"""

import math

import torch

from ._axis_grad import contract
from ._checks import contracts_rows, factor_transposes, operator_shape


def conjugate(scalar):
    return scalar.conjugate() if isinstance(scalar, complex) else scalar


def _conj(tensor):
    return tensor.conj() if tensor.is_complex() else tensor


def _adjoint_transposes(kind, factors, trans):
    """Transposes and factors that apply every op(F)^H; conj(F) has no letter."""
    letters, arrays = [], []
    for factor, letter in zip(factors, trans):
        if letter == "N":
            letters.append("C" if factor.is_complex() else "T")
            arrays.append(factor)
        else:
            letters.append("N")
            arrays.append(_conj(factor) if letter == "T" else factor)
    return "".join(letters), arrays


def _restore_input(kind, grad, trans_x, rank):
    """The gradient by x from the gradient by op(x)."""
    if trans_x == "N":
        return grad
    if trans_x == "C":
        grad = _conj(grad)
    lead = grad.dim() - rank
    return grad.permute(*range(lead), *reversed(range(lead, grad.dim())))


def _summed_to(array, shape):
    """A DTensor's sum_to_size compares the shape with that of its part."""
    return array if array.shape == shape else array.sum_to_size(shape)


def product(ops, kind, grad, x, factors, needs, alpha, trans_x, trans_factors, precision):
    """Gradients by x and by every factor, None where not needed."""
    trans = factor_transposes(trans_factors, len(factors))
    rank = len(factors) if kind == "batched" else 2
    needs_x, *needs_factors = needs
    dx, dfactors = None, [None] * len(factors)
    if any(needs_factors):
        steps = _FactorGradients(ops, kind, x, factors, grad, alpha, trans_x, trans,
                                 precision)
        dx, dfactors = steps.run(needs_x, needs_factors)
    elif needs_x:
        letters, arrays = _adjoint_transposes(kind, factors, trans)
        op = getattr(ops, kind)
        dx = op(grad, arrays, conjugate(alpha), None, 0, "N", letters, precision)
    if dx is not None:
        dx = _restore_input(kind, dx, trans_x, rank)
        dx = _summed_to(dx, x.shape)
    return [dx, *dfactors]


class _FactorGradients:
    """One backward pass. Arrays are seen as [batch..., left, P1, ..., PN, right]:
    left is M for mkm, right is M for kmm, else they are 1."""

    def __init__(self, ops, kind, x, factors, grad, alpha, trans_x, trans, precision):
        self.ops, self.kind, self.factors, self.trans = ops, kind, factors, trans
        self.precision, self.x_shape = precision, x.shape
        rank = len(factors) if kind == "batched" else 2
        lead = x.dim() - rank
        if trans_x != "N":
            x = x.permute(*range(lead), *reversed(range(lead, x.dim())))
            if trans_x == "C":
                x = _conj(x)
        shapes = [operator_shape(kind, factor, letter)
                  for factor, letter in zip(factors, trans)]
        self.p = [p for p, _ in shapes]
        self.q = [q for _, q in shapes]
        core = x.shape[lead:]
        self.left = core[0] if kind == "mkm" else 1
        self.right = core[1] if kind == "kmm" else 1
        self.x, self.x_batch = x, x.shape[:lead]
        self.grad = grad if alpha == 1 else grad * conjugate(alpha)
        self.grad_batch = grad.shape[:grad.dim() - rank]

    def run(self, needs_x, needs_factors):
        count = len(self.factors)
        first = needs_factors.index(True)
        last = count - 1 - needs_factors[::-1].index(True)
        inputs = {0: self.x}
        for k in range(last):
            inputs[k + 1] = self.apply(inputs[k], k, adjoint=False)
        grad, dfactors = self.grad, [None] * count
        for k in reversed(range(count)):
            if needs_factors[k]:
                dfactors[k] = self.contract(inputs[k], grad, k)
            if k > first or needs_x:
                grad = self.apply(grad, k, adjoint=True)
        if not needs_x:
            return None, dfactors
        return grad.reshape(*grad.shape[:grad.dim() - 3], *self.core_shape()), dfactors

    def core_shape(self):
        """Shape of op(x) without its batch."""
        if self.kind == "batched":
            return self.p
        size = math.prod(self.p)
        return (self.left, size) if self.kind == "mkm" else (size, self.right)

    def view(self, array, k, size):
        """`array` as [batch..., outside, size, inside] of axis k."""
        outside = self.left * math.prod(self.q[:k])
        inside = math.prod(self.p[k + 1:]) * self.right
        batch = self.x_batch if array is self.x else self.grad_batch
        if array is not self.x and array is not self.grad:
            batch = array.shape[:-3]
        return array.reshape(*batch, outside, size, inside)

    def apply(self, array, k, adjoint):
        """Applies factor k, or its conjugate transpose, along axis k."""
        view = self.view(array, k, self.q[k] if adjoint else self.p[k])
        # op(F) as a [p, q] matrix is F itself or its transpose.
        factor, letter = self.factors[k], self.trans[k]
        is_rows = contracts_rows(self.kind, letter)
        needs_conj = (letter == "C") != adjoint
        if needs_conj:
            factor = _conj(factor)
        # kmm contracts the columns of its factor.
        flip = "T" if is_rows != adjoint else "N"
        if view.shape[-1] == 1:
            flip = "N" if flip == "T" else "T"
            result = self.ops.mkm(view.squeeze(-1), [factor], 1, None, 0, "N", flip,
                                  self.precision)
            return result.unsqueeze(-1)
        if factor.dim() > 2:
            factor = factor.unsqueeze(-3)
        return self.ops.kmm(view, [factor], 1, None, 0, "N", flip, self.precision)

    def contract(self, array, grad, k):
        """The gradient by factor k in the form that the factor is stored in."""
        factor, letter = self.factors[k], self.trans[k]
        array, grad = self.view(array, k, self.p[k]), self.view(grad, k, self.q[k])
        if factor.dim() == 2 and array.shape[:-3] == grad.shape[:-3]:
            # The batch is summed too: it is outside of the axis.
            rows = "inside" if self.kind == "kmm" and array.dim() == 3 else "outside"
            # Not flatten, which torch.autograd.grad(is_grads_batched=True) does not take.
            outside = math.prod(array.shape[:-2])
            result = self.ops.axis_grad(array.reshape(outside, *array.shape[-2:]),
                                        grad.reshape(outside, *grad.shape[-2:]), rows)
        else:
            result = contract(array, grad)
        if letter == "C":
            result = _conj(result)
        if not contracts_rows(self.kind, letter):
            result = result.mT
        return _summed_to(result, factor.shape)


# ----------------------------------------------------------------------------------
# Kronecker-sparse factors
# ----------------------------------------------------------------------------------


def sum_batch(grad, layout):
    """Sums over the batch."""
    axis = 0 if layout == "batch_first" else 1
    if grad.dim() != 2:
        grad = grad.reshape(*(-1, grad.shape[-1]) if axis == 0 else (grad.shape[0], -1))
    return grad.sum(axis)


def activation(name, inner, grad):
    """The gradient before an activation from the one behind it."""
    if name == "relu":
        return grad * (inner > 0)
    if name == "gelu":
        cdf = 0.5 * (1 + torch.erf(inner * math.sqrt(0.5)))
        pdf = torch.exp(-0.5 * inner * inner) * (1 / math.sqrt(2 * math.pi))
        return grad * (cdf + inner * pdf)
    sigmoid = torch.sigmoid(inner)
    return grad * (sigmoid * (1 + inner * (1 - sigmoid)))


def _ksmm(ops, x, weights, grad, trans, layout, precision, needs_x, needs_weights):
    """Gradients of op(weights) * x by x and by the weights."""
    dx = dweights = None
    if needs_x:
        if trans == "N":
            adjoint, letter = weights, "C" if weights.is_complex() else "T"
        else:
            adjoint, letter = (_conj(weights) if trans == "T" else weights), "N"
        dx = ops.ksmm(grad, adjoint, trans_weights=letter, layout=layout,
                      precision=precision)
    if needs_weights:
        pattern = weights.shape
        if trans == "N":
            dweights = ops.ksmm_weight_grad(grad, x, pattern, layout)
        else:
            # y = sum_j K[j] x[j] swaps the roles of x and y.
            dweights = ops.ksmm_weight_grad(_conj(x), _conj(grad), pattern, layout)
            if trans == "C":
                dweights = _conj(dweights)
    return dx, dweights


def _chain_inputs(ops, x, weights, trans, layout, precision, count):
    """The inputs of the first `count` weights."""
    inputs = [x]
    for k in range(count - 1):
        inputs.append(ops.ksmm(inputs[-1], weights[k], trans_weights=trans[k],
                               layout=layout, precision=precision))
    return inputs


def ksmm_chain(ops, grad, x, weights, kept, needs, trans, layout, precision):
    """Gradients by x, by a bias and by the weights of a chain, None where not needed.
    `kept` are the inputs of all weights but the first, or nothing."""
    needs_x, needs_bias, *needs_weights = needs
    dbias = sum_batch(grad, layout) if needs_bias else None
    count = 1 + max((k for k, flag in enumerate(needs_weights) if flag), default=0)
    inputs = ([x, *kept] if kept
              else _chain_inputs(ops, x, weights, trans, layout, precision, count))
    dweights = [None] * len(weights)
    for k in reversed(range(len(weights))):
        before = needs_x or any(needs_weights[:k])
        # Past the last one that is needed no inputs are at hand, nor of use.
        source = inputs[k] if k < count else None
        step, dweights[k] = _ksmm(ops, source, weights[k], grad, trans[k], layout,
                                  precision, before, needs_weights[k])
        grad = step if before else grad
    return [grad if needs_x else None, dbias, *dweights]


# ----------------------------------------------------------------------------------
# Whole calls
# ----------------------------------------------------------------------------------


def product_call(ops, grad, x, factors, z_shape, needs, call):
    """Gradients by x, z and every factor of a call of mkm, kmm or batched."""
    kind, alpha, beta, trans_x, trans_factors, precision = call
    needs_x, needs_z, *needs_factors = needs
    dz = None
    if needs_z:
        dz = (grad if beta == 1 else grad * conjugate(beta)).sum_to_size(z_shape)
    dx, *dfactors = ops.product_grads(kind, grad, x, factors, [needs_x, *needs_factors],
                                      alpha, trans_x, trans_factors, precision)
    return dx, dz, dfactors


def ksmm_call(ops, grad, x, weights, kept, bias, z, z_shape, needs, call):
    """Gradients by x, bias, residual, z and all weights of a call of ksmm or ksmm_chain.
    `bias` and `z` are read only behind an activation."""
    trans, layout, epilogue, alpha, beta, scale, precision = call
    needs_x, needs_bias, needs_residual, needs_z, *needs_weights = needs
    dresidual = grad if needs_residual else None
    if scale != 1:
        grad = grad * conjugate(scale)
    if epilogue != "identity":
        last = kept[-1] if kept else _chain_inputs(ops, x, weights, trans, layout,
                                                   precision, len(weights))[-1]
        inner = ops.ksmm(last, weights[-1], bias, None, z, alpha, beta, 1, trans[-1],
                         layout, "identity", precision)
        grad = activation(epilogue, inner, grad)
    dz = None
    if needs_z:
        dz = (grad if beta == 1 else grad * conjugate(beta)).sum_to_size(z_shape)
    dbias = None
    if alpha != 1:
        dbias = sum_batch(grad, layout) if needs_bias else None
        grad, needs_bias = grad * conjugate(alpha), False
    dx, own_dbias, *dweights = ops.ksmm_grads(
        grad, x, weights, kept, [needs_x, needs_bias, *needs_weights], trans, layout,
        precision)
    return dx, own_dbias if needs_bias else dbias, dresidual, dz, dweights
