"""kron.pairwise_grad and kron.pairwise_tangent in programs of MLIR, and kron.pairwise_apply along
directions, against closed forms in float64 and, for second derivatives, against differences of
the first ones.

A sum of terms may be off by as many roundings of the accumulation type as there are terms, K and
32 more, and by (K + 8) g s where there is an exp(-g s), in the sum of the terms' sizes.

SPDX-License-Identifier: MIT
"""

import ml_dtypes
import numpy as np
import pytest
import reference
from test_pairwise import FUNCTIONS, NAMES, SIZES, expected

import kron

#: p -> derivative of its function of a difference.
SLOPES = {0: lambda d: 0 * d, 0.5: lambda d: 0.5 * power(d, -0.5), 1: np.sign,
          1.3: lambda d: 1.3 * power(d, 0.3), 1.5: lambda d: 1.5 * power(d, 0.5), 2: lambda d: 2 * d,
          3: lambda d: 3 * d * np.abs(d), np.inf: np.sign}
GAUSSIAN = ("epilogue { ^bb0(%s: T, %q: T): %t = arith.mulf %s, %q : T %n = arith.negf %t : T "
            "%r = math.exp %n : T kron.pairwise_yield %r : T }")


def power(difference, exponent):
    """sgn(d) |d|^exponent, which is 0 at 0."""
    size = np.abs(difference)
    return np.sign(difference) * np.where(size == 0, 0, np.where(size == 0, 1, size) ** exponent)


def compiled(operation, operands, result, tail="", dtype=np.float64):
    """The program that `operation` is in, with its `operands` by name, of types that say ? for a
    size and T for the element type; `result` is that of the destination."""
    element = NAMES[dtype]
    accumulator = "f64" if dtype == np.float64 else "f32"

    def typed(text):
        return text.replace("xT", f"x{element}").replace("T", accumulator)

    arguments = ", ".join(f"%{name}: {typed(kind)}" for name, kind in operands.items())
    result, tail = typed(result), tail.replace("T", accumulator)
    for name, kind in operands.items():
        operation = operation.replace(f":{name}", typed(kind))
    return kron.compile(f"func.func @main({arguments}, %out: {result}) -> {result} {{\n"
                        f"  %0 = {operation} outs(%out : {result}) {tail} -> {result}\n"
                        f"  return %0 : {result}\n}}\n")["main"]


MATRIX = "tensor<?x?xT>"
PAIR = {"a": MATRIX, "b": MATRIX}


def gradient_of(by, function, gaussian=False, dtype=np.float64):
    operands = PAIR | {"h": MATRIX} | ({"g": "T"} if gaussian else {})
    return compiled(f"kron.pairwise_grad by({by}) {function} ins(%a, %b : :a, :b) grad(%h : :h)"
                    + (" params(%g : :g)" if gaussian else ""), operands,
                    "tensor<T>" if by.startswith("param") else MATRIX, GAUSSIAN if gaussian else "", dtype)


def close(result, terms, axes, dtype, k, exponents=0):
    """`result` is the sum of `terms` along `axes`."""
    accumulator = 2.0**-53 if dtype == np.float64 else 2.0**-24
    own = 2.0**-53 if dtype == np.float64 else float(ml_dtypes.finfo(dtype).eps) / 2
    wanted, sizes = terms.sum(axes), np.abs(terms)
    count = np.prod([terms.shape[axis] for axis in np.atleast_1d(axes)])
    bound = (sizes * (count + k + 32 + (k + 8) * exponents)).sum(axes) * accumulator + own * np.abs(wanted)
    assert np.shape(result) == wanted.shape
    least = float(ml_dtypes.finfo(dtype).smallest_subnormal) * (1 + count)
    assert np.all(np.abs(reference.wide(result) - wanted) <= bound + least)


