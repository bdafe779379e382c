"""Kernel matrices for programs.py --set kernels: distances, kernels, their products with vectors,
weighted derivatives, and many small matrices.

Results are compared with float64 on some rows, by differences of the elements. `floor_ms` of a case is
what one H200 takes for the busiest of its units at the rates of its data sheet, and `goal_ms` what is
wanted of kron there.
"""

import functools
import importlib
import math
import sys

import numpy as np
import torch

import kron
import kron.compat.kermac
from program_arrays import single
from program_timing import TYPES, Case

ROWS_CHECKED = 64
# Elements of a block of the matrix where PyTorch multiplies it block by block.
BLOCK = 2**30
# A way with a slower step is timed once after the first.
PATIENCE = 0.5
# One H200: bytes, results of FP32, of special functions, and flops of matrix instructions, a second.
MEMORY, FP32, SPECIAL = 4.8e12, 132 * 128 * 1.98e9, 132 * 16 * 1.98e9
MATRIX = {"f32": 494.7e12, "f16": 989.4e12, "f64": 66.9e12}  # f32: TF32
PRODUCTS = {"f32": 3, "f16": 1, "f64": 1}


def floor_ms(**seconds):
    return 1e3 * max(seconds.values())


def matrix_floor(m, n, k, type_name, p):
    """Of distances with powers p, or of a kernel of squares (p = 2)."""
    size = torch.finfo(TYPES[type_name]).bits // 8
    memory = size * (m * n + (m + n) * k) / MEMORY
    if p == 2:
        return floor_ms(memory=memory,
                        matrix=2 * m * n * k * PRODUCTS[type_name] / MATRIX[type_name])
    # A difference and an addition; a root and a product beside, or a logarithm and an exponential.
    work = {1: (2, 0), 1.5: (3, 1)}.get(p, (3, 2))
    return floor_ms(memory=memory, fp32=m * n * k * work[0] / FP32,
                    special=m * n * k * work[1] / SPECIAL)


def product_floor(m, n, k, columns):
    """Of a Gaussian kernel's product: squares by three products of TF32, or by differences where rows are
    short; an exponential each; the values."""
    squares = ({"matrix": 6 * m * n * k / MATRIX["f32"]} if k >= 16 else
               {"fp32": m * n * (2 * k + 2) / FP32})
    return floor_ms(special=m * n / SPECIAL, **squares)


