# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""How each operation of torch.ops.kron can be divided among the ranks of one dimension of a mesh.

A choice says for every array which placement it needs so that the operation on the parts is
a part of the result. Arrays are named by the operation's parameters, those of lists by
(parameter, number). Anything that a choice does not name is replicated.

  rows or a batch axis   x and the result, z and residual where they have the axis
  blocks                 of the leading mode of a product, of a, b or c of a Kronecker-sparse
                         factor: divided along the axis that the result keeps, the result is
                         divided; along the axis that is summed over, it is a partial sum
  partial sums           operations are linear in each array, so that a sum may be left for later
"""

import dataclasses

from torch.distributed.tensor import Partial, Replicate, Shard

from .. import _core
from ..torch._checks import factor_transposes


@dataclasses.dataclass(frozen=True)
class Choice:
    inputs: dict
    #: Of the result.
    output: object
    #: Sizes that the number of ranks has to divide.
    units: tuple = ()


REPLICATED = Choice({}, Replicate())


def _aligned(array, shape, position):
    """Shard along the axis of `array` that broadcasts to axis `position` of `shape`."""
    axis = position - (len(shape) - len(array.shape))
    if axis >= 0 and array.shape[axis] == shape[position] != 1:
        return Shard(axis)
    return Replicate()


def _addends(call, names, shape, position):
    return {name: _aligned(call[name], shape, position) for name in names
            if call.get(name) is not None}


def _partial(call, names):
    return {name: Partial() for name in names if call.get(name) is not None}


# ----------------------------------------------------------------------------------
# Products
# ----------------------------------------------------------------------------------


def _contracted(kind, letter):
    """(axis of a factor that is summed over, axis that the result gets)."""
    return _core.infer_factor(kind, (-2, -1), letter)


def product_parts(kind, call, shape):
    """Choices that divide a product, of which the result has this shape."""
    x, factors = call["x"], call["factors"]
    rank = len(factors) if kind == "batched" else 2
    lead = len(shape) - rank

    def of_x(axis):
        """The axis of x that is axis `axis` of op(x)'s last ones."""
        axis = axis if call["trans_x"] == "N" else rank - 1 - axis
        return Shard(len(x.shape) - rank + axis)

    for axis in range(lead):
        inputs = {"x": _aligned_batch(x, rank, lead, axis, shape)}
        for k, factor in enumerate(factors):
            inputs["factors", k] = _aligned_batch(factor, 2, lead, axis, shape)
        yield Choice({**inputs, **_addends(call, ["z"], shape, axis)}, Shard(axis))
    if kind != "batched":
        row = 0 if kind == "mkm" else 1
        yield Choice({"x": of_x(row), **_addends(call, ["z"], shape, lead + row)},
                     Shard(lead + row))
    letters = factor_transposes(call["trans_factors"], len(factors))
    for k, letter in enumerate(letters if kind == "batched" else letters[:1]):
        feature = k if kind == "batched" else 1 if kind == "mkm" else 0
        factor = factors[k].shape
        summed, kept = _contracted(kind, letter)
        yield Choice({"x": of_x(feature), ("factors", k): Shard(len(factor) + summed),
                      **_partial(call, ["z"])}, Partial(), (factor[summed],))
        yield Choice({("factors", k): Shard(len(factor) + kept),
                      **_addends(call, ["z"], shape, lead + feature)}, Shard(lead + feature),
                     (factor[kept],))


def _aligned_batch(array, core, lead, axis, shape):
    """Shard along batch axis `axis` of the result, if the array has it."""
    own = axis - (lead - (len(array.shape) - core))
    if own >= 0 and array.shape[own] == shape[axis] != 1:
        return Shard(own)
    return Replicate()


def product(kind):
    def choices(call, shape):
        yield REPLICATED
        yield from product_parts(kind, call, shape)
        linear = _partial(call, ["z"])
        yield Choice({"x": Partial(), **linear}, Partial())
        for k in range(len(call["factors"])):
            yield Choice({("factors", k): Partial(), **linear}, Partial())

    return choices


# ----------------------------------------------------------------------------------
# Kronecker-sparse factors
# ----------------------------------------------------------------------------------


def _features(call, shape):
    return len(shape) - 1 if call["layout"] == "batch_first" else 0


def batch_parts(call, shape):
    """Choices that divide the batch."""
    for axis in range(len(shape)):
        if axis != _features(call, shape):
            yield Choice({"x": Shard(axis), **_addends(call, ["residual", "z"], shape, axis)},
                         Shard(axis))


