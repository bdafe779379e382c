"""Orthonormal Hadamard rotations as Kronecker products of small factors.

Quantised language models turn activations by an orthonormal matrix of +-1/sqrt(n), so that
no element stands out, and the weights that follow by its inverse. Such matrices of order n
are Kronecker products: of one of order m (12, 20, 28, ...) by Paley's constructions and of
2 x 2 ones. One `kron.mkm` applies all of it in one fused region.

SPDX-License-Identifier: MIT
"""

import functools
import math

import numpy as np

from kron import _quantize

__all__ = ["Rotation", "factors", "hadamard", "sizes", "two_sided"]

#: Orders of factors are at most so large, unless asked for.
MOST, MOST_ON_GPU = 8, 128
#: The largest order that is looked for where n is no power of 2.
_LARGEST = 1024


# ----------------------------------------------------------------------------------
# Hadamard matrices
# ----------------------------------------------------------------------------------


def _prime_power(q):
    """(p, e) with q = p**e and e of 1 or 2, or None."""
    for p in range(2, math.isqrt(q) + 1):
        if q % p == 0:
            return (p, 2) if p * p == q else None
    return (q, 1) if q > 1 else None


def _differences_character(q):
    """The matrix of chi(a - b), where chi(x) is 0, 1 or -1 as x is 0, a square or neither,
    for all a and b of the field with q elements."""
    p, power = _prime_power(q)
    if power == 1:
        elements = [(a, 0) for a in range(p)]
        other = 0
    else:
        # a + b*w with w*w = other, which is no square modulo p.
        elements = [(a, b) for a in range(p) for b in range(p)]
        other = next(n for n in range(2, p) if pow(n, (p - 1) // 2, p) == p - 1)
    squares = {((a * a + other * b * b) % p, 2 * a * b % p) for a, b in elements} - {(0, 0)}

    def chi(a, b):
        difference = ((a[0] - b[0]) % p, (a[1] - b[1]) % p)
        return 0 if difference == (0, 0) else 1 if difference in squares else -1

    return np.array([[chi(a, b) for b in elements] for a in elements], np.int8)


def _bordered(q, corner):
    """The matrix of `_differences_character` with a row and a column of ones; the column is
    `corner` times that."""
    matrix = np.zeros((q + 1, q + 1), np.int8)
    matrix[0, 1:], matrix[1:, 0] = 1, corner
    matrix[1:, 1:] = _differences_character(q)
    return matrix


@functools.cache
def _signs(order):
    """A Hadamard matrix of +-1, or None if none of these constructions gives it."""
    if order in (1, 2):
        return np.array([[1, 1], [1, -1]], np.int8)[:order, :order]
    if order < 1 or order % 4:
        return None
    if _prime_power(order - 1) and order % 4 == 0:
        # Paley's first: order - 1 is 3 modulo 4.
        return _bordered(order - 1, -1) + np.eye(order, dtype=np.int8)
    q = order // 2 - 1
    if _prime_power(q) and q % 4 == 1:
        # Paley's second.
        symmetric = _bordered(q, 1)
        return (np.kron(symmetric, np.array([[1, 1], [1, -1]], np.int8))
                + np.kron(np.eye(q + 1, dtype=np.int8), np.array([[1, -1], [-1, -1]], np.int8)))
    half = _signs(order // 2)
    return None if half is None else np.kron(half, _signs(2))


def hadamard(order, dtype=np.float64, normalized=True):
    """A matrix of order `order` whose elements are +-1, times 1/sqrt(order) if `normalized`:
    then H @ H.T is the identity. Powers of 2, and multiples of 4 that Paley's constructions
    or doubling give: 12, 20, 24, 28, 36, 40, 44, 48, 52, 56, 60, ..., but not 92."""
    signs = _signs(_order(order))
    if signs is None:
        raise ValueError(f"expects order to be that of a Hadamard matrix of Paley's, or 2 "
                         f"times one, but got {order}")
    return (signs / math.sqrt(order)).astype(dtype) if normalized else signs.astype(dtype)


def _order(n):
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise TypeError(f"expects an order to be an integer, but got {type(n).__name__}")
    if n < 1:
        raise ValueError(f"expects an order of at least 1, but got {n}")
    return int(n)


# ----------------------------------------------------------------------------------
# Plans
# ----------------------------------------------------------------------------------


def _split(n):
    """(m, k) with n = m * 2**k, where m is 1 or the smallest order of a Hadamard matrix that
    the odd part of n divides."""
    n = _order(n)
    exponent = (n & -n).bit_length() - 1
    odd = n >> exponent
    if odd == 1:
        return 1, exponent
    for k in range(2, exponent + 1):
        if odd << k > _LARGEST:
            break
        if _signs(odd << k) is not None:
            return odd << k, exponent - k
    raise ValueError(f"expects n to be 2**k times the order of a Hadamard matrix of Paley's, "
                     f"but got {n}")


def _powers(exponent, count):
    """`count` powers of 2 with product 2**exponent, as equal as can be."""
    return tuple(2 ** (exponent // count + (k < exponent % count)) for k in range(count))


def sizes(n, most=MOST):
    """Orders of Hadamard matrices with product `n`: as few as can be without one above `most`
    (but for the part of n that is no power of 2), and of those the most equal ones.

    sizes(14336) is (28, 8, 8, 8), and sizes(14336, 128) is (112, 128)."""
    base, exponent = _split(n)
    if base == 1 and exponent == 0:
        return (1,)
    for count in range(exponent + 1):
        plans = []
        for taken in range(exponent + 1) if base > 1 else (0,):
            if (taken == exponent) != (count == 0) or exponent - taken < count:
                continue
            powers = _powers(exponent - taken, count) if count else ()
            plan = ((base << taken,) if base > 1 else ()) + powers
            if all(order <= most or order == base or order == 2 for order in plan):
                plans.append(plan)
        if plans:
            return min(plans, key=lambda plan: (max(plan), plan))
    raise AssertionError("factors of 2 are never too large")


def factors(n, dtype=np.float64, *, most=MOST, seed=None):
    """Orthonormal factors of a rotation of size `n`: Hadamard matrices of the orders of
    `sizes(n, most)`; a tuple in place of n gives the orders. With `seed` rows have random
    signs. The rotation of a size n is the same whatever `most` is."""
    whole = isinstance(n, (int, np.integer)) and not isinstance(n, bool)
    if whole:
        base, exponent = _split(n)
        elements = ([base] if base > 1 or exponent == 0 else []) + [2] * exponent
        orders = sizes(n, most)
    elif isinstance(n, (tuple, list)):
        elements = orders = tuple(map(_order, n))
    else:
        raise TypeError(f"expects n to be an integer or a tuple of orders, but got "
                        f"{type(n).__name__}")
    matrices = [hadamard(order) for order in elements]
    if seed is not None:
        rng = np.random.default_rng(seed)
        matrices = [rng.choice([-1.0, 1.0], len(m))[:, None] * m for m in matrices]
    joined = []
    for order in orders:
        matrix = np.ones((1, 1))
        while len(matrix) < order or (order == 1 and matrices):
            matrix = np.kron(matrix, matrices.pop(0))
        joined.append(matrix.astype(dtype))
    return joined


# ----------------------------------------------------------------------------------
# Rotations of arrays
# ----------------------------------------------------------------------------------


class Rotation:
    """x @ H with an orthonormal H of size `n` (or with factors of the orders in a tuple),
    on the last axis of arrays and tensors of any floating-point type:

        rotate = kron.rotations.Rotation(14336)
        y = rotate(x)
        x = rotate.inverse(y)

    `most` bounds the orders (see `sizes`); by default it is 8, and on a GPU, whose matrix
    units make two large factors the fastest, 128. `seed` gives random signs.

    With `quantize`, "int8", "float8_e4m3fn" or "float8_e5m2", calls give (q, scale) as
    kron.quantize does; y may have been rounded to its type before:

        q, scale = kron.rotations.Rotation(14336, quantize="int8")(x)"""

    def __init__(self, n, *, most=None, seed=None, quantize=None):
        self._n, self._most, self._seed = n, most, seed
        self._quantize = quantize
        if quantize is not None:
            _quantize.check_kind(quantize)
        #: Orders of the factors, and their product.
        self.sizes = tuple(map(len, self._matrices(MOST)))
        self.n = math.prod(self.sizes)
        self._converted = {}

    def _matrices(self, most):
        return factors(self._n, most=self._most or most, seed=self._seed)

    def __repr__(self):
        return f"Rotation({' x '.join(map(str, self.sizes))})"

    def factors_for(self, x):
        """The factors as arrays like x: of its library, type and device."""
        key = (type(x).__module__, x.dtype, getattr(x, "device", None))
        if key not in self._converted:
            if isinstance(x, np.ndarray):
                converted = [m.astype(x.dtype) for m in self._matrices(MOST)]
            else:
                most = MOST_ON_GPU if x.is_cuda else MOST
                converted = [x.new_tensor(m) for m in self._matrices(most)]
            self._converted[key] = converted
        return self._converted[key]

    def matrix(self):
        """All of H, in float64."""
        return functools.reduce(np.kron, self._matrices(MOST))

    def __call__(self, x):
        if self._quantize is None:
            return self._apply(x, False)
        self._check(x)
        return _quantize.rotated(x, self.factors_for(x), self._quantize)

    def inverse(self, x):
        """x @ H.T."""
        return self._apply(x, True)

    def _check(self, x):
        if x.ndim == 0 or x.shape[-1] != self.n:
            raise ValueError(f"expects the last axis to have size {self.n}, but got shape "
                             f"{tuple(x.shape)}")

    def _apply(self, x, transposed):
        from kron import mkm

        self._check(x)
        return mkm(x, self.factors_for(x), trans_factors=transposed)


def two_sided(x, a, b):
    """a @ X @ b for every row of x, [..., P1 * P2], as a matrix X of P1 x P2; `a` is
    [Q1, P1], `b` [P2, Q2]. The rotation by two factors that some models learn."""
    from kron import mkm

    return mkm(x, [a, b], trans_factors=(True, False))