def slopes(p, a, b):
    """Derivatives of reduced values by a, as [m, n, k]."""
    difference = reference.wide(a)[:, None, :] - reference.wide(b)[None, :, :]
    slope = SLOPES[p](difference)
    if p == np.inf and slope.size:
        size = np.abs(difference)
        slope = slope * (size == size.max(-1, keepdims=True))
    return slope


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("p", FUNCTIONS)
def test_gradients_of_distances(p, dtype):
    rng = np.random.default_rng()
    functions = [gradient_of(by, FUNCTIONS[p][0], dtype=dtype) for by in ("lhs", "rhs")]
    for m, n, k in list(rng.choice(SIZES, (5, 3))) + [(7, 150, 3)]:
        a, b, h = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k), (m, n)))
        # Rows that agree in some elements or in all.
        if m and n:
            b[0] = a[0]
            b[-1, : k // 2] = a[-1, : k // 2]
        terms = reference.wide(h)[:, :, None] * slopes(p, a, b)
        close(functions[0](a, b, h, np.full((m, k), np.nan, dtype)), terms, 1, dtype, k)
        close(functions[1](a, b, h, np.full((n, k), np.nan, dtype)), -terms, 0, dtype, k)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("p", [1, 1.5, 2, np.inf])
def test_gradients_of_kernels(p, dtype):
    """exp(-g s), by a, by b and by g."""
    rng = np.random.default_rng()
    functions = [gradient_of(by, FUNCTIONS[p][0], True, dtype) for by in ("lhs", "rhs", "param, 0")]
    scalar = np.float64 if dtype == np.float64 else np.float32
    g = scalar(0.125)
    for m, n, k in list(rng.choice(SIZES, (4, 3))) + [(7, 150, 3)]:
        a, b, h = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k), (m, n)))
        exponents = float(g) * expected(p, a, b)
        weight = reference.wide(h) * np.exp(-exponents)
        terms = -float(g) * weight[:, :, None] * slopes(p, a, b)
        close(functions[0](a, b, h, g, np.full((m, k), np.nan, dtype)), terms, 1, dtype, k, exponents[:, :, None])
        close(functions[1](a, b, h, g, np.full((n, k), np.nan, dtype)), -terms, 0, dtype, k, exponents[:, :, None])
        close(functions[2](a, b, h, g, np.full((), np.nan, scalar)), -expected(p, a, b) * weight, (0, 1),
              np.float64 if dtype == np.float64 else np.float32, k, exponents)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("p", [1, 1.3, 2, np.inf])
def test_tangents_of_kernels(p, dtype):
    """exp(-g s) along directions of a, b and g, of which that of b and g change with the batch."""
    rng = np.random.default_rng()
    scalar = np.float64 if dtype == np.float64 else np.float32
    operands = PAIR | {"g": "T", "da": MATRIX, "db": "tensor<2x?x?xT>", "dg": f"tensor<2x{NAMES[scalar]}>"}
    function = compiled(f"kron.pairwise_tangent {FUNCTIONS[p][0]} ins(%a, %b : :a, :b) params(%g : :g)"
                        " along(%da, %db, %dg : :da, :db, :dg)", operands, "tensor<2x?x?xT>", GAUSSIAN, dtype)
    g, dg = scalar(0.125), np.array([0.5, -2], scalar)
    for m, n, k in list(rng.choice(SIZES, (3, 3))) + [(7, 150, 3)]:
        a, b, da, db = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k), (m, k), (2, n, k)))
        if m and n:
            b[0] = a[0]
        reduced = expected(p, a, b)
        value = np.exp(-0.125 * reduced)
        change = reference.wide(da)[:, None, :] - reference.wide(db)[:, None, :, :]
        terms = -0.125 * value[..., None] * slopes(p, a, b) * change
        of_g = -reference.wide(dg)[:, None, None, None] * (reduced * value)[..., None]
        result = function(a, b, g, da, db, dg, np.full((2, m, n), np.nan, dtype))
        # What g changes may cancel what rows change.
        sizes = np.concatenate([terms, of_g], -1)
        close(result, sizes, -1, dtype, 4 * k + 8, 0.125 * reduced[..., None])


