# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Gradients of distances for weights of several outputs."""

import functools
import math

import numpy as np
import torch

from ...kernels import _arrays, _programs, _trace
from ...torch import _ops  # noqa: F401, makes tensors known to compiled functions
from . import _checks


#: The default of `eps`, which is below what differences of float32 elements around 1 are.
EPS = 1e-8


@functools.lru_cache(maxsize=256)
def _function(number, eps):
    """The sum of powers with a number, or None, which is a hyper-parameter; straight lines up to `eps` where
    kermac takes powers."""
    def power(x, y, p):
        exponent, size = p if number is None else number, abs(x - y)
        if eps <= EPS or number in (1, 2):
            return np.sum(size ** exponent)
        slope = exponent * np.exp((exponent - 1) * math.log(eps))
        return np.sum(np.where(size < eps, slope * size, size ** exponent))
    return _trace.trace(power)


_passed = _arrays.Passed()


def _check(a, b, c, d, out, p, eps):
    """(function, exponent as a tensor, and as a number or None)"""
    _checks.check_tensors(a=a, b=b, c=c, d=d, out=out)
    weights, y, coefficients, x = (_checks.batched(array, name) for name, array in
                                   (("a", a), ("b", b), ("c", c), ("d", d)))
    (k, m), (n, o) = weights.shape[1:], (y.shape[1], coefficients.shape[1])
    for name, array, shape in (("b", y, (n, k)), ("c", coefficients, (o, k)), ("d", x, (n, m))):
        if tuple(array.shape[1:]) != shape:
            raise ValueError(f"expects {name} to have shape {shape}, but got {tuple(array.shape[1:])}")
    exponent, number = _checks.hyper_parameter(p, "p", a)
    _, eps = _checks.hyper_parameter(eps, "eps", a, is_positive=False)
    if eps is None:
        raise TypeError("expects eps to be a number, but got Tensor")
    given = None if out is None else _checks.batched(out, "out", 3)
    count = _checks.joined(a=weights, b=y, c=coefficients, d=x, p=exponent, out=given)
    if given is not None:
        _checks.check_shape(given, "out", (count, o, n, m))
    return _function(number, eps), exponent, number


def _rows(array):
    """Columns of a matrix, or of each of a batch, as rows of [L, 1, M, K]."""
    rows = array.mT.contiguous()
    return rows.unsqueeze(1) if rows.dim() == 3 else rows[None, None]


def cdist_grad(a, b, c, d, out=None, p=2.0, eps=EPS, debug=False):
    """[L, O, N, M] of

        out[o, n, m] = sum_k c[o, k] * a[k, m] * sgn(d[n, m] - b[n, k]) * abs(d[n, m] - b[n, k]) ** (p - 1)

    with a [K, M], b [N, K], c [O, K] and d [N, M], each of which may have a batch L in front; written to `out`,
    [O, N, M] or [L, O, N, M], if that is given. sgn(0) is 0, and so are those terms for every p. `p` is
    positive, a number or a tensor without axes or of shape [L]. Other differences count as `eps` at least
    where that is more than 1e-8 and `p` is neither the number 1 nor 2. `debug` has no effect."""
    key = None
    if out is None and type(p) in (int, float) and type(eps) in (int, float):
        tensors = _arrays.Passed.key(a, b, c, d)
        key = tensors and (tensors, type(p), p, eps)
    found = _passed.get(key)
    if found is None:
        found = _check(a, b, c, d, out, p, eps)
        _passed.keep(key, found)
    function, exponent, number = found
    with torch.no_grad():
        # The rows that the derivative is taken by are those of d, of which every output has its own gradient.
        # Neighbouring threads load neighbouring features of a row: copies cost less than loads from afar.
        x, y, weights = map(_rows, (d, b, a))
        # Derivatives of powers have p in front.
        if number is None:
            ones = (1 / exponent).reshape(-1, 1, 1, 1)
        else:
            ones = torch.full((1, 1, 1, 1), 1 / number, device=a.device)
        exponent = exponent[:, None] if exponent.dim() else exponent
        coefficients = c.unsqueeze(-1) if c.dim() == 3 else c[None, ..., None]
        result = _programs.gradient(function, (x, y, exponent), 0, weights,
                                    (ones.expand(-1, 1, x.shape[-2], 1), coefficients), outputs=True).mT
        if out is not None:
            out.detach().copy_(result if out.dim() == 4 else result[0])
            return out
        return result.contiguous()
