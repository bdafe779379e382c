# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The obvious formulas: every Kronecker product is materialised."""

import functools

import torch


def op(matrix, trans):
    if trans in (False, "N"):
        return matrix
    return matrix.mH if trans == "C" else matrix.mT


def kron(matrices):
    """The Kronecker product of matrices with broadcast batch dimensions."""

    def pair(a, b):
        product = torch.einsum("...ab,...cd->...acbd", a, b)
        return product.flatten(-4, -3).flatten(-2, -1)

    return functools.reduce(pair, matrices)


def product(kind, x, factors, alpha=1, beta=0, z=None, trans_x="N", trans="N"):
    """mkm, kmm or batched; `trans` has one letter per factor or one for all."""
    letters = trans if len(trans) == len(factors) else trans * len(factors)
    matrices = [op(f, letter) for f, letter in zip(factors, letters)]
    matrix = kron(matrices)
    if kind == "batched":
        lead = x.dim() - len(factors)
        if trans_x != "N":
            x = x.permute(*range(lead), *reversed(range(lead, x.dim())))
            x = x.conj() if trans_x == "C" else x
        y = matrix @ x.flatten(lead).unsqueeze(-1)
        y = y.reshape(*y.shape[:-2], *[m.shape[-2] for m in matrices])
    else:
        x = op(x, trans_x)
        y = x @ matrix if kind == "mkm" else matrix @ x
    y = alpha * y
    return y if z is None else y + beta * z


def dense(weights):
    """The matrix of a Kronecker-sparse factor."""
    a, b, c, d = weights.shape
    blocks = torch.diag_embed(weights).permute(0, 1, 3, 2, 4)
    return torch.block_diag(*blocks.reshape(a, b * d, c * d))


def ksmm(x, weights, layout="batch_first", trans="N"):
    matrix = op(dense(weights), trans)
    if layout == "batch_last":
        return (matrix @ x.flatten(1)).unflatten(1, x.shape[1:])
    return x @ matrix.mT


def error(actual, expected):
    """Relative error in the Euclidean norm."""
    actual, expected = actual.detach(), expected.detach()
    wide = torch.complex128 if expected.is_complex() else torch.float64
    actual, expected = actual.to(wide), expected.to(wide)
    scale = torch.linalg.vector_norm(expected)
    return float(torch.linalg.vector_norm(actual - expected) / scale.clamp(min=1e-30))


def bound(dtype):
    """The stated error bound: 16 eps."""
    return 16 * torch.finfo(dtype).eps