def checked(m):
    return torch.arange(0, m, max(1, m // ROWS_CHECKED))[:ROWS_CHECKED]


def exact_distances(a, b, p):
    return torch.cdist(a.double(), b.double(), p=p,
                       compute_mode="donot_use_mm_for_euclid_dist")


def gaussian(distances, scale):
    return torch.exp(-distances.square() / (2 * scale * scale))


def ways_on_rows(functions, rows):
    """Ways whose result is compared on some rows (the last axis but one)."""
    def make(function):
        way = single(function)
        whole = way.results

        def some():
            y = whole()["y"]
            if isinstance(y, np.ndarray):
                y = torch.from_numpy(np.ascontiguousarray(y[..., rows.numpy(), :]))
                return {"y": y}
            return {"y": y[..., rows.to(y.device), :]}
        way.results = some
        return way
    return {name: functools.partial(make, function) for name, function in functions.items()}


@functools.cache
def has(module):
    """Whether it is there, and can be imported: kermac needs one version of cuda-core."""
    try:
        importlib.import_module(module)
    except Exception as error:  # whatever it raises
        if not isinstance(error, ModuleNotFoundError) or error.name != module:
            print(f"program_kernels.py: without {module}: {error}", file=sys.stderr)
        return False
    return True


def foreign(place, type_name):
    """Whether kermac can do it: float32 on a GPU."""
    return place.is_cuda and type_name == "f32" and has("kermac")


def distances(place):
    """cdist of random rows."""
    m, n, k = (200, 300, 64) if place.quick else (30000, 30000, 1024) if place.is_cuda else \
        (1000, 1000, 256)
    cases = ([(2, "f32", 15), (1, "f32", 60), (1.3, "f32", 240), (1.5, "f32", 120), (2, "f16", None)]
             if place.is_cuda else [(2, "f32", None), (2, "f64", None), (1, "f32", None),
                                    (1, "f64", None), (1.5, "f32", None), (1.5, "f64", None)])

    def case(p, type_name, goal):
        def setup():
            a, b = (place.randn(rows, k, type=type_name) for rows in (m, n))
            rows = checked(m)
            functions = {"kron": lambda: kron.kernels.cdist(a, b, p=p)}
            if type_name != "f16":
                functions["torch.cdist"] = lambda: torch.cdist(a, b, p=float(p))
            if foreign(place, type_name):
                import kermac
                out = torch.empty(m, n, device=a.device)
                functions["kermac"] = lambda: kermac.cdist(a, b, out=out, p=float(p))
            if not place.is_cuda:
                x, y = a.numpy(), b.numpy()
                if p == 2 and has("sklearn"):
                    from sklearn.metrics.pairwise import euclidean_distances
                    functions["scikit-learn"] = lambda: euclidean_distances(x, y)
                if has("scipy"):
                    from scipy.spatial import distance
                    functions["SciPy"] = lambda: distance.cdist(x, y, "minkowski", p=p) \
                        if p not in (1, 2) else distance.cdist(
                            x, y, "cityblock" if p == 1 else "euclidean")
            return (ways_on_rows(functions, rows),
                    {"y": exact_distances(a[rows.to(a.device)], b, p)})

        more = {"floor_ms": matrix_floor(m, n, k, type_name, p)} if place.is_cuda else {}
        return Case("Distances", f"p = {p:g}, {m} x {n} x {k}, {type_name}", type_name, setup,
                    {"group": f"{m} x {n} x {k}", "goal_ms": None if place.quick else goal, **more}, PATIENCE)
    yield from (case(*which) for which in cases)


def matrices(place):
    """A Gaussian kernel's matrix."""
    m, n, k = (200, 300, 64) if place.quick else (30000, 30000, 1024) if place.is_cuda else \
        (1000, 1000, 256)
    scale = math.sqrt(k)

    def case(type_name):
        def setup():
            a, b = (place.randn(rows, k, type=type_name) for rows in (m, n))
            rows = checked(m)
            functions = {
                "kron": lambda: kron.kernels.kernel(a, b, "gaussian", lengthscale=scale).to_dense(),
                "torch.cdist": lambda: gaussian(torch.cdist(a, b), scale)}
            if foreign(place, type_name):
                import kermac
                out = torch.empty(m, n, device=a.device)
                descriptor = kermac.KernelDescriptor(
                    inner_operator=kermac.InnerOperator.DIFF, inner_power=kermac.PowerType.SQUARE,
                    outer_power=kermac.PowerType.NOOP, kernel_type=kermac.KernelType.GAUSSIAN)
                functions["kermac"] = lambda: kermac.run_kernel(descriptor, a, b, out=out,
                                                                bandwidth=scale)
            if not place.is_cuda and has("sklearn"):
                from sklearn.metrics.pairwise import rbf_kernel
                x, y = a.numpy(), b.numpy()
                functions["scikit-learn"] = lambda: rbf_kernel(x, y, gamma=1 / (2 * scale * scale))
            return (ways_on_rows(functions, rows),
                    {"y": gaussian(exact_distances(a[rows.to(a.device)], b, 2), scale)})

        more = {"floor_ms": matrix_floor(m, n, k, type_name, 2)} if place.is_cuda else {}
        return Case("Gaussian kernel", f"{m} x {n} x {k}, {type_name}", type_name, setup,
                    {"group": f"{m} x {n} x {k}",
                     "goal_ms": 15.75 if place.is_cuda and not place.quick else None, **more}, PATIENCE)
    yield from (case(type_name) for type_name in (("f32",) if place.is_cuda else ("f32", "f64")))


def products(place):
    """A Gaussian kernel's matrix times vectors, without the matrix in memory."""
    if place.quick:
        cases = [(300, 3, 1, None), (200, 64, 16, None)]
    elif place.is_cuda:
        cases = [(10**6, 3, 1, 330), (10**5, 3, 1, 4), (10**5, 64, 1, 11), (10**5, 64, 16, 13),
                 (10**5, 256, 1, 40), (5 * 10**4, 700, 1, 27)]
    else:
        cases = [(10**4, 3, 1, None), (5000, 64, 1, None), (5000, 64, 16, None)]

    def case(n, k, columns, goal):
        scale = math.sqrt(k)

        def setup():
            a, b = (place.randn(n, k, type="f32") for _ in range(2))
            v = place.randn(n, columns, type="f32")
            rows = checked(n)

            def blocks():
                block = max(1, BLOCK // n)
                return torch.cat([gaussian(torch.cdist(a[i:i + block], b), scale) @ v
                                  for i in range(0, n, block)])
            functions = {
                "kron": lambda: kron.kernels.kernel(a, b, "gaussian", lengthscale=scale).matmul(v),
                "PyTorch, in blocks": blocks}
            if place.is_cuda and has("pykeops"):
                from pykeops.torch import LazyTensor
                x, y = LazyTensor(a[:, None, :]), LazyTensor(b[None, :, :])
                matrix = (-((x - y) ** 2).sum(-1) / (2 * scale * scale)).exp()
                functions["KeOps"] = lambda: matrix @ v
            some = a[rows.to(a.device)]
            exact = torch.cat([gaussian(exact_distances(row[None], b, 2), scale) @ v.double()
                               for row in some])
            return ways_on_rows(functions, rows), {"y": exact}

        more = {"floor_ms": product_floor(n, n, k, columns)} if place.is_cuda else {}
        return Case("Product", f"{n} x {n} x {k}, {columns} columns, f32", "f32", setup,
                    {"group": "Gaussian kernel times vectors", "goal_ms": goal, **more}, PATIENCE)
    yield from (case(*which) for which in cases)


def gradients(place):
    """kermac's cdist_grad: the power of each difference once for all outputs."""
    k, m, n, outputs = (100, 60, 8, 3) if place.quick else (1000, 1000, 64, 8)

    def case(p):
        def setup():
            a, b, c, d = (place.randn(*shape, type="f32") for shape in
                          ((k, m), (n, k), (outputs, k), (n, m)))
            functions = {"kron": lambda: kron.compat.kermac.cdist_grad(a, b, c, d, p=p)}

            def whole(a, b, c, d):
                # One of the N features after the other: [K, M] terms.
                return torch.stack([c @ (a * torch.sign(d[i] - b[i][:, None])
                                         * (d[i] - b[i][:, None]).abs() ** (p - 1))
                                    for i in range(n)], dim=1)[None]
            functions["PyTorch"] = lambda: whole(a, b, c, d)
            if foreign(place, "f32"):
                import kermac
                functions["kermac"] = lambda: kermac.cdist_grad(a, b, c, d, p=p)
            exact = whole(*(x.double() for x in (a, b, c, d)))
            return ways_on_rows(functions, torch.arange(n)), {"y": exact}

        # A logarithm and an exponential of each difference; a product and an addition for each output.
        floor = floor_ms(special=2 * k * m * n / SPECIAL, fp32=(outputs + 3) * k * m * n / FP32)
        return Case("Weighted derivatives", f"p = {p:g}, {k} x {m} x {n}, {outputs} outputs, f32",
                    "f32", setup, {"group": f"{k} x {m} x {n}", "goal_ms": None,
                                   **({"floor_ms": floor} if place.is_cuda else {})}, PATIENCE)
    yield case(1.3)


def small(place):
    """Distances of many small sets."""
    count, m, k = (16, 20, 16) if place.quick else (4096, 64, 16) if place.is_cuda else (256, 64, 16)

    def case(p, goal):
        def setup():
            a, b = (place.randn(count, m, k, type="f32") for _ in range(2))
            functions = {"kron": lambda: kron.kernels.cdist(a, b, p=p),
                         "torch.cdist": lambda: torch.cdist(a, b, p=float(p))}
            return ways_on_rows(functions, torch.arange(m)), {"y": exact_distances(a, b, p)}

        memory = 4 * count * (m * m + 2 * m * k) / MEMORY
        floor = floor_ms(memory=memory, fp32=2 * count * m * m * k / FP32)
        return Case("Many small", f"p = {p:g}, {count} times {m} x {m} x {k}, f32", "f32", setup,
                    {"group": f"{count} times {m} x {m} x {k}",
                     "goal_ms": goal if place.is_cuda and not place.quick else None,
                     **({"floor_ms": floor} if place.is_cuda else {})}, PATIENCE)
    yield from (case(1, 0.15), case(2, 0.06))


PROGRAMS = (distances, matrices, products, gradients, small)
