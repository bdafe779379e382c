"""kron.pairwise_apply in programs of MLIR, against float64.

A function of pairs may be off by (K + 8 (p + 1)) roundings of the accumulation type, as in
test_pairwise; a sum along N by N more in the sum of its terms' sizes, a maximum by none, a
logarithm of a sum by the error of its terms, whose size is their distance from 0, and N + 8.

SPDX-License-Identifier: MIT
"""

import ml_dtypes
import numpy as np
import pytest
import reference
from test_pairwise import FUNCTIONS, NAMES, expected

import kron

#: Register tiles of the vector code have 48 or 24 columns of B, tiles of the reference 64; few columns of V are up to 12 or 6.
SIZES = (0, 1, 2, 3, 7, 13, 31)
COLUMNS = (0, 1, 5, 63, 64, 65, 127, 128, 131)
ACCUMULATIONS = ("sum", "max", "logsumexp")


def compiled(function, accumulation, dtype, batches=("", "", "", ""), trans="NNN", tail="", params="",
             param_type="f32"):
    """The program y = pairwise_apply(a, b) v of matrices with open sizes, behind what `batches`
    say of a, b, v and y: an open size never stretches."""
    a, b, v, y = (f"tensor<{batch}?x?x{NAMES[dtype]}>" for batch in batches)
    named = [name if letter == "N" else f"{letter}({name})" for name, letter in zip(("%a", "%b", "%v"), trans)]
    argument, clause = params and f", %g: {param_type}", params and f"params({params})"
    return kron.compile(
        f"func.func @main(%a: {a}, %b: {b}, %v: {v}{argument}, %y: {y}) -> {y} {{\n"
        f"  %0 = kron.pairwise_apply {function} accumulate({accumulation})"
        f" ins({named[0]}, {named[1]} : {a}, {b}) values({named[2]} : {v}) {clause}"
        f" outs(%y : {y}) {tail} -> {y}\n  return %0 : {y}\n}}\n")["main"]


def accumulate(accumulation, terms, axis=-1):
    if accumulation == "sum":
        return terms.sum(axis)
    most = np.max(terms, axis, initial=-np.inf)
    if accumulation == "max":
        return most
    reference_point = np.where(np.isfinite(most), most, 0)
    with np.errstate(divide="ignore", over="ignore"):
        return reference_point + np.log(np.exp(terms - np.expand_dims(reference_point, axis)).sum(axis))


def terms_of(matrix, v):
    """F[l, m, n] * V[l, n, c] as [l, m, c, n]."""
    return matrix[..., :, None, :] * np.swapaxes(reference.wide(v), -1, -2)[..., None, :, :]


def check(p, accumulation, dtype, result, a, b, v):
    terms = terms_of(expected(p, a, b), v)
    wanted = accumulate(accumulation, terms)
    assert result.shape == wanted.shape and result.dtype == dtype
    accumulator = 2.0**-53 if dtype == np.float64 else 2.0**-24
    own = 2.0**-53 if dtype == np.float64 else float(ml_dtypes.finfo(dtype).eps) / 2
    roundings = a.shape[-1] + 8 * ((0 if p == np.inf else p) + 1) + 1
    sizes = np.abs(terms)
    if accumulation == "sum":
        bound = (roundings + b.shape[-2]) * accumulator * sizes.sum(-1)
    else:
        bound = (roundings + 2) * accumulator * np.max(sizes, -1, initial=0)
    if accumulation == "logsumexp":
        bound += (b.shape[-2] + 8) * accumulator
    finite = np.isfinite(wanted)
    bound = bound + own * np.where(finite, np.abs(wanted), 0) + float(ml_dtypes.finfo(dtype).smallest_subnormal)
    result = reference.wide(result)
    np.testing.assert_array_equal(result[~finite], wanted[~finite])
    assert np.all(np.abs(result[finite] - wanted[finite]) <= bound[finite])


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
@pytest.mark.parametrize("p", FUNCTIONS)
def test_random_shapes(p, accumulation, dtype):
    rng = np.random.default_rng()
    function = compiled(FUNCTIONS[p][0], accumulation, dtype)
    for m, k, c in rng.choice(SIZES, (8, 3)):
        n = rng.choice(COLUMNS)
        a, b, v = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k), (n, c)))
        y = function(a, b, v, np.full((m, c), np.nan, dtype))
        check(p, accumulation, dtype, y, a, b, v)


