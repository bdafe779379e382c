"""A test case: a function in MLIR, its arguments, and what it must compute.

A case is rebuilt from its seed wherever it is needed (the driver writes the IR,
the worker the data), so nothing but numbers travels between processes.

SPDX-License-Identifier: MIT
"""

from dataclasses import dataclass

import numpy as np

import reference
from buffers import strides_for
from dtypes import TYPES, ElementType, poison, random_array, to_storage, to_wide

# op() of an array: as it is, transposed, conjugated and transposed.
OPS = "NTC"
PRODUCTS = ("mkm", "kmm", "batched")
ALL_OPS = PRODUCTS + ("ksmm", "mode_product", "ksmm_grad", "factor_grad", "bias_grad")
# Kinds of alpha and beta. `zero` and `operand_zero` come with a poison in what
# must not be read.
ALPHA_KINDS = ("absent", "const", "operand", "zero", "operand_zero")
BETA_KINDS = ("absent", "const", "operand", "zero", "operand_zero", "one")
# Where Z is: the destination itself, an operand of its own, or (memrefs) the
# destination named a second time.
ADDENDS = ("outs", "operand", "same")
MEMREF_LAYOUTS = ("identity", "rows", "any")


@dataclass
class Arg:
    """An argument of the compiled function, in the order of the function."""

    name: str
    element: ElementType
    shape: tuple
    role: str  # in, out, inout or scalar
    strides: tuple
    mlir: str
    poisoned: bool = False


@dataclass
class Scalar:
    """alpha, beta or scale: its text in the operation and its value."""

    kind: str
    value: complex
    text: str

    @property
    def zero(self):
        return self.value == 0


def scalar_literal(element, value):
    if element.is_complex:
        return f"#complex.number<:{element.mlir[8:-1]} {value.real}, {value.imag}>"
    if element.is_integer:
        return f"{int(value.real)} : {element.mlir}"
    return f"{float(value.real)} : {element.mlir}"


