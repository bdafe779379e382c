"""Every parameter of every function against things that are no such argument: an
exception that names it, or the right result; never a crash, never silent garbage.

SPDX-License-Identifier: MIT
"""

import datetime
import decimal
import fractions
import types

import numpy as np
import pytest

import kron

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 6))
FACTORS = [RNG.standard_normal((2, 2)), RNG.standard_normal((3, 3))]
WEIGHTS = [RNG.standard_normal((1, 2, 3, 2)), RNG.standard_normal((2, 2, 2, 1))]
CALLS = {
    "mkm": dict(x=X, factors=FACTORS),
    "kmm": dict(x=X.T.copy(), factors=FACTORS),
    "batched": dict(x=X.reshape(3, 2, 3), factors=FACTORS),
    "ksmm": dict(x=X, weights=WEIGHTS[0]),
    "ksmm_chain": dict(x=X, weights=WEIGHTS),
}
PRODUCT = ("x", "factors", "alpha", "beta", "z", "out", "trans_x", "trans_factors", "precision")
SPARSE = ("x", "weights", "pattern", "layout", "bias", "z", "epilogue", "alpha", "beta", "out",
          "scale", "residual", "trans_weights", "precision")
PARAMETERS = [(name, parameter) for name in CALLS
              for parameter in (SPARSE if name.startswith("ksmm") else PRODUCT)]


class NoMemory:
    """Claims to export its memory, and does not."""

    def __dlpack__(self, **_):
        raise BufferError("no memory")

    def __dlpack_device__(self):
        raise RuntimeError("no device")


class OddNumber:
    """Compares with nothing."""

    def __eq__(self, _):
        raise RuntimeError("not comparable")

    __hash__ = None


RECURSIVE = []
RECURSIVE.append(RECURSIVE)
GARBAGE = {
    "text": "text", "empty text": "", "NumPy text": np.str_("Q"), "bytes": b"T",
    "set": {1}, "dict": {"a": 1}, "object": object(), "class": int, "function": len,
    "module": np, "slice": slice(3), "ellipsis": ..., "memory": memoryview(b"abc"),
    "ragged": [[1, 2], [3]], "recursive": RECURSIVE, "empty list": [], "Nones": [None, None],
    "generator": (i for i in range(3)), "date": datetime.date(2000, 1, 1),
    "objects": np.array([None, 1]), "texts": np.array(["N", "N"]),
    "records": np.zeros(3, [("a", "f8")]), "dates": np.zeros(3, "M8[s]"),
    "bools": np.ones((3, 6), bool), "int8": np.ones((3, 6), np.int8),
    "uint64": np.ones((3, 6), np.uint64), "long doubles": np.ones((3, 6), np.longdouble),
    "masked": np.ma.ones((3, 6)), "no elements": np.empty((0,)), "17 axes": np.ones((1,) * 17),
    "32 axes": np.ones((1,) * 32), "no memory": NoMemory(), "odd": OddNumber(),
    "bad interface": types.SimpleNamespace(__cuda_array_interface__={}),
    "worse interface": types.SimpleNamespace(__cuda_array_interface__="text"),
    "wrong shape": np.ones((5, 7)), "wrong shapes": [np.ones((5, 7)), np.ones((4, 1))],
    "half garbage": [FACTORS[0], "text"],
}


def names(parameter):
    """What a message may call a parameter."""
    return {"factors": ("factors", "batch dimensions")}.get(parameter, (parameter,))


@pytest.mark.parametrize("name, parameter", PARAMETERS, ids=lambda v: v)
def test_garbage(name, parameter):
    for kind, value in GARBAGE.items():
        if (parameter, kind) == ("pattern", "Nones") and name == "ksmm_chain":
            continue  # Patterns that are not given.
        options = dict(CALLS[name])
        if parameter == "beta":
            options["z"] = np.ones(getattr(kron, name)(**options).shape)
        options[parameter] = value
        if parameter == "bias" and kind == "wrong shape":
            options[parameter] = np.ones((1, 4))
        with pytest.raises((TypeError, ValueError)) as error:
            getattr(kron, name)(**options)
            pytest.fail(f"{kind} was accepted")
        message = str(error.value)
        known = any(text in message for text in names(parameter))
        assert known or (kind == "wrong shapes" and "x" in message), (kind, message)


