# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kronecker products of an array that is divided among ranks, by one exchange."""

import math

import torch
from torch.compiler import is_compiling
from torch.distributed.tensor import DTensor, Replicate, Shard

from ..torch._arguments import letters
from . import _agree, _exchange, _overlap  # noqa: F401
from ._layout import layout_of
from ._local import apply
from ._plan import best_plan, plan_to
from ._sums import on_all_ranks


@torch.compiler.allow_in_graph
def mkm(x, factors, *, mesh_dim=None, to=None, keep_placement=False, trans_factors=False,
        precision="full"):
    """x (op(factors[0]) kron ... kron op(factors[-1])) for a DTensor x.

    Rows need no communication. Where a mode is sharded, the factors of the other modes are
    applied to the local part, one all-to-all moves the sharding to another mode, and the
    remaining factors are applied. In f32, with square factors and sizes that the number g of
    ranks divides, all ranks together send 4 K M (g-1)/g bytes per exchange.

    Args:
        x: a DTensor of shape [M, P1, ..., PN] for N factors, with any of its axes sharded, or of
            shape [M, K] with K = P1...PN, with rows sharded, or with columns sharded such that
            the first mode is. One dimension of its mesh at most may shard a mode; the others
            may shard rows or replicate. Sizes need not be divisible: ranks have as many
            positions as with torch.chunk, the last ones perhaps none.
        factors: N matrices [Pk, Qk] of x's type. Tensors are expected to be the same on all ranks
            (which is not checked); DTensors are on x's mesh, and gathered unless replicated.
        mesh_dim: number or name of the mesh's dimension that shards a mode; by default the one
            that does.
        to: axis of the result that is sharded instead of x's mode: 1 to N, or 0 for rows, if
            no other dimension of the mesh shards these. By default the one to which the fewest
            bytes travel; outer modes come first.
        keep_placement: whether the result has x's placements. By default it has the
            placements that one exchange leads to, which a product by the same factors transposed
            can take back (`to`); a mode keeps its sharding at the price of a second exchange.
        trans_factors: False, True, "N", "T" or "C" for all factors, or a list with one of these
            for each.
        precision: as in kron.mkm.

    Returns:
        A DTensor of shape [M, Q1, ..., QN] ([M, Q1...QN] for x of shape [M, K]) on x's mesh,
        whose placements say where it is sharded. It can be differentiated any number of times;
        gradients by x have x's placements, gradients by factors are summed over ranks by one
        all-reduce, so that every rank has all of them.

    Raises:
        TypeError, ValueError: for arguments that do not go together. All ranks compare what their
            arguments look like before the first exchange (ranks with GPUs when it is new,
            compiled code never); where one of them is wrong or differs, all raise, and the
            message names the rank and the argument.
        RuntimeError: from torch.distributed, when a rank has failed, within the timeout of the
            process group.
    """
    if not isinstance(x, DTensor):
        raise TypeError(f"expects x to be a DTensor, but got {type(x).__name__}")
    if is_compiling():
        call = _checked(x, factors, mesh_dim, to, keep_placement, trans_factors)
    else:
        call = _agreed(x, factors, mesh_dim, to, keep_placement, trans_factors, precision)
    layout, matrices, plan = call
    matrices = on_all_ranks(matrices, _summed_groups(layout))
    local = x.to_local()
    local = local.reshape(layout.local_sizes())
    if plan is None:
        y, axis = apply(local, dict(enumerate(matrices, 1)), precision), 0
    else:
        y, axis = _exchanged(local, matrices, layout, plan, precision), plan.target
        if keep_placement:
            y = _move(y, layout, axis, layout.axis, plan.sizes[plan.target])
            axis = layout.axis
    return _distributed(y, x, layout, matrices, axis)


# ----------------------------------------------------------------------------------
# Arguments
# ----------------------------------------------------------------------------------


@torch.no_grad()
def _part(x):
    """This rank's part, of which no derivatives are wanted."""
    return x.to_local()


