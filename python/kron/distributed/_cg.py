# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Conjugate gradients for X (F1 kron ... kron FN + s I) = B with B on several ranks.

A step needs the product where the residual is, so that a sharded mode takes two exchanges: the
product has to come back to be subtracted, and neither the residual nor the direction can go the
other way for less. Where there are as many right sides as ranks, all of them go to one rank each
instead, by one exchange before the first step and one behind the last.
"""

import dataclasses

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor

from ._arguments import agreed
from ._chunks import is_even
from ._exchange import move
from ._parts import part_of
from ._product import distributed, multiply, summed_groups
from ._sums import on_all_ranks

#: Of types whose residuals can be trusted so far.
_TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-10, torch.complex64: 1e-5,
               torch.complex128: 1e-10}


@dataclasses.dataclass(frozen=True)
class Solution:
    """What `cg` returns."""

    #: The solutions, a DTensor placed as the right sides.
    x: DTensor
    #: Steps that were made.
    iterations: int
    #: The largest norm of a residual b - x (K + s I), relative to that of its b.
    residual: float


class _Solver:
    """Solves for local parts; every row is a system of its own."""

    def __init__(self, layout, plan, tolerance, max_iterations):
        self.layout, self.plan = layout, plan
        self.tolerance, self.max_iterations = tolerance, max_iterations
        #: Whether rows are divided instead of the mode.
        self.by_rows = bool(layout.axis and not layout.row_groups() and layout.sizes[0]
                            and is_even(layout.sizes[0], layout.ranks))

    def product(self, p, matrices, sigma, by_rows):
        """p (K + s I) where p is."""
        plan = None if by_rows else self.plan
        y, _ = multiply(p, matrices, self.layout, plan, "full", keep_placement=True)
        return y + sigma * p

    def sums(self, left, right):
        """Inner products of rows."""
        part = (left * right.conj()).real.flatten(1).sum(1)
        if self.layout.axis and not self.by_rows:
            part, = torch.ops.kron.sum_over_ranks([part], [self.layout.group])
        return part

    @torch.no_grad()
    def solve(self, b, matrices, sigma):
        """(x, steps, largest relative residual of these rows)."""
        layout = self.layout
        if self.by_rows:
            b = move(b, layout, layout.axis, 0, layout.sizes[layout.axis])
        x, r, p = torch.zeros_like(b), b.clone(), b.clone()
        squares = self.sums(r, r)
        whole = squares.clone()
        steps = 0
        # A row of zeros is solved.
        while steps < self.max_iterations and bool(
                (squares > self.tolerance ** 2 * whole).any()):
            q = self.product(p, matrices, sigma, self.by_rows)
            curvature = self.sums(p, q)
            alpha = torch.where(curvature > 0, squares / curvature, 0)
            x += self.along(alpha, p)
            r -= self.along(alpha, q)
            last, squares = squares, self.sums(r, r)
            p = r + self.along(torch.where(last > 0, squares / last, 0), p)
            steps += 1
        residual = torch.where(whole > 0, squares / whole, 0).sqrt()
        if self.by_rows:
            x = move(x, layout, 0, layout.axis, layout.sizes[0])
        return x, steps, residual.max().item() if residual.numel() else 0.0

    @staticmethod
    def along(factors, rows):
        return factors.to(rows.dtype).view(-1, *[1] * (rows.dim() - 1)) * rows


class _Solve(torch.autograd.Function):
    """The solution, with derivatives by another solve with the same matrix: b's gradient is the
    solution for the gradient, and x's outer product with it, negated, is K's."""

    @staticmethod
    def forward(ctx, solver, report, b, sigma, *matrices):
        x, *found = solver.solve(b, matrices, sigma)
        report.extend(found)
        ctx.solver = solver
        ctx.save_for_backward(x, sigma, *matrices)
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        x, sigma, *matrices = ctx.saved_tensors
        solver = ctx.solver
        adjoint, _, _ = solver.solve(grad.contiguous(), matrices, sigma)
        by_matrices = [None] * len(matrices)
        needed = [k for k in range(len(matrices)) if ctx.needs_input_grad[4 + k]]
        if needed:
            with torch.enable_grad():
                leaves = [matrix.detach().requires_grad_() for matrix in matrices]
                y, _ = multiply(x, leaves, solver.layout, solver.plan, "full",
                                keep_placement=True)
            for k, gradient in zip(needed, torch.autograd.grad(
                    y, [leaves[k] for k in needed], -adjoint)):
                by_matrices[k] = gradient
        by_sigma = None
        if ctx.needs_input_grad[3]:
            by_sigma = -(adjoint * x.conj()).real.sum().to(sigma.dtype)
        return None, None, adjoint, by_sigma, *by_matrices


def _largest(values, layout, device):
    """Of all ranks, the largest of each."""
    result = torch.tensor(values, dtype=torch.float64, device=device)
    for dim, placement in enumerate(layout.others):
        if layout.mesh.size(dim) > 1 and (placement is None or placement.is_shard()):
            dist.all_reduce(result, dist.ReduceOp.MAX, group=layout.mesh.get_group(dim))
    return result.tolist()


def _check(b, matrices, tolerance, max_iterations):
    if b.dtype not in _TOLERANCES:
        raise TypeError(f"expects b to be of float32, float64, complex64 or complex128, but got "
                        f"{b.dtype}")
    for k, matrix in enumerate(matrices):
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"expects factors[{k}] to be a square matrix, but got shape "
                             f"{tuple(matrix.shape)}")
    if not tolerance >= 0:
        raise ValueError(f"expects tolerance to be a number from 0 on, but got {tolerance}")
    if max_iterations < 0:
        raise ValueError(f"expects max_iterations to be a number from 0 on, but got "
                         f"{max_iterations}")


def cg(b, factors, sigma=0.0, *, tolerance=None, max_iterations=1000, mesh_dim=None):
    """Solves X (factors[0] kron ... kron factors[-1] + sigma I) = B by conjugate gradients.

    Every row is a system of its own, and they advance together. A sharded mode takes two
    exchanges in every step, or, if the number of rows is a multiple of that of ranks, two in
    all. The result can be differentiated once by b, the factors and sigma: backward solves for
    the gradient in the same way.

    Args:
        b: a DTensor of the right sides, [M, P1, ..., PN] or [M, K], placed as kron.distributed.mkm
            takes it; of float32, float64, complex64 or complex128.
        factors: N Hermitian matrices [Pk, Pk], which together are positive definite with
            sigma added; as kron.distributed.mkm takes them.
        sigma: a number, or a tensor without dimensions, the same on all ranks.
        tolerance: of a residual's norm, relative to that of its right side; by default 1e-5, and
            1e-10 in double precision.
        max_iterations: steps at most.
        mesh_dim: as in kron.distributed.mkm.

    Returns:
        A Solution: `x`, a DTensor placed as b; `iterations`; and `residual`, the largest relative
        norm of a residual, by which one sees whether max_iterations were enough.

    Raises:
        TypeError, ValueError, RuntimeError: as kron.distributed.mkm does.
    """
    if not isinstance(b, DTensor):
        raise TypeError(f"expects b to be a DTensor, but got {type(b).__name__}")
    tolerance = _TOLERANCES.get(b.dtype, 0) if tolerance is None else tolerance
    is_tensor = isinstance(sigma, torch.Tensor)
    more = [("sigma", tuple(sigma.shape) if is_tensor else sigma), ("tolerance", tolerance),
            ("max_iterations", max_iterations)]
    layout, matrices, plan = agreed(b, factors, mesh_dim, None, True, False, "full", more)
    _check(b, matrices, tolerance, max_iterations)
    if is_tensor and sigma.dim():
        raise ValueError(f"expects sigma to be a number or a tensor without dimensions, but got "
                         f"shape {tuple(sigma.shape)}")
    shift = sigma if is_tensor else torch.tensor(sigma, dtype=b.dtype, device=b.device)
    shift, *matrices = on_all_ranks([shift, *matrices], summed_groups(layout))
    report = []
    local = part_of(b).reshape(layout.local_sizes()).contiguous()
    x = _Solve.apply(_Solver(layout, plan, tolerance, max_iterations), report, local, shift,
                     *matrices)
    iterations, residual = _largest(report, layout, b.device)
    return Solution(distributed(x, b, layout, layout.sizes, layout.axis), int(iterations),
                    residual)
