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

Between here and the compiler a module is MLIR text, which is parsed once, and only where its
kernels have to be compiled: it is the key of the cache of kernels, what print shows, and what a
user may edit. Calls of kron's functions have no text: their programs become IR in memory.

SPDX-License-Identifier: MIT
"""

import numbers

import numpy as np

from kron import _build, _compile, _core, _nodes
from kron._fallback import TYPES, bind, kind_of, to_number, unpack_epilogue
from kron._rules import (PRECISIONS, check_activation, check_addend, check_choice, check_pattern,
                         infer_product, infer_sparse, letter_of, letters_of, patterns_of)
from kron._nodes import Dim

_DEFAULT_PIPELINE = "kron-cpu-pipeline"
#: Axes of an array at most, as the runtime takes them.
_MOST_AXES = 32


def element_of(dtype):
    """(element type, dtype) for a dtype or anything that has one."""
    own = getattr(dtype, "dtype", None)
    try:
        dtype = own if isinstance(own, np.dtype) else np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"expects dtype to be one of {', '.join(TYPES)}: {error}") from None
    dtype = dtype.newbyteorder("=")
    if dtype.name not in TYPES:
        raise TypeError(f"expects dtype to be one of {', '.join(TYPES)}, but got {dtype}")
    return TYPES[dtype.name], dtype


class Scalar:
    """A number that is an argument of the function; for alpha and beta."""

    def __init__(self, function, name, element, dtype):
        self.function, self.name, self.element, self.dtype = function, name, element, dtype


class Value:
    """An array in a function that is being built."""

    # NumPy leaves arithmetic with a Value to it.
    __array_ufunc__ = None

    def __init__(self, function, dtype, shape, name=None, node=None):
        self.function, self.name, self.node = function, name, node
        self.element, self.dtype = element_of(dtype)
        self.shape = tuple(shape)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def mlir_type(self):
        return _nodes.tensor_type(self.shape, self.element)

    @property
    def T(self):
        return self.transpose()

    def __repr__(self):
        return f"<kron.ir.Value {self.name + ': ' if self.name else ''}{self.mlir_type}>"

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
        return self.function.elementwise("mul", self, -1)

    def __matmul__(self, other):
        if not isinstance(other, Value) or other.ndim != 2:
            return NotImplemented
        return mkm(self, [other])

    def __bool__(self):
        raise TypeError("expects no decision about a traced array, whose elements are not "
                        "known yet")

    def __array__(self, *_, **__):
        raise TypeError("expects kron's functions and arithmetic on a traced array, but NumPy "
                        "asked for its elements")

    def __iter__(self):
        raise TypeError("expects no loop over a traced array")


class Function:
    """A public function of a module."""

    def __init__(self, name, captures=False):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"expects name to be an identifier, but got {name!r}")
        self.name = name
        self.arguments, self.results = [], None
        #: NumPy arrays that stand in the function without being arguments of it; they
        #: become arguments behind the others. None where that is not wanted.
        self.captured = [] if captures else None
        self._nodes, self._dims = [], {}
        #: Whether callers pass row-major arrays alone (kron.compile).
        self.row_major = False

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
        if isinstance(shape, (str, numbers.Number)):
            raise TypeError(f"expects shape to be a tuple of sizes, but got {shape!r}")
        shape = tuple(shape)
        _check_rank(shape, f"argument '{name}'")
        value = Value(self, dtype, (), "%" + name)
        sizes = [self._size(name, axis, size) for axis, size in enumerate(shape)]
        for axis, size in enumerate(sizes):
            if isinstance(size, Dim):
                sizes[axis] = self._dims.setdefault(size.name, size)
                if size is sizes[axis] and size.value is None:
                    size.value, size.source = f"%dim_{size.name}", (value, axis)
        value.shape = tuple(sizes)
        self.arguments.append(value)
        return value

    def _size(self, name, axis, size):
        check_size(size)
        if size is None:
            size = f"{name}_{axis}"
        if isinstance(size, str):
            return self._dims.get(size) or Dim(size, None)
        return int(size)

    def scalar(self, name, dtype):
        """A number argument, for alpha and beta."""
        self._check_name(name)
        element, dtype = element_of(dtype)
        scalar = Scalar(self, "%" + name, element, dtype)
        self.arguments.append(scalar)
        return scalar

    def capture(self, array, name):
        """The value of a NumPy array that is no argument; TypeError where that cannot be."""
        if self.captured is None or not isinstance(array, np.ndarray):
            raise TypeError(f"expects {name} to be a traced array like the others, "
                            f"but got {type(array).__name__}")
        for number, known in enumerate(self.captured):
            if known is array:
                return self.arguments[number - len(self.captured)]
        value = self.argument(f"captured_{len(self.captured)}", array)
        self.captured.append(array)
        return value

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

    def simplified(self):
        """(values in order, results): the operations that are printed."""
        if self.results is None:
            raise ValueError(f"expects function '{self.name}' to return values")
        return _nodes.simplify(self._nodes, self.results,
                               lambda node, like: Value(self, like.dtype, like.shape, node=node))

    def __str__(self):
        values, results = self.simplified()
        count = iter(range(10**9))

        def fresh():
            return f"%{next(count)}"

        arguments, lines = [], []
        for argument in self.arguments:
            kind = argument.mlir_type if isinstance(argument, Value) else argument.element
            arguments.append(f'{argument.name}: {kind} {{kron.name = "{argument.name[1:]}"}}')
        for dim in self._dims.values():
            (source, axis), index = dim.source, fresh()
            lines.append(f"{index} = arith.constant {axis} : index")
            lines.append(f"{dim.value} = tensor.dim {source.name}, {index} : {source.mlir_type}")
        names = {value: value.name for value in self.arguments}
        lines += _nodes.render(values, names, fresh)
        types = ", ".join(value.mlir_type for value in results)
        lines.append(f"return {', '.join(names[value] for value in results)} : {types}")
        body = "\n".join("    " + line for line in lines)
        promise = " attributes {kron.row_major}" if self.row_major else ""
        return (f"  func.func @{self.name}({', '.join(arguments)}) -> ({types}){promise} "
                f"{{\n{body}\n  }}\n")

    # --- operations -----------------------------------------------------------

    def add(self, node, dtype, shape):
        """The value of a new operation (kron._nodes)."""
        _check_rank(shape, "an array")
        value = Value(self, dtype, shape, node=node)
        self._nodes.append(value)
        return value

    def transposed(self, value, axes, shape):
        def text(names, types):
            return (f"linalg.transpose ins({names[0]} : {types[0]}) "
                    f"outs({{init}} : {{type}}) permutation = {list(axes)}")

        return self.add(_nodes.Node([value], text), value.dtype, shape)

    def reshaped(self, value, shape):
        """Axes that are the same from the left stay; the others must be static. One of
        those may be -1."""
        given = shape
        shape = tuple(self._dims.get(size, size) if isinstance(size, str) else size
                      for size in shape)
        kept = 0
        while kept < min(value.ndim, len(shape)) and value.shape[kept] == shape[kept]:
            kept += 1
        old, new = value.shape[kept:], shape[kept:]
        if any(not isinstance(size, int) or size < -1 for size in (*old, *new)) \
                or new.count(-1) > 1:
            raise ValueError(f"expects to reshape static axes only, but got {value.shape} "
                             f"and {given}")
        if -1 in new:
            rest = int(np.prod([size for size in new if size != -1]))
            own = int(np.prod(old))
            new = tuple(own // max(rest, 1) if size == -1 else size for size in new)
            shape = shape[:kept] + new
        if int(np.prod(old)) != int(np.prod(new)):
            raise ValueError(f"expects as many elements as {value.shape} has, but got {given}")
        if old == new:
            return value
        if not old or not new:
            # Axes of size 1 at the end become part of the one before, or come out of it.
            if not kept:
                raise ValueError(f"expects to reshape at least 1 axis into at least 1, but got "
                                 f"{value.shape} and {given}")
            kept -= 1
            old, new = value.shape[kept:], shape[kept:]
        if len(old) > 1:
            value = self._collapsed(value, kept)
        return self._expanded(value, shape, kept) if len(new) > 1 else value

    def _collapsed(self, value, kept):
        groups = [[axis] for axis in range(kept)] + [list(range(kept, value.ndim))]
        # All but one are 1 where that one is open.
        own = [size for size in value.shape[kept:] if size != 1] or [1]
        shape = value.shape[:kept] + (own[0] if len(own) == 1 else int(np.prod(own)),)

        def text(names, types):
            return f"tensor.collapse_shape {names[0]} {groups} : {types[0]} into {{type}}"

        return self.add(_nodes.Node([value], text), value.dtype, shape)

    def _expanded(self, value, shape, kept):
        groups = [[axis] for axis in range(kept)] + [list(range(kept, len(shape)))]
        sizes = ", ".join(size.value if isinstance(size, Dim) else str(size) for size in shape)

        def text(names, types):
            return (f"tensor.expand_shape {names[0]} {groups} output_shape [{sizes}] : "
                    f"{types[0]} into {{type}}")

        return self.add(_nodes.Node([value], text), value.dtype, shape)

    def elementwise(self, name, left, right):
        """left + right and the like, with NumPy's broadcasting."""
        first = left if isinstance(left, Value) else right
        sides = []
        for side in (left, right):
            if isinstance(side, np.ndarray) and side.ndim:
                side = self.capture(side, "the other array")
            elif not isinstance(side, Value):
                side = to_number(side, first.dtype, "the number")
                _build.check_number(side, _build.scalar_type(first.element), "the number")
            elif side.dtype != first.dtype:
                raise TypeError(f"expects arrays of one dtype, but got {first.dtype} and "
                                f"{side.dtype}")
            elif side.function is not self:
                raise ValueError("expects values of one function")
            sides.append(side)
        if name == "div" and first.dtype.kind == "i":
            raise TypeError("expects floating-point or complex arrays for a division")
        shape = _core.broadcast_shapes([side.shape for side in sides if isinstance(side, Value)])
        return self.add(_nodes.Elementwise((name, *sides)), first.dtype, shape)

    def broadcast(self, value, shape, name):
        """`value` with the shape of a result that it broadcasts to."""
        if value.shape == shape:
            return value
        _core.check_broadcast(name, value.shape, shape)
        return self.add(_nodes.Elementwise(value), value.dtype, shape)


