# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Quadratic forms, log determinants and solves of K + s I, K = F1 kron ... kron FN, for right
sides on several ranks, by eigendecompositions of the factors.

With F_k = Q_k diag(v_k) Q_k^T and the spectrum d = v_1 kron ... kron v_N + s, rows r become
r Q by one exchange, and all else is elementwise: solved = r Q / d. The derivative by F_k is
Q_k M Q_k^T with

    M[i, j] = sum over rest of w[rest] (delta[i, j] / d[i, rest] - solved[i, rest] solved[j, rest])

where w is the Kronecker product of the other factors' eigenvalues: a partial sum on each rank for
every mode that is whole there. The one mode that is not has its turn after another exchange.
"""

import dataclasses

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor

from ._arguments import agreed
from ._chunks import chunk
from ._exchange import move
from ._local import apply
from ._parts import part_of
from ._plan import plan_to
from ._product import distributed, multiply, summed_groups
from ._sums import on_all_ranks


class _Spectrum:
    """Eigenvalues and eigenvectors on a rank."""

    def __init__(self, layout, plan, factors, sigma):
        self.layout, self.plan, self.sigma = layout, plan, sigma
        self.values, self.vectors = [], []
        for factor in factors:
            values, vectors = torch.linalg.eigh(factor)
            vectors = vectors.contiguous()
            # Eigenvectors have signs of their own on another kind of processor.
            for dim in range(layout.mesh.ndim):
                group = layout.mesh.get_group(dim)
                for array in (values, vectors):
                    dist.broadcast(array, dist.get_global_rank(group, 0), group=group)
            # Rounding leaves eigenvalues of singular matrices on either side of 0.
            self.values.append(values.clamp_min_(0))
            self.vectors.append(vectors)
        self.target = 0 if plan is None else plan.target

    def own_values(self, axis, k):
        """The eigenvalues of axis k as far as this rank has them where `axis` is divided; as an
        array that broadcasts to [P1, ..., PN]."""
        values = self.values[k - 1]
        if k == axis:
            size, begin = chunk(len(values), self.layout.ranks, self.layout.rank)
            values = values[begin:begin + size]
        return values.view(-1, *[1] * (len(self.values) - k))

    def spectrum(self, axis):
        """d where `axis` is divided."""
        result = self.own_values(axis, 1)
        for k in range(2, len(self.values) + 1):
            result = result * self.own_values(axis, k)
        return result + self.sigma

    def rotate(self, rows):
        """rows Q, divided along self.target."""
        return multiply(rows, self.vectors, self.layout, self.plan, "full")[0]

    def rotate_back(self, rows):
        """rows Q^T, from where `rotate` leads to where x is."""
        layout, adjoint = self.layout, [vectors.mT.contiguous() for vectors in self.vectors]
        if not self.target:
            return self.to_source(apply(rows, dict(enumerate(adjoint, 1)), "full"))
        shapes = [tuple(matrix.shape) for matrix in adjoint]
        here = dataclasses.replace(layout, axis=self.target)
        return multiply(rows, adjoint, here, plan_to(here, shapes, layout.axis), "full")[0]

    def to_source(self, rows):
        """What is divided along self.target, divided as x is."""
        if self.plan is None:
            return rows
        size = self.plan.sizes[self.target]
        return move(rows, self.layout, self.target, self.layout.axis, size)

    def middle(self, k, axis, solved, by_quad, by_logdet):
        """This rank's part of M for factor k, from arrays with `axis` divided."""
        weights = torch.ones((), dtype=solved.dtype, device=solved.device)
        for other in range(1, len(self.values) + 1):
            if other != k:
                weights = weights * self.own_values(axis, other)
        inverse = (weights / self.spectrum(axis)).movedim(k - 1, 0).flatten(1).sum(1)
        left = (solved * weights).movedim(k, 0).flatten(1)
        products = left @ solved.movedim(k, 0).flatten(1).mT
        return by_logdet * torch.diag(inverse) - by_quad * products


