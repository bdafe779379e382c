"""Building modules in Python.

    module = kron.ir.Module()
    f = module.function("apply")
    x = f.argument("x", np.float32, ("m", 64))
    a = f.argument("a", np.float32, (8, 8))
    f.returns(kron.mkm(x, [a, a]) * 2 + x)
    print(module)
    apply = kron.compile(module)["apply"]

Values stand for arrays. kron's functions and arithmetic on them add operations to
their function. A size is a number, a name (sizes of the same name are equal), or
None (a name of its own).

SPDX-License-Identifier: MIT
"""

import numbers

import numpy as np

from kron import _build, _compile
from kron._fallback import TYPES, bind, to_number, transpose_of, transposes_of
from kron._fallback import _check_choice

_DEFAULT_PIPELINE = "kron-cpu-pipeline"


class Dim:
    """A size that is known when the function runs."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def __repr__(self):
        return self.name


def _element(dtype):
    """(element type, dtype) for a dtype or anything that has one."""
    own = getattr(dtype, "dtype", None)
    dtype = own if isinstance(own, np.dtype) else np.dtype(dtype)
    if dtype.name not in TYPES:
        raise TypeError(f"expects dtype to be one of {', '.join(TYPES)}, but got {dtype}")
    return TYPES[dtype.name], dtype


def _tensor(shape, element):
    sizes = "".join("?x" if isinstance(size, Dim) else f"{size}x" for size in shape)
    return f"tensor<{sizes}{element}>"


class Scalar:
    """A number that is an argument of the function; for alpha and beta."""

    def __init__(self, function, name, element, dtype):
        self.function, self.name, self.element, self.dtype = function, name, element, dtype


class Value:
    """An array in a function that is being built."""

    # NumPy leaves arithmetic with a Value to it.
    __array_ufunc__ = None

    def __init__(self, function, name, dtype, shape):
        self.function, self.name = function, name
        self.element, self.dtype = _element(dtype)
        self.shape = tuple(shape)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def mlir_type(self):
        return _tensor(self.shape, self.element)

    @property
    def T(self):
        return self.transpose()

    def __repr__(self):
        return f"<kron.ir.Value {self.name}: {self.mlir_type}>"

    def transpose(self, *axes):
        if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
            axes = tuple(axes[0])
        axes = tuple(axes) or tuple(reversed(range(self.ndim)))
        if sorted(axes) != list(range(self.ndim)):
            raise ValueError(f"expects axes to be a permutation of {self.ndim} axes, "
                             f"but got {axes}")
        shape = tuple(self.shape[axis] for axis in axes)
        return self.function.transposed(self, axes, shape)

    def reshape(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        return self.function.reshaped(self, shape)

    def __add__(self, other):
        return self.function.elementwise("add", self, other)

    def __radd__(self, other):
        return self.function.elementwise("add", other, self)

    def __sub__(self, other):
        return self.function.elementwise("sub", self, other)

    def __rsub__(self, other):
        return self.function.elementwise("sub", other, self)

    def __mul__(self, other):
        return self.function.elementwise("mul", self, other)

    def __rmul__(self, other):
        return self.function.elementwise("mul", other, self)

    def __truediv__(self, other):
        return self.function.elementwise("div", self, other)

    def __rtruediv__(self, other):
        return self.function.elementwise("div", other, self)

    def __neg__(self):
        return self.function.elementwise("sub", 0, self)

    def __bool__(self):
        raise TypeError("expects no decision about a traced array, whose elements are not "
                        "known yet")

    def __array__(self, *_, **__):
        raise TypeError("expects kron's functions and arithmetic on a traced array, but NumPy "
                        "asked for its elements")

    def __iter__(self):
        raise TypeError("expects no loop over a traced array")


def _operation(element, name):
    """The operation of arith or complex for two elements."""
    if element.startswith("complex"):
        return f"complex.{name}"
    if element in ("i32", "i64"):
        if name == "div":
            raise TypeError("expects floating-point or complex arrays for a division")
        return f"arith.{name}i"
    return f"arith.{name}f"


class Function:
    """A public function of a module."""

    def __init__(self, name):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"expects name to be an identifier, but got {name!r}")
        self.name = name
        self.arguments, self.results = [], None
        self._lines, self._dims, self._next = [], {}, 0

    # --- arguments and results ------------------------------------------------

    def _check_name(self, name):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"expects name to be an identifier, but got {name!r}")
        if any(argument.name == "%" + name for argument in self.arguments):
            raise ValueError(f"expects names of arguments to differ, but got '{name}' twice")

    def argument(self, name, dtype, shape=None):
        """An array argument; `dtype` may be an array, whose shape is taken then."""
        self._check_name(name)
        if shape is None:
            shape = getattr(dtype, "shape", None)
            if shape is None:
                raise TypeError(f"expects shape for argument '{name}'")
        value = Value(self, "%" + name, dtype, ())
        value.shape = tuple(self._size(value, axis, size) for axis, size in enumerate(shape))
        self._declare_dims(value)
        self.arguments.append(value)
        return value

    def _size(self, value, axis, size):
        if size is None:
            size = f"{value.name[1:]}_{axis}"
        if isinstance(size, str):
            if not size.isidentifier():
                raise ValueError(f"expects the name of a size to be an identifier, "
                                 f"but got {size!r}")
            return self._dims.get(size) or Dim(size, None)
        if not isinstance(size, numbers.Integral) or size < 0:
            raise ValueError(f"expects sizes of at least 0, names or None, but got {size!r}")
        return int(size)

    def _declare_dims(self, value):
        """Gives the sizes that this argument is the first to have their values."""
        for axis, size in enumerate(value.shape):
            if isinstance(size, Dim) and size.value is None:
                known = self._dims.setdefault(size.name, size)
                if known.value is None:
                    constant = self._fresh()
                    known.value = f"%dim_{size.name}"
                    self._lines.append(f"{constant} = arith.constant {axis} : index")
                    self._lines.append(f"{known.value} = tensor.dim {value.name}, {constant} : "
                                       f"{value.mlir_type}")
        value.shape = tuple(self._dims[size.name] if isinstance(size, Dim) else size
                            for size in value.shape)

    def scalar(self, name, dtype):
        """A number argument, for alpha and beta."""
        self._check_name(name)
        element, dtype = _element(dtype)
        scalar = Scalar(self, "%" + name, element, dtype)
        self.arguments.append(scalar)
        return scalar

    def returns(self, *values):
        """Ends the function."""
        if self.results is not None:
            raise ValueError(f"expects function '{self.name}' to return once")
        if not values:
            raise ValueError("expects at least 1 value to return")
        for value in values:
            if not isinstance(value, Value) or value.function is not self:
                raise TypeError(f"expects values of function '{self.name}' to return, "
                                f"but got {value!r}")
        self.results = values

    def __str__(self):
        if self.results is None:
            raise ValueError(f"expects function '{self.name}' to return values")
        arguments = []
        for argument in self.arguments:
            kind = argument.mlir_type if isinstance(argument, Value) else argument.element
            arguments.append(f'{argument.name}: {kind} {{kron.name = "{argument.name[1:]}"}}')
        types = ", ".join(value.mlir_type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        body = "\n".join("    " + line for line in [*self._lines, f"return {names} : {types}"])
        return f"  func.func @{self.name}({', '.join(arguments)}) -> ({types}) {{\n{body}\n  }}\n"

    # --- operations -----------------------------------------------------------

    def _fresh(self):
        self._next += 1
        return f"%{self._next - 1}"

    def _empty(self, shape, element):
        name = self._fresh()
        sizes = ", ".join(size.value for size in shape if isinstance(size, Dim))
        self._lines.append(f"{name} = tensor.empty({sizes}) : {_tensor(shape, element)}")
        return name

    def emit(self, text, dtype, shape):
        """Adds an operation with one result; `{init}` in `text` is its destination and
        `{type}` the type of both."""
        element = _element(dtype)[0]
        kind = _tensor(shape, element)
        if "{init}" in text:
            text = text.replace("{init}", self._empty(shape, element))
        name = self._fresh()
        self._lines.append(f"{name} = " + text.replace("{type}", kind))
        return Value(self, name, dtype, shape)

    def transposed(self, value, axes, shape):
        return self.emit(f"linalg.transpose ins({value.name} : {value.mlir_type}) "
                         f"outs({{init}} : {{type}}) permutation = {list(axes)}",
                         value.dtype, shape)

    def reshaped(self, value, shape):
        """Axes that are the same from the left stay; the others must be static."""
        shape = tuple(self._dims.get(size, size) if isinstance(size, str) else size
                      for size in shape)
        kept = 0
        while kept < min(value.ndim, len(shape)) and value.shape[kept] == shape[kept]:
            kept += 1
        old, new = value.shape[kept:], shape[kept:]
        if any(not isinstance(size, int) or size < 0 for size in (*old, *new)):
            raise ValueError(f"expects to reshape static axes only, but got {value.shape} "
                             f"and {shape}")
        if int(np.prod(old)) != int(np.prod(new)):
            raise ValueError(f"expects as many elements as {value.shape} has, but got {shape}")
        if old == new:
            return value
        if not old or not new:
            raise ValueError(f"expects to reshape at least 1 axis into at least 1, but got "
                             f"{value.shape} and {shape}")
        if len(old) > 1:
            flat = value.shape[:kept] + (int(np.prod(old)),)
            groups = [[axis] for axis in range(kept)] + [list(range(kept, value.ndim))]
            value = self.emit(f"tensor.collapse_shape {value.name} {groups} : "
                              f"{value.mlir_type} into {{type}}", value.dtype, flat)
        if len(new) > 1:
            groups = [[axis] for axis in range(kept)] + [list(range(kept, len(shape)))]
            sizes = ", ".join(size.value if isinstance(size, Dim) else str(size)
                              for size in shape)
            value = self.emit(f"tensor.expand_shape {value.name} {groups} output_shape "
                              f"[{sizes}] : {value.mlir_type} into {{type}}",
                              value.dtype, shape)
        return value

    def elementwise(self, name, left, right):
        """left + right and the like, with NumPy's broadcasting."""
        values = [side for side in (left, right) if isinstance(side, Value)]
        element, dtype = values[0].element, values[0].dtype
        if any(value.dtype != dtype for value in values):
            raise TypeError(f"expects arrays of one dtype, but got {values[0].dtype} and "
                            f"{values[1].dtype}")
        if any(value.function is not self for value in values):
            raise ValueError("expects values of one function")
        shape = _broadcast([value.shape for value in values])
        rank = len(shape)
        maps, body, operands = [], [], []
        for index, side in enumerate((left, right)):
            if isinstance(side, Value):
                operands.append(f"%in{index}")
                maps.append(_broadcast_map(side.shape, shape))
            else:
                body.append(self._scalar_operand(index, side, element, dtype))
                operands.append(f"%c{index}")
        maps.append(_broadcast_map(shape, shape))
        block = ", ".join([f"{o}: {element}" for o in operands if o.startswith("%in")]
                          + [f"%out: {element}"])
        text = (f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = "
                f"[{_parallel(rank)}]}} "
                f"ins({', '.join(v.name for v in values)} : "
                f"{', '.join(v.mlir_type for v in values)}) outs({{init}} : {{type}}) {{\n"
                f"    ^bb0({block}):\n")
        for line in body:
            text += f"      {line}\n"
        # Narrow types compute in f32 and round once.
        compute = _build.scalar_type(element)
        if compute != element:
            for index, operand in enumerate(operands):
                if operand.startswith("%in"):
                    text += f"      %w{index} = arith.extf {operand} : {element} to {compute}\n"
                    operands[index] = f"%w{index}"
        text += (f"      %r = {_operation(compute, name)} {operands[0]}, {operands[1]} : "
                 f"{compute}\n")
        if compute != element:
            text += f"      %n = arith.truncf %r : {compute} to {element}\n"
        text += (f"      linalg.yield {'%r' if compute == element else '%n'} : {element}\n"
                 f"    }} -> {{type}}")
        return self.emit(text, dtype, shape)

    @staticmethod
    def _scalar_operand(index, side, element, dtype):
        number = to_number(side, dtype, "the number")
        if element.startswith("complex"):
            part = element[8:-1]
            return (f"%c{index} = complex.constant [{_literal(number.real)} : {part}, "
                    f"{_literal(number.imag)} : {part}] : {element}")
        return (f"%c{index} = arith.constant {_literal(number)} : "
                f"{_build.scalar_type(element)}")


