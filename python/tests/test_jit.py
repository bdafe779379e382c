"""kron.jit: traced functions against NumPy, and what becomes of their operations.

SPDX-License-Identifier: MIT
"""

import collections

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import kron

rng = np.random.default_rng(0)
FACTORS = [rng.standard_normal((4, 4)), rng.standard_normal((3, 3))]
DENSE = np.kron(*FACTORS)


def test_jit():
    traced = []

    @kron.jit(dynamic={"x": {0: "m"}, "z": {0: "m"}})
    def f(x, factors, z, twice=False):
        traced.append(x.shape)
        y = kron.mkm(x, factors, beta=0.5, z=z)
        return y + y if twice else y

    for m in (2, 5):
        x, z = rng.standard_normal((m, 12)), rng.standard_normal((m, 12))
        np.testing.assert_allclose(f(x, FACTORS, z), x @ DENSE + 0.5 * z)
    assert len(traced) == 1
    np.testing.assert_allclose(f(x, FACTORS, z, twice=True), 2 * (x @ DENSE + 0.5 * z))
    assert len(traced) == 2
    with pytest.raises(ValueError, match="'z'"):
        f(x, FACTORS, z[:-1])


def test_jit_ksmm_chain():
    weights = [rng.standard_normal((1, 2, 3, 4)), rng.standard_normal((2, 2, 2, 2))]
    bias = rng.standard_normal(8)

    @kron.jit
    def f(x, weights, bias):
        return kron.ksmm_chain(x, weights, bias=bias, epilogue="relu")

    x = rng.standard_normal((5, 12))
    expected = reference.ksmm(reference.ksmm(x, weights[0]), weights[1]) + bias
    np.testing.assert_allclose(f(x, weights, bias), np.maximum(expected, 0), atol=1e-12)


def test_layouts_of_sparse_products():
    """Row-major arrays get a function for nothing else, others one that takes all."""
    weights = rng.standard_normal((1, 2, 3, 4))
    rows, gaps = rng.standard_normal((5, 12)), rng.standard_normal((5, 14))[:, :12]

    def f(x, weights):
        return kron.ksmm(x, weights)

    for order, needs in ([rows, gaps, rows, gaps], [True, False]), ([gaps, rows], [False]):
        jitted = kron.jit(f)
        for x in order:
            np.testing.assert_allclose(jitted(x, weights), reference.ksmm(x, weights), atol=1e-12)
        assert [function.needs_row_major for function, _ in jitted._compiled.values()] == needs
    # Captured arrays count, too.
    jitted = kron.jit(lambda weights: kron.ksmm(gaps, weights))
    np.testing.assert_allclose(jitted(weights), reference.ksmm(gaps, weights), atol=1e-12)
    assert not next(iter(jitted._compiled.values()))[0].needs_row_major


def test_compiled_for_row_major():
    specs = kron.Spec(("m", 12), float), kron.Spec((1, 2, 3, 4), float)
    weights, x = rng.standard_normal((1, 2, 3, 4)), rng.standard_normal((5, 14))[:, :12]

    def f(x, weights):
        return kron.ksmm(x, weights)

    for row_major in (False, True):
        library = kron.compile(f, *specs, row_major=row_major)
        assert library["f"].needs_row_major == row_major
        np.testing.assert_allclose(library(x, weights), reference.ksmm(x, weights), atol=1e-12)
    with pytest.raises(ValueError, match="expects a row-major array"):
        library(np.ascontiguousarray(x), weights, out=np.empty((5, 9))[:, :8])
    with pytest.raises(TypeError, match="expects no row_major with a module"):
        kron.compile(library.mlir, row_major=True)


def operations(function, *args):
    """Names of the array operations that a traced function has."""
    text = str(kron.jit(function).trace(*args))
    return [word for word in text.replace("(", " ").split()
            if word.startswith(("kron.", "linalg.")) and word[5:9] not in ("name", "prec")
            and word != "linalg.yield"]


X = kron.Spec(("m", 12), np.float64)
SPECS = [kron.Spec(f.shape, f.dtype) for f in FACTORS]


