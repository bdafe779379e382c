"""Functions of two rows, traced into the regions of kron.pairwise.

A function of rows x and y and of hyper-parameters is called once with values that stand for
them. Arithmetic, NumPy's functions and PyTorch's on these values build a graph; what is below
its one sum or maximum along the rows becomes the function of elements, what is above the
epilogue.

SPDX-License-Identifier: MIT
"""

import dataclasses
import functools
import inspect
import math
import numbers
import re

import numpy as np

#: NumPy's and PyTorch's functions of one value, and the operations that they are.
_UNARY = {
    "abs": "math.absf", "absolute": "math.absf", "arctan": "math.atan", "atan": "math.atan",
    "cbrt": "math.cbrt", "ceil": "math.ceil", "cos": "math.cos", "cosh": "math.cosh", "erf": "math.erf",
    "exp": "math.exp", "exp2": "math.exp2", "expm1": "math.expm1", "fabs": "math.absf",
    "floor": "math.floor", "log": "math.log", "log10": "math.log10", "log1p": "math.log1p",
    "log2": "math.log2", "neg": "arith.negf", "negative": "arith.negf", "rint": "math.roundeven",
    "rsqrt": "math.rsqrt", "sin": "math.sin", "sinh": "math.sinh", "special_erf": "math.erf",
    "sqrt": "math.sqrt", "tan": "math.tan", "tanh": "math.tanh", "trunc": "math.trunc",
}
_BINARY = {
    "add": "arith.addf", "div": "arith.divf", "divide": "arith.divf", "fmax": "arith.maxnumf",
    "fmin": "arith.minnumf", "maximum": "arith.maximumf", "minimum": "arith.minimumf",
    "mul": "arith.mulf", "multiply": "arith.mulf", "sub": "arith.subf", "subtract": "arith.subf",
    "true_divide": "arith.divf",
}
_COMPARISONS = {
    "eq": "oeq", "equal": "oeq", "ge": "oge", "greater": "ogt", "greater_equal": "oge", "gt": "ogt",
    "le": "ole", "less": "olt", "less_equal": "ole", "lt": "olt", "ne": "une", "not_equal": "une",
}
_REDUCTIONS = {"amax": "max", "max": "max", "sum": "sum"}
#: Exponents up to which powers are products.
_LARGEST_PRODUCT = 16

#: Where a value can be computed: of an element of each row, of what these are reduced to, or of
#: hyper-parameters alone.
ELEMENT, REDUCED, CONSTANT = "element", "reduced", "constant"


class Traced:
    """A value in a function that is traced."""

    def __init__(self, operation, operands=(), stage=CONSTANT, detail=None):
        self.operation, self.operands, self.stage, self.detail = operation, operands, stage, detail

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        if method != "__call__" or options:
            raise TypeError(f"expects plain calls of NumPy's functions in a function of rows, but "
                            f"got numpy.{ufunc.__name__} ({method}) with {sorted(options)}")
        return _call(ufunc.__name__, operands, f"numpy.{ufunc.__name__}")

    def __array_function__(self, function, types, operands, options):
        return _call(function.__name__, _by_position(operands, options),
                     f"numpy.{function.__name__}")

    @classmethod
    def __torch_function__(cls, function, types, operands=(), options=None):
        return _call(function.__name__, _by_position(operands, options),
                     f"torch.{function.__name__}")

    def __add__(self, other):
        return _call("add", (self, other))

    def __radd__(self, other):
        return _call("add", (other, self))

    def __sub__(self, other):
        return _call("sub", (self, other))

    def __rsub__(self, other):
        return _call("sub", (other, self))

    def __mul__(self, other):
        return _call("mul", (self, other))

    def __rmul__(self, other):
        return _call("mul", (other, self))

    def __truediv__(self, other):
        return _call("div", (self, other))

    def __rtruediv__(self, other):
        return _call("div", (other, self))

    def __pow__(self, other):
        return _call("pow", (self, other))

    def __rpow__(self, other):
        return _call("pow", (other, self))

    def __matmul__(self, other):
        return _call("dot", (self, other))

    def __neg__(self):
        return _call("neg", (self,))

    def __pos__(self):
        return self

    def __abs__(self):
        return _call("abs", (self,))

    def __eq__(self, other):
        return _call("eq", (self, other))

    def __ne__(self, other):
        return _call("ne", (self, other))

    __hash__ = object.__hash__

    def __lt__(self, other):
        return _call("lt", (self, other))

    def __le__(self, other):
        return _call("le", (self, other))

    def __gt__(self, other):
        return _call("gt", (self, other))

    def __ge__(self, other):
        return _call("ge", (self, other))

    def sum(self):
        return _call("sum", (self,))

    def max(self):
        return _call("max", (self,))

    def __bool__(self):
        raise TypeError("expects no decision about a traced value, which is not known yet; "
                        "numpy.where chooses between two values")

    def __float__(self):
        raise TypeError("expects NumPy's or PyTorch's functions of a traced value, but a number "
                        "was asked for")

    def __getitem__(self, key):
        raise TypeError("expects a function of whole rows, but got one that takes elements of a row")

    def __iter__(self):
        raise TypeError("expects no loop over a row; sums and maxima reduce along it")


