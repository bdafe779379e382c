# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Calls with gradients recorded, where nothing but the gradients has to see them.

Such a call is one node of the graph whose forward and backward run kernels at once. What else
there is (torch.compile, torch.func, modes, subclasses, derivatives of derivatives) goes through
the operations of torch.library, by the same rules.
"""

import torch
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from .. import _core
from . import _dispatch, _grads, _kernels

_DIRECT = {"mkm": _core.direct_mkm, "kmm": _core.direct_kmm,
           "batched": _core.direct_batched}


class _Refused(Exception):
    """Compiled code has left the call to the operation."""


def _operations(grad):
    """What backward is made of: kernels, unless something has to see it."""
    is_hidden = (not torch.is_grad_enabled() and type(grad) is torch.Tensor
                 and not _dispatch.is_mapped(grad) and _core.is_plain_context())
    return _kernels if is_hidden else _dispatch


class KronProduct(torch.autograd.Function):
    """mkm, kmm or batched."""

    @staticmethod
    def forward(ctx, call, x, z, *factors):
        kind, alpha, beta, trans_x, trans_factors, precision = call
        result = _DIRECT[kind](x, factors, alpha, beta, z, None, trans_x, trans_factors,
                               precision)
        if result is NotImplemented:
            raise _Refused
        ctx.call, ctx.z_shape = call, None if z is None else z.shape
        ctx.save_for_backward(x, *factors)
        return result

    @staticmethod
    def backward(ctx, grad):
        x, *factors = ctx.saved_tensors
        dx, dz, dfactors = _grads.product_call(_operations(grad), grad, x, factors, ctx.z_shape,
                                               ctx.needs_input_grad[1:], ctx.call)
        return None, dx, dz, *dfactors


class KronSparse(torch.autograd.Function):
    """ksmm, or a chain of them. The input of every factor is kept."""

    @staticmethod
    def forward(ctx, call, patterns, x, bias, residual, z, *weights):
        trans, layout, epilogue, alpha, beta, scale, precision = call
        kept, last = [], len(weights) - 1
        step = x
        for k in range(last):
            step = _core.direct_ksmm(step, weights[k], patterns[k], layout, None, None, None, 1,
                                     0, None, 1, None, trans[k], precision)
            if step is NotImplemented:
                raise _Refused
            kept.append(step)
        result = _core.direct_ksmm(step, weights[last], patterns[last], layout, bias, z,
                                   epilogue, alpha, beta, None, scale, residual, trans[last],
                                   precision)
        if result is NotImplemented:
            raise _Refused
        ctx.call, ctx.count = call, len(weights)
        ctx.z_shape = None if z is None else z.shape
        if epilogue == "identity":
            ctx.save_for_backward(x, *weights, *kept)
        else:
            ctx.save_for_backward(x, *weights, *kept, bias, z)
        return result

    @staticmethod
    def backward(ctx, grad):
        x, *rest = ctx.saved_tensors
        count, bias, z = ctx.count, None, None
        if ctx.call[2] != "identity":
            *rest, bias, z = rest
        ops = _operations(grad)
        # What lies between the factors has no derivatives of its own.
        kept = rest[count:] if ops is _kernels else []
        dx, dbias, dresidual, dz, dweights = _grads.ksmm_call(
            ops, grad, x, rest[:count], kept, bias, z, ctx.z_shape, ctx.needs_input_grad[2:],
            ctx.call)
        return None, None, dx, dbias, dresidual, dz, *dweights


# Function.apply without its checks for torch.func, which is not active here.
_apply_product = super(torch.autograd.Function, KronProduct).apply
_apply_sparse = super(torch.autograd.Function, KronSparse).apply


def is_wanted(*arrays):
    """Whether a call on these tensors is for this file."""
    return (not is_compiling() and torch.is_grad_enabled() and forward_ad._current_level < 0
            and any(array is not None and array.requires_grad for array in arrays)
            and _core.is_plain_context())


def product(kind, x, factors, alpha, z, beta, trans_x, trans_factors, precision):
    """The parameters of operations; NotImplemented where it takes one. Only for contexts
    that compiled code has found plain."""
    try:
        return _apply_product((kind, alpha, beta, trans_x, trans_factors, precision), x, z,
                              *factors)
    except _Refused:
        return NotImplemented


def sparse(x, weights, patterns, bias, residual, z, alpha, beta, scale, trans, layout,
           epilogue, precision):
    """Likewise; `trans` has a letter per factor."""
    call = trans, layout, epilogue, alpha, beta, scale, precision
    try:
        return _apply_sparse(call, patterns, x, bias, residual, z, *weights)
    except _Refused:
        return NotImplemented
