# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Values against materialised products, and arguments that are wrong."""

import math

import bad_calls
import kron
import numpy as np
import pytest
import torch_reference as reference
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kron.torch as kt

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
COMPLEX = [torch.complex64, torch.complex128]
PROPERTY = settings(max_examples=60, deadline=None,
                    suppress_health_check=[HealthCheck.too_slow])


def random(shape, dtype):
    if dtype in (torch.int32, torch.int64):
        return torch.randint(-4, 5, shape, dtype=dtype)
    return torch.randn(shape, dtype=torch.complex128 if dtype in COMPLEX
                       else torch.float64).to(dtype)


def widen(array):
    wide = torch.complex128 if array.is_complex() else torch.float64
    return array.to(wide) if array.dtype not in (torch.int32, torch.int64) else array


def strided(array, kind):
    """The same values in other memory."""
    if kind == 1 and array.dim() >= 2:
        return array.mT.contiguous().mT
    if kind == 2:
        wide = array.new_zeros(*array.shape[:-1], 2 * array.shape[-1])
        wide[..., ::2] = array
        return wide[..., ::2]
    return array


def compare(actual, expected, dtype):
    assert actual.dtype == dtype and actual.shape == expected.shape
    if dtype in (torch.int32, torch.int64):
        assert torch.equal(actual, expected)
    elif expected.numel():
        assert reference.error(actual, expected) <= reference.bound(dtype)


@st.composite
def products(draw):
    kind = draw(st.sampled_from(["mkm", "kmm", "batched"]))
    dtype = draw(st.sampled_from(FLOATS + COMPLEX + [torch.int32, torch.int64]))
    count = draw(st.integers(1, 3))
    p = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
    q = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
    batch = draw(st.sampled_from([(), (2,), (2, 3), (1, 3), (0,)]))
    factor_batch = draw(st.sampled_from([(), (), batch, (1,) * len(batch)]))
    rows = draw(st.integers(0, 5))
    trans_x = draw(st.sampled_from("NTC"))
    trans = [draw(st.sampled_from("NTC")) for _ in range(count)]
    core = {"mkm": (rows, math.prod(p)), "kmm": (math.prod(p), rows),
            "batched": tuple(p)}[kind]
    core = core if trans_x == "N" else core[::-1]
    torch.manual_seed(draw(st.integers(0, 999)))
    x = strided(random((*batch, *core), dtype), draw(st.integers(0, 2)))
    factors = []
    for p_, q_, letter in zip(p, q, trans):
        shape = (p_, q_) if (kind == "mkm") == (letter == "N") else (q_, p_)
        factors.append(strided(random((*factor_batch, *shape), dtype),
                               draw(st.integers(0, 2))))
    return kind, dtype, x, factors, trans_x, trans


@PROPERTY
@given(products(), st.booleans())
def test_products(arguments, scaled):
    kind, dtype, x, factors, trans_x, trans = arguments
    options = {"trans_x": trans_x, "trans_factors": trans}
    scaling = {"alpha": 2, "beta": -3} if scaled else {}
    plain = getattr(kt, kind)(x, factors, **options)
    if scaled:
        scaling["z"] = random(plain.shape, dtype)
    actual = getattr(kt, kind)(x, factors, **options, **scaling)
    wide = {k: widen(v) if k == "z" else v for k, v in scaling.items()}
    expected = reference.product(kind, widen(x), [widen(f) for f in factors],
                                 trans_x=trans_x, trans="".join(trans), **wide)
    compare(actual, expected, dtype)


@PROPERTY
@given(st.tuples(*[st.integers(1, 5)] * 4), st.sampled_from(FLOATS + COMPLEX),
       st.sampled_from(["batch_first", "batch_last"]), st.sampled_from("NTC"),
       st.sampled_from([(), (1,), (7,), (2, 3), (0,)]), st.integers(0, 2),
       st.integers(0, 999))
def test_ksmm(pattern, dtype, layout, trans, batch, stride, seed):
    torch.manual_seed(seed)
    a, b, c, d = pattern
    features = a * (c if trans == "N" else b) * d
    shape = (*batch, features) if layout == "batch_first" else (features, *batch)
    x = strided(random(shape, dtype), stride)
    weights = strided(random(pattern, dtype), stride)
    actual = kt.ksmm(x, weights, pattern, layout, trans_weights=trans)
    wide, matrix = widen(x), reference.op(reference.dense(widen(weights)), trans)
    expected = (wide @ matrix.mT if layout == "batch_first"
                else torch.tensordot(matrix, wide, 1))
    compare(actual, expected, dtype)


