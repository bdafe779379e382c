"""Parameters of random cases, with shapes from `SIZES` and `ROWS`.

SPDX-License-Identifier: MIT
"""

import math

import numpy as np

import chains
from builder import ADDENDS, ALPHA_KINDS, BETA_KINDS, MEMREF_LAYOUTS, OPS, PRODUCTS
from dtypes import FLOAT8, REAL_FLOATS, TYPES

SIZES = (1, 2, 3, 5, 7, 8, 12, 16, 31, 64)
ROWS = (0, 1, 2, 7, 64, 1000)
MAX_ELEMENTS = 200_000
MAX_FLOPS = 4_000_000


def common_parameters(rng):
    name = str(rng.choice(list(TYPES), p=[.27, .27, .08, .08, .075, .075, .075, .075]))
    p = {
        "type": name,
        "form": str(rng.choice(["tensor", "memref"])),
        "memref_layout": str(rng.choice([*MEMREF_LAYOUTS, "mixed"])),
        "alpha": str(rng.choice(ALPHA_KINDS, p=[.45, .2, .25, .05, .05])),
        "beta": str(rng.choice(BETA_KINDS, p=[.4, .15, .2, .1, .1, .05])),
        "addend": str(rng.choice(ADDENDS)),
        "init_argument": bool(rng.random() < 0.2),
        "dynamic": tuple(t for t in ("rows", "batch") if rng.random() < 0.5),
        "attributes": ["precision = #kron.precision<ieee>"] if rng.random() < 0.1 else [],
    }
    if rng.random() < 0.05:
        p["dynamic"] += ("factors",)
    if not TYPES[name].is_integer and rng.random() < 0.04:
        p["special"] = [math.nan, math.inf, -math.inf][rng.integers(3)]
    return p


def cost(rows, sizes):
    """Largest intermediate in elements and multiply-adds of any factor order."""
    elements = rows * math.prod(max(s) for s in sizes)
    return elements, elements * sum(min(s) for s in sizes)


def _random_batch(rng):
    if rng.random() < 0.7:
        return (), lambda: ()
    full = [int(n) for n in rng.choice([1, 2, 3], int(rng.integers(1, 3)))]

    def part():
        """A batch that stretches to the full one."""
        if rng.random() < 0.5:
            return ()
        kept = full[int(rng.integers(0, len(full))) :]
        return tuple(n if rng.random() < 0.6 else 1 for n in kept)

    x_batch = tuple(full) if rng.random() < 0.6 else part()
    return x_batch, part


def _random_product(rng, p):
    n = int(rng.choice(range(1, 11), p=[.15, .2, .2, .15, .1, .05, .05, .04, .03, .03]))
    square = rng.random() < 0.4
    sizes = []
    for _ in range(n):
        pair = [int(s) for s in rng.choice(SIZES, 2)]
        sizes.append((pair[0],) * 2 if square else tuple(pair))
    rows = int(rng.choice(ROWS, p=[.04, .16, .16, .24, .25, .15]))
    x_batch, part = _random_batch(rng)
    f_batches = tuple(part() if rng.random() < 0.5 else () for _ in range(n))
    batch = math.prod(np.broadcast_shapes(x_batch, *f_batches))
    while True:
        elements, flops = cost(max(rows, 1) * batch, sizes)
        if elements <= MAX_ELEMENTS and flops <= MAX_FLOPS:
            break
        # Shrink the dearest part: a factor, or the rows when factors are small.
        k = max(range(n), key=lambda k: max(sizes[k]))
        if max(sizes[k]) <= 3 and rows > 1:
            rows = ROWS[ROWS.index(rows) - 1]
        else:
            sizes[k] = tuple(SIZES[max(SIZES.index(s) - 1, 0)] for s in sizes[k])
    uniform = rng.random() < 0.5
    return p | dict(op=str(rng.choice(PRODUCTS, p=[.4, .35, .25])), sizes=sizes, rows=rows,
                    x_batch=x_batch, f_batches=f_batches,
                    op_x="N" if uniform else str(rng.choice(list(OPS))),
                    ops=["N" if uniform else str(rng.choice(list(OPS))) for _ in range(n)])