@pytest.mark.parametrize("name", CALLS)
def test_numbers(name):
    """alpha, beta and scale are numbers of any kind; other things are not."""
    function, options = getattr(kron, name), CALLS[name]
    plain = function(**options)
    z = np.ones(plain.shape)
    parameters = ["alpha", "beta"] + ["scale"] * name.startswith("ksmm")
    for parameter in parameters:
        for number in (3, 2.5, -1, np.float32(0.5), np.int8(2), np.array(4.0), True + 1,
                       fractions.Fraction(1, 4), decimal.Decimal("0.5")):
            result = function(**options, **{parameter: number}, z=z)
            expected = plain + float(number) * z if parameter == "beta" else float(number) * plain
            np.testing.assert_allclose(result, expected, rtol=1e-12)
        for wrong in (True, np.bool_(False), 1j, np.ones(1), [2], "2"):
            with pytest.raises(TypeError, match=parameter):
                function(**options, **{parameter: wrong}, z=z)
        with pytest.raises(OverflowError, match=parameter):
            function(**options, **{parameter: 10**400}, z=z)
    for number in (np.nan, np.inf):
        assert not np.isfinite(function(**options, alpha=number)).any()
        assert not np.isfinite(function(**options, beta=number, z=z)).any()


@pytest.mark.parametrize("name", CALLS)
def test_an_addend_counts_even_if_beta_is_0(name):
    """Its type and shape are checked, its elements are not read."""
    function, options = getattr(kron, name), CALLS[name]
    plain = function(**options)
    np.testing.assert_array_equal(function(**options, z=np.full(plain.shape, np.nan)), plain)
    assert function(**options, z=np.ones(plain.shape, complex)).dtype == complex
    with pytest.raises(ValueError, match="z"):
        function(**options, z=np.ones((7, 7)))
    with pytest.raises(TypeError, match="z"):
        function(**options, z=plain.astype(np.int8))


@pytest.mark.parametrize("name", CALLS)
def test_out(name):
    function, options = getattr(kron, name), CALLS[name]
    plain = function(**options)

    def refused(error, out):
        before = np.array(out, copy=True)
        with pytest.raises(error, match="out"):
            function(**options, out=out)
        np.testing.assert_array_equal(out, before)

    read_only = np.zeros(plain.shape)
    read_only.flags.writeable = False
    refused(ValueError, read_only)
    refused(ValueError, np.zeros(plain.shape + (1,)))
    refused(ValueError, np.zeros(plain.shape[::-1] + (2,)))
    refused(ValueError, np.broadcast_to(np.zeros(plain.shape[-1]), plain.shape))
    refused(ValueError, np.lib.stride_tricks.as_strided(np.zeros(99), plain.shape,
                                                        (0,) * plain.ndim))
    refused(TypeError, np.zeros(plain.shape, np.float32))
    refused(TypeError, np.zeros(plain.shape, complex))
    refused(TypeError, np.ma.zeros(plain.shape))
    refused(TypeError, plain.tolist())
    # Memory in any order is taken.
    wide = np.zeros(tuple(2 * size for size in plain.shape))
    views = {"every other": wide[tuple(slice(None, None, 2) for _ in plain.shape)],
             "backwards": np.zeros(plain.shape)[::-1],
             "column by column": np.zeros(plain.shape, order="F"),
             "other byte order": np.zeros(plain.shape, ">f8"),
             "unaligned": np.zeros(plain.size * 8 + 1, np.uint8)[1:].view(float)
             .reshape(plain.shape)}
    for out in views.values():
        assert function(**options, out=out) is out
        np.testing.assert_allclose(out, plain, rtol=1e-12)
    assert np.count_nonzero(wide) == plain.size


@pytest.mark.parametrize("name", CALLS)
def test_no_elements(name):
    """No rows; and factors that sum over nothing or have no results."""
    function, options = getattr(kron, name), dict(CALLS[name])
    axis = 1 if name == "kmm" else 0
    options["x"] = options["x"][:, :0] if axis else options["x"][:0]
    result = function(**options)
    assert result.size == 0
    out = np.empty(result.shape)
    assert function(**options, out=out, beta=2, z=np.ones(result.shape)) is out
    if name in ("ksmm", "ksmm_chain"):
        options["weights"] = np.ones((1, 0, 3, 2)) if name == "ksmm" else [np.ones((1, 2, 0, 2))]
        with pytest.raises(ValueError, match="weights"):
            function(**options)


