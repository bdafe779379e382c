# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""On a GPU: CuPy's and JAX's arrays, compiled functions, streams, graphs, layers."""

import numpy as np
import pytest
import torch
import torch_reference

import kron
import kron.nn
import kron.torch as kt
from kron import _core

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or _core.cuda_device_count() == 0, reason="no GPU")

ROWS, PAIRS = 33, [(8, 8), (3, 5), (4, 4)]
DTYPES = ["float32", "float64", "float16", "complex64", "int32", "int64"]


def numbers(*shape, dtype="float32"):
    """Small integers, with which every sum is exact."""
    return np.random.default_rng(0).integers(-3, 4, shape).astype(dtype)


def operands(kind, dtype):
    """x and factors of kron.<kind> in NumPy, and what it gives."""
    p = [a for a, _ in PAIRS]
    pairs = PAIRS if kind == "mkm" else [(b, a) for a, b in PAIRS]
    shape = {"mkm": (ROWS, np.prod(p)), "kmm": (np.prod(p), ROWS), "batched": (ROWS, *p)}
    x = numbers(*shape[kind], dtype=dtype)
    factors = [numbers(*pair, dtype=dtype) for pair in pairs]
    wide = "complex128" if dtype.startswith("complex") else "float64"
    expected = torch_reference.product(kind, torch.from_numpy(x.astype(wide)),
                                       [torch.from_numpy(f.astype(wide)) for f in factors])
    return x, factors, expected.numpy()


class Cupy:
    @staticmethod
    def make(array):
        import cupy

        return cupy.asarray(array)

    @staticmethod
    def read(array):
        import cupy

        assert isinstance(array, cupy.ndarray)
        return array.get()


class Jax:
    @staticmethod
    def make(array):
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.device_put(array, jax.devices("gpu")[0])

    @staticmethod
    def read(array):
        import jax

        assert isinstance(array, jax.Array) and "cuda" in str(array.device).lower()
        return np.asarray(array)


@pytest.fixture(params=[Cupy, Jax])
def library(request):
    module = pytest.importorskip(request.param.__name__.lower())
    if request.param is Jax and not any(d.platform == "gpu" for d in module.devices()):
        pytest.skip("JAX has no GPU")
    return request.param


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["mkm", "kmm", "batched"])
def test_products(library, kind, dtype):
    x, factors, expected = operands(kind, dtype)
    x, factors = library.make(x), list(map(library.make, factors))
    result = getattr(kron, kind)(x, factors)
    assert result.dtype == x.dtype
    # f16 holds integers to 2048 exactly; between factors values are rounded.
    np.testing.assert_allclose(library.read(result), expected,
                               rtol=0, atol=64 if dtype == "float16" else 0)
    z = library.make(np.ones(expected.shape, dtype))
    result = getattr(kron, kind)(x, factors, alpha=2, beta=3, z=z)
    if dtype != "float16":
        np.testing.assert_array_equal(library.read(result), 2 * expected + 3)


def test_bfloat16_of_jax():
    jax, ml_dtypes = pytest.importorskip("jax"), pytest.importorskip("ml_dtypes")
    if not any(d.platform == "gpu" for d in jax.devices()):
        pytest.skip("JAX has no GPU")
    x, factor = numbers(ROWS, 8), numbers(8, 8)
    result = kron.mkm(Jax.make(x.astype(ml_dtypes.bfloat16)),
                      [Jax.make(factor.astype(ml_dtypes.bfloat16))])
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(Jax.read(result).astype("f4"),
                                  (x @ factor).astype(ml_dtypes.bfloat16).astype("f4"))


@pytest.mark.parametrize("layout", ["batch_first", "batch_last"])
def test_sparse(library, layout):
    weights = [numbers(2, 3, 4, 2), numbers(1, 2, 3, 4)]
    x = numbers(*((21, 16) if layout == "batch_first" else (16, 21)))
    first = torch_reference.ksmm(torch.from_numpy(x).double(),
                                 torch.from_numpy(weights[0]).double(), layout)
    both = torch_reference.ksmm(first, torch.from_numpy(weights[1]).double(), layout)
    made = [library.make(w) for w in weights]
    result = kron.ksmm(library.make(x), made[0], layout=layout)
    np.testing.assert_array_equal(library.read(result), first)
    result = kron.ksmm_chain(library.make(x), made, layout=layout)
    np.testing.assert_array_equal(library.read(result), both)


