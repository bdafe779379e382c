# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What ranks compute together, against the same on one: cases of test_distributed.py."""

import contextlib
import copy
import dataclasses
import importlib.util
import itertools
import math
import typing

import torch
import torch.distributed as dist
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard, distribute_module,
                                      distribute_tensor, init_device_mesh)

import kron
import kron.distributed as kd
import kron.torch as kt
from kron import nn as knn
from kron.distributed import _overlap
from torch_reference import bound, error


@dataclasses.dataclass
class Case:
    run: typing.Callable
    worlds: tuple


#: name -> case
CASES = {}


def case(*worlds):
    """Registers a case for these numbers of ranks."""

    def register(function):
        CASES[function.__name__] = Case(function, worlds or (2, 3, 4, 8))
        return function

    return register


class Context:
    """A rank."""

    def __init__(self, rank, world, device):
        self.rank, self.world, self.device = rank, world, device

    def mesh(self, *sizes, names=None):
        return init_device_mesh(self.device, sizes or (self.world,), mesh_dim_names=names)

    def randn(self, *shape, dtype=torch.float64):
        """The same on all ranks."""
        return torch.randn(*shape, dtype=dtype).to(self.device)


def tensordot(x, factors):
    """x [M, P1, ..., PN] times the Kronecker product, axis by axis in the wider type."""
    y = x.to(torch.complex128 if x.is_complex() else torch.float64)
    for axis, factor in enumerate(factors, 1):
        y = torch.tensordot(y, factor.to(y.dtype), ([axis], [0])).movedim(-1, axis)
    return y


def full(array):
    return array.full_tensor() if isinstance(array, DTensor) else array


def assert_near(actual, expected, steps=1):
    """Within the bound of the type of `actual`, in the Euclidean norm."""
    actual = full(actual)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if expected.numel():
        found = error(actual, expected)
        assert found <= steps * bound(actual.dtype), f"error {found} in {actual.dtype}"


def gradients(result, inputs, weights):
    return torch.autograd.grad(result, inputs, weights)


@contextlib.contextmanager
def small_pieces():
    """Exchanges in many pieces."""
    before = _overlap.PIECE_BYTES
    _overlap.PIECE_BYTES = 64
    try:
        yield
    finally:
        _overlap.PIECE_BYTES = before


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
    """First and second derivatives against finite differences."""
    mesh = context.mesh()
    for rows, p, q, axis, options in ((2, (3, 2), (2, 2), 1, {}),
                                      (2, (2, 3), (2, 3), 2, {"keep_placement": True}),
                                      (3, (2, 2), (2, 2), 0, {})):
        x = context.randn(rows, *p).requires_grad_()
        factors = [context.randn(*sizes).requires_grad_() for sizes in zip(p, q)]

        def function(x, *factors, axis=axis, options=options):
            sharded = DTensor.from_local(x, mesh, [Replicate()], run_check=False)
            sharded = sharded.redistribute(placements=[Shard(axis)])
            return kd.mkm(sharded, list(factors), **options).full_tensor()

        # PyTorch's redistribute takes no undefined gradients.
        assert torch.autograd.gradcheck(function, (x, *factors), check_undefined_grad=False)
        assert torch.autograd.gradgradcheck(function, (x, *factors),
                                            check_undefined_grad=False)


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


@contextlib.contextmanager
def counted_bytes(rank):
    """Counts what this rank sends to others."""
    total = [0]
    all_to_all, batch = dist.all_to_all_single, dist.batch_isend_irecv

    def count_all_to_all(output, send, output_sizes, sizes, group=None, **options):
        own = dist.get_rank(group)
        total[0] += send.element_size() * sum(n for r, n in enumerate(sizes) if r != own)
        return all_to_all(output, send, output_sizes, sizes, group=group, **options)

    def count_batch(operations):
        total[0] += sum(o.tensor.numel() * o.tensor.element_size() for o in operations
                        if o.op is dist.isend)
        return batch(operations)

    dist.all_to_all_single, dist.batch_isend_irecv = count_all_to_all, count_batch
    try:
        yield total
    finally:
        dist.all_to_all_single, dist.batch_isend_irecv = all_to_all, batch


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


def raised(function, kind=ValueError):
    try:
        function()
    except kind as found:
        return str(found)
    raise AssertionError("nothing was raised")


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


# ----------------------------------------------------------------------------------
# Operations on DTensors
# ----------------------------------------------------------------------------------


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


