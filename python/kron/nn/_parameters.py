# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Factors and bias of a layer."""

from torch.compiler import is_compiling


def parameters_of(layer):
    """(`layer.factors`, a torch.nn.ParameterList, as a list, `layer.bias`). The attributes
    themselves take a microsecond for each element."""
    if is_compiling():
        return list(layer.factors), layer.bias
    # What is not there is computed, by torch.nn.utils.parametrize.
    own, factors = layer._parameters, layer._modules["factors"]
    bias = own["bias"] if "bias" in own else layer.bias
    elements = factors._parameters
    if len(elements) == len(factors):
        return list(elements.values()), bias
    return list(factors), bias