def test_one_array_on_both_sides():
    """Distances of a to itself, and their gradient by the left ones."""
    x = np.random.default_rng().standard_normal((9, 4))
    distances = compiled("kron.pairwise square_diff ins(%a, %a : :a, :a)", {"a": MATRIX}, MATRIX)
    np.testing.assert_allclose(distances(x, np.zeros((9, 9))), expected(2, x, x), rtol=1e-14)
    h = np.ones((9, 9))
    gradient = compiled("kron.pairwise_grad by(lhs) square_diff ins(%a, %a : :a, :a) grad(%h : :h)",
                        {"a": MATRIX, "h": MATRIX}, MATRIX)
    np.testing.assert_allclose(gradient(x, h, np.zeros((9, 4))), slopes(2, x, x).sum(1), rtol=1e-13, atol=1e-13)


def test_gradients_add_up_over_the_batch():
    """Where the destination lacks its dimensions, or has 1; transposed operands."""
    rng = np.random.default_rng()
    a, b, h, g = (rng.standard_normal(shape) for shape in ((5, 4), (3, 70, 4), (2, 1, 70, 5), (3,)))
    operands = {"a": MATRIX, "b": "tensor<3x?x?xT>", "h": "tensor<2x1x?x?xT>", "g": "tensor<3xT>"}
    clause = "square_diff ins(%a, %b : :a, :b) grad(T(%h) : :h) params(%g : :g)"
    difference = a[:, None, :] - b[:, None]
    reduced = (difference**2).sum(-1)
    weight = np.swapaxes(h, -1, -2) * np.exp(-g[:, None, None] * reduced)
    terms = -2 * (g[:, None, None] * weight)[..., None] * difference
    for by, result, wanted in (
            ("lhs", (5, 4), terms.sum((0, 1, 3))), ("lhs", (2, 1, 5, 4), terms.sum((1, 3))[:, None]),
            ("lhs", (2, 3, 5, 4), terms.sum(3)), ("rhs", (3, 70, 4), -terms.sum((0, 2))),
            ("param, 0", (3,), (-reduced * weight).sum((0, 2, 3))), ("param, 0", (), (-reduced * weight).sum())):
        batch = "".join(f"{size}x" for size in (result if by.startswith("p") else result[:-2]))
        kind = f"tensor<{batch}T>" if by.startswith("p") else f"tensor<{batch}?x?xT>"
        kind = kind.replace("xT", "xf64")
        function = compiled(f"kron.pairwise_grad by({by}) {clause}", operands, kind, GAUSSIAN)
        np.testing.assert_allclose(function(a, b, h, g, np.full(result, np.nan)), wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradient_of_a_product(dtype):
    """Factors in place of the gradient by the matrix, of which 64 columns are in memory."""
    rng = np.random.default_rng()
    m, n, k, c = 13, 150, 5, 3
    a, b, u, v = (reference.random(rng, shape, dtype) for shape in ((m, k), (n, k), (m, c), (n, c)))
    operands = PAIR | {"u": MATRIX, "v": MATRIX, "g": "T"}
    function = compiled("kron.pairwise_grad by(lhs) square_diff ins(%a, %b : :a, :b) factors(%u, %v : :u, :v)"
                        " params(%g : :g)", operands, MATRIX, GAUSSIAN, dtype)
    g = dtype(0.125)
    exponents = 0.125 * expected(2, a, b)
    terms = (reference.wide(u)[:, None, :] * reference.wide(v)[None]) * np.exp(-exponents)[..., None]
    terms = (-0.125 * terms[:, :, None, :] * slopes(2, a, b)[..., None]).transpose(0, 2, 1, 3).reshape(m, k, -1)
    close(function(a, b, u, v, g, np.zeros((m, k), dtype)), terms, 2, dtype, k + c,
          np.repeat(exponents, c, axis=1)[:, None, :])


@pytest.mark.parametrize("p", [1, 1.3, 2])
def test_weights_of_several_outputs(p):
    """sum_n C[o, n] W[m, n] d|a[m, k] - b[n, k]|^p, kermac's cdist_grad, ties among the elements."""
    rng = np.random.default_rng()
    o, m, n, k = 4, 11, 70, 6
    a, b = (np.round(rng.standard_normal(shape), 1) for shape in ((m, k), (n, k)))
    w, weights = rng.standard_normal((n, m)), rng.standard_normal((o, n, 1))
    operands = PAIR | {"w": MATRIX, "u": MATRIX, "v": "tensor<4x?x?xT>"}
    function = compiled(f"kron.pairwise_grad by(lhs) {FUNCTIONS[p][0]} ins(%a, %b : :a, :b) grad(T(%w) : :w)"
                        " factors(%u, %v : :u, :v)", operands, "tensor<4x?x?xT>")
    result = function(a, b, w, np.ones((m, 1)), weights, np.zeros((o, m, k)))
    wanted = np.einsum("on,nm,mnk->omk", weights[..., 0], w, slopes(p, a, b))
    np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)


