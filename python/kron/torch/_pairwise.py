# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Operations on pairs as PyTorch knows them: torch.ops.kron.pairwise and its relatives.

`arrays` are x, y and hyper-parameters; `directions`, where there are any, have their shapes, and
what is computed is the derivative along them. Derivatives of these operations are these operations,
up to second ones; IR has no third derivatives.
"""

import functools

import torch

from ..kernels import _arrays, _distance, _programs
from ..kernels._trace import PairFunction, swapped_text
from . import _dispatch, _ops

_library = torch.library.Library("kron", "FRAGMENT")
_library.define("pairwise(Tensor[] arrays, Tensor[] directions, str function) -> Tensor")
_library.define("pairwise_apply(Tensor[] arrays, Tensor values, Tensor[] directions, str function) -> Tensor")
# Weights, or their factors; gradients by those arrays that `needs` says.
_library.define("pairwise_grad(Tensor[] arrays, Tensor[] weights, Tensor[] directions, bool[] needs, "
                "str function) -> Tensor[]")


_PLAIN = {torch.Tensor, torch.nn.Parameter}


def _is_hidden(*arrays):
    """Whether nothing but the caller has to see an operation on these tensors: going through PyTorch's
    dispatcher takes longer than a small kernel."""
    return (_arrays.is_plain(arrays[0]) and (arrays[0].is_cuda or arrays[0].is_cpu)
            and all(type(array) in _PLAIN for array in arrays)
            and not (torch.is_grad_enabled() and any(array.requires_grad for array in arrays)))


def pairwise(function, arrays):
    """_programs.pairwise with derivatives."""
    if _is_hidden(*arrays):
        return _programs.pairwise(_function(function), arrays)
    return _dispatch.pairwise(list(arrays), [], function)


def apply(function, arrays, values):
    """_programs.apply with derivatives."""
    if _is_hidden(*arrays, values):
        return _programs.apply(_function(function), arrays, values)
    return _dispatch.pairwise_apply(list(arrays), values, [], function)


@torch.compiler.assume_constant_result
def distance_text(p, root):
    """_distance.distance_text, which torch.compile does not look into."""
    return _distance.distance_text(p, root)


# ----------------------------------------------------------------------------------
# Kernels
# ----------------------------------------------------------------------------------


_function = functools.lru_cache(maxsize=256)(PairFunction.parse)


def _swapped(arrays):
    return [arrays[1], arrays[0], *arrays[2:]]


def _plain(arrays):
    return [array.detach() for array in arrays]


def _pairwise(arrays, directions, function):
    return _programs.pairwise(_function(function), _plain(arrays), _plain(directions))


def _apply(arrays, values, directions, function):
    return _programs.apply(_function(function), _plain(arrays), values.detach(), _plain(directions))


def _grad(arrays, weights, directions, needs, function):
    arrays, weights, directions = map(_plain, (arrays, weights, directions))
    how = {"factors": weights} if len(weights) == 2 else {"weights": weights[0]}
    return [_programs.gradient(_function(function), arrays, by, directions=directions, **how)
            for by, flag in enumerate(needs) if flag]


# ----------------------------------------------------------------------------------
# Shapes
# ----------------------------------------------------------------------------------


def _batch(arrays, *matrices):
    x, y, *parameters = arrays
    return torch.broadcast_shapes(*(array.shape[:-2] for array in (x, y, *matrices)),
                                  *(array.shape for array in parameters))


def _fake_pairwise(arrays, directions, function):
    x, y = arrays[:2]
    return x.new_empty((*_batch(arrays), x.shape[-2], y.shape[-2]))


def _fake_apply(arrays, values, directions, function):
    return arrays[0].new_empty((*_batch(arrays, values), arrays[0].shape[-2], values.shape[-1]))


def _fake_grad(arrays, weights, directions, needs, function):
    return [array.new_empty(array.shape) for array, flag in zip(arrays, needs) if flag]


# ----------------------------------------------------------------------------------
# Derivatives
# ----------------------------------------------------------------------------------


def gradients(arrays, weights, directions, needs, function):
    """Gradients by the arrays that need one, and None for the others."""
    if not any(needs):
        return [None] * len(arrays)
    found = iter(_dispatch.pairwise_grad(arrays, weights, directions, list(needs), function))
    return [next(found) if flag else None for flag in needs]


def _save(ctx, arrays, directions, others, function):
    ctx.counts, ctx.function = (len(arrays), len(directions)), function
    ctx.save_for_backward(*arrays, *directions, *others)


def _saved(ctx):
    """(arrays, directions, others)"""
    saved, (count, count_directions) = list(ctx.saved_tensors), ctx.counts
    end = count + count_directions
    return saved[:count], saved[count:end], saved[end:]


def _setup_pairwise(ctx, inputs, output):
    arrays, directions, function = inputs
    _save(ctx, arrays, directions, (), function)


def _by_directions(arrays, weights, directions, needs, function):
    """A derivative along directions is linear in them."""
    return gradients(arrays, weights, [], needs, function) if directions else []


def _pairwise_backward(ctx, grad):
    arrays, directions, _ = _saved(ctx)
    needs, needs_directions = ctx.needs_input_grad[:2]
    return (gradients(arrays, [grad], directions, needs, ctx.function),
            _by_directions(arrays, [grad], directions, needs_directions, ctx.function), None)


def _setup_apply(ctx, inputs, output):
    arrays, values, directions, function = inputs
    _save(ctx, arrays, directions, (values,), function)


def _transposed_apply(arrays, values, directions, function, shape):
    """The transpose of F times `values`, summed up to `shape`."""
    result = _dispatch.pairwise_apply(_swapped(arrays), values, _swapped(directions) if directions else [],
                                    swapped_text(function))
    return result.sum_to_size(shape)


def _apply_backward(ctx, grad):
    arrays, directions, (values,) = _saved(ctx)
    needs, needs_values, needs_directions = ctx.needs_input_grad[:3]
    by_values = None
    if needs_values:
        by_values = _transposed_apply(arrays, grad, directions, ctx.function, values.shape)
    return (gradients(arrays, [grad, values], directions, needs, ctx.function), by_values,
            _by_directions(arrays, [grad, values], directions, needs_directions, ctx.function), None)


def _setup_grad(ctx, inputs, output):
    arrays, weights, directions, ctx.needs, function = inputs
    _save(ctx, arrays, directions, weights, function)


def _grad_backward(ctx, grads):
    arrays, directions, weights = _saved(ctx)
    if directions:
        raise NotImplementedError("expects derivatives of kernel matrices up to the second, but a third "
                                  "one was asked for")
    found = iter(grads)
    along = [next(found) if flag else None for flag in ctx.needs]
    along = [array.new_zeros(array.shape) if direction is None else direction
             for array, direction in zip(arrays, along)]
    needs, needs_weights = ctx.needs_input_grad[:2]
    by_weights = [None] * len(weights)
    if len(weights) == 1 and needs_weights[0]:
        by_weights[0] = _dispatch.pairwise(arrays, along, ctx.function)
    elif len(weights) == 2:
        left, right = weights
        if needs_weights[0]:
            by_weights[0] = _dispatch.pairwise_apply(arrays, right, along, ctx.function).sum_to_size(left.shape)
        if needs_weights[1]:
            by_weights[1] = _transposed_apply(arrays, left, along, ctx.function, right.shape)
    return (gradients(arrays, weights, along, needs, ctx.function), by_weights,
            [None] * len(directions), None, None)


# ----------------------------------------------------------------------------------
# Rules for torch.vmap
# ----------------------------------------------------------------------------------


def cores_of(arrays):
    """Axes behind the batch of x, y and hyper-parameters."""
    return [2, 2, *[0] * (len(arrays) - 2)][:len(arrays)]


def _rank(array, dim, core):
    """Of the batch without the mapped axis."""
    return array.dim() - core - (dim is not None)


def _mapped(array, dim, core, rank, size):
    """The mapped axis in front of `rank` axes of a batch; without `size` only where there is one."""
    if dim is None and size is None:
        return array
    array = array.expand(size, *array.shape) if dim is None else array.movedim(dim, 0)
    missing = rank - (array.dim() - 1 - core)
    return array.reshape(array.shape[0], *[1] * missing, *array.shape[1:])


class Mapping:
    """Lists of arrays with mapped axes, brought to one rank of the batch."""

    def __init__(self, size, *lists):
        """`lists` are (arrays, mapped axes, axes behind the batch of each)."""
        self.size = size
        self.lists = [(arrays, [None] * len(arrays) if dims is None else dims, cores)
                      for arrays, dims, cores in lists]
        self.rank = max(_rank(*item) for arrays, dims, cores in self.lists
                        for item in zip(arrays, dims, cores))

    def mapped(self, number, everything=False):
        """List `number`, of which all arrays have the mapped axis if `everything` has."""
        return [_mapped(array, dim, core, self.rank, self.size if everything else None)
                for array, dim, core in zip(*self.lists[number])]

    def shapes(self):
        """Those of single results of the shapes of the first list."""
        return [array.shape if dim is None else array.movedim(dim, 0).shape[1:]
                for array, dim, _ in zip(*self.lists[0])]


def _vmap_pairwise(info, in_dims, arrays, directions, function):
    mapping = Mapping(info.batch_size, (arrays, in_dims[0], cores_of(arrays)),
                       (directions, in_dims[1], cores_of(directions)))
    # Arrays and their directions are to have the same shapes.
    everything = bool(directions)
    return _dispatch.pairwise(mapping.mapped(0, everything), mapping.mapped(1, everything), function), 0


def _vmap_apply(info, in_dims, arrays, values, directions, function):
    mapping = Mapping(info.batch_size, (arrays, in_dims[0], cores_of(arrays)),
                       (directions, in_dims[2], cores_of(directions)), ([values], [in_dims[1]], [2]))
    everything = bool(directions)
    values, = mapping.mapped(2)
    return _dispatch.pairwise_apply(mapping.mapped(0, everything), values, mapping.mapped(1, everything), function), 0


def _vmap_grad(info, in_dims, arrays, weights, directions, needs, function):
    mapping = Mapping(info.batch_size, (arrays, in_dims[0], cores_of(arrays)),
                       (directions, in_dims[2], cores_of(directions)), (weights, in_dims[1], [2] * len(weights)))
    results = _dispatch.pairwise_grad(mapping.mapped(0, True), mapping.mapped(2), mapping.mapped(1, True), needs,
                                    function)
    shapes = [shape for shape, flag in zip(mapping.shapes(), needs) if flag]
    results = [result.reshape(info.batch_size, *shape) for result, shape in zip(results, shapes)]
    return results, [0] * len(results)


# ----------------------------------------------------------------------------------
# Registration
# ----------------------------------------------------------------------------------


def _register(name, kernel, fake, setup_context, backward, vmap):
    qualified = "kron::" + name
    for key in ("CPU", "CUDA"):
        _library.impl(name, kernel, key)
    torch.library.register_fake(qualified, fake, lib=_library)
    torch.library.register_autograd(qualified, backward, setup_context=setup_context, lib=_library)
    torch.library.register_vmap(qualified, _ops.operation_vmap(vmap), lib=_library)
    _dispatch.rules[name] = setup_context, backward, vmap


_register("pairwise", _pairwise, _fake_pairwise, _setup_pairwise, _pairwise_backward, _vmap_pairwise)
_register("pairwise_apply", _apply, _fake_apply, _setup_apply, _apply_backward, _vmap_apply)
_register("pairwise_grad", _grad, _fake_grad, _setup_grad, _grad_backward, _vmap_grad)
