# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Checks of arguments that name what is wrong.

Fake kernels run them first, real ones only once the compiled function has refused a
call: a call that is right pays nothing.
"""

import math

import torch

ACTIVATIONS = ("identity", "relu", "gelu", "silu")
LAYOUTS = ("batch_first", "batch_last")


def factor_transposes(trans_factors, count):
    """One of N, T, C per factor."""
    return trans_factors if trans_factors else "N" * count


def operator_shape(kind, factor, trans):
    """(contracted, resulting) size of a factor."""
    rows, columns = factor.shape[-2], factor.shape[-1]
    if (kind == "mkm") == (trans == "N"):
        return rows, columns
    return columns, rows


def _same_kind(name, array, x):
    if array.dtype != x.dtype:
        raise TypeError(f"expects {name} to be of x's type {x.dtype}, but got "
                        f"{array.dtype}")
    if array.device != x.device:
        raise ValueError(f"expects {name} to be on x's device {x.device}, but got "
                         f"{array.device}")


def _shape(tensor_shape):
    return tuple(tensor_shape)


def _broadcasts(name, array, shape):
    try:
        result = torch.broadcast_shapes(array.shape, shape)
    except RuntimeError:
        result = None
    if result is None or tuple(result) != tuple(shape):
        raise ValueError(f"expects {name} to broadcast to the result's shape "
                         f"{_shape(shape)}, but got {_shape(array.shape)}")


def product(kind, x, factors, z, beta, trans_x, trans_factors):
    """Arguments of mkm, kmm and batched."""
    if not factors:
        raise ValueError("expects factors to hold at least one array")
    trans = factor_transposes(trans_factors, len(factors))
    if len(trans) != len(factors):
        raise ValueError(f"expects one of trans_factors for each of {len(factors)} "
                         f"factors, but got {len(trans)}")
    for k, factor in enumerate(factors):
        name = f"factors[{k}]"
        _same_kind(name, factor, x)
        if factor.dim() < 2 or factor.shape[-1] == 0 or factor.shape[-2] == 0:
            raise ValueError(f"expects {name} to be a matrix that is not empty, but "
                             f"got shape {_shape(factor.shape)}")
    shapes = [operator_shape(kind, f, letter) for f, letter in zip(factors, trans)]
    rank = len(factors) if kind == "batched" else 2
    if x.dim() < rank:
        raise ValueError(f"expects x to have at least {rank} axes, but got shape "
                         f"{_shape(x.shape)}")
    core = list(x.shape[x.dim() - rank:])
    if trans_x != "N":
        core.reverse()
    contracted = [p for p, _ in shapes]
    if kind == "batched":
        if core != contracted:
            raise ValueError(f"expects the last axes of x to have sizes {contracted}, "
                             f"but got {core}")
        core = [q for _, q in shapes]
    else:
        axis = 1 if kind == "mkm" else 0
        if core[axis] != math.prod(contracted):
            what = "columns" if kind == "mkm" else "rows"
            raise ValueError(f"expects op(x) to have {math.prod(contracted)} {what} for "
                             f"factors that contract {contracted}, but got {core[axis]}")
        core[axis] = math.prod(q for _, q in shapes)
    try:
        batch = torch.broadcast_shapes(x.shape[:x.dim() - rank],
                                       *(factor.shape[:-2] for factor in factors))
    except RuntimeError as error:
        raise ValueError(f"expects the batch dimensions of x and factors to broadcast: "
                         f"{error}") from None
    if z is not None:
        _same_kind("z", z, x)
        _broadcasts("z", z, (*batch, *core))
    elif beta != 0:
        raise ValueError("expects z when beta is not 0")


def ksmm(x, weights, bias, residual, z, beta, trans, layout, activation):
    """Arguments of ksmm and of ksmm_chain; `trans` has a letter per weight."""
    if layout not in LAYOUTS:
        raise ValueError(f"expects layout to be one of {LAYOUTS}, but got {layout!r}")
    if activation not in ACTIVATIONS:
        raise ValueError(f"expects epilogue to be one of {ACTIVATIONS}, but got "
                         f"{activation!r}")
    if activation != "identity" and x.is_complex():
        raise TypeError(f"expects real x for the epilogue {activation!r}, but got "
                        f"{x.dtype}")
    if not weights:
        raise ValueError("expects weights to hold at least one array")
    if x.dim() < 1:
        raise ValueError("expects x to have at least one axis")
    axis = -1 if layout == "batch_first" else 0
    features = x.shape[axis]
    for k, weight in enumerate(weights):
        name = "weights" if len(weights) == 1 else f"weights[{k}]"
        _same_kind(name, weight, x)
        if weight.dim() != 4 or 0 in weight.shape:
            raise ValueError(f"expects {name} to have the shape (a, b, c, d) of a "
                             f"pattern, but got {_shape(weight.shape)}")
        a, b, c, d = weight.shape
        if trans[k] != "N":
            b, c = c, b
        if features != a * c * d:
            raise ValueError(f"expects {a * c * d} features for {name} of shape "
                             f"{_shape(weight.shape)}, but got {features}")
        features = a * b * d
    shape = list(x.shape)
    shape[axis] = features
    if bias is not None:
        _same_kind("bias", bias, x)
        if tuple(bias.shape) != (features,):
            raise ValueError(f"expects bias to have the shape ({features},), but got "
                             f"{_shape(bias.shape)}")
    for name, array in (("residual", residual), ("z", z)):
        if array is not None:
            _same_kind(name, array, x)
            _broadcasts(name, array, shape)
    if z is None and beta != 0:
        raise ValueError("expects z when beta is not 0")