#: Functions, with epilogues that have derivatives where rows differ.
KERNELS = {
    "gaussian": ("square_diff", GAUSSIAN),
    "laplace": ("abs_diff", GAUSSIAN),
    "p = 1.3": ("pow_diff(1.3)", GAUSSIAN),
    "p = 3": ("pow_diff(3.0)", "epilogue { ^bb0(%s: T, %q: T): %c = arith.constant 0.333 : T "
              "%r = math.powf %s, %c : T kron.pairwise_yield %r : T }"),
    "maximum": ("abs_diff reduce(max)", GAUSSIAN),
    "matern32": ("square_diff", "epilogue { ^bb0(%s: T, %q: T): %r = math.sqrt %s : T %t = arith.mulf %r, %q : T "
                 "%n = arith.negf %t : T %e = math.exp %n : T %o = arith.constant 1.0 : T "
                 "%f = arith.addf %o, %t : T %y = arith.mulf %e, %f : T kron.pairwise_yield %y : T }"),
    "rational_quadratic": ("square_diff", "epilogue { ^bb0(%s: T, %q: T): %o = arith.constant 1.0 : T "
                           "%t = arith.divf %s, %q : T %base = arith.addf %o, %t : T %n = arith.negf %q : T "
                           "%y = math.powf %base, %n : T kron.pairwise_yield %y : T }"),
    "periodic": ("", "inner { ^bb0(%left: T, %right: T, %q: T): %d = arith.subf %left, %right : T %t = arith.mulf %d, %q : T "
                 "%s = math.sin %t : T %y = arith.mulf %s, %s : T kron.pairwise_yield %y : T } "
                 "epilogue { ^bb0(%s: T, %q: T): %n = arith.negf %s : T %y = math.exp %n : T "
                 "kron.pairwise_yield %y : T }"),
    "polynomial": ("dot", "epilogue { ^bb0(%s: T, %q: T): %t = arith.addf %s, %q : T %y = arith.mulf %t, %t : T "
                   "kron.pairwise_yield %y : T }"),
}
STEP = 1e-5


def difference_quotient(function, point, directions):
    """The derivative of `function` along directions, up to STEP^2."""
    ahead, behind = ([x + sign * STEP * d for x, d in zip(point, directions)] for sign in (1, -1))
    return (function(*ahead) - function(*behind)) / (2 * STEP)