def _parallel(rank):
    return ", ".join(['"parallel"'] * rank)


def _literal(number):
    if isinstance(number, int):
        return str(number)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(f"expects a finite number, but got {number}")
    text = repr(float(number))
    return text if "." in text else text.replace("e", ".0e")


def _broadcast(shapes):
    rank = max(len(shape) for shape in shapes)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if isinstance(size, int) and size == 1:
                continue
            if result[axis] == 1:
                result[axis] = size
            elif result[axis] is not size and result[axis] != size:
                raise ValueError("expects shapes that broadcast, but got "
                                 + " and ".join(map(str, shapes)))
    return tuple(result)


def _broadcast_map(shape, result):
    rank = len(result)
    dims = ", ".join(f"d{axis}" for axis in range(rank))
    lead = rank - len(shape)
    entries = []
    for axis, size in enumerate(shape, lead):
        stretched = isinstance(size, int) and size == 1 and result[axis] != 1
        entries.append("0" if stretched else f"d{axis}")
    return f"affine_map<({dims}) -> ({', '.join(entries)})>"


# --- kron's operations -------------------------------------------------------------


def _function_of(values):
    functions = {value.function for value in values}
    if len(functions) != 1:
        raise ValueError("expects values of one function")
    return functions.pop()


def _check_values(values, names):
    for value, name in zip(values, names):
        if not isinstance(value, Value):
            raise TypeError(f"expects {name} to be a traced array like the others, "
                            f"but got {type(value).__name__}")
        if value.dtype != values[0].dtype:
            raise TypeError(f"expects {name} to have dtype {values[0].dtype}, "
                            f"but got {value.dtype}")