def _transposed(factor, letter):
    if letter == "N":
        return factor
    return factor.mH if letter == "C" else factor.mT


def _matrices(x, factors, trans_factors):
    """op(factors) as tensors that all ranks have."""
    if not isinstance(factors, (list, tuple)):
        raise TypeError(f"expects factors to be a list or tuple of tensors, but got "
                        f"{type(factors).__name__}")
    if not factors:
        raise ValueError("expects factors to hold at least one array")
    trans = letters(trans_factors, len(factors)) or "N" * len(factors)
    result = []
    for k, (factor, letter) in enumerate(zip(factors, trans)):
        name = f"factors[{k}]"
        if not isinstance(factor, torch.Tensor):
            raise TypeError(f"expects {name} to be a tensor, but got {type(factor).__name__}")
        if factor.dim() != 2 or 0 in factor.shape:
            raise ValueError(f"expects {name} to be a matrix that is not empty, but got shape "
                             f"{tuple(factor.shape)}")
        if factor.dtype != x.dtype:
            raise TypeError(f"expects {name} to be of x's type {x.dtype}, but got {factor.dtype}")
        if factor.device != x.device:
            raise ValueError(f"expects {name} to be on x's device {x.device}, but got "
                             f"{factor.device}")
        if isinstance(factor, DTensor):
            if factor.device_mesh != x.device_mesh:
                raise ValueError(f"expects {name} to be on x's mesh {x.device_mesh}, but got "
                                 f"{factor.device_mesh}")
            if not all(type(placement) is Replicate for placement in factor.placements):
                factor = factor.redistribute(placements=[Replicate()] * x.device_mesh.ndim)
            factor = factor.to_local()
        result.append(_transposed(factor, letter))
    return result


def _check_target(to, layout, count):
    if isinstance(to, bool) or not isinstance(to, int):
        raise TypeError(f"expects to to be the number of an axis, but got {type(to).__name__}")
    allowed = [axis for axis in range(1, count + 1) if axis != layout.axis]
    if not layout.row_groups():
        allowed.insert(0, 0)
    if to not in allowed:
        raise ValueError(f"expects to to be one of the axes {allowed} that can be sharded instead "
                         f"of {layout.axis}, but got {to}")


def _checked(x, factors, mesh_dim, to, keep_placement, trans_factors):
    """(layout, matrices, plan or None where nothing is exchanged)."""
    if not isinstance(keep_placement, bool):
        raise TypeError(f"expects keep_placement to be a bool, but got "
                        f"{type(keep_placement).__name__}")
    matrices = _matrices(x, factors, trans_factors)
    sizes = [matrix.shape[0] for matrix in matrices]
    if x.dim() == 2 and x.shape[1] != math.prod(sizes):
        raise ValueError(f"expects x to have {math.prod(sizes)} columns for factors that contract "
                         f"{sizes}, but got {x.shape[1]}")
    layout = layout_of(x, sizes, mesh_dim)
    local = _part(x)
    if local.numel() != math.prod(layout.local_sizes()):
        raise ValueError(f"expects the part of x on this rank to have the sizes "
                         f"{tuple(layout.local_sizes())}, but got {tuple(local.shape)}")
    if not layout.axis:
        if to is not None:
            raise ValueError("expects to only where a mode of x is sharded")
        return layout, matrices, None
    shapes = [tuple(matrix.shape) for matrix in matrices]
    if to is None:
        plan = best_plan(layout, shapes)
    else:
        _check_target(to, layout, len(shapes))
        plan = plan_to(layout, shapes, to)
    if x.dim() == 2 and len(shapes) > 1 and not keep_placement and plan.target:
        raise ValueError(
            f"expects keep_placement=True or to=0 for x of shape [M, K] with sharded columns: "
            f"only a result of shape {('M', *(q for _, q in shapes))} can have another mode "
            f"sharded, for x of shape {layout.sizes}")
    return layout, matrices, plan


