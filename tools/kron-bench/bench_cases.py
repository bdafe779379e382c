"""Benchmark cases: what is computed, in MLIR, and what it must give.

A case file is JSON: {"title", "defaults": {...}, "cases": [{...}, ...]}. Fields of a
case, which `defaults` may give for all of them:

- op: mkm, kmm, batched, ksmm, ksmm_grad (gradient by its weights) or chain (Kronecker-sparse
  factors one after another)
- type: f32, f64, f16, bf16, c32, c64, i32, i64
- factors: comma-separated P, P:Q or P^N, e.g. "8^4", "2,5,6,7,8", "14:15,19:13"
- rows: M, or the number of arrays of `batched`
- pattern and layout: of ksmm and ksmm_grad; patterns: of a chain, the one applied first comes first
- trans: two letters out of N, T, C: op of X and of every factor (default NN)
- precision: full, ieee or tf32 (default full)
- of_8_bits: e4m3 or e5m2, what X and the weights of ksmm are of instead (default null)
- beta: a number: adds beta times the output's old value
- peers: false leaves the other implementations out, a list of names others than those
- anything else (goals: target_ms, or target_share of the floor; figures of others) goes
  into the results as it is

A list in op, type, factors, rows, pattern, layout, trans, precision or of_8_bits stands for
one case each.

SPDX-License-Identifier: MIT
"""

import math

import numpy as np

from float8 import float8_numbers

MLIR = {"c32": "complex<f32>", "c64": "complex<f64>", "e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}
CODES = {"f32": 0, "f64": 1, "f16": 2, "bf16": 3, "i32": 4, "i64": 5, "c32": 6, "c64": 7,
         "e4m3": 11, "e5m2": 12}
SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i32": 4, "i64": 8, "c32": 8, "c64": 16,
         "e4m3": 1, "e5m2": 1}
STORAGE = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16,
           "i32": np.int32, "i64": np.int64, "c32": np.complex64, "c64": np.complex128,
           "e4m3": np.uint8, "e5m2": np.uint8}
WIDE = {"c32": np.complex128, "c64": np.complex128, "i32": np.int64, "i64": np.int64}
OWN = ("op", "type", "factors", "rows", "pattern", "patterns", "layout", "trans", "precision",
       "beta", "peers", "of_8_bits")
SEVERAL = ("op", "type", "factors", "rows", "pattern", "layout", "trans", "precision",
           "of_8_bits")


def parse_factors(text):
    """[(P, Q), ...] of "8^4" or "14:15,19:13"."""
    factors = []
    for item in text.split(","):
        shape, _, count = item.partition("^")
        p, _, q = shape.partition(":")
        factors += [(int(p), int(q or p))] * int(count or 1)
    return factors


