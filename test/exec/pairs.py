"""Cases of functions of pairs, kron.pairwise and kron.pairwise_apply.

A case is built like all others (builder.Case), but for its reference: the next wider type, within the bounds of
docs/Kernels.md.

SPDX-License-Identifier: MIT
"""

import numpy as np

from builder import Case
from dtypes import to_storage, to_wide

OPS = ("pairwise", "pairwise_apply")
#: Function -> (p of its bound, what it computes of two elements).
FUNCTIONS = {"dot": (1, lambda x, w: x * w), "abs_diff": (1, lambda x, w: abs(x - w)),
             "square_diff": (2, lambda x, w: (x - w) ** 2),
             "not_equal": (1, lambda x, w: (x != w) + 0 * (x - w)),
             **{f"pow_diff({p})": (p, lambda x, w, p=p: abs(x - w) ** x.dtype.type(p)) for p in (0.5, 0.7, 1.3, 1.5, 2.7, 3.0, 9.0)},
             "": (3, lambda x, w: np.exp(x - w))}
#: Of rows, and of K.
LENGTHS = (1, 2, 3, 7, 16, 31, 33, 64, 65, 100, 127, 128, 130, 200, 300, 1000)
DEPTHS = (1, 2, 3, 4, 5, 8, 13, 16, 17, 31, 32, 64, 65, 100, 333)
#: What has no name is a region: the exponential of a difference.
INNER = """ inner {{
  ^bb0(%u: {t}, %z: {t}{more}):
    %difference = arith.subf %u, %z : {t}
    %term = math.exp %difference : {t}
    kron.pairwise_yield %term : {t}
  }}"""
#: exp(-g s) with the hyper-parameter, or exp(-s).
EPILOGUE = """ epilogue {{
  ^bb0(%s: {t}{more}):
    %negated = arith.negf %s : {t}{scale}
    %value = math.exp {argument} : {t}
    kron.pairwise_yield %value : {t}
  }}"""
SCALE = "\n    %scaled = arith.mulf %negated, %h : {t}"


def parameters(op, name, function, sizes, **more):
    """Of `sizes` (M, N, K), and C for products; the batches are those of A, B and the values."""
    return dict(op=op, type=name, function=function, sizes=sizes, rows=sizes[0], batches=((),) * 3, trans="NNN",
                form="memref", memref_layout="identity", dynamic="", reduce="sum", accumulate="sum", epilogue=False,
                param=None, same=False, attributes=[]) | more


def of_one_array(p):
    """`p` of rows of A with themselves."""
    m, _, *others = p["sizes"]
    return p | dict(sizes=(m, m, *others), batches=(p["batches"][0],) * 2 + p["batches"][2:], same=True,
                    trans=p["trans"][0] * 2 + p["trans"][2:], dynamic=p["dynamic"].replace("N", "") + "N" * ("M" in p["dynamic"]))


def random(rng, most):
    """Whose arrays and pairs of elements are at most `most`. A size may be 0."""
    op = str(rng.choice(OPS))
    function = str(rng.choice(list(FUNCTIONS)))
    while True:
        full = tuple(int(n) for n in rng.choice([0, 1, 2, 3], int(rng.choice(3, p=[.6, .2, .2])), p=[.04, .32, .32, .32]))
        sizes = tuple(int(rng.choice(choices)) for choices in (LENGTHS, LENGTHS, DEPTHS, (1, 2, 3, 4, 5, 9)))
        if np.prod(full + sizes[:3], dtype=np.int64) * (sizes[3] if op == "pairwise_apply" else 1) <= most:
            break

    reduce = "max" if rng.random() < .2 else "sum"
    # Of nothing, only a sum and the largest distance are values.
    is_value = reduce == "sum" or function in ("abs_diff", "square_diff", "not_equal") or "pow" in function
    sizes = tuple(0 if rng.random() < .03 and (letter != "K" or is_value) else n for letter, n in zip("MNKC", sizes))

    def batch():
        kept = full[int(rng.integers(len(full) + 1)):]
        return tuple(n if rng.random() < .7 else 1 for n in kept)

    # An exponential of products may be too large for f16.
    epilogue = function != "dot" and rng.random() < .5
    p = parameters(
        op, str(rng.choice(["f32", "f64", "f16", "bf16"], p=[.4, .2, .2, .2])), function, sizes,
        batches=(full, batch(), batch()), trans="".join(rng.choice(["N", "T"], 3)), form=str(rng.choice(["tensor", "memref"])),
        memref_layout=str(rng.choice(["identity", "rows", "any", "mixed"])),
        dynamic="".join(letter for letter in "LMNKC" if rng.random() < .5), epilogue=epilogue,
        reduce=reduce,
        accumulate=str(rng.choice(["sum", "max", "logsumexp"], p=[.5, .25, .25])),
        param=[None, "scalar", full or "scalar"][int(rng.integers(3))],
        **({"special": float("nan")} if rng.random() < .05 else {}))
    return of_one_array(p) if op == "pairwise" and rng.random() < .3 else p


