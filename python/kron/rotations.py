"""Orthonormal Hadamard rotations as Kronecker products of small factors.

Quantised language models turn activations by an orthonormal matrix of +-1/sqrt(n), so that
no element stands out, and the weights that follow by its inverse. Such matrices of order n
are Kronecker products: of one of order m (12, 20, 28, ...) by Paley's constructions and of
2 x 2 ones. One `kron.mkm` applies all of it in a trip over memory.

SPDX-License-Identifier: MIT
"""

import functools
import math

import numpy as np

__all__ = ["Rotation", "factors", "hadamard", "sizes", "two_sided"]

#: Powers of 2 among the factors are at most so large, unless asked for.
MOST = 64
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


def sizes(n, most=MOST):
    """Orders of Hadamard matrices with product `n`: the odd part of n in as small a one as
    there is, then powers of 2 that are as few and as equal as can be, none above `most`.

    sizes(14336) is (28, 32, 16)."""
    n = _order(n)
    first, exponent = 1, (n & -n).bit_length() - 1
    if n >> exponent != 1:
        odd = n >> exponent
        found = [k for k in range(2, exponent + 1)
                 if odd << k <= _LARGEST and _signs(odd << k) is not None]
        if not found:
            raise ValueError(f"expects n to be 2**k times the order of a Hadamard matrix of "
                             f"Paley's, but got {n}")
        first, exponent = odd << found[0], exponent - found[0]
    limit = max(int(most).bit_length() - 1, 1)
    count = -(-exponent // limit)
    powers = [2 ** (exponent // count + (k < exponent % count)) for k in range(count)]
    return (*((first,) if first > 1 or not powers else ()), *powers)


def factors(n, dtype=np.float64, *, most=MOST, seed=None):
    """Orthonormal factors of a rotation of size `n`: Hadamard matrices of the orders of
    `sizes(n, most)`. With `seed` the rows of every one have random signs."""
    orders = sizes(n, most) if isinstance(n, (int, np.integer)) else tuple(map(_order, n))
    matrices = [hadamard(order) for order in orders]
    if seed is not None:
        rng = np.random.default_rng(seed)
        matrices = [rng.choice([-1.0, 1.0], len(m))[:, None] * m for m in matrices]
    return [m.astype(dtype) for m in matrices]


# ----------------------------------------------------------------------------------
# Rotations of arrays
# ----------------------------------------------------------------------------------


class Rotation:
    """x @ H with an orthonormal H of size `n` (or with factors of the orders in a tuple),
    on the last axis of arrays and tensors of any floating-point type:

        rotate = kron.rotations.Rotation(14336)
        y = rotate(x)
        x = rotate.inverse(y)

    `most` bounds the orders of the powers of 2, `seed` gives random signs."""

    def __init__(self, n, *, most=MOST, seed=None):
        self._matrices = factors(n, most=most, seed=seed)
        #: Orders of the factors, and their product.
        self.sizes = tuple(len(m) for m in self._matrices)
        self.n = math.prod(self.sizes)
        self._converted = {}

    def __repr__(self):
        return f"Rotation({' x '.join(map(str, self.sizes))})"

    def factors_for(self, x):
        """The factors as arrays like x: of its library, type and device."""
        key = (type(x).__module__, x.dtype, getattr(x, "device", None))
        if key not in self._converted:
            if isinstance(x, np.ndarray):
                converted = [m.astype(x.dtype) for m in self._matrices]
            else:
                converted = [x.new_tensor(m) for m in self._matrices]
            self._converted[key] = converted
        return self._converted[key]

    def matrix(self):
        """All of H, in float64."""
        return functools.reduce(np.kron, self._matrices)

    def __call__(self, x):
        return self._apply(x, False)

    def inverse(self, x):
        """x @ H.T."""
        return self._apply(x, True)

    def _apply(self, x, transposed):
        from kron import mkm

        if x.ndim == 0 or x.shape[-1] != self.n:
            raise ValueError(f"expects the last axis to have size {self.n}, but got shape "
                             f"{tuple(x.shape)}")
        return mkm(x, self.factors_for(x), trans_factors=transposed)


def two_sided(x, a, b):
    """a @ X @ b for every row of x, [..., P1 * P2], as a matrix X of P1 x P2; `a` is
    [Q1, P1], `b` [P2, Q2]. The rotation by two factors that some models learn."""
    from kron import mkm

    return mkm(x, [a, b], trans_factors=(True, False))
