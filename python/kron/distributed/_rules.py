# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""torch.ops.kron.* on DTensors.

For every dimension of the mesh the choice (_choices.py) is taken that moves the fewest bytes,
and among these the one that changes the fewest placements. Then arrays are redistributed, the
operation runs on the parts, and the results are DTensors. Sizes need not be divisible where an
axis of an array is divided; blocks within an axis are.

PyTorch's register_sharding does not serve here: it remembers what it has chosen by shapes
alone, but layouts and transposes are strings, and it takes no lists of results.
torch.library.register_torch_dispatch asks for every call.
"""

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from ..torch import _dispatch, _grads, _ops, _shapes
from . import _choices
from ._parts import plain_part, plain_whole

class _Like:
    """An array that only has a shape, for checks and for shapes of results."""

    def __init__(self, array):
        self.shape, self.dtype, self.device = array.shape, array.dtype, array.device

    def dim(self):
        return len(self.shape)

    def new_empty(self, shape):
        return torch.Size(shape)


def _map(value, function):
    """`function` of a tensor or of those in a list."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        return [function(array) for array in value]
    return value


def _bind(func, args, kwargs):
    """All arguments by name."""
    call = {}
    for number, parameter in enumerate(func._schema.arguments):
        if number < len(args):
            call[parameter.name] = args[number]
        else:
            call[parameter.name] = kwargs.get(parameter.name, parameter.default_value)
    return call


def _arrays(call):
    """name, or (name, number) in a list -> tensor."""
    result = {}
    for name, value in call.items():
        if isinstance(value, torch.Tensor):
            result[name] = value
        elif isinstance(value, (list, tuple)):
            result.update({(name, k): array for k, array in enumerate(value)
                           if isinstance(array, torch.Tensor)})
    return result


def _label(name):
    return name if isinstance(name, str) else f"{name[0]}[{name[1]}]"


def _mesh_of(arrays):
    """The mesh of all arrays; raises where they are not DTensors on one."""
    mesh = next(array.device_mesh for array in arrays.values() if isinstance(array, DTensor))
    for name, array in arrays.items():
        if not isinstance(array, DTensor):
            raise TypeError(f"expects {_label(name)} to be a DTensor like the others, but got "
                            f"{type(array).__name__}; distribute_tensor makes one")
        if array.device_mesh != mesh:
            raise ValueError(f"expects {_label(name)} to be on the others' mesh {mesh}, but got "
                             f"{array.device_mesh}")
    return mesh


# ----------------------------------------------------------------------------------
# Choosing
# ----------------------------------------------------------------------------------


def _same(current, wanted):
    """Strided shards are not those of the rules, whatever they are equal to."""
    return type(current) is type(wanted) and current == wanted


def _bytes_moved(current, wanted, size, ranks):
    """Of an array of so many bytes, per rank and roughly."""
    if _same(current, wanted) or current.is_replicate():
        return 0
    share = size * (ranks - 1) / ranks
    if current.is_partial():
        return share if isinstance(wanted, Shard) else 2 * share
    return share / ranks if isinstance(wanted, Shard) else share


def _choose(choices, arrays, mesh):
    """For every dimension of the mesh a choice."""
    chosen, divided = [], {}
    for dim in range(mesh.ndim):
        ranks, best = mesh.size(dim), None
        for choice in choices:
            # A size may be divided along several dimensions of the mesh.
            if any(unit % (ranks * divided.get(_unit_key(choice), 1)) for unit in choice.units):
                continue
            moved = changed = 0
            for name, array in arrays.items():
                current, wanted = array.placements[dim], choice.inputs.get(name, Replicate())
                if isinstance(current, Partial) and isinstance(wanted, Partial) and (
                        current != wanted):
                    break
                size = array.numel() * array.dtype.itemsize
                moved += _bytes_moved(current, wanted, size, ranks)
                changed += not _same(current, wanted)
            else:
                key = moved, changed
                if best is None or key < best[0]:
                    best = key, choice
        chosen.append(best[1])
        if best[1].units:
            key = _unit_key(best[1])
            divided[key] = divided.get(key, 1) * ranks
    return chosen


def _unit_key(choice):
    return tuple(sorted((_label(name), str(placement))
                        for name, placement in choice.inputs.items()))


# ----------------------------------------------------------------------------------
# Running
# ----------------------------------------------------------------------------------


def _local(array, wanted):
    """The part of a DTensor with these placements. Of an array that all ranks have, the first
    one keeps it where a partial sum is wanted, and the others have zeros."""
    mesh = array.device_mesh
    reachable = [Replicate() if isinstance(placement, Partial) and placement != current
                 else placement for placement, current in zip(wanted, array.placements)]
    part = plain_part(array)
    if not all(map(_same, array.placements, reachable)):
        whole = plain_whole(part, mesh, array.placements, array.shape)
        part = plain_part(whole.redistribute(placements=reachable))
    if any(mesh.get_local_rank(dim) for dim, placement in enumerate(wanted)
           if placement != reachable[dim]):
        return torch.zeros_like(part)
    return part