def _describe(array):
    text = f"{tuple(array.shape)} {array.dtype}"
    if isinstance(array, DTensor):
        text += f" {array.placements}"
    return text + (" with a gradient" if array.requires_grad else "")


def _signature(x, factors, mesh_dim, to, keep_placement, trans_factors, precision):
    """What has to be the same on all ranks; x's own part is checked by each."""
    parts = [("x", f"{tuple(x.shape)} {x.dtype} {x.placements}"
                   + (" with a gradient" if x.requires_grad else ""))]
    if isinstance(factors, (list, tuple)):
        parts += [(f"factors[{k}]", _describe(factor) if isinstance(factor, torch.Tensor)
                   else type(factor).__name__) for k, factor in enumerate(factors)]
    options = {"mesh_dim": mesh_dim, "to": to, "keep_placement": keep_placement,
               "trans_factors": trans_factors, "precision": precision,
               "torch.is_grad_enabled()": torch.is_grad_enabled()}
    return parts + [(name, repr(value)) for name, value in options.items()]


def _agreed(x, factors, mesh_dim, to, keep_placement, trans_factors, precision):
    """_checked(...), on all ranks or on none."""
    error = result = None
    try:
        result = _checked(x, factors, mesh_dim, to, keep_placement, trans_factors)
    except (TypeError, ValueError) as caught:
        error = caught
    mesh, placements = x.device_mesh, x.placements
    groups = [mesh.get_group(dim) for dim, placement in enumerate(placements)
              if isinstance(placement, Shard) and mesh.size(dim) > 1]
    sums = torch.is_grad_enabled() and isinstance(factors, (list, tuple)) and any(
        isinstance(factor, torch.Tensor) and factor.requires_grad for factor in factors)
    exchanges = any(isinstance(placement, Shard) and placement.dim % x.dim()
                    for placement in placements)
    if groups and (exchanges or sums):
        signature = _signature(x, factors, mesh_dim, to, keep_placement, trans_factors, precision)
        _agree.check(signature, error, groups, x.device)
    elif error is not None:
        raise error
    return result


# ----------------------------------------------------------------------------------
# Computation
# ----------------------------------------------------------------------------------


def _summed_groups(layout):
    """Names of the groups among which x is divided, over which gradients by factors are sums."""
    groups = layout.row_groups()
    return [*groups, layout.group] if layout.axis else groups


def _move(local, layout, source, target, size):
    return torch.ops.kron.move_sharding(local, source, target, size, layout.ranks, layout.rank,
                                        layout.group)


def _is_recorded(*arrays):
    return torch.is_grad_enabled() and any(array.requires_grad for array in arrays)


def _exchanged(local, matrices, layout, plan, precision):
    """The product of a local part, sharded along plan.target."""
    if not (is_compiling() or _is_recorded(local, *matrices)) and _overlap.is_possible(
            plan, len(matrices)):
        return _overlap.product(local, matrices, layout, plan, precision)
    local = apply(local, {axis: matrices[axis - 1] for axis in plan.before}, precision)
    local = _move(local, layout, plan.source, plan.target, layout.sizes[plan.source])
    return apply(local, {axis: matrices[axis - 1] for axis in plan.after}, precision)


def _distributed(local, x, layout, matrices, axis):
    """The result as a DTensor whose `axis` is sharded."""
    sizes = [layout.sizes[0], *(matrix.shape[1] for matrix in matrices)]
    if x.dim() == 2:
        local = local.reshape(local.shape[0], math.prod(local.shape[1:]))
        sizes = [sizes[0], math.prod(sizes[1:])]
    strides = [math.prod(sizes[k + 1:]) for k in range(len(sizes))]
    return DTensor.from_local(local.contiguous(), x.device_mesh, layout.placements(axis),
                              run_check=False, shape=torch.Size(sizes), stride=tuple(strides))
