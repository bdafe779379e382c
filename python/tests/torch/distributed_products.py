# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""kron.distributed.mkm on several ranks against the same on one."""

import itertools
import math

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

import kron.distributed as kd
from kron.distributed._chunks import chunk
from kron.distributed._parts import part_of, whole_of
from kron.distributed._sums import on_all_ranks, sum_of_ranks
from distributed_support import (assert_near, case, counted_bytes, full, gradients,
                                 raised, small_pieces, tensordot)


def check_product(context, mesh, x, factors, axis, **options):
    """A product with `axis` sharded, and its gradients."""
    expected = tensordot(x, factors)
    sharded = distribute_tensor(x, mesh, [Shard(axis)])
    y = kd.mkm(sharded, factors, **options)
    assert_near(y, expected)
    leaf = sharded.detach().requires_grad_()
    leaves = [factor.clone().requires_grad_() for factor in factors]
    y = kd.mkm(leaf, leaves, **options)
    assert_near(y.detach(), expected)
    weights = context.randn(*expected.shape, dtype=x.dtype)
    found = gradients(y, [leaf, *leaves], distribute_tensor(weights, mesh, y.placements))
    wide = torch.complex128 if x.is_complex() else torch.float64
    plain = [array.to(wide).requires_grad_() for array in (x, *factors)]
    wanted = gradients(tensordot(plain[0], plain[1:]), plain, weights.to(wide))
    assert found[0].placements == leaf.placements
    for ours, theirs in zip(found, wanted):
        assert_near(ours, theirs)
    return y


#: (rows, sizes P, sizes Q): even, uneven, smaller than the number of ranks, one to six factors.
SHAPES = [(3, (8,), (8,)), (5, (6,), (5,)), (2, (8, 8), (8, 8)), (3, (4, 6), (4, 6)),
          (2, (5, 3, 7), (3, 3, 2)), (1, (3, 3, 3), (3, 5, 3)), (1, (2, 3, 4, 5), (3, 2, 5, 4)),
          (2, (2, 2, 3, 2, 2), (2, 2, 3, 2, 2)), (1, (2, 3, 2, 2, 2, 2), (2, 2, 2, 3, 2, 2))]


@case()
def products(context):
    mesh = context.mesh()
    for rows, p, q in SHAPES[::2] if context.world == 8 else SHAPES:
        x = context.randn(rows, *p)
        factors = [context.randn(*sizes) for sizes in zip(p, q)]
        for axis in range(len(p) + 1):
            y = check_product(context, mesh, x, factors, axis)
            assert y.placements != (Shard(axis),) or axis == 0
            y = kd.mkm(distribute_tensor(x, mesh, [Shard(axis)]), factors, keep_placement=True)
            assert y.placements == (Shard(axis),)
            assert_near(y, tensordot(x, factors))


@case(2, 3)
def kept_placements(context):
    mesh = context.mesh()
    for rows, p, q in SHAPES[3:7]:
        x = context.randn(rows, *p)
        factors = [context.randn(*sizes) for sizes in zip(p, q)]
        for axis in range(1, len(p) + 1):
            y = check_product(context, mesh, x, factors, axis, keep_placement=True)
            assert y.placements == (Shard(axis),)


@case()
def targets(context):
    mesh = context.mesh()
    for rows, p, q in SHAPES[::3]:
        x = context.randn(rows, *p)
        factors = [context.randn(*sizes) for sizes in zip(p, q)]
        for axis, to in itertools.permutations(range(len(p) + 1), 2):
            if axis:
                y = check_product(context, mesh, x, factors, axis, to=to)
                assert y.placements == (Shard(to),)


@case()
def pieces(context):
    """An exchange in many pieces, of rows and of parts of rows."""
    mesh = context.mesh()
    for rows, p, q in [(5, (4, 6), (4, 6)), (1, (8, 8), (8, 4)), (2, (9, 3, 5), (9, 3, 4)),
                       (20, (5, 7), (5, 7)), (1, (3, 2, 2), (3, 2, 2)), (0, (4, 4), (4, 4))]:
        x = context.randn(rows, *p)
        factors = [context.randn(*sizes) for sizes in zip(p, q)]
        for to in range(2, len(p) + 1):
            with small_pieces():
                y = check_product(context, mesh, x, factors, 1, to=to)
            assert y.placements == (Shard(to),)


@case(2, 4)
def types(context):
    mesh = context.mesh()
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.complex64,
                  torch.complex128):
        x = context.randn(3, 4, 6, dtype=dtype)
        factors = [context.randn(4, 4, dtype=dtype), context.randn(6, 6, dtype=dtype)]
        for axis in (0, 1, 2):
            check_product(context, mesh, x, factors, axis)