class PairCase(Case):
    def __init__(self, index, p):
        super().__init__(index, np.random.default_rng([index, 6]), p["op"], p["type"], p["form"], p["memref_layout"])
        self.p, self.is_product, self.is_stored = p, p["op"] == "pairwise_apply", p["op"] == "pairwise"
        self.power, self.term = FUNCTIONS[p["function"]]
        self.special = p.get("special")
        self.tags |= {"pairs", "function=" + (p["function"] or "region"), "trans=" + p["trans"], p["reduce"], p["accumulate"],
                      *(["epilogue"] if p["epilogue"] else []), *(["same"] if p["same"] else []),
                      *(["special"] if self.special is not None else [])}
        self.batch = np.broadcast_shapes(*self._used_batches(), p["param"] if isinstance(p["param"], tuple) else ())
        self._build()

    def _used_batches(self):
        return self.p["batches"][:3 if self.is_product else 2]

    # --- text -----------------------------------------------------------------

    def _operand(self, name, number, core):
        """Its text and type, and which dimensions its letters are."""
        batch, transposed = self.p["batches"][number], self.p["trans"][number] == "T"
        letters = core[::-1] if transposed else core
        # A size of 1 that is not known does not stretch.
        stretched = self.batch[len(self.batch) - len(batch):]
        dims = [None if "L" in self.p["dynamic"] and n == full != 1 else n for n, full in zip(batch, stretched)]
        arg = self.array(name, [*batch, *map(self._size, letters)], [*dims, *map(self._dim, letters)])
        places = {letter: (name, len(batch) + i) for i, letter in enumerate(letters)}
        return f"T(%{name})" if transposed else f"%{name}", arg.mlir, places

    def _size(self, letter):
        return self.p["sizes"]["MNKC".index(letter)]

    def _dim(self, letter):
        return None if letter in self.p["dynamic"] else self._size(letter)

    def _build(self):
        p, t = self.p, self.scalar_element.mlir
        x, x_type, sources = self._operand("x", 0, "MK")
        if p["same"]:
            w, w_type, sources = x, x_type, sources | {"N": sources["M"]}
        else:
            w, w_type, more = self._operand("w", 1, "NK")
            sources |= more
        text = f"kron.{self.op} {p['function']}" + (" reduce(max)" if p["reduce"] == "max" else "")
        operands = f" ins({x}, {w} : {x_type}, {w_type})"
        if self.is_product:
            v, v_type, more = self._operand("v", 2, "NC")
            sources |= more
            text += f" accumulate({p['accumulate']})"
            operands += f" values({v} : {v_type})"
        params, regions = self._regions(t)
        self._finish(text + operands + params, regions, "MC" if self.is_product else "MN", sources)

    def _regions(self, t):
        """The hyper-parameter as an operand, and the regions, which take it."""
        p, params = self.p, ""
        if p["param"] == "scalar":
            self.alpha = self.scalar("alpha", "operand")
            self.alpha.value = abs(self.alpha.value)
            params = f" params(%alpha : {t})"
        elif p["param"] is not None:
            params = f" params(%g : {self.array('g', p['param'], element=self.scalar_element).mlir})"
        named = p["param"] is not None
        regions = "" if p["function"] else INNER.format(t=t, more=f", %h: {t}" if named else "")
        if p["epilogue"]:
            regions += EPILOGUE.format(t=t, more=f", %h: {t}" if named else "", scale=SCALE.format(t=t) if named else "",
                                       argument="%scaled" if named else "%negated")
        return params, regions

    def _finish(self, text, regions, letters, sources):
        shape = [*self.batch, *map(self._size, letters)]
        dims = [*self.batch, *map(self._dim, letters)]
        attributes = f" {{{', '.join(self.p['attributes'])}}}" if self.p["attributes"] else ""
        self.result = "y"
        if self.form == "tensor":
            y = self.output(shape, dims, self.element).mlir
            init = self.empty("empty", dims, [None] * len(self.batch) + [sources[letter] for letter in letters], y)
            self.body.append(f"%result = {text} outs({init} : {y}){regions}{attributes} -> {y}")
            self.returns = y
            return
        # A product, or a gradient, may be reduced in its destination, which is read then.
        y = self.array("y", shape, dims, "out", poisoned=self.is_stored).mlir
        self.body.append(f"{text} outs(%y : {y}){regions}{attributes}")
        self.returns = None

    # --- data and reference ---------------------------------------------------

    def random_values(self, arg, rng):
        if arg.name == "g":
            return rng.uniform(0.25, 1.5, arg.shape).astype(arg.element.storage)
        values = super().random_values(arg, rng)
        if arg.name in ("x", "w") and self.p.get("clusters"):
            values = self._cluster(arg, values)
        if arg.name == "v" and "special_value" in self.p:
            values.reshape(-1)[int(rng.integers(values.size))] = to_storage(arg.element, self.p["special_value"])
        return values

    def _cluster(self, arg, values):
        """Rows near one of a few points each, the same for both sides, far from the origin."""
        if self.p["trans"]["xw".index(arg.name)] == "T":
            raise ValueError("clusters of transposed arrays")
        rows, depth = arg.shape[-2:]
        points = 3 + 2 * np.random.default_rng(7).standard_normal((self.p["clusters"], depth))
        near = points[np.arange(rows) % len(points)] + 0.3 * to_wide(arg.element, values)
        return to_storage(arg.element, near)

    def expected(self, values):
        with np.errstate(all="ignore"):
            y, bound = self._compute({name: to_wide(self.arg(name).element, v) for name, v in values.items()})
        out = self.arg("y").element
        bound = bound + 1.01 * out.store_unit * np.abs(y) + 4 * out.tiny
        # The bound is one of each element: what is allowed of all is not less.
        return y, bound, bound / (16 * out.epsilon)

    def _compute(self, wide):
        p, unit = self.p, self.element.unit
        x, w = (np.swapaxes(wide[name], -1, -2) if p["trans"][i] == "T" else wide[name]
                for i, name in enumerate(("x", "x" if p["same"] else "w")))
        terms = self.term(x[..., :, None, :], w[..., None, :, :])
        one_term = 8 * (self.power + 1) * unit
        if p["reduce"] == "max":
            is_distance = p["function"] in ("abs_diff", "square_diff", "not_equal") or "pow" in p["function"]
            y = terms.max(-1, initial=0 if is_distance else -np.inf)
            bound = one_term * np.abs(y)
        else:
            y, bound = terms.sum(-1), (self._size("K") * unit + one_term) * np.abs(terms).sum(-1)
        if "pow" in p["function"]:
            # Of f32 the logarithm is the machine's, to 2^-22 of itself or of 1.
            logarithms = np.log2(np.maximum(abs(x[..., :, None, :] - w[..., None, :, :]), 1e-300))
            errors = 4 * self.power * np.maximum(abs(logarithms), 1) * unit * terms
            bound = bound + (errors.max(-1, initial=0) if p["reduce"] == "max" else errors.sum(-1))
        if p["epilogue"]:
            g = wide["g"][..., None, None] if "g" in wide else wide["alpha"] if p["param"] else 1
            value = np.exp(-g * y)
            bound = (np.abs(g) * bound + 32 * unit * np.abs(g * y) + 16 * unit) * value
            # In f32 an exponential that would be subnormal is 0, in f64 what is less than that.
            bound = bound + (2.0**-1074 if self.element.mlir == "f64" else 2.0**-126)
            y = value
        y = np.broadcast_to(y, (*self.batch, *y.shape[-2:]))
        return self._product(y, bound, wide["v"]) if self.is_product else (y, np.broadcast_to(bound, y.shape))

    def _product(self, matrix, bound, v):
        """The largest of its terms changes a maximum or a logarithm of sums by no more than itself."""
        unit, n = self.element.unit, self._size("N")
        v = (np.swapaxes(v, -1, -2) if self.p["trans"][2] == "T" else v)[..., None, :, :]
        terms = matrix[..., None] * v
        bounds = bound[..., None] * np.abs(v) + unit * np.abs(terms)
        if self.p["accumulate"] == "sum":
            return terms.sum(-2), (bounds + (n + 8) * unit * np.abs(terms)).sum(-2)
        largest = terms.max(-2, initial=-np.inf)
        worst = bounds.max(-2, initial=0)
        if self.p["accumulate"] == "max":
            return largest, worst
        shift = np.where(np.isfinite(largest), largest, 0)
        y = shift + np.log(np.exp(terms - shift[..., None, :]).sum(-2))
        return y, worst + (n + 32) * unit + 8 * unit * np.abs(y)