def block_part(call, shape, names, weights):
    """The choice that divides the a of all weights, and the features."""
    axis = _features(call, shape)
    inputs = {"x": Shard(axis), **_addends(call, ["residual", "z"], shape, axis)}
    if call.get("bias") is not None:
        inputs["bias"] = Shard(0)
    return Choice({**inputs, **dict.fromkeys(names, Shard(0))}, Shard(axis),
                  tuple(weight.shape[0] for weight in weights))


def ksmm(call, shape):
    axis, weights = _features(call, shape), call["weights"].shape
    addends = ["bias", "residual", "z"]
    yield REPLICATED
    yield from batch_parts(call, shape)
    yield block_part(call, shape, ["weights"], [call["weights"]])
    summed, kept = _core.weight_axes(call["trans_weights"])
    if weights[0] == 1:
        bias = {} if call["bias"] is None else {"bias": Shard(0)}
        yield Choice({"weights": Shard(kept), **bias,
                      **_addends(call, ["residual", "z"], shape, axis)}, Shard(axis),
                     (weights[kept],))
    if call["activation"] == "identity":
        if weights[0] == 1:
            yield Choice({"x": Shard(axis), "weights": Shard(summed), **_partial(call, addends)},
                         Partial(), (weights[summed],))
        yield Choice({"x": Partial(), **_partial(call, addends)}, Partial())
        yield Choice({"weights": Partial(), **_partial(call, addends)}, Partial())


def ksmm_chain(call, shape):
    weights = call["weights"]
    yield REPLICATED
    yield from batch_parts(call, shape)
    yield block_part(call, shape, [("weights", k) for k in range(len(weights))], weights)
    yield Choice({"x": Partial(), **_partial(call, ["bias"])}, Partial())


def ksmm_weight_grad(call, shape):
    axis = _features(call, call["x"].shape)
    yield REPLICATED
    for batch in range(len(call["x"].shape)):
        if batch != axis:
            yield Choice({"grad": Shard(batch), "x": Shard(batch)}, Partial())
    yield Choice({"grad": Shard(axis), "x": Shard(axis)}, Shard(0), (shape[0],))
    if shape[0] == 1:
        yield Choice({"grad": Shard(axis)}, Shard(1), (shape[1],))
        yield Choice({"x": Shard(axis)}, Shard(2), (shape[2],))
    yield Choice({"grad": Partial()}, Partial())
    yield Choice({"x": Partial()}, Partial())


def axis_grad(call, shape):
    yield REPLICATED
    for axis in (0, 2):
        yield Choice({"x": Shard(axis), "grad": Shard(axis)}, Partial())
    yield Choice({"x": Shard(1)}, Shard(0))
    yield Choice({"grad": Shard(1)}, Shard(1))
    yield Choice({"grad": Partial()}, Partial())
    yield Choice({"x": Partial()}, Partial())


# ----------------------------------------------------------------------------------
# Gradients of whole calls
# ----------------------------------------------------------------------------------


def _adjoint(choice, names, grad_name="grad", more=()):
    """The choice of a gradient operation that belongs to a forward choice: the gradient is placed
    as the result, or replicated where that is a partial sum; the gradient by an array is placed
    as the array, and a partial sum where all ranks have it. Returns inputs, and outputs by
    the name of the array."""
    inputs = {name: placement for name, placement in choice.inputs.items()
              if name in names and name != "bias"}
    inputs[grad_name] = Replicate() if choice.output.is_partial() else choice.output
    for name in more:
        inputs[name] = choice.inputs["x"]
    outputs = {name: choice.inputs.get(name, Replicate()) for name in names}
    return Choice(inputs, {name: Partial() if placement.is_replicate() else placement
                           for name, placement in outputs.items()}, choice.units)


def _whole(names):
    """Choices without parts."""
    yield Choice({}, dict.fromkeys(names, Replicate()))
    yield Choice({"grad": Partial()}, dict.fromkeys(names, Partial()))


def product_grads(call, shape):
    names = ["x", *(("factors", k) for k in range(len(call["factors"])))]
    yield from _whole(names)
    for choice in product_parts(call["kind"], call, shape):
        yield _adjoint(choice, names)


def ksmm_grads(call, shape):
    weights = [("weights", k) for k in range(len(call["weights"]))]
    names = ["x", "bias", *weights]
    kept = [("kept", k) for k in range(len(call["kept"]))]
    yield from _whole(names)
    for choice in batch_parts(call, shape):
        yield _adjoint(choice, names, more=kept)
    blocks = block_part({**call, "bias": call["grad"]}, shape, weights, call["weights"])
    yield _adjoint(blocks, names, more=kept)
