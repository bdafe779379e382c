# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Products along some axes of an array that one rank has: [M, P1, ..., PN]."""

import math

from .. import torch as kt


def apply(x, factors, precision):
    """Applies `factors[axis]` (a [p, q] matrix) along every axis of x that the dictionary
    names. Axes that follow one another without a gap are one operation, for which x is not
    transposed: behind the gap rows times a product, before it products times columns."""
    axes = sorted(factors)
    while axes:
        end = len(axes)
        begin = end - 1
        while begin and axes[begin - 1] == axes[begin] - 1:
            begin -= 1
        x = _neighbours(x, axes[begin], [factors[axis] for axis in axes[begin:]], precision)
        axes = axes[:begin]
    return x


def _neighbours(x, first, factors, precision):
    """Factors of the axes from `first` on."""
    last = first + len(factors)
    shape = x.shape
    p = math.prod(factor.shape[0] for factor in factors)
    q = [factor.shape[1] for factor in factors]
    outside, inside = math.prod(shape[:first]), math.prod(shape[last:])
    if inside == 1:
        y = kt.mkm(x.reshape(outside, p), factors, precision=precision)
    elif outside == 1:
        y = kt.kmm(x.reshape(p, inside), factors, trans_factors=True, precision=precision)
    else:
        y = kt.kmm(x.reshape(outside, p, inside), factors, trans_factors=True,
                   precision=precision)
    return y.reshape(*shape[:first], *q, *shape[last:])
