"""Cases of gradients of functions of pairs, kron.pairwise_grad by an operand.

SPDX-License-Identifier: MIT
"""

import numpy as np

import pairs

#: Function -> its derivative by the left element; those by the right one are the opposite, but for the product's.
DERIVATIVES = {"dot": lambda x, w: w + 0 * x, "abs_diff": lambda x, w: np.sign(x - w), "square_diff": lambda x, w: 2 * (x - w),
               "": lambda x, w: np.exp(x - w),
               **{name: lambda x, w, p=pairs.FUNCTIONS[name][0]: _power(x - w, p)
                  for name in pairs.FUNCTIONS if name.startswith("pow")}}
ARRAYS = "xwhuv"
#: In programs, whose regions have names of one letter.
NAMES = {"x": "x", "w": "w", "h": "hh", "u": "uu", "v": "vv"}
#: What the gradient of the matrix is made of.
WEIGHTS = ("h", "uv", "huv")


def _power(difference, p):
    """p |d|^(p - 1) sgn(d), 0 where d is."""
    size = np.where(difference == 0, 1, abs(difference))
    return p * np.sign(difference) * size ** (p - 1)


def parameters(by, name, function, sizes, weights="h", **more):
    """Of `sizes` (M, N, K, C); the batches are those of A, B, H, U, V and the result; `trans` is of the first five."""
    return dict(op="pairwise_grad", by=by, type=name, function=function, sizes=sizes, weights=weights, rows=sizes[0],
                batches=((),) * 6, trans="NNNNN", form="memref", memref_layout="identity", dynamic="", reduce="sum",
                accumulate="sum", epilogue=False, param=None, same=False, attributes=[]) | more


def random(rng, most):
    """Whose arrays and pairs of elements are at most `most`."""
    function = str(rng.choice(list(DERIVATIVES)))
    while True:
        full = tuple(int(n) for n in rng.choice([1, 2, 3], int(rng.choice(3, p=[.6, .2, .2]))))
        sizes = tuple(int(rng.choice(choices)) for choices in (pairs.LENGTHS, pairs.LENGTHS, pairs.DEPTHS, (1, 1, 2, 3, 9)))
        if np.prod(full + sizes[:3], dtype=np.int64) <= most:
            break

    # Negative powers have no code in f64, nor in linalg, which empty arrays take.
    is_negative = function == "pow_diff(0.7)"
    sizes = sizes if is_negative else tuple(0 if rng.random() < .03 else n for n in sizes)

    def batch():
        kept = full[int(rng.integers(len(full) + 1)):]
        return tuple(n if rng.random() < .7 else 1 for n in kept)

    # What differs in the factor of the other side only are outputs.
    by = str(rng.choice(["lhs", "rhs"]))
    batches, weights = tuple(batch() for _ in range(6)), str(rng.choice(WEIGHTS))
    if weights != "h" and rng.random() < .3:
        outputs = (int(rng.choice([2, 3, 8, 11])),)
        batches = tuple(outputs if i == (4 if by == "lhs" else 3) or i == 5 else () for i in range(6))
        sizes = (*sizes[:3], 1)
    epilogue = function != "dot" and rng.random() < .5
    used = np.broadcast_shapes(*(batches[ARRAYS.index(name)] for name in "xw" + weights), batches[5])
    return parameters(
        by, str(rng.choice(["f32", "f16", "bf16", "f64"], p=[.6, .2, .2, 0] if is_negative else [.4, .2, .2, .2])), function,
        sizes, weights, batches=batches,
        trans="".join(rng.choice(["N", "T"], 5)), form=str(rng.choice(["tensor", "memref"])),
        memref_layout=str(rng.choice(["identity", "rows", "any", "mixed"])),
        dynamic="".join(letter for letter in "LMNKC" if rng.random() < .4), epilogue=epilogue,
        param=[None, "scalar", used or "scalar"][int(rng.integers(3))] if epilogue else None)


