"""Compiled programs of kron.pairwise and its relatives, on arrays of any library.

A program serves all sizes of one function, element type and pattern of the batch: which axes of
which array are 1 and stretch. On a GPU it has those sizes that its kernel is made for.

SPDX-License-Identifier: MIT
"""

import dataclasses
import functools
import math

import numpy as np

from kron import _compile, _jit
from kron._fallback import TYPES

#: Of sums and hyper-parameters, by the type of elements.
ACCUMULATORS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}

#: Rows of small matrices at most: half as many as tiles of a GPU have that are for any number.
_SMALL = 64


@dataclasses.dataclass(frozen=True)
class _Operand:
    """An array of a program: `batch` has 1 for an axis that stretches and ? for others; `core` are
    the sizes behind it, ? where the program serves all, or None of a number, which is no array."""

    name: str
    batch: str
    core: tuple | None = ()

    def type(self, element):
        if self.core is None:
            return element
        return f"tensor<{''.join(f'{size}x' for size in (*self.batch, *self.core))}{element}>"


#: Element types by dtypes that were met, of NumPy and of PyTorch: dictionaries, as torch.compile warns of functools'
#: caches. It cannot trace one with a dtype of NumPy among its keys.
_numpy_elements, _torch_elements = {}, {}


def element_of(array):
    """The element type of an array or tensor, None if kron has none."""
    dtype = array.dtype
    elements = _numpy_elements if isinstance(dtype, np.dtype) else _torch_elements
    if dtype not in elements:
        # NumPy's name says nothing of the order of bytes.
        elements[dtype] = TYPES.get(getattr(dtype, "name", None) or str(dtype).rpartition(".")[2])
    return elements[dtype]


def _pattern(shape, core):
    """The batch of an array with these sizes behind it; a number has no shape."""
    if shape is None:
        return "", None
    return "".join("1" if size == 1 else "?" for size in shape[:len(shape) - len(core)]), core


def _joined(patterns):
    """The batch of a result of arrays with these patterns."""
    batches = [batch for batch, _ in patterns]
    rank = max(map(len, batches))
    aligned = [batch.rjust(rank, "1") for batch in batches]
    return "".join("?" if "?" in sizes else "1" for sizes in zip(*aligned))


class _Text:
    """A program while it is written."""

    def __init__(self, function, element):
        self.element, self.accumulator = element, ACCUMULATORS[element]
        self.keyword, self.regions = function.typed(self.accumulator)
        self.operands, self.lines, self._indices = [], [], {}

    def type(self, operand):
        return operand.type(self.element if operand.core else self.accumulator)

    def operand(self, name, batch, core):
        self.operands.append(_Operand(name, batch, core))
        return self.operands[-1]

    def clause(self, name, operands):
        if not operands:
            return ""
        names = ", ".join(f"%{operand.name}" for operand in operands)
        return f"{name}({names} : {', '.join(map(self.type, operands))})"

    def size(self, operand, axis):
        """The name of an open size; `axis` counts from the right, beginning with 1."""
        axis = len(operand.batch) + len(operand.core) - axis
        name = f"%{operand.name}_{axis}"
        if name not in self._indices:
            self._indices[name] = True
            self.lines += [f"{name}_axis = arith.constant {axis} : index",
                           f"{name} = tensor.dim %{operand.name}, {name}_axis : {self.type(operand)}"]
        return name

    def init(self, batch, *axes):
        """The type of memory for a result; `axes` are those behind the batch, as (operand, axis)."""
        lengths = []
        for axis, size in enumerate(batch):
            if size == "?":
                left = len(batch) - axis
                lengths.append(next(self.size(operand, left + len(operand.core)) for operand in self.operands
                                    if left <= len(operand.batch) and operand.batch[-left] == "?"))
        core = tuple(operand.core[-axis] for operand, axis in axes)
        lengths += [self.size(*place) for place, size in zip(axes, core) if size == "?"]
        result = self.type(_Operand("init", batch, core))
        self.lines.append(f"%init = tensor.empty({', '.join(lengths)}) : {result}")
        return result

    def module(self, operation, clauses, result):
        arguments = ", ".join(f"%{operand.name}: {self.type(operand)}" for operand in self.operands)
        lines = "\n".join("  " + line for line in self.lines)
        return (f"func.func @main({arguments}) -> {result} {{\n{lines}\n"
                f"  %result = {operation} {self.keyword} {' '.join(filter(None, clauses))} "
                f"outs(%init : {result}) {self.regions} -> {result}\n"
                f"  return %result : {result}\n}}\n")


