# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Elements of parameter lists."""

from torch.compiler import is_compiling


def elements(parameters):
    """Those of a torch.nn.ParameterList as a list, which takes it a microsecond each."""
    own = parameters._parameters
    if is_compiling() or len(own) != len(parameters):
        # Some are computed, by torch.nn.utils.parametrize.
        return list(parameters)
    return list(own.values())
