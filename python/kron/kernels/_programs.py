"""Compiled programs of kron.pairwise and its relatives, on arrays of any library.

A program serves all sizes of one function, element type and pattern of the batch: which axes of
which array are 1 and stretch.

SPDX-License-Identifier: MIT
"""

import dataclasses
import functools

from kron import _compile, _jit
from kron._fallback import TYPES

#: Of sums and hyper-parameters, by the type of elements.
ACCUMULATORS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}


@dataclasses.dataclass(frozen=True)
class _Operand:
    """An array of a program: `batch` has 1 for an axis that stretches and ? for others; `core` are
    the sizes behind it, the last of which is 1 for a `column`."""

    name: str
    batch: str
    core: int
    column: bool = False

    def type(self, element):
        sizes = self.batch + ("?" * (self.core - 1) + "1" if self.column else "?" * self.core)
        return f"tensor<{''.join(size + 'x' for size in sizes)}{element}>"


@functools.lru_cache(maxsize=64)
def _element(dtype):
    # NumPy's name says nothing of the order of bytes.
    return TYPES.get(getattr(dtype, "name", None) or str(dtype).rpartition(".")[2])


def element_of(array):
    """The element type of an array or tensor."""
    return _element(array.dtype)


def _pattern(shape, core):
    return "".join("1" if size == 1 else "?" for size in shape[:len(shape) - core])


def _joined(patterns):
    """The batch of a result of arrays whose batches are `patterns`."""
    rank = max(map(len, patterns))
    aligned = [pattern.rjust(rank, "1") for pattern in patterns]
    return "".join("?" if "?" in sizes else "1" for sizes in zip(*aligned))


class _Text:
    """A program while it is written."""

    def __init__(self, function, element):
        self.element, self.accumulator = element, ACCUMULATORS[element]
        self.keyword, self.regions = function.typed(self.accumulator)
        self.operands, self.lines, self._indices = [], [], {}

    def type(self, operand):
        return operand.type(self.element if operand.core else self.accumulator)

    def operand(self, name, batch, core, column=False):
        self.operands.append(_Operand(name, batch, core, column))
        return self.operands[-1]

    def clause(self, name, operands):
        if not operands:
            return ""
        names = ", ".join(f"%{operand.name}" for operand in operands)
        return f"{name}({names} : {', '.join(map(self.type, operands))})"

    def size(self, operand, axis):
        """The name of a size; `axis` counts from the right, beginning with 1."""
        axis = len(operand.batch) + operand.core - axis
        name = f"%{operand.name}_{axis}"
        if name not in self._indices:
            self._indices[name] = True
            self.lines += [f"{name}_axis = arith.constant {axis} : index",
                           f"{name} = tensor.dim %{operand.name}, {name}_axis : {self.type(operand)}"]
        return name

    def init(self, batch, core, sizes):
        """(type, name) of memory for a result; `sizes` are those behind the batch."""
        result = _Operand("init", batch, core)
        lengths = []
        for axis, size in enumerate(batch):
            if size == "?":
                left = len(batch) - axis
                lengths.append(next(self.size(operand, left + operand.core) for operand in self.operands
                                    if left <= len(operand.batch) and operand.batch[-left] == "?"))
        lengths += sizes
        self.lines.append(f"%init = tensor.empty({', '.join(lengths)}) : {self.type(result)}")
        return self.type(result)

    def module(self, operation, clauses, result):
        arguments = ", ".join(f"%{operand.name}: {self.type(operand)}" for operand in self.operands)
        lines = "\n".join("  " + line for line in self.lines)
        return (f"func.func @main({arguments}) -> {result} {{\n{lines}\n"
                f"  %result = {operation} {self.keyword} {' '.join(filter(None, clauses))} "
                f"outs(%init : {result}) {self.regions} -> {result}\n"
                f"  return %result : {result}\n}}\n")


