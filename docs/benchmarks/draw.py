"""Draws benchmark cases from distributions that are stated here, and nothing else decides
about them: what is fast on a list of shapes alone is not fast here.

- Arrays (input and output together): as many bytes as a log-uniform draw between the limits says.
- Sides of factors: log-uniform in 2..512, or what of it fits; a third of the products have equal
  square factors, a third square ones of different sizes, a third rectangular ones. 1 to 10 factors,
  each number as often as the others (`batched` 1 to 6).
- Rows of mkm, columns of kmm, rows of sparse factors, arrays of `batched`: what the bytes ask for,
  in 1..100000 (arrays: as many as fit). Cases that are out of these ranges are drawn again.
- Operands: half as they are (NN), the others each of TN, NT and TT as often; complex ones get C in
  place of T half of the time.
- Sparse patterns: a and d log-uniform in 1..128, b and c in 2..512; batch first and batch last as
  often. Chains: 2 to 4 patterns, whose widths fit, of sides and groups that divide them; what has
  half as many weights as one dense matrix, or more, is drawn again, since that takes its place.
- Types as often as `TYPES` says.

SPDX-License-Identifier: MIT
"""

import math

from bench_cases import SIZES

FAMILIES = ("mkm", "kmm", "batched", "ksmm", "chain")
TYPES = {
    "mkm": {"f32": 3, "f64": 3, "f16": 1, "bf16": 1, "c64": 1},
    "kmm": {"f32": 3, "f64": 3, "f16": 1, "bf16": 1},
    "batched": {"f32": 1, "f64": 1},
    "ksmm": {"f32": 2, "f64": 1, "f16": 1, "bf16": 1},
    "chain": {"f32": 2, "f64": 1, "f16": 1, "bf16": 1},
}
MOST_ROWS = 100_000
LEAST_SIDE, MOST_SIDE, MOST_GROUPS = 2, 512, 128
#: A width of a chain, in elements.
WIDTHS = (64, 16384)
#: Weights of a Kronecker-sparse factor take no more than this.
MOST_WEIGHTS = 2**26
#: Tries for one case, after which its kind and number of factors are drawn again.
TRIES = 20_000


def log_uniform(rng, least, most):
    """An integer in least..most."""
    return min(most, int(math.exp(rng.uniform(math.log(least), math.log(most + 1)))))


def _type(rng, family):
    names, weights = zip(*TYPES[family].items())
    return str(rng.choice(names, p=[w / sum(weights) for w in weights]))


def _sides(rng, kind, count):
    """[(P, Q), ...]"""
    if kind == 0:
        side = log_uniform(rng, LEAST_SIDE, MOST_SIDE)
        return [(side, side)] * count
    sides = [log_uniform(rng, LEAST_SIDE, MOST_SIDE) for _ in range(2 * count)]
    return [(p, p if kind == 1 else q) for p, q in zip(sides[::2], sides[1::2])]


def _text(factors):
    return ",".join(str(p) if p == q else f"{p}:{q}" for p, q in factors)


def _trans(rng, element):
    turned = "C" if element == "c64" and rng.random() < .5 else "T"
    return str(rng.choice(["NN", turned + "N", "N" + turned, 2 * turned], p=[.5, 1/6, 1/6, 1/6]))


def _product(rng, family, limits):
    element = _type(rng, family)
    wanted = log_uniform(rng, *limits)
    while True:
        kind, count = rng.integers(3), int(rng.integers(1, 7 if family == "batched" else 11))
        for _ in range(TRIES):
            factors = _sides(rng, kind, count)
            row = SIZES[element] * (math.prod(p for p, _ in factors) +
                                    math.prod(q for _, q in factors))
            # No array in between is larger than both ends by more than 8.
            between = SIZES[element] * math.prod(map(max, factors))
            rows = round(wanted / row)
            if 1 <= rows <= (MOST_ROWS if family != "batched" else wanted) and between <= 8 * row:
                return {"op": family, "type": element, "factors": _text(factors), "rows": rows,
                        "trans": _trans(rng, element) if family != "batched" else "NN"}


def _layout(rng):
    return ("batch_first", "batch_last")[rng.integers(2)]


def _sparse(rng, limits):
    element = _type(rng, "ksmm")
    wanted = log_uniform(rng, *limits)
    while True:
        a, d = (log_uniform(rng, 1, MOST_GROUPS) for _ in range(2))
        b, c = (log_uniform(rng, LEAST_SIDE, MOST_SIDE) for _ in range(2))
        rows = round(wanted / (SIZES[element] * a * d * (b + c)))
        if 1 <= rows <= MOST_ROWS and a * b * c * d * SIZES[element] <= MOST_WEIGHTS:
            return {"op": "ksmm", "type": element, "pattern": [a, b, c, d], "rows": rows,
                    "layout": _layout(rng)}


def _divisor(rng, number, least, most):
    found = [n for n in range(least, min(number, most) + 1) if number % n == 0]
    # One that is near to a log-uniform draw.
    near = log_uniform(rng, least, most)
    return min(found, key=lambda n: abs(math.log(n / near)), default=None)


def _pattern(rng, width):
    """A pattern whose input is as wide as this, or None."""
    c = _divisor(rng, width, LEAST_SIDE, MOST_SIDE)
    if c is None:
        return None
    groups = width // c
    d = _divisor(rng, groups, 1, groups)
    return [groups // d, log_uniform(rng, LEAST_SIDE, MOST_SIDE), c, d]


def _chain(rng, limits):
    element = _type(rng, "chain")
    wanted = log_uniform(rng, *limits)
    while True:
        first = log_uniform(rng, *WIDTHS)
        width, patterns = first, []
        for _ in range(int(rng.integers(2, 5))):
            pattern = _pattern(rng, width)
            if (pattern is None or math.prod(pattern) * SIZES[element] > MOST_WEIGHTS
                    or not WIDTHS[0] <= width <= WIDTHS[1]):
                break
            patterns.append(pattern)
            a, b, _, d = pattern
            width = a * b * d
        else:
            rows = round(wanted / (SIZES[element] * (first + width)))
            is_sparse = 2 * sum(map(math.prod, patterns)) < first * width
            if 1 <= rows <= MOST_ROWS and WIDTHS[0] <= width <= WIDTHS[1] and is_sparse:
                return {"op": "chain", "type": element, "patterns": patterns, "rows": rows,
                        "layout": _layout(rng)}


def case(rng, family, limits):
    """The fields of a case, as tools/kron-bench takes them, whose arrays have between `limits`
    bytes."""
    if family == "ksmm":
        return _sparse(rng, limits)
    if family == "chain":
        return _chain(rng, limits)
    return _product(rng, family, limits)