@pytest.mark.parametrize("position", range(3))
def test_nonfinite_values_spread(position):
    """NaN and Inf of x and of every factor reach the results that the formula says."""
    x, factors = X.copy(), [f.copy() for f in FACTORS]
    arrays = [x, *factors]
    for value in (np.nan, np.inf, -np.inf):
        array = arrays[position]
        old = array.flat[position]
        array.flat[position] = value
        with np.errstate(invalid="ignore"):
            expected = x @ np.kron(*factors)
        result = kron.mkm(x, factors)
        # Zeros may or may not be multiplied with infinity on the way; there are none here.
        np.testing.assert_array_equal(np.isfinite(result), np.isfinite(expected))
        array.flat[position] = old


# --- kron.ir, kron.compile, kron.load, kron.Spec ------------------------------------


def build(call):
    """What happens when `call` gets values of a function."""
    module = kron.ir.Module()
    f, other = module.function("f"), module.function("other")
    values = types.SimpleNamespace(
        module=module, f=f, x=f.argument("x", "f8", ("m", 6)), a=f.argument("a", FACTORS[0]),
        b=f.argument("b", FACTORS[1]), w=f.argument("w", WEIGHTS[0]),
        i=f.argument("i", "i4", (3, 6)), s=f.scalar("s", "f4"), y=other.argument("y", "f8", (3, 6)))
    return call(values)