def _declare(text, shapes, prefix=""):
    """Operands for x, y and hyper-parameters of these batches, by names that no region has."""
    names = ["a", "b", *(f"q{index}" for index in range(len(shapes) - 2))]
    return [text.operand(prefix + name, batch, 2 if index < 2 else 0)
            for index, (name, batch) in enumerate(zip(names, shapes))]


def _start(function, element, arrays, directions):
    """(text, operands, clauses of operands, of hyper-parameters and of directions)"""
    text = _Text(function, element)
    operands = _declare(text, arrays)
    along = _declare(text, directions, "d") if directions else []
    return (text, operands, text.clause("ins", operands[:2]), text.clause("params", operands[2:]),
            text.clause("along", along))


def _pairwise_text(function, element, arrays, directions):
    text, (x, y, *_), ins, params, along = _start(function, element, arrays, directions)
    result = text.init(_joined(arrays + directions), 2, [text.size(x, 2), text.size(y, 2)])
    return text.module("kron.pairwise_tangent" if directions else "kron.pairwise", [ins, params, along], result)


def _apply_text(function, element, arrays, directions, values):
    text, (x, *_), ins, params, along = _start(function, element, arrays, directions)
    v = text.operand("v", values, 2)
    result = text.init(_joined([*arrays, *directions, values]), 2, [text.size(x, 2), text.size(v, 1)])
    return text.module("kron.pairwise_apply", [ins, text.clause("values", [v]), params, along], result)


def _grad_text(function, element, arrays, directions, by, weights, factors, outputs):
    text, operands, ins, params, along = _start(function, element, arrays, directions)
    weighted = [text.operand("h", batch, 2) for batch in weights]
    left_right = [text.operand(name, batch, 2, column=outputs) for name, batch in zip("uv", factors)]
    target = operands[by]
    batch = _joined([*arrays, *weights, *factors]) if outputs else target.batch
    result = text.init(batch, target.core,
                       [text.size(target, 2), text.size(target, 1)] if target.core else [])
    place = ("lhs", "rhs")[by] if by < 2 else f"param, {by - 2}"
    operation = f"kron.pairwise_grad by({place})"
    return text.module(operation, [ins, text.clause("grad", weighted), text.clause("factors", left_right),
                                   params, along], result)


@functools.lru_cache(maxsize=1024)
def _compiled(write, device, *key):
    return _jit.Function(_compile.compile(write(*key), device=device))


def _patterns(arrays):
    """Batches of x, y and hyper-parameters, or of their directions."""
    return tuple(_pattern(array.shape, 2 if index < 2 else 0) for index, array in enumerate(arrays))


def _matrices(arrays):
    return tuple(_pattern(array.shape, 2) for array in arrays)


def _run(write, function, arrays, directions, others, *details, out=None):
    x = arrays[0]
    program = _compiled(write, _jit._device_of(x), function, element_of(x), _patterns(arrays),
                        _patterns(directions), *details)
    return program(*arrays, *directions, *others, out=out)


def pairwise(function, arrays, directions=(), out=None):
    """F of `arrays`, which are x, y and hyper-parameters, as a matrix, in `out` if that is given;
    along `directions`, if there are any, its derivative."""
    return _run(_pairwise_text, function, arrays, directions, (), out=out)


def apply(function, arrays, values, directions=()):
    """F times `values`, or its derivative along `directions` times these."""
    return _run(_apply_text, function, arrays, directions, [values], *_matrices([values]))


def gradient(function, arrays, by, weights=None, factors=(), directions=(), outputs=False):
    """The derivative of the sum of F, or of its derivative along `directions`, times `weights` and
    times the product of the two `factors`, by array number `by`: one for each position of the batch of
    all arrays with `outputs`, whose factors have one column."""
    weights = () if weights is None else (weights,)
    return _run(_grad_text, function, arrays, directions, [*weights, *factors], by, _matrices(weights),
                _matrices(factors), outputs)