def _scaling(bound, x):
    """Clauses alpha, beta and addend."""
    element = _build.scalar_type(x.element)
    text = ""
    for name, default in (("alpha", 1), ("beta", 0)):
        value = bound.get(name, default)
        if isinstance(value, Scalar):
            if value.element != element:
                raise TypeError(f"expects {name} to have type {element}, but got {value.element}")
            text += f" {name}({value.name} : {value.element})"
        elif value != default:
            number = to_number(value, x.dtype, name)
            if element.startswith("complex"):
                text += (f" {name}(#complex.number<:{element[8:-1]} "
                         f"{_literal(number.real)}, {_literal(number.imag)}>)")
            else:
                text += f" {name}({_literal(number)} : {element})"
    if "beta(" not in text:
        return text
    if "z" not in bound:
        raise ValueError("expects z when beta is not 0")
    return text + f" addend({bound['z'].name} : {bound['z'].mlir_type})"


def _attributes(bound):
    precision = bound.get("precision", "full")
    _check_choice(precision, ("full", "ieee", "tf32"), "precision")
    return [] if precision == "full" else [f"precision = #kron.precision<{precision}>"]


def _reject(bound, *names):
    for name in names:
        if name in bound:
            raise TypeError(f"expects no {name} in a traced function, but got it")


