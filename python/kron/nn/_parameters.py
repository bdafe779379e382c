# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The factors of a layer."""

from torch.compiler import is_compiling


def factors_of(layer):
    """The elements of `layer.factors`, a torch.nn.ParameterList, as a list. The list itself
    takes a microsecond for each."""
    if is_compiling():
        return list(layer.factors)
    parameters = layer._modules["factors"]
    own = parameters._parameters
    if len(own) == len(parameters):
        return list(own.values())
    # Some are computed, by torch.nn.utils.parametrize.
    return list(parameters)
