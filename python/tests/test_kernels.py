"""Kernel matrices of kron.kernels against float64.

A kernel exp(-e) may be off by (K + 32) e + 16 roundings of the accumulation type in its size, and by
one rounding of its own type; e is the part of its logarithm that is a multiple of the distance.

SPDX-License-Identifier: MIT
"""

import math

import ml_dtypes
import numpy as np
import pytest
import reference
from test_pairwise import NAMES, SIZES, laid_out

import kron
from kron import _jit
from kron.kernels import Kernel, _distance, _named, _programs, _trace, cdist, kernel


def differences(a, b):
    return reference.wide(a)[..., :, None, :] - reference.wide(b)[..., None, :, :]


def squares(a, b, lengthscale):
    return (differences(a, b)**2).sum(-1) / np.float64(lengthscale)**2


def gaussian(a, b, lengthscale):
    exponent = squares(a, b, lengthscale) / 2
    return np.exp(-exponent), exponent


def laplace(a, b, lengthscale):
    exponent = np.abs(differences(a, b)).sum(-1) / np.float64(lengthscale)
    return np.exp(-exponent), exponent


def matern(order, a, b, lengthscale):
    r = np.sqrt(order * squares(a, b, lengthscale))
    return {1: 1, 3: 1 + r, 5: 1 + r + r**2 / 3}[order] * np.exp(-r), r


def rational_quadratic(a, b, lengthscale, alpha=1):
    exponent = alpha * np.log1p(squares(a, b, lengthscale) / (2 * alpha))
    return np.exp(-exponent), exponent


def periodic(a, b, lengthscale, period=1):
    turns = differences(a, b) / np.float64(period)
    scale = 2 / np.float64(lengthscale)**2
    value = np.exp(-scale * (np.sin(math.pi * turns)**2).sum(-1))
    # Angles are rounded before whole turns are taken off.
    return value, scale * (1 + math.pi * np.abs(turns)).sum(-1)


#: name -> (value and size of the exponent, hyper-parameters)
KERNELS = {
    "gaussian": (gaussian, {}), "laplace": (laplace, {}),
    "matern12": (lambda *given: matern(1, *given), {}), "matern32": (lambda *given: matern(3, *given), {}),
    "matern52": (lambda *given: matern(5, *given), {}), "rational_quadratic": (rational_quadratic, {"alpha": 0.75}),
    "periodic": (periodic, {"period": 3.5}),
}


def check_close(result, wanted, dtype, roundings):
    """`roundings` are of the accumulation type, absolute."""
    assert result.shape == wanted.shape and result.dtype == dtype
    accumulator = 2.0**-53 if dtype == np.float64 else 2.0**-24
    bound = roundings * accumulator + float(ml_dtypes.finfo(dtype).eps) / 2 * np.abs(wanted)
    # Results below the smallest normal element lose bits, or are 0.
    bound += float(ml_dtypes.finfo(dtype).smallest_normal)
    assert np.all(np.abs(reference.wide(result) - wanted) <= bound)


def check(name, result, a, b, lengthscale, **parameters):
    wanted, exponent = KERNELS[name][0](a, b, lengthscale, **parameters)
    check_close(result, wanted, a.dtype, ((a.shape[-1] + 32) * exponent + 16) * wanted)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", KERNELS)
def test_random_shapes(name, dtype):
    rng = np.random.default_rng()
    parameters = KERNELS[name][1]
    for m, n, k in rng.choice(SIZES, (8, 3)):
        a, b = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k)))
        lengthscale = np.float32(rng.uniform(0.3, 3) * max(k, 1)**0.5)
        matrix = kernel(a, b, name, lengthscale=lengthscale, **parameters)
        assert isinstance(matrix, Kernel) and matrix.shape == (m, n) and matrix.dtype == dtype
        check(name, matrix.to_dense(), a, b, lengthscale, **parameters)


