"""Operations on pairs for NumPy's arrays and for PyTorch's tensors, which have derivatives.

A function is the text of a _trace.PairFunction; `arrays` are x, y and hyper-parameters.

SPDX-License-Identifier: MIT
"""

from kron.kernels import _cg, _distance, _programs
from kron.kernels._arrays import is_tensor
from kron.kernels._trace import PairFunction


def _tensors():
    from kron.torch import _pairwise

    return _pairwise


def distance_text(like, p, root):
    """The text of the function of a distance, which torch.compile takes as a constant."""
    return (_tensors() if is_tensor(like) else _distance).distance_text(p, root)


def pairwise(function, arrays):
    """F of `arrays`."""
    if is_tensor(arrays[0]):
        return _tensors().pairwise(function, arrays)
    return _programs.pairwise(PairFunction.parse(function), arrays)


def tangent(function, arrays, directions):
    """The derivative of F of arrays of NumPy along `directions`, one for each of `arrays`."""
    return _programs.pairwise(PairFunction.parse(function), arrays, directions)


def apply(function, arrays, values):
    """F times `values`, of which F is never in memory as a whole."""
    if is_tensor(arrays[0]):
        return _tensors().apply(function, arrays, values)
    return _programs.apply(PairFunction.parse(function), arrays, values)


def solve(matrix, rhs, noise, options):
    """X with (K + noise I) X = `rhs` for a Kernel of rows with themselves."""
    if is_tensor(rhs):
        from kron.torch import _pairwise_solve

        return _pairwise_solve.solve(matrix, rhs, noise, options)
    return _cg.solve(matrix, rhs, noise, options)
