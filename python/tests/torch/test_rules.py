# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The table of rules (python/tests/rules.py) on tensors, real and fake ones."""

import pytest
import rules
import torch
from torch._subclasses import FakeTensorMode

import kron


def call(name):
    case = {**rules.CASES, **rules.FITTING}[name]
    args, options = rules.arguments(case, lambda shape: torch.ones(shape))
    return getattr(kron.torch, case[0])(*args, **options)


def call_fake(name):
    with FakeTensorMode():
        return call(name)


@pytest.mark.parametrize("front_end", [call, call_fake])
@pytest.mark.parametrize("name", rules.CASES)
def test_words(name, front_end):
    with pytest.raises(ValueError) as error:
        front_end(name)
    assert str(error.value).replace("beta=2 ", "beta=2.0 ") == rules.CASES[name][-1]


@pytest.mark.parametrize("front_end", [call, call_fake])
@pytest.mark.parametrize("name", rules.FITTING)
def test_shapes(name, front_end):
    assert front_end(name).shape == rules.FITTING[name][-1]
