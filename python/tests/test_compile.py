"""kron.ir, kron.compile, kron.load, and what all of them share.

SPDX-License-Identifier: MIT
"""

import platform
import subprocess
import sys
import threading

import numpy as np
import pytest
import reference

import kron
from kron import _compile, _core

rng = np.random.default_rng(0)
FACTORS = [rng.standard_normal((4, 4)), rng.standard_normal((3, 3))]
DENSE = np.kron(*FACTORS)


def make_module():
    module = kron.ir.Module()
    f = module.function("both")
    x = f.argument("x", np.float64, ("m", 12))
    a = f.argument("a", FACTORS[0])
    b = f.argument("b", FACTORS[1])
    f.returns(kron.mkm(x, [a, b]) * 2 + x, kron.kmm(x.T, [a, b]))
    return module


def test_module_prints_as_mlir():
    module = make_module()
    assert "kron.mkm" in str(module)
    assert "func.func @both" in module.mlir
    # Text makes the same module.
    assert kron.ir.Module(module.mlir).mlir == module.mlir


def test_module_runs():
    both = kron.compile(make_module())["both"]
    for m in (1, 5, 0):
        x = rng.standard_normal((m, 12))
        first, second = both(x, *FACTORS)
        np.testing.assert_allclose(first, 2 * x @ DENSE + x, atol=1e-12)
        np.testing.assert_allclose(second, DENSE @ x.T, atol=1e-12)


def test_passes_and_stages():
    module = make_module()
    stages = dict(module.stages())
    assert "kron.fused" in stages["kron-fuse"]
    assert "llvm.func" in str(module.run())
    assert "kron.mode_product" in str(module.run("kron-decompose"))
    with pytest.raises(kron.CompileError, match="no-such-pass"):
        module.run("no-such-pass")


def test_scalar_arguments():
    module = kron.ir.Module()
    f = module.function("f")
    x = f.argument("x", np.float32, ("m", 4))
    a = f.argument("a", np.float32, (4, 4))
    alpha = f.scalar("alpha", np.float32)
    f.returns(kron.mkm(x, [a], alpha=alpha))
    compiled = kron.compile(module)
    x = np.ones((2, 4), np.float32)
    assert (compiled(x, np.eye(4, dtype=np.float32), 2.5) == 2.5).all()


@pytest.mark.parametrize("dtype", reference.DTYPES, ids=lambda d: np.dtype(d).name)
def test_arithmetic(dtype):
    x, y = (reference.random(rng, (3, 4), dtype) for _ in range(2))
    row = reference.random(rng, (4,), dtype)

    @kron.jit
    def f(x, y, row):
        return (x + y) * row - 2 * x, (3 - x).T.reshape(2, 6), -x

    first, second, third = f(x, y, row)
    wx, wy, wr = map(reference.wide, (x, y, row))
    scale = np.linalg.norm(np.abs(wx) * np.abs(wr) + np.abs(wy) * np.abs(wr) + 2 * np.abs(wx))
    reference.check(first, (wx + wy) * wr - 2 * wx, dtype, scale)
    reference.check(second, (3 - wx).T.reshape(2, 6), dtype)
    reference.check(third, -wx, dtype)


def test_tracing_refuses_what_it_cannot_do():
    def trace(function, *args):
        with pytest.raises((TypeError, ValueError)) as error:
            kron.jit(function)(*args)
        return str(error.value)

    x = np.ones((2, 4))
    assert "decision" in trace(lambda x: x if x else -x, x)
    assert "out" in trace(lambda x: kron.mkm(x, [x.T], out=x), x)
    assert "broadcast" in trace(lambda x: x + x.T, x)
    assert "return" in trace(lambda x: 3, x)
    assert "dtype" in trace(lambda x, y: x + y, x, x.astype(np.float32))
    assert "traced" in trace(lambda x: kron.mkm(x, [3]), x)
    assert "columns" in trace(lambda x: kron.mkm(x, [x]), x)
    assert "elements" in trace(lambda x: np.linalg.norm(x), x)


@pytest.mark.parametrize("target", ["cpu", "cpu:portable", "cpu:x86-64-v3"])
def test_save_and_load(tmp_path, target):
    library = kron.compile(lambda x, a, b: kron.mkm(x, [a, b]),
                           kron.Spec(("m", 12), np.float64), *FACTORS, target=target)
    path = tmp_path / "product.so"
    library.save(path)
    loaded = kron.load(path)
    assert loaded.names == library.names
    x = rng.standard_normal((7, 12))
    np.testing.assert_allclose(loaded(x, *FACTORS), x @ DENSE)
    out = np.empty((7, 12))
    assert loaded(x, *FACTORS, out=out) is out
    with pytest.raises(TypeError, match="arguments"):
        loaded(x)
    with pytest.raises(ValueError, match="'a'"):
        loaded(x, FACTORS[1], FACTORS[0])
    with pytest.raises(TypeError, match="float64"):
        loaded(x.astype(np.float32), *FACTORS)