class GradCase(pairs.PairCase):
    def __init__(self, index, p):
        super().__init__(index, p)
        self.tags |= {"by=" + p["by"], "weights=" + p["weights"]}

    def _used_batches(self):
        return [self.p["batches"][ARRAYS.index(name)] for name in ("x", "w", *self.p["weights"])] + [self.p["batches"][5]]

    def _build(self):
        p, t = self.p, self.scalar_element.mlir
        cores = {"x": "MK", "w": "NK", "h": "MN", "u": "MC", "v": "NC"}
        operands, sources = {}, {}
        for number, name in enumerate(ARRAYS):
            if name in "xw" + p["weights"]:
                text, mlir, places = self._operand(NAMES[name], number, cores[name])
                operands[name], sources = (text, mlir), places | sources
        def clause(keyword, names):
            return f" {keyword}({', '.join(operands[n][0] for n in names)} : {', '.join(operands[n][1] for n in names)})"

        text = f"kron.pairwise_grad by({p['by']}) {p['function']}" + clause("ins", "xw")
        if "h" in p["weights"]:
            text += clause("grad", "h")
        if "u" in p["weights"]:
            text += clause("factors", "uv")
        params, regions = self._regions(t)
        side = ("lhs", "rhs").index(p["by"])
        letters = "MN"[side] + "K"
        self.batch = p["batches"][5]
        self._finish(text + params, regions, letters[::-1] if p["trans"][side] == "T" else letters, sources)

    def _compute(self, wide):
        p, unit = self.p, self.element.unit
        stored = {name: np.swapaxes(wide[NAMES[name]], -1, -2) if p["trans"][i] == "T" else wide[NAMES[name]]
                  for i, name in enumerate(ARRAYS) if NAMES[name] in wide}
        x, w = stored["x"][..., :, None, :], stored["w"][..., None, :, :]
        values = pairs.FUNCTIONS[p["function"]][1](x, w)
        derivative = DERIVATIVES[p["function"]](x, w)
        if p["by"] == "rhs":
            derivative = x + 0 * w if p["function"] == "dot" else -derivative
        weight, factors = 1, 0
        # In f32 an exponential that would be subnormal is 0, in f64 what is less than that; so are products rounded.
        least = 2.0**-1074 if self.element.mlir == "f64" else 2.0**-126
        if "h" in p["weights"]:
            weight = weight * stored["h"]
        if "u" in p["weights"]:
            weight = weight * np.einsum("...mc,...nc->...mn", stored["u"], stored["v"])
            factors = np.einsum("...mc,...nc->...mn", abs(stored["u"]), abs(stored["v"]))
        error = (self._size("C") + 8) * unit * (factors * abs(stored.get("h", 1)) if np.ndim(factors) else abs(weight))
        if p["epilogue"]:
            g = wide["g"][..., None, None] if "g" in wide else wide["alpha"] if p["param"] else 1
            sums, size = values.sum(-1), abs(values).sum(-1)
            factor = -g * np.exp(-g * sums)
            off = (self._size("K") + 8 * (self.power + 1)) * unit * size + self._power_error(x, w, abs(values)).sum(-1)
            relative = abs(g) * off + 32 * unit * abs(g * sums) + 24 * unit
            error = error * abs(factor) + abs(weight * factor) * relative
            error = error + (abs(weight * g) + 1) * least
            weight = weight * factor
        terms = weight[..., None] * derivative
        rounding = (self._size("N") + 8 * (self.power + 1) + 32) * unit * abs(terms)
        bounds = error[..., None] * abs(derivative) + rounding + least
        bounds = bounds + self._power_error(x, w, abs(terms))
        return self._reduced(terms), self._reduced(bounds)

    def _power_error(self, x, w, terms):
        """Of powers in f32, whose logarithm is the machine's, to 2^-22 of itself or of 1."""
        if "pow" not in self.p["function"]:
            return 0 * terms
        logarithms = np.log2(np.maximum(abs(x - w), 1e-300))
        return 4 * (self.power + 1) * np.maximum(abs(logarithms), 1) * self.element.unit * terms

    def _reduced(self, terms):
        """Added up along the columns and what the result lacks of the batch, as the result is stored."""
        side = ("lhs", "rhs").index(self.p["by"])
        sums = terms.sum(-2 if side == 0 else -3)
        full = np.broadcast_shapes(*self._used_batches(), self.p["param"] if isinstance(self.p["param"], tuple) else ())
        sums = np.broadcast_to(sums, (*full, *sums.shape[-2:]))
        own = (1,) * (len(full) - len(self.batch)) + tuple(self.batch)
        sums = sums.sum(tuple(i for i, n in enumerate(own) if n == 1 != full[i]), keepdims=True)
        sums = sums.reshape(*self.batch, *sums.shape[-2:])
        return np.swapaxes(sums, -1, -2) if self.p["trans"][side] == "T" else sums