def _random_ksmm(rng, p):
    while True:
        a, b, c, d = (int(s) for s in rng.choice(SIZES, 4))
        rows = int(rng.choice(ROWS))
        if max(rows, 1) * a * d * max(b, c) <= MAX_ELEMENTS and rows * a * b * c * d <= MAX_FLOPS:
            break
    real = p["type"] in REAL_FLOATS
    activations = ["identity", "relu", "gelu", "silu"] if real else ["identity"]
    p |= dict(op="ksmm", pattern=(a, b, c, d), rows=rows, op_x=str(rng.choice(list(OPS))),
              op_weights=str(rng.choice(list(OPS))),
              layout=str(rng.choice(["batch_first", "batch_last"])),
              activation=str(rng.choice(activations)), bias=bool(rng.random() < .4),
              residual=bool(rng.random() < .3), scale=bool(rng.random() < .3))
    if real and rng.random() < .2:
        kinds = [None, *FLOAT8]
        p["of_8_bits"] = tuple(kinds[i] for i in rng.integers(3, size=2))
    return p


def _random_grad(rng, p):
    p = _random_ksmm(rng, p)
    conj = bool(rng.random() < .3), bool(rng.random() < .3)
    shared = [bool(rng.random() < .2) and n > 1 for n in (p["pattern"][0], p["pattern"][3])]
    return p | dict(op="ksmm_grad", conj=conj, shared=shared)


def _random_factor_grad(rng, p):
    while True:
        sizes = [tuple(int(s) for s in rng.choice(SIZES, 2)) for _ in range(rng.integers(1, 5))]
        rows, batch = int(rng.choice(ROWS)), ((), (), (2,), (3, 1))[rng.integers(4)]
        elements, flops = cost(max(rows, 1) * math.prod(batch), sizes)
        if elements <= MAX_ELEMENTS and flops <= MAX_FLOPS:
            break
    index = int(rng.integers(len(sizes)))
    uniform = rng.random() < 0.4
    if "special" in p:
        # An infinite X gives infinities or NaN, as the other factors are applied to X
        # or to G.
        p["special"] = math.nan
    return p | dict(op="factor_grad", sizes=sizes, index=index, rows=rows, x_batch=batch,
                    ops=["N" if uniform else str(rng.choice(list(OPS))) for _ in sizes[1:]],
                    layout=str(rng.choice(["batch_first", "batch_last"])),
                    conj=(bool(rng.random() < .3), bool(rng.random() < .3)))


def _random_mode(rng, p):
    while True:
        rank = int(rng.integers(1, 5))
        shape = tuple(int(s) for s in rng.choice(SIZES, rank))
        axis, q = int(rng.integers(rank)), int(rng.choice(SIZES))
        size = math.prod(shape) // shape[axis]
        if size * max(q, shape[axis]) <= MAX_ELEMENTS // 2 and size * q * shape[axis] <= MAX_FLOPS:
            break
    others = [a for a in range(rank) if a != axis]
    extra = [a for a in others if rng.random() < 0.3]
    dims = ["p", "q", *map(str, extra)]
    rng.shuffle(dims)
    return p | dict(op="mode_product", axis=axis, shape=shape, q=q, factor_dims=dims,
                    stretched=tuple(a for a in others if rng.random() < 0.1),
                    factor_stretched=tuple(a for a in extra if rng.random() < 0.3),
                    dynamic_axes=tuple(a for a in others if rng.random() < 0.4),
                    conj=(bool(rng.random() < .3), bool(rng.random() < .3)),
                    wide=(bool(rng.random() < .3), bool(rng.random() < .3)))


def random_parameters(seed, number):
    rng = np.random.default_rng([seed, number])
    p = common_parameters(rng)
    kind = rng.random()
    if kind < 0.7:
        return _random_product(rng, p)
    if kind < 0.93:
        make_parameters = (_random_ksmm if kind < 0.79 else _random_grad if kind < 0.83
                           else _random_factor_grad if kind < 0.87 else _random_mode)
        return make_parameters(rng, p)
    return chains.parameters(rng, p)