@pytest.mark.parametrize("trans", ["NNT", "NTN", "TNN", "TTT"])
@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
def test_batches_and_transposed_operands(accumulation, trans):
    rng = np.random.default_rng()
    function = compiled("abs_diff", accumulation, np.float64, ("?x1x", "?x", "1x1x", "?x?x"), trans)
    for m, k, c in rng.choice(SIZES[1:], (4, 3)):
        n = rng.choice(COLUMNS)
        a, b, v = (rng.standard_normal(shape) for shape in ((3, 1, m, k), (5, n, k), (1, 1, n, c)))
        given = [np.swapaxes(array, -1, -2) if letter == "T" else array
                 for array, letter in zip((a, b, v), trans)]
        # As they are, and without gaps.
        for arrays in (given, [np.ascontiguousarray(array) for array in given]):
            y = function(*arrays, np.full((3, 5, m, c), np.nan))
            check(1, accumulation, np.float64, y, a, b, np.broadcast_to(v, (3, 5, n, c)))


@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
def test_nan_stays_in_its_row_or_column(accumulation):
    rng = np.random.default_rng()
    function = compiled("square_diff", accumulation, np.float32, ("?x",) * 4)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((2, 7, 5), (2, 70, 5), (2, 70, 3))]
    for number, place, where in ((0, (1, 2, 3), np.s_[1, 2]), (1, (1, 65, 0), np.s_[1]),
                                 (2, (0, 4, 1), np.s_[0, :, 1])):
        given = [array.copy() for array in arrays]
        given[number][place] = np.nan
        wanted = np.zeros((2, 7, 3), bool)
        wanted[where] = True
        result = function(*given, np.zeros((2, 7, 3), np.float32))
        np.testing.assert_array_equal(np.isnan(result), wanted)


def test_logarithms_of_large_and_infinite_terms():
    """Exponentials of the terms overflow, or are all 0; tiles have their own largest terms."""
    function = compiled("dot", "logsumexp", np.float64)
    one, rng = np.ones((1, 1)), np.random.default_rng()
    infinity = np.inf
    for terms in (1e4 * rng.standard_normal(200), -1e4 + rng.standard_normal(130), np.arange(200.0) * 900,
                  np.arange(200.0) * -900, np.full(70, -infinity), np.r_[np.full(70, -infinity), 3, -2],
                  np.r_[3, -2, np.full(70, -infinity)], np.r_[1.0, infinity, np.zeros(70), infinity],
                  np.r_[np.full(64, 800.0), infinity], np.array([-infinity, infinity])):
        result = function(one, one * np.ones((terms.size, 1)), terms[:, None], np.zeros((1, 1)))
        np.testing.assert_allclose(result[0, 0], accumulate("logsumexp", terms), rtol=1e-14)


@pytest.mark.parametrize("batch", ["", "3"])
def test_gaussian_kernel(batch):
    """With one hyper-parameter, or one for each of a batch."""
    rng = np.random.default_rng()
    tail = ("epilogue { ^bb0(%s: f32, %q: f32): %t = arith.mulf %s, %q : f32 %n = arith.negf %t : f32 "
            "%r = math.exp %n : f32 kron.pairwise_yield %r : f32 }")
    param_type = "tensor<3xf32>" if batch else "f32"
    function = compiled("square_diff", "sum", np.float32, ("", "", "", batch and "3x"), tail=tail,
                        params=f"%g : {param_type}", param_type=param_type)
    x, y, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((17, 11), (150, 11), (150, 4)))
    g = np.array([0.05, 0.1, 0.2], np.float32) if batch else np.float32(0.1)
    exponents = np.multiply.outer(g.astype(np.float64), expected(2, x, y))
    terms = terms_of(np.exp(-exponents), v)
    result = function(x, y, v, g, np.zeros(exponents.shape[:-1] + (4,), np.float32))
    errors = np.abs(terms) * (154 + 40 * exponents)[..., :, None, :] * 2.0**-24
    assert np.all(np.abs(result - terms.sum(-1)) <= errors.sum(-1))