def _run(func, call, arrays, mesh, chosen):
    """The operation on the parts."""
    parts = {name: _local(array, [choice.inputs.get(name, Replicate()) for choice in chosen])
             for name, array in arrays.items()}
    local = dict(call)
    for name in {name if isinstance(name, str) else name[0] for name in arrays}:
        if isinstance(call[name], torch.Tensor):
            local[name] = parts[name]
        else:
            local[name] = [parts[name, k] for k in range(len(call[name]))]
    if "pattern" in call:
        pattern = list(call["pattern"])
        for dim, choice in enumerate(chosen):
            if isinstance(choice.output, Shard):
                pattern[choice.output.dim] //= mesh.size(dim)
        local["pattern"] = pattern
    return func(*local.values())


def _operation(shape_of, choices, decompose=None):
    """The rule of an operation with one result, whose shape `shape_of` finds (after its checks)
    from arguments as the operation takes them."""

    def rule(cls, func, types, args=(), kwargs=None):
        call = _bind(func, args, kwargs or {})
        arrays = _arrays(call)
        mesh = _mesh_of(arrays)
        shape = shape_of(**{name: _map(value, _Like) for name, value in call.items()})
        with torch.no_grad():
            chosen = _choose(list(choices(call, shape)), arrays, mesh)
            if decompose and not _is_free(chosen, arrays, mesh):
                return decompose(call)
            result = _run(func, call, arrays, mesh, chosen)
            return plain_whole(result, mesh, [choice.output for choice in chosen], shape)

    return rule


def _is_free(chosen, arrays, mesh):
    """Whether nothing has to be sent."""
    return not any(_bytes_moved(array.placements[dim], choice.inputs.get(name, Replicate()),
                                array.numel() or 1, mesh.size(dim))
                   for dim, choice in enumerate(chosen) for name, array in arrays.items())


def _gradients(names_of, choices, decompose):
    """The rule of an operation that returns the gradients that are needed."""

    def rule(cls, func, types, args=(), kwargs=None):
        call = _bind(func, args, kwargs or {})
        arrays = _arrays(call)
        mesh = _mesh_of(arrays)
        with torch.no_grad():
            chosen = _choose(list(choices(call, call["grad"].shape)), arrays, mesh)
            if not _is_free(chosen, arrays, mesh):
                return decompose(call)
            parts = _run(func, call, arrays, mesh, chosen)
            wanted = [pair for pair, flag in zip(names_of(call), call["needs"]) if flag]
            return [plain_whole(part, mesh, [choice.output[name] for choice in chosen], shape)
                    for part, (name, shape) in zip(parts, wanted)]

    return rule


def _product_results(call):
    yield "x", call["x"].shape
    for k, factor in enumerate(call["factors"]):
        yield ("factors", k), factor.shape


def _ksmm_results(call):
    yield "x", call["x"].shape
    axis = -1 if call["layout"] == "batch_first" else 0
    yield "bias", (call["grad"].shape[axis],)
    for k, weight in enumerate(call["weights"]):
        yield ("weights", k), weight.shape


def _product_steps(call):
    """Factor by factor, each with a choice of its own."""
    arguments = dict(call)
    results = _grads.product(_dispatch, arguments.pop("kind"), **arguments)
    return [result for result in results if result is not None]


def _ksmm_steps(call):
    needs = list(call["needs"])
    bias = None
    if needs[1]:
        axis = call["grad"].dim() - 1 if call["layout"] == "batch_first" else 0
        bias = call["grad"].sum([n for n in range(call["grad"].dim()) if n != axis])
    dx, _, *dweights = _grads.ksmm_chain(
        _dispatch, call["grad"], call["x"], call["weights"], call["kept"],
        [needs[0], False, *needs[2:]], call["trans"], call["layout"], call["precision"])
    return [result for result in (dx, bias, *dweights) if result is not None]


def _chain_steps(call):
    x, last = call["x"], len(call["weights"]) - 1
    for k, weight in enumerate(call["weights"]):
        x = _dispatch.ksmm(x, weight, call["bias"] if k == last else None, layout=call["layout"],
                           precision=call["precision"])
    return x


def _axis_grad_shape(x, grad, rows):
    return torch.Size((x.shape[1], grad.shape[1]))


def _pattern_shape(grad, x, pattern, layout="batch_first"):
    return torch.Size(pattern)


_RULES = {
    **{kind: _operation(_shapes.product(kind), _choices.product(kind))
       for kind in ("mkm", "kmm", "batched")},
    "ksmm": _operation(_shapes.ksmm, _choices.ksmm),
    "ksmm_chain": _operation(_shapes.ksmm_chain, _choices.ksmm_chain, _chain_steps),
    "ksmm_weight_grad": _operation(_pattern_shape, _choices.ksmm_weight_grad),
    "axis_grad": _operation(_axis_grad_shape, _choices.axis_grad),
    "product_grads": _gradients(_product_results, _choices.product_grads, _product_steps),
    "ksmm_grads": _gradients(_ksmm_results, _choices.ksmm_grads, _ksmm_steps),
}

for _name, _rule in _RULES.items():
    torch.library.register_torch_dispatch("kron::" + _name, DTensor, _rule, lib=_ops._library)
