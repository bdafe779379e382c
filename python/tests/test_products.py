"""mkm, kmm and batched against NumPy.

SPDX-License-Identifier: MIT
"""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import kron

ids = [np.dtype(d).name for d in reference.DTYPES]
sizes = st.integers(1, 5)
transposes = st.sampled_from(["N", "T", "C"])


def stored(rng, shape, dtype, trans):
    """A random operand whose op() has `shape`."""
    if trans != "N":
        shape = shape[:-2] + (shape[-1], shape[-2])
    return reference.random(rng, shape, dtype)


def scramble(rng, array, kind):
    """The same elements with another layout in memory."""
    if kind == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if kind == "strided":
        wide = np.zeros(array.shape[:-1] + (array.shape[-1] * 2,), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind == "rows":
        wide = np.zeros(array.shape[:-1] + (array.shape[-1] + 3,), array.dtype)
        wide[..., :-3] = array
        return wide[..., :-3]
    return array


layouts = st.sampled_from(["plain", "plain", "reversed", "strided", "fortran", "rows"])


@given(st.data())
def test_mkm_and_kmm(data):
    name = data.draw(st.sampled_from(["mkm", "kmm"]))
    dtype = data.draw(st.sampled_from(reference.DTYPES))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    count = data.draw(st.integers(1, 4))
    pairs = [(data.draw(sizes), data.draw(sizes)) for _ in range(count)]
    trans_x = data.draw(transposes)
    trans = [data.draw(transposes) for _ in range(count)]
    batch = data.draw(st.sampled_from([(), (), (3,), (2, 3), (1, 3), (0,)]))
    p, q = np.prod([a for a, _ in pairs]), np.prod([b for _, b in pairs])
    m = data.draw(st.integers(0, 9))
    core = (m, p) if name == "mkm" else (p, m)
    x = scramble(rng, stored(rng, batch + core, dtype, trans_x), data.draw(layouts))
    factors = []
    for (a, b), t in zip(pairs, trans):
        own = data.draw(st.sampled_from([(), (), batch, (1,)])) if batch else ()
        shape = own + ((a, b) if name == "mkm" else (b, a))
        factors.append(scramble(rng, stored(rng, shape, dtype, t), data.draw(layouts)))
    result = getattr(kron, name)(x, factors, trans_x=trans_x, trans_factors=trans)
    expected = getattr(reference, name)(x, factors, trans_x, trans)
    terms = getattr(reference, name)(np.abs(x), [np.abs(f) for f in factors], trans_x, trans)
    reference.check(result, expected, dtype, np.linalg.norm(np.ravel(terms)))


@given(st.data())
def test_batched(data):
    dtype = data.draw(st.sampled_from(reference.DTYPES))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    count = data.draw(st.integers(1, 3))
    pairs = [(data.draw(sizes), data.draw(sizes)) for _ in range(count)]
    batch = data.draw(st.sampled_from([(), (4,), (2, 3), (0,)]))
    x = reference.random(rng, batch + tuple(a for a, _ in pairs), dtype)
    factors = [reference.random(rng, (b, a), dtype) for a, b in pairs]
    x = scramble(rng, x, data.draw(layouts))
    result = kron.batched(x, factors)
    rows = x.reshape(batch + (-1, 1)) if x.size or not batch else np.zeros(
        batch + (int(np.prod([a for a, _ in pairs])), 1), dtype)
    expected = reference.kmm(rows, factors).reshape(batch + tuple(b for _, b in pairs))
    terms = reference.kmm(np.abs(rows), [np.abs(f) for f in factors])
    reference.check(result, expected, dtype, np.linalg.norm(np.ravel(terms)))


VARYING = [((3,), [(3,), ()]), ((5,), [(5,), ()]), ((2, 3), [(3,), ()]), ((2, 3), [(2, 1), (1, 3)]),
           ((2, 3), [(2, 3), (2, 3)]), ((), [(3,), ()]), ((4, 1), [(1, 5), (4, 1)])]


# Verify factors with a matrix for each position of some axes of the batch, one after another
# in calls that differ in sizes or axes only, which kernels are made for.
@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.int32])
@pytest.mark.parametrize("name", ["mkm", "kmm", "batched"])
def test_factors_that_vary_over_the_batch(name, dtype):
    rng = np.random.default_rng(3)
    for batch, own in VARYING:
        sizes = [(3, 2), (4, 5)] if name == "mkm" else [(2, 3), (5, 4)]
        factors = [reference.random(rng, b + s, dtype) for b, s in zip(own, sizes)]
        core = {"mkm": (6, 12), "kmm": (12, 6), "batched": (3, 4)}[name]
        x = reference.random(rng, batch + core, dtype)
        result = getattr(kron, name)(x, factors)
        if name == "batched":
            x = x.reshape(batch + (12, 1))
        expected = getattr(reference, "mkm" if name == "mkm" else "kmm")(x, factors)
        reference.check(result, expected.reshape(result.shape), dtype, 100)