def test_compiled_function(library):
    @kron.jit(dynamic={"x": {0: "m"}, "z": {0: "m"}})
    def f(x, factors, z):
        return kron.mkm(x, factors) * 2 + z, x.T

    x, factors, expected = operands("mkm", "float32")
    made = list(map(library.make, factors))
    for rows in (ROWS, 5):
        z = numbers(rows, expected.shape[1])
        y, transposed = f(library.make(x[:rows]), made, library.make(z))
        np.testing.assert_array_equal(library.read(y), 2 * expected[:rows] + z)
        np.testing.assert_array_equal(library.read(transposed), x[:rows].T)
    assert len(f._compiled) == 1
    # The same function elsewhere is compiled for there.
    np.testing.assert_array_equal(f(x, factors, z=np.zeros_like(expected, "f4"))[0], 2 * expected)
    with pytest.raises(ValueError, match="GPU"):
        f(library.make(x), factors, library.make(expected.astype("f4")))


def test_jax_waits_for_its_own_work():
    jax = pytest.importorskip("jax")
    if not any(d.platform == "gpu" for d in jax.devices()):
        pytest.skip("JAX has no GPU")
    x = jax.numpy.ones((2048, 4096), "float32")
    factor = jax.numpy.eye(64, dtype="float32")

    @jax.jit
    def late(x):
        return jax.lax.fori_loop(0, 200, lambda i, y: jax.numpy.sin(y) + 1, x)

    for _ in range(3):
        expected = np.asarray(late(x))
        result = kron.mkm(late(x), [factor, factor]) + 1
        np.testing.assert_allclose(np.asarray(result), expected + 1, rtol=1e-5)
    with pytest.raises(TypeError, match="out"):
        kron.mkm(x, [factor, factor], out=jax.numpy.zeros_like(x))


def test_cupy_stream_graph_and_out():
    cupy = pytest.importorskip("cupy")
    x, factor = cupy.random.rand(4096, 4096, dtype="f4"), cupy.random.rand(64, 64, dtype="f4")
    out, expected = cupy.empty_like(x), kron.mkm(x, [factor, factor])
    stream = cupy.cuda.Stream(non_blocking=True)
    kron.mkm(x, [factor, factor], out=out)
    cupy.cuda.Device().synchronize()
    late = cupy.zeros_like(x)
    with stream:
        for _ in range(50):
            late += x
        late /= 50
        result = kron.mkm(late, [factor, factor])
    stream.synchronize()
    cupy.testing.assert_allclose(result, expected, rtol=1e-4)
    with stream:
        stream.begin_capture()
        kron.mkm(x, [factor, factor], out=out)
        kron.mkm(out, [factor, factor], out=late)
        graph = stream.end_capture()
        x[...] = 1
        out[...] = 0
        graph.launch(stream)
    stream.synchronize()
    ones = kron.mkm(cupy.ones_like(x), [factor, factor])
    cupy.testing.assert_allclose(out, ones, rtol=1e-5)
    cupy.testing.assert_allclose(late, kron.mkm(ones, [factor, factor]), rtol=1e-5)


# --- PyTorch -------------------------------------------------------------------------


def test_compiled_function_on_tensors():
    @kron.jit(dynamic={"x": {0: "m"}, "z": {0: "m"}})
    def f(x, factors, z):
        return kron.mkm(kron.mkm(x, factors), factors) * 2 + z

    factors = [torch.randn(8, 8, device="cuda", dtype=torch.float64) for _ in range(2)]
    matrix = torch.kron(*factors)
    for rows in (1, 100):
        x, z = (torch.randn(rows, 64, device="cuda", dtype=torch.float64) for _ in range(2))
        torch.testing.assert_close(f(x, factors, z), x @ matrix @ matrix * 2 + z)
        torch.testing.assert_close(f(x.T.contiguous().T, factors, z),
                                   x @ matrix @ matrix * 2 + z)
    with pytest.raises(ValueError, match="gradient"):
        f(x.requires_grad_(), factors, z)


def test_compiled_function_in_streams_and_graphs():
    f = kron.jit(lambda x, factors: kron.mkm(x, factors) + x)
    x = torch.randn(2048, 4096, device="cuda")
    factors = [torch.randn(16, 16, device="cuda") / 4 for _ in range(3)]
    expected = kt.mkm(x, factors) + x
    torch.testing.assert_close(f(x, factors), expected)
    stream, late = torch.cuda.Stream(), torch.zeros_like(x)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        late.copy_(x)
        result = f(late, factors)
    stream.synchronize()
    torch.testing.assert_close(result, expected)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = f(x, factors)
    x.normal_()
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(result, kt.mkm(x, factors) + x)