def _product(op, args, kwargs):
    bound = bind(op, args, kwargs)
    _reject(bound, "out", "stream")
    x, factors = bound["x"], bound["factors"]
    if not isinstance(factors, (list, tuple)) or not factors:
        raise TypeError("expects factors to be a list or tuple of at least 1 array")
    arrays = [x, *factors] + [bound[key] for key in ("z",) if key in bound]
    _check_values(arrays, ["x"] + [f"factors[{i}]" for i in range(len(factors))] + ["z"])
    function = _function_of(arrays)
    trans_x = transpose_of(bound.get("trans_x", False), "trans_x")
    trans = transposes_of(bound.get("trans_factors", False), len(factors), "trans_factors")
    rank = len(factors) if op == "batched" else 2
    if x.ndim < rank or any(factor.ndim < 2 for factor in factors):
        raise ValueError(f"expects x with at least {rank} axes and factors with at least 2")
    sizes = []
    for factor, t in zip(factors, trans):
        rows, columns = factor.shape[-2:]
        sizes.append((rows, columns) if (op == "mkm") == (t == "N") else (columns, rows))
    if any(not isinstance(size, int) for pair in sizes for size in pair):
        raise ValueError("expects factors of static shape")
    core = x.shape[x.ndim - rank:]
    if trans_x != "N":
        core = core[::-1]
    q = int(np.prod([size for _, size in sizes]))
    if op == "mkm":
        result = (core[0], q)
    elif op == "kmm":
        result = (q, core[1])
    else:
        result = tuple(size for _, size in sizes)
    batch = _broadcast([x.shape[:x.ndim - rank]] + [f.shape[:-2] for f in factors])
    names = ", ".join(f.name if t == "N" else f"{t}({f.name})" for f, t in zip(factors, trans))
    types = ", ".join(factor.mlir_type for factor in factors)
    text_x = x.name if trans_x == "N" else f"{trans_x}({x.name})"
    attributes = _attributes(bound)
    text = (f"kron.{op} ins({text_x} : {x.mlir_type}) factors({names} : {types}) "
            f"outs({{init}} : {{type}}){_scaling(bound, x)}"
            f"{_braces(attributes)} -> {{type}}")
    return function.emit(text, x.dtype, batch + result)


def _braces(attributes):
    return f" {{{', '.join(attributes)}}}" if attributes else ""


def mkm(*args, **kwargs):
    """kron.mkm on values."""
    return _product("mkm", args, kwargs)


def kmm(*args, **kwargs):
    """kron.kmm on values."""
    return _product("kmm", args, kwargs)


def batched(*args, **kwargs):
    """kron.batched on values."""
    return _product("batched", args, kwargs)


