# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""What the PyTorch tests share."""

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def fixed_seed():
    torch.manual_seed(20240229)