@pytest.mark.parametrize("c", [2, 20])
@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
def test_nothing_stays_of_an_earlier_call(accumulation, c):
    """Lanes of rows of B that do not exist hold what scratch held: NaN here."""
    rng = np.random.default_rng()
    function = compiled("abs_diff", accumulation, np.float32)
    filled = [np.full(shape, np.nan, np.float32) for shape in ((9, 5), (100, 5), (100, c), (9, c))]
    assert np.all(np.isnan(function(*filled)))
    for n in (1, 17, 50):
        a, b, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((9, 5), (n, 5), (n, c)))
        check(1, accumulation, np.float32, function(a, b, v, np.zeros((9, c), np.float32)), a, b, v)


@pytest.mark.parametrize("c", [3, 40])
def test_infinite_distances_have_no_weight(c):
    """exp(-infinity) is 0 of every value, in the last register tile as well."""
    rng = np.random.default_rng()
    tail = ("epilogue { ^bb0(%s: f64): %n = arith.negf %s : f64 %r = math.exp %n : f64 "
            "kron.pairwise_yield %r : f64 }")
    function = compiled("square_diff", "sum", np.float64, tail=tail)
    x, y, v = (rng.standard_normal(shape) for shape in ((17, 4), (61, 4), (61, c)))
    y[[5, 60]] = np.inf
    weights = np.exp(-expected(2, x, y))
    assert np.all(weights[:, [5, 60]] == 0)
    result = function(x, y, v, np.zeros((17, c)))
    np.testing.assert_allclose(result, weights @ v, rtol=1e-11, atol=1e-12)


def test_one_array_on_both_sides():
    """And as the values."""
    x = np.random.default_rng().standard_normal((70, 3))
    functions = kron.compile("""
func.func @distances(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = kron.pairwise square_diff ins(%x, %x : tensor<?x?xf64>, tensor<?x?xf64>)
         outs(%y : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
func.func @product(%x: tensor<?x?xf64>, %y: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %0 = kron.pairwise_apply square_diff ins(%x, %x : tensor<?x?xf64>, tensor<?x?xf64>)
         values(%x : tensor<?x?xf64>) outs(%y : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
""")
    distances = expected(2, x, x)
    np.testing.assert_allclose(functions["distances"](x, np.zeros((70, 70))), distances, rtol=1e-14)
    np.testing.assert_allclose(functions["product"](x, np.zeros((70, 3))), distances @ x, rtol=1e-12, atol=1e-12)


def test_arrays_of_one_type_stay_apart():
    """The matrix of a tile, sums, maxima and those of a tile are all 5 x 64."""
    rng = np.random.default_rng()
    a, b, v = (rng.standard_normal(shape) for shape in ((5, 3), (150, 3), (150, 64)))
    function = kron.compile("""
func.func @main(%a: tensor<5x3xf64>, %b: tensor<?x3xf64>, %v: tensor<?x64xf64>, %y: tensor<5x64xf64>) -> tensor<5x64xf64> {
  %0 = kron.pairwise_apply abs_diff accumulate(logsumexp) ins(%a, %b : tensor<5x3xf64>, tensor<?x3xf64>)
         values(%v : tensor<?x64xf64>) outs(%y : tensor<5x64xf64>) -> tensor<5x64xf64>
  return %0 : tensor<5x64xf64>
}
""")["main"]
    check(1, "logsumexp", np.float64, function(a, b, v, np.zeros((5, 64))), a, b, v)


def test_columns_must_match_at_run_time():
    function = compiled("abs_diff", "sum", np.float32)
    arrays = [np.zeros(shape, np.float32) for shape in ((2, 4), (3, 4), (5, 6), (2, 6))]
    with pytest.raises(ValueError, match="expects axis 0 to have size 3, as axis 0"):
        function(*arrays)