def _by_position(operands, options):
    """Arguments of a call; those of axes that a row has are left out."""
    options = dict(options or {})
    for name in ("axis", "dim"):
        if options.get(name) in (-1, 0, None):
            options.pop(name, None)
    if options:
        raise TypeError(f"expects no arguments {', '.join(map(repr, sorted(options)))} in a function of rows")
    return operands


def _value_of(operand):
    if isinstance(operand, Traced):
        return operand
    if isinstance(operand, numbers.Real) and not isinstance(operand, bool):
        number = float(operand)
    elif getattr(operand, "requires_grad", False):
        raise TypeError("expects tensors that need gradients to be hyper-parameters of a function of rows")
    elif getattr(operand, "ndim", None) == 0 and hasattr(operand, "item"):
        number = float(operand.item())
    else:
        raise TypeError(f"expects numbers, rows and hyper-parameters in a function of rows, but got "
                        f"{type(operand).__name__}")
    if not math.isfinite(number):
        raise ValueError(f"expects finite numbers in a function of rows, but got {number}")
    return Traced("number", detail=number)


def _call(name, operands, shown=None):
    """The value of a call of a function of NumPy's or PyTorch's."""
    operands = tuple(map(_value_of, operands))
    count = len(operands)
    if name in _UNARY and count == 1:
        return _node(_UNARY[name], operands)
    if name in _BINARY and count == 2:
        return _node(_BINARY[name], operands)
    if name in _COMPARISONS and count == 2:
        return _node("arith.cmpf", operands, _COMPARISONS[name])
    if name in _REDUCTIONS and count == 1:
        return _reduced(_REDUCTIONS[name], operands[0])
    if name in ("dot", "matmul", "inner", "vdot") and count == 2:
        return _reduced("sum", operands[0] * operands[1])
    if name == "square" and count == 1:
        return operands[0] * operands[0]
    if name == "reciprocal" and count == 1:
        return 1 / operands[0]
    if name == "positive" and count == 1:
        return operands[0]
    if name in ("pow", "power", "float_power") and count == 2:
        return _power(*operands)
    if name == "where" and count == 3:
        if operands[0].operation != "arith.cmpf":
            raise TypeError("expects the condition of numpy.where to be a comparison")
        return _node("arith.select", operands)
    known = sorted({*_UNARY, *_BINARY, *_REDUCTIONS, "pow", "square", "where"})
    raise TypeError(f"expects operations out of {', '.join(known)} in a function of rows, but got "
                    f"{shown or name} of {count} value(s)")


def _node(operation, operands, detail=None):
    stages = {operand.stage for operand in operands} - {CONSTANT}
    if len(stages) > 1:
        raise ValueError("expects what is reduced along the rows not to meet their elements again")
    for place, operand in enumerate(operands):
        if operand.operation == "arith.cmpf" and (operation, place) != ("arith.select", 0):
            raise TypeError("expects comparisons in conditions of numpy.where only")
    return Traced(operation, operands, *stages or {CONSTANT}, detail)


def _reduced(reduction, operand):
    if operand.stage != ELEMENT:
        raise ValueError(f"expects {reduction} of what is computed of elements of x and y")
    if operand.operation == "arith.cmpf":
        raise TypeError("expects comparisons in conditions of numpy.where only")
    return Traced("reduce", (operand,), REDUCED, reduction)


def _power(base, exponent):
    number = exponent.detail if exponent.operation == "number" else None
    if number == 0.5:
        return _node("math.sqrt", (base,))
    is_product = number is not None and number.is_integer() and 1 <= abs(number) <= _LARGEST_PRODUCT
    # Higher powers of distances have a keyword, whose powers are products where that is cheaper.
    if not is_product or number > 2 and _is_distance(base):
        return _node("math.powf", (base, exponent))
    result, square, left = None, base, int(abs(number))
    while left:
        if left & 1:
            result = square if result is None else result * square
        left >>= 1
        square = square * square if left else square
    return result if number > 0 else 1 / result


@dataclasses.dataclass(frozen=True)
class PairFunction:
    """What an operation on pairs computes, with T for the accumulation type: a keyword or no more
    than a reduction, and its regions."""

    keyword: str
    inner: str
    epilogue: str

    def __str__(self):
        """One line for each part: what operations of PyTorch take."""
        return "\n".join(dataclasses.astuple(self))

    @classmethod
    def parse(cls, text):
        return cls(*text.split("\n"))

    def swapped(self):
        """The function of y and x: the region takes them the other way around."""
        inner = re.sub(r"^\^bb0\((%\w+: T), (%\w+: T)", r"^bb0(\2, \1", self.inner)
        return PairFunction(self.keyword, inner, self.epilogue)

    def typed(self, accumulator):
        """(keyword, regions) in the accumulation type."""
        regions = " ".join(f"{name} {{ {text} }}" for name, text in
                           (("inner", self.inner), ("epilogue", self.epilogue)) if text)
        return self.keyword, re.sub(r"\bT\b", accumulator, regions)