class Case:
    """One operation on arrays of known sizes. Arrays are x, the factors, y."""

    def __init__(self, fields):
        self.op, self.type = fields["op"], fields["type"]
        self.precision = fields.get("precision", "full")
        self.trans = fields.get("trans", "NN")
        self.beta = fields.get("beta", 0)
        self.rows, self.peers = fields["rows"], fields.get("peers", True)
        self.layout = fields.get("layout", "batch_first")
        self.patterns = fields.get("patterns") or [fields.get("pattern")]
        self.sparse = self.op in ("ksmm", "ksmm_grad", "chain")
        self.factors = [] if self.sparse else parse_factors(fields["factors"])
        self.text = fields.get("factors") or " > ".join(",".join(map(str, p))
                                                        for p in self.patterns)
        flags = "" if self.trans == "NN" else f" {self.trans}"
        flags += "" if self.precision == "full" else f" {self.precision}"
        flags += f" beta={self.beta}" if self.beta else ""
        self.of_8_bits = fields.get("of_8_bits")
        flags += f" of {self.of_8_bits}" if self.of_8_bits else ""
        flags += " batch last" if self.layout == "batch_last" else ""
        self.name = f"{self.op} {self.type} {self.rows} x {self.text}{flags}"
        # Cases with the same key compute the same from the same arrays.
        self.key = tuple(str(fields.get(k)) for k in OWN if k != "precision")
        self.extra = {k: v for k, v in fields.items() if k not in OWN}
        self._shapes()

    def _shapes(self):
        p, q = [f[0] for f in self.factors], [f[1] for f in self.factors]
        if self.sparse:
            x, *_, y = self.widths()
            x, y, factors = [self.rows, x], [self.rows, y], self.patterns
            if self.layout == "batch_last":
                x, y = x[::-1], y[::-1]
            if self.op == "ksmm_grad":
                y, factors = self.patterns[0], [y]
        elif self.op == "batched":
            x, y, factors = [self.rows, *p], [self.rows, *q], [[q, p] for p, q in self.factors]
        else:
            x, y = [self.rows, math.prod(p)], [self.rows, math.prod(q)]
            factors = [list(f) for f in self.factors]
            if self.op == "kmm":
                x, y, factors = x[::-1], y[::-1], [f[::-1] for f in factors]
        if self.trans[0] != "N":
            x = [x[0], *x[:0:-1]] if self.op == "batched" else x[::-1]
        if self.trans[1] != "N":
            factors = [f[::-1] if len(f) == 2 else [f[0], f[2], f[1], f[3]] for f in factors]
        self.shapes = [x, *factors, y]
        self.types = [self.of_8_bits or self.type] * (1 + len(factors)) + [self.type]

    def widths(self):
        """Sizes of a row before, between and after Kronecker-sparse factors."""
        (a, _, c, d), *_ = self.patterns
        return [a * c * d, *(a * b * d for a, b, _, d in self.patterns)]

    def steps(self):
        """A chain's factors as cases of their own."""
        return [Case({"op": "ksmm", "type": self.type, "rows": self.rows, "pattern": pattern,
                      "layout": self.layout, "trans": self.trans, "precision": self.precision})
                for pattern in self.patterns]

    # --- what it costs --------------------------------------------------------

    @property
    def bytes(self):
        """Inputs read once, the output written once (and read, with beta)."""
        sizes = [math.prod(s) * SIZES[t] for s, t in zip(self.shapes, self.types)]
        return sum(sizes) + (sizes[-1] if self.beta else 0)

    @property
    def output_bytes(self):
        return math.prod(self.shapes[-1]) * SIZES[self.type]

    @property
    def flops(self):
        """Two per multiply-add, four multiply-adds per complex one, in the cheapest
        order of the factors."""
        scale = 8 if self.type in ("c32", "c64") else 2
        if self.sparse:
            return scale * self.rows * sum(map(math.prod, self.patterns))
        # Exchanging neighbours of this order makes it no cheaper (Chain.cpp has the proof).
        size, total = math.prod(p for p, _ in self.factors), 0
        for p, q in sorted(self.factors, key=lambda f: 1 / f[0] - 1 / f[1]):
            total += size * q
            size = size // p * q
        return scale * self.rows * total

    # --- as MLIR --------------------------------------------------------------

    def mlir(self):
        return self._chain_mlir() if self.op == "chain" else self._operation_mlir()

    def open_mlir(self):
        """On tensors with an open number of rows; of mkm and batch-first sparse factors."""
        return self._chain_mlir("?") if self.sparse else self._open_product_mlir()

    def _attributes(self):
        attributes = []
        if self.precision != "full":
            attributes.append(f"precision = #kron.precision<{self.precision}>")
        if self.layout == "batch_last":
            attributes.append("layout = #kron.layout<batch_last>")
        return f" {{{', '.join(attributes)}}}" if attributes else ""

    def _beta(self):
        if not self.beta:
            return ""
        scalar = "f32" if self.type in ("f16", "bf16") else MLIR.get(self.type, self.type)
        if self.type in MLIR:
            return f" beta(#complex.number<:{scalar[8:-1]} {float(self.beta)}, 0.0>)"
        value = self.beta if self.type[0] == "i" else float(self.beta)
        return f" beta({value} : {scalar})"

    def _operation_mlir(self):
        types = [f"memref<{'x'.join(map(str, s))}x{MLIR.get(t, t)}>"
                 for s, t in zip(self.shapes, self.types)]
        names = ["%x", *(f"%f{k}" for k in range(len(self.shapes) - 2)), "%y"]

        def use(name, op):
            return name if op == "N" else f"{op}({name})"

        factors = ", ".join(use(n, self.trans[1]) for n in names[1:-1])
        clause = {"ksmm": "weights", "ksmm_grad": "grad"}.get(self.op, "factors")
        arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types))
        return (f"func.func @bench({arguments}) {{\n"
                f"  kron.{self.op} ins({use('%x', self.trans[0])} : {types[0]}) "
                f"{clause}({factors} : {', '.join(types[1:-1])}) outs(%y : {types[-1]})"
                f"{self._beta()}{self._attributes()}\n  return\n}}\n")

    def _open_product_mlir(self):
        """kron.mkm on tensors with `?` rows."""
        element = MLIR.get(self.type, self.type)
        x, y = (f"tensor<?x{shape[1]}x{element}>" for shape in (self.shapes[0], self.shapes[-1]))
        factors = [f"tensor<{f[0]}x{f[1]}x{element}>" for f in self.shapes[1:-1]]
        names = [f"%f{k}" for k in range(len(factors))]
        arguments = "".join(f", {n}: {t}" for n, t in zip(names, factors))
        return (f"func.func @bench(%x: {x}{arguments}) -> {y} {{\n"
                f"  %c0 = arith.constant 0 : index\n  %rows = tensor.dim %x, %c0 : {x}\n"
                f"  %e = tensor.empty(%rows) : {y}\n"
                f"  %y = kron.mkm ins(%x : {x}) factors({', '.join(names)} : {', '.join(factors)}) "
                f"outs(%e : {y}){self._attributes()} -> {y}\n  return %y : {y}\n}}\n")

    def _chain_mlir(self, rows=None):
        """On tensors: what lies between the factors is not the caller's. With `rows` of "?" their
        number is open."""
        element, weights = MLIR.get(self.type, self.type), self.shapes[1:-1]
        first, count = self.layout == "batch_first", rows or self.rows
        shapes = [[count, w] if first else [w, count] for w in self.widths()]
        types = [f"tensor<{'x'.join(map(str, s))}x{element}>" for s in [*shapes, *weights]]
        types, weights = types[:len(shapes)], types[len(shapes):]
        arguments = ", ".join(f"%f{k}: {t}" for k, t in enumerate(weights))
        lines = [f"func.func @bench(%x: {types[0]}, {arguments}) -> {types[-1]} {{"]
        size = ""
        if rows:
            lines += ["  %c0 = arith.constant 0 : index", f"  %rows = tensor.dim %x, %c0 : {types[0]}"]
            size = "%rows"
        current = "%x"
        for k, weight in enumerate(weights):
            before, after = types[k], types[k + 1]
            lines += [f"  %e{k} = tensor.empty({size}) : {after}",
                      f"  %y{k} = kron.ksmm ins({current} : {before}) weights(%f{k} : {weight}) "
                      f"outs(%e{k} : {after}){self._attributes()} -> {after}"]
            current = f"%y{k}"
        return "\n".join([*lines, f"  return {current} : {types[-1]}", "}\n"])

    # --- what it must give ----------------------------------------------------

    def sample_rows(self, rng, count):
        """Numbers of rows (columns, arrays) to check: first, last, some between; all that
        a gradient is the sum over."""
        if self.rows <= count or self.op == "ksmm_grad":
            return np.arange(self.rows)
        between = rng.choice(self.rows, count - 2, replace=False)
        return np.unique([0, self.rows - 1, *between])

    def result_rows(self, rows):
        """Those of the result that rows of x give."""
        return np.arange(self.shapes[-1][0]) if self.op == "ksmm_grad" else rows

    def batch_axis(self, which):
        """Axis of x (0) or y (1) that the rows lie along."""
        if self.op == "batched" or (self.op == "ksmm_grad" and which == 1):
            return 0
        last = self.op == "kmm" or self.layout == "batch_last"
        return int(last != (which == 0 and self.trans[0] != "N"))

    def expected(self, x, factors, xp=np):
        """Rows of the result, [row, ...], from rows of x in a wide type whose first
        axis is the row, and stored factors; arrays of NumPy or, with `xp`, PyTorch."""
        op_x, op_f = self.trans
        x = xp.conj(x) if op_x == "C" else x
        factors = [xp.conj(f) if op_f == "C" else f for f in factors]
        if self.op == "ksmm_grad":
            (a, b, c, d), = self.patterns
            g = factors[0] if self.layout == "batch_first" else factors[0].T
            return xp.einsum("nakt,najt->ajkt", x.reshape(len(x), a, c, d),
                             g.reshape(len(g), a, b, d))
        if self.sparse:
            for (a, b, c, d), weights in zip(self.patterns, factors):
                weights = weights if op_f == "N" else xp.swapaxes(weights, 1, 2)
                x = xp.einsum("ajkt,nakt->najt", weights, x.reshape(len(x), a, c, d))
                x = x.reshape(len(x), a * b * d)
            return x
        stored_q_p = (self.op == "mkm") != (op_f == "N")
        matrices = factors if stored_q_p else [f.T for f in factors]
        if self.op == "batched" and op_x != "N":
            x = xp.moveaxis(x, tuple(range(1, x.ndim)), tuple(range(x.ndim - 1, 0, -1)))
        y, left = x, len(x)
        for k, matrix in enumerate(matrices):
            q, p = matrix.shape
            y = y.reshape(left, p, -1)
            if y.shape[2] > 1:
                y = xp.matmul(matrix, y)
            else:
                y = xp.matmul(y.reshape(left, p), matrix.T)
            left *= q
        return y.reshape(len(x), *(self.shapes[-1][1:] if self.op == "batched" else [-1]))