@pytest.mark.parametrize("name", KERNELS)
def test_batches_and_layouts(name):
    rng = np.random.default_rng()
    a, b = rng.standard_normal((3, 1, 5, 4)), rng.standard_normal((2, 7, 4))
    scales = rng.uniform(0.5, 2, (2, 1, 1))
    parameters = {key: rng.uniform(0.5, 2, (3, 1)) for key in KERNELS[name][1]}
    wide = {key: value[..., None, None, None][..., 0] for key, value in parameters.items()}
    if name == "periodic":
        wide = {key: value[..., None] for key, value in wide.items()}
    for given in ((a, b), (laid_out(a, "N", 3), b[..., ::-1, :]), (np.asfortranarray(a), b.astype(">f8"))):
        matrix = kernel(*given, name, lengthscale=scales, **parameters)
        assert matrix.shape == (3, 2, 5, 7) and matrix.ndim == 4
        check(name, matrix.to_dense(), *given, scales, **wide)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "periodic"])
def test_length_scales_of_features(name):
    rng = np.random.default_rng()
    a, b, parameters = rng.standard_normal((5, 4)), rng.standard_normal((7, 4)), KERNELS[name][1]
    for shape in ((4,), (1, 4), (3, 1, 4)):
        scales = rng.uniform(0.5, 2, shape)
        result = kernel(a, b, name, lengthscale=scales, **parameters).to_dense()
        check(name, result, a / scales, b / scales, 1, **parameters)


@pytest.mark.parametrize("name", KERNELS)
def test_one_length_scale(name):
    rng = np.random.default_rng()
    a, b, parameters = rng.standard_normal((5, 4)), rng.standard_normal((7, 4)), KERNELS[name][1]
    for one in (np.array(0.5), np.array([0.5]), np.array([[0.5]])):
        result = kernel(a, b, name, lengthscale=one, **parameters).to_dense()
        check(name, result, a, b, 0.5, **parameters)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", KERNELS)
def test_one_array(name, dtype):
    """A matrix of rows with themselves, which are equal and far from the origin."""
    x = (1e4 + 1e-2 * np.random.default_rng().standard_normal((17, 3))).astype(np.float32).astype(dtype)
    matrix = kernel(x, None, name)
    assert matrix.b is matrix.a is x
    result = matrix.to_dense()
    np.testing.assert_allclose(np.diag(result).astype(float), 1, rtol=2.0**-51)
    np.testing.assert_array_equal(result, kernel(x, x, name).to_dense())
    if name != "periodic":
        np.testing.assert_array_equal(kernel(x, None, name, lengthscale=np.ones(3)).to_dense(), result)


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_not_finite_stays_in_its_row_and_column(name):
    rng = np.random.default_rng()
    a, b = (rng.standard_normal((7, 5)).astype(np.float32) for _ in range(2))
    a[2, 3] = b[4, 0] = np.nan
    wanted = np.zeros((7, 7), bool)
    wanted[2], wanted[:, 4] = True, True
    np.testing.assert_array_equal(np.isnan(kernel(a, b, name).to_dense()), wanted)
    if name != "periodic":
        a[6, 1] = np.inf
        np.testing.assert_array_equal(kernel(a, b[:4], name).to_dense()[6],
                                      np.nan if name in ("matern32", "matern52") else 0)


def test_periods_are_exact():
    """Whole periods change nothing, however many of them."""
    x = np.arange(64.0)[:, None] * 0.25
    result = kernel(x, None, "periodic", period=0.25).to_dense()
    np.testing.assert_array_equal(result, 1)
    far = kernel(x + 2.0**40, x, "periodic", period=1.0, lengthscale=0.7).to_dense()
    np.testing.assert_array_equal(far, kernel(x, x, "periodic", period=1.0, lengthscale=0.7).to_dense())


def test_arrays_of_kernels():
    rng = np.random.default_rng()
    a, b = rng.standard_normal((5, 4)), rng.standard_normal((7, 4))
    matrix = kernel(a, b)
    dense = matrix.to_dense()
    np.testing.assert_array_equal(np.asarray(matrix), dense)
    assert np.asarray(matrix, np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.log(matrix), np.log(dense))
    with pytest.raises(ValueError, match="expects copy not to be False"):
        np.array(matrix, copy=False) if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else matrix.__array__(copy=False)
    np.testing.assert_array_equal(matrix.mT.to_dense(), dense.T)
    assert repr(matrix) == "<kron.kernels.Kernel gaussian: 5x7 float64>"