def _declare(text, shapes, prefix="", is_same=False):
    """Operands for x, y, which is x again if it `is_same`, and hyper-parameters of these batches, by
    names that no region has."""
    x, y, *parameters = shapes
    left = text.operand(prefix + "a", *x)
    right = left if is_same else text.operand(prefix + "b", *y)
    return [left, right, *(text.operand(f"{prefix}q{index}", *shape)
                           for index, shape in enumerate(parameters))]


def _start(function, element, arrays, directions, is_same=False):
    """(text, operands, clauses of operands, of hyper-parameters and of directions)"""
    text = _Text(function, element)
    operands = _declare(text, arrays, is_same=is_same)
    along = _declare(text, directions, "d") if directions else []
    return (text, operands, text.clause("ins", operands[:2]), text.clause("params", operands[2:]),
            text.clause("along", along))


def _pairwise_text(function, element, arrays, directions, is_same):
    text, (x, y, *_), ins, params, along = _start(function, element, arrays, directions, is_same)
    result = text.init(_joined(arrays + directions), (x, 2), (y, 2))
    return text.module("kron.pairwise_tangent" if directions else "kron.pairwise", [ins, params, along], result)


def _apply_text(function, element, arrays, directions, values):
    text, (x, *_), ins, params, along = _start(function, element, arrays, directions)
    v = text.operand("v", *values)
    result = text.init(_joined([*arrays, *directions, values]), (x, 2), (v, 1))
    return text.module("kron.pairwise_apply", [ins, text.clause("values", [v]), params, along], result)


def _grad_text(function, element, arrays, directions, by, weights, factors, outputs):
    text, operands, ins, params, along = _start(function, element, arrays, directions)
    weighted = [text.operand("h", *shape) for shape in weights]
    left_right = [text.operand(name, *shape) for name, shape in zip("uv", factors)]
    target = operands[by]
    batch = _joined([*arrays, *weights, *factors]) if outputs else target.batch
    result = text.init(batch, *[(target, axis) for axis in (2, 1) if target.core])
    place = ("lhs", "rhs")[by] if by < 2 else f"param, {by - 2}"
    operation = f"kron.pairwise_grad by({place})"
    return text.module(operation, [ins, text.clause("grad", weighted), text.clause("factors", left_right),
                                   params, along], result)


@functools.lru_cache(maxsize=1024)
def _compiled(write, device, *key):
    return _jit.Function(_compile.compile(write(*key), device=device))


def _core(shape, most=None):
    """Sizes of a matrix that a program has, and ? for those that it serves all of: without `most` both;
    else its rows have their length, if there is any, and their number is open if it is larger than that."""
    rows, length = shape[-2:]
    if most is None:
        return "?", "?"
    return rows if 0 < rows <= most else "?", length or "?"


def _patterns(shapes, most=None):
    """Those of x, y and hyper-parameters, or of their directions."""
    return tuple(_pattern(shape, _core(shape, most) if index < 2 else ()) for index, shape in enumerate(shapes))


def _matrices(shapes, most=None):
    return tuple(_pattern(shape, _core(shape, most)) for shape in shapes)


def _sizes_for(device, directions, most=0):
    """What _core takes for an operation that has a kernel of its own on a GPU."""
    return most if not directions and device >= 0 else None


# ----------------------------------------------------------------------------------
# Programs by shapes
# ----------------------------------------------------------------------------------