@pytest.mark.parametrize("dtype", reference.DTYPES, ids=ids)
@pytest.mark.parametrize("kind", ["none", "z", "z_is_out", "z_broadcast"])
def test_scaling(dtype, kind):
    rng = np.random.default_rng(7)
    x = reference.random(rng, (6, 12), dtype)
    factors = [reference.random(rng, s, dtype) for s in ((3, 2), (4, 5))]
    z = reference.random(rng, (1, 10) if kind == "z_broadcast" else (6, 10), dtype)
    alpha, beta = (2, -3) if np.dtype(dtype).kind == "i" else (0.5, -1.5)
    expected = alpha * reference.mkm(x, factors)
    options = {"alpha": alpha}
    if kind != "none":
        expected = expected + beta * reference.wide(z)
        options.update(beta=beta, z=z)
    if kind == "z_is_out":
        options["out"] = z
    result = kron.mkm(x, factors, **options)
    assert (result is z) == (kind == "z_is_out")
    reference.check(result, expected, dtype, 3 * np.linalg.norm(np.ravel(expected)))


def test_one_kernel_serves_all_batch_sizes():
    factors = [np.eye(7), np.ones((2, 3))]
    kron.mkm(np.ones((1, 14)), factors)
    misses = kron.cache.info().misses
    for m in (0, 1, 2, 17, 333):
        assert kron.mkm(np.ones((m, 14)), factors).shape == (m, 21)
    assert kron.mkm(np.ones((3, 4, 14)), factors).shape == (3, 4, 21)
    assert kron.cache.info().misses == misses


@pytest.mark.parametrize("name", ["mkm", "kmm"])
def test_vector(name):
    rng = np.random.default_rng(3)
    factors = [rng.standard_normal((4, 4)), rng.standard_normal((3, 3))]
    x = rng.standard_normal(12)
    result = getattr(kron, name)(x, factors)
    dense = np.kron(*factors)
    np.testing.assert_allclose(result, x @ dense if name == "mkm" else dense @ x)
    out = np.empty(12)
    assert getattr(kron, name)(x, factors, z=x, beta=2, out=out) is out
    np.testing.assert_allclose(out, result + 2 * x)


def test_nonfinite_values_propagate():
    factors = [np.eye(2), np.eye(3)]
    x = np.ones((2, 6))
    x[0, 0], x[1, 5] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        expected = x @ np.kron(*factors)
    np.testing.assert_array_equal(np.isnan(kron.mkm(x, factors)), np.isnan(expected))
    # beta == 0 never reads z, alpha == 0 neither x nor factors.
    z = np.full((2, 6), np.nan)
    assert not np.isnan(kron.mkm(np.ones((2, 6)), factors, beta=0, z=z)).any()
    assert not kron.mkm(x, factors, alpha=0.0).any()


