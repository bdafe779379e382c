# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The layer whose weight is a product of Kronecker-sparse factors."""

import math

import torch
from torch import nn

from .. import torch as kt
from . import _algorithms, _formats
from ._parameters import parameters_of


def _check_patterns(patterns):
    """A list of tuples of four positive integers that can follow one another."""
    try:
        patterns = [tuple(pattern) for pattern in patterns]
    except TypeError:
        raise TypeError("expects patterns to be a list of tuples (a, b, c, d), but got "
                        f"{patterns!r}") from None
    if not patterns:
        raise ValueError("expects patterns to hold at least one tuple")
    for k, pattern in enumerate(patterns):
        is_valid = len(pattern) == 4 and all(
            isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in pattern)
        if not is_valid:
            raise ValueError(f"expects patterns[{k}] to be four positive integers "
                             f"(a, b, c, d), but got {pattern!r}")
        if k == 0:
            continue
        a, b, _, d = patterns[k - 1]
        written = a * b * d
        a, _, c, d = pattern
        if a * c * d != written:
            raise ValueError(f"expects patterns[{k}] to read the {written} features that "
                             f"patterns[{k - 1}] writes, but got {a * c * d}")
    return patterns


class KSLinear(nn.Module):
    r"""A linear layer whose weight is a product of Kronecker-sparse factors.

    ``patterns`` lists (a, b, c, d) of every factor, the one that is applied first
    first; ``weights`` optionally their values, of these shapes. Factor k computes
    ``y[i, j, t] = sum_k w[i, j, k, t] * x[i, k, t]``. The input is [..., in_size]
    (``bs_last=False``) or [in_size, ...] (``bs_last=True``).

    ``algo`` says how: ``kernel`` is kron's compiled kernel; ``bmm``, ``einsum``,
    ``dense``, ``sparse`` and ``bsr`` are PyTorch's operations, for comparison. The
    parameters are the same for all of them, [a, b, c, d] per factor, so that a state
    dictionary goes from one to the other. Those of other formats (kernel, bmm, dense,
    sparse, bsr of the KSMM project) are converted when loaded.
    """

    def __init__(self, patterns, weights=None, bias=True, algo="kernel", dtype=None,
                 bs_last=False, device=None):
        super().__init__()
        self.patterns = _check_patterns(patterns)
        if algo not in _algorithms.ALGORITHMS:
            raise ValueError(f"expects algo to be one of "
                             f"{', '.join(_algorithms.ALGORITHMS)}, but got {algo!r}")
        if weights is not None and len(weights) != len(self.patterns):
            raise ValueError(f"expects weights for {len(self.patterns)} patterns, but got "
                             f"{len(weights)}")
        a, _, c, d = self.patterns[0]
        self.in_size = a * c * d
        a, b, _, d = self.patterns[-1]
        self.out_size = a * b * d
        self.num_mat = len(self.patterns)
        self.algo, self.bs_last = algo, bool(bs_last)
        options = {"dtype": dtype or torch.get_default_dtype(), "device": device}
        self.factors = nn.ParameterList(
            nn.Parameter(torch.empty(pattern, **options)) for pattern in self.patterns)
        if bias:
            self.bias = nn.Parameter(torch.empty(self.out_size, **options))
        else:
            self.register_parameter("bias", None)
        self._cache = {}
        self.reset_parameters()
        if weights is not None:
            self._set_weights(weights)
        self.register_load_state_dict_pre_hook(_formats.convert_state)

    @property
    def dtype(self):
        return self.factors[0].dtype

    @property
    def device(self):
        return self.factors[0].device

    def reset_parameters(self):
        """Uniform in +-1/sqrt(c) per factor and +-1/sqrt(in_size) for the bias."""
        for factor, (_, _, c, _) in zip(self.factors, self.patterns):
            nn.init.uniform_(factor, -1 / math.sqrt(c), 1 / math.sqrt(c))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_size)
            nn.init.uniform_(self.bias, -bound, bound)

    def _set_weights(self, weights):
        for k, (factor, weight) in enumerate(zip(self.factors, weights)):
            if weight is None:
                continue
            weight = torch.as_tensor(weight)
            if weight.shape != factor.shape:
                raise ValueError(f"expects weights[{k}] to have the shape "
                                 f"{tuple(factor.shape)} of its pattern, but got "
                                 f"{tuple(weight.shape)}")
            with torch.no_grad():
                factor.copy_(weight)

    def forward(self, x):
        shape = x.shape
        if not shape or shape[0 if self.bs_last else -1] != self.in_size:
            raise ValueError(f"expects the {'first' if self.bs_last else 'last'} axis of "
                             f"the input to have size {self.in_size}, but got shape "
                             f"{tuple(shape)}")
        factors, bias = parameters_of(self)
        if self.algo == "kernel":
            return kt.ksmm_chain(x, factors, None, "batch_last" if self.bs_last else
                                 "batch_first", bias=bias)
        return _algorithms.apply(self.algo, x, factors, bias, self.bs_last, self._cache)

    def get_dense_product(self):
        """The weight as one dense matrix, [out_size, in_size]."""
        result = None
        for factor in self.factors:
            matrix = _formats.to_dense(factor)
            result = matrix if result is None else matrix @ result
        return result

    def extra_repr(self):
        return (f"in_size={self.in_size}, out_size={self.out_size}, "
                f"patterns={self.patterns}, algo={self.algo!r}, "
                f"bs_last={self.bs_last}, bias={self.bias is not None}")

    def __getstate__(self):
        return {**super().__getstate__(), "_cache": {}}
