"""Random programs: functions of several operations, each of which reads what others wrote.

A program is a list of steps (products with N, T and C factors, Kronecker-sparse products with
epilogues, operators on batches, elementwise arithmetic, transposes, quantization), chosen from a
seed. The same steps are a function in MLIR (here), a traced Python function and one that is built
with kron.ir (program_python.py), and a reference in the next wider type with a bound of what may
be lost, step by step. Sizes are prime, 1, odd, round or, of rows, 0; half of the programs leave
one open.

SPDX-License-Identifier: MIT
"""

import math

import numpy as np

import reference
from builder import Case, scalar_literal
from dtypes import TYPES, to_storage, to_wide

SIZES = (1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 31)
ROWS = (0, 1, 2, 3, 7, 16, 33, 64, 101)
TYPE_WEIGHTS = {"f32": .3, "f64": .2, "f16": .1, "bf16": .1, "i32": .08, "i64": .07, "c32": .08,
                "c64": .07}
KIND_WEIGHTS = {"mkm": .22, "kmm": .14, "ksmm": .18, "batched": .12, "add": .07, "sub": .04,
                "mul": .05, "div": .03, "row": .05, "scale": .05, "transpose": .05}
MAX_ELEMENTS = 30_000
MAX_FLOPS = 1_000_000

#===------------------------------------------------------------------------===#
# Choosing steps
#===------------------------------------------------------------------------===#