class _InvQuadLogdet(torch.autograd.Function):
    """On a rank's part; both results are those of all ranks."""

    @staticmethod
    def forward(ctx, layout, plan, rows, sigma, *factors):
        spectrum = _Spectrum(layout, plan, factors, sigma)
        rotated = spectrum.rotate(rows)
        inverse = spectrum.spectrum(spectrum.target).reciprocal()
        solved = rotated * inverse
        ctx.spectrum = spectrum
        ctx.save_for_backward(solved, inverse)
        forms, logs = (rotated * solved).sum(), -inverse.log().sum()
        # Where rows are divided, all ranks have all of the spectrum.
        summed = summed_groups(layout)
        forms, = torch.ops.kron.sum_over_ranks([forms], summed) if summed else [forms]
        if layout.axis and spectrum.target:
            logs, = torch.ops.kron.sum_over_ranks([logs], [layout.group])
        return forms, logs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, by_quad, by_logdet):
        solved, inverse = ctx.saved_tensors
        spectrum = ctx.spectrum
        layout, target = spectrum.layout, spectrum.target
        _, _, needs_rows, needs_sigma, *needs = ctx.needs_input_grad
        # Gradients are summed over ranks. What all of them have alike counts once.
        own_logdet = by_logdet / _copies(layout, target)
        by_rows = by_sigma = None
        by_factors = [None] * len(needs)
        at_source = None
        if layout.axis and target and needs[target - 1]:
            at_source = spectrum.to_source(solved)
        if needs_rows:
            by_rows = 2 * by_quad * spectrum.rotate_back(solved)
        if needs_sigma:
            by_sigma = own_logdet * inverse.sum() - by_quad * solved.square().sum()
        for k, flag in enumerate(needs, 1):
            if not flag:
                continue
            if k == target and layout.axis:
                middle = spectrum.middle(k, layout.axis, at_source, by_quad, by_logdet
                                         / _copies(layout, layout.axis))
            else:
                middle = spectrum.middle(k, target, solved, by_quad, own_logdet)
            vectors = spectrum.vectors[k - 1]
            by_factors[k - 1] = vectors @ middle @ vectors.mT
        return None, None, by_rows, by_sigma, *by_factors


def _copies(layout, axis):
    """Ranks with the same part of the spectrum, among those over which gradients are summed."""
    count = 1
    for dim, placement in enumerate(layout.others):
        if placement is None:
            count *= 1 if axis else layout.mesh.size(dim)
        elif placement.is_shard():
            count *= layout.mesh.size(dim)
    return count


def _prepared(x, factors, sigma, mesh_dim):
    """(layout, plan, this rank's rows, sigma, factors) after all checks."""
    if not isinstance(x, DTensor):
        raise TypeError(f"expects x to be a DTensor, but got {type(x).__name__}")
    is_tensor = isinstance(sigma, torch.Tensor)
    described = (tuple(sigma.shape), sigma.requires_grad) if is_tensor else sigma
    layout, matrices, plan = agreed(x, factors, mesh_dim, None, True, False, "full",
                                    [("sigma", described)])
    if x.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"expects x to be of float32 or float64, but got {x.dtype}")
    for k, matrix in enumerate(matrices):
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"expects factors[{k}] to be a square matrix, but got shape "
                             f"{tuple(matrix.shape)}")
    if is_tensor and sigma.dim():
        raise ValueError(f"expects sigma to be a number or a tensor without dimensions, but got "
                         f"shape {tuple(sigma.shape)}")
    sigma = sigma if is_tensor else torch.tensor(sigma, dtype=x.dtype, device=x.device)
    sigma, *matrices = on_all_ranks([sigma, *matrices], summed_groups(layout))
    rows = part_of(x).reshape(layout.local_sizes())
    return layout, plan, rows, sigma, matrices


def inv_quad_logdet(x, factors, sigma, *, mesh_dim=None):
    """(sum over rows of r (K + sigma I)^-1 r^T, log det(K + sigma I)) for rows r of a DTensor x
    and K = factors[0] kron ... kron factors[-1]: what the marginal likelihood of a Gaussian
    process on a grid consists of.

    A sharded mode takes one exchange, and two at most in the backward pass: one for the gradient
    by x, and one for that by the factor of the mode that is divided in between. Both results can
    be differentiated once, by x, the factors and sigma.

    Args:
        x: a DTensor [M, P1, ..., PN] or [M, K], float32 or float64, placed as
            kron.distributed.mkm takes it.
        factors: N symmetric positive semidefinite matrices [Pk, Pk], as there. They are
            decomposed on every rank.
        sigma: a number, or a tensor without dimensions, the same on all ranks.
        mesh_dim: as there.

    Returns:
        Two tensors without dimensions, the same on all ranks.

    Raises:
        TypeError, ValueError, RuntimeError: as kron.distributed.mkm does.
    """
    layout, plan, rows, sigma, factors = _prepared(x, factors, sigma, mesh_dim)
    return _InvQuadLogdet.apply(layout, plan, rows, sigma, *factors)


@torch.no_grad()
def solve(x, factors, sigma, *, mesh_dim=None):
    """x (K + sigma I)^-1 for the rows of a DTensor x, placed as x; arguments as those of
    `inv_quad_logdet`. A sharded mode takes two exchanges. Without derivatives: `cg` has them."""
    layout, plan, rows, sigma, factors = _prepared(x, factors, sigma, mesh_dim)
    spectrum = _Spectrum(layout, plan, factors, sigma)
    solved = spectrum.rotate(rows) / spectrum.spectrum(spectrum.target)
    return distributed(spectrum.rotate_back(solved), x, layout, layout.sizes, layout.axis)