def _check_rank(shape, name):
    if len(shape) > _MOST_AXES:
        raise ValueError(f"expects {name} to have at most {_MOST_AXES} axes, but got {len(shape)}")


def check_size(size):
    """Refuses what is no size of an argument."""
    if isinstance(size, str):
        if not size.isidentifier():
            raise ValueError(f"expects the name of a size to be an identifier, but got {size!r}")
    elif size is not None and (not isinstance(size, numbers.Integral) or size < 0):
        raise ValueError(f"expects sizes of at least 0, names or None, but got {size!r}")


# --- kron's operations -------------------------------------------------------------


def _values(bound, keys, list_key):
    """The function of the arrays of a call; makes values of the captured ones."""
    listed = bound[list_key]
    if not isinstance(listed, Value):
        if not isinstance(listed, (list, tuple)):
            raise TypeError(f"expects {list_key} to be a list or tuple of arrays, "
                            f"but got {type(listed).__name__}")
        if not listed:
            raise ValueError(f"expects {list_key} to hold at least 1 array, but got none")
        listed = list(listed)
    entries = [(key, bound[key]) for key in ("x", *keys) if key in bound]
    if isinstance(listed, list):
        entries += [(f"{list_key}[{i}]", value) for i, value in enumerate(listed)]
    else:
        entries.append((list_key, listed))
    functions = {value.function for _, value in entries if isinstance(value, Value)}
    if len(functions) != 1:
        raise ValueError("expects values of one function")
    (function,) = functions
    values = [value if isinstance(value, Value) else function.capture(value, name)
              for name, value in entries]
    for value, (name, _) in zip(values, entries):
        if value.dtype != values[0].dtype:
            raise TypeError(f"expects {name} to have dtype {values[0].dtype}, "
                            f"but got {value.dtype}")
    count = len(entries) - len(listed) if isinstance(listed, list) else len(entries) - 1
    bound.update((entries[i][0], values[i]) for i in range(count))
    bound[list_key] = values[count:] if isinstance(listed, list) else values[count]
    return function


