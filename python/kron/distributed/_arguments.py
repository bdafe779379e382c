# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Arguments of products on several ranks: checked by each, and compared by all."""

import math

import torch
from torch.distributed.tensor import DTensor, Replicate, Shard

from ..torch._arguments import letters
from . import _agree
from ._layout import layout_of
from ._parts import part_of, plain_part
from ._plan import best_plan, plan_to


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
            factor = part_of(factor)
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


def checked(x, factors, mesh_dim, to, keep_placement, trans_factors):
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
    local = plain_part(x)
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


#: What ranks with GPUs have agreed on: (layout, plan or None) of calls by `_key`.
_known = {}
_MOST_KNOWN = 256


def _key(x, factors, *options):
    """What a call's layout and plan follow from, where all arrays are what most calls have; None
    for others."""
    if (x.device.type != "cuda" or not isinstance(factors, (list, tuple))
            or not all(type(factor) in (torch.Tensor, torch.nn.Parameter) for factor in factors)):
        return None
    key = (x.device_mesh, x.placements, x.shape, plain_part(x).shape, x.dtype, x.requires_grad,
           tuple((factor.shape, factor.dtype, factor.device, factor.requires_grad)
                 for factor in factors), torch.is_grad_enabled(), repr(options))
    # Meshes of the same ranks are equal, but their groups may be new ones.
    return *key, *(x.device_mesh.get_group(dim).group_name for dim in range(x.device_mesh.ndim))


def agreed(x, factors, mesh_dim, to, keep_placement, trans_factors, precision, more=()):
    """The same as `checked`, on all ranks or on none; `more` are (name, what it is) of further
    arguments that have to be the same on all of them."""
    options = mesh_dim, to, keep_placement, trans_factors, precision, more
    key = _key(x, factors, *options)
    if key in _known:
        letter = letters(trans_factors, len(factors)) or "N" * len(factors)
        layout, plan = _known[key]
        return layout, [_transposed(*pair) for pair in zip(factors, letter)], plan
    result = _agreed(x, factors, *options)
    if key is not None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = result[0], result[2]
    return result


def _agreed(x, factors, mesh_dim, to, keep_placement, trans_factors, precision, more):
    error = result = None
    try:
        result = checked(x, factors, mesh_dim, to, keep_placement, trans_factors)
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
        _agree.check([*signature, *more], error, groups, x.device)
    elif error is not None:
        raise error
    return result
