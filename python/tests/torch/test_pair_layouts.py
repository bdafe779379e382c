# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Distances over the product of layouts, exponents, batches and alignments, of NumPy's arrays and of tensors on a
CPU and a GPU, against float64."""

import itertools
import math

import numpy as np
import pytest
import torch

import kron.compat.kermac as kermac
from kron.kernels import cdist

EXPONENTS = [0.5, 1.0, 1.3, 1.5, 2.0, 3.0, math.inf]
TARGETS = ["numpy", "cpu",
           pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]
#: Of a and b, which broadcast.
BATCHES = [((), ()), ((2,), (2,)), ((2,), ()), ((1,), (3,))]
#: Elements in front of the first row, and between one row and the next, of a, b and the result.
ALIGNMENTS = [((0, 0), (0, 0), (0, 0)), ((1, 0), (0, 0), (0, 3)), ((0, 4), (4, 4), (4, 4)), ((3, 1), (2, 5), (1, 2)),
              ((4, 0), (0, 1), (2, 0))]
#: M, N and K: rows of 80 bytes, which may be copied by 16, and of 84.
SIZES = [(17, 33, 20), (9, 5, 21)]


def memory(shape, is_column_major, alignment, device):
    """NaN, and a view of it of that shape."""
    *batch, rows, columns = shape
    offset, gap = alignment
    if is_column_major:
        rows, columns = columns, rows
    whole = torch.full((offset + math.prod(batch) * rows * (columns + gap),), torch.nan, device=device)
    view = whole[offset:].view(*batch, rows, columns + gap)[..., :columns]
    return whole, view.mT if is_column_major else view


def powers(a, b, p):
    difference = (a.double()[..., :, None, :] - b.double()[..., None, :, :]).abs()
    if p == math.inf:
        return difference.amax(-1)
    return (difference ** p).sum(-1) ** (1 / p)


def computed(target, p, a, b, out):
    """Distances of a and b in `out`, or with its layout."""
    if target == "numpy":
        a, b = a.numpy(), b.numpy()
    elif p < math.inf:
        assert kermac.cdist(a, b, out=out, p=p) is out
        return out
    is_row_major = out.stride(-1) == 1
    result = cdist(a, b, p) if is_row_major else np.swapaxes(cdist(b, a, p), -1, -2)
    return torch.as_tensor(result)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("p", EXPONENTS)
def test_all_layouts_batches_and_alignments(p, target):
    device = "cuda" if target == "cuda" else "cpu"
    generator = torch.Generator().manual_seed(int(10 * min(p, 9)))
    for (m, n, k), batches, alignments, layouts in itertools.product(
            SIZES, BATCHES, ALIGNMENTS, itertools.product((False, True), repeat=3)):
        a, b = (memory((*batch, rows, k), layout, alignment, device)[1]
                for batch, rows, layout, alignment in zip(batches, (m, n), layouts, alignments))
        for array in (a, b):
            array.copy_(torch.randn(array.shape, generator=generator))
        wanted = powers(a, b, p)
        whole, out = memory(wanted.shape, layouts[2], alignments[2], device)
        result = computed(target, p, a, b, out)
        torch.testing.assert_close(result.double(), wanted, rtol=1e-5, atol=0)
        if result is out:
            out.fill_(torch.nan)
            assert whole.isnan().all(), "what lies between rows is written"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("p", EXPONENTS)
def test_rows_with_themselves(p, target):
    """Of which one half is computed."""
    device = "cuda" if target == "cuda" else "cpu"
    for (rows, k), batch, layout, is_transposed in itertools.product(
            ((1, 4), (33, 20), (150, 21), (201, 60)), ((), (3,)), (False, True), (False, True)):
        a = memory((*batch, rows, k), layout, (3, 1), device)[1].copy_(torch.randn(*batch, rows, k))
        wanted = powers(a, a, p)
        out = memory(wanted.shape, is_transposed, (1, 2), device)[1]
        result = computed(target, p, a, a, out)
        torch.testing.assert_close(result.double(), wanted, rtol=1e-5, atol=0)
        assert torch.equal(result, result.mT) and not result.diagonal(0, -2, -1).any()