# Calls with shapes that were met find their program without a look at any of these.
_by_shapes = functools.lru_cache(maxsize=4096)


@_by_shapes
def _pairwise_program(function, device, element, arrays, directions, is_same):
    # Tiles are as large as many small matrices, and only for these is it worth a program.
    is_small = min(shape[-2] for shape in arrays[:2]) <= _SMALL
    has_batch = max(math.prod(shape[:-2]) for shape in arrays[:2]) > 1
    most = _sizes_for(device, directions, _SMALL) if is_small and has_batch else None
    return _compiled(_pairwise_text, device, function, element, _patterns(arrays, most), _patterns(directions),
                     is_same)


@_by_shapes
def _apply_program(function, device, element, arrays, directions, values):
    most = _sizes_for(device, directions)
    return _compiled(_apply_text, device, function, element, _patterns(arrays, most), _patterns(directions),
                     *_matrices([values], most))


@_by_shapes
def _grad_program(function, device, element, arrays, directions, by, weights, factors, outputs):
    most = _sizes_for(device, directions) if by < 2 else None
    return _compiled(_grad_text, device, function, element, _patterns(arrays, most), _patterns(directions), by,
                     _matrices(weights), _matrices(factors, 0 if outputs else most), outputs)


def _on_device(array, device, takes_numbers):
    """A hyper-parameter as a program on a GPU takes it: one of the host is a number."""
    if array.is_cuda:
        return array
    return array.item() if takes_numbers and array.dim() == 0 else array.to(device)


def _shapes(arrays):
    return tuple([None if type(array) is float else array.shape for array in arrays])


class _Call:
    """Operands of a call, and what its program follows from beside their shapes."""

    def __init__(self, function, arrays, directions):
        x = arrays[0]
        device = _jit._device_of(x)
        if getattr(x, "is_cuda", False):
            arrays, directions = ([*group[:2], *(_on_device(array, x.device, not directions) for array in group[2:])]
                                  for group in (arrays, directions))
        self.arrays, self.directions = arrays, directions
        self.key = function, device, element_of(x), _shapes(arrays), _shapes(directions)


def _layout(array):
    """Where the elements of an array or tensor are; None for other arrays."""
    if hasattr(array, "data_ptr"):
        return array.device, array.data_ptr(), array.shape, array.stride(), array.is_neg()
    if isinstance(array, np.ndarray):
        return array.ctypes.data, array.shape, array.strides
    return None


def _is_same(x, y):
    """Whether two arrays of one type have the same elements in memory: one half of a matrix of such
    rows with themselves is the other one."""
    return x is y or (type(x) is type(y) and _layout(x) is not None and _layout(x) == _layout(y))


def pairwise(function, arrays, directions=(), out=None):
    """F of `arrays`, which are x, y and hyper-parameters, as a matrix, in `out` if that is given;
    along `directions`, if there are any, its derivative."""
    call = _Call(function, arrays, directions)
    x, y, *parameters = call.arrays
    is_same = not directions and _is_same(x, y)
    given = [x] if is_same else [x, y]
    return _pairwise_program(*call.key, is_same)(*given, *parameters, *call.directions, out=out)


def apply(function, arrays, values, directions=()):
    """F times `values`, or its derivative along `directions` times these."""
    call = _Call(function, arrays, directions)
    return _apply_program(*call.key, values.shape)(*call.arrays, *call.directions, values)


def gradient(function, arrays, by, weights=None, factors=(), directions=(), outputs=False):
    """The derivative of the sum of F, or of its derivative along `directions`, times `weights` and
    times the product of the two `factors`, by array number `by`: one for each position of the batch of
    all arrays with `outputs`, whose factors have one column."""
    weights = () if weights is None else (weights,)
    call = _Call(function, arrays, directions)
    program = _grad_program(*call.key, by, _shapes(weights), _shapes(factors), outputs)
    return program(*call.arrays, *call.directions, *weights, *factors)
