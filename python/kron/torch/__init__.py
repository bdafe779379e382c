# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""kron's operations on PyTorch tensors.

The functions of the package (kron.mkm and the others) come here when they are given
tensors. Everything is differentiable, any number of times, works in torch.compile,
torch.vmap and torch.autocast, and runs on the tensors' device without copies.

Compiled code is asked first. It returns the result, as a node of the graph if a derivative is
wanted (_eager.py), or NotImplemented: then arguments are checked here and go to an operation.
"""

import sys

import torch

from torch.compiler import is_compiling, is_dynamo_compiling

from .. import _core, _functions
from .._rules import PRECISIONS, check_choice, check_pattern, patterns_of
from . import _autocast, _checks, _dispatch, _eager, _ops  # noqa: F401
from ._arguments import letter, letters, sparse_letters

__all__ = ["batched", "kmm", "ksmm", "ksmm_chain", "mkm"]

_DIRECT = {"mkm": _core.direct_mkm, "kmm": _core.direct_kmm,
           "batched": _core.direct_batched}

#: Types that only ksmm takes.
_FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2)

def _tensor(name, value):
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"expects {name} to be a tensor like the others, but got "
                        f"{type(value).__name__}")
    return value


def _scaled(array, name, scalar):
    """`array` times a scalar that is a tensor, of which derivatives may be wanted."""
    if scalar.dim() != 0:
        raise ValueError(f"expects {name} to be a number or a tensor without dimensions, but "
                         f"got shape {tuple(scalar.shape)}")
    return array * scalar


def _absorb(alpha, array, beta, z):
    """(alpha, array, beta, z) without tensors among the scalars: they go into arrays."""
    if isinstance(alpha, torch.Tensor):
        alpha, array = 1, _scaled(array, "alpha", alpha)
    if isinstance(beta, torch.Tensor):
        if z is None:
            raise ValueError("expects z when beta is given as a tensor")
        beta, z = 1, _scaled(z, "beta", beta)
    return alpha, array, beta, z


def _store(out, result):
    """Writes a result into the caller's tensor, as PyTorch's own out= does."""
    _tensor("out", out)
    if torch.is_grad_enabled() and (out.requires_grad or result.requires_grad):
        raise RuntimeError("expects no argument to need a gradient when out is given")
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError(f"expects out to be a {result.dtype} tensor of shape "
                         f"{tuple(result.shape)}, but got {out.dtype} of shape "
                         f"{tuple(out.shape)}")
    return out.copy_(result)


def _product(kind, x, factors, alpha, beta, z, out, trans_x, trans_factors, precision):
    """A call that compiled code has not taken."""
    _tensor("x", x)
    if not isinstance(factors, (list, tuple)):
        raise TypeError(f"expects factors to be a list or tuple of tensors, but got "
                        f"{type(factors).__name__}")
    for k, factor in enumerate(factors):
        _tensor(f"factors[{k}]", factor)
    if z is not None:
        _tensor("z", z)
    if factors:
        alpha, first, beta, z = _absorb(alpha, factors[0], beta, z)
        factors = [first, *factors[1:]]
    trans_x = letter("trans_x", trans_x)
    trans_factors = letters(trans_factors, len(factors))
    check_choice(precision, PRECISIONS, "precision")
    # A vector is one row (mkm) or one column (kmm).
    axis = {"mkm": -2, "kmm": -1}.get(kind)
    is_vector = axis is not None and x.dim() == 1
    if is_vector:
        x, trans_x = x.unsqueeze(axis), "N" if trans_x != "C" else trans_x
        z = z if z is None else z.unsqueeze(axis)
    result = NotImplemented
    if _eager.is_wanted(x, z, *factors):
        result = _DIRECT[kind](x, factors, alpha, beta, z, None, trans_x, trans_factors,
                               precision)
    if result is NotImplemented:
        op = getattr(_dispatch, kind)
        result = op(x, factors, alpha, z, beta, trans_x, trans_factors, precision)
    if is_vector:
        result = result.squeeze(axis)
    return result if out is None else _store(out, result)


def _public(kind, doc):
    direct = _DIRECT[kind]

    def call(x, factors, *, alpha=1, beta=0, z=None, out=None, trans_x=False,
             trans_factors=False, precision="full"):
        # Most calls need nothing of PyTorch: compiled code checks that and does them. It sees
        # that something traces; only dynamo cannot see into it.
        if not is_dynamo_compiling():
            result = direct(x, factors, alpha, beta, z, out, trans_x, trans_factors, precision)
            if result is not NotImplemented:
                return result
            casts = _autocast.casts_for(x)
            if casts is not None:
                with casts:
                    x, factors, z = casts.cast(x, factors, z)
                    return call(x, factors, alpha=alpha, beta=beta, z=z, out=out,
                                trans_x=trans_x, trans_factors=trans_factors,
                                precision=precision)
        return _product(kind, x, factors, alpha, beta, z, out, trans_x, trans_factors,
                        precision)

    call.__name__ = call.__qualname__ = kind
    call.__doc__ = doc
    return call


mkm = _public("mkm", "alpha * op(x) @ (op(factors[0]) kron ... kron op(factors[-1])) + beta * z.")
kmm = _public("kmm", "alpha * (op(factors[0]) kron ... kron op(factors[-1])) @ op(x) + beta * z.")
batched = _public("batched", "One matrix per axis of every array of a batch.")


def _ksmm_float8(**arguments):
    """Without derivatives: rounding to 8 bits has none."""
    from kron import _float8

    return _float8.ksmm({key: value for key, value in arguments.items() if value is not None})


def ksmm(x, weights, pattern=None, layout="batch_first", *, bias=None, z=None,
         epilogue=None, alpha=1, beta=0, out=None, scale=None, residual=None,
         trans_weights=False, precision="full"):
    """scale * epilogue(alpha * K x + beta * z + bias) + residual with a
    Kronecker-sparse K of the given pattern (a, b, c, d)."""
    if not is_dynamo_compiling():
        result = _core.direct_ksmm(x, weights, pattern, layout, bias, z, epilogue, alpha,
                                   beta, out, scale, residual, trans_weights, precision)
        if result is not NotImplemented:
            return result
        casts = _autocast.casts_for(x)
        if casts is not None and not _is_float8(x, weights):
            with casts:
                x, weights, bias, z, residual = casts.cast(x, weights, bias, z, residual)
                return ksmm(x, weights, pattern, layout, bias=bias, z=z, epilogue=epilogue,
                            alpha=alpha, beta=beta, out=out, scale=scale, residual=residual,
                            trans_weights=trans_weights, precision=precision)
    _tensor("x", x), _tensor("weights", weights), check_choice(precision, PRECISIONS, "precision")
    if _is_float8(x, weights):
        return _ksmm_float8(x=x, weights=weights, pattern=pattern, layout=layout, bias=bias, z=z,
                            epilogue=epilogue, alpha=alpha, beta=beta, out=out, scale=scale,
                            residual=residual, trans_weights=trans_weights, precision=precision)
    if pattern is not None:
        check_pattern(pattern, weights.shape, "weights")
    for name, array in (("bias", bias), ("z", z), ("residual", residual)):
        if array is not None:
            _tensor(name, array)
    alpha, weights, beta, z = _absorb(alpha, weights, beta, z)
    trans_weights = letter("trans_weights", trans_weights)
    result = NotImplemented
    if _eager.is_wanted(x, weights, bias, z, residual):
        result = _core.direct_ksmm(x, weights, None, layout, bias, z, epilogue, alpha, beta,
                                   None, scale, residual, trans_weights, precision)
    if result is NotImplemented:
        result = _dispatch.ksmm(
            x, weights, bias, residual, z, alpha, beta, 1 if scale is None else scale,
            trans_weights, layout, "identity" if epilogue is None else epilogue, precision)
    return result if out is None else _store(out, result)


def _is_float8(x, weights):
    return getattr(x, "dtype", None) in _FLOAT8 or getattr(weights, "dtype", None) in _FLOAT8


def ksmm_chain(x, weights, pattern=None, layout="batch_first", *, bias=None, z=None,
               epilogue=None, alpha=1, beta=0, out=None, scale=None, residual=None,
               trans_weights=False, precision="full"):
    """Several Kronecker-sparse factors in a row, weights[0] first; bias and epilogue
    follow the last one."""
    if not is_dynamo_compiling():
        result = _core.direct_ksmm_chain(x, weights, pattern, layout, bias, z, epilogue,
                                         alpha, beta, out, scale, residual, trans_weights,
                                         precision)
        if result is not NotImplemented:
            return result
        casts = _autocast.casts_for(x)
        if casts is not None:
            with casts:
                x, weights, bias, z, residual = casts.cast(x, weights, bias, z, residual)
                return ksmm_chain(
                    x, weights, pattern, layout, bias=bias, z=z, epilogue=epilogue,
                    alpha=alpha, beta=beta, out=out, scale=scale, residual=residual,
                    trans_weights=trans_weights, precision=precision)
    _tensor("x", x), check_choice(precision, PRECISIONS, "precision")
    if not isinstance(weights, (list, tuple)):
        raise TypeError(f"expects weights to be a list or tuple of tensors, but got "
                        f"{type(weights).__name__}")
    patterns = patterns_of(pattern, len(weights))
    transposes = sparse_letters(trans_weights, len(weights))
    for k, weight in enumerate(weights):
        _tensor(f"weights[{k}]", weight)
        if patterns[k] is not None:
            check_pattern(patterns[k], weight.shape, f"weights[{k}]")
    is_plain = (epilogue in (None, "identity") and z is None and residual is None
                and scale in (None, 1) and alpha == 1 and trans_weights is False)
    needs_grad = torch.is_grad_enabled() and (
        x.requires_grad or any(weight.requires_grad for weight in weights))
    # With gradients every intermediate is needed, so that nothing is to be fused. Of two
    # factors there is one, which a compiled step on a GPU computes again: PyTorch then calls
    # one operation each way, which takes longer than what that computes.
    if is_plain and (not needs_grad or is_compiling() and x.is_cuda and len(weights) <= 2):
        result = _dispatch.ksmm_chain(x, weights, bias, layout, precision)
        return result if out is None else _store(out, result)
    # Dynamo cannot see into the checks; every operation has its own there.
    if not is_dynamo_compiling():
        _checks.ksmm(x, weights, bias, residual, z, 0 if isinstance(beta, torch.Tensor) else beta,
                     transposes, layout, epilogue or "identity", is_chain=True)
    for weight, trans in zip(weights[:-1], transposes):
        x = ksmm(x, weight, layout=layout, trans_weights=trans, precision=precision)
    return ksmm(x, weights[-1], None, layout, bias=bias, z=z, epilogue=epilogue,
                alpha=alpha, beta=beta, out=out, scale=scale, residual=residual,
                trans_weights=transposes[-1], precision=precision)


_functions.register_tensors((torch.Tensor, torch.nn.Parameter), sys.modules[__name__],
                            is_dynamo_compiling)
