# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Calls with gradients recorded, where nothing but the gradients has to see them.

Such a call is one node of the graph, whose forward and backward are compiled code that runs
kernels at once (python/src/Recorded.h). What there is no compiled function for, and what
somebody has to see (torch.compile, modes, derivatives of derivatives), comes to
`product_backward` and `sparse_backward` here, which follow the rules of the operations.
"""

import types

import torch
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from .. import _core
from . import _arguments, _dispatch, _grads, _kernels, _programs


def _operations(grad):
    """What backward is made of: kernels, unless something has to see it."""
    is_hidden = (not torch.is_grad_enabled() and type(grad) is torch.Tensor
                 and not _dispatch.is_mapped(grad) and _core.is_plain_context())
    return _kernels if is_hidden else _dispatch


class _CastOf(torch.autograd.Function):
    """An array that forward has saved, as what it was cast from."""

    @staticmethod
    def forward(ctx, array, cast):
        ctx.dtype = array.dtype
        return cast.detach()

    @staticmethod
    def backward(ctx, grad):
        return grad.to(ctx.dtype), None


def _saved_inputs(ctx, saved, positions):
    """The saved tensors. Those at `positions` are inputs, maybe cast by forward: where
    derivatives of gradients are recorded, they are made to depend on what was cast."""
    saved = list(ctx.saved_tensors if saved is None else saved)
    if ctx.options[-1] is None or not torch.is_grad_enabled():
        return saved
    for position, array in zip(positions, ctx.inputs):
        if position is not None and array is not None and array.dtype != saved[position].dtype:
            saved[position] = _CastOf.apply(array, saved[position])
    return saved


def _factor_letters(value, count):
    """Of what a user gave, or of an operation's string."""
    if isinstance(value, str) and len(value) in (0, count):
        return value
    return _arguments.letters(value, count)


def product_backward(ctx, grad, saved):
    """Gradients by the options (None), x, z and the factors. `saved` are the saved tensors,
    if compiled code has asked for them: they can be had only once."""
    count = len(ctx.needs_input_grad) - 3
    x, *factors = _saved_inputs(ctx, saved, (0, None, *range(1, 1 + count)))
    kind, alpha, beta, trans_x, trans_factors, precision, _ = ctx.options
    call = (kind, 1 if alpha is None else alpha, 0 if beta is None else beta,
            _arguments.letter("trans_x", trans_x),
            _factor_letters(trans_factors, len(factors)), precision or "full")
    dx, dz, dfactors = _grads.product_call(
        _operations(grad), grad, x, factors, getattr(ctx, "z_shape", None),
        ctx.needs_input_grad[1:], call)
    return None, dx, dz, *dfactors


def sparse_backward(ctx, grad, saved):
    """Gradients by the options (None), x, bias, residual, z and the weights."""
    _, _, layout, epilogue, alpha, beta, scale, trans, precision, _ = ctx.options
    epilogue, bias, z = epilogue or "identity", None, None
    count = len(ctx.needs_input_grad) - 5
    has_activation = epilogue != "identity"
    last = 2 * count + 1
    x, *rest = _saved_inputs(ctx, saved, (
        0, last - 1 if has_activation else None, None, last if has_activation else None,
        *range(1, 1 + count)))
    if has_activation:
        *rest, bias, z = rest
    call = (_arguments.sparse_letters(trans, count), layout or "batch_first", epilogue,
            1 if alpha is None else alpha, 0 if beta is None else beta,
            1 if scale is None else scale, precision or "full")
    ops = _operations(grad)
    # What lies between the factors has no derivatives of its own.
    kept = rest[count:] if ops is _kernels else []
    dx, dbias, dresidual, dz, dweights = _grads.ksmm_call(
        ops, grad, x, rest[:count], kept, bias, z, getattr(ctx, "z_shape", None),
        ctx.needs_input_grad[1:], call)
    return None, dx, dbias, dresidual, dz, *dweights


class KronProduct(torch.autograd.Function):
    """mkm, kmm or batched."""

    forward = staticmethod(_core.forward_product)
    backward = staticmethod(_core.backward_product)


class KronSparse(torch.autograd.Function):
    """ksmm, or a chain of them. The input of every factor is kept."""

    forward = staticmethod(_core.forward_sparse)
    backward = staticmethod(_core.backward_sparse)


# Function.apply without its checks for torch.func, which is not active here.
_core.set_node("product", super(torch.autograd.Function, KronProduct).apply, product_backward,
               _programs.product_kernel)
_core.set_node("sparse", super(torch.autograd.Function, KronSparse).apply, sparse_backward,
               _programs.chain_kernel)
_core.set_cast_kernels(_programs.cast_kernel)


def _saving_is_setting(name, save=torch.autograd.function.FunctionCtx.save_for_backward):
    """Whether save_for_backward of a context does nothing but set its attribute `name`: setting
    it takes a tenth of the call."""
    context, arrays = types.SimpleNamespace(), (torch.empty(0), torch.empty(1))
    try:
        save(context, *arrays)
    except Exception:  # Whatever it asks a context for.
        return False
    return vars(context) == {name: arrays}


if _saving_is_setting("to_save"):
    _core.set_saved_name("to_save")


def is_wanted(*arrays):
    """Whether a call on these tensors may become a node."""
    return (not is_compiling() and torch.is_grad_enabled() and forward_ad._current_level < 0
            and any(array is not None and array.requires_grad for array in arrays))
