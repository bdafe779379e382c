# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The layer of the KSMM project, with its defaults.

`from kron.compat.ksmm import KSLinear` in place of
`from ksmm_py.layer.kronecker_sparse.interface import KSLinear`.
"""

import torch

from ..nn import KSLinear as _KSLinear
from ..nn._formats import to_dense as from_abcd_to_dense

__all__ = ["KSLinear", "from_abcd_to_dense"]


class KSLinear(_KSLinear):
    """kron.nn.KSLinear with the KSMM project's defaults: dense, float16, CPU."""

    def __init__(self, patterns, weights=None, bias=True, algo="dense",
                 dtype=torch.float16, bs_last=False, device="cpu"):
        super().__init__(patterns, weights, bias, algo, dtype, bs_last, device)
