# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Calls that compiled code does without PyTorch's dispatcher: the same results, and only
where nothing has to see the operation."""

import subprocess
import sys

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

import kron
import kron.torch
from kron import _core

PLAIN = torch.arange(32.0).reshape(2, 16)
FACTORS = [torch.randn(4, 4), torch.randn(4, 4)]


def expected(x, factors=FACTORS):
    return x.detach() @ torch.kron(*[f.detach().contiguous() for f in factors])


def direct(x, factors):
    return _core.direct_mkm(x, factors)


def check(result, x, factors=FACTORS):
    torch.testing.assert_close(result, expected(x, factors), rtol=1e-5, atol=1e-4)


# Verify that plain tensors and parameters are computed at once.
@pytest.mark.parametrize("wrap", [lambda t: t, lambda t: torch.nn.Parameter(t, False)])
def test_plain(wrap):
    x = wrap(PLAIN.clone())
    check(direct(x, FACTORS), x)
    check(kron.mkm(x, FACTORS), x)
    result = torch.ops.kron.mkm(x, FACTORS)
    check(result, x)
    assert type(result) is torch.Tensor and not result.requires_grad


# Verify that everything else is refused, so that PyTorch gets to see it, but for derivatives:
# such a call is a node of the graph.
def test_derivatives():
    x = PLAIN.clone().requires_grad_()
    assert direct(x, FACTORS).grad_fn.name() == "KronProductBackward"
    factors = [FACTORS[0].clone().requires_grad_(), FACTORS[1]]
    assert direct(PLAIN, factors).grad_fn.name() == "KronProductBackward"
    assert direct(x.as_subclass(_Subclass), FACTORS) is NotImplemented
    with torch.no_grad():
        check(direct(x, FACTORS), x)
    assert kron.mkm(x, FACTORS).requires_grad
    assert torch.ops.kron.mkm(x, FACTORS).requires_grad


class _Subclass(torch.Tensor):
    pass


def test_subclasses_are_not_direct():
    assert direct(PLAIN.as_subclass(_Subclass), FACTORS) is NotImplemented


class _Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.name())
        return func(*args, **(kwargs or {}))


def test_modes_see_the_operation():
    with _Seen() as mode:
        check(kron.mkm(PLAIN, FACTORS), PLAIN)
        check(torch.ops.kron.mkm(PLAIN, FACTORS), PLAIN)
    assert mode.names.count("kron::mkm") == 2


def test_profiler_sees_the_operation():
    with torch.profiler.profile() as profile:
        kron.mkm(PLAIN, FACTORS)
    assert "kron::mkm" in {event.key for event in profile.key_averages()}


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_tracing_records_the_operation():
    traced = torch.jit.trace(lambda x: kron.mkm(x, FACTORS), (PLAIN,), check_trace=False)
    check(traced(PLAIN + 1), PLAIN + 1)


# Verify that no tangent is dropped in silence.
def test_forward_mode_is_refused():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(PLAIN.clone(), torch.ones_like(PLAIN))
        with pytest.raises(NotImplementedError, match="forward-mode"):
            kron.mkm(x, FACTORS)


# Verify that lazily conjugated or negated tensors are not taken for their memory.
@pytest.mark.parametrize("function", [
    kron.mkm, torch.ops.kron.mkm,
    lambda x, f: kron.mkm(x, f, out=torch.empty(x.shape, dtype=x.dtype))])
def test_lazy_conjugates_and_negatives(function):
    factors = [torch.randn(4, 4, dtype=torch.complex64) for _ in range(2)]
    x = torch.randn(2, 16, dtype=torch.complex64)
    check(function(x.conj(), factors), x.conj(), factors)
    check(function(x, [factors[0].conj(), factors[1]]), x, [factors[0].conj(), factors[1]])
    negative = torch._neg_view(PLAIN)
    check(function(negative, FACTORS), negative)
    assert direct(negative, FACTORS) is NotImplemented
    with pytest.raises(ValueError):
        _core.raw_mkm(x.conj(), factors)


# Verify that every operand is asked, and that one given twice is not taken for one of other
# letters.
def test_operands_are_asked_one_by_one():
    negative = torch._neg_view(FACTORS[1])
    check(kron.mkm(PLAIN, [FACTORS[0], negative]), PLAIN, [FACTORS[0], negative])
    assert direct(PLAIN, [FACTORS[0], negative]) is NotImplemented
    same = [FACTORS[0]] * 2
    check(kron.mkm(PLAIN, same), PLAIN, same)
    check(kron.mkm(PLAIN, same, trans_factors=[False, True]), PLAIN, [same[0], same[0].mT])


# Verify that users write the other arguments by name, and that streams are PyTorch's.
def test_arguments_of_users():
    with pytest.raises(TypeError, match="positional"):
        kron.mkm(PLAIN, FACTORS, 2)
    with pytest.raises(TypeError, match="stream"):
        kron.mkm(PLAIN, FACTORS, stream=0)
    with pytest.raises(TypeError, match="stream"):
        kron.ksmm(PLAIN, torch.randn(1, 2, 4, 4), stream=0)


# Verify that a default device of other tensors has no say in where results are.
def test_default_device():
    with torch.device("meta"):
        check(kron.mkm(PLAIN, FACTORS), PLAIN)


def run_alone(program):
    subprocess.run([sys.executable, "-c", program], check=True)


# Verify that a function which was imported before PyTorch takes tensors all the same.
def test_functions_imported_before_pytorch():
    run_alone("""
from kron import mkm
import kron, torch
x, f = torch.randn(2, 16), torch.randn(4, 4)
for _ in range(2):
    torch.testing.assert_close(mkm(x, [f, f]), x @ torch.kron(f, f))
assert mkm is kron.mkm
compiled = torch.compile(mkm, backend="aot_eager", fullgraph=True)
torch.testing.assert_close(compiled(x, [f, f]), x @ torch.kron(f, f))
""")


# Verify that results get memory by PyTorch's dispatcher where there is no other way.
def test_memory_by_the_dispatcher():
    run_alone("""
import torch
del torch._C._dynamo.guards._empty_strided_cpu
import kron
x, f = torch.randn(2, 16), torch.randn(4, 4)
torch.testing.assert_close(kron.mkm(x, [f, f]), x @ torch.kron(f, f))
""")


# Verify that a refused direct call has the message of the checks.
def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="op\\(x\\) to have 16 columns"):
        kron.mkm(PLAIN[:, :8], FACTORS)
    with pytest.raises(TypeError, match="factors\\[1\\]"):
        kron.mkm(PLAIN, [FACTORS[0], FACTORS[1].double()])
    with pytest.raises(ValueError, match="out"):
        kron.mkm(PLAIN, FACTORS, out=torch.empty(3, 16))


# Verify the letters that an operation takes as one string.
def test_one_letter_per_factor():
    factors = [torch.randn(4, 4), torch.randn(4, 4)]
    result = torch.ops.kron.mkm(PLAIN, factors, 1, None, 0, "N", "TN")
    check(result, PLAIN, [factors[0].mT, factors[1]])
    check(_core.direct_mkm(PLAIN, factors, trans_factors="NT"), PLAIN,
          [factors[0], factors[1].mT])
