# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Layers made of Kronecker products and of Monarch matrices."""

import math

import torch
from torch import nn

from .. import torch as kt
from ._parameters import parameters_of
from ._sparse import KSLinear


class KronLinear(nn.Module):
    """y = x (F1 kron ... kron FN) + bias, with Fk of size [in_sizes[k], out_sizes[k]].

    A torch.nn.Linear of math.prod(in_sizes) to math.prod(out_sizes) features whose
    weight is never formed. Initialised so that the weight has the variance of
    torch.nn.Linear's."""

    def __init__(self, in_sizes, out_sizes, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_sizes, self.out_sizes = tuple(in_sizes), tuple(out_sizes)
        if len(self.in_sizes) != len(self.out_sizes) or not self.in_sizes:
            raise ValueError(f"expects in_sizes and out_sizes to have the same length, at "
                             f"least 1, but got {self.in_sizes} and {self.out_sizes}")
        for name, sizes in (("in_sizes", self.in_sizes), ("out_sizes", self.out_sizes)):
            if not all(isinstance(n, int) and n > 0 for n in sizes):
                raise ValueError(f"expects {name} to be positive integers, but got "
                                 f"{sizes}")
        self.in_features = math.prod(self.in_sizes)
        self.out_features = math.prod(self.out_sizes)
        self.factors = nn.ParameterList(
            nn.Parameter(torch.empty(p, q, device=device, dtype=dtype))
            for p, q in zip(self.in_sizes, self.out_sizes))
        if bias:
            self.bias = nn.Parameter(torch.empty(self.out_features, device=device,
                                                 dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        shrink = 3 ** (-0.5 / len(self.factors))
        for factor in self.factors:
            bound = math.sqrt(3 / factor.shape[0]) * shrink
            nn.init.uniform_(factor, -bound, bound)
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features)
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x):
        shape = x.shape
        if not shape or shape[-1] != self.in_features:
            raise ValueError(f"expects the last axis of the input to have size "
                             f"{self.in_features}, but got shape {tuple(shape)}")
        factors, bias = parameters_of(self)
        if bias is None:
            return kt.mkm(x, factors)
        return kt.mkm(x, factors, beta=1, z=bias)

    @property
    def weight(self):
        """The weight that torch.nn.Linear would have, [out_features, in_features]."""
        identity = torch.eye(self.in_features, dtype=self.factors[0].dtype,
                             device=self.factors[0].device)
        return kt.mkm(identity, list(self.factors)).mT

    def extra_repr(self):
        return (f"in_sizes={self.in_sizes}, out_sizes={self.out_sizes}, "
                f"bias={self.bias is not None}")


class Monarch(KSLinear):
    """A Monarch matrix: block-diagonal, then block-diagonal across the blocks.

    `blocks` (default: the divisor of in_features nearest to its square root) blocks of
    in_features / blocks inputs; each has `rank` outputs (default: blocks, or the
    nearest divisor of out_features)."""

    def __init__(self, in_features, out_features, blocks=None, rank=None, bias=True,
                 algo="kernel", dtype=None, device=None):
        for name, size in (("in_features", in_features), ("out_features", out_features)):
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"expects {name} to be a positive integer, but got "
                                 f"{size!r}")
        blocks = blocks or _nearest_divisor(in_features, math.sqrt(in_features))
        rank = rank or _nearest_divisor(out_features, blocks)
        if in_features % blocks:
            raise ValueError(f"expects blocks to divide {in_features}, but got {blocks}")
        if out_features % rank:
            raise ValueError(f"expects rank to divide {out_features}, but got {rank}")
        super().__init__([(blocks, rank, in_features // blocks, 1),
                          (1, out_features // rank, blocks, rank)],
                         bias=bias, algo=algo, dtype=dtype, device=device)
        self.in_features, self.out_features = in_features, out_features


def _nearest_divisor(number, target):
    divisors = [n for n in range(1, number + 1) if number % n == 0]
    return min(divisors, key=lambda n: abs(math.log(n / target)))