def _scaling(bound, x, function, shape):
    """alpha, beta and z as kron._nodes.Product takes them."""
    result, scalar = {}, _build.scalar_type(x.element)
    for name, default in (("alpha", 1), ("beta", 0)):
        value = bound.get(name, default)
        if isinstance(value, Scalar):
            if value.element != scalar:
                raise TypeError(f"expects {name} to have type {scalar}, but got {value.element}")
        else:
            value = to_number(value, x.dtype, name)
            _build.check_number(value, scalar, name)
        result[name] = value
    z = function.broadcast(bound["z"], shape, "z") if "z" in bound else None
    beta = result["beta"]
    check_addend(z is not None, beta.name if isinstance(beta, Scalar) else beta)
    if isinstance(beta, Scalar) or beta != 0:
        result["z"] = z
    return result


def _attributes(bound):
    precision = bound.get("precision", "full")
    check_choice(precision, PRECISIONS, "precision")
    return [] if precision == "full" else [f"precision = #kron.precision<{precision}>"]


def _reject(bound, *names):
    for name in names:
        if name in bound:
            raise TypeError(f"expects no {name} in a traced function, but got it")


def _braces(attributes):
    return f" {{{', '.join(attributes)}}}" if attributes else ""


def _product(op, args, kwargs):
    bound = bind(op, args, kwargs)
    _reject(bound, "out", "stream")
    function = _values(bound, ("z",), "factors")
    x, factors = bound["x"], bound["factors"]
    trans_x = letter_of(bound.get("trans_x", False), "trans_x")
    trans = letters_of(bound.get("trans_factors", False), len(factors), "trans_factors")
    sizes, shape = infer_product(op, x.shape, [factor.shape for factor in factors], trans_x, trans)
    braces = _braces(_attributes(bound))

    def text(names, types, scaling):
        of_factors = [name if t == "N" else f"{t}({name})" for name, t in zip(names[1:], trans)]
        of_x = names[0] if trans_x == "N" else f"{trans_x}({names[0]})"
        return (f"kron.{op} ins({of_x} : {types[0]}) factors({', '.join(of_factors)} : "
                f"{', '.join(types[1:1 + len(trans)])}) outs({{init}} : {{type}}){scaling}"
                f"{braces} -> {{type}}")

    node = _nodes.Product([x, *factors], text, **_scaling(bound, x, function, shape),
                          multiply_adds=_build.multiply_adds(sizes))
    return function.add(node, x.dtype, shape)


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
    x = bound["x"]
    activation = unpack_epilogue(bound)
    dtype = getattr(x, "dtype", np.dtype(float))
    check_activation(activation, kind_of(dtype), dtype)
    function = _values(bound, ("z", "bias", "residual"), "weights")
    x, weights = bound["x"], bound["weights"]
    trans = letter_of(bound.get("trans_weights", False), "trans_weights")
    layout = bound.get("layout", "batch_first")
    if "pattern" in bound:
        check_pattern(bound["pattern"], weights.shape, "weights")
    shape = infer_sparse(x.shape, [weights.shape], [trans], layout,
                         bias=bound["bias"].shape if "bias" in bound else None)
    if x.ndim != 2:
        raise ValueError(f"expects x to have 2 dimensions in a traced function, "
                         f"but got shape {x.shape}")
    extra = []
    if "bias" in bound:
        extra.append(("bias", bound["bias"]))
    if "residual" in bound:
        extra.append(("residual", function.broadcast(bound["residual"], shape, "residual")))
    braces = _braces(_ksmm_attributes(bound, x, layout, activation))

    def text(names, types, scaling):
        of_weights = names[1] if trans == "N" else f"{trans}({names[1]})"
        clauses = "".join(f" {key}({names[i]} : {types[i]})"
                          for i, (key, _) in enumerate(extra, 2))
        return (f"kron.ksmm ins({names[0]} : {types[0]}) weights({of_weights} : {types[1]}) "
                f"outs({{init}} : {{type}}){scaling}{clauses}{braces} -> {{type}}")

    is_linear = activation == "identity" and not extra and "scale" not in bound
    node = _nodes.Product([x, weights, *(value for _, value in extra)], text,
                          **_scaling(bound, x, function, shape), is_linear=is_linear,
                          multiply_adds=weights.shape[_core.weight_axes(trans)[0]])
    return function.add(node, x.dtype, shape)