# --- functions of rows ------------------------------------------------------------


def cauchy(x, y, width):
    return 1 / (1 + np.sum((x - y)**2) / width**2)


def weighted(x, y, left=0.5, right=2.0):
    return np.tanh(np.sum(np.exp(-left * abs(x)) * y / right))


def clipped(x, y, most):
    distance = np.max(np.abs(y - x))
    return np.where(distance > most, 0, (1 - distance / most)**3)


def logistic(x, y):
    return 1 / (1 + np.exp(-(x @ y)))


def halves(x, y):
    return np.sum(np.sqrt(abs(x - y))) + 1


def powers(x, y, c):
    return (c + np.dot(x, y))**3 - np.square(c) + (2 + np.float64(0.5))**c


def many(x, y, c):
    total = np.sum(np.arctan(x) * np.sin(y) + np.minimum(x, y) - np.maximum(x, c) + np.log1p(x * x))
    return np.floor(total) + np.rint(total) * np.cbrt(c) + np.reciprocal(np.cosh(c)) - (+total)


def equal(x, y, most):
    return np.sum(np.where(x == y, 1, np.where(x != most, 2, 3)))


FUNCTIONS = {"equal": (equal, {"most": 0.5}), "cauchy": (cauchy, {"width": 1.5}), "weighted": (weighted, {"right": -3}),
             "clipped": (clipped, {"most": 2}), "logistic": (logistic, {}), "halves": (halves, {}),
             "powers": (powers, {"c": 0.5}), "many": (many, {"c": 0.3})}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_rows(name):
    """A function that is traced computes what it computes of rows."""
    rng = np.random.default_rng(5)
    function, parameters = FUNCTIONS[name]
    a, b = rng.standard_normal((11, 6)), rng.standard_normal((19, 6))
    wanted = [[function(x, y, **parameters) for y in b] for x in a]
    matrix = kernel(a, b, function, **parameters)
    np.testing.assert_allclose(matrix.to_dense(), wanted, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(matrix.mT.to_dense(), np.transpose(wanted), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(matrix.mT.mT.to_dense(), matrix.to_dense())


@pytest.mark.parametrize("function, keyword", [
    (lambda x, y: np.sum((x - y)**2), "square_diff"), (lambda x, y: np.sum(abs(y - x)**2), "square_diff"),
    (lambda x, y: np.sum(np.square(x - y)), "square_diff"), (lambda x, y: np.max(abs(x - y)), "abs_diff reduce(max)"),
    (lambda x, y: np.sum(abs(x - y)**0.5), "pow_diff(0.5)"), (lambda x, y: np.sum(abs(x - y)**1), "abs_diff"),
    (lambda x, y: np.sum(abs(x - y)**3), "pow_diff(3.00000000000000000e+00)"),
    (lambda x, y: np.sum(abs(y - x)**1.5), "pow_diff(1.50000000000000000e+00)"), (lambda x, y: y @ x, "dot"),
    (lambda x, y: np.max(x * y), "dot reduce(max)"), (lambda x, y: np.sum((x - y)**3), ""),
    (lambda x, y: np.sum((x - y) * (y - x)), ""), (lambda x, y: np.sum(x * x), "")])
def test_keywords(function, keyword):
    """Functions of elements that have a faster form are told apart from the others."""
    traced = _trace.trace(function)
    assert traced.keyword == keyword and bool(traced.inner) == (not keyword) and not traced.epilogue


def test_functions_with_names_are_functions_of_rows():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((11, 6)), rng.standard_normal((19, 6))
    for name, function in _named.FUNCTIONS.items():
        wanted = [[function(x, y) for y in b] for x in a]
        np.testing.assert_allclose(kernel(a, b, name).to_dense(), wanted, rtol=1e-13)


@pytest.fixture(params=[-1, 0], ids=["cpu", "gpu"])
def is_on_gpu(request, monkeypatch):
    """Programs give their text instead of results, as if arrays were on a CPU or on a GPU."""
    monkeypatch.setattr(_jit, "_device_of", lambda array: request.param)
    monkeypatch.setattr(_programs, "_compiled", lambda write, device, *key: lambda *arrays, out=None: write(*key))
    for name in ("_pairwise_program", "_apply_program", "_grad_program"):
        monkeypatch.setattr(_programs, name, getattr(_programs, name).__wrapped__)
    return request.param == 0


def rows_of(*shape):
    return np.broadcast_to(np.float32(0), shape)


def arguments_of(text):
    return {name.strip(" %"): kind.strip().removeprefix("tensor<").removesuffix("xf32>") for name, kind in (
        argument.split(":") for argument in text[text.index("(") + 1:text.index(")")].split(","))}


@pytest.mark.parametrize("length, columns, known", [(3, 1, "3"), (64, 16, "64"), (0, 2, "?")])
def test_programs_of_products_know_rows_on_a_gpu(is_on_gpu, length, columns, known):
    function = _trace.PairFunction.parse(_named.TEXTS["gaussian"])
    arrays = [rows_of(7, length), rows_of(5, length), rows_of()]
    values = rows_of(5, columns)
    found = arguments_of(_programs.apply(function, arrays, values))
    wanted = (f"?x{known}", f"?x{columns}") if is_on_gpu else ("?x?", "?x?")
    assert (found["a"], found["v"]) == wanted and found["b"] == found["a"]
    # Linalg computes derivatives along directions of any size.
    found = arguments_of(_programs.apply(function, arrays, values, directions=arrays))
    assert {found[name] for name in ("a", "b", "da", "db", "v")} == {"?x?"}


@pytest.mark.parametrize("left, right, known", [
    ((9, 64, 16), (9, 5, 16), ("?x64x16", "?x5x16")), ((1, 65, 16), (9, 64, 16), ("1x?x16", "?x64x16")),
    ((9, 65, 16), (9, 99, 16), ("?x?x?", "?x?x?")), ((64, 16), (64, 16), ("?x?", "?x?"))])
def test_programs_of_many_small_matrices_know_them_on_a_gpu(is_on_gpu, left, right, known):
    function = _trace.PairFunction.parse(_distance.distance_text(1, True))
    found = arguments_of(_programs.pairwise(function, [rows_of(*left), rows_of(*right)]))
    open_sizes = tuple("x".join("1" if size == 1 and axis < len(shape) - 2 else "?" for axis, size in enumerate(shape))
                       for shape in (left, right))
    assert (found["a"], found["b"]) == (known if is_on_gpu else open_sizes)


def test_programs_of_rows_with_themselves_take_them_once(is_on_gpu):
    function = _trace.PairFunction.parse(_named.TEXTS["gaussian"])
    x, scale = np.zeros((7, 7), np.float32), np.zeros((), np.float32)
    for y, is_same in ((x, True), (x[:], True), (x.copy(), False), (x.T, False), (x[::-1], False), (x[:6], False)):
        found = arguments_of(_programs.pairwise(function, [x, y, scale]))
        assert ("b" not in found) == is_same and "q0" in found
    # A derivative along directions is another one for either side.
    assert "b" in arguments_of(_programs.pairwise(function, [x, x, scale], directions=[x, x, scale]))


def test_programs_of_gradients_know_rows_on_a_gpu(is_on_gpu):
    function = _trace.PairFunction.parse(_named.TEXTS["gaussian"])
    arrays = [rows_of(7, 3), rows_of(5, 3), rows_of()]
    rows, columns = ("?x3", "?x2") if is_on_gpu else ("?x?", "?x?")
    found = arguments_of(_programs.gradient(function, arrays, 0, weights=rows_of(7, 5)))
    assert (found["a"], found["b"], found["h"]) == (rows, rows, "?x?")
    found = arguments_of(_programs.gradient(function, arrays, 1, factors=(rows_of(7, 2), rows_of(5, 2))))
    assert (found["a"], found["b"], found["u"], found["v"]) == (rows, rows, columns, columns)
    # Linalg has gradients by hyper-parameters.
    assert arguments_of(_programs.gradient(function, arrays, 2, weights=rows_of(7, 5)))["a"] == "?x?"


def test_numbers_are_arguments_without_memory():
    function = _trace.PairFunction.parse(_named.TEXTS["gaussian"])
    rows = _programs._patterns([(7, 3), (5, 3), None], 0)
    text = _programs._apply_text(function, "f32", rows, (), *_programs._matrices([(5, 1)], 0))
    assert arguments_of(text) == {"a": "?x3", "b": "?x3", "q0": "f32", "v": "?x1"}
    assert kron.compile(text, target="cuda:sm_90a").names == ["main"]


def test_hyper_parameters_of_functions():
    rng = np.random.default_rng()
    a, width = rng.standard_normal((5, 3)), np.array([[1.0], [2.0]])
    result = kernel(a, None, cauchy, width=width).to_dense()
    assert result.shape == (2, 1, 5, 5)
    np.testing.assert_allclose(result, 1 / (1 + cdist(a, a, root=False) / width[..., None, None]**2))


def loops(x, y):
    return sum(u * v for u, v in zip(x, y))


def decides(x, y):
    return np.sum(x * y) if np.sum(x) > 0 else np.sum(x)


BAD_FUNCTIONS = {
    "loops": (TypeError, "expects no loop over a row", loops),
    "element": (TypeError, "but got one that takes elements of a row", lambda x, y: x[0] * y[0]),
    "decision": (TypeError, "expects no decision about a traced value", decides),
    "equality": (TypeError, "expects no decision about a traced value",
                 lambda x, y, p=2: np.sum(x * y) if p == 2 else np.sum(x)),
    "number": (TypeError, "but a number was asked for", lambda x, y: math.exp(np.sum(x * y))),
    "no reduction": (ValueError, "expects a function of rows to reduce along them once, .* but got 0 reductions",
                     lambda x, y: x * y),
    "two": (ValueError, "reduce along them once, .* but got 2 reductions",
            lambda x, y: np.sum(x * y) / np.sum(x * x)),
    "constant": (ValueError, "but got 0 reductions", lambda x, y: 1.0),
    "again": (ValueError, "expects what is reduced along the rows not to meet their elements again",
              lambda x, y: np.sum(x * y) * x),
    "twice": (ValueError, "expects sum of what is computed of elements of x and y",
              lambda x, y: np.sum(np.sum(x * y))),
    "operation": (TypeError, r"expects operations out of abs, .*, but got numpy.logaddexp of 2 value\(s\)",
                  lambda x, y: np.logaddexp(np.sum(x * y), 0)),
    "function": (TypeError, r"but got numpy.median of 1 value\(s\)", lambda x, y: np.median(x * y)),
    "method": (TypeError, r"expects plain calls of NumPy's functions .* numpy.add \(reduce\)",
               lambda x, y: np.add.reduce(x * y)),
    "axis": (TypeError, "expects no arguments 'axis' in a function of rows", lambda x, y: np.sum(x * y, axis=3)),
    "keepdims": (TypeError, "expects no arguments 'keepdims'", lambda x, y: np.sum(x * y, keepdims=True)),
    "array": (TypeError, "expects numbers, rows and hyper-parameters .* but got ndarray",
              lambda x, y: np.sum(x * y * np.ones(6))),
    "text": (TypeError, "expects numbers, rows and hyper-parameters .* but got str", lambda x, y: np.sum(x * y) + "1"),
    "infinite": (ValueError, "expects finite numbers in a function of rows, but got inf",
                 lambda x, y: np.sum(x * y) + np.inf),
    "comparison": (TypeError, "expects a function of rows to give a number, but got a comparison",
                   lambda x, y: np.sum(x * y) > 0),
    "sum of a comparison": (TypeError, "expects comparisons in conditions of numpy.where only",
                            lambda x, y: np.sum(x > y)),
    "arithmetic on a comparison": (TypeError, "expects comparisons in conditions of numpy.where only",
                                   lambda x, y: np.sum((x > y) * 2.0)),
    "condition": (TypeError, "expects the condition of numpy.where to be a comparison",
                  lambda x, y: np.where(np.sum(x * y), 1, 0)),
    "one row": (TypeError, r"expects a function of two rows .* but got one of \(x\)", lambda x: np.sum(x)),
    "star": (TypeError, r"but got one of \(\*rows\)", lambda *rows: np.sum(rows[0])),
    "missing": (TypeError, "expects hyper-parameters width of the function of rows", cauchy),
}


@pytest.mark.parametrize("name", BAD_FUNCTIONS)
def test_bad_functions(name):
    kind, message, function = BAD_FUNCTIONS[name]
    with pytest.raises(kind, match=message):
        kernel(np.ones((4, 6)), None, function)


def test_values_that_are_shared_are_looked_at_once():
    def polynomial(x, y):
        result = np.sum(x * y)
        for _ in range(60):
            result = result * result
        return result

    assert kernel(np.ones((4, 6)), None, polynomial).shape == (4, 4)


# --- bad input --------------------------------------------------------------------

BAD = {
    "name": (ValueError, "expects function to be one of 'gaussian', .* or a function, but got 'rbf'",
             lambda x: kernel(x, x, "rbf")),
    "no function": (TypeError, "expects function to be the name of a kernel or a function of two rows, but got int",
                    lambda x: kernel(x, x, 3)),
    "rank": (ValueError, "expects a to have at least 2 axes", lambda x: kernel(x[0])),
    "k": (ValueError, "expects the last axis of b to have size 3", lambda x: kernel(x, x[:, 1:])),
    "types": (TypeError, "expects b to have dtype float64 as a, but got float32",
              lambda x: kernel(x, x.astype(np.float32))),
    "features of periods": (ValueError, "expects lengthscale of 'periodic' to be a number, or to have shape",
                            lambda x: kernel(x, x, "periodic", lengthscale=np.ones(3))),
    "unknown": (TypeError, "expects hyper-parameters of 'gaussian' out of lengthscale, but got alpha",
                lambda x: kernel(x, x, alpha=1)),
    "unknown of a function": (TypeError, "of the function of rows out of none, but got width",
                              lambda x: kernel(x, x, logistic, width=1)),
    "zero": (ValueError, "expects lengthscale to be positive and finite, but got 0",
             lambda x: kernel(x, x, lengthscale=0)),
    "negative": (ValueError, "expects alpha to be positive and finite, but got -1.5",
                 lambda x: kernel(x, x, "rational_quadratic", alpha=-1.5)),
    "nan": (ValueError, "expects period to be positive and finite, but got nan",
            lambda x: kernel(x, x, "periodic", period=np.nan)),
    "infinite": (ValueError, "expects lengthscale to be positive and finite, but got inf",
                 lambda x: kernel(x, x, lengthscale=np.inf)),
    "some": (ValueError, "expects lengthscale to be positive and finite, but got",
             lambda x: kernel(x, x, lengthscale=np.array([1.0, 0.0, 2.0]))),
    "tiny": (ValueError,
             "expects lengthscale to be more than 1.08e-19, whose square is none in float32, but got 1e-30",
             lambda x: kernel(x.astype(np.float32), None, lengthscale=1e-30)),
    "shape": (ValueError, r"expects lengthscale to be a number, or to have shape \[..., 1, 3\] or \[..., 1, 1\], "
              r"but got \(2,\)", lambda x: kernel(x, x, lengthscale=np.ones(2))),
    "rows": (ValueError, r"expects lengthscale .* but got \(4, 3\)",
             lambda x: kernel(x, x, lengthscale=np.ones((4, 3)))),
    "batch": (ValueError, r"expects the leading axes of alpha to broadcast with \(2,\), but got \(3,\)",
              lambda x: kernel(np.stack([x] * 2), None, "rational_quadratic", alpha=np.ones(3))),
    "text": (TypeError, "expects lengthscale to be a number or a NumPy array, but got str",
             lambda x: kernel(x, x, lengthscale="1")),
    "bool": (TypeError, "expects lengthscale to be a number or a NumPy array, but got bool",
             lambda x: kernel(x, x, lengthscale=True)),
    "complex": (TypeError, "expects lengthscale to have real elements, but got complex128",
                lambda x: kernel(x, x, lengthscale=np.ones(3) + 0j)),
    "sizes": (ValueError, r"expects results of at most \d+ bytes",
              lambda x: kernel(np.broadcast_to(x[:1], (2**32, 3))).to_dense()),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    kind, message, call = BAD[name]
    with pytest.raises(kind, match=message):
        call(np.ones((4, 3)))
