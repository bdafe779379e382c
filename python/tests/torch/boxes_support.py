# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What tests of boxes share: boxes moved by NumPy, ranks without processes, and products."""

import dataclasses

import numpy as np


def copy(box, target, source, target_offset, source_offset):
    """Does a CUDA_MEMCPY3D within arrays of bytes."""
    for plane in range(box.Planes):
        for line in range(box.Lines):
            to = target_offset + (plane * box.dstHeight + line) * box.dstPitch
            start = source_offset + (plane * box.srcHeight + line) * box.srcPitch
            assert to + box.LineBytes <= target.nbytes
            assert start + box.LineBytes <= source.nbytes
            target[to:to + box.LineBytes] = source[start:start + box.LineBytes]


def split(array, counts, axis):
    return np.split(array, np.cumsum(counts)[:-1], axis)


def product_by_numpy(x, factors):
    """x [M, P1, ..., PN] times the Kronecker product."""
    for axis, factor in enumerate(factors, 1):
        x = np.moveaxis(np.tensordot(x, factor, (axis, 0)), -1, axis)
    return x


@dataclasses.dataclass(frozen=True)
class Place:
    """A rank and what it shares, in place of a Layout with its mesh."""

    rank: int
    ranks: int
    sizes: tuple
    group: str = ""
    axis: int = 1
