"""Every wrong argument is an exception that names it, and nothing crashes.

SPDX-License-Identifier: MIT
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kron

X = np.ones((3, 6))
F = [np.ones((2, 2)), np.ones((3, 3))]
W = np.ones((1, 2, 3, 2))


def read_only():
    array = np.empty((3, 6))
    array.flags.writeable = False
    return array


CASES = [
    (TypeError, "x", lambda: kron.mkm()),
    (TypeError, "factors", lambda: kron.mkm(X)),
    (TypeError, "nonsense", lambda: kron.mkm(X, F, nonsense=1)),
    (TypeError, "position", lambda: kron.mkm(X, F, 2)),
    (TypeError, "twice", lambda: kron.mkm(X, F, x=X)),
    (TypeError, "factors", lambda: kron.mkm(X, np.ones((2, 3, 3)))),
    (TypeError, "factors", lambda: kron.mkm(X, 3)),
    (ValueError, "factors", lambda: kron.mkm(X, [])),
    (ValueError, "factors", lambda: kron.mkm(X, [np.ones((1, 1))] * 25)),
    (ValueError, r"factors\[1\]", lambda: kron.mkm(X, [F[0], np.ones(3)])),
    (ValueError, "op\\(x\\) to have 4 columns", lambda: kron.mkm(X, [F[0], F[0]])),
    (ValueError, "rows", lambda: kron.kmm(X, F)),
    (ValueError, r"last dimensions of op\(x\)", lambda: kron.batched(X, F)),
    (ValueError, "x to have at least 2 dimensions", lambda: kron.mkm(np.float64(3), F)),
    (ValueError, "broadcast", lambda: kron.mkm(np.ones((2, 3, 6)), [np.ones((4, 2, 2)), F[1]])),
    (TypeError, "x", lambda: kron.mkm(X.astype(np.int8), F)),
    (TypeError, "x", lambda: kron.mkm(X.astype(object), F)),
    (TypeError, "x", lambda: kron.mkm(X.astype(np.longdouble), F)),
    (TypeError, "x", lambda: kron.mkm("text", F)),
    (TypeError, "x", lambda: kron.mkm(None, F)),
    (TypeError, r"factors\[0\]", lambda: kron.mkm(X, [None, F[1]])),
    (TypeError, "masked", lambda: kron.mkm(np.ma.ones((3, 6)), F)),
    (TypeError, "alpha", lambda: kron.mkm(X, F, alpha="2")),
    (TypeError, "alpha", lambda: kron.mkm(X, F, alpha=1j)),
    (TypeError, "alpha", lambda: kron.mkm(X.astype(int), [f.astype(int) for f in F], alpha=0.5)),
    (OverflowError, "alpha",
     lambda: kron.mkm(X.astype(np.int32), [f.astype(np.int32) for f in F], alpha=2**40)),
    (ValueError, "z", lambda: kron.mkm(X, F, beta=1)),
    (ValueError, "z", lambda: kron.mkm(X, F, beta=1, z=np.ones((4, 6)))),
    (TypeError, "out", lambda: kron.mkm(X, F, out=[1])),
    (TypeError, "out", lambda: kron.mkm(X, F, out=np.empty((3, 6), np.float32))),
    (ValueError, "out", lambda: kron.mkm(X, F, out=np.empty((3, 7)))),
    (ValueError, "out", lambda: kron.mkm(X, F, out=read_only())),
    (ValueError, "out", lambda: kron.mkm(X, F, out=np.lib.stride_tricks.as_strided(
        np.empty(6), (3, 6), (0, 8)))),
    (ValueError, "trans_x", lambda: kron.mkm(X, F, trans_x="H")),
    (ValueError, "trans_x", lambda: kron.mkm(X, F, trans_x=2)),
    (ValueError, "trans_factors", lambda: kron.mkm(X, F, trans_factors=["N"])),
    (ValueError, r"trans_factors\[1\]", lambda: kron.mkm(X, F, trans_factors=["N", "X"])),
    (ValueError, "precision", lambda: kron.mkm(X, F, precision="half")),
    (ValueError, "weights", lambda: kron.ksmm(X, np.ones((2, 3)))),
    (ValueError, "weights", lambda: kron.ksmm(X, np.ones((0, 2, 3, 2)))),
    (ValueError, "weights", lambda: kron.ksmm(X, W, (1, 3, 2, 2))),
    (ValueError, "features", lambda: kron.ksmm(X, np.ones((1, 2, 3, 3)))),
    (ValueError, "layout", lambda: kron.ksmm(X, W, layout="rows")),
    (ValueError, "epilogue", lambda: kron.ksmm(X, W, epilogue="tanh")),
    (ValueError, "epilogue", lambda: kron.ksmm(X, W, epilogue={"alpha": 2})),
    (TypeError, "epilogue", lambda: kron.ksmm(X * 1j, W * 1j, epilogue="relu")),
    (TypeError, "scale once", lambda: kron.ksmm(X, W, scale=2, epilogue={"scale": 2})),
    (ValueError, "bias", lambda: kron.ksmm(X, W, bias=np.ones(5))),
    (ValueError, "residual", lambda: kron.ksmm(X, W, residual=np.ones(5))),
    (ValueError, "scale", lambda: kron.ksmm(X, W, scale=np.inf)),
    (TypeError, "scale", lambda: kron.ksmm(X, W, scale="2")),
    (ValueError, "weights", lambda: kron.ksmm_chain(X, [])),
    (TypeError, "weights", lambda: kron.ksmm_chain(X, W)),
    (ValueError, r"weights\[1\]", lambda: kron.ksmm_chain(X, [W, np.ones((1, 2, 3, 2))])),
    (ValueError, "pattern", lambda: kron.ksmm_chain(X, [W], [(1, 2, 3, 2)] * 2)),
    (ValueError, "count|thread", lambda: kron.set_num_threads(0)),
    (ValueError, "expects count to be from 1 to 2147483647, but got 1000000000000$",
     lambda: kron.set_num_threads(10**12)),
    (ValueError, "expects count .* but got -1", lambda: kron.set_num_threads(-1)),
    (ValueError, "expects count .* but got 10{30}$", lambda: kron.set_num_threads(10**30)),
    (ValueError, "expects count .* but got one of thousands of digits$",
     lambda: kron.set_num_threads(10**9999)),
    (TypeError, "expects count to be an integer, but got float",
     lambda: kron.set_num_threads(2.0)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_exception(number):
    kind, text, call = CASES[number]
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("count", [17, 33, 64])
def test_too_many_axes(count):
    """Of every argument; NumPy has up to 64 and broadcasts up to 32."""
    many, one, w = np.ones((1,) * count), np.ones((1, 1)), np.ones((1, 1, 1, 1))
    calls = [lambda: kron.mkm(many, [one]), lambda: kron.kmm(many, [one]),
             lambda: kron.batched(many, [one]), lambda: kron.mkm(one, [many]),
             lambda: kron.mkm(one, [one], beta=1, z=many), lambda: kron.mkm(one, [one], out=many),
             lambda: kron.mkm(many.astype(">f8"), [one]), lambda: kron.ksmm(many, w),
             lambda: kron.ksmm(one, many), lambda: kron.ksmm(one, w, z=many, beta=1),
             lambda: kron.ksmm(one, w, bias=many), lambda: kron.ksmm(one, w, residual=many),
             lambda: kron.ksmm_chain(many, [w]), lambda: kron.ksmm_chain(one, [many])]
    if count > 32:
        calls += [lambda: kron.jit(lambda x: x + 1)(many), lambda: kron.jit(lambda x: x.T)(many),
                  lambda: kron.jit(lambda x, f: kron.mkm(x, [f]))(many, one),
                  lambda: kron.jit(lambda x: x.reshape(many.shape))(one),
                  lambda: kron.compile(lambda x: x * 2, kron.Spec(many.shape))]
    for call in calls:
        with pytest.raises(ValueError, match="dimensions|axes|shape"):
            call()


@pytest.mark.parametrize("name, value", [
    ("num_threads", 10**12), ("num_threads", -1), ("stream", -1), ("stream", 2**70)])
def test_integers_of_kernels(name, value):
    from kron import _quantize

    kernel = _quantize._kernel("f32", 8, "int8", (), -1)
    for call in (kernel, lambda **options: kernel.launch([], **options)):
        with pytest.raises(ValueError, match=f"expects {name} to be from 0 .* but got {value}$"):
            call(**{name: value})


@pytest.mark.parametrize("pattern", [
    (1, 2, 3), (1, 2, 3, 2, 1), (1, 2, 3, -2), (1, 2, 3, 2.5), (1, 2, 3, "2"), (1, 2, 3, None),
    "abcd", 7, (1, 2, 3, 2**70), (0, 0, 0, 0), [[1], 2, 3, 2], {1: 2}, float("nan")])
def test_garbage_pattern(pattern):
    with pytest.raises(ValueError, match="pattern"):
        kron.ksmm(X, W, pattern)


def test_pattern_as_other_sequences():
    for pattern in ([1, 2, 3, 2], np.array([1, 2, 3, 2]), (1.0, 2, 3, 2)):
        assert kron.ksmm(X, W, pattern).shape == (3, 4)


def test_failed_calls_leave_out_alone():
    out = np.full((3, 6), 7.0)
    with pytest.raises(ValueError):
        kron.mkm(X, [F[0], F[0]], out=out)
    assert (out == 7).all()


@given(st.integers(0, 2**32))
def test_random_views_of_one_buffer(seed):
    """Aliasing in all ways: the result is as if nothing did."""
    rng = np.random.default_rng(seed)
    buffer = rng.standard_normal(200)

    def view(shape):
        strides = [int(rng.integers(-6, 7)) for _ in shape]
        low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape))
        high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape))
        start = int(rng.integers(-low, 200 - high))
        return np.lib.stride_tricks.as_strided(buffer[start:], shape,
                                               [s * 8 for s in strides])

    x, factors = view((4, 6)), [view((2, 3)), view((3, 2))]
    z = view((4, 6))
    expected = 2 * x @ np.kron(*factors) - z
    np.testing.assert_allclose(kron.mkm(x, factors, alpha=2, beta=-1, z=z), expected, rtol=1e-11,
                               atol=1e-11)
    start = int(rng.integers(0, 170))
    out = buffer[start:start + 24].reshape(4, 6)
    result = kron.mkm(x, factors, alpha=2, beta=-1, z=z, out=out)
    np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-11)


def test_huge_sizes_are_refused():
    factor = np.lib.stride_tricks.as_strided(np.ones(1), (1, 2**40), (8, 0))
    with pytest.raises((ValueError, MemoryError)):
        kron.mkm(np.ones((1, 1)), [factor, factor])
