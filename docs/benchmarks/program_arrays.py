"""Programs of programs.py that compute with arrays: no layers, no derivatives."""

import math

import linear_operator
import numpy as np
import torch

import kron
import photograph
from program_timing import TYPES, Case, Way


def single(function):
    """A way of one phase, and the result of its last call."""
    state = {}

    def run():
        with torch.no_grad():
            state["y"] = function()

    return Way({"step": run}, lambda: {"y": state["y"]})


def ways_of(functions):
    return {name: lambda function=function: single(function)
            for name, function in functions.items()}


def orthogonal(place, n):
    return torch.linalg.qr(place.randn(n, n))[0]


# --- preconditioned gradients -----------------------------------------------------------


def update(place):
    """L^-1 G R^-1 for the 48 matrices of a ViT-S, whose inverses are at hand, as between
    two of the rare steps that renew them."""
    width = 12 if place.quick else 384
    shapes = [(3 * width, width), (width, width), (4 * width, width), (width, 4 * width)]
    layers = 2 if place.quick else 12

    def case(type_name):
        def setup():
            def inverse(n):
                q = orthogonal(place, n)
                # Symmetric, with a condition of 100.
                d = torch.logspace(-1, 1, n, dtype=torch.float64, device=place.device)
                return ((q * d) @ q.mT).to(TYPES[type_name])
            groups = [([place.randn(n, m, type=type_name) for _ in range(layers)],
                       torch.stack([inverse(n) for _ in range(layers)]),
                       torch.stack([inverse(m) for _ in range(layers)])) for n, m in shapes]

            def each(product):
                return lambda: torch.cat([product(g, l, r).flatten()
                                          for gs, ls, rs in groups
                                          for g, l, r in zip(gs, ls, rs)])

            def stacked(product):
                return lambda: torch.cat([product(torch.stack(gs), ls, rs).flatten()
                                          for gs, ls, rs in groups])

            # Launches are what small matrices take on a GPU; on a CPU there is no use in copies.
            own = stacked if place.is_cuda else each
            functions = {"kron": own(lambda g, l, r: kron.batched(g, [l, r])),
                         "matmul": each(lambda g, l, r: l @ g @ r),
                         "bmm": stacked(lambda g, l, r: l @ g @ r)}
            exact = each(lambda g, l, r: l.double() @ g.double() @ r.double())()
            return ways_of(functions), {"y": exact}

        group = f"{4 * layers} matrices, width {width}"
        return Case("K-FAC update", f"{group}, {type_name}", type_name, setup,
                    {"group": group})

    yield case("f32")
    yield case("bf16")


# --- a linear system --------------------------------------------------------------------


def conjugate_gradients(product, b, steps):
    """So many steps from zero, without looking at the residual, which would wait for a
    GPU in each of them."""
    x, r = torch.zeros_like(b), b
    p, square = r, r @ r
    for _ in range(steps):
        image = product(p)
        length = square / (p @ image)
        x = torch.addcmul(x, length, p)
        r = torch.addcmul(r, length, image, value=-1)
        before, square = square, r @ r
        p = torch.addcmul(r, square / before, p)
    return x


def per_axis(matrices, vector):
    """(F1 kron F2 kron ...) vector, as reshapes, matrix products and transposes."""
    for matrix in matrices:
        vector = (matrix @ vector.view(matrix.shape[1], -1)).mT.reshape(-1)
    return vector


def einsum(matrices, vector):
    inner = "".join(chr(ord("a") + k) for k in range(len(matrices)))
    terms = ",".join(letter.upper() + letter for letter in inner)
    array = vector.view([f.shape[1] for f in matrices])
    # The vector first: without opt_einsum, products are from left to right.
    return torch.einsum(f"{inner},{terms}->{inner.upper()}", array, *matrices).reshape(-1)


def solve(place):
    """(K1 kron K2 kron K3 + D) x = b, where D differs from point to point, so that no
    eigendecomposition of the factors solves it."""
    sizes = (4, 5, 6) if place.quick else (64, 64, 64)
    steps = 60

    def case(type_name):
        def setup():
            def covariance(n):
                t = torch.linspace(0, 2, n, dtype=torch.float64, device=place.device)
                return torch.exp(-(t[:, None] - t).abs())
            exact_factors = [covariance(n) for n in sizes]
            size = math.prod(sizes)
            # The largest eigenvalue of K is about the product of those sums of rows.
            scale = math.prod(float(f.sum(1).max()) for f in exact_factors)
            exact_noise = scale * (0.02 + 0.02 * place.randn(size).abs())
            exact_b = place.randn(size)
            factors = [f.to(TYPES[type_name]) for f in exact_factors]
            noise, b = exact_noise.to(TYPES[type_name]), exact_b.to(TYPES[type_name])
            operator = linear_operator.operators.KroneckerProductLinearOperator(*factors)
            products = {
                "kron": lambda v: kron.kmm(v, factors, beta=1, z=noise * v),
                "matmul": lambda v: torch.addcmul(per_axis(factors, v), noise, v),
                "gpytorch": lambda v: torch.addcmul(operator @ v, noise, v),
                "einsum": lambda v: torch.addcmul(einsum(factors, v), noise, v)}
            functions = {name: lambda product=product: conjugate_gradients(product, b, steps)
                         for name, product in products.items()}
            # Of the same rounded system, so many steps that nothing is left of it.
            wide, rounded = [f.double() for f in factors], noise.double()
            exact = conjugate_gradients(
                lambda v: torch.addcmul(per_axis(wide, v), rounded, v), b.double(), 2 * steps)
            return ways_of(functions), {"y": exact}

        group = f"grid {' x '.join(map(str, sizes))}, {steps} steps"
        return Case("CG solve", f"{group}, {type_name}", type_name, setup, {"group": group})

    yield case("f64")
    yield case("f32")