def test_code_of_another_architecture_is_not_run():
    foreign = "neoverse-v1" if platform.machine() == "x86_64" else "x86-64-v3"
    with pytest.raises((ValueError, kron.CompileError), match="does not run|that LLVM knows"):
        kron.compile(lambda x, a, b: kron.mkm(x, [a, b]), kron.Spec(("m", 12), np.float64), *FACTORS,
                     target=f"cpu:{foreign}")


def test_load_refuses_other_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        kron.load(tmp_path / "none.so")
    for contents in (b"", b"\x7fELF\x02 and no more", b"text" * 100):
        path = tmp_path / "bad.so"
        path.write_bytes(contents)
        with pytest.raises(ValueError, match="bad.so"):
            kron.load(path)


def test_compile_errors():
    with pytest.raises(kron.CompileError, match="line 1"):
        kron.compile("func.func @f(")
    with pytest.raises(kron.CompileError, match="columns|rows"):
        kron.compile("func.func @f(%x: tensor<4x6xf32>, %a: tensor<4x4xf32>, "
                     "%y: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
                     "%0 = kron.mkm ins(%x : tensor<4x6xf32>) factors(%a : tensor<4x4xf32>) "
                     "outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>\n"
                     "return %0 : tensor<4x4xf32> }")
    with pytest.raises(ValueError, match="target"):
        kron.compile(make_module(), target="tpu")
    with pytest.raises(ValueError, match="no-such-cpu"):
        kron.compile(make_module(), target="cpu:no-such-cpu")
    with pytest.raises(TypeError, match="source"):
        kron.compile(3)


def test_threads_compile_and_agree():
    """Many threads at once, on kernels that are not there yet."""
    kron.cache.clear()
    x = rng.standard_normal((64, 36))
    factors = [rng.standard_normal((6, 6))] * 2
    expected = x @ np.kron(*factors)
    errors = []

    def work(number):
        try:
            for i in range(20):
                rows = (number + i) % 3 + 1
                batch = np.broadcast_to(x, (rows, 64, 36))
                np.testing.assert_allclose(kron.mkm(batch, factors),
                                           np.broadcast_to(expected, batch.shape))
                if i == 10:
                    kron.cache.clear()
        except BaseException as error:  # Reported by the main thread.
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def test_kernels_are_forgotten_while_they_run():
    """Calls large enough to release the interpreter's lock, beside a thread that forgets the
    kernels that they have found."""
    x = rng.standard_normal((64, 36))
    factors = [rng.standard_normal((6, 6))] * 2
    expected = x @ np.kron(*factors)
    kron.mkm(x, factors)
    calls, errors = [0] * 4, []

    def work(number):
        try:
            while calls[number] < 1000:
                assert np.allclose(kron.mkm(x, factors), expected)
                calls[number] += 1
        except BaseException as error:  # Reported by the main thread.
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        kron._core.forget_kernels()
        threads[0].join(0.001)
    assert not errors, errors[0]


def test_number_of_threads():
    before = kron.get_num_threads()
    kron.set_num_threads(1)
    assert kron.get_num_threads() == 1
    kron.set_num_threads(before)


def test_import_is_light():
    """Neither the compiler nor a tensor library is loaded by `import kron`."""
    code = ("import sys, kron; print([m for m in ('kron._compiler', 'torch', 'jax', 'hashlib') "
            "if m in sys.modules])")
    output = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True).stdout
    assert "kron._compiler" not in output and "torch" not in output and "jax" not in output


def test_allow_cublas():
    assert kron.is_cublas_allowed()
    kron.allow_cublas(False)
    assert not kron.is_cublas_allowed()
    kron.allow_cublas()
    assert kron.is_cublas_allowed()


def _program(size):
    """A product with a factor of 4 x 4 on rows of `size`."""
    program = _core.Program(on_tensors=False)
    x, f, y = (program.argument(name, sizes, "f32") for name, sizes in (
        ("x", (None, size)), ("f", (4, 4)), ("y", (None, 4))))
    program.operation("mkm", {"input": x, "factors": [(f, "T")], "init": y},
                      {"precision": "ieee"})
    return program


# Verify that a program is the module that its text is, for the cache, too.
def test_program_and_its_text():
    def normalize(source):
        return _compile.compiler().Compilation(source).text

    text = normalize(_program(4))
    assert "factors(T(%arg1) : memref<4x4xf32>)" in text and "<ieee>" in text
    assert normalize(text) == text
    x, f = np.random.randn(3, 4).astype("f"), np.random.randn(4, 4).astype("f")
    for source in (_program(4), text):
        y = np.empty((3, 4), "f")
        _compile.compile(source)(x, f, y)
        np.testing.assert_allclose(y, x @ f.T, rtol=1e-5, atol=1e-5)


def test_programs_are_verified():
    with pytest.raises(kron.CompileError, match="expects"):
        _compile.compile(_program(5))