@pytest.mark.parametrize("function, expected", [
    # Multiples and sums become alpha, beta and addend.
    (lambda x, a, b: kron.mkm(x, [a, b]) * 2 + x, ["kron.mkm"]),
    (lambda x, a, b: x / 4 - kron.mkm(x, [a, b]), ["kron.mkm"]),
    (lambda x, a, b: kron.mkm(x, [a, b]) + kron.mkm(x, [b, a]), ["kron.mkm"] * 2),
    (lambda x, a, b: (kron.mkm(x, [a, b], beta=2, z=x) - x) * 3, ["kron.mkm"]),
    # What is needed as it is stays.
    (lambda x, a, b: (lambda y: (y, y + x))(kron.mkm(x, [a, b])), ["kron.mkm", "linalg.generic"]),
    (lambda x, a, b: (lambda y: y * y)(kron.mkm(x, [a, b])), ["kron.mkm", "linalg.generic"]),
    (lambda x, a, b: kron.mkm(x, [a, b]) * 0 + x, ["kron.mkm", "linalg.generic"]),
    # Arithmetic is one loop.
    (lambda x, a, b: (x - 3) * x + 2 * x, ["linalg.generic"]),
    (lambda x, a, b: (kron.mkm(x, [a, b]), x)[1] + 1, ["linalg.generic"]),
])
def test_folding(function, expected):
    assert operations(function, X, *SPECS) == expected
    x = rng.standard_normal((3, 12))
    results = kron.jit(function)(x, *FACTORS)
    eager = function(x, *FACTORS)
    for result, value in zip(*(r if isinstance(r, tuple) else (r,) for r in (results, eager))):
        np.testing.assert_allclose(result, value, atol=1e-12)


class Expression:
    """A random function of x, z and two factors, for kron and for NumPy."""

    def __init__(self, data, dtype):
        self.data, self.dtype = data, dtype

    def draw(self, *choices):
        return self.data.draw(st.sampled_from(choices))

    def number(self):
        if self.dtype.kind == "i":
            return self.draw(0, 1, -1, 3)
        return self.draw(0, 1, -1, 0.5, 2, 1j if self.dtype.kind == "c" else 4)

    def steps(self):
        """[(operation, operands)], operands being numbers of earlier results."""
        count = self.data.draw(st.integers(1, 7))
        pick = lambda i: self.data.draw(st.integers(0, i + 1))  # noqa: E731
        steps = []
        for i in range(count):
            kind = self.draw("product", "product", "add", "sub", "mul", "scale", "row", "neg")
            if kind == "product":
                steps.append((kind, pick(i), self.draw("mkm", "ksmm"), self.number(),
                              self.number(), pick(i)))
            elif kind == "scale":
                steps.append((kind, pick(i), self.number()))
            else:
                steps.append((kind, pick(i), pick(i)))
        return steps


