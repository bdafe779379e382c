# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Layers on several ranks against the same on one."""

import copy

import torch
from torch.distributed.tensor import (DTensor, Replicate, Shard, distribute_module,
                                      distribute_tensor)

import kron
import kron.distributed as kd
from kron import nn as knn
from distributed_support import assert_near, case, full, gradients


def layers(context, dtype=torch.float64):
    """(layer, inputs) of every kind; the same on all ranks."""
    options = {"dtype": dtype, "device": context.device}
    g = context.world
    yield knn.KronLinear([4, 6], [5, 2], **options), 24
    yield knn.KSLinear([(1, 6, 4, 2), (2, 4, 6, 1)], **options), 8
    yield knn.Monarch(8 * g, 4 * g, blocks=2 * g, **options), 8 * g
    yield knn.Monarch(12, 18, bias=False, **options), 12


def train(model, inputs, targets, steps=3):
    """Losses of a few steps, by the sum of squares."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for x, target in zip(inputs, targets):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (model(x) - target).square().sum()
            loss.backward()
            optimizer.step()
            losses.append(full(loss.detach()).clone())
    return losses


@case(2, 3, 4)
def fully_sharded(context):
    """FSDP2 trains every layer as one process does, the whole batch on it."""
    from torch.distributed.fsdp import fully_shard

    mesh, g = context.mesh(), context.world
    for layer, features in layers(context):
        single = torch.nn.Sequential(layer, torch.nn.ReLU())
        model = copy.deepcopy(single)
        fully_shard(model[0], mesh=mesh)
        fully_shard(model, mesh=mesh)
        x = context.randn(3 * g, features)
        target = context.randn(3 * g, single(x[:1]).shape[1])
        own = slice(3 * context.rank, 3 * context.rank + 3)
        train(single, [x], [target])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(3):
            optimizer.zero_grad()
            # FSDP averages gradients over ranks.
            (g * (model(x[own]) - target[own]).square().sum()).backward()
            optimizer.step()
        for ours, theirs in zip(model.parameters(), single.parameters()):
            assert isinstance(ours, DTensor)
            assert_near(ours.detach(), theirs.detach(), 8)


@case(2, 3, 4)
def replicated_layers(context):
    """Layers with replicated parameters and rows of their input on each rank."""
    mesh, g = context.mesh(), context.world
    for single, features in layers(context):
        model = distribute_module(copy.deepcopy(single), mesh)
        x = context.randn(2 * g + 1, features)
        target = context.randn(2 * g + 1, single(x[:1]).shape[1])
        expected = train(single, [x], [target])
        rows = [Shard(0)]
        losses = train(model, [distribute_tensor(x, mesh, rows)],
                       [distribute_tensor(target, mesh, rows)])
        for ours, theirs in zip(losses, expected):
            assert_near(ours, theirs, 8)
        for ours, theirs in zip(model.parameters(), single.parameters()):
            assert_near(ours.detach(), theirs.detach(), 8)


@case(2, 4)
def parallel_styles(context):
    """parallelize_module with kron's styles, with plain tensors outside of the layers."""
    from torch.distributed.tensor.parallel import parallelize_module

    mesh, g = context.mesh(), context.world
    for style in (kd.RowsParallel, kd.BlocksParallel):
        for single, features in layers(context):
            torch.manual_seed(1)
            model = torch.nn.Sequential(copy.deepcopy(single))
            parallelize_module(model, mesh, {"0": style()})
            x = context.randn(2 * g + 1, features)
            target = context.randn(2 * g + 1, single(x[:1]).shape[1])
            expected = train(single, [x], [target])
            losses = train(model, [x], [target])
            for ours, theirs in zip(losses, expected):
                assert_near(ours, theirs, 8)
            for ours, theirs in zip(model.parameters(), single.parameters()):
                assert_near(ours.detach(), theirs.detach(), 8)
            sharded = [p for p in model.parameters() if p.placements[0].is_shard()]
            divides = any(a % g == 0 for a, *_ in getattr(single, "patterns", ()))
            assert bool(sharded) == (style is kd.BlocksParallel and divides), (style, single)


@case(2)
def compiled_layers(context):
    """torch.compile of layers on DTensors."""
    mesh = context.mesh()
    for single, features in layers(context):
        model = distribute_module(single, mesh)
        x = distribute_tensor(context.randn(5, features), mesh, [Shard(0)])
        call = torch.compile(model, backend="aot_eager", fullgraph=True)
        expected = model(x)
        assert_near(call(x).detach(), full(expected).detach(), 4)
        weights = distribute_tensor(context.randn(*expected.shape), mesh, [Shard(0)])
        parameters = list(model.parameters())
        for ours, theirs in zip(gradients(call(x), parameters, weights),
                                gradients(expected, parameters, weights)):
            assert_near(ours, full(theirs), 4)


@case(2)
def calls_see_dtensors(context):
    """Compiled code leaves DTensors to the operations, with and without gradients."""
    mesh = context.mesh()
    seen = []

    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    x = distribute_tensor(context.randn(4, 6), mesh, [Shard(0)])
    factors = [distribute_tensor(context.randn(n, n), mesh, [Replicate()]) for n in (2, 3)]
    for needs in (False, True):
        leaf = x.detach().requires_grad_(needs)
        y = kron.mkm(leaf, factors)
        assert isinstance(y, DTensor) and y.requires_grad == needs
        assert y.placements == (Shard(0),)
        with Mode():
            kron.mkm(leaf, factors)
    assert seen.count("kron.mkm.default") >= 2
    with torch.inference_mode():
        assert kron.mkm(x, factors).placements == (Shard(0),)
