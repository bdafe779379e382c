# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Solves, quadratic forms and log determinants of K + s I for a Kronecker product K.

With F_k = Q_k diag(v_k) Q_k^T for every factor, Q = Q_1 kron ... kron Q_N and the spectrum
d = v_1 kron ... kron v_N + s,

    solved = (Q^T r) / d,  r^T (K + s I)^-1 r = sum(Q^T r * solved),  log det = sum(log d),

so that one decomposition of each factor and one product serve both. Their derivatives need
no product at all, apart from the one by r: that by F_k is Q_k M Q_k^T with

    M[i, j] = sum over rest of w[rest] (delta[i, j] / d[i, rest] - solved[i, rest] solved[j, rest])

where w is the Kronecker product of the other factors' eigenvalues.
"""

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from .. import torch as kt

#: Decompositions of matrices that are still alive: a solve, its derivative and a prediction
#: from it ask for the same ones.
_decompositions = WeakTensorKeyDictionary()


def _known(factor, dtype):
    if factor.is_inference() or factor not in _decompositions:
        return None
    version, known, result = _decompositions[factor]
    return result if (version, known) == (factor._version, dtype) else None


@torch.no_grad()
def decompose(factors, dtype):
    """(eigenvalues, rows of eigenvectors) of each factor in `dtype`. Factors of one shape are
    decomposed by one call, which is one synchronisation and few kernels on a GPU."""
    results = [_known(factor, dtype) for factor in factors]
    groups = {}
    for k, (factor, result) in enumerate(zip(factors, results)):
        if result is None:
            groups.setdefault(factor.shape, []).append(k)
    for members in groups.values():
        matrices = [factors[k].detach().to(dtype) for k in members]
        values, vectors = torch.linalg.eigh(
            torch.stack(matrices) if len(matrices) > 1 else matrices[0].unsqueeze(0))
        # Rounding leaves eigenvalues of singular matrices on either side of 0.
        values.clamp_min_(0)
        for k, *result in zip(members, values, vectors.mT.contiguous()):
            results[k] = result
            if not factors[k].is_inference():
                _decompositions[factors[k]] = factors[k]._version, dtype, result
    values, rows = zip(*results)
    return list(values), list(rows)


def outer(vectors):
    """Kronecker product of vectors, with any batch in front."""
    result = vectors[0]
    for vector in vectors[1:]:
        result = (result.unsqueeze(-1) * vector.unsqueeze(-2)).flatten(-2)
    return result


def _spectrum(values, noise, dtype):
    """v_1 kron ... kron v_N + s."""
    spectrum, noise = outer(values), noise.to(dtype)
    if noise.dim() <= spectrum.dim() and noise.shape[:-1] == spectrum.shape[1 - noise.dim():-1]:
        return spectrum.add_(noise)
    return spectrum + noise


@torch.no_grad()
def solve(factors, noise, right, dtype):
    """(K + s I)^-1 right; `noise` is s with one axis of size 1 behind the batch."""
    values, rows = decompose(factors, dtype)
    solved = kt.kmm(right.to(dtype), rows) / _spectrum(values, noise, dtype).unsqueeze(-1)
    return kt.kmm(solved, rows, trans_factors=True).to(right.dtype)


def inv_quad_logdet(factors, noise, right, dtype):
    """(r^T (K + s I)^-1 r for every column r of `right`, log det(K + s I))."""
    return _InvQuadLogdet.apply(dtype, right, noise, *factors)


class _InvQuadLogdet(torch.autograd.Function):
    """As few arrays of the size of `right` as there can be: new pages and passes over memory
    take as long as the products."""

    @staticmethod
    def forward(ctx, dtype, right, noise, *factors):
        values, rows = decompose(factors, dtype)
        spectrum = _spectrum(values, noise, dtype)
        rotated = kt.kmm(right.to(dtype), rows)
        inverse = spectrum.reciprocal()
        solved = rotated * inverse.unsqueeze(-1)
        ctx.dtype = dtype
        ctx.save_for_backward(right, noise, inverse, solved, *factors, *values, *rows)
        if rotated.shape == solved.shape:
            inv_quad = rotated.mul_(solved).sum(-2)
        else:
            inv_quad = (rotated * solved).sum(-2)
        return inv_quad.to(right.dtype), spectrum.log_().sum(-1).to(right.dtype)

    @staticmethod
    def backward(ctx, by_quad, by_logdet):
        right, noise, inverse, solved, *arrays = ctx.saved_tensors
        count = len(arrays) // 3
        factors = arrays[:count]
        if torch.is_grad_enabled():
            return (None, *_recorded_gradients(ctx, right, noise, factors, by_quad, by_logdet))
        values, rows = arrays[count:2 * count], arrays[2 * count:]
        # All in the type of the decompositions: parameters of smooth kernels hardly change the
        # directions of small eigenvalues, where these gradients are largest.
        by_quad, by_logdet = by_quad.to(ctx.dtype), by_logdet.to(ctx.dtype)
        # The gradient of one column's form goes into small arrays.
        weighted, scale = solved, by_quad
        if solved.size(-1) > 1:
            weighted, scale = solved * by_quad.unsqueeze(-2), by_quad.new_ones(1)
        by_right = by_noise = None
        if ctx.needs_input_grad[1]:
            first = 2 * scale.unsqueeze(-1) * rows[0]
            by_right = kt.kmm(weighted, [first, *rows[1:]], trans_factors=True)
            by_right = by_right.sum_to_size(right.shape).to(right.dtype)
        if ctx.needs_input_grad[2]:
            # A dot product would add up as many terms one after another.
            forms = (weighted * solved).sum((-2, -1)).unsqueeze(-1)
            by_noise = inverse.sum(-1, keepdim=True) * by_logdet.unsqueeze(-1)
            by_noise = by_noise - forms * scale
            by_noise = by_noise.sum_to_size(noise.shape).to(noise.dtype)
        by_factors = [None] * count
        by_form, by_logdet = -scale.unsqueeze(-1), by_logdet.unsqueeze(-1)
        for k, sides in enumerate(_sides(values)):
            if ctx.needs_input_grad[3 + k]:
                size = values[k].size(-1)
                middle = _products(size, *sides, weighted, solved) * by_form
                middle.diagonal(dim1=-2, dim2=-1).addcmul_(_diagonal(size, *sides, inverse),
                                                           by_logdet)
                by_factor = rows[k].mT @ middle @ rows[k]
                by_factors[k] = by_factor.sum_to_size(factors[k].shape).to(factors[k].dtype)
        return None, by_right, by_noise, *by_factors


def _sides(values):
    """For each factor, the eigenvalues of the factors before and behind it, None where there
    are none."""
    before, behind = [None], [None]
    for value in values[:-1]:
        before.append(value if before[-1] is None else outer([before[-1], value]))
    for value in values[:0:-1]:
        behind.append(value if behind[-1] is None else outer([value, behind[-1]]))
    return zip(before, behind[::-1])


def _diagonal(size, before, behind, inverse):
    """sum over rest of w[rest] * inverse[i, rest]."""
    if behind is not None:
        inverse = (inverse.unflatten(-1, (-1, behind.size(-1))) @ behind.unsqueeze(-1)).squeeze(-1)
    if before is not None:
        inverse = (before.unsqueeze(-2) @ inverse.unflatten(-1, (-1, size))).squeeze(-2)
    return inverse


def _products(size, before, behind, left, right):
    """sum over rest and columns of w[rest] * left[i, rest] * right[j, rest]."""
    outside = 1 if before is None else before.size(-1)
    inside = left.size(-2) // (outside * size)
    # [batch, outside, size, inside, columns]
    left, right = (array.unflatten(-2, (outside, size, inside)) for array in (left, right))
    if behind is not None:
        behind = behind[..., None, None, :, None]
    if inside * left.size(-1) == 1:
        left = left[..., 0, 0] * before.unsqueeze(-1)
        return left.mT @ right[..., 0, 0]
    if outside == 1 or inside * left.size(-1) >= size:
        # Products that read more than they write, added up.
        left = left if behind is None else left * behind
        result = left.flatten(-2) @ right.flatten(-2).mT
        if outside == 1:
            return result.squeeze(-3)
        return (before.unsqueeze(-2) @ result.flatten(-2)).unflatten(-1, (size, size)).squeeze(-3)
    # Else one long product of copies in which the axis comes first.
    weights = before[..., None, None, None]
    weights = (weights if behind is None else weights * behind).transpose(-4, -3)
    left, right = left.transpose(-4, -3), right.transpose(-4, -3)
    scaled = torch.mul(left, weights, out=left.new_empty(left.shape))
    return scaled.flatten(-3) @ right.flatten(-3).mT


def _recorded_gradients(ctx, right, noise, factors, by_quad, by_logdet):
    """The gradients by operations that PyTorch can differentiate again, which takes the
    derivative of the eigenvectors."""
    with torch.enable_grad():
        values, vectors = zip(*(torch.linalg.eigh(factor.to(ctx.dtype)) for factor in factors))
        spectrum = outer(values) + noise.to(ctx.dtype)
        rotated = kt.kmm(right.to(ctx.dtype), list(vectors), trans_factors=True)
        inv_quad = (rotated.square() / spectrum.unsqueeze(-1)).sum(-2).to(right.dtype)
        logdet = spectrum.log().sum(-1).to(right.dtype)
    inputs = [right, noise, *factors]
    wanted = [tensor for tensor, needs in zip(inputs, ctx.needs_input_grad[1:]) if needs]
    found = iter(torch.autograd.grad((inv_quad, logdet), wanted, (by_quad, by_logdet),
                                     create_graph=True))
    return [next(found) if needs else None for needs in ctx.needs_input_grad[1:]]