def evaluate(steps, x, z, row, a, b, weights, mkm, ksmm):
    values = [x, z]
    for kind, first, *rest in steps:
        left = values[first]
        if kind == "product":
            name, alpha, beta, other = rest
            product = mkm(left, [a, b]) if name == "mkm" else ksmm(left, weights)
            values.append(product * alpha + values[other] * beta)
        elif kind == "scale":
            values.append(left * rest[0])
        elif kind == "neg":
            values.append(-left)
        elif kind == "row":
            values.append(left + row)
        elif kind == "mul" and len(values) < 4:
            values.append(left * values[rest[0]])
        else:
            other = values[rest[0]]
            values.append(left + other if kind == "add" else left - other)
    return values[-1], values[len(values) // 2]


@given(st.data())
def test_random_functions(data):
    dtype = np.dtype(data.draw(st.sampled_from([np.float64, np.int32, np.complex128])))
    own = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x, z = (reference.random(own, (5, 6), dtype) for _ in range(2))
    row = reference.random(own, (6,), dtype)
    a, b, weights = (reference.random(own, shape, dtype)
                     for shape in ((2, 2), (3, 3), (1, 2, 2, 3)))
    steps = Expression(data, dtype).steps()

    @kron.jit(dynamic=data.draw(st.sampled_from([None, {"x": {0: "m"}, "z": {0: "m"}}])))
    def function(x, z, row, a, b, weights):
        return evaluate(steps, x, z, row, a, b, weights, kron.mkm, kron.ksmm)

    def exact(x, z, row, a, b, weights):
        return evaluate(steps, x, z, row, a, b, weights, reference.mkm, reference.ksmm)

    arrays = (x, z, row, a, b, weights)
    wide = [reference.wide(array) for array in arrays]
    # The norm of the terms, where sums may cancel.
    bounds = evaluate([(k, f, *(abs(r) if isinstance(r, (float, complex)) or (
        isinstance(r, int) and r < 0) else r for r in rest)) if k not in ("neg", "sub")
        else ("add" if k == "sub" else k, f, *rest) for k, f, *rest in steps],
        *map(np.abs, wide), reference.mkm, reference.ksmm)
    with np.errstate(all="ignore"):
        for result, expected, bound in zip(function(*arrays), exact(*wide), bounds):
            reference.check(result, expected, dtype, len(steps) * np.linalg.norm(bound))


def test_numpy_arrays_from_elsewhere():
    weights = rng.standard_normal((12,))

    @kron.jit
    def f(x):
        return kron.mkm(x, FACTORS) * weights + kron.mkm(x, FACTORS)

    x = rng.standard_normal((5, 12))
    np.testing.assert_allclose(f(x), (x @ DENSE) * weights + x @ DENSE, atol=1e-12)
    with pytest.raises(TypeError, match="arguments"):
        kron.compile(f, x)


def test_constants_of_other_types_are_others():
    @kron.jit
    def f(x, flag):
        return x * 2 if flag is True else x * 3

    x = np.ones(4)
    assert f(x, True)[0] == 2 and f(x, 1)[0] == 3 and f(x, 1.0)[0] == 3 and f(x, True)[0] == 2


def test_arguments_of_all_kinds():
    pair = collections.namedtuple("pair", "a b")

    @kron.jit
    def f(x, *more, scale=1, **named):
        return x * scale + more[0].a - (named["other"]["a b"] if named else more[0].b)

    x = rng.standard_normal((2, 3))
    np.testing.assert_allclose(f(x, pair(x, 2 * x), scale=3), 2 * x)
    np.testing.assert_allclose(f(x, pair(x, 2 * x), other={"a b": x}), x)
    with pytest.raises(TypeError, match="hashed"):
        f(x, pair(x, x), other={1})
    with pytest.raises(TypeError, match="argument"):
        f()


def test_reshape_and_matmul():
    x, a = rng.standard_normal((5, 4)), rng.standard_normal((4, 2))
    for dynamic in (None, {"x": (0,)}, {"x": {-2: "m"}}):
        f = kron.jit(lambda x, a: (x @ a, x.T), dynamic=dynamic)
        np.testing.assert_allclose(f(x, a)[0], x @ a)
        np.testing.assert_array_equal(f(x, a)[1], x.T)

    @kron.jit
    def g(x):
        return x.reshape(-1, 2), x.reshape((2, -1)).reshape(2, 5, -1), x.reshape(20)

    for result, shape in zip(g(x), ((10, 2), (2, 5, 2), (20,))):
        np.testing.assert_array_equal(result, x.reshape(shape))


@pytest.mark.parametrize("dynamic", [None, {"x": {0: "m"}}])
def test_reshape_to_axes_of_one(dynamic):
    """Behind axes that stay, known and open ones."""
    @kron.jit(dynamic=dynamic)
    def f(x):
        return x.reshape(x.shape[0], 4, 1, 1), x.reshape(*x.shape, 1).reshape(x.shape[0], 4)

    @kron.jit(dynamic=dynamic)
    def g(x):
        return x.reshape(x.shape[0], 1, 1).reshape(x.shape[0])

    x = rng.standard_normal((5, 4))
    for result, shape in zip(f(x), ((5, 4, 1, 1), (5, 4))):
        np.testing.assert_array_equal(result, x.reshape(shape))
    np.testing.assert_array_equal(g(x[:, 0].copy()), x[:, 0])


@pytest.mark.parametrize("dynamic, error, text", [
    ({"y": {0: "m"}}, ValueError, "y"), (3, TypeError, "dynamic"),
    ({"x": 3}, TypeError, "dynamic"), ({"x": {5: "m"}}, ValueError, "axes"),
    ({"x": {0: "a b"}}, ValueError, "identifier")])
def test_bad_dynamic(dynamic, error, text):
    with pytest.raises(error, match=text):
        kron.jit(lambda x: x * 2, dynamic=dynamic)(np.ones((2, 3)))


def test_arrays_that_kernels_do_not_take():
    f = kron.jit(lambda x: x * 2)
    x = rng.standard_normal((4, 6))
    for view in (x[::-1, ::-1], x.astype(">f8"), x[:, ::2], x[:0], np.asfortranarray(x),
                 np.float32(x)):
        np.testing.assert_array_equal(f(view), view * 2)


def ones(*shape):
    return np.ones(shape, np.float32)


M = {"x": {0: "m"}}


@pytest.mark.parametrize("function, arrays, dynamic, expected", [
    (lambda x, f: kron.mkm(x, [f], alpha=0), (ones(5, 24), ones(24, 3)), M, (5, 3)),
    (lambda x, f: kron.mkm(x, [f], alpha=0).T, (ones(5, 24), ones(24, 3)), M, (3, 5)),
    (lambda x, f: kron.mkm(x, [f], alpha=0).reshape("m", 3, 2), (ones(5, 4), ones(4, 6)), M,
     (5, 3, 2)),
    (lambda x, f: kron.mkm(x, [f], alpha=0), (ones(2, 5, 24), ones(24, 3)), {"x": (0, 1)},
     (2, 5, 3)),
    (lambda x, f: kron.mkm(x, [f], alpha=0), (ones(5, 24), ones(2, 24, 3)), {"x": (0,), "f": (0,)},
     (2, 5, 3)),
    (lambda x, f: kron.kmm(x, [f], alpha=0), (ones(24, 5), ones(3, 24)), {"x": (1,)}, (3, 5)),
    (lambda x, f: kron.batched(x, [f, f], alpha=0), (ones(5, 4, 4), ones(3, 4)), M, (5, 3, 3)),
    (lambda x, w: kron.ksmm(x, w, alpha=0), (ones(5, 12), ones(1, 2, 3, 4)), M, (5, 8)),
    (lambda x, w: kron.ksmm(x, w, layout="batch_last", alpha=0), (ones(12, 5), ones(1, 2, 3, 4)),
     {"x": (1,)}, (8, 5)),
    # Something else is written in its place.
    (lambda x, f, z: kron.mkm(x, [f], alpha=0, beta=1, z=z), (ones(5, 24), ones(24, 3), ones(3)),
     M, (5, 3)),
    (lambda x, f, z: kron.mkm(x, [f], alpha=0, beta=2, z=z), (ones(5, 24), ones(24, 3), ones(1, 1)),
     M, (5, 3)),
])
def test_shape_of_a_result_that_no_input_is_read_for(function, arrays, dynamic, expected):
    jitted = kron.jit(function, dynamic=dynamic)
    for _ in range(2):
        result = jitted(*arrays)
        assert result.shape == expected
        np.testing.assert_array_equal(result, np.broadcast_to(result.flat[0], expected))
    # The compiled function knows the size, too.
    with pytest.raises(ValueError, match="expects axis . to have size 5, as .* but got 6"):
        next(iter(jitted._compiled.values()))[0](
            *arrays, out=np.empty([size + (size == 5) for size in expected], np.float32))


def test_size_that_no_argument_says():
    """Out has to be given: no other axis says the size."""
    doubled = kron.compile("""
func.func @f(%x: tensor<?x24xf32>) -> tensor<?x3xf32> {
  %zero = arith.constant 0 : index
  %number = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %zero : tensor<?x24xf32>
  %twice = arith.addi %rows, %rows : index
  %e = tensor.empty(%twice) : tensor<?x3xf32>
  %y = linalg.fill ins(%number : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}""")
    with pytest.raises(ValueError, match="out, since nothing tells the size of axis 0"):
        doubled(ones(5, 24))
    out = ones(10, 3)
    assert doubled(ones(5, 24), out=out) is out and not out.any()


@pytest.mark.parametrize("dtype", reference.DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("function", [
    lambda y, a, b: y - a + b, lambda y, a, b: -(y + a) - b, lambda y, a, b: a - y - 3 * b,
    lambda y, a, b: (y - a) * 2 - (b - 1), lambda y, a, b: 2 - a - y - b])
def test_sums_of_products_and_arrays(function, dtype):
    x, a, b = (reference.random(rng, (3, 4), dtype) for _ in range(3))
    factor = reference.random(rng, (4, 4), dtype)
    result = kron.jit(lambda x, f, a, b: function(kron.mkm(x, [f]), a, b))(x, factor, a, b)
    wx, wf, wa, wb = map(reference.wide, (x, factor, a, b))
    scale = np.linalg.norm(2 * np.abs(wx) @ np.abs(wf) + 2 * np.abs(wa) + 3 * np.abs(wb) + 3)
    reference.check(result, function(wx @ wf, wa, wb), dtype, scale)


@pytest.mark.parametrize("dtype, big", [(np.float32, 1e30), (np.float64, 1e200),
                                        (np.complex64, 1e30), (np.complex128, 1e200)])
def test_coefficients_that_the_type_has_not(dtype, big):
    """Constants are not multiplied if they come to more, or less, than the type holds."""
    small, one = 1 / big, np.eye(2, dtype=dtype)
    low, high, zero = (np.full((1, 2), number, dtype) for number in (small, big, 0))

    @kron.jit
    def f(low, high, zero, one):
        return (kron.mkm(low, [one]) * big * big, kron.mkm(high, [one]) * small * small,
                kron.mkm(low, [one], beta=big, z=zero) * big,
                (kron.mkm(low, [one]) - zero * big * big) * big)

    for result, expected in zip(f(low, high, zero, one), (big, small, 1, 1)):
        np.testing.assert_allclose(result, np.full((1, 2), expected, dtype), rtol=1e-5)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e39, 10**400, "2", True,
                                    np.bool_(True), 1j])
