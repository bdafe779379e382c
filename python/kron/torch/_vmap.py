# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Rules for torch.vmap: the mapped axis becomes a batch dimension."""

from . import _dispatch
from ._axis_grad import contract


def _align(array, dim, batch_rank, core_rank):
    """Moves the mapped axis to the front, ahead of `batch_rank` batch dimensions."""
    array = array.movedim(dim, 0)
    missing = batch_rank - (array.dim() - 1 - core_rank)
    return array.reshape(array.shape[0], *[1] * missing, *array.shape[1:])


def product(kind):
    """The rule of mkm, kmm or batched."""

    def rule(info, in_dims, x, factors, alpha=1, z=None, beta=0, trans_x="N",
             trans_factors="", precision="full"):
        dims = list(in_dims) + [None] * (4 - len(in_dims))
        dim_x, dim_factors, dim_z = dims[0], dims[1], dims[3]
        if dim_factors is None:
            dim_factors = [None] * len(factors)
        core = len(factors) if kind == "batched" else 2

        def batch_rank(array, dim, rank):
            return array.dim() - rank - (dim is not None)

        rank = max(batch_rank(x, dim_x, core),
                   *(batch_rank(f, dim, 2) for f, dim in zip(factors, dim_factors)))
        if dim_x is not None:
            x = _align(x, dim_x, rank, core)
        factors = [f if dim is None else _align(f, dim, rank, 2)
                   for f, dim in zip(factors, dim_factors)]
        if z is not None and dim_z is not None:
            z = _align(z, dim_z, rank, core)
        if dim_x is None and all(dim is None for dim in dim_factors):
            # Only z is mapped: its axis must be in the result's shape.
            x = x.expand(info.batch_size, *[1] * (rank - x.dim() + core), *x.shape)
        op = getattr(_dispatch, kind)
        return op(x, factors, alpha, z, beta, trans_x, trans_factors, precision), 0

    return rule


def _fold_features(array, dim, layout, batch):
    """Puts the mapped axis in front of the features."""
    if array is None:
        return None
    if dim is None:
        array = array.expand(batch, *array.shape)
    else:
        array = array.movedim(dim, 0)
    if layout == "batch_last":
        return array.reshape(-1, *array.shape[2:])
    array = array.movedim(0, -2)
    return array.reshape(*array.shape[:-2], -1)


def _unfold_features(array, layout, batch):
    """The inverse of _fold_features; the mapped axis comes first."""
    if layout == "batch_last":
        return array.reshape(batch, -1, *array.shape[1:])
    return array.unflatten(-1, (batch, -1)).movedim(-2, 0)


def _fold_weights(array, dim, batch):
    array = array.expand(batch, *array.shape) if dim is None else array.movedim(dim, 0)
    return array.flatten(0, 1)


def _fold_batch(array, dim, layout, batch):
    """Puts the mapped axis among the batch dimensions."""
    if array is None:
        return None
    if dim is None:
        array = array.expand(batch, *array.shape)
        dim = 0
    return array.movedim(dim, 0 if layout == "batch_first" else 1)


def ksmm(info, in_dims, x, weights, bias=None, residual=None, z=None, *rest):
    """The rule of ksmm: into the batch, or, with mapped weights, into `a`."""
    dims = list(in_dims) + [None] * (5 - len(in_dims))
    rest = rest + _KSMM_DEFAULTS[len(rest):]
    layout, batch = rest[4], info.batch_size
    if dims[1] is None and dims[2] is None:
        arrays = [_fold_batch(array, dim, layout, batch) for array, dim in
                  ((x, dims[0]), (residual, dims[3]), (z, dims[4]))]
        result = _dispatch.ksmm(arrays[0], weights, bias, *arrays[1:], *rest)
        return result, 0 if layout == "batch_first" else 1
    x, residual, z = (_fold_features(array, dim, layout, batch) for array, dim in
                      ((x, dims[0]), (residual, dims[3]), (z, dims[4])))
    weights = _fold_weights(weights, dims[1], batch)
    if bias is not None:
        bias = _fold_weights(bias, dims[2], batch)
    result = _dispatch.ksmm(x, weights, bias, residual, z, *rest)
    return _unfold_features(result, layout, batch), 0


# alpha, beta, scale, trans_weights, layout, activation, precision
_KSMM_DEFAULTS = (1, 0, 1, "N", "batch_first", "identity", "full")


def ksmm_chain(info, in_dims, x, weights, bias=None, layout="batch_first",
               precision="full"):
    """The rule of ksmm_chain."""
    dims = list(in_dims) + [None] * (3 - len(in_dims))
    dim_weights = dims[1] or [None] * len(weights)
    batch = info.batch_size
    if dims[2] is None and all(dim is None for dim in dim_weights):
        x = _fold_batch(x, dims[0], layout, batch)
        result = _dispatch.ksmm_chain(x, weights, bias, layout, precision)
        return result, 0 if layout == "batch_first" else 1
    x = _fold_features(x, dims[0], layout, batch)
    weights = [_fold_weights(w, dim, batch) for w, dim in zip(weights, dim_weights)]
    if bias is not None:
        bias = _fold_weights(bias, dims[2], batch)
    result = _dispatch.ksmm_chain(x, weights, bias, layout, precision)
    return _unfold_features(result, layout, batch), 0


def ksmm_weight_grad(info, in_dims, grad, x, pattern, layout="batch_first"):
    """The rule of ksmm_weight_grad: into `a`."""
    batch = info.batch_size
    a, b, c, d = pattern
    grad = _fold_features(grad, in_dims[0], layout, batch)
    x = _fold_features(x, in_dims[1], layout, batch)
    result = _dispatch.ksmm_weight_grad(grad, x, (batch * a, b, c, d), layout)
    return result.unflatten(0, (batch, a)), 0


def axis_grad(info, in_dims, x, grad, rows):
    """The rule of axis_grad: a matrix product per mapped position."""
    x, grad = (array.expand(info.batch_size, *array.shape) if dim is None
               else array.movedim(dim, 0) for array, dim in zip((x, grad), in_dims))
    return contract(x, grad), 0
