# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""All cases of test_distributed.py."""

import distributed_layers  # noqa: F401
import distributed_operations  # noqa: F401
import distributed_products  # noqa: F401
import distributed_solvers  # noqa: F401
from distributed_support import CASES, Context  # noqa: F401
