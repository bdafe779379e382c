"""ksmm and ksmm_chain against NumPy.

SPDX-License-Identifier: MIT
"""

from math import erf

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import kron
from kron import _build, _compile, _core

ids = [np.dtype(d).name for d in reference.DTYPES]
sizes = st.integers(1, 4)


@given(st.data())
def test_ksmm(data):
    dtype = data.draw(st.sampled_from(reference.DTYPES))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    pattern = tuple(data.draw(sizes) for _ in range(4))
    layout = data.draw(st.sampled_from(["batch_first", "batch_last"]))
    trans = data.draw(st.sampled_from(["N", "T", "C"]))
    batch = data.draw(st.sampled_from([(5,), (), (0,), (2, 3)]))
    a, b, c, d = pattern
    inputs = a * c * d if trans == "N" else a * b * d
    shape = batch + (inputs,) if layout == "batch_first" else (inputs,) + batch
    x = reference.random(rng, shape, dtype)
    if data.draw(st.booleans()):
        x = np.asfortranarray(x)
    weights = reference.random(rng, pattern, dtype)
    result = kron.ksmm(x, weights, pattern, layout, trans_weights=trans)
    terms = reference.ksmm(np.abs(x), np.abs(weights), layout, trans)
    reference.check(result, reference.ksmm(x, weights, layout, trans), dtype,
                    np.linalg.norm(np.ravel(terms)))


def gelu(v):
    return v / 2 * (1 + np.vectorize(erf)(v / np.sqrt(2)))


ACTIVATIONS = {"identity": lambda v: v, "relu": lambda v: np.maximum(v, 0), "gelu": gelu,
               "silu": lambda v: v / (1 + np.exp(-v))}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_epilogue(activation, layout):
    rng = np.random.default_rng(1)
    pattern = (2, 3, 4, 5)
    x = rng.standard_normal((7, 40))
    weights, bias = rng.standard_normal(pattern), rng.standard_normal(30)
    residual, z = rng.standard_normal((7, 30)), rng.standard_normal((7, 30))
    v = 1.5 * reference.ksmm(x, weights) - 2 * z
    expected = 0.25 * ACTIVATIONS[activation](v + bias) + residual
    options = dict(bias=bias, alpha=1.5, beta=-2, epilogue=activation, scale=0.25)
    if layout == "batch_first":
        result = kron.ksmm(x, weights, pattern, residual=residual, z=z, **options)
    else:
        result = kron.ksmm(x.T, weights, pattern, layout, residual=residual.T, z=z.T, **options).T
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    if layout == "batch_first":
        del options["epilogue"], options["scale"]
        same = kron.ksmm(x, weights, pattern, z=z, **options,
                         epilogue={"activation": activation, "scale": 0.25,
                                   "residual": residual})
        np.testing.assert_array_equal(same, result)


@pytest.mark.parametrize("dtype", reference.DTYPES, ids=ids)
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_chain(dtype, layout):
    rng = np.random.default_rng(2)
    patterns = [(1, 4, 6, 5), (2, 3, 2, 5), (3, 5, 2, 5)]
    weights = [reference.random(rng, pattern, dtype) for pattern in patterns]
    x = reference.random(rng, (9, 30) if layout == "batch_first" else (30, 9), dtype)
    bias = reference.random(rng, (75,), dtype)
    expected, terms = x, np.abs(x)
    for own in weights:
        expected = reference.ksmm(expected, own, layout)
        terms = reference.ksmm(terms, np.abs(own), layout)
    wide_bias = reference.wide(bias)
    expected = expected + (wide_bias if layout == "batch_first" else wide_bias[:, None])
    result = kron.ksmm_chain(x, weights, patterns, layout, bias=bias)
    # Each factor may round its result to the type.
    reference.check(result, expected, dtype, np.linalg.norm(np.ravel(terms)))
    out = np.asarray(result.copy())
    assert kron.ksmm_chain(x, weights, layout=layout, bias=bias, out=out) is out
    np.testing.assert_array_equal(out, result)