def test_numbers_that_arithmetic_refuses(number):
    x = ones(2, 2)
    for function in (lambda x: x + number, lambda x: number - x,
                     lambda x: kron.mkm(x, [x]) * number,
                     lambda x: kron.mkm(x, [x], alpha=number),
                     lambda x: kron.mkm(x, [x], beta=number, z=x)):
        with pytest.raises((TypeError, ValueError, OverflowError), match="number|alpha|beta"):
            kron.jit(function)(x)


@pytest.mark.parametrize("number", [0, -0.0, 3, 2**31, 1e22, 5e-324, 3.4e38, np.int8(3),
                                    np.uint64(2**63), np.float16(0.5), np.longdouble(2),
                                    np.array(2.5)], ids=repr)
def test_numbers_that_arithmetic_takes(number):
    x = rng.random((2, 2), np.float32)
    result = kron.jit(lambda x: (x + number, number - x, x * number, number / x))(x)
    narrow = np.float32(number)
    with np.errstate(all="ignore"):
        for own, expected in zip(result, (x + narrow, narrow - x, x * narrow, narrow / x)):
            np.testing.assert_allclose(own, expected, rtol=1e-6)
    weights = np.ones((1, 1, 1, 2), np.complex64)
    np.testing.assert_allclose(kron.ksmm(x + 0j, weights, scale=number), x * narrow + 0j, rtol=1e-6)


@pytest.mark.parametrize("name", ["malloc", "erf", "register", "size_t", "kron_f"])
def test_names_that_c_has(name):
    def function(x):
        return kron.mkm(x, FACTORS)

    function.__name__ = name
    with pytest.raises(kron.CompileError, match=f"name of a public function .* but got '{name}'"):
        kron.jit(function)(rng.standard_normal((2, 12)))


def test_method_by_its_name():
    class Product:
        def __call__(self, x):
            return kron.mkm(x, FACTORS)

    x = rng.standard_normal((2, 12))
    np.testing.assert_allclose(kron.jit(Product().__call__)(x), x @ DENSE, rtol=1e-12)