# ----------------------------------------------------------------------------------
# Solvers
# ----------------------------------------------------------------------------------


def definite(context, size):
    """A symmetric matrix with eigenvalues of 0.5 and more."""
    root = context.randn(size, size)
    return root @ root.mT / size + 0.5 * torch.eye(size, dtype=root.dtype, device=root.device)


@case(2, 3, 4)
def conjugate_gradients(context):
    """Against one dense solve, by rows and by modes, with gradients."""
    mesh, g = context.mesh(), context.world
    sizes, sigma = (4, 3, 5), 0.7
    for rows in (1, 2 * g, g + 1) if g == 2 else (1, g):
        b = context.randn(rows, *sizes)
        factors = [definite(context, size) for size in sizes]
        weights = context.randn(rows, *sizes)

        def dense(b, factors, sigma):
            matrix = torch.kron(torch.kron(factors[0], factors[1]), factors[2])
            matrix = matrix + sigma * torch.eye(len(matrix), dtype=b.dtype, device=b.device)
            return torch.linalg.solve(matrix.mT, b.flatten(1).mT).mT.view_as(b)

        plain = [array.clone().requires_grad_() for array in (b, *factors)]
        shift = torch.tensor(sigma, dtype=b.dtype, device=b.device, requires_grad=True)
        expected = dense(plain[0], plain[1:], shift)
        wanted = gradients(expected, [*plain, shift], weights)
        for axis in (0, 1, 3):
            leaf = distribute_tensor(b, mesh, [Shard(axis)]).requires_grad_()
            leaves = [factor.clone().requires_grad_() for factor in factors]
            own = shift.detach().clone().requires_grad_()
            solution = kd.cg(leaf, leaves, own, tolerance=1e-13)
            assert solution.x.placements == leaf.placements
            assert solution.residual <= 1e-13 and 0 < solution.iterations < 200
            assert error(full(solution.x), expected) < 1e-11
            upstream = distribute_tensor(weights, mesh, [Shard(axis)])
            for ours, theirs in zip(gradients(solution.x, [leaf, *leaves, own], upstream), wanted):
                assert error(full(ours), theirs) < 1e-10
    zero = kd.cg(distribute_tensor(torch.zeros_like(b), mesh, [Shard(1)]), factors, sigma)
    assert zero.iterations == 0 and not full(zero.x).any()
    few = kd.cg(distribute_tensor(b, mesh, [Shard(1)]), factors, sigma, max_iterations=1)
    assert few.iterations == 1 and few.residual > 1e-3


@case(2)
def exchanges_of_conjugate_gradients(context):
    """Two in every step with a mode divided; two in all where rows can be divided instead."""
    mesh = context.mesh()
    factors = [definite(context, 4), definite(context, 6)]
    for rows, per_step, at_ends in ((1, 2, 0), (2, 0, 2)):
        b = distribute_tensor(context.randn(rows, 4, 6), mesh, [Shard(1)])
        with counted_bytes(context.rank) as sent:
            solution = kd.cg(b, factors, 1.0)
        assert sent[0] == 8 * rows * 24 // 4 * (per_step * solution.iterations + at_ends)


@case(2)
def wrong_systems(context):
    mesh = context.mesh()
    b, good = context.randn(1, 4, 6), [definite(context, 4), definite(context, 6)]
    sharded = distribute_tensor(b, mesh, [Shard(1)])
    assert "DTensor" in raised(lambda: kd.cg(b, good), TypeError)
    assert "factors[0]" in raised(lambda: kd.cg(sharded, [context.randn(4, 5), good[1]]))
    assert "tolerance" in raised(lambda: kd.cg(sharded, good, tolerance=-1))
    assert "sigma" in raised(lambda: kd.cg(sharded, good, torch.ones(2)))
    assert "sigma" in raised(lambda: kd.cg(sharded, good, float(context.rank)))
    half = distribute_tensor(b.half(), mesh, [Shard(1)])
    assert "b to be" in raised(lambda: kd.cg(half, [f.half() for f in good]), TypeError)


# ----------------------------------------------------------------------------------
# Layers
# ----------------------------------------------------------------------------------


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


