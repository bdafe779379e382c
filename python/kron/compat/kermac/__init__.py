# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The functions of kermac: `import kron.compat.kermac as kermac`.

Tensors may be on the CPU, too, where their layout is any. Descriptors do not change, regularised diagonals are
the same for outputs of all layouts, exponents may be integers, and terms of equal elements are 0 in `cdist_grad`.
"""

from . import linalg
from ._descriptors import (FillMode, InnerOperator, KernelDescriptor, KernelType, PowerType, Symmetry,
                           kernel_descriptor_l1_norm, kernel_descriptor_l2_norm, kernel_descriptor_laplace_l1,
                           kernel_descriptor_laplace_l2, kernel_descriptor_mma, kernel_descriptor_p_norm)
from ._grad import cdist_grad
from ._run import cdist, pre_compile_descriptors, run_kernel
from ._timer import CudaTimer

__all__ = [
    "CudaTimer",
    "FillMode",
    "InnerOperator",
    "KernelDescriptor",
    "KernelType",
    "PowerType",
    "Symmetry",
    "cdist",
    "cdist_grad",
    "kernel_descriptor_l1_norm",
    "kernel_descriptor_l2_norm",
    "kernel_descriptor_laplace_l1",
    "kernel_descriptor_laplace_l2",
    "kernel_descriptor_mma",
    "kernel_descriptor_p_norm",
    "linalg",
    "pre_compile_descriptors",
    "run_kernel",
]