def _is_difference(value):
    """Of x and y, whichever comes first."""
    return value.operation == "arith.subf" and {operand.operation for operand in value.operands} == {"x", "y"}


def _is_distance(value):
    return value.operation == "math.absf" and _is_difference(value.operands[0])


def _keyword(value):
    """The keyword of a function of elements; None for one that is a region."""
    left, right = (value.operands + (None, None))[:2]
    if value.operation == "arith.mulf":
        if left is right and (_is_difference(left) or _is_distance(left)):
            return "square_diff"
        if {left.operation, right.operation} == {"x", "y"}:
            return "dot"
    if _is_distance(value):
        return "abs_diff"
    if value.operation == "math.sqrt" and _is_distance(left):
        return "pow_diff(0.5)"
    if value.operation == "math.powf" and _is_distance(left) and right.operation == "number" and right.detail > 0:
        return f"pow_diff({right.detail:.17e})"
    return None


def _region(arguments, result, names):
    """The text of a region that yields `result`; `names` are of values that it is given."""
    lines, known = [], {}

    def name_of(value):
        if value.operation in names:
            return names[value.operation]
        if id(value) not in known:
            operands = [name_of(operand) for operand in value.operands]
            known[id(value)] = name = f"%v{len(known)}"
            lines.append(f"{name} = {_text(value, operands)}")
        return known[id(value)]

    result = name_of(result)
    return " ".join([f"^bb0({', '.join(f'{name}: T' for name in arguments)}):", *lines,
                     f"kron.pairwise_yield {result} : T"])


def _text(value, operands):
    if value.operation == "number":
        return f"arith.constant {value.detail:.17e} : T"
    if value.operation == "arith.cmpf":
        return f"arith.cmpf {value.detail}, {', '.join(operands)} : T"
    return f"{value.operation} {', '.join(operands)} : T"


def _find_reductions(value, seen):
    """The reductions that `value` is computed of, but for those below values `seen`."""
    if id(value) in seen:
        return []
    seen.add(id(value))
    own = [value] if value.operation == "reduce" else []
    return own + [found for operand in value.operands for found in _find_reductions(operand, seen)]


def parameters_of(function):
    """Names of the hyper-parameters of a function of rows, and those of its defaults."""
    parameters = list(inspect.signature(function).parameters.values())
    kinds = {parameter.kind for parameter in parameters}
    if len(parameters) < 2 or kinds - {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY,
                                       inspect.Parameter.KEYWORD_ONLY}:
        raise TypeError("expects a function of two rows and of hyper-parameters with names, but got one of "
                        f"({', '.join(map(str, parameters))})")
    names = tuple(parameter.name for parameter in parameters[2:])
    defaults = {parameter.name: parameter.default for parameter in parameters[2:]
                if parameter.default is not inspect.Parameter.empty}
    return names, defaults


def trace(function):
    """The PairFunction of a Python function of rows x, y and hyper-parameters."""
    names, _ = parameters_of(function)
    arguments = [f"%p{index}" for index in range(len(names))]
    x, y = Traced("x", stage=ELEMENT), Traced("y", stage=ELEMENT)
    parameters = {name: Traced(argument) for name, argument in zip(names, arguments)}
    result = _value_of(function(x, y, **parameters))
    if result.operation == "arith.cmpf":
        raise TypeError("expects a function of rows to give a number, but got a comparison")
    reductions = _find_reductions(result, set())
    if result.stage != REDUCED or len(reductions) != 1:
        raise ValueError(f"expects a function of rows to reduce along them once, by numpy.sum or numpy.max, "
                         f"but got {len(reductions)} reductions")
    reduction = reductions[0]
    element = reduction.operands[0]
    given = dict(zip(arguments, arguments))
    keyword = _keyword(element)
    inner = "" if keyword else _region(["%x", "%y", *arguments], element, {"x": "%x", "y": "%y", **given})
    suffix = " reduce(max)" if reduction.detail == "max" else ""
    epilogue = ""
    if result is not reduction:
        epilogue = _region(["%s", *arguments], result, {"reduce": "%s", **given})
    return PairFunction((keyword or "") + suffix, inner, epilogue)


def text_of(function):
    """The text of the traced function."""
    return str(trace(function))


@functools.lru_cache(maxsize=256)
def swapped_text(text):
    """The text of the function of y and x."""
    return str(PairFunction.parse(text).swapped())