def test_torch_compile_and_autocast():
    x = torch.randn(64, 256, device="cuda", requires_grad=True)
    factors = [torch.randn(16, 16, device="cuda", requires_grad=True) for _ in range(2)]

    def f(x, a, b):
        return kt.mkm(x, [a, b]).square().sum()

    expected = torch.autograd.grad(f(x, *factors), (x, *factors))
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager")
    for actual, wanted in zip(torch.autograd.grad(compiled(x, *factors), (x, *factors)), expected):
        torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-4)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert kt.mkm(x, factors).dtype == torch.bfloat16


def test_layers_train():
    torch.manual_seed(0)
    model = torch.nn.Sequential(kron.nn.KSLinear([(6, 64, 64, 1), (1, 768, 192, 2)]),
                                torch.nn.ReLU(), kron.nn.Monarch(1536, 64),
                                kron.nn.KronLinear([8, 8], [4, 4])).cuda()
    x, target = torch.randn(512, 384, device="cuda"), torch.randn(512, 16, device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]
    copy = torch.nn.Sequential(kron.nn.KSLinear([(6, 64, 64, 1), (1, 768, 192, 2)]),
                               torch.nn.ReLU(), kron.nn.Monarch(1536, 64),
                               kron.nn.KronLinear([8, 8], [4, 4]))
    copy.load_state_dict(model.cpu().state_dict())
    torch.testing.assert_close(copy(x.cpu()), model(x.cpu()))


def test_linear_operator():
    pytest.importorskip("gpytorch")
    from kron.gpytorch import KroneckerProductLinearOperator

    roots = [torch.randn(n, n, device="cuda", dtype=torch.float64) for n in (8, 5)]
    factors = [r @ r.mT + torch.eye(len(r), device="cuda", dtype=torch.float64) for r in roots]
    operator, dense = KroneckerProductLinearOperator(*factors), torch.kron(*factors)
    right = torch.randn(40, 3, device="cuda", dtype=torch.float64)
    torch.testing.assert_close(operator @ right, dense @ right)
    torch.testing.assert_close(operator.solve(right), torch.linalg.solve(dense, right))
    torch.testing.assert_close(operator.logdet(), torch.logdet(dense))
    noisy = operator.add_diagonal(torch.tensor(0.5, device="cuda", dtype=torch.float64))
    eye = torch.eye(40, device="cuda", dtype=torch.float64)
    torch.testing.assert_close(noisy.solve(right), torch.linalg.solve(dense + eye / 2, right))


def test_gaussian_process_gradients():
    """Those of the CPU, by a backward pass that waits for nothing."""
    pytest.importorskip("gpytorch")
    from kron.gpytorch import KroneckerProductLinearOperator

    sizes = (24, 16, 24)
    axes = [torch.linspace(0, 2, n, dtype=torch.float64) for n in sizes]
    factors = [torch.exp(-(x.unsqueeze(-1) - x).square()) for x in axes]
    right, noise = torch.randn(24 * 16 * 24, 1, dtype=torch.float64), torch.full((1,), 0.5).double()
    found = []
    for device in ("cpu", "cuda"):
        inputs = [array.detach().to(device).requires_grad_() for array in (*factors, noise, right)]
        operator = KroneckerProductLinearOperator(*inputs[:3]).add_diagonal(inputs[3])
        quad, logdet = operator.inv_quad_logdet(inputs[4], logdet=True)
        torch.autograd.grad(quad + logdet, inputs, retain_graph=True)  # compiles
        try:
            torch.cuda.set_sync_debug_mode("error" if device == "cuda" else "default")
            gradients = torch.autograd.grad(quad + logdet, inputs)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        found.append([array.cpu() for array in (quad, logdet, *gradients)])
    for ours, expected in zip(found[1], found[0]):
        torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-9)


def test_explained():
    x = torch.randn(4096, 4096, device="cuda")
    factors = [torch.randn(16, 16, device="cuda") for _ in range(3)]
    text = str(kron.explain(kron.mkm, x, factors))
    assert "measured" in text and "floor" in text