@case(3)
def transposed_factors(context):
    mesh = context.mesh()
    for dtype, letters in ((torch.float64, True), (torch.complex128, ["C", "T"])):
        x = context.randn(2, 4, 5, dtype=dtype)
        factors = [context.randn(3, 4, dtype=dtype), context.randn(5, 5, dtype=dtype)]
        y = kd.mkm(distribute_tensor(x, mesh, [Shard(1)]), factors, trans_factors=letters)
        first = factors[0].mH if letters != True else factors[0].mT  # noqa: E712
        assert_near(y, tensordot(x, [first, factors[1].mT]))


@case(2, 4)
def matrices(context):
    """x of shape [M, K]."""
    mesh = context.mesh()
    x = context.randn(6, 4 * 3 * 5)
    factors = [context.randn(4, 4), context.randn(3, 3), context.randn(5, 2)]
    expected = tensordot(x.view(6, 4, 3, 5), factors).flatten(1)
    for axis, options in ((0, {}), (1, {"keep_placement": True}), (1, {"to": 0})):
        y = kd.mkm(distribute_tensor(x, mesh, [Shard(axis)]), factors, **options)
        assert y.placements == (Shard(options.get("to", axis)),)
        assert_near(y, expected)


@case(4, 8)
def two_dimensions(context):
    """Rows along one dimension of a mesh, a mode along the other."""
    mesh = context.mesh(2, context.world // 2, names=("rows", "modes"))
    x = context.randn(3, 4, 5)
    factors = [context.randn(4, 4), context.randn(5, 3)]
    expected = tensordot(x, factors)
    for placements in ([Shard(0), Shard(1)], [Replicate(), Shard(2)], [Shard(1), Replicate()],
                       [Shard(0), Shard(0)]):
        leaf = distribute_tensor(x, mesh, placements).requires_grad_()
        leaves = [factor.clone().requires_grad_() for factor in factors]
        moded = [dim for dim, placement in enumerate(placements) if placement in
                 (Shard(1), Shard(2))]
        y = kd.mkm(leaf, leaves, mesh_dim=mesh.mesh_dim_names[moded[0]] if moded else None)
        assert_near(y.detach(), expected)
        weights = context.randn(*expected.shape)
        found = gradients(y, [leaf, *leaves], distribute_tensor(weights, mesh, y.placements))
        plain = [array.clone().requires_grad_() for array in (x, *factors)]
        for ours, theirs in zip(found, gradients(tensordot(plain[0], plain[1:]), plain, weights)):
            assert_near(ours, theirs)


@case(2)
def distributed_factors(context):
    """Factors that are DTensors, replicated or not, and their gradients."""
    mesh = context.mesh()
    x, plain = context.randn(2, 4, 6), [context.randn(4, 4), context.randn(6, 6)]
    factors = [distribute_tensor(plain[0], mesh, [Replicate()]).requires_grad_(),
               distribute_tensor(plain[1], mesh, [Shard(0)]).requires_grad_()]
    y = kd.mkm(distribute_tensor(x, mesh, [Shard(1)]), factors)
    weights = context.randn(2, 4, 6)
    found = gradients(y, factors, distribute_tensor(weights, mesh, y.placements))
    leaves = [factor.clone().requires_grad_() for factor in plain]
    for ours, theirs in zip(found, gradients(tensordot(x, leaves), leaves, weights)):
        assert_near(ours, theirs)


@case(2, 3)
def derivatives(context):
    """First and second derivatives against finite differences; of the whole array, which is
    divided and put together by what mkm itself is made of."""
    mesh = context.mesh()
    groups = [mesh.get_group(0).group_name]
    for rows, p, q, axis, options in ((2, (3, 2), (2, 2), 1, {}),
                                      (2, (2, 3), (2, 3), 2, {"keep_placement": True}),
                                      (3, (2, 2), (2, 2), 0, {})):
        x = context.randn(rows, *p).requires_grad_()
        factors = [context.randn(*sizes).requires_grad_() for sizes in zip(p, q)]

        def function(x, *factors, axis=axis, options=options):
            x, = on_all_ranks([x], groups)
            count, begin = chunk(x.shape[axis], context.world, context.rank)
            sharded = whole_of(x.narrow(axis, begin, count), mesh, [Shard(axis)], x.shape)
            y = kd.mkm(sharded, list(factors), **options)
            axis = y.placements[0].dim
            count, begin = chunk(y.shape[axis], context.world, context.rank)
            before, after = list(y.shape), list(y.shape)
            before[axis], after[axis] = begin, y.shape[axis] - begin - count
            part = torch.cat([x.new_zeros(before), part_of(y), x.new_zeros(after)], axis)
            return sum_of_ranks([part], groups)[0]

        assert torch.autograd.gradcheck(function, (x, *factors))
        assert torch.autograd.gradgradcheck(function, (x, *factors))


@case(2)
def compiled(context):
    mesh = context.mesh()
    x, factors = context.randn(2, 4, 5), [context.randn(4, 4), context.randn(5, 5)]

    def function(x, first, second):
        return kd.mkm(x, [first, second]) * 2

    call = torch.compile(function, backend="aot_eager", fullgraph=True)
    arguments = [distribute_tensor(x, mesh, [Shard(1)]), *factors]
    assert_near(call(*arguments), 2 * tensordot(x, factors))
    leaves = [array.detach().clone().requires_grad_() for array in arguments]
    y = call(*leaves)
    weights = distribute_tensor(context.randn(2, 4, 5), mesh, y.placements)
    for ours, theirs in zip(gradients(y, leaves, weights),
                            gradients(function(*leaves), leaves, weights)):
        assert_near(ours, full(theirs))


# ----------------------------------------------------------------------------------
# Bytes on the wire
# ----------------------------------------------------------------------------------


@case(2, 4, 8)
def bytes_on_the_wire(context):
    """4 K M (g-1)/g in f32 for square factors, all ranks together, in every direction."""
    mesh, g = context.mesh(), context.world
    for rows, sizes in ((2, (8, 16)), (3, (8, 8, 8))):
        x = context.randn(rows, *sizes, dtype=torch.float32)
        factors = [context.randn(n, n, dtype=torch.float32) for n in sizes]
        exact = 4 * math.prod(sizes) * rows * (g - 1) // g
        for axis, recorded, exchanges in itertools.product(range(len(sizes) + 1), (False, True),
                                                           (1, 2)):
            leaf = distribute_tensor(x, mesh, [Shard(axis)]).requires_grad_(recorded)
            with counted_bytes(context.rank) as sent, small_pieces():
                kd.mkm(leaf, factors, keep_placement=exchanges == 2)
            every = torch.tensor([float(sent[0])], dtype=torch.float64, device=context.device)
            dist.all_reduce(every)
            assert every.item() == (exchanges * exact if axis else 0), (every, exact, axis)


# ----------------------------------------------------------------------------------
# Wrong arguments
# ----------------------------------------------------------------------------------


@case(2, 4)
def wrong_on_all_ranks(context):
    mesh = context.mesh()
    x, square = context.randn(2, 4, 6), [context.randn(4, 4), context.randn(6, 6)]
    sharded = distribute_tensor(x, mesh, [Shard(1)])
    flat = distribute_tensor(x.flatten(1), mesh, [Shard(1)])
    assert "DTensor" in raised(lambda: kd.mkm(x, square), TypeError)
    assert "factors" in raised(lambda: kd.mkm(sharded, square[0]), TypeError)
    assert "factors[1]" in raised(lambda: kd.mkm(sharded, [square[0], square[1].float()]),
                                  TypeError)
    assert "[4, 5]" in raised(lambda: kd.mkm(sharded, [square[0], context.randn(5, 6)])
                              ).replace("(4, 5)", "[4, 5]")
    assert "mesh_dim" in raised(lambda: kd.mkm(sharded, square, mesh_dim=1))
    assert "the axes" in raised(lambda: kd.mkm(sharded, square, to=1))
    assert "keep_placement" in raised(lambda: kd.mkm(flat, square))
    assert "keep_placement" in raised(lambda: kd.mkm(sharded, square, keep_placement=1),
                                      TypeError)
    rows = distribute_tensor(x, mesh, [Shard(0)])
    assert "to" in raised(lambda: kd.mkm(rows, square, to=1))
    partial = DTensor.from_local(x, mesh, [Partial()], run_check=False)
    assert "sharded or replicated" in raised(lambda: kd.mkm(partial, square))


@case()
def wrong_on_one_rank(context):
    """All ranks raise, and say which rank and which argument."""
    mesh, last = context.mesh(), context.world - 1
    is_last = context.rank == last
    sharded = distribute_tensor(context.randn(2, 8, 6), mesh, [Shard(1)])
    good = [context.randn(8, 8), context.randn(6, 6)]
    for bad in ([good[0], context.randn(5, 6)], [good[0], good[1].float()], [good[0]]):
        message = raised(lambda: kd.mkm(sharded, bad if is_last else good), (TypeError, ValueError))
        assert is_last or f"rank {last}" in message, message
        assert "factors" in message or len(bad) == 1, message
    # Alone each of these would be right.
    wide = context.randn(6, 7)
    message = raised(lambda: kd.mkm(sharded, [good[0], wide if is_last else good[1]]))
    assert f"factors[1] is (6, 7) torch.float64 on rank {last}" in message, message
    message = raised(lambda: kd.mkm(sharded, good, keep_placement=is_last))
    assert f"keep_placement is True on rank {last}" in message, message
    part = context.randn(2, 1 + is_last, 6)
    uneven = DTensor.from_local(part, mesh, [Shard(1)], run_check=False,
                                shape=(2, context.world, 6), stride=(6 * context.world, 6, 1))
    message = raised(lambda: kd.mkm(uneven, [context.randn(context.world, context.world),
                                             good[1]]))
    assert f"rank {last}" in message or is_last, message
    assert "x" in message
    assert_near(kd.mkm(sharded, good), tensordot(full(sharded), good))
