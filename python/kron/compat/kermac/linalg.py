# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Factorisations of batches, by LAPACK or cuSOLVER as PyTorch has them.

Nothing waits for a GPU unless `check_errors` is set, but for `eigh`, since PyTorch's does.
"""

import torch

from . import _checks
from ._descriptors import FillMode

__all__ = ["eigh", "solve_cholesky", "solve_lu"]


def _square(a):
    matrices = _checks.batched(a.detach(), "a")
    if matrices.shape[-1] != matrices.shape[-2]:
        raise ValueError(f"expects a to be square, but got shape {tuple(a.shape)}")
    return matrices


def _operands(a, b):
    """(matrices, right sides as rows) with a batch."""
    _checks.check_tensors(a=a, b=b)
    matrices, rows = _square(a), _checks.batched(b.detach(), "b")
    _checks.check_shape(rows, "b", (matrices.shape[0], rows.shape[1], matrices.shape[-1]))
    return matrices, rows


def _check_fill_mode(fill_mode):
    if not isinstance(fill_mode, FillMode):
        raise TypeError(f"expects fill_mode to be a FillMode, but got {fill_mode!r}")
    return fill_mode is FillMode.UPPER


def _check_infos(infos):
    failed = infos.nonzero().flatten().tolist()
    if failed:
        raise ValueError(f"expects matrices that can be factorised, but LAPACK or cuSOLVER reports "
                         f"{infos[failed].tolist()} of matrices {failed}")


def _finish(a, b, factor, solution, infos, overwrite_a, overwrite_b, check_errors):
    """What solve_cholesky and solve_lu return; a matrix that has no factors has no solution."""
    solution = torch.where((infos == 0)[:, None, None], solution, torch.nan)
    if check_errors:
        _check_infos(infos)
    if overwrite_a:
        a.detach().copy_(factor.view(a.shape))
    result = b.detach() if overwrite_b else torch.empty_like(b)
    result.copy_(solution.reshape(b.shape))
    return result, infos, torch.zeros_like(infos)


def solve_cholesky(a, b, fill_mode=FillMode.LOWER, overwrite_a=False, overwrite_b=False, check_errors=False,
                   debug=False):
    """(x, factor_infos, solve_infos) with x @ a = b for symmetric positive definite a, [N, N] or [L, N, N], of which
    the triangle `fill_mode` is read, and b, [C, N] or [L, C, N].

    `overwrite_a` leaves the factor in a, `overwrite_b` the solution in b. Infos are int32, one for every matrix;
    where one is not 0, x is NaN, and with `check_errors` a ValueError. `debug` has no effect."""
    upper = _check_fill_mode(fill_mode)
    matrices, rows = _operands(a, b)
    factor, infos = torch.linalg.cholesky_ex(matrices.mH if upper else matrices)
    solution = torch.cholesky_solve(rows.mT, factor).mT
    return _finish(a, b, factor.mT if upper else factor, solution, infos, overwrite_a, overwrite_b, check_errors)


def solve_lu(a, b, overwrite_a=False, overwrite_b=False, check_errors=False, debug=False):
    """solve_cholesky for any a; the factors in a are those of its transpose."""
    matrices, rows = _operands(a, b)
    factor, pivots, infos = torch.linalg.lu_factor_ex(matrices.mT)
    solution = torch.linalg.lu_solve(factor, pivots, rows.mT).mT
    return _finish(a, b, factor.mT, solution, infos, overwrite_a, overwrite_b, check_errors)


def eigh(a, fill_mode=FillMode.LOWER, overwrite_a=False, check_errors=False):
    """(eigenvalues [L, N], eigenvectors [L, N, N] as columns, infos) of symmetric a, [N, N] or [L, N, N], of which the
    triangle `fill_mode` is read. `overwrite_a` leaves the eigenvectors in a, as rows. The info of a matrix that is not
    finite is 1, and what belongs to it NaN."""
    upper = _check_fill_mode(fill_mode)
    _checks.check_tensors(a=a)
    matrices = _square(a)
    finite = matrices.isfinite().all(-1).all(-1)
    infos = (~finite).to(torch.int32)
    if check_errors:
        _check_infos(infos)
    values, vectors = torch.linalg.eigh(torch.where(finite[:, None, None], matrices, 0), "U" if upper else "L")
    values = torch.where(finite[:, None], values, torch.nan)
    vectors = torch.where(finite[:, None, None], vectors, torch.nan)
    if overwrite_a:
        matrices.copy_(vectors.mT)
        vectors = matrices.mT
    return values, vectors, infos