@pytest.mark.parametrize("epilogue", [None, "relu", "gelu", "silu"])
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_ksmm_epilogue(epilogue, layout):
    weights, bias = torch.randn(2, 3, 4, 2), torch.randn(12)
    x, z, residual = torch.randn(5, 16), torch.randn(5, 12), torch.randn(5, 12)
    inner = 0.5 * reference.ksmm(x.double(), weights.double()) - 2 * z + bias
    function = {None: lambda v: v, "relu": torch.relu, "silu": torch.nn.functional.silu,
                "gelu": torch.nn.functional.gelu}[epilogue]
    expected = 3 * function(inner) + residual
    if layout == "batch_last":
        x, z, residual = (t.mT.contiguous() for t in (x, z, residual))
        expected = expected.mT
    actual = kt.ksmm(x, weights, layout=layout, bias=bias, z=z, residual=residual,
                     alpha=0.5, beta=-2, scale=3, epilogue=epilogue)
    assert reference.error(actual, expected) < reference.bound(torch.float32)


@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_ksmm_chain(layout):
    weights = [torch.randn(3, 4, 2, 1), torch.randn(1, 5, 6, 2)]
    x = torch.randn(9, 6) if layout == "batch_first" else torch.randn(6, 9)
    bias = torch.randn(10)
    expected = x.double() if layout == "batch_first" else x.double().mT
    for weight in weights:
        expected = reference.ksmm(expected, weight.double())
    expected = expected + bias
    actual = kt.ksmm_chain(x, weights, layout=layout, bias=bias)
    expected = expected if layout == "batch_first" else expected.mT
    assert reference.error(actual, expected) < reference.bound(torch.float32)
    slow = kt.ksmm_chain(x, [w.requires_grad_() for w in weights], layout=layout,
                         bias=bias)
    torch.testing.assert_close(actual, slow.detach())


def test_package_functions_take_tensors():
    x, factors = torch.randn(4, 12), [torch.randn(3, 2), torch.randn(4, 5)]
    assert torch.equal(kron.mkm(x, factors), kt.mkm(x, factors))
    assert torch.equal(kron.kmm(x.mT, [f.mT for f in factors]),
                       kt.kmm(x.mT, [f.mT for f in factors]))
    cube = torch.randn(2, 3, 4)
    matrices = [f.mT for f in factors]
    assert torch.equal(kron.batched(cube, matrices), kt.batched(cube, matrices))
    weights = torch.randn(2, 3, 3, 2)
    assert torch.equal(kron.ksmm(x, weights), kt.ksmm(x, weights))
    assert torch.equal(kron.ksmm_chain(x, [weights]), kt.ksmm_chain(x, [weights]))


def test_out():
    x, factors = torch.randn(4, 12), [torch.randn(3, 2), torch.randn(4, 5)]
    out = torch.empty(4, 10)
    assert kt.mkm(x, factors, out=out) is out
    assert torch.equal(out, kt.mkm(x, factors))
    columns = torch.zeros(10, 8).mT[::2]
    kt.mkm(x, factors, out=columns)
    torch.testing.assert_close(columns, out)
    accumulated = out.clone()
    kt.mkm(x, factors, beta=1, z=accumulated, out=accumulated)
    torch.testing.assert_close(accumulated, 2 * out)
    square = [torch.randn(3, 3), torch.randn(4, 4)]
    inplace = x.clone()
    kt.mkm(inplace, square, out=inplace)
    assert torch.equal(inplace, kt.mkm(x, square)), "x may be out: it is copied then"


