"""Every operation with all of its options together, against NumPy: types, layouts in
memory, transposes, batch dimensions, scaling, addends and results to write into.

SPDX-License-Identifier: MIT
"""

import numpy as np
import reference
from hypothesis import given
from hypothesis import strategies as st

import kron

sizes = st.integers(1, 4)
transposes = st.sampled_from(["N", "T", "C", False, True])
memory = st.sampled_from(["plain", "plain", "reversed", "strided", "fortran", "offset"])


def stored(trans, shape):
    """The shape of an operand whose op() has `shape`."""
    return shape if trans in ("N", False) else shape[:-2] + (shape[-1], shape[-2])


def place(array, kind):
    """The same elements, elsewhere in memory."""
    if kind == "reversed" and array.ndim:
        return np.ascontiguousarray(array[::-1])[::-1]
    if kind == "fortran":
        return np.asfortranarray(array)
    if kind in ("strided", "offset") and array.ndim:
        step = 2 if kind == "strided" else 1
        wide = np.zeros(array.shape[:-1] + (array.shape[-1] * step + 3,), array.dtype)
        view = wide[..., 1:1 + array.shape[-1] * step:step]
        view[...] = array
        return view
    return array


class Draw:
    """Arguments of one call."""

    def __init__(self, data):
        self.data = data
        self.dtype = np.dtype(data.draw(st.sampled_from(reference.DTYPES)))
        self.rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))

    def __call__(self, strategy):
        return self.data.draw(strategy)

    def array(self, shape):
        return place(reference.random(self.rng, shape, self.dtype), self(memory))

    def number(self):
        if self.dtype.kind == "i":
            return self(st.sampled_from([0, 1, -3, 2.0]))
        choices = [0, 1, 1.0, -0.5, 2, np.float32(0.25)]
        if self.dtype.kind == "c":
            choices += [1j, 0.5 - 2j]
        return self(st.sampled_from(choices))

    def broadcast_shape(self, shape):
        """One that broadcasts to `shape`."""
        shape = [1 if self(st.sampled_from([False, False, True])) else size for size in shape]
        return tuple(shape[self(st.sampled_from([0, 0, len(shape) // 2])):])

    def scaling(self, shape):
        """alpha, beta and z, or some of them."""
        options = {}
        if self(st.booleans()):
            options["alpha"] = self.number()
        if self(st.booleans()):
            options["beta"] = self.number()
            options["z"] = self.array(self.broadcast_shape(shape))
        return options

    def out(self, shape, options, inputs):
        """Nothing, a new array, z, or memory that an input lies in."""
        kind = self(st.sampled_from(["none", "none", "new", "z", "input"]))
        if kind == "none":
            return {}
        if kind == "z" and np.shape(options.get("z")) == shape:
            return {"out": options["z"]}
        if kind == "input":
            fitting = [array for array in inputs if array.shape == shape]
            if fitting:
                return {"out": fitting[0]}
        return {"out": self.array(shape)}


def run(function, args, options, expected, scale, dtype):
    """Calls, compares, and checks that nothing but out has changed."""
    out = options.get("out")

    def arrays(value):
        if isinstance(value, np.ndarray):
            return [value]
        return [a for v in value for a in arrays(v)] if isinstance(value, (list, tuple)) else []

    inputs = [a for value in (*args, *options.values()) for a in arrays(value)
              if out is None or not np.shares_memory(a, out)]
    before = [a.copy() for a in inputs]
    result = function(*args, **options)
    assert out is None or result is out
    for array, copy in zip(inputs, before):
        np.testing.assert_array_equal(array, copy)
    reference.check(np.asarray(result), expected, dtype, scale)


def scaled(product, terms, options):
    """alpha * product + beta * z and the norm of the terms of that sum."""
    alpha, beta = options.get("alpha", 1), options.get("beta", 0)
    wide = complex if np.iscomplexobj(product) else float
    if product.dtype.kind == "i":
        wide = int
    expected, total = wide(alpha) * product, abs(alpha) * terms
    if beta != 0:
        z = reference.wide(options["z"])
        expected, total = expected + wide(beta) * z, total + abs(beta) * np.abs(z)
    return expected, np.linalg.norm(np.ravel(np.broadcast_to(total, expected.shape)))


@given(st.data())
def test_products(data):
    draw = Draw(data)
    name = draw(st.sampled_from(["mkm", "kmm", "batched"]))
    pairs = [(draw(sizes), draw(sizes)) for _ in range(draw(st.integers(1, 3)))]
    batch = draw(st.sampled_from([(), (2,), (2, 3), (1, 3), (0,)]))
    trans = [draw(transposes) for _ in pairs]
    factors = []
    for (p, q), t in zip(pairs, trans):
        own = draw(st.sampled_from([(), (), batch, batch[-1:]]))
        core = (p, q) if name == "mkm" else (q, p)
        factors.append(draw.array(stored(t, own + core)))
    trans_x = draw(transposes) if name != "batched" else "N"
    p_all = int(np.prod([p for p, _ in pairs]))
    if name == "batched":
        core = tuple(p for p, _ in pairs)
    else:
        m = draw(st.integers(0, 5))
        core = (m, p_all) if name == "mkm" else (p_all, m)
    x = draw.array(stored(trans_x, batch + core))

    def product(x, factors):
        if name != "batched":
            return getattr(reference, name)(x, factors, trans_x, trans)
        columns = np.reshape(x, batch + (p_all, 1))
        result = reference.kmm(columns, factors, "N", trans)
        return result.reshape(result.shape[:-2] + tuple(q for _, q in pairs))

    plain = product(x, factors)
    options = draw.scaling(plain.shape)
    terms = product(np.abs(x), [np.abs(f) for f in factors])
    expected, scale = scaled(plain, terms, options)
    options.update(draw.out(plain.shape, options, [x, *factors]), trans_factors=trans)
    if name != "batched":
        options["trans_x"] = trans_x
    run(getattr(kron, name), (x, factors), options, expected, scale, draw.dtype)


ACTIVATIONS = {None: lambda v: v, "relu": lambda v: np.maximum(v, 0),
               "silu": lambda v: v / (1 + np.exp(-v))}


def activations(dtype):
    if dtype.kind == "c":
        return [None]
    return [None, "relu"] if dtype.kind == "i" else list(ACTIVATIONS)


@given(st.data())
def test_sparse_chains(data):
    draw = Draw(data)
    count = draw(st.integers(1, 3))
    layout = draw(st.sampled_from(["batch_first", "batch_last"]))
    trans = [draw(transposes) for _ in range(count)]
    patterns, features = [], None
    for _ in range(count):
        a, b, c, d = (draw(st.integers(1, 3)) for _ in range(4))
        if features is not None:
            # The features of the last one are split into a * c * d anew.
            a = draw(st.sampled_from([n for n in (1, 2, 3) if features % n == 0]))
            d = draw(st.sampled_from([n for n in (1, 2, 3) if features // a % n == 0]))
            c = features // a // d
        patterns.append((a, b, c, d))
        features = a * b * d
    stored_patterns = [(a, b, c, d) if t in ("N", False) else (a, c, b, d)
                       for (a, b, c, d), t in zip(patterns, trans)]
    weights = [draw.array(pattern) for pattern in stored_patterns]
    batch = draw(st.sampled_from([(4,), (), (0,), (2, 3)]))
    a, _, c, d = patterns[0]
    inputs = a * c * d

    def shape_of(size):
        return batch + (size,) if layout == "batch_first" else (size,) + batch

    def product(x, weights):
        for own, t in zip(weights, trans):
            t = {False: "N", True: "T"}.get(t, t)
            x = reference.ksmm(x, own, layout, t)
        return x

    x = draw.array(shape_of(inputs))
    plain = product(x, weights)
    options = draw.scaling(plain.shape)
    terms = product(np.abs(x), [np.abs(w) for w in weights])
    value, _ = scaled(plain, terms, options)
    total = np.abs(terms) * abs(options.get("alpha", 1))
    if "z" in options:
        total = total + abs(options["beta"]) * np.abs(reference.wide(options["z"]))
    if draw(st.booleans()):
        bias = options["bias"] = draw.array((features,))
        wide = reference.wide(bias).reshape(
            (features,) if layout == "batch_first" else (features,) + (1,) * len(batch))
        value, total = value + wide, total + np.abs(wide)
    options["epilogue"] = draw(st.sampled_from(activations(draw.dtype)))
    value = ACTIVATIONS[options["epilogue"]](value)
    if draw(st.booleans()):
        factor = 3 if draw.dtype.kind == "i" else 0.5
        options["scale"] = factor
        value, total = value * factor, total * factor
    if draw(st.booleans()):
        residual = options["residual"] = draw.array(draw.broadcast_shape(plain.shape))
        value, total = value + reference.wide(residual), total + np.abs(reference.wide(residual))
    options.update(draw.out(plain.shape, options, [x, *weights]), trans_weights=trans)
    scale = np.linalg.norm(np.ravel(np.broadcast_to(total, value.shape)))
    if count == 1 and draw(st.booleans()):
        options["trans_weights"] = trans[0]
        run(kron.ksmm, (x, weights[0], stored_patterns[0], layout), options, value, scale,
            draw.dtype)
    else:
        run(kron.ksmm_chain, (x, weights, stored_patterns, layout), options, value, scale,
            draw.dtype)