@pytest.mark.parametrize("name", KERNELS)
def test_first_and_second_derivatives(name):
    """Tangents are those of kron.pairwise, and second derivatives those of gradients, of which the
    one along directions is the derivative."""
    rng = np.random.default_rng(7)
    function, tail = KERNELS[name]
    m, n, k, c = 5, 67, 3, 2
    # No two elements are close, where quotients of differences say little of powers.
    point = (rng.integers(-1, 2, (m, k)) + rng.uniform(0.1, 0.4, (m, k)),
             rng.integers(-1, 2, (n, k)) + rng.uniform(0.6, 0.9, (n, k)), np.float64(0.7))
    directions = rng.standard_normal((m, k)), rng.standard_normal((n, k)), np.float64(0.3)
    h, u, v = rng.standard_normal((m, n)), rng.standard_normal((m, c)), rng.standard_normal((n, c))
    operands = PAIR | {"g": "T"}
    along = {"da": MATRIX, "db": MATRIX, "dg": "T"}
    clause, along_clause = f"{function} ins(%a, %b : :a, :b)", "along(%da, %db, %dg : :da, :db, :dg)"

    def check(operation, extra, result, kind, tangent=None):
        """`extra` are operands of `operation` that do not move."""
        plain = compiled(operation.replace("ALONG", ""), operands | dict.fromkeys(extra, MATRIX), kind, tail)
        moved = compiled((tangent or operation).replace("ALONG", along_clause),
                         operands | dict.fromkeys(extra, MATRIX) | along, kind, tail)
        given = list(extra.values())
        wanted = difference_quotient(lambda *x: plain(*x, *given, np.zeros(result)), point, directions)
        found = moved(*point, *given, *directions, np.zeros(result))
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-7 * (1 + np.max(np.abs(wanted))))

    check(f"kron.pairwise {clause} params(%g : :g)", {}, (m, n), MATRIX,
          f"kron.pairwise_tangent {clause} params(%g : :g) ALONG")
    check(f"kron.pairwise_apply {clause} values(%v : :v) params(%g : :g) ALONG", {"v": v}, (m, c), MATRIX)
    for by, result, kind in (("lhs", (m, k), MATRIX), ("rhs", (n, k), MATRIX), ("param, 0", (), "tensor<T>")):
        check(f"kron.pairwise_grad by({by}) {clause} grad(%h : :h) params(%g : :g) ALONG", {"h": h}, result, kind)
        check(f"kron.pairwise_grad by({by}) {clause} factors(%u, %v : :u, :v) params(%g : :g) ALONG",
              {"u": u, "v": v}, result, kind)
    # The first derivatives by all operands, which the gradient along a direction is their product with.
    tangent = compiled(f"kron.pairwise_tangent {clause} params(%g : :g) {along_clause}", operands | along, MATRIX, tail)
    total = sum(np.sum(compiled(f"kron.pairwise_grad by({by}) {clause} grad(%h : :h) params(%g : :g)",
                                operands | {"h": MATRIX}, kind, tail)(*point, h, np.zeros(result)) * direction)
                for by, result, kind, direction in zip(
                    ("lhs", "rhs", "param, 0"), ((m, k), (n, k), ()), (MATRIX, MATRIX, "tensor<T>"), directions))
    np.testing.assert_allclose(total, np.sum(h * tangent(*point, *directions, np.zeros((m, n)))), rtol=1e-10)


@pytest.mark.parametrize("expression", [
    "absf", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "atan", "erf", "floor", "ceil", "round", "roundeven", "trunc", "fma", "powf",
    "maximumf", "minimumf", "maxnumf", "minnumf", "divf", "subf", "select", "narrowed"])