def _ksmm_attributes(bound, x, layout, activation):
    attributes = _attributes(bound)
    if layout == "batch_last":
        attributes.append("layout = #kron.layout<batch_last>")
    if activation != "identity":
        attributes.append(f"activation = #kron.activation<{activation}>")
    if "scale" in bound:
        scale = to_number(bound["scale"], x.dtype, "scale")
        if isinstance(scale, complex) and scale.imag:
            raise TypeError(f"expects scale to be real, but got {scale}")
        number = _build.attribute(scale, _build.scalar_type(x.element), "scale")
        attributes.append(f"scale = {number}")
    return attributes


def ksmm_chain(*args, **kwargs):
    """kron.ksmm_chain on values."""
    bound = bind("ksmm_chain", args, kwargs)
    x, weights = bound.pop("x"), bound.pop("weights")
    if not isinstance(weights, (list, tuple)):
        raise TypeError(f"expects weights to be a list or tuple of arrays, "
                        f"but got {type(weights).__name__}")
    if not weights:
        raise ValueError("expects weights to hold at least 1 array, but got none")
    patterns = patterns_of(bound.pop("pattern", None), len(weights))
    trans = letters_of(bound.pop("trans_weights", False), len(weights), "trans_weights")
    common = {key: bound.pop(key) for key in ("layout", "precision") if key in bound}
    if all(hasattr(array, "shape") for array in (x, *weights)):
        # Before the calls of ksmm, which do not know of each other.
        infer_sparse(x.shape, [factor.shape for factor in weights], trans,
                     common.get("layout", "batch_first"), is_chain=True)
    for i, (factor, pattern, t) in enumerate(zip(weights, patterns, trans)):
        last = bound if i == len(weights) - 1 else {}
        try:
            x = ksmm(x, factor, pattern, trans_weights=t, **common, **last)
        except (TypeError, ValueError) as error:
            text = str(error).replace("weights", f"weights[{i}]")
            raise type(error)(text.replace("trans_" + f"weights[{i}]", "trans_weights")) from None
    return x


# --- modules -----------------------------------------------------------------------


class Module:
    """Functions, or the text of a module."""

    def __init__(self, text=None):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"expects text to be a string, but got {type(text).__name__}")
        self.functions = []
        self._text = text

    def function(self, name, captures=False):
        """A new function. With `captures`, NumPy arrays among its values are arguments
        too (Function.captured)."""
        if self._text is not None:
            raise ValueError("expects a module that was not made from text")
        if any(function.name == name for function in self.functions):
            raise ValueError(f"expects names of functions to differ, but got '{name}' twice")
        self.functions.append(Function(name, captures))
        return self.functions[-1]

    def __str__(self):
        if self._text is not None:
            return self._text
        return "module {\n" + "".join(map(str, self.functions)) + "}\n"

    @property
    def mlir(self):
        """The module as MLIR prints it, verified."""
        with _compile.translated() as compiler:
            return compiler.Compilation(str(self)).text

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
