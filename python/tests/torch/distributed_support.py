# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What the cases of several ranks share."""

import contextlib
import dataclasses
import typing

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, init_device_mesh

from kron.distributed import _pieces
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
    before = _pieces.PIECE_BYTES, _pieces.ROW_BYTES
    _pieces.PIECE_BYTES, _pieces.ROW_BYTES = 64, 0
    try:
        yield
    finally:
        _pieces.PIECE_BYTES, _pieces.ROW_BYTES = before


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


def raised(function, kind=ValueError):
    try:
        function()
    except kind as found:
        return str(found)
    raise AssertionError("nothing was raised")


def definite(context, size):
    """A symmetric matrix with eigenvalues of 0.5 and more."""
    root = context.randn(size, size)
    return root @ root.mT / size + 0.5 * torch.eye(size, dtype=root.dtype, device=root.device)
