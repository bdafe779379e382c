# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The stream of a GPU that PyTorch has chosen for new work."""

import torch

#: Whether compiled code asks PyTorch itself (from 2.10 on).
IS_FOUND = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")


def stream_of(x):
    """The stream that a call on x's device goes to, as compiled code takes it."""
    if IS_FOUND or not x.is_cuda:
        return None
    return torch.cuda.current_stream(x.device).cuda_stream