# --- a photograph -----------------------------------------------------------------------


def cosine_matrix(n):
    """Orthonormal DCT-II: row k holds cosine k."""
    k, i = np.mgrid[0:n, 0:n]
    d = np.sqrt(2 / n) * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    d[0] /= np.sqrt(2)
    return torch.from_numpy(d)


def dct(place):
    """Blocks of 8 x 8 are transformed, quantised and transformed back, as JPEG does."""
    pixels = photograph.pixels()
    pixels = pixels[:32, :48] if place.quick else pixels
    height, width, _ = pixels.shape

    def setup():
        picture = torch.from_numpy(pixels.copy()).to(place.device)
        exact = cosine_matrix(8).to(place.device)
        d = exact.float()
        # Coarser for higher frequencies, and rounded to powers of two.
        step = 2.0 ** (3 + (torch.arange(8)[:, None] + torch.arange(8)) // 4)
        step = step.to(place.device)

        def blocks():
            block = picture.view(height // 8, 8, width // 8, 8, 3).permute(4, 0, 2, 1, 3)
            return block.reshape(-1, 8, 8).float() - 128

        def whole(forward, inverse):
            """Coefficients and the picture after them."""
            def run():
                coefficients = forward(blocks())
                quantised = torch.round(coefficients / step) * step
                restored = inverse(quantised).view(3, height // 8, width // 8, 8, 8)
                return coefficients, (restored.permute(1, 3, 2, 4, 0) + 128).clamp_(0, 255) \
                    .to(torch.uint8).reshape(height, width, 3)
            return run

        big = torch.kron(d, d)
        filters = big.view(64, 1, 8, 8)
        functions = {
            "kron": whole(lambda x: kron.batched(x, [d, d]),
                          lambda x: kron.batched(x, [d, d], trans_factors=True)),
            "matmul": whole(lambda x: d @ x @ d.mT, lambda x: d.mT @ x @ d),
            "dense": whole(lambda x: (x.view(-1, 64) @ big.mT).view(-1, 8, 8),
                           lambda x: (x.view(-1, 64) @ big).view(-1, 8, 8)),
            "convolution": whole(
                lambda x: torch.conv2d(x.unsqueeze(1), filters).view(-1, 8, 8),
                lambda x: torch.conv_transpose2d(x.view(-1, 64, 1, 1),
                                                 filters).view(-1, 8, 8))}

        def way(function):
            made = single(function)
            # Quantising turns rounding errors into whole steps: coefficients are compared.
            return Way(made.phases, lambda: {"y": made.results()["y"][0]})

        return ({name: lambda function=function: way(function)
                 for name, function in functions.items()},
                {"y": exact @ blocks().double() @ exact.mT})

    group = f"{width} x {height} x 3"
    yield Case("DCT of a photograph", f"{group}, f32", "f32", setup, {"group": group})


# --- qubits -----------------------------------------------------------------------------


def rotation(place, type_name):
    """A random gate of one qubit."""
    q = torch.linalg.qr(torch.complex(place.randn(2, 2), place.randn(2, 2)))[0]
    return q.to(TYPES[type_name])


def gate_by_gate(state, gates):
    """As simulators do: every gate reads and writes the whole state."""
    count = len(gates)
    for k, gate in enumerate(gates):
        state = torch.matmul(gate, state.view(2 ** k, 2, 2 ** (count - k - 1)))
    return state.reshape(-1)


def grouped(state, gates, most):
    """Gates of neighbouring qubits multiplied out first."""
    groups = []
    for k in range(0, len(gates), most):
        matrix = gates[k]
        for gate in gates[k + 1:k + most]:
            matrix = torch.kron(matrix, gate)
        groups.append(matrix)
    return per_axis(groups, state)


def qubits(place):
    count = 6 if place.quick else 20

    def case(type_name):
        def setup():
            gates = [rotation(place, type_name) for _ in range(count)]
            state = torch.complex(place.randn(2 ** count), place.randn(2 ** count))
            state = (state / state.norm()).to(TYPES[type_name])
            functions = {"kron": lambda: kron.kmm(state, gates),
                         "gate by gate": lambda: gate_by_gate(state, gates),
                         "groups of 5": lambda: grouped(state, gates, 5)}
            exact = gate_by_gate(state.to(torch.complex128),
                                 [gate.to(torch.complex128) for gate in gates])
            return ways_of(functions), {"y": exact}

        return Case("Layer of gates", f"{count} qubits, {type_name}", type_name, setup,
                    {"group": f"{count} qubits"})

    yield case("c32")
    yield case("c64")