def test_out_is_checked():
    x, factors = torch.randn(4, 12), [torch.randn(3, 2), torch.randn(4, 5)]
    with pytest.raises(ValueError, match="expects out to be a torch.float32 tensor"):
        kt.mkm(x, factors, out=torch.empty(4, 9))
    with pytest.raises(ValueError, match="expects out to be a torch.float32 tensor"):
        kt.mkm(x, factors, out=torch.empty(4, 10, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="need a gradient when out is given"):
        kt.mkm(x.requires_grad_(), factors, out=torch.empty(4, 10))
    with pytest.raises(TypeError, match="expects out to be a tensor"):
        kt.mkm(x, factors, out=3)


def test_zero_copy():
    """The kernel reads views where they lie and writes where it is told."""
    base = torch.randn(8, 24)
    factors = [torch.randn(3, 3), torch.randn(4, 4)]
    out = torch.zeros(8, 24)
    kt.mkm(base[:, 6:18], factors, out=out[:, 6:18])
    torch.testing.assert_close(out[:, 6:18], kt.mkm(base[:, 6:18].clone(), factors))
    assert not out[:, :6].any() and not out[:, 18:].any()


def test_not_a_number_and_infinity():
    x, factors = torch.ones(3, 4), [torch.ones(2, 2), torch.ones(2, 2)]
    x[1, 2], x[2, 1] = math.nan, math.inf
    y = kt.mkm(x, factors)
    assert torch.isfinite(y[0]).all() and y[1].isnan().all() and y[2].isinf().all()


@pytest.mark.parametrize("call, error, message", bad_calls.CALLS)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(torch.ones)


def test_unsupported_dtype():
    with pytest.raises((TypeError, ValueError, NotImplementedError)):
        kt.mkm(torch.ones(3, 4).bool(), [torch.ones(2, 2).bool()] * 2)


def test_threads_agree():
    from concurrent.futures import ThreadPoolExecutor

    x, factors = torch.randn(64, 64), [torch.randn(8, 8), torch.randn(8, 8)]
    expected = kt.mkm(x, factors)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: kt.mkm(x, factors), range(64)):
            assert torch.equal(result, expected)


def relative_error(result, equation, *arrays):
    """In L2, against the sum of products in long double: sums of many terms in f64 are not more
    exact than what is tested."""
    exact = np.einsum(equation, *(a.numpy().astype(np.longdouble) for a in arrays))
    return float(np.linalg.norm(result.numpy() - exact) / np.linalg.norm(exact))


# Verify gradients by one axis over so many terms that most are computed in kernels of kron: few
# and many elements inside of the axis, odd ones, and what lies apart in memory.
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("outside, p, q, inside", [(600, 8, 8, 8), (130, 4, 7, 64), (700, 5, 3, 3),
                                                   (257, 16, 16, 15), (2000, 1, 2, 2),
                                                   (1024, 8, 8, 1), (9, 8, 8, 640)])
@pytest.mark.parametrize("rows", ["outside", "inside"])
def test_axis_gradient_of_many_rows(outside, p, q, inside, dtype, rows):
    x = torch.randn(outside, p, inside, dtype=dtype)
    grad = torch.randn(outside, q + 1, inside, dtype=dtype)[:, 1:]
    result = torch.ops.kron.axis_grad(x, grad, rows)
    assert result.shape == (p, q)
    assert relative_error(result, "opi,oqi->pq", x, grad) <= 16 * torch.finfo(dtype).eps


# Verify gradients by weights over no, few and many rows: in kernels of kron, whole blocks of rows
# and a remainder, and by matrix products, of rows that lie apart.
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("pattern", [(1, 6, 5, 2), (2, 7, 12, 4), (1, 9, 33, 8),
                                     (1, 4, 6, 16), (1, 3, 128, 2), (2, 3, 70, 2),
                                     (2, 5, 4, 3), (3, 8, 4, 1), (1, 300, 260, 2)])
@pytest.mark.parametrize("rows", [0, 1, 32, 33, 130])
def test_weight_gradient_of_rows(pattern, dtype, rows):
    a, b, c, d = pattern
    grad = torch.randn(rows, a * b * d + 3, dtype=dtype)[:, 3:]
    x = torch.randn(rows, a * c * d, dtype=dtype)
    result = torch.ops.kron.ksmm_weight_grad(grad, x, pattern)
    assert result.dtype == dtype and result.shape == pattern and result.is_contiguous()
    if rows == 0:
        assert not result.any()
        return
    error = relative_error(result.double(), "nabd,nacd->abcd", grad.reshape(rows, a, b, d).double(),
                           x.view(rows, a, c, d).double())
    assert error <= 16 * torch.finfo(dtype).eps


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16))
@pytest.mark.parametrize("rows", (0, 4))
@pytest.mark.parametrize("pattern", ((1, 0, 64, 8), (1, 64, 0, 8)))
def test_weight_grad_without_elements(dtype, rows, pattern):
    a, b, c, d = pattern
    result = torch.ops.kron.ksmm_weight_grad(torch.ones(rows, a * b * d, dtype=dtype),
                                             torch.ones(rows, a * c * d, dtype=dtype), pattern)
    assert result.shape == pattern and result.dtype == dtype
