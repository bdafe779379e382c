# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The layers against dense ones, and their state dictionaries."""

import copy
import io
import math
import pickle

import pytest
import torch_reference as reference
import torch

from kron import nn as knn

CHAINS = [[(1, 4, 3, 2)], [(3, 2, 2, 1), (1, 5, 3, 2)], [(2, 3, 2, 3), (1, 2, 6, 3)]]
ALGORITHMS = ["kernel", "bmm", "einsum", "dense", "sparse", "bsr"]


def layer(chain, algo="kernel", **options):
    torch.manual_seed(7)
    return knn.KSLinear(chain, algo=algo, **{"dtype": torch.float64, **options})


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("bs_last", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_forward_and_gradients(chain, algo, bs_last, bias):
    module = layer(chain, algo, bs_last=bs_last, bias=bias)
    shape = (module.in_size, 2, 3) if bs_last else (2, 3, module.in_size)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    y = module(x)
    matrix = module.get_dense_product()
    expected = (torch.tensordot(matrix, x, 1) if bs_last else x @ matrix.mT)
    if bias:
        expected = expected + (module.bias[:, None, None] if bs_last else module.bias)
    assert y.shape == expected.shape
    assert reference.error(y, expected) < 1e-14
    target = torch.randn_like(y)
    inputs = [x, *module.parameters()]
    actual = torch.autograd.grad(y, inputs, target)
    for a, e in zip(actual, torch.autograd.grad(expected, inputs, target)):
        assert reference.error(a, e) < 1e-13


@pytest.mark.parametrize("shape", [(1,), (5,), (0,), (2, 1, 3), ()])
def test_any_batch(shape):
    module = layer(CHAINS[1])
    x = torch.randn(*shape, module.in_size, dtype=torch.float64)
    y = module(x)
    assert y.shape == (*shape, module.out_size)
    assert torch.allclose(y, x @ module.get_dense_product().mT + module.bias)


def test_weights_given():
    weights = [torch.randn(pattern) for pattern in CHAINS[1]]
    module = knn.KSLinear(CHAINS[1], weights=weights, bias=False)
    expected = reference.dense(weights[1]) @ reference.dense(weights[0])
    torch.testing.assert_close(module.get_dense_product(), expected)
    weights[0].zero_()
    assert module.factors[0].abs().sum() > 0, "the layer keeps its own copy"


def test_initialisation():
    module = knn.KSLinear([(1, 64, 64, 16)], dtype=torch.float32)
    weights = module.factors[0].detach()
    assert weights.abs().max() <= 1 / 8
    assert math.isclose(float(weights.std()), 1 / 8 / math.sqrt(3), rel_tol=0.02)
    assert module.bias.abs().max() <= 1 / 32


@pytest.mark.parametrize("source", ALGORITHMS)
@pytest.mark.parametrize("target", ["kernel", "einsum"])
def test_state_goes_between_algorithms(source, target):
    first = layer(CHAINS[2], source)
    second = knn.KSLinear(CHAINS[2], algo=target, bs_last=True, dtype=torch.float64)
    buffer = io.BytesIO()
    torch.save(first.state_dict(), buffer)
    buffer.seek(0)
    second.load_state_dict(torch.load(buffer))
    x = torch.randn(4, first.in_size, dtype=torch.float64)
    torch.testing.assert_close(second(x.mT.contiguous()).mT, first(x))


def ksmm_project_format(weights, algo):
    """How the KSMM project stores a factor, written out element by element."""
    a, b, c, d = weights.shape
    if algo == "kernel":
        result = weights.new_zeros(a, d, c, b)
        for i in range(a):
            for t in range(d):
                result[i, t] = weights[i, :, :, t].T
        return result.view(a * d * c, b)
    if algo == "bmm":
        return torch.stack([weights[i, :, :, t] for i in range(a) for t in range(d)])
    if algo == "sparse":
        return reference.dense(weights).to_sparse_csr()
    if algo == "bsr":
        blocks = [weights[i, :, :, t] for i in range(a) for t in range(d)]
        size = math.gcd(b, c)
        return torch.block_diag(*blocks).to_sparse_bsr((size, size))
    return {"dense": reference.dense, "einsum": lambda w: w}[algo](weights)


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize("chain", [*CHAINS, [(1, 3, 3, 1)], [(2, 2, 2, 2)]])
def test_state_of_the_ksmm_project(chain, algo):
    source = layer(chain)
    state = {f"factors.{k}": ksmm_project_format(factor.detach(), algo)
             for k, factor in enumerate(source.factors)}
    state["bias"] = source.bias.detach().unsqueeze(-1)
    target = layer(chain, algo)
    with torch.no_grad():
        for parameter in target.parameters():
            parameter.zero_()
    target.load_state_dict(state)
    for actual, expected in zip(target.parameters(), source.parameters()):
        assert torch.equal(actual, expected)


def test_copies_and_pickles():
    module = layer(CHAINS[1], "sparse")
    x = torch.randn(3, module.in_size, dtype=torch.float64)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        torch.testing.assert_close(other(x), module(x))
    assert module.double().float()(x.float()).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types(dtype):
    module = layer(CHAINS[1], dtype=torch.float32).to(dtype)
    x = torch.randn(16, module.in_size).to(dtype)
    wide = copy.deepcopy(module).double()
    y = module(x)
    y.sum().backward()
    expected = wide(x.double())
    expected.sum().backward()
    # One rounding per factor and at the end.
    assert reference.error(y, expected) < 4 * torch.finfo(dtype).eps
    for actual, reference_ in zip(module.parameters(), wide.parameters()):
        assert actual.grad.dtype == dtype
        assert reference.error(actual.grad, reference_.grad) < 8 * torch.finfo(dtype).eps


@pytest.mark.parametrize("patterns, message", [
    ([], "at least one tuple"),
    ([(1, 2, 3)], r"patterns\[0\] to be four positive integers"),
    ([(1, 2, 3, 0)], r"patterns\[0\] to be four positive integers"),
    ([(1, 2, 3, 1.5)], r"patterns\[0\] to be four positive integers"),
    ([(1, 2, 3, "4")], r"patterns\[0\] to be four positive integers"),
    ([(1, 2, 3, 1), (1, 2, 3, 1)], r"patterns\[1\] to read the 2 features"),
])
def test_bad_patterns(patterns, message):
    with pytest.raises(ValueError, match=message):
        knn.KSLinear(patterns)


def test_bad_arguments():
    with pytest.raises(TypeError, match="list of tuples"):
        knn.KSLinear(5)
    with pytest.raises(ValueError, match="algo to be one of"):
        knn.KSLinear(CHAINS[0], algo="magic")
    with pytest.raises(ValueError, match="weights for 1 patterns, but got 2"):
        knn.KSLinear(CHAINS[0], weights=[None, None])
    with pytest.raises(ValueError, match=r"weights\[0\] to have the shape"):
        knn.KSLinear(CHAINS[0], weights=[torch.ones(1, 2, 3, 4)])
    with pytest.raises(ValueError, match="last axis of the input to have size 6"):
        knn.KSLinear(CHAINS[0])(torch.ones(2, 5))
    with pytest.raises(ValueError, match="in_sizes and out_sizes"):
        knn.KronLinear([2, 3], [2])
    with pytest.raises(ValueError, match=r"size 4, but got shape \(\)"):
        knn.KronLinear([2, 2], [2, 2])(torch.ones(()))
    with pytest.raises(ValueError, match="expects blocks to divide 6"):
        knn.Monarch(6, 6, blocks=4)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(5,), (2, 3), ()])
