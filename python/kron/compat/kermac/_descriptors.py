# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What a kernel matrix is made of, in kermac's words."""

import enum
import functools

import numpy as np

from ...kernels import _trace

InnerOperator = enum.Enum("InnerOperator", ["DIFF", "DOT"])
PowerType = enum.Enum("PowerType", ["NOOP", "ABS", "SQUARE", "SQRT", "POW"])
KernelType = enum.Enum("KernelType", ["NONE", "LAPLACE", "GAUSSIAN"])
Symmetry = enum.Enum("Symmetry", ["NonSymmetric", "Symmetric"])
FillMode = enum.Enum("FillMode", ["UPPER", "LOWER"])

#: Hyper-parameters of all functions, in their order.
PARAMETERS = ("inner_p", "outer_p", "bandwidth", "epsilon")


class KernelDescriptor:
    """out[m, n] = kernel(outer(sum_k inner(b[n, k] - a[m, k]))), or with a product in place of the
    difference. Descriptors never change."""

    def __init__(self, inner_operator, inner_power, outer_power, kernel_type):
        for name, value, kind in (("inner_operator", inner_operator, InnerOperator),
                                  ("inner_power", inner_power, PowerType), ("outer_power", outer_power, PowerType),
                                  ("kernel_type", kernel_type, KernelType)):
            if not isinstance(value, kind):
                raise TypeError(f"expects {name} to be a {kind.__name__}, but got {value!r}")
        self._inner_operator, self._inner_power = inner_operator, inner_power
        self._outer_power, self._kernel_type = outer_power, kernel_type

    def __repr__(self):
        parts = (self._inner_operator, self._inner_power, self._outer_power, self._kernel_type)
        return f"KernelDescriptor({', '.join(map(str, parts))})"

    def function(self, inner_p, outer_p):
        """The PairFunction; exponents are numbers, or None for those that are hyper-parameters."""
        return _function(self._inner_operator, self._inner_power, self._outer_power, self._kernel_type, inner_p,
                         outer_p)


def _power(value, power, exponent):
    if power is PowerType.ABS:
        return abs(value)
    if power is PowerType.SQUARE:
        return value * value
    if power is PowerType.SQRT:
        return np.sqrt(value)
    return value ** exponent if power is PowerType.POW else value


@functools.lru_cache(maxsize=256)
def _function(operator, inner_power, outer_power, kernel, inner_number, outer_number):
    is_difference = operator is InnerOperator.DIFF
    # Sums of these are never negative, and their absolute values have powers everywhere.
    is_positive = inner_power in (PowerType.ABS, PowerType.SQUARE, PowerType.POW)

    def traced(x, y, inner_p, outer_p, bandwidth, epsilon):
        value = y - x if is_difference else x * y
        if inner_power is PowerType.POW:
            value = abs(value)
        value = np.sum(_power(value, inner_power, inner_p if inner_number is None else inner_number))
        if outer_power is PowerType.POW and is_positive:
            value = abs(value)
        value = _power(value, outer_power, outer_p if outer_number is None else outer_number)
        if kernel is KernelType.NONE:
            return value
        value = np.where(value < epsilon, 0, value)
        return np.exp(value * (-1 / bandwidth if kernel is KernelType.LAPLACE else -0.5 / (bandwidth * bandwidth)))

    return _trace.trace(traced)


def _predefined(inner_power, outer_power, kernel_type, inner_operator=InnerOperator.DIFF):
    return KernelDescriptor(inner_operator, inner_power, outer_power, kernel_type)


kernel_descriptor_laplace_l1 = _predefined(PowerType.ABS, PowerType.NOOP, KernelType.LAPLACE)
kernel_descriptor_laplace_l2 = _predefined(PowerType.SQUARE, PowerType.SQRT, KernelType.LAPLACE)
kernel_descriptor_p_norm = _predefined(PowerType.POW, PowerType.POW, KernelType.NONE)
kernel_descriptor_l1_norm = _predefined(PowerType.ABS, PowerType.NOOP, KernelType.NONE)
kernel_descriptor_l2_norm = _predefined(PowerType.SQUARE, PowerType.SQRT, KernelType.NONE)
kernel_descriptor_mma = _predefined(PowerType.NOOP, PowerType.NOOP, KernelType.NONE, InnerOperator.DOT)
#: Sums of powers without their root, for cdist.
kernel_descriptor_l2_sum = _predefined(PowerType.SQUARE, PowerType.NOOP, KernelType.NONE)
kernel_descriptor_p_sum = _predefined(PowerType.POW, PowerType.NOOP, KernelType.NONE)
