# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Operations on DTensors, divided in every way, against the same on plain tensors."""

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

import kron
from distributed_support import assert_near, case, full, gradients, raised


def check_operation(context, mesh, function, arrays, placements, steps=4):
    """A function of arrays with these placements, and its gradients, beside the same on plain
    tensors."""
    plain = [array.detach().clone().requires_grad_() for array in arrays]
    expected = function(*plain)
    sharded = [distribute_tensor(array.detach(), mesh, [placement]).requires_grad_()
               for array, placement in zip(arrays, placements)]
    y = function(*sharded)
    assert isinstance(y, DTensor)
    assert_near(y.detach(), expected.detach(), steps)
    with torch.no_grad():
        assert_near(function(*sharded), expected.detach(), steps)
    weights = context.randn(*expected.shape, dtype=expected.dtype)
    placement = [Replicate() if p.is_partial() else p for p in y.placements]
    found = gradients(y, sharded, distribute_tensor(weights, mesh, placement))
    for ours, theirs in zip(found, gradients(expected, plain, weights)):
        assert_near(ours, theirs, steps)
    return y


@case(2, 3, 4)
def product_rules(context):
    mesh = context.mesh()
    r, s, g = Replicate(), Shard, context.world
    first, second = context.randn(g, 2 * g), context.randn(3, 2)
    # Rows, uneven; both directions of blocks of the first factor; each factor on its own.
    for kind, shape, axis in (("mkm", (5, 3 * g), 0), ("kmm", (6 * g, 5), 1)):
        function = {"mkm": lambda x, a, b: kron.mkm(x, [a, b]),
                    "kmm": lambda x, a, b: kron.kmm(x, [a, b],
                                                    trans_factors=True)}[kind]
        if kind == "kmm":
            shape = (3 * g, 5)
        x = context.randn(*shape)
        y = check_operation(context, mesh, function, [x, first, second], [s(axis), r, r])
        assert y.placements == (s(axis),)
        feature = 1 - axis
        y = check_operation(context, mesh, function, [x, first, second], [s(feature), s(0), r])
        assert y.placements[0].is_partial()
        y = check_operation(context, mesh, function, [x, first, second], [r, s(1), r])
        assert y.placements == (s(feature),)
        y = check_operation(context, mesh, function, [x, first, second], [r, r, r])
        assert y.placements == (r,)
        check_operation(context, mesh, function, [x, first, second], [s(axis), s(0), s(1)])
    x, a, b = context.randn(4, 2 * g, 3), context.randn(2, 2 * g), context.randn(g, 3)

    def batched(x, a, b):
        return kron.batched(x, [a, b])

    assert check_operation(context, mesh, batched, [x, a, b], [s(0), r, r]).placements == (s(0),)
    y = check_operation(context, mesh, batched, [x, a, b], [s(1), s(1), r])
    assert y.placements[0].is_partial()
    y = check_operation(context, mesh, batched, [x, a, b], [r, r, s(0)])
    assert y.placements == (s(2),)


@case(2, 4)
def product_addends(context):
    """alpha, beta and z, transposes, and batch dimensions that broadcast."""
    mesh = context.mesh()
    r, s, g = Replicate(), Shard, context.world

    def function(x, a, b, z):
        return kron.mkm(x, [a, b], alpha=2, beta=3, z=z, trans_x=True, trans_factors="T")

    x, a, b = context.randn(3 * g, 5), context.randn(4, g), context.randn(2, 3)
    for z in (context.randn(5, 8), context.randn(8), context.randn(5, 1)):
        rows = s(0) if z.dim() == 2 else r
        y = check_operation(context, mesh, function, [x, a, b, z], [s(1), r, r, rows])
        assert y.placements == (s(0),)
        y = check_operation(context, mesh, function, [x, a, b, z], [s(0), s(1), r, r])
        assert y.placements[0].is_partial()

    def batches(x, a):
        return kron.mkm(x, [a])

    x, a = context.randn(3, 1, 2, 4), context.randn(5, 4, 4)
    y = check_operation(context, mesh, batches, [x, a], [r, s(0)])
    assert y.placements == (s(1),)
    assert check_operation(context, mesh, batches, [x, a], [s(0), r]).placements == (s(0),)


@case(2, 4)
def sparse_rules(context):
    mesh = context.mesh()
    r, s, g = Replicate(), Shard, context.world

    def function(x, k, bias, layout="batch_first"):
        return kron.ksmm(x, k, layout=layout, bias=bias)

    def last(x, k, bias):
        return function(x, k, bias, "batch_last")

    for call, axis in ((function, 1), (last, 0)):
        def x_of(features, axis=axis):
            return context.randn(*((5, features) if axis else (features, 5)))

        k = context.randn(2 * g, 3, 2, 2)
        x, bias = x_of(8 * g), context.randn(12 * g)
        y = check_operation(context, mesh, call, [x, k, bias], [s(1 - axis), r, r])
        assert y.placements == (s(1 - axis),)
        y = check_operation(context, mesh, call, [x, k, bias], [s(axis), s(0), s(0)])
        assert y.placements == (s(axis),)
        k = context.randn(1, 2 * g, g, 3)
        x, bias = x_of(3 * g), context.randn(6 * g)
        y = check_operation(context, mesh, call, [x, k, bias], [s(axis), s(2), r])
        assert y.placements[0].is_partial()
        y = check_operation(context, mesh, call, [x, k, bias], [r, s(1), s(0)])
        assert y.placements == (s(axis),)
        # No choice fits: something is gathered.
        check_operation(context, mesh, call, [x, k, bias], [s(axis), s(3), s(0)])


