"""Rows of 8 bits with a scale, and products of arrays of 8 bits.

SPDX-License-Identifier: MIT
"""

import re

import ml_dtypes
import numpy as np
import pytest

import kron

LARGEST = {"int8": 127, "float8_e4m3fn": 448, "float8_e5m2": 57344}
DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
INPUTS = DTYPES | {"float64": np.float64}


def quantized(x, kind):
    """What kron.quantize's description says, in float32, or in float64 of it."""
    real = np.float64 if x.dtype == np.float64 else np.float32
    wide = np.asarray(x, real)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        largest = np.abs(wide).max(-1, keepdims=True)
        scale = largest / real(LARGEST[kind])
        scale[scale < real(2.0**-126)] = 0
        scale[~np.isfinite(largest)] = np.nan
        q = wide * (real(1) / scale)
        q[np.broadcast_to(~(scale > 0), q.shape)] = 0
    if kind == "int8":
        return np.rint(q).astype(np.int8), scale[..., 0]
    return np.clip(q, -LARGEST[kind], LARGEST[kind]).astype(getattr(ml_dtypes, kind)), scale[..., 0]


def check(x, kind):
    q, scale = kron.quantize(x, kind)
    expected_q, expected_scale = quantized(x, kind)
    assert q.shape == x.shape and scale.shape == x.shape[:-1]
    assert q.dtype == expected_q.dtype and scale.dtype == expected_scale.dtype
    np.testing.assert_array_equal(scale, expected_scale)
    np.testing.assert_array_equal(q.astype(np.float32), expected_q.astype(np.float32))


# Verify the bits of q and scale for all types and for rows of all lengths.
@pytest.mark.parametrize("kind", LARGEST)
@pytest.mark.parametrize("dtype", INPUTS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (2, 3, 64), (33, 129), (0, 8), (5,)])
def test_bits(kind, dtype, shape):
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, (*shape[:-1], 1))
    check(x.astype(INPUTS[dtype]), kind)


# Verify ties, which go to even, subnormal numbers and both signs of the largest.
@pytest.mark.parametrize("kind", LARGEST)
def test_ties(kind):
    codes = np.arange(-2 * LARGEST[kind], 2 * LARGEST[kind] + 1, LARGEST[kind] / 127)
    small = LARGEST[kind] * 2.0 ** -np.arange(40)
    row = np.concatenate([codes / 2, small, -small, 1.5 * small, small[20:] * 1.25,
                          np.linspace(-small[8], small[8], 999)])
    check(np.clip(row, -LARGEST[kind], LARGEST[kind])[None].astype(np.float32), kind)


# Verify rows without a usable scale, and that rows beside them do not change.
@pytest.mark.parametrize("kind", LARGEST)
def test_special_rows(kind):
    x = np.ones((6, 40), np.float32)
    x[0], x[1, 3], x[2, 5], x[3] = 0, np.nan, -np.inf, 1e-44
    x[4, 7] = -2
    q, scale = kron.quantize(x, kind)
    check(x, kind)
    assert scale[0] == scale[3] == 0 and np.isnan(scale[1]) and np.isnan(scale[2])
    assert not q[:4].astype(np.float32).any()
    assert q[4, 7].astype(np.float32) == -LARGEST[kind] and scale[4] > 0


def test_not_contiguous():
    x = np.random.default_rng(1).standard_normal((8, 6, 10)).astype(np.float32)
    check(x.transpose(2, 0, 1), "int8")
    check(x[:, ::2, 1:7], "int8")


# Verify that a rotation gives the 8 bits of what it gives without.
@pytest.mark.parametrize("kind", LARGEST)
@pytest.mark.parametrize("dtype", INPUTS)
@pytest.mark.parametrize("n", [64, 12, 640])
def test_rotation(kind, dtype, n):
    x = np.random.default_rng(n).standard_normal((3, 5, n)).astype(INPUTS[dtype])
    q, scale = kron.rotations.Rotation(n, quantize=kind)(x)
    expected_q, expected_scale = quantized(kron.rotations.Rotation(n)(x), kind)
    np.testing.assert_array_equal(scale, expected_scale)
    np.testing.assert_array_equal(q.astype(np.float32), expected_q.astype(np.float32))