class Case:
    """Collects the arguments and the body of one function."""

    def __init__(self, index, rng, op, element, form, layout):
        self.index, self.rng, self.op, self.form = index, rng, op, form
        self.element = TYPES[element]
        self.scalar_element = TYPES[self.element.scalar]
        self.layout = layout
        self.name = f"case{index}"
        self.args, self.body = [], []
        self.tags = {form, "layout=" + (layout if form == "memref" else "tensor")}
        self.result = None
        self.returned = "%result"  # what a function on tensors returns
        self.linear = None  # values -> the operation without scaling and epilogue
        self.num_terms = 0  # length of the longest chain of roundings
        self.num_stores = 1  # how often values are rounded to the storage type
        self.alpha = self.beta = Scalar("absent", 1, "")
        self.addend = None
        self.bias = self.residual = None
        self.bias_axis = -1
        self.activation, self.scale = "identity", None
        self.special = None  # a NaN or Inf to put into the input
        self.names_poisoned_by_alpha = []
        self._expected = None

    # --- arguments ------------------------------------------------------------

    def _declare(self, shape, dims, layout, element):
        sizes = "".join("?x" if d is None else f"{d}x" for d in dims)
        if self.form == "tensor":
            return f"tensor<{sizes}{element.mlir}>"
        if layout == "identity" or not shape:
            return f"memref<{sizes}{element.mlir}>"
        inner = ["?"] * (len(shape) - 1) + ["1" if layout == "rows" else "?"]
        return f"memref<{sizes}{element.mlir}, strided<[{', '.join(inner)}], offset: ?>>"

    def array(self, name, shape, dims=None, role="in", element=None, poisoned=False):
        """Adds an array argument; `dims` holds None where the type says `?`."""
        element = element or self.element
        dims = list(shape) if dims is None else dims
        layout = self.layout if self.form == "memref" or self.layout == "packed" else "rows"
        if layout == "mixed":
            layout = str(self.rng.choice(MEMREF_LAYOUTS))
        strides = list(
            strides_for(shape, "packed" if layout == "identity" else layout, self.rng))
        # What is read may repeat along an axis.
        repeatable = len(shape) - (layout == "rows")
        if role == "in" and layout not in ("identity", "packed") and repeatable > 0 and self.rng.random() < 0.05:
            strides[int(self.rng.integers(repeatable))] = 0
            self.tags.add("stride=0")
        mlir = self._declare(shape, dims, layout, element)
        self.args.append(Arg(name, element, tuple(shape), role, tuple(strides), mlir, poisoned))
        return self.args[-1]

    def scalar(self, name, kind, constants=None):
        """alpha or beta of the given kind; adds an argument for a run-time one."""
        element = self.scalar_element
        if kind == "absent":
            return Scalar(kind, 1 if name == "alpha" else 0, "")
        if "zero" in kind:
            value = 0j
        elif kind == "one":
            value = 1 + 0j
        elif element.is_complex:
            value = complex(self.rng.choice([0.5, -1.5, 2]), self.rng.choice([0, 1, -0.75]))
        elif element.is_integer:
            value = complex(int(self.rng.choice([2, -3, 7])))
        else:
            value = complex(self.rng.choice([2, -1.5, 0.75]))
        if kind.startswith("operand"):
            self.args.append(Arg(name, element, (), "scalar", (), element.mlir))
            return Scalar(kind, value, f" {name}(%{name} : {element.mlir})")
        return Scalar(kind, value, f" {name}({scalar_literal(element, value)})")

    # --- destination and scaling ----------------------------------------------

    def finish(self, mnemonic, operands, out_shape, out_dims, dim_sources, options,
               clauses="", attributes=(), out_element=None):
        """Adds destination, scaling and the operation itself.

        `dim_sources[i]` is (argument name, dimension) that a dynamic size i of the
        result equals, or None if only a destination argument can tell."""
        self.alpha = self.scalar("alpha", options["alpha"])
        self.beta = self.scalar("beta", options["beta"])
        self.tags |= {"alpha=" + options["alpha"], "beta=" + options["beta"]}
        if self.alpha.zero:
            for arg in self.args:
                arg.poisoned |= arg.name in self.names_poisoned_by_alpha
        out_element = out_element or self.element
        addend_text = ""
        wants = options["addend"] if options["beta"] != "absent" else None
        if wants == "same" and self.form == "tensor":
            wants = "outs"
        if wants:
            self.tags.add("addend=" + wants)
        if wants == "operand":
            z = self.array("z", out_shape, out_dims, "in", out_element, self.beta.zero)
            self.addend = z.name
            addend_text = f" addend(%z : {z.mlir})"
        if self.form == "tensor":
            init, result_type = self._tensor_destination(
                wants, out_shape, out_dims, dim_sources, options, out_element)
        else:
            reads = wants in ("outs", "same") and not self.beta.zero
            y = self.array("y", out_shape, out_dims, "inout" if reads else "out", out_element)
            y.poisoned = not reads
            init, result_type = "%y : " + y.mlir, ""
            if wants in ("outs", "same"):
                self.addend = "y"
            if wants == "same":
                addend_text = f" addend(%y : {y.mlir})"
        self.result = "y"
        attribute_text = f" {{{', '.join(attributes)}}}" if attributes else ""
        statement = (f"{mnemonic} {operands} outs({init}){self.alpha.text}{self.beta.text}"
                     f"{addend_text}{clauses}{attribute_text}")
        if self.form == "tensor":
            self.body.append(f"%result = {statement} -> {result_type}")
            self.returns = result_type
        else:
            self.body.append(statement)
            self.returns = None

    def epilogue(self, options, features, shape, dims, batch_first):
        """Bias, residual, activation and scale of a kron.ksmm as `options` say, whose
        result has `shape` (`dims` in its type): its clauses and attributes."""
        clauses, attributes = "", []
        if options["bias"]:
            bias = self.array("bias", [features])
            self.bias, self.bias_axis = "bias", -1 if batch_first else 0
            clauses += f" bias(%bias : {bias.mlir})"
        if options["residual"]:
            residual = self.array("residual", shape, dims)
            self.residual = "residual"
            clauses += f" residual(%residual : {residual.mlir})"
        if options["activation"] != "identity":
            self.activation = options["activation"]
            attributes.append(f"activation = #kron.activation<{self.activation}>")
        if options["scale"]:
            element = self.scalar_element
            self.scale = complex(0.5, -2) if element.is_complex else 3 if element.is_integer else -0.5
            text = scalar_literal(element, complex(self.scale))
            attributes.append(f"scale = {text}" + (f" : {element.mlir}" if element.is_complex else ""))
        self.tags |= {t for t in ("bias", "residual", "scale") if options[t]}
        self.tags.add("activation=" + options["activation"])
        return clauses, attributes

    def _tensor_destination(self, wants, shape, dims, sources, options, element):
        derivable = all(d is not None or s is not None for d, s in zip(dims, sources))
        if wants == "outs" or options.get("init_argument") or not derivable:
            poisoned = wants != "outs" or self.beta.zero
            z = self.array("init", shape, dims, "in", element, poisoned)
            if wants == "outs":
                self.addend = z.name
            init, result = "%init : " + z.mlir, z.mlir
            self.output(shape, dims, element)
            return init, result
        result = self.output(shape, dims, element).mlir
        return f"{self.empty('empty', dims, sources, result)} : {result}", result

    def output(self, shape, dims, element):
        """The argument that the result of a tensor function becomes."""
        y = self.array("y", shape, dims, "out", element, True)
        return y

    def empty(self, name, dims, sources, mlir):
        values = []
        for i, (d, source) in enumerate(zip(dims, sources)):
            if d is None:
                value = f"%{name}_{i}"
                self.body.append(f"{value}_i = arith.constant {source[1]} : index")
                self.body.append(
                    f"{value} = tensor.dim %{source[0]}, {value}_i : {self.arg(source[0]).mlir}")
                values.append(value)
        self.body.append(f"%{name} = tensor.empty({', '.join(values)}) : {mlir}")
        return f"%{name}"

    def arg(self, name):
        return next(a for a in self.args if a.name == name)

    # --- text -----------------------------------------------------------------

    def mlir(self):
        # The result of a tensor function is not one of its arguments.
        inputs = [a for a in self.args if not (self.returns and a.name == "y")]
        arguments = ", ".join(f"%{a.name}: {a.mlir}" for a in inputs)
        returns = f" -> {self.returns}" if self.returns else ""
        end = f"return {self.returned} : {self.returns}" if self.returns else "return"
        lines = "\n".join("  " + line for line in [*self.body, end])
        return f"func.func @{self.name}({arguments}){returns} {{\n{lines}\n}}\n"

    def call_order(self):
        """Arguments as the compiled function takes them: results come last."""
        if not self.returns:
            return self.args
        return [a for a in self.args if a.name != "y"] + [self.arg("y")]

    # --- data and reference ---------------------------------------------------

    def random_values(self, arg, rng):
        return random_array(arg.element, rng, arg.shape)

    def data(self):
        """Initial contents of every argument, in its storage type."""
        rng = np.random.default_rng([self.index, 77])
        values = {}
        for arg in self.args:
            if arg.role == "scalar":
                scalar = self.alpha if arg.name == "alpha" else self.beta
                value = scalar.value if arg.element.is_complex else scalar.value.real
                values[arg.name] = to_storage(arg.element, np.array(value))
            elif arg.poisoned:
                values[arg.name] = np.full(arg.shape, poison(arg.element))
            else:
                values[arg.name] = self.random_values(arg, rng)
        if self.special is not None and values["x"].size:
            x = values["x"].reshape(-1)
            x[int(rng.integers(x.size))] = to_storage(self.arg("x").element, self.special)
        for arg in self.args:
            for axis, stride in enumerate(arg.strides):
                if stride == 0 and arg.shape[axis]:
                    values[arg.name] = values[arg.name].take([0] * arg.shape[axis], axis)
        return values

    def expected_of(self, values):
        """`expected`, computed once: the data of a case are always the same."""
        if self._expected is None:
            self._expected = self.expected(values)
        return self._expected

    def expected(self, values):
        """The result in the wide type, the element-wise error allowed and the
        scale of its L2 norm; the last two are None for integers."""
        wide = {n: to_wide(self.arg(n).element, v) for n, v in values.items()}
        out = self.arg(self.result)
        y = self._epilogue(self._scaled(wide, lambda v: v), wide)
        if self.element.is_integer:
            return y, None, None
        magnitude = self._scaled(wide, np.abs)
        energy = self._scaled(wide, lambda v: np.abs(v) ** 2)
        with np.errstate(invalid="ignore", over="ignore"):
            return y, self._bound(y, magnitude, wide, out.element), np.sqrt(energy)

    def _scaled(self, wide, convert):
        arrays = {n: convert(v) for n, v in wide.items()}
        with np.errstate(invalid="ignore", over="ignore"):
            real = not np.iscomplexobj(arrays["x"])
            alpha, beta = self.alpha.value, self.beta.value
            alpha, beta = convert(np.array(alpha)), convert(np.array(beta))
            if real:
                alpha, beta = np.real(alpha), np.real(beta)
            dtype = arrays["x"].dtype
            alpha, beta = alpha.astype(dtype), beta.astype(dtype)
            addend = arrays[self.addend] if self.addend else None
            y = reference.scaled(lambda: self.linear(arrays), alpha,
                                 beta if self.addend else 0, addend)
        if y is None:
            y = np.zeros(self.arg(self.result).shape, dtype)
        return y

    def _bias(self, wide):
        bias = wide[self.bias]
        return bias if self.bias_axis == -1 else bias[:, None]

    def _epilogue(self, v, wide):
        if self.bias:
            v = v + self._bias(wide)
        if self.element.is_integer:
            # Activations see the sign of the wrapped value.
            v = v.astype(self.element.storage).astype(v.dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            v = reference.activate(self.activation, v)
        if self.scale is not None:
            v = v * v.dtype.type(self.scale)
        return v + wide[self.residual] if self.residual else v

    def _gain(self, wide):
        """The most that factors make of what is lost between them of values that are not
        normal."""
        gain = abs(self.alpha.value)
        for name, value in wide.items():
            if name[0] == "f" and name[1:].isdigit() and value.size:
                gain *= max(1, *(np.abs(value).sum(axis).max() for axis in (-1, -2)))
        return gain

    def _bound(self, y, magnitude, wide, out):
        """gamma_n * sum |terms|, doubled (four times for complex products, whose
        own error is sqrt(5) u), plus the rounding of what is stored."""
        unit = self.element.unit
        factor = 4 if self.element.is_complex else 2
        n = self.num_terms + 6
        bound = factor * n * unit / (1 - n * unit) * magnitude
        bound = bound + (self.num_stores - 1) * 2 * self.element.store_unit * magnitude
        bound = bound + (self.num_stores - 1) * out.tiny * self._gain(wide)
        if self.bias:
            magnitude = magnitude + np.abs(self._bias(wide))
            bound = bound + 2 * unit * magnitude
        if self.activation != "identity":
            # Slopes are below 1.13; erf and exp are good to some units.
            bound = 1.13 * bound + 16 * unit * magnitude
        scale = abs(self.scale) if self.scale is not None else 1
        bound = scale * bound + 2 * unit * scale * magnitude
        if self.residual:
            bound = bound + 2 * unit * (scale * magnitude + np.abs(wide[self.residual]))
        rounded = out.store_unit
        return bound + 1.01 * rounded * np.abs(y) + out.tiny