@case(2, 4)
def sparse_options(context):
    """Transposes, activations, residuals, chains, and many batch axes."""
    mesh = context.mesh()
    r, s, g = Replicate(), Shard, context.world

    def function(x, k, bias, residual):
        return kron.ksmm(x, k, bias=bias, residual=residual, epilogue="relu", scale=2,
                         trans_weights=True)

    x, k = context.randn(3, 5, 6 * g), context.randn(g, 3, 2, 2)
    bias, residual = context.randn(4 * g), context.randn(3, 5, 4 * g)
    for placements in ([s(0), r, r, s(0)], [s(1), r, r, s(1)], [s(2), s(0), s(0), s(2)]):
        y = check_operation(context, mesh, function, [x, k, bias, residual], placements)
        assert y.placements[0] == placements[0]

    def chain(x, first, second, bias):
        return kron.ksmm_chain(x, [first, second], bias=bias)

    # A Monarch layer: blocks of the first factor, which the second one adds up.
    first, second = context.randn(g, 2, 3, 1), context.randn(1, 4, g, 2)
    x, bias = context.randn(5, 3 * g), context.randn(8)
    y = check_operation(context, mesh, chain, [x, first, second, bias], [s(1), s(0), s(2), r])
    assert y.placements[0].is_partial()
    y = check_operation(context, mesh, chain, [x, first, second, bias], [s(0), r, r, r])
    assert y.placements == (s(0),)
    first, second = context.randn(g, 2, 3, 1), context.randn(2 * g, 4, 1, 1)
    bias = context.randn(8 * g)
    y = check_operation(context, mesh, chain, [x, first, second, bias], [s(1), s(0), s(0), s(0)])
    assert y.placements == (s(1),)


@case(2)
def partial_sums(context):
    """A partial sum stays one through linear operations."""
    mesh, g = context.mesh(), context.world
    part = context.randn(3, 8) + context.rank
    x = DTensor.from_local(part, mesh, [Partial()], run_check=False)
    factors = [context.randn(2, 2), context.randn(4, 3)]
    replicated = [distribute_tensor(factor, mesh, [Replicate()]) for factor in factors]
    y = kron.mkm(x, replicated)
    assert y.placements[0].is_partial()
    assert_near(y, kron.mkm(full(x), factors))
    weights = context.randn(2, 3, 4, 1)
    y = kron.ksmm(x, distribute_tensor(weights, mesh, [Replicate()]), epilogue="relu")
    assert not y.placements[0].is_partial()
    assert_near(y, kron.ksmm(full(x), weights, epilogue="relu"))


@case(4, 8)
def rules_on_two_dimensions(context):
    mesh = context.mesh(2, context.world // 2)
    r, s, g = Replicate(), Shard, context.world // 2
    x, k = context.randn(6, 4 * g), context.randn(2 * g, 3, 2, 1)
    for places_x, places_k in (([s(0), s(1)], [r, s(0)]), ([s(1), s(1)], [s(0), s(0)]),
                               ([s(0), s(0)], [r, r]), ([s(1), s(0)], [r, s(0)])):
        leaf = distribute_tensor(x, mesh, places_x).requires_grad_()
        weights = distribute_tensor(k, mesh, places_k).requires_grad_()
        y = kron.ksmm(leaf, weights)
        plain = [array.clone().requires_grad_() for array in (x, k)]
        expected = kron.ksmm(*plain)
        assert_near(y.detach(), expected.detach())
        upstream = context.randn(6, 6 * g)
        found = gradients(y, [leaf, weights], distribute_tensor(upstream, mesh, [r, r]))
        for ours, theirs in zip(found, gradients(expected, plain, upstream)):
            assert_near(ours, theirs)


@case(2)
def second_derivatives_of_rules(context):
    mesh, r = context.mesh(), Replicate()
    x, a, b = context.randn(4, 6), context.randn(2, 2), context.randn(3, 3)
    k = context.randn(2, 3, 3, 1)

    def twice(function, arrays, placements):
        leaves = [distribute_tensor(array, mesh, [p]).requires_grad_() if p else
                  array.clone().requires_grad_() for array, p in zip(arrays, placements)]
        first = torch.autograd.grad(function(*leaves).square().sum(), leaves, create_graph=True)
        total = sum(gradient.square().sum() for gradient in first)
        return torch.autograd.grad(total, leaves)

    for function, arrays in ((lambda x, a, b: kron.mkm(x, [a, b]), [x, a, b]),
                             (lambda x, k: kron.ksmm(x, k), [x, k])):
        placements = [Shard(0)] + [r] * (len(arrays) - 1)
        plain = twice(function, arrays, [None] * len(arrays))
        for ours, theirs in zip(twice(function, arrays, placements), plain):
            assert_near(ours, theirs, 8)


@case(2)
def mixed_arrays(context):
    mesh = context.mesh()
    x, factor = context.randn(4, 3), context.randn(3, 3)
    message = raised(lambda: kron.mkm(distribute_tensor(x, mesh, [Shard(0)]), [factor]), TypeError)
    assert "factors[0]" in message, message
    message = raised(lambda: kron.mkm(x, [distribute_tensor(factor, mesh, [Shard(0)])]), TypeError)
    assert "expects x" in message, message
    sharded = distribute_tensor(x, mesh, [Shard(0)])
    wrong = distribute_tensor(context.randn(4, 4), mesh, [Replicate()])
    assert "columns" in raised(lambda: kron.mkm(sharded, [wrong]))
