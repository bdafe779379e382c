# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""How an axis is divided among ranks: as torch.chunk and DTensor's Shard do it.

Every rank but the last ones has ceil(size / ranks) positions, the last ones what is left:
5 positions on 4 ranks are 2, 2, 1, 0.
"""


def chunk(size, ranks, rank):
    """(positions, first position) of a rank."""
    most = -(-size // ranks)
    begin = min(rank * most, size)
    return min(most, size - begin), begin


def chunks(size, ranks):
    """Positions of every rank."""
    return [chunk(size, ranks, rank)[0] for rank in range(ranks)]


def is_even(size, ranks):
    """Whether all ranks have as many positions."""
    return size % ranks == 0
