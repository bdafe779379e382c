# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Solvers on several ranks against dense ones on one."""

import importlib.util

import torch
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

import kron.distributed as kd
from distributed_support import case, counted_bytes, definite, full, gradients, raised
from torch_reference import error


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
