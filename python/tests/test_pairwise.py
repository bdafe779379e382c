"""kron.pairwise in programs of MLIR, against float64.

A result may be off by (K + 8 (p + 1)) roundings of the accumulation type in the sum of the
terms' sizes, and by one rounding of its own type. Terms are computed of the rounded inputs.

SPDX-License-Identifier: MIT
"""

import ml_dtypes
import numpy as np
import pytest
import reference

import kron

NAMES = {np.float32: "f32", np.float64: "f64", np.float16: "f16", ml_dtypes.bfloat16: "bf16"}
#: p -> (function and reduction, what it computes of a difference); 0 and inf as torch.cdist.
FUNCTIONS = {0: ("not_equal", lambda d: (d != 0) + 0 * d), 0.5: ("pow_diff(0.5)", lambda d: d**0.5),
             1: ("abs_diff", lambda d: d), 1.3: ("pow_diff(1.3)", lambda d: d**1.3),
             1.5: ("pow_diff(1.5)", lambda d: d**1.5), 2: ("square_diff", lambda d: d**2),
             3: ("pow_diff(3.0)", lambda d: d**3), np.inf: ("abs_diff reduce(max)", lambda d: d)}
SIZES = (0, 1, 2, 3, 5, 7, 8, 13, 16, 31, 49, 97)


def compiled(function, dtype, batches=("", "", ""), trans=("N", "N"), tail="", params=""):
    """The program y = pairwise(a, b) of matrices with open sizes, behind what `batches` say of a,
    b and y: an open size never stretches."""
    a, b, y = (f"tensor<{batch}?x?x{NAMES[dtype]}>" for batch in batches)
    named = [name if letter == "N" else f"{letter}({name})" for name, letter in zip(("%a", "%b"), trans)]
    argument, clause = params and ", %g: f32", params and f"params({params})"
    return kron.compile(
        f"func.func @main(%a: {a}, %b: {b}{argument}, %y: {y}) -> {y} {{\n"
        f"  %0 = kron.pairwise {function} ins({named[0]}, {named[1]} : {a}, {b}) {clause}"
        f" outs(%y : {y}) {tail} -> {y}\n  return %0 : {y}\n}}\n")["main"]


def expected(p, a, b):
    """Reduced values, and the sizes of what is summed, in float64."""
    difference = np.abs(reference.wide(a)[..., :, None, :] - reference.wide(b)[..., None, :, :])
    terms = FUNCTIONS[p][1](difference)
    if p == np.inf:
        return np.max(terms, axis=-1, initial=0)
    return terms.sum(axis=-1)


def check(p, dtype, result, a, b):
    wanted = expected(p, a, b)
    assert result.shape == wanted.shape and result.dtype == dtype
    accumulator = 2.0**-53 if dtype == np.float64 else 2.0**-24
    own = 2.0**-53 if dtype == np.float64 else float(ml_dtypes.finfo(dtype).eps) / 2
    power = 0 if p == np.inf else p
    bound = ((a.shape[-1] + 8 * (power + 1)) * accumulator + own) * wanted
    least = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    assert np.all(np.abs(reference.wide(result) - wanted) <= bound + least)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("p", FUNCTIONS)
def test_random_shapes(p, dtype):
    rng = np.random.default_rng()
    function = compiled(FUNCTIONS[p][0], dtype)
    for m, n, k in rng.choice(SIZES, (12, 3)):
        a, b = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k)))
        check(p, dtype, function(a, b, np.full((m, n), np.nan, dtype)), a, b)