def to_wide(name, stored, wide=None):
    """Values of a storage array in a wider type."""
    if name in ("e4m3", "e5m2"):
        return float8_numbers(name)[stored].astype(wide or np.float64)
    if name == "bf16":
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(wide or WIDE.get(name, np.float64))


def random_array(name, rng, shape):
    """Uniform in [-1, 1) per part; small integers."""
    if name in ("e4m3", "e5m2"):
        # All up to 1, which is as good as uniform.
        codes = rng.integers(0, 0x39 if name == "e4m3" else 0x3D, shape, dtype=np.uint8)
        return codes | rng.integers(0, 2, shape, dtype=np.uint8) << 7
    if name[0] == "i":
        return rng.integers(-8, 9, shape).astype(STORAGE[name])
    if name in ("c32", "c64"):
        part = random_array("f" + name[1:], rng, [*shape, 2])
        return part.view(STORAGE[name])[..., 0]
    values = rng.random(shape, np.float64 if name == "f64" else np.float32)
    values *= 2
    values -= 1
    if name == "bf16":
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(STORAGE[name], copy=False)


def relative_error(y, expected):
    """In L2, over all sampled rows."""
    norm = np.linalg.norm(np.abs(expected).ravel().astype(np.longdouble))
    error = np.linalg.norm(np.abs(y - expected).ravel().astype(np.longdouble))
    return float(error / norm) if norm else float(error)