def test_promotion():
    x, f = np.ones((2, 4), np.float32), np.ones((4, 4))
    assert kron.mkm(x, [f]).dtype == np.float64
    assert kron.mkm(x.astype(np.int64), [f.astype(np.complex64)]).dtype == np.complex128
    assert kron.mkm([[1, 2], [3, 4]], [[[0, 1], [1, 0]]]).tolist() == [[2, 1], [4, 3]]


def test_byte_order_and_alignment():
    x = np.arange(12.0).reshape(2, 6)
    factors = [np.ones((2, 2)), np.eye(3)]
    expected = x @ np.kron(*factors)
    np.testing.assert_array_equal(kron.mkm(x.astype(">f8"), factors), expected)
    storage = np.zeros(12 * 8 + 1, np.uint8)
    odd = storage[1:].view(np.float64).reshape(2, 6)
    odd[...] = x
    np.testing.assert_array_equal(kron.mkm(odd, factors), expected)


def test_zero_size_factors():
    assert kron.mkm(np.ones((3, 0)), [np.ones((0, 2))]).tolist() == [[0, 0]] * 3
    z = np.ones((3, 2))
    assert kron.mkm(np.ones((3, 0)), [np.ones((0, 2))], beta=2, z=z).tolist() == [[2, 2]] * 3
    assert kron.mkm(np.ones((3, 2)), [np.ones((2, 0))]).shape == (3, 0)


@pytest.mark.parametrize("dtype", ("float32", "complex64"))
def test_beta_of_zero_without_z(dtype):
    x = np.arange(12, dtype=dtype).reshape(2, 6)
    factors = [np.eye(2, dtype=dtype), np.eye(3, dtype=dtype)]
    np.testing.assert_array_equal(kron.mkm(x[:, ::-1], factors, beta=0), x[:, ::-1])
    expected = x.copy()
    assert kron.mkm(x, factors, beta=0, out=x) is x
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("kind", ["fortran", "strided", "reversed", "overlap"])
def test_out(kind):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((6, 6))
    factors = [rng.standard_normal((2, 2)), rng.standard_normal((3, 3))]
    expected = x @ np.kron(*factors)
    out = {"fortran": np.empty((6, 6), order="F"), "strided": np.empty((6, 12))[:, ::2],
           "reversed": np.empty((6, 6))[::-1], "overlap": x}[kind]
    assert kron.mkm(x, factors, out=out) is out
    np.testing.assert_allclose(out, expected)


def test_precision():
    x, factors = np.ones((3, 4), np.float32), [np.ones((2, 2), np.float32)] * 2
    for precision in ("full", "ieee", "tf32"):
        assert (kron.mkm(x, factors, precision=precision) == 4).all()


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int32])
@pytest.mark.parametrize("trans_x", ["N", "T", "C"])
@pytest.mark.parametrize("trans", ["N", "T", "C"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("batch, factor_batch", [((), ()), ((2, 3), ()), ((2, 3), (3,))])
def test_kmm_of_few_columns(batch, factor_batch, columns, trans, trans_x, dtype):
    rng = np.random.default_rng(0)
    x = stored(rng, batch + (24, columns), dtype, trans_x)
    factors = [stored(rng, factor_batch + (q, p), dtype, trans)
               for p, q in [(2, 3), (4, 2), (3, 3)]]
    expected = reference.kron_all([reference.op(reference.wide(f), trans) for f in factors]) \
        @ reference.op(reference.wide(x), trans_x)
    z = reference.random(rng, expected.shape, dtype)
    result = kron.kmm(x, factors, trans_x=trans_x, trans_factors=trans, alpha=2, beta=3, z=z)
    np.testing.assert_allclose(result, 2 * expected + 3 * reference.wide(z), atol=1e-12)
    # Into columns of a matrix, of which nothing else changes.
    wide = np.zeros(expected.shape[:-1] + (columns + 2,), dtype)
    kron.kmm(x, factors, trans_x=trans_x, trans_factors=trans, out=wide[..., 1:-1])
    np.testing.assert_allclose(wide[..., 1:-1], expected, atol=1e-12)
    assert not wide[..., [0, -1]].any()
