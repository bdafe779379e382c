# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kronecker-sparse factors by PyTorch's operations, beside kron's kernel."""

import math

import torch
import torch.nn.functional as F

from . import _formats

ALGORITHMS = ("kernel", "bmm", "einsum", "dense", "sparse", "bsr")


def apply(algo, x, weights, bias, batch_last, cache):
    """The product of all factors with x, and the bias, by one of the algorithms but `kernel`.
    `cache` keeps index arrays."""
    batch = x.shape[1:] if batch_last else x.shape[:-1]
    x = x.reshape(x.shape[0], -1) if batch_last else x.reshape(-1, x.shape[-1])
    step = _STEPS[algo]
    for k, weight in enumerate(weights):
        x = step(x, weight, batch_last, cache.setdefault(k, {}))
    if bias is not None:
        x = x + (bias.unsqueeze(-1) if batch_last else bias)
    return x.reshape(-1, *batch) if batch_last else x.reshape(*batch, -1)


def _einsum(x, weights, batch_last, cache):
    a, b, c, d = weights.shape
    if batch_last:
        y = torch.einsum("acdn,abcd->abdn", x.view(a, c, d, -1), weights)
        return y.reshape(a * b * d, -1)
    y = torch.einsum("nacd,abcd->nabd", x.view(-1, a, c, d), weights)
    return y.reshape(-1, a * b * d)


def _bmm(x, weights, batch_last, cache):
    """One matrix per (i, t), of arrays permuted before and after."""
    a, b, c, d = weights.shape
    blocks = weights.permute(0, 3, 1, 2).reshape(a * d, b, c)
    if batch_last:
        x = x.view(a, c, d, -1).transpose(1, 2).reshape(a * d, c, -1)
        y = torch.bmm(blocks, x).view(a, d, b, -1).transpose(1, 2)
        return y.reshape(a * b * d, -1)
    x = x.view(-1, a, c, d).permute(1, 3, 0, 2).reshape(a * d, -1, c)
    y = torch.bmm(x, blocks.mT).view(a, d, -1, b)
    return y.permute(2, 0, 3, 1).reshape(-1, a * b * d)


def _dense(x, weights, batch_last, cache):
    matrix = _formats.to_dense(weights)
    return matrix @ x if batch_last else F.linear(x, matrix)


def _sparse(x, weights, batch_last, cache):
    """A sparse matrix in coordinate format, whose values are the weights."""
    a, b, c, d = weights.shape
    key = ("coordinates", weights.device)
    if key not in cache:
        i, j, k, t = torch.meshgrid(
            *(torch.arange(n, device=weights.device) for n in weights.shape),
            indexing="ij")
        rows, columns = (i * b + j) * d + t, (i * c + k) * d + t
        order = (rows * (a * c * d) + columns).flatten().argsort()
        cache[key] = order, torch.stack([rows.flatten(), columns.flatten()])[:, order]
    order, indices = cache[key]
    matrix = torch.sparse_coo_tensor(indices, weights.flatten()[order],
                                     (a * b * d, a * c * d), is_coalesced=True)
    if batch_last:
        return torch.sparse.mm(matrix, x)
    return torch.sparse.mm(matrix, x.mT).mT


class _BlockProduct(torch.autograd.Function):
    """A block-diagonal matrix in block-sparse-row format times x."""

    @staticmethod
    def forward(ctx, blocks, x):
        ctx.save_for_backward(blocks, x)
        count, b, c = blocks.shape
        size = math.gcd(b, c)
        tiles = blocks.view(count, b // size, size, c // size, size).transpose(2, 3)
        wide = c // size
        rows = torch.arange(count * b // size + 1, device=blocks.device) * wide
        columns = (torch.arange(count, device=blocks.device)[:, None, None] * wide
                   + torch.arange(wide, device=blocks.device)).expand(-1, b // size, -1)
        matrix = torch.sparse_bsr_tensor(rows, columns.reshape(-1),
                                         tiles.reshape(-1, size, size),
                                         (count * b, count * c), check_invariants=False)
        return matrix @ x

    @staticmethod
    def backward(ctx, grad):
        blocks, x = ctx.saved_tensors
        count, b, c = blocks.shape
        grad, x = grad.view(count, b, -1), x.view(count, c, -1)
        return (torch.bmm(grad, x.mT),
                torch.bmm(blocks.mT, grad).reshape(count * c, -1))


def _bsr(x, weights, batch_last, cache):
    a, b, c, d = weights.shape
    blocks = weights.permute(0, 3, 1, 2).reshape(a * d, b, c)
    columns = x if batch_last else x.mT
    if d > 1:
        columns = columns.reshape(a, c, d, -1).transpose(1, 2).reshape(a * d * c, -1)
    y = _BlockProduct.apply(blocks.contiguous(), columns.contiguous())
    if d > 1:
        y = y.view(a, d, b, -1).transpose(1, 2).reshape(a * b * d, -1)
    return y if batch_last else y.mT


_STEPS = {"bmm": _bmm, "einsum": _einsum, "dense": _dense, "sparse": _sparse,
          "bsr": _bsr}