def test_chain_in_place():
    rng = np.random.default_rng(3)
    weights = [rng.standard_normal((2, 3, 3, 2)), rng.standard_normal((1, 4, 4, 3))]
    x, z = rng.standard_normal((5, 12)), rng.standard_normal((5, 12))
    expected = reference.ksmm(reference.ksmm(x, weights[0]), weights[1]) + 0.5 * z
    assert kron.ksmm_chain(x, weights, beta=0.5, z=z, out=z) is z
    np.testing.assert_allclose(z, expected)


def test_weights_with_strides_after_row_major_ones():
    """A kernel for row-major weights is not taken for others of the same sizes."""
    rng = np.random.default_rng(5)
    x = reference.random(rng, (7, 2 * 6 * 3), np.float32)
    every_other = reference.random(rng, (2, 10, 6, 3), np.float32)[:, ::2]
    for weights in (np.ascontiguousarray(every_other), every_other):
        terms = reference.ksmm(np.abs(x), np.abs(weights), "batch_first", "N")
        reference.check(kron.ksmm(x, weights), reference.ksmm(x, weights, "batch_first", "N"),
                        np.float32, np.linalg.norm(np.ravel(terms)))


def test_chain_with_strided_weights():
    """Weights of a chain may have any outer strides, whatever those of the call before."""
    rng = np.random.default_rng(6)
    x = reference.random(rng, (7, 2 * 6 * 3), np.float32)
    first = reference.random(rng, (2, 10, 6, 3), np.float32)[:, ::2]
    second = reference.random(rng, (1, 4, 30, 2), np.float32)[:, :, ::2]
    for weights in ([np.ascontiguousarray(first), np.ascontiguousarray(second)],
                    [first, second]):
        expected = x
        for factor in weights:
            expected = reference.ksmm(expected, factor, "batch_first", "N")
        terms = np.abs(x)
        for factor in weights:
            terms = reference.ksmm(terms, np.abs(factor), "batch_first", "N")
        reference.check(kron.ksmm_chain(x, weights), expected, np.float32,
                        np.linalg.norm(np.ravel(terms)))


@pytest.mark.parametrize("is_chain", [False, True])
@pytest.mark.parametrize("first", ["row-major", "with gaps"])
def test_row_major_arrays_have_a_kernel_of_their_own(is_chain, first):
    """Where all arrays are row-major the kernel is compiled for nothing else, which others
    are not given to."""
    rng = np.random.default_rng(7)
    weights = [rng.standard_normal((1, 5, 2, 7)), rng.standard_normal((1, 3, 5, 7))]
    weights = weights[:1 + is_chain]
    arrays = {"row-major": rng.standard_normal((11, 14)),
              "with gaps": rng.standard_normal((11, 20))[:, :14]}
    promised = []
    _core.forget_kernels()
    for layout in sorted(arrays, key=lambda layout: layout != first):
        for _ in range(2):
            expected = x = arrays[layout]
            for factor in weights:
                expected = reference.ksmm(expected, factor)
            with _build.recording() as calls:
                np.testing.assert_allclose(kron.ksmm_chain(x, weights) if is_chain else
                             kron.ksmm(x, weights[0]), expected)
            promised += ["kron.row_major" in _compile.compiler().Compilation(program).text
                         for program, _ in calls]
    # Each was compiled once.
    assert promised == ([True, False] if first == "row-major" else [False, True])


def test_batch_dimensions_that_do_not_merge():
    rng = np.random.default_rng(4)
    weights = rng.standard_normal((1, 2, 3, 2))
    x = rng.standard_normal((4, 5, 6)).transpose(1, 0, 2)
    np.testing.assert_allclose(kron.ksmm(x, weights), reference.ksmm(x, weights))
    np.testing.assert_allclose(kron.ksmm_chain(x, [weights]), reference.ksmm(x, weights))