def test_rotation_and_back():
    rotate = kron.rotations.Rotation(896, quantize="int8")
    x = np.random.default_rng(2).standard_normal((9, 896)).astype(np.float32)
    q, scale = rotate(x)
    back = rotate.inverse(q.astype(np.float32) * scale[:, None])
    assert np.linalg.norm(back - x) < 0.01 * np.linalg.norm(x)


@pytest.mark.parametrize("call, message", [
    (lambda: kron.quantize(np.ones((2, 2), np.float32), "int4"),
     "expects dtype to be one of int8, float8_e4m3fn, float8_e5m2, but got 'int4'"),
    (lambda: kron.quantize(np.ones((2, 2), int)),
     "expects x to have dtype float32, float64, float16, bfloat16, but got int64"),
    (lambda: kron.quantize([1.0]), "expects x to be a NumPy array or a PyTorch tensor, but got list"),
    (lambda: kron.quantize(np.ones((2, 0), np.float32)), "expects x to have rows that are not empty"),
    (lambda: kron.rotations.Rotation(8, quantize="i8"), "expects dtype to be one of"),
    (lambda: kron.rotations.Rotation(8, quantize="int8")(np.ones((2, 4), np.float32)),
     "expects the last axis to have size 8"),
    # Of products by function only ksmm takes arrays of 8 bits.
    (lambda: kron.mkm(np.ones((2, 4), np.int8), [np.ones((4, 4), np.int8)]),
     "expects x to have dtype float32"),
    (lambda: kron.mkm(np.ones((2, 4), ml_dtypes.float8_e5m2), [np.ones((4, 4), np.float32)]),
     "expects x to have dtype float32"),
    (lambda: kron.ksmm(np.ones((2, 4), ml_dtypes.float8_e5m2), np.ones((1, 4, 4, 1))),
     "expects arrays beside those of 8 bits to have one dtype of float32, float16, bfloat16, "
     "but got float64"),
    (lambda: kron.ksmm(np.ones((2, 5), ml_dtypes.float8_e5m2), np.ones((1, 4, 4, 1), np.float32)),
     "expects x to have 4 features on its last axis, but got shape (2, 5)"),
    (lambda: kron.ksmm(np.ones((2, 4), ml_dtypes.float8_e5m2), np.ones((1, 4, 4, 1), np.float32),
                       bias=np.ones(3, np.float32)), "expects bias to have shape (4,), but got (3,)"),
    (lambda: kron.ksmm(np.ones((2, 4), ml_dtypes.float8_e5m2), np.ones((1, 4, 4, 1), np.float32),
                       beta=2), "expects z when beta is not 0, but got beta=2.0 alone"),
    (lambda: kron.ksmm(np.ones((2, 4), ml_dtypes.float8_e5m2), np.ones((1, 4, 4, 1), np.float32),
                       alpha=1j), "expects alpha to be a real number, but got complex"),
    (lambda: kron.ksmm(np.ones((2, 4), ml_dtypes.float8_e5m2), np.ones((1, 4, 4, 1), np.float32),
                       scale=2, epilogue={"scale": 3}),
     "expects scale once, but it is in epilogue too"),
])
def test_bad_input(call, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        call()


# Verify products of arrays of 8 bits, with the scales' product known at run time.
@pytest.mark.parametrize("x_type, k_type", [("float8_e4m3fn", "float8_e4m3fn"),
                                            ("float8_e5m2", "float8_e4m3fn"),
                                            ("float8_e4m3fn", None), (None, "float8_e5m2")])
@pytest.mark.parametrize("result", ["float32", "float16", "bfloat16"])
def test_ksmm_float8(x_type, k_type, result):
    names = {"float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2", "float32": "f32",
             "float16": "f16", "bfloat16": "bf16"}

    def dtype(name):
        return DTYPES.get(name) or getattr(ml_dtypes, name)

    x_type, k_type = x_type or result, k_type or result
    a, b, c, d = 2, 8, 16, 3
    rng = np.random.default_rng(5)
    x = rng.standard_normal((37, a * c * d)).astype(dtype(x_type))
    k = rng.standard_normal((a, b, c, d)).astype(dtype(k_type))
    xt, kt, yt = (f"memref<{shape}x{names[name]}>" for shape, name in
                  ((f"?x{a * c * d}", x_type), (f"{a}x{b}x{c}x{d}", k_type),
                   (f"?x{a * b * d}", result)))
    multiply = kron.compile(
        f"func.func @main(%x: {xt}, %k: {kt}, %s: f32, %y: {yt}) {{\n"
        f"  kron.ksmm ins(%x : {xt}) weights(%k : {kt}) outs(%y : {yt}) alpha(%s : f32)\n"
        f"  return\n}}\n")["main"]
    y = multiply(x, k, 0.25)
    assert y.dtype == dtype(result)
    exact = 0.25 * np.einsum("nikt,ijkt->nijt", x.astype(float).reshape(37, a, c, d),
                             k.astype(float)).reshape(37, -1)
    error = np.linalg.norm(y.astype(float) - exact) / np.linalg.norm(exact)
    assert error < {"float32": 1e-6, "float16": 5e-4, "bfloat16": 4e-3}[result]


# Verify kron.ksmm on arrays of 8 bits: types of the result, both layouts, transposed weights
# and all that is done to the product.
@pytest.mark.parametrize("x_type, k_type, result", [
    ("float8_e4m3fn", "float8_e5m2", None), ("float8_e4m3fn", "float16", None),
    ("float32", "float8_e5m2", None), ("float8_e5m2", "float8_e5m2", "bfloat16")])
@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
@pytest.mark.parametrize("trans", [False, True])
def test_ksmm_function(x_type, k_type, result, layout, trans):
    def dtype(name):
        return np.dtype(DTYPES.get(name) or getattr(ml_dtypes, name))

    a, b, c, d = pattern = 2, 3, 4, 5
    inputs, outputs = (b, c) if trans else (c, b)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((6, a * inputs * d)).astype(dtype(x_type))
    k = rng.standard_normal(pattern).astype(dtype(k_type))
    exact = np.einsum("nikt,ijkt->nijt", x.astype(float).reshape(6, a, inputs, d),
                      (k.swapaxes(1, 2) if trans else k).astype(float)).reshape(6, -1)
    expected = result or next((n for n in (x_type, k_type) if n in DTYPES), "float32")
    tolerance = {"float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3}[expected]

    def place(array):
        return array if layout == "batch_first" else np.ascontiguousarray(array.T)

    def check_against(y, reference):
        assert y.dtype == dtype(expected)
        error = np.linalg.norm(place(y.astype(float)) - reference)
        assert error <= tolerance * np.linalg.norm(reference)

    out = None if result is None else place(np.empty((6, a * outputs * d), dtype(result)))
    y = kron.ksmm(place(x), k, pattern, layout, trans_weights=trans, out=out)
    assert out is None or y is out
    check_against(y, exact)
    z = rng.standard_normal(exact.shape).astype(dtype(expected))
    residual = rng.standard_normal(exact.shape).astype(dtype(expected))
    bias = rng.standard_normal(exact.shape[1]).astype(dtype(expected))
    y = kron.ksmm(place(x), k, pattern, layout, bias=bias, z=place(z), alpha=0.5, beta=-2,
                  epilogue="relu", scale=3, residual=place(residual), trans_weights=trans)
    v = 0.5 * exact - 2 * z.astype(float) + bias.astype(float)
    check_against(y, 3 * np.maximum(v, 0) + residual.astype(float))


def test_all_codes():
    """Every number of 8 bits is widened to what ml_dtypes says."""
    for name, kind in (("f8E4M3FN", "float8_e4m3fn"), ("f8E5M2", "float8_e5m2")):
        dtype = np.dtype(getattr(ml_dtypes, kind))
        codes = np.arange(256, dtype=np.uint8).view(dtype)[:, None]
        widen = kron.compile(
            f"func.func @main(%x: memref<?x1x{name}>, %k: memref<1x1x1x1xf32>, "
            f"%y: memref<?x1xf32>) {{\n"
            f"  kron.ksmm ins(%x : memref<?x1x{name}>) weights(%k : memref<1x1x1x1xf32>) "
            f"outs(%y : memref<?x1xf32>)\n  return\n}}\n")["main"]
        y = widen(codes, np.ones((1, 1, 1, 1), np.float32))
        np.testing.assert_array_equal(y, codes.astype(np.float32))