def test_kron_linear(bias, shape):
    module = knn.KronLinear([2, 3, 4], [3, 1, 5], bias=bias, dtype=torch.float64)
    x = torch.randn(*shape, 24, dtype=torch.float64)
    expected = torch.nn.functional.linear(x, module.weight, module.bias)
    torch.testing.assert_close(module(x), expected)
    assert torch.autograd.gradcheck(lambda *p: module(x), tuple(module.parameters()))


def test_kron_linear_initialisation():
    weight = knn.KronLinear([16, 16], [16, 16]).weight
    assert math.isclose(float(weight.std()), 1 / math.sqrt(3 * 256), rel_tol=0.25)


@pytest.mark.parametrize("sizes", [(16, 16), (12, 20), (7, 9)])
def test_monarch(sizes):
    module = knn.Monarch(*sizes, dtype=torch.float64)
    x = torch.randn(3, sizes[0], dtype=torch.float64)
    expected = x @ module.get_dense_product().mT + module.bias
    torch.testing.assert_close(module(x), expected)


def test_training_reaches_the_dense_loss():
    """Teaches a layer another one's map."""
    teacher = layer(CHAINS[1], bias=False)
    student = knn.KSLinear(CHAINS[1], dtype=torch.float64)
    optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
    x = torch.randn(256, teacher.in_size, dtype=torch.float64)
    y = teacher(x).detach()
    for _ in range(300):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(student(x), y)
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 1e-3 * float(y.square().mean())


class _Doubled(torch.nn.Module):
    def forward(self, x):
        return 2 * x


# Verify that parametrized, replaced and functionally called factors are the ones that count.
@pytest.mark.parametrize("make", [
    lambda: knn.KSLinear(CHAINS[1], dtype=torch.float64),
    lambda: knn.KronLinear([2, 3], [3, 2], dtype=torch.float64)])
def test_factors_that_are_not_plain_parameters(make):
    module = make()
    x = torch.randn(4, 6, dtype=torch.float64)
    bias = module.bias.detach()
    plain = module(x).detach() - bias
    values = {name: 3 * value if name == "factors.0" else value
              for name, value in module.named_parameters()}
    torch.testing.assert_close(torch.func.functional_call(module, values, (x,)) - bias,
                               3 * plain)
    torch.nn.utils.parametrize.register_parametrization(module.factors, "0", _Doubled())
    torch.nn.utils.parametrize.register_parametrization(module, "bias", _Doubled())
    torch.testing.assert_close(module(x) - 2 * bias, 2 * plain)
    module(x).sum().backward()
    assert all(p.grad is not None for p in module.parameters())