def test_rules_of_derivatives(expression):
    """Each operation that regions may hold, first and second, by the reduced value and by a parameter."""
    code = {
        "fma": "%y = math.fma %s, %q, %s : T", "powf": "%y = math.powf %s, %q : T",
        "divf": "%y = arith.divf %q, %s : T", "subf": "%y = arith.subf %q, %s : T",
        "select": "%c = arith.cmpf olt, %s, %q : T %z = arith.mulf %s, %s : T %y = arith.select %c, %z, %q : T",
        "narrowed": "%n = arith.truncf %s : f64 to f32 %e = math.exp %n : f32 %y = arith.extf %e : f32 to f64",
    }.get(expression)
    if code is None and expression.endswith("mf"):
        code = f"%y = arith.{expression} %s, %q : T"
    tail = (f"epilogue {{ ^bb0(%s: T, %q: T): {code or f'%y = math.{expression} %s : T'} "
            "%x = arith.mulf %y, %q : T kron.pairwise_yield %x : T }")
    rng = np.random.default_rng(3)
    point = rng.uniform(0.3, 0.9, (4, 1)), rng.uniform(0.5, 1.4, (3, 1)), np.float64(0.6)
    directions = rng.standard_normal((4, 1)), rng.standard_normal((3, 1)), np.float64(0.4)
    operands = PAIR | {"g": "T"}
    along = {"da": MATRIX, "db": MATRIX, "dg": "T"}
    clause = "dot ins(%a, %b : :a, :b) {} params(%g : :g) {}"
    along_clause = "along(%da, %db, %dg : :da, :db, :dg)"
    h = rng.standard_normal((4, 3))
    accurate = 2e-3 if expression == "narrowed" else 1e-6
    step = 1e-2 if expression == "narrowed" else STEP

    def quotient(function):
        ahead, behind = ([x + sign * step * d for x, d in zip(point, directions)] for sign in (1, -1))
        return (function(*ahead) - function(*behind)) / (2 * step)

    pairwise = compiled("kron.pairwise " + clause.format("", ""), operands, MATRIX, tail)
    tangent = compiled("kron.pairwise_tangent " + clause.format("", along_clause), operands | along, MATRIX, tail)
    np.testing.assert_allclose(tangent(*point, *directions, np.zeros((4, 3))),
                               quotient(lambda *x: pairwise(*x, np.zeros((4, 3)))), rtol=accurate, atol=accurate)
    for by, result, kind in (("lhs", (4, 1), MATRIX), ("param, 0", (), "tensor<T>")):
        gradient = compiled(f"kron.pairwise_grad by({by}) " + clause.format("grad(%h : :h)", ""),
                            operands | {"h": MATRIX}, kind, tail)
        second = compiled(f"kron.pairwise_grad by({by}) " + clause.format("grad(%h : :h)", along_clause),
                          operands | {"h": MATRIX} | along, kind, tail)
        np.testing.assert_allclose(second(*point, h, *directions, np.zeros(result)),
                                   quotient(lambda *x: gradient(*x, h, np.zeros(result))),
                                   rtol=accurate, atol=accurate)


@pytest.mark.parametrize("p", [0.5, 1, 1.3, 1.5, 2, 3, np.inf])
def test_equal_rows_have_no_derivative(p):
    """The root of a sum of powers has none where that is 0, which counts as 0; the others are finite."""
    x = np.random.default_rng().standard_normal((6, 4))
    inverse = 1.0 if p == np.inf else 1 / p
    tail = (f"epilogue {{ ^bb0(%s: T): %c = arith.constant {inverse!r} : T "
            "%r = math.powf %s, %c : T kron.pairwise_yield %r : T }")
    gradient = compiled(f"kron.pairwise_grad by(lhs) {FUNCTIONS[p][0]} ins(%a, %b : :a, :b) grad(%h : :h)",
                        PAIR | {"h": MATRIX}, MATRIX, tail)
    np.testing.assert_array_equal(gradient(x, x.copy(), np.eye(6), np.ones((6, 4))), 0)
    second = compiled(f"kron.pairwise_grad by(lhs) {FUNCTIONS[p][0]} ins(%a, %b : :a, :b) grad(%h : :h)"
                      " along(%da, %db : :da, :db)", PAIR | {"h": MATRIX, "da": MATRIX, "db": MATRIX}, MATRIX, tail)
    result = second(x, x.copy(), np.ones((6, 6)), x, np.zeros((6, 4)), np.ones((6, 4)))
    assert np.all(np.isfinite(result))


@pytest.mark.parametrize("function", ["abs_diff", "square_diff", "abs_diff reduce(max)", "pow_diff(1.3)"])
def test_nan_stays_in_its_row(function):
    rng = np.random.default_rng()
    a, b, h = rng.standard_normal((7, 5)), rng.standard_normal((70, 5)), rng.standard_normal((7, 70))
    a[2, 3] = np.nan
    result = gradient_of("lhs", function, gaussian=True)(a, b, h, 0.1, np.zeros((7, 5)))
    wanted = np.zeros((7, 5), bool)
    wanted[2] = True
    np.testing.assert_array_equal(np.isnan(result), wanted)


def test_sizes_must_match_at_run_time():
    function = gradient_of("lhs", "abs_diff")
    with pytest.raises(ValueError, match="expects axis 1 to have size 3, as axis 0"):
        function(np.zeros((2, 4)), np.zeros((3, 4)), np.zeros((2, 5)), np.zeros((2, 4)))