class Planner:
    """Chooses steps; keeps the shapes of their results."""

    def __init__(self, rng, type_name):
        self.rng, self.type_name = rng, type_name
        self.element = TYPES[type_name]
        self.steps = []
        rows = features = MAX_ELEMENTS
        while rows * features > MAX_ELEMENTS:
            rows, features = self.pick(ROWS), self.features()
        # (shape, open axis or None) of every value, the input first.
        self.values = [((rows, features), 0 if rng.random() < 0.5 else None)]

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share):
        return bool(self.rng.random() < share)

    def features(self):
        return math.prod(self.pick(SIZES) for _ in range(int(self.rng.integers(1, 4))))

    def split(self, number):
        """`number` as a product of one to three sizes."""
        parts = []
        for _ in range(int(self.rng.integers(3))):
            part = self.pick([d for d in range(1, number + 1) if number % d == 0])
            parts.append(part)
            number //= part
        return [*parts, number]

    def op(self):
        return self.pick("NNTC") if self.element.is_complex else self.pick("NNT")

    def scalar(self):
        """A number that the type has, mostly 1."""
        return 1 if self.chance(0.6) else self.other_scalar()

    def other_scalar(self):
        if self.element.is_integer:
            return self.pick((0, 2, -3))
        if self.element.is_complex:
            return self.pick((0, 0.5, 2 - 1j))
        return self.pick((0, 0.5, -2, 0.75))

    def fits(self, elements, flops):
        return elements <= MAX_ELEMENTS and flops <= MAX_FLOPS

    def product(self, kind, source):
        shape, open_axis = self.values[source]
        axis = 1 if kind == "mkm" else 0
        if kind == "batched":
            axis = 1
        if open_axis == axis or not shape[axis]:
            return None
        inputs = self.split(shape[axis])
        outputs = [self.pick(SIZES) if self.chance(0.6) else p for p in inputs]
        other = max(shape[1 - axis], 1)
        largest = other * math.prod(max(pair) for pair in zip(inputs, outputs))
        if not self.fits(largest, largest * sum(map(min, zip(inputs, outputs)))):
            return None
        result = list(shape)
        result[axis] = math.prod(outputs)
        step = dict(kind=kind, source=source, sizes=list(zip(inputs, outputs)),
                    ops=[self.op() for _ in inputs], alpha=self.scalar())
        return self.with_addend(step, tuple(result), open_axis)

    def ksmm(self, source):
        shape, open_axis = self.values[source]
        first = self.chance(0.5)
        axis = 1 if first else 0
        if open_axis == axis or not shape[axis]:
            return None
        c = self.pick([d for d in range(1, shape[axis] + 1) if shape[axis] % d == 0])
        d = self.pick([n for n in range(1, shape[axis] // c + 1) if shape[axis] // c % n == 0])
        a, b = shape[axis] // (c * d), self.pick(SIZES)
        rows = max(shape[1 - axis], 1)
        if not self.fits(rows * a * d * max(b, c), rows * a * b * c * d):
            return None
        result = list(shape)
        result[axis] = a * b * d
        real = not self.element.is_complex and not self.element.is_integer
        step = dict(kind="ksmm", source=source, pattern=(a, b, c, d),
                    layout="batch_first" if first else "batch_last", alpha=self.scalar(),
                    op=self.op(), bias=self.chance(0.4),
                    activation=self.pick(("identity", "relu", "gelu")) if real else "identity")
        return self.with_addend(step, tuple(result), open_axis)

    def same(self, shape, open_axis):
        """The number of a value of that shape, or None for a new argument."""
        found = [i for i, value in enumerate(self.values) if value == (shape, open_axis)]
        return self.pick(found) if found and self.chance(0.8) else None

    def with_addend(self, step, shape, open_axis):
        if self.chance(0.25):
            step |= dict(beta=self.pick((1, -1, 2)), addend=self.same(shape, open_axis))
        return step, shape, open_axis

    def step(self):
        kind = str(self.rng.choice(list(KIND_WEIGHTS), p=list(KIND_WEIGHTS.values())))
        # Mostly what has been computed last.
        source = len(self.values) - 1 if self.chance(0.8) else int(
            self.rng.integers(len(self.values)))
        shape, open_axis = self.values[source]
        if kind in ("mkm", "kmm", "batched"):
            return self.product(kind, source)
        if kind == "ksmm":
            return self.ksmm(source)
        if kind == "transpose":
            return (dict(kind=kind, source=source), shape[::-1],
                    None if open_axis is None else 1 - open_axis)
        step = dict(kind=kind, source=source)
        if kind == "scale":
            step["factor"] = self.scalar() if self.chance(0.1) else self.other_scalar()
        elif kind == "row":
            if open_axis == 1:
                return None
        elif kind != "div":
            step["other"] = self.same(shape, open_axis)
        elif self.element.is_integer:
            return None
        return step, shape, open_axis

    def plan(self):
        wanted = int(self.rng.integers(2, 8))
        while len(self.steps) < wanted:
            chosen = self.step()
            if chosen:
                self.steps.append(chosen[0])
                self.values.append(chosen[1:])
        quantizes = (self.type_name in ("f32", "f16", "bf16") and self.values[-1][1] != 1
                     and self.chance(0.15))
        if quantizes:
            self.steps.append(dict(kind="quantize", source=len(self.values) - 1))
            self.values.append(self.values[-1])


def parameters(seed, number):
    rng = np.random.default_rng([seed, number, 3])
    name = str(rng.choice(list(TYPE_WEIGHTS), p=list(TYPE_WEIGHTS.values())))
    planner = Planner(rng, name)
    planner.plan()
    return dict(op="program", type=name, steps=planner.steps, values=planner.values)


#===------------------------------------------------------------------------===#
# The function in MLIR
#===------------------------------------------------------------------------===#


class Program(Case):
    """A case whose function has many operations."""

    def __init__(self, index, p):
        super().__init__(index, np.random.default_rng([index, 5]), "program", p["type"], "tensor",
                         "rows")
        self.steps, self.values = p["steps"], p["values"]
        self.names = []  # of every value
        self.given = []  # names of the arrays that every step takes as arguments
        self.tags |= {"has=" + step["kind"] for step in self.steps}
        self.tags |= {"open size"} if self.values[0][1] is not None else set()
        self.tags |= {f"steps={len(self.steps)}"}
        self.tags.discard("layout=tensor")
        self._build()

    @property
    def in_python(self):
        """Whether kron's Python functions have all of the operations."""
        return all(step["kind"] != "quantize" for step in self.steps)

    def _dims(self, value):
        shape, open_axis = self.values[value]
        return [None if axis == open_axis else n for axis, n in enumerate(shape)]

    def _type(self, value):
        return self._tensor(self._dims(value))

    def _tensor(self, dims, element=None):
        sizes = "".join("?x" if d is None else f"{d}x" for d in dims)
        return f"tensor<{sizes}{element or self.element.mlir}>"

    def _empty(self, dims, element=None):
        name, kind = f"%e{len(self.body)}", self._tensor(dims, element)
        self.body.append(f"{name} = tensor.empty({'%m' if None in dims else ''}) : {kind}")
        return f"{name} : {kind}"

    def _argument(self, step, prefix, shape, dims=None):
        array = self.array(f"{prefix}{step}", list(shape), dims)
        self.given[-1].append(array.name)
        return array

    def _build(self):
        shape, open_axis = self.values[0]
        x = self.array("x", list(shape), self._dims(0))
        if open_axis is not None:
            self.body += [f"%axis = arith.constant {open_axis} : index",
                          f"%m = tensor.dim %x, %axis : {x.mlir}"]
        self.names.append("%x")
        for number, step in enumerate(self.steps):
            self.given.append([])
            getattr(self, "_emit_" + step["kind"], self._emit_elementwise)(number, step)
            self.names.append(f"%v{number}")
        self.output(list(self.values[-1][0]), self._dims(-1), self.element)
        self.result, self.returns, self.returned = "y", self._type(-1), self.names[-1]

    def _scaling(self, number, step):
        """alpha, beta and addend of a product."""
        text = ""
        if step["alpha"] != 1:
            text += f" alpha({scalar_literal(self.scalar_element, complex(step['alpha']))})"
        if "beta" in step:
            z = self._operand(number, step["addend"], number + 1)
            text += (f" beta({scalar_literal(self.scalar_element, complex(step['beta']))})"
                     f" addend({z} : {self._type(number + 1)})")
        return text

    def _operand(self, number, value, like):
        """A value, or a new argument of the same type as value `like`."""
        if value is not None:
            return self.names[value]
        shape, _ = self.values[like]
        return "%" + self._argument(number, "z", shape, self._dims(like)).name

    def _factors(self, number, step):
        """Factors of a product, stored as their use wants; text of the clause."""
        texts, types = [], []
        for k, ((p, q), op) in enumerate(zip(step["sizes"], step["ops"])):
            shape = (p, q) if (step["kind"] == "mkm") == (op == "N") else (q, p)
            factor = self._argument(number, f"f{k}_", shape)
            texts.append(f"%{factor.name}" if op == "N" else f"{op}(%{factor.name})")
            types.append(factor.mlir)
        return f"factors({', '.join(texts)} : {', '.join(types)})"

    def _emit_mkm(self, number, step):
        source, kind = step["source"], step["kind"]
        factors, scaling = self._factors(number, step), self._scaling(number, step)
        init = self._empty(self._dims(number + 1))
        self.body.append(f"%v{number} = kron.{kind} ins({self.names[source]} : "
                         f"{self._type(source)}) {factors} outs({init}){scaling} -> "
                         f"{self._type(number + 1)}")

    _emit_kmm = _emit_mkm

    def _emit_batched(self, number, step):
        """On rows that are seen as arrays with an axis per factor."""
        source = step["source"]
        rows = self._dims(source)[0]
        factors = self._factors(number, step)
        inputs, outputs = ([size[i] for size in step["sizes"]] for i in (0, 1))
        axes = [0, list(range(1, len(inputs) + 1))]
        groups = f"[[0], {axes[1]}]"
        old, new = self._tensor([rows, *inputs]), self._tensor([rows, *outputs])
        at_run_time = "%m" if rows is None else rows

        def expand(name, value, kind, sizes, result):
            shape = ", ".join(map(str, [at_run_time, *sizes]))
            self.body.append(f"{name} = tensor.expand_shape {value} {groups} output_shape "
                             f"[{shape}] : {kind} into {result}")

        expand(f"%x{number}", self.names[source], self._type(source), inputs, old)
        scaling = ""
        if step["alpha"] != 1:
            scaling += f" alpha({scalar_literal(self.scalar_element, complex(step['alpha']))})"
        if "beta" in step:
            z = self._operand(number, step["addend"], number + 1)
            expand(f"%w{number}", z, self._type(number + 1), outputs, new)
            scaling += (f" beta({scalar_literal(self.scalar_element, complex(step['beta']))})"
                        f" addend(%w{number} : {new})")
        init = self._empty([rows, *outputs])
        self.body += [f"%y{number} = kron.batched ins(%x{number} : {old}) {factors} "
                      f"outs({init}){scaling} -> {new}",
                      f"%v{number} = tensor.collapse_shape %y{number} {groups} : {new} into "
                      f"{self._type(number + 1)}"]

    def _emit_ksmm(self, number, step):
        source, (a, b, c, d) = step["source"], step["pattern"]
        weights = self._argument(number, "k", (a, b, c, d) if step["op"] == "N" else (a, c, b, d))
        use = f"%{weights.name}" if step["op"] == "N" else f"{step['op']}(%{weights.name})"
        scaling, attributes = self._scaling(number, step), [f"layout = #kron.layout<{step['layout']}>"]
        if step["bias"]:
            bias = self._argument(number, "b", (a * b * d,))
            scaling += f" bias(%{bias.name} : {bias.mlir})"
        if step["activation"] != "identity":
            attributes.append(f"activation = #kron.activation<{step['activation']}>")
        init = self._empty(self._dims(number + 1))
        self.body.append(f"%v{number} = kron.ksmm ins({self.names[source]} : "
                         f"{self._type(source)}) weights({use} : {weights.mlir}) outs({init})"
                         f"{scaling} {{{', '.join(attributes)}}} -> {self._type(number + 1)}")

    def _emit_transpose(self, number, step):
        init = self._empty(self._dims(number + 1))
        self.body.append(f"%v{number} = linalg.transpose ins({self.names[step['source']]} : "
                         f"{self._type(step['source'])}) outs({init}) permutation = [1, 0]")

    def _generic(self, name, operands, maps, init, block, lines):
        """One linalg.generic over two axes."""
        texts = ", ".join(f"affine_map<(i, j) -> ({m})>" for m in maps)
        names, types = zip(*operands)
        body = "\n    ".join([f"^bb0({block}):", *lines])
        self.body.append(f"{name} = linalg.generic {{indexing_maps = [{texts}], iterator_types = "
                         f"[\"parallel\", \"parallel\"]}} ins({', '.join(names)} : "
                         f"{', '.join(types)}) outs({init}) {{\n    {body}\n  }} -> "
                         f"{init.split(' : ')[1]}")

    def _emit_elementwise(self, number, step):
        """a + b, a - b, a * b, a / b, a + row or a * number."""
        source, element = step["source"], self.element.mlir
        operands, maps = [(self.names[source], self._type(source))], ["i, j"]
        block, right = f"%a: {element}, ", "%b"
        if step["kind"] == "scale":
            value = complex(step["factor"])
            if self.element.is_complex:
                part = element[8:-1]
                text = f"complex.constant [{value.real} : {part}, {value.imag} : {part}]"
            else:
                text = f"arith.constant {int(value.real) if self.element.is_integer else value.real}"
            right = f"%c{number}"
            self.body.append(f"{right} = {text} : {element}")
        elif step["kind"] == "row":
            row = self._argument(number, "r", (self.values[source][0][1],))
            operands.append((f"%{row.name}", row.mlir))
            maps.append("j")
            block += f"%b: {element}, "
        else:
            other = None if step["kind"] == "div" else step["other"]
            prefix = "d" if step["kind"] == "div" else "z"
            name = (self.names[other] if other is not None else "%" + self._argument(
                number, prefix, self.values[source][0], self._dims(source)).name)
            operands.append((name, self._type(source)))
            maps.append("i, j")
            block += f"%b: {element}, "
        name = {"row": "add", "scale": "mul"}.get(step["kind"], step["kind"])
        operation = (f"complex.{name}" if self.element.is_complex else
                     f"arith.{name}i" if self.element.is_integer else f"arith.{name}f")
        self._generic(f"%v{number}", operands, [*maps, "i, j"], self._empty(self._dims(number + 1)),
                      block + f"%o: {element}",
                      [f"  %r = {operation} %a, {right} : {element}",
                       f"  linalg.yield %r : {element}"])

    def _emit_quantize(self, number, step):
        """To 8 bits and back: the values times the scale of their row."""
        source, element = step["source"], self.element.mlir
        dims = self._dims(source)
        bytes_init, scales_init = self._empty(dims, "i8"), self._empty(dims[:1], "f32")
        (q, q_type), (s, s_type) = (text.split(" : ") for text in (bytes_init, scales_init))
        self.body.append(f"%q{number}, %s{number} = kron.quantize ins({self.names[source]} : "
                         f"{self._type(source)}) outs({q}, {s} : {q_type}, {s_type}) -> "
                         f"{q_type}, {s_type}")
        lines = ["  %w = arith.sitofp %a : i8 to f32", "  %p = arith.mulf %w, %b : f32"]
        if element == "f32":
            lines.append("  linalg.yield %p : f32")
        else:
            lines += [f"  %r = arith.truncf %p : f32 to {element}",
                      f"  linalg.yield %r : {element}"]
        self._generic(f"%v{number}", [(f"%q{number}", q_type), (f"%s{number}", s_type)],
                      ["i, j", "i", "i, j"], self._empty(dims), f"%a: i8, %b: f32, %o: {element}",
                      lines)

    #===----------------------------------------------------------------------===#
    # Data and reference
    #===----------------------------------------------------------------------===#

    def random_values(self, arg, rng):
        if arg.name[0] == "d":
            # Divisors are away from 0.
            size = rng.uniform(0.5, 1.5, arg.shape)
            return to_storage(arg.element, size * rng.choice([-1, 1], arg.shape))
        values = super().random_values(arg, rng)
        # Products of several sums end before 65504.
        is_small = self.element.name == "f16" and arg.name[0] in "fk"
        return (values / 8).astype(values.dtype) if is_small else values

    def expected(self, values):
        """The result, how far a right one may be off, and no bound in L2."""
        wide = {n: to_wide(self.arg(n).element, v) for n, v in values.items()}
        with np.errstate(invalid="ignore", over="ignore"):
            results = Evaluation(self, wide).results
        value, error = results[-1]
        if self.element.is_integer:
            return value, None, None
        return value, error, np.full(value.shape, np.inf)


class Evaluation:
    """Every value of a program with a bound of its error, by running error analysis: what
    operands may be off goes through the absolute values of the operation, and each adds
    the bound of its own roundings."""

    def __init__(self, program, arrays):
        self.program, self.arrays = program, arrays
        self.element = program.element
        self.results = [(arrays["x"], self.zero(arrays["x"]))]
        for number, step in enumerate(program.steps):
            getattr(self, "_" + step["kind"])(number, step)

    def zero(self, array):
        return np.zeros(array.shape, array.real.dtype)

    def rounded(self, value, error):
        """`value` as it is stored; that may happen twice where operations are joined."""
        unit = max(self.element.store_unit, self.element.unit)
        self.results.append((value, error + 4 * unit * (np.abs(value) + error)
                             + 4 * self.element.tiny))

    def linear(self, number, step, terms, compute):
        """alpha * compute(x, arguments) + beta * z."""
        x, error = self.results[step["source"]]
        names = [n for n in self.program.given[number] if n[0] in "fk"]
        given = [self.arrays[n] for n in names]
        alpha, beta = step["alpha"], step.get("beta", 0)
        dtype = x.dtype
        value = compute(x, given) * dtype.type(alpha)
        positive = [np.abs(g) for g in given]
        size = compute(np.abs(x) + error, positive) * abs(alpha)
        spread = compute(error, positive) * abs(alpha)
        if beta:
            z, z_error = self.operand(number, step["addend"])
            value = value + z * dtype.type(beta)
            size = size + (np.abs(z) + z_error) * abs(beta)
            spread = spread + z_error * abs(beta)
        unit, factor = self.element.unit, 8 if self.element.is_complex else 4
        return value, spread + factor * (terms + 8) * unit * size + self.lost(positive)

    def lost(self, factors):
        """What factors make of values that are too small for their type."""
        gain = 1.0
        for factor in factors:
            if factor.size:
                gain *= max(1, *(factor.sum(axis).max() for axis in (-1, -2)))
        return 4 * self.element.tiny * gain

    def operand(self, number, value):
        if value is not None:
            return self.results[value]
        (name,) = [n for n in self.program.given[number] if n[0] in "zd"]
        return self.arrays[name], self.zero(self.arrays[name])

    def _mkm(self, number, step):
        ops = step["ops"]
        compute = getattr(reference, step["kind"])
        terms = sum(p for p, _ in step["sizes"]) + len(ops)
        self.rounded(*self.linear(number, step, terms,
                                  lambda x, factors: compute(x, factors, "N", ops, 0)))

    _kmm = _mkm

    def _batched(self, number, step):
        inputs = tuple(p for p, _ in step["sizes"])

        def compute(x, factors):
            cube = x.reshape(x.shape[:1] + inputs)
            y = reference.batched(cube, factors, "N", step["ops"], 1)
            return y.reshape(x.shape[0], -1) if x.size else np.zeros(
                self.program.values[number + 1][0], x.dtype)

        self.rounded(*self.linear(number, step, sum(inputs) + len(inputs), compute))

    def _ksmm(self, number, step):
        value, error = self.linear(
            number, step, step["pattern"][2],
            lambda x, given: reference.ksmm(x, given[0], "N", step["op"], step["layout"]))
        unit = self.element.unit
        if step["bias"]:
            bias = self.arrays[f"b{number}"]
            bias = bias if step["layout"] == "batch_first" else bias[:, None]
            value = value + bias
            error = error + 2 * unit * (np.abs(value) + error)
        if step["activation"] != "identity":
            # Slopes are below 1.13; erf is good to some units.
            size = np.abs(value) + error
            value = reference.activate(step["activation"], value)
            error = 1.13 * error + 16 * unit * size
        self.rounded(value, error)

    def _transpose(self, number, step):
        value, error = self.results[step["source"]]
        self.results.append((value.T, error.T))

    def _add(self, number, step):
        (a, a_error), (b, b_error) = self.results[step["source"]], self.operand(
            number, step["other"])
        value = a + b if step["kind"] == "add" else a - b
        self.rounded(value, self.joined(a_error + b_error, np.abs(a) + np.abs(b)))

    _sub = _add

    def joined(self, error, size):
        """Sums may be made in another order when operations become one."""
        return error + 4 * max(self.element.unit, self.element.store_unit) * size

    def _row(self, number, step):
        a, error = self.results[step["source"]]
        row = self.arrays[self.program.given[number][0]]
        self.rounded(a + row, self.joined(error, np.abs(a) + np.abs(row)))

    def _scale(self, number, step):
        a, error = self.results[step["source"]]
        factor = a.dtype.type(step["factor"])
        self.rounded(a * factor, self.joined(error * abs(step["factor"]), np.abs(a * factor)))

    def _mul(self, number, step):
        (a, a_error), (b, b_error) = self.results[step["source"]], self.operand(
            number, step["other"])
        error = np.abs(a) * b_error + np.abs(b) * a_error + a_error * b_error
        self.rounded(a * b, self.joined(error, np.abs(a) * np.abs(b)))

    def _div(self, number, step):
        a, error = self.results[step["source"]]
        b, _ = self.operand(number, None)
        value = a / b
        self.rounded(value, self.joined(error / np.abs(b), 4 * np.abs(value)))

    def _quantize(self, number, step):
        a, error = self.results[step["source"]]
        largest = (np.abs(a) + error).max(axis=1, keepdims=True) if a.size else np.zeros(
            (a.shape[0], 1))
        half = largest / 127 * 0.5 * (1 + 2**-10)
        # Rows below the smallest normal number of f32 become 0.
        self.rounded(a, error + half + 8 * self.element.unit * np.abs(a) + 2.0**-119)