@case()
def quadratic_forms(context):
    """inv_quad_logdet and solve against dense ones."""
    mesh, g = context.mesh(), context.world
    sizes = (4, 3, 5)
    for rows in (1, g + 1):
        x = context.randn(rows, *sizes)
        factors = [definite(context, size) for size in sizes]
        plain = [array.clone().requires_grad_() for array in (x, *factors)]
        sigma = torch.tensor(0.3, dtype=x.dtype, device=x.device, requires_grad=True)
        matrix = torch.kron(torch.kron(plain[1], plain[2]), plain[3])
        matrix = matrix + sigma * torch.eye(len(matrix), dtype=x.dtype, device=x.device)
        flat = plain[0].flatten(1)
        solved = torch.linalg.solve(matrix, flat.mT).mT
        form, logdet = (flat * solved).sum(), torch.logdet(matrix)
        wanted = gradients(2 * form + 3 * logdet, [*plain, sigma], None)
        # Derivatives by factors are those by symmetric matrices.
        wanted = [w if k in (0, 4) else (w + w.mT) / 2 for k, w in enumerate(wanted)]
        for axis in range(4):
            leaf = distribute_tensor(x, mesh, [Shard(axis)]).requires_grad_()
            leaves = [factor.clone().requires_grad_() for factor in factors]
            own = sigma.detach().clone().requires_grad_()
            found = kd.inv_quad_logdet(leaf, leaves, own)
            assert error(found[0], form) < 1e-12 and error(found[1], logdet) < 1e-12
            total = 2 * found[0] + 3 * found[1]
            for ours, theirs in zip(gradients(total, [leaf, *leaves, own], None), wanted):
                assert error(full(ours), theirs) < 1e-11
            y = kd.solve(leaf, leaves, own)
            assert y.placements == leaf.placements
            assert error(full(y).flatten(1), solved) < 1e-12


@case(4)
def quadratic_forms_on_two_dimensions(context):
    mesh = context.mesh(2, 2)
    x, factors = context.randn(3, 4, 5), [definite(context, 4), definite(context, 5)]
    wanted = None
    for placements in ([Replicate(), Replicate()], [Shard(0), Shard(1)], [Shard(2), Replicate()],
                       [Shard(0), Shard(0)]):
        leaf = distribute_tensor(x, mesh, placements).requires_grad_()
        leaves = [factor.clone().requires_grad_() for factor in factors]
        found = kd.inv_quad_logdet(leaf, leaves, 0.5)
        found = [*found, *gradients(sum(found), [leaf, *leaves], None)]
        wanted = wanted or found
        for ours, theirs in zip(found, wanted):
            assert error(full(ours), full(theirs)) < 1e-11


@case(2, 3)
def gpytorch_operators(context):
    """kron.gpytorch's operators with right sides on several ranks."""
    if importlib.util.find_spec("gpytorch") is None:
        return
    from kron.gpytorch import KroneckerProductLinearOperator

    mesh, g = context.mesh(), context.world
    factors = [definite(context, 2 * g), definite(context, 3), definite(context, 5)]
    leaves = [factor.clone().requires_grad_() for factor in factors]
    noise = 0.4
    right = context.randn(30 * g, 2)
    for axis in (0, 1):
        sharded = distribute_tensor(right, mesh, [Shard(axis)])
        with torch.no_grad():
            product = KroneckerProductLinearOperator(*factors)
            y = product @ sharded
            assert y.placements == sharded.placements
            assert error(full(y), product @ right) < 1e-13
            noisy = product.add_jitter(noise)
            assert error(full(noisy.solve(sharded)), noisy.solve(right)) < 1e-11
        results = []
        for rhs in (sharded, right):
            noisy = KroneckerProductLinearOperator(*leaves).add_jitter(noise)
            found = noisy.inv_quad_logdet(inv_quad_rhs=rhs, logdet=True)
            results.append([*found, *gradients(sum(found), leaves, None)])
        for ours, theirs in zip(*results):
            assert error(ours, theirs) < 1e-10
    # Too few points for linear_operator to decompose anything.
    single = distribute_tensor(context.randn(2 * g, 1), mesh, [Shard(0)])
    tiny = KroneckerProductLinearOperator(definite(context, g), definite(context, 2))
    with torch.no_grad():
        solved = tiny.add_jitter(noise).solve(single)
        assert error(full(solved), tiny.add_jitter(noise).solve(full(single))) < 1e-11
    if g == 3:
        odd = KroneckerProductLinearOperator(definite(context, 2), definite(context, 3))
        assert "first factor" in raised(lambda: odd @ single)