def ksmm(*args, **kwargs):
    """kron.ksmm on values."""
    bound = bind("ksmm", args, kwargs)
    _reject(bound, "out", "stream")
    x, weights = bound["x"], bound["weights"]
    keys = [key for key in ("z", "bias", "residual") if key in bound]
    arrays = [x, weights] + [bound[key] for key in keys]
    _check_values(arrays, ["x", "weights", *keys])
    function = _function_of(arrays)
    trans = transpose_of(bound.get("trans_weights", False), "trans_weights")
    layout = bound.get("layout", "batch_first")
    _check_choice(layout, ("batch_first", "batch_last"), "layout")
    if weights.ndim != 4 or any(not isinstance(size, int) for size in weights.shape):
        raise ValueError(f"expects weights to have 4 static axes, but got {weights.shape}")
    if "pattern" in bound and tuple(bound["pattern"]) != weights.shape:
        raise ValueError(f"expects weights to have the shape of the pattern "
                         f"{tuple(bound['pattern'])}, but got {weights.shape}")
    if x.ndim != 2:
        raise ValueError(f"expects x to have 2 axes, but got {x.shape}")
    a, b, c, d = weights.shape
    outputs = a * b * d if trans == "N" else a * c * d
    shape = (x.shape[0], outputs) if layout == "batch_first" else (outputs, x.shape[1])
    attributes = _attributes(bound)
    if layout == "batch_last":
        attributes.append("layout = #kron.layout<batch_last>")
    activation = bound.get("epilogue", "identity")
    _check_choice(activation, ("identity", "relu", "gelu", "silu"), "epilogue")
    if activation != "identity":
        attributes.append(f"activation = #kron.activation<{activation}>")
    if "scale" in bound:
        scale = to_number(bound["scale"], x.dtype, "scale")
        attributes.append(f"scale = {_build.constant(scale, _build.scalar_type(x.element))}")
    clauses = "".join(f" {key}({bound[key].name} : {bound[key].mlir_type})"
                      for key in ("bias", "residual") if key in bound)
    text_w = weights.name if trans == "N" else f"{trans}({weights.name})"
    text = (f"kron.ksmm ins({x.name} : {x.mlir_type}) weights({text_w} : {weights.mlir_type}) "
            f"outs({{init}} : {{type}}){_scaling(bound, x)}{clauses}{_braces(attributes)} "
            f"-> {{type}}")
    return function.emit(text, x.dtype, shape)


def ksmm_chain(x, weights, pattern=None, layout="batch_first", *, trans_weights=False,
               precision="full", **kwargs):
    """kron.ksmm_chain on values."""
    if not isinstance(weights, (list, tuple)) or not weights:
        raise TypeError("expects weights to be a list or tuple of at least 1 array")
    patterns = pattern if pattern is not None else [None] * len(weights)
    trans = transposes_of(trans_weights, len(weights), "trans_weights")
    for i, (factor, own, t) in enumerate(zip(weights, patterns, trans)):
        extra = kwargs if i == len(weights) - 1 else {}
        x = ksmm(x, factor, own, layout, trans_weights=t, precision=precision, **extra)
    return x


# --- modules -----------------------------------------------------------------------


class Module:
    """Functions, or the text of a module."""

    def __init__(self, text=None):
        self.functions = []
        self._text = text

    def function(self, name):
        """A new function."""
        if self._text is not None:
            raise ValueError("expects a module that was not made from text")
        if any(function.name == name for function in self.functions):
            raise ValueError(f"expects names of functions to differ, but got '{name}' twice")
        self.functions.append(Function(name))
        return self.functions[-1]

    def __str__(self):
        if self._text is not None:
            return self._text
        return "module {\n" + "".join(map(str, self.functions)) + "}\n"

    @property
    def mlir(self):
        """The module as MLIR prints it, verified."""
        with _compile.translated() as compiler:
            return compiler.normalize(str(self))

    def run(self, pipeline=_DEFAULT_PIPELINE):
        """The module after the passes of a pipeline."""
        with _compile.translated() as compiler:
            return Module(compiler.run_passes(str(self), _passes(pipeline))[0])

    def stages(self, pipeline=_DEFAULT_PIPELINE):
        """[(pass, text of the module after it)] for the passes of a pipeline."""
        with _compile.translated() as compiler:
            return compiler.run_passes(str(self), _passes(pipeline), record=True)[1]


def _passes(pipeline):
    """The passes of a pipeline, with or without the operation that they run on."""
    if not isinstance(pipeline, str):
        raise TypeError(f"expects pipeline to be a string, but got {type(pipeline).__name__}")
    text = pipeline.strip()
    if text.startswith("builtin.module(") and text.endswith(")"):
        return text[len("builtin.module("):-1]
    return text