IR = [
    (ValueError, "one function", lambda v: kron.mkm(v.x, [v.a, v.y])),
    (ValueError, "columns", lambda v: kron.mkm(v.x, [v.a])),
    (ValueError, "rows", lambda v: kron.kmm(v.x, [v.a, v.b])),
    (ValueError, r"last dimensions of op\(x\)", lambda v: kron.batched(v.x, [v.a, v.b])),
    (ValueError, "factors", lambda v: kron.mkm(v.x, [])),
    (TypeError, "factors", lambda v: kron.mkm(v.x, v.a)),
    (TypeError, r"factors\[1\]", lambda v: kron.mkm(v.x, [v.a, FACTORS[1]])),
    (TypeError, "x", lambda v: kron.mkm(X, [v.a, v.b])),
    (TypeError, "dtype", lambda v: kron.mkm(v.i, [v.a, v.b])),
    (TypeError, "alpha", lambda v: kron.mkm(v.x, [v.a, v.b], alpha="2")),
    (TypeError, "alpha", lambda v: kron.mkm(v.x, [v.a, v.b], alpha=v.s)),
    (ValueError, "alpha", lambda v: kron.mkm(v.x, [v.a, v.b], alpha=np.nan)),
    (ValueError, "z", lambda v: kron.mkm(v.x, [v.a, v.b], beta=2)),
    (ValueError, "z", lambda v: kron.mkm(v.x, [v.a, v.b], z=v.b)),
    (TypeError, "z", lambda v: kron.mkm(v.x, [v.a, v.b], beta=2, z=3)),
    (TypeError, "out", lambda v: kron.mkm(v.x, [v.a, v.b], out=X)),
    (ValueError, "trans_x", lambda v: kron.mkm(v.x, [v.a, v.b], trans_x="H")),
    (ValueError, "trans_factors", lambda v: kron.mkm(v.x, [v.a, v.b], trans_factors=[1])),
    (ValueError, "precision", lambda v: kron.mkm(v.x, [v.a, v.b], precision=3)),
    (ValueError, "pattern", lambda v: kron.ksmm(v.x, v.w, 7)),
    (ValueError, "pattern", lambda v: kron.ksmm(v.x, v.w, (1, 2, 3, 3))),
    (ValueError, "layout", lambda v: kron.ksmm(v.x, v.w, layout="rows")),
    (ValueError, "features", lambda v: kron.ksmm(v.x, v.w, layout="batch_last")),
    (ValueError, "weights", lambda v: kron.ksmm(v.x, v.a)),
    (ValueError, "bias", lambda v: kron.ksmm(v.x, v.w, bias=v.b)),
    (ValueError, "residual", lambda v: kron.ksmm(v.x, v.w, residual=v.b)),
    (ValueError, "epilogue", lambda v: kron.ksmm(v.x, v.w, epilogue="tanh")),
    (ValueError, "epilogue", lambda v: kron.ksmm(v.x, v.w, epilogue={"alpha": 2})),
    (TypeError, "scale", lambda v: kron.ksmm(v.x, v.w, scale="2")),
    (ValueError, "scale", lambda v: kron.ksmm(v.x, v.w, scale=np.inf)),
    (TypeError, "weights", lambda v: kron.ksmm_chain(v.x, v.w)),
    (ValueError, "weights", lambda v: kron.ksmm_chain(v.x, [])),
    (ValueError, r"weights\[1\]|features", lambda v: kron.ksmm_chain(v.x, [v.w, v.w])),
    (ValueError, "pattern", lambda v: kron.ksmm_chain(v.x, [v.w], [None, None])),
    (ValueError, "trans_weights", lambda v: kron.ksmm_chain(v.x, [v.w], trans_weights=[1, 2])),
    (TypeError, "nonsense", lambda v: kron.ksmm_chain(v.x, [v.w], nonsense=1)),
    (TypeError, "dtype", lambda v: v.x + v.i),
    (TypeError, "number", lambda v: v.x + "a"),
    (TypeError, "number", lambda v: v.x * None),
    (TypeError, "division", lambda v: v.i / 2),
    (TypeError, "integer", lambda v: v.i * 1.5),
    (OverflowError, "int32", lambda v: v.i + 2**40),
    (ValueError, "finite", lambda v: v.x * np.inf),
    (ValueError, "broadcast", lambda v: v.x + v.b),
    (TypeError, "unsupported", lambda v: v.x @ 3),
    (ValueError, "static", lambda v: v.x.reshape(-1)),
    (ValueError, "elements", lambda v: v.i.reshape(4, -1)),
    (ValueError, "axes", lambda v: v.x.transpose(0, 0)),
    (ValueError, "twice", lambda v: v.f.argument("x", "f8", (3,))),
    (ValueError, "identifier", lambda v: v.f.argument("bad name", "f8", (3,))),
    (TypeError, "dtype", lambda v: v.f.argument("q", "i1", (3,))),
    (TypeError, "dtype", lambda v: v.f.argument("q", "nonsense", (3,))),
    (TypeError, "shape", lambda v: v.f.argument("q", "f8")),
    (TypeError, "shape", lambda v: v.f.argument("q", "f8", 3)),
    (ValueError, "sizes", lambda v: v.f.argument("q", "f8", (2.5,))),
    (ValueError, "sizes", lambda v: v.f.argument("q", "f8", (-1,))),
    (TypeError, "dtype", lambda v: v.f.scalar("q", "i1")),
    (ValueError, "return", lambda v: v.f.returns()),
    (TypeError, "return", lambda v: v.f.returns(3)),
    (TypeError, "return", lambda v: v.f.returns(v.y)),
    (ValueError, "return", lambda v: str(v.module)),
    (ValueError, "names of functions", lambda v: v.module.function("f")),
    (ValueError, "identifier", lambda v: v.module.function("a b")),
    (TypeError, "text", lambda v: kron.ir.Module(3)),
    (TypeError, "pipeline", lambda v: kron.ir.Module("").run(3)),
    (kron.CompileError, "line 1", lambda v: kron.ir.Module("func.func @f(").mlir),
    (kron.CompileError, "nonsense", lambda v: kron.ir.Module("").run("kron-fuse{nonsense=1}")),
    (ValueError, "public function", lambda v: kron.compile("")),
    (ValueError, "public function", lambda v: kron.compile(kron.ir.Module())),
    (TypeError, "argument", lambda v: kron.compile(lambda x: x)),
    (TypeError, "target", lambda v: kron.compile(lambda x: x, X, target=3)),
    (ValueError, "target", lambda v: kron.compile(lambda x: x, X, target="")),
    (ValueError, "target", lambda v: kron.jit(lambda x: x, target="tpu")),
    (ValueError, "sm_80", lambda v: kron.compile(lambda x: x, X, target="cuda:sm_1")),
    (ValueError, "that LLVM knows", lambda v: kron.compile(lambda x: x, X, target="cpu:sm_80")),
    (TypeError, "function", lambda v: kron.jit(3)),
    (TypeError, "shape", lambda v: kron.Spec(3)),
    (TypeError, "shape", lambda v: kron.Spec("ab")),
    (ValueError, "sizes", lambda v: kron.Spec((-3,))),
    (ValueError, "identifier", lambda v: kron.Spec(("a b",))),
    (TypeError, "dtype", lambda v: kron.Spec((3,), "i1")),
    (TypeError, "path", lambda v: kron.load(3)),
    (TypeError, "count", lambda v: kron.set_num_threads("3")),
]


@pytest.mark.parametrize("number", range(len(IR)))
def test_building_and_compiling(number):
    kind, text, call = IR[number]
    with pytest.raises(kind, match=text):
        build(call)
