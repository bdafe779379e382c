"""Arrays of other libraries, by their protocols alone.

SPDX-License-Identifier: MIT
"""

import numpy as np
import pytest

import kron
from kron import _core

X = np.arange(12.0).reshape(2, 6)
FACTORS = [np.ones((2, 3)), np.diag([1.0, 2.0, 3.0])]
EXPECTED = X @ np.kron(*FACTORS)


class Exporter:
    """What a library with DLPack has."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Standard(Exporter):
    """What a library of the array standard has."""

    def __array_namespace__(self, api_version=None):
        return StandardNamespace


class StandardNamespace:
    @staticmethod
    def from_dlpack(array):
        return Standard(np.from_dlpack(array))


def test_dlpack_arrays():
    result = kron.mkm(Exporter(X), [Exporter(f) for f in FACTORS])
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, EXPECTED)
    # Also together with NumPy's.
    np.testing.assert_array_equal(kron.mkm(X, [Exporter(FACTORS[0]), FACTORS[1]]), EXPECTED)


def test_result_is_of_the_same_library():
    result = kron.mkm(Standard(X), FACTORS)
    assert type(result) is Standard
    np.testing.assert_array_equal(result.array, EXPECTED)
    weights = np.ones((1, 2, 3, 2))
    result = kron.ksmm(Standard(X), Standard(weights), bias=Standard(np.ones(4)))
    np.testing.assert_array_equal(result.array, kron.ksmm(X, weights, bias=np.ones(4)))


def test_out_of_another_library_is_refused():
    with pytest.raises(TypeError, match="out"):
        kron.mkm(Exporter(X), FACTORS, out=Exporter(np.empty((2, 9))))


def test_buffers():
    buffer = _core.Buffer.from_dlpack(X.__dlpack__())
    assert buffer.shape == (2, 6) and buffer.type == "f64" and buffer.device == -1
    out = np.empty((2, 9))
    factors = [_core.Buffer.from_dlpack(f.__dlpack__()) for f in FACTORS]
    _core.raw_mkm(buffer, factors, out=out)
    np.testing.assert_array_equal(out, EXPECTED)
    capsule = X.__dlpack__()
    _core.Buffer.from_dlpack(capsule)
    with pytest.raises(ValueError):
        _core.Buffer.from_dlpack(capsule)
    assert _core.Buffer.from_dlpack(X.astype(np.int8).__dlpack__()).type == "i8"
    with pytest.raises(TypeError, match="DLPack"):
        _core.Buffer.from_dlpack(X.astype(np.int16).__dlpack__())


class OnGpu:
    """What a library with arrays on a GPU shows of one; there is no memory behind it."""

    def __init__(self, shape, typestr="<f8", strides=None, read_only=False, address=1 << 40):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (address, read_only),
            "strides": strides, "version": 3}


def test_gpu_arrays_are_checked_before_anything_runs():
    x, factors = OnGpu((2, 6)), [OnGpu((2, 3)), OnGpu((3, 3))]

    def fails(error, text, *args, **kwargs):
        with pytest.raises(error, match=text):
            kron.mkm(*args, **kwargs)

    fails(ValueError, r"factors\[0\]", x, FACTORS)
    fails(ValueError, "x", X, factors)
    fails(TypeError, "x", OnGpu((2, 6), "|i1"), factors)
    fails(TypeError, "dtype", OnGpu((2, 6), "<f4"), factors)
    fails(ValueError, "columns", OnGpu((2, 5)), factors)
    fails(ValueError, "strides", OnGpu((2, 6), strides=(4, 8)), factors)
    fails(ValueError, "not negative", OnGpu((2, 6), strides=(48, -8)), factors)
    fails(ValueError, "dimensions", OnGpu((6,)), factors)
    fails(TypeError, "out", x, factors)
    fails(ValueError, "out", x, factors, out=OnGpu((2, 9), read_only=True))
    fails(ValueError, "out", x, factors, out=OnGpu((2, 8)))
    fails(ValueError, "out|NumPy", x, factors, out=np.empty((2, 9)))


@pytest.mark.skipif(_core.cuda_device_count() > 0, reason="there is a GPU")
def test_without_a_gpu():
    x, factors = OnGpu((2, 6)), [OnGpu((2, 3)), OnGpu((3, 3))]
    with pytest.raises((ValueError, RuntimeError), match="CUDA|GPU"):
        kron.mkm(x, factors, out=OnGpu((2, 9), address=1 << 41))
    # Code for a GPU can be made anywhere.
    library = kron.compile("func.func @f(%x: tensor<?x4xf32>, %a: tensor<4x4xf32>, "
                           "%y: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
                           "%0 = kron.mkm ins(%x : tensor<?x4xf32>) factors(%a : tensor<4x4xf32>) "
                           "outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>\n"
                           "return %0 : tensor<?x4xf32> }", target="cuda:sm_90a")
    ones = np.ones((4, 4), np.float32)
    with pytest.raises((ValueError, RuntimeError)):
        library(ones, ones, ones)


def test_compiled_functions_take_other_arrays():
    f = kron.jit(lambda x, factors: kron.mkm(x, factors) * 2)
    result = f(Standard(X), [Standard(factor) for factor in FACTORS])
    assert type(result) is Standard
    np.testing.assert_array_equal(result.array, 2 * EXPECTED)
    out = np.empty((2, 9))
    library = kron.compile(lambda x, a, b: kron.mkm(x, [a, b]), X, *FACTORS)
    assert library(Exporter(X), *FACTORS, out=out) is out
    np.testing.assert_array_equal(out, EXPECTED)


# --- JAX -----------------------------------------------------------------------------


@pytest.fixture
def jnp():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    with jax.default_device(jax.devices("cpu")[0]):
        yield jax.numpy


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64", "int32"])
def test_jax_arrays(jnp, dtype):
    x, *factors = (jnp.asarray(array).astype(dtype) for array in (X, *FACTORS))
    result = kron.mkm(x, factors, beta=1, z=jnp.ones((2, 9), dtype), alpha=jnp.array(2))
    assert type(result) is type(x) and result.dtype == dtype
    np.testing.assert_array_equal(np.asarray(result, complex), 2 * EXPECTED + 1)
    weights = jnp.ones((1, 2, 3, 2), dtype)
    assert type(kron.ksmm_chain(x, [weights], bias=jnp.ones(4, dtype))) is type(x)
    assert type(kron.jit(lambda x, f: kron.mkm(x, f) + 1)(x, factors)) is type(x)


def test_jax_memory_is_shared(jnp):
    from kron import _interop

    x = jnp.ones((64, 64))
    assert _interop.to_numpy(x, "x").ctypes.data == x.unsafe_buffer_pointer()
    result = _interop.allocate((64, 64), np.dtype(np.float64))
    assert _interop.from_numpy(result, x).unsafe_buffer_pointer() == result.ctypes.data


def test_jax_traced_functions(jnp):
    import jax

    x, *factors = map(jnp.asarray, (X, *FACTORS))
    with pytest.raises(TypeError, match="pure_callback"):
        jax.jit(lambda x: kron.mkm(x, factors))(x)
    with pytest.raises(TypeError, match="x .*pure_callback"):
        jax.grad(lambda x: kron.mkm(x, factors).sum())(x)

    @jax.jit
    def f(x):
        shape = jax.ShapeDtypeStruct((2, 9), x.dtype)
        return jax.pure_callback(lambda x: kron.mkm(x, factors), shape, x) + 1

    np.testing.assert_array_equal(f(x), EXPECTED + 1)