def laid_out(array, letter, gap):
    """As it is or transposed, with `gap` elements between rows, half of them in front of the first one."""
    array = np.swapaxes(array, -1, -2) if letter == "T" else array
    wide = np.full((*array.shape[:-1], array.shape[-1] + gap), 7, array.dtype)
    view = wide[..., gap // 2:gap // 2 + array.shape[-1]]
    view[...] = array
    return view


@pytest.mark.parametrize("dtype", [np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("trans", [("N", "N"), ("N", "T"), ("T", "N"), ("T", "T")])
@pytest.mark.parametrize("p", [0, 1, 1.3, 2, np.inf])
def test_batches_and_layouts(p, trans, dtype):
    rng = np.random.default_rng()
    function = compiled(FUNCTIONS[p][0], dtype, ("?x1x", "?x", "?x?x"), trans)
    for m, n, k in rng.choice(SIZES[1:], (3, 3)):
        a, b = reference.random(rng, (3, 1, m, k), dtype), reference.random(rng, (5, n, k), dtype)
        for gap in (0, 1, 6):
            result = laid_out(np.full((3, 5, m, n), np.nan, dtype), "N", gap)
            given = laid_out(a, trans[0], gap), laid_out(b, trans[1], gap)
            function(*given, np.full(result.shape, np.nan, dtype), out=result)
            check(p, dtype, result, a, b)
            result[...] = 7
            assert np.all(result.base == 7), "elements between rows have changed"


@pytest.mark.parametrize("trans", [("N", "N"), ("T", "N"), ("N", "T")])
@pytest.mark.parametrize("dtype", NAMES)
def test_several_blocks_of_rows_columns_and_k(dtype, trans):
    rng = np.random.default_rng()
    for p, m, n, k in ((1, 259, 50, 3), (2, 9, 101, 3001), (3, 600, 17, 16), (np.inf, 17, 33, 5000)):
        function = compiled(FUNCTIONS[p][0], dtype, trans=trans)
        a, b = (rng.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (n, k)))
        given = [laid_out(array, letter, 0) for array, letter in zip((a, b), trans)]
        check(p, dtype, function(*given, np.full((m, n), np.nan, dtype)), a, b)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_share_blocks(threads):
    before = kron.get_num_threads()
    rng = np.random.default_rng()
    a, b = rng.standard_normal((700, 20)), rng.standard_normal((300, 20))
    try:
        kron.set_num_threads(threads)
        check(2, np.float64, compiled(FUNCTIONS[2][0], np.float64)(a, b, np.zeros((700, 300))), a, b)
    finally:
        kron.set_num_threads(before)


@pytest.mark.parametrize("p", FUNCTIONS)
def test_nan_stays_in_its_row_and_column(p):
    rng = np.random.default_rng()
    a, b = (rng.standard_normal((7, 5)).astype(np.float32) for _ in range(2))
    a[2, 3] = b[4, 0] = np.nan
    result = compiled(FUNCTIONS[p][0], np.float32)(a, b, np.zeros((7, 7), np.float32))
    wanted = np.zeros((7, 7), bool)
    wanted[2], wanted[:, 4] = True, True
    np.testing.assert_array_equal(np.isnan(result), wanted)


@pytest.mark.parametrize("p", FUNCTIONS)
def test_equal_rows_have_no_distance(p):
    """Clustered data far from the origin: a square of differences loses nothing."""
    rng = np.random.default_rng()
    x = (1e4 + 1e-2 * rng.standard_normal((9, 6))).astype(np.float32)
    result = compiled(FUNCTIONS[p][0], np.float32)(x, x, np.ones((9, 9), np.float32))
    assert np.all(np.diag(result) == 0)
    check(p, np.float32, result, x, x)


def near_and_far(rng, shape, dtype):
    """Rows of which some are near to each other, equal, constant or powers of two, far from the origin."""
    x = rng.standard_normal(shape)
    x[rng.random(shape[0]) < 0.1] = x[0] * (1 + 1e-3)
    x[rng.random(shape[0]) < 0.1] = x[-1]
    x[rng.random(shape[0]) < 0.1] = rng.standard_normal()
    x[rng.random(shape[0]) < 0.1] = 2.0**rng.integers(-3, 3)
    # Squares of 1100 larger differences are too large for f16.
    return (x + rng.choice([0, 1, 3 if dtype == np.float16 else 30])).astype(dtype)


@pytest.mark.parametrize("trans", [("N", "N"), ("T", "N"), ("N", "T")])
@pytest.mark.parametrize("dtype", NAMES)
def test_squares_made_of_products(dtype, trans):
    """Long rows, where squares that are not exact are computed as such."""
    rng = np.random.default_rng()
    function = compiled("square_diff", dtype, trans=trans)
    for m, n, k in ((1, 1, 56), (9, 49, 64), (1100, 30, 56), (65, 130, 513), (33, 100, 1100),
                    *rng.integers([1, 1, 56], [600, 200, 300], (6, 3))):
        for a, b in ((rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((n, k)).astype(dtype)),
                     (near_and_far(rng, (m, k), dtype), near_and_far(rng, (n, k), dtype))):
            given = [laid_out(array, letter, 0) for array, letter in zip((a, b), trans)]
            check(2, dtype, function(*given, np.full((m, n), np.nan, dtype)), a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_rows_of_one_array(dtype):
    """Rows that are equal have no distance, nor is a square of long rows negative."""
    rng = np.random.default_rng()
    function = compiled("square_diff", dtype)
    for offset, spread in ((0, 1), (1e4, 1e-2), (1, 1e-3)):
        x = (offset + spread * rng.standard_normal((150, 100))).astype(dtype)
        result = function(x, x, np.full((150, 150), np.nan, dtype))
        assert np.all(np.diag(result) == 0) and np.all(result >= 0)
        check(2, dtype, result, x, x)


def test_products_of_rows_that_are_not_finite():
    """NaN and infinities stay in their rows and columns, and so do rows whose squared lengths are too large."""
    rng = np.random.default_rng()
    a, b = (rng.standard_normal((60, 80)).astype(np.float32) for _ in range(2))
    clean = compiled("square_diff", np.float32)(a, b, np.zeros((60, 60), np.float32))
    for row, value in ((0, np.nan), (17, np.inf), (59, -np.inf)):
        x = a.copy()
        x[row, 5] = value
        result = compiled("square_diff", np.float32)(x, b, np.zeros((60, 60), np.float32))
        others = np.arange(60) != row
        assert np.all(np.isnan(result[row]) if np.isnan(value) else np.isposinf(result[row]))
        check(2, np.float32, result[others], a[others], b)
    np.testing.assert_array_equal(np.isfinite(clean), True)
    # Differences are small, and squares of elements infinite.
    x = (1e25 + 1e18 * rng.standard_normal((20, 80))).astype(np.float32)
    check(2, np.float32, compiled("square_diff", np.float32)(x, x, np.zeros((20, 20), np.float32)), x, x)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_squares(threads):
    rng = np.random.default_rng()
    x = near_and_far(rng, (700, 90), np.float32)
    function, y = compiled("square_diff", np.float32), np.zeros((700, 700), np.float32)
    before = kron.get_num_threads()
    try:
        kron.set_num_threads(1)
        single = function(x, x, y).copy()
        kron.set_num_threads(threads)
        np.testing.assert_array_equal(function(x, x, y), single)
    finally:
        kron.set_num_threads(before)


def test_gaussian_kernel():
    rng = np.random.default_rng()
    tail = ("epilogue { ^bb0(%v: f32, %q: f32): %s = arith.mulf %v, %q : f32 %n = arith.negf %s : f32 "
            "%r = math.exp %n : f32 kron.pairwise_yield %r : f32 }")
    function = compiled("square_diff", np.float32, tail=tail, params="%g : f32")
    x, y = (rng.standard_normal((size, 11)).astype(np.float32) for size in (17, 5))
    result = function(x, y, np.float32(0.1), np.zeros((17, 5), np.float32))
    exponent = 0.1 * expected(2, x, y)
    np.testing.assert_array_less(np.abs(result - np.exp(-exponent)),
                                 np.exp(-exponent) * (4 + 40 * exponent) * 2.0**-24)


def test_functions_of_regions_with_parameters_of_the_batch():
    """A function that has no keyword, and is no distance; one scalar and one array of parameters."""
    rng = np.random.default_rng()
    type_, result = "tensor<?x?xf64>", "tensor<?x?x?xf64>"
    function = kron.compile(
        f"func.func @main(%a: {type_}, %b: {type_}, %g: tensor<?xf64>, %c: f64, %y: {result}) -> {result} {{\n"
        f"  %0 = kron.pairwise ins(%a, %b : {type_}, {type_}) params(%g, %c : tensor<?xf64>, f64) outs(%y : {result})\n"
        "    inner { ^bb0(%u: f64, %w: f64, %h: f64, %d: f64): %s = arith.mulf %u, %h : f64 %t = math.sin %s : f64"
        " %r = arith.mulf %t, %w : f64 kron.pairwise_yield %r : f64 }\n"
        "    epilogue { ^bb0(%v: f64, %h: f64, %d: f64): %n = math.absf %v : f64 %l = math.log1p %n : f64"
        f" %r = arith.subf %l, %d : f64 kron.pairwise_yield %r : f64 }} -> {result}\n  return %0 : {result}\n}}\n")["main"]
    a, b, g = rng.standard_normal((21, 30)), rng.standard_normal((19, 30)), np.array([0.5, 2.0, -1.0])
    wanted = np.log1p(np.abs(np.einsum("lmk,nk->lmn", np.sin(a * g[:, None, None]), b))) - 3
    np.testing.assert_allclose(function(a, b, g, 3.0, np.zeros((3, 21, 19))), wanted, rtol=1e-12, atol=1e-12)


def test_empty_reductions():
    """0 for distances, -infinity for maxima of anything else; the epilogue sees it."""
    empty, y = np.zeros((5, 0), np.float32), np.full((5, 5), np.nan, np.float32)
    tail = ("epilogue { ^bb0(%v: f32): %one = arith.constant 1.0 : f32 %r = arith.addf %v, %one : f32 "
            "kron.pairwise_yield %r : f32 }")
    for function, wanted in (("dot", 1), ("abs_diff reduce(max)", 1), ("dot reduce(max)", -np.inf)):
        result = compiled(function, np.float32, tail=tail)(empty, empty, y)
        np.testing.assert_array_equal(result, np.full((5, 5), wanted))


def test_k_must_match_at_run_time():
    function = compiled("abs_diff", np.float32)
    with pytest.raises(ValueError, match="expects axis 1 to have size 4, as axis 1"):
        function(np.zeros((2, 4), np.float32), np.zeros((3, 5), np.float32),
                 np.zeros((2, 3), np.float32))
