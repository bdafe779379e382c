# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""All gradients of a call by one compiled function.

Such a function exists for real arrays whose batch is dynamic and all else fixed, where kernels
of kron are as fast as PyTorch's matrix products; the others are computed step by step
(_grads.py). It writes into results that are allocated here, and keeps what lies between its
steps in the launch's workspace.
"""

import functools
import math

import torch

from .. import _compile
from .. import _core
from .._core import infer_factor, infer_features
from ._axis_grad import is_fast_on_gpu
from ._weight_grad import GPU_ELEMENTS, SIXTEEN_BIT, LARGE_BLOCK, has_kernel

#: Elements up to which single steps take longer to ask for than to compute; on a CPU those of
#: products with long factors, to which PyTorch's matrix products are as fast, are fewer.
_SMALL = {"cpu": 1 << 17, "cuda": 1 << 20}
_SMALL_LONG, _LONG_FACTOR = 1 << 15, 32


class _Function:
    """A function on row-major arrays while it is put together."""

    def __init__(self, element, precision):
        self.program = _core.Program(on_tensors=False)
        self.element, self.precision = element, precision

    def argument(self, name, shape, element=None):
        return self.program.argument(name, shape, element or self.element)

    def memory(self, shape, like=0, axis=0):
        """An array between operations, as long along the batch as another one."""
        return self.program.allocate(shape, self.element, like=like, axis=axis)

    def operation(self, name, target, operands, attributes=None, precise=True):
        """Adds an operation that writes `target`."""
        attributes = dict(attributes or {})
        if precise:
            attributes["precision"] = self.precision
        self.program.operation(name, {**operands, "init": target}, attributes)

    def gradient(self, name, shape, is_wide):
        """(array for an operation to write, the argument). A wide gradient is in f32, what
        computes it in the type of the others."""
        result = self.argument(name, shape, "f32" if is_wide else None)
        return (self.memory(shape) if is_wide else result), result

    def bias_grad(self, grad, features, layout, is_wide):
        """Adds the argument that takes the sums of the gradient over the batch."""
        result = self.argument("db", (features,), "f32" if is_wide else None)
        self.operation("bias_grad", result, {"input": grad}, {"layout": layout}, precise=False)

    def finish(self, pairs):
        """Writes the first array of each pair into the second one, if they differ."""
        for written, result in pairs:
            if written != result:
                self.program.convert(written, result)

    def compile(self, device):
        return _compile.compile(self.program, device=device)


def _adjoint(letter):
    """Of a real factor."""
    return "T" if letter == "N" else "N"


def _flip(letters):
    return "".join(map(_adjoint, letters))


def cast_kernel(count, element, device):
    """The function that writes `count` f32 arrays into as many others of the type `element`,
    each as one axis of any size. Its arguments: these, then the others."""
    function = _Function(element, "full")
    sources = [function.argument(f"x{i}", (None,), "f32") for i in range(count)]
    targets = [function.argument(f"y{i}", (None,)) for i in range(count)]
    function.finish(zip(sources, targets))
    return function.compile(device)


# ----------------------------------------------------------------------------------
# Kronecker-sparse factors
# ----------------------------------------------------------------------------------


class _Chain:
    """Gradients of a chain of Kronecker-sparse factors. Arguments: the gradient, x, all
    weights, the inputs of all but the first if they are kept, and the results, that by a bias
    last. `needs` and `are_wide` have one entry for each of these."""

    def __init__(self, patterns, letters, layout, precision, element, has_kept, needs, are_wide):
        self.function = _Function(element, precision)
        self.patterns, self.letters, self.layout = patterns, letters, layout
        self.needs_x, *self.needs_weights, self.needs_bias = needs
        self.axis = 0 if layout == "batch_first" else 1
        sizes = list(map(infer_features, patterns, letters))
        # Features that a factor reads, and those of the result.
        self.features = [read for read, _ in sizes] + [sizes[-1][1]]
        self.declare(has_kept, are_wide)

    def shape(self, k):
        """Of what factor k reads."""
        return (None, self.features[k])[::-1 if self.axis else 1]

    def declare(self, has_kept, are_wide):
        argument, count = self.function.argument, len(self.patterns)
        self.grad = argument("grad", self.shape(count))
        self.inputs = [argument("x", self.shape(0))]
        self.weights = [argument(f"k{i}", pattern) for i, pattern in enumerate(self.patterns)]
        if has_kept:
            self.inputs += [argument(f"t{k}", self.shape(k)) for k in range(1, count)]
        if self.needs_x:
            self.dx = argument("dx", self.shape(0))
        self.dweights = [
            self.function.gradient(f"dk{k}", pattern, is_wide) if flag else None
            for k, (pattern, flag, is_wide)
            in enumerate(zip(self.patterns, self.needs_weights, are_wide))]
        if self.needs_bias:
            self.function.bias_grad(self.grad, self.features[-1], self.layout, are_wide[-1])

    def write(self):
        count = len(self.patterns)
        needed = [k for k in range(count) if self.needs_weights[k]]
        for k in range(len(self.inputs), max(needed, default=0) + 1):
            self.inputs.append(self.product(k - 1, self.letters[k - 1], self.inputs[-1],
                                            self.memory(k)))
        grad = self.grad
        for k in reversed(range(count)):
            if self.needs_weights[k]:
                self.weight_grad(k, grad)
            if self.needs_x or any(self.needs_weights[:k]):
                target = self.dx if k == 0 else self.memory(k)
                grad = self.product(k, _adjoint(self.letters[k]), grad, target)
        self.function.finish(filter(None, self.dweights))
        return self.function

    def memory(self, k):
        return self.function.memory(self.shape(k), self.grad, self.axis)

    def product(self, k, letter, value, target):
        self.function.operation("ksmm", target, {
            "input": value, "weights": (self.weights[k], letter)}, {"layout": self.layout})
        return target

    def weight_grad(self, k, grad):
        source, target = self.inputs[k], grad
        if self.letters[k] != "N":
            source, target = target, source
        self.function.operation("ksmm_grad", self.dweights[k][0], {"input": source, "grad": target},
                                {"layout": self.layout}, precise=False)


@functools.lru_cache(maxsize=256)
def _chain_kernel(patterns, letters, layout, precision, dtype, device, has_kept, needs, are_wide):
    chain = _Chain(patterns, letters, layout, precision, GPU_ELEMENTS[dtype], has_kept, needs,
                   are_wide)
    return chain.write().compile(device)


def _has_chain(grad, x, patterns, needs_weights, layout):
    if x.is_cuda:
        return x.dtype in GPU_ELEMENTS
    if x.device.type != "cpu" or x.dtype not in GPU_ELEMENTS:
        return False
    if _is_small(grad, x):
        # PyTorch's products of 16-bit types are the faster ones of large blocks.
        return x.dtype not in SIXTEEN_BIT or all(b * c <= LARGE_BLOCK for _, b, c, _ in patterns)
    return layout == "batch_first" and all(has_kernel(pattern, x.dtype) for pattern, flag
                                           in zip(patterns, needs_weights) if flag)


def _count(grad, x):
    return max(grad.numel(), x.numel())


def _is_small(grad, x):
    return _count(grad, x) <= _SMALL[x.device.type]


def _matrix(array, layout):
    """Contiguous, with one axis of the batch."""
    if array.dim() != 2:
        array = (array.reshape(-1, array.shape[-1]) if layout == "batch_first"
                 else array.reshape(array.shape[0], -1))
    return array if array.is_contiguous() else array.contiguous()


def _row_major(like):
    """A new array; the short way takes half the time."""
    return torch.empty_like(like) if like.is_contiguous() else like.new_empty(like.shape)


def _device(x):
    return x.get_device() if x.is_cuda else -1


def _real(letters):
    """Letters of real arrays, whose conjugates they are themselves."""
    return letters.replace("C", "T")


def _contiguous(arrays):
    return [array if array.is_contiguous() else array.contiguous() for array in arrays]


def chain_kernel(grad, x, weights, needs, are_wide, has_kept, trans, layout, precision):
    """The function for gradients by x, by all weights and by a bias, as far as `needs` says so;
    None if there is none. Its arguments: the gradient, x, all weights, the inputs of all factors
    but the first if they are kept, and the gradients; all row-major, the batch one axis.
    Gradients by weights and bias that `are_wide` are in f32, whatever the type."""
    patterns = tuple([tuple(weight.shape) for weight in weights])
    if (not grad.numel() or not x.numel() or not any(needs[:-1])
            or not _has_chain(grad, x, patterns, needs[1:-1], layout)):
        return None
    return _chain_kernel(patterns, _real(trans), layout, precision, x.dtype, _device(x),
                         has_kept, tuple(needs), are_wide)


def ksmm_grads(grad, x, weights, kept, needs, trans, layout, precision, stream):
    """Like _kernels.ksmm_grads; None where there is no such function."""
    needs_x, needs_bias, *needs_weights = needs
    kernel = chain_kernel(grad, x, weights, (needs_x, *needs_weights, needs_bias),
                          (False,) * (len(weights) + 1), bool(kept), trans, layout, precision)
    if kernel is None:
        return None
    dx = _row_major(x) if needs_x else None
    dweights = [_row_major(weight) if flag else None
                for weight, flag in zip(weights, needs_weights)]
    features = grad.shape[-1 if layout == "batch_first" else 0]
    dbias = grad.new_empty(features) if needs_bias else None
    matrices = [grad, x, *kept] if dx is None else [grad, x, *kept, dx]
    grad, x, *matrices = [_matrix(array, layout) for array in matrices]
    kernel(grad, x, *_contiguous(weights), *matrices,
           *[array for array in (*dweights, dbias) if array is not None], stream=stream)
    return [dx, dbias, *dweights]


# ----------------------------------------------------------------------------------
# Kronecker products
# ----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _product_kernel(op, shapes, letters, precision, dtype, device, needs, are_wide):
    """Of mkm or kmm of matrices; `letters` are those of mkm, and the last entries of `needs` and
    `are_wide` those of a bias."""
    function = _Function(GPU_ELEMENTS[dtype], precision)
    sizes = [infer_factor("mkm", shape, letter) for shape, letter in zip(shapes, letters)]
    p, q = (math.prod(column) for column in zip(*sizes))
    is_rows = op == "mkm"
    layout = "batch_first" if is_rows else "batch_last"

    def matrix(name, features):
        return function.argument(name, (None, features) if is_rows else (features, None))

    def letters_of(values):
        """As kmm has them, whose factors lie the other way around."""
        return values if is_rows else _flip(values)

    grad, x = matrix("grad", q), matrix("x", p)
    factors = [function.argument(f"f{k}", shape) for k, shape in enumerate(shapes)]
    if needs[0]:
        function.operation(op, matrix("dx", p), {
            "input": grad, "factors": list(zip(factors, letters_of(_flip(letters))))})
    gradients = []
    for k, shape in enumerate(shapes):
        if not needs[1 + k]:
            continue
        gradients.append(function.gradient(f"df{k}", shape, are_wide[k]))
        source, target, own = x, grad, letters
        if letters_of(letters[k]) != "N":
            # Of op(F) = F^T: x and the gradient change places.
            source, target, own = grad, x, _flip(letters)
        others = factors[:k] + factors[k + 1:]
        function.operation("factor_grad", gradients[-1][0], {
            "input": source, "grad": target,
            "factors": list(zip(others, letters_of(own[:k] + own[k + 1:])))},
            {"index": k, "layout": layout})
    if needs[-1]:
        function.bias_grad(grad, q, layout, are_wide[-1])
    function.finish(gradients)
    return function.compile(device)


def _has_product(grad, x, op, sizes, needs_factors):
    if x.is_cuda:
        return x.dtype in GPU_ELEMENTS and (
            _is_small(grad, x) or _is_fast_product(x.dtype, op, sizes, needs_factors))
    # Other factors are applied for every gradient anew, which takes long of large arrays.
    longest = max(map(max, sizes))
    if x.device.type != "cpu" or not _is_small(grad, x) or x.dtype not in GPU_ELEMENTS:
        return False
    if longest < _LONG_FACTOR:
        return True
    # PyTorch's products of 16-bit types are the faster ones of long factors.
    return x.dtype not in SIXTEEN_BIT and _count(grad, x) <= _SMALL_LONG


def _is_fast_product(dtype, op, sizes, needs_factors):
    """On a GPU, whether that is so for the gradients by all factors."""
    for k, (p, q) in enumerate(sizes):
        before = math.prod(q for _, q in sizes[:k])
        after = math.prod(p for p, _ in sizes[k + 1:])
        other = after if op == "mkm" else before
        if needs_factors[k] and not is_fast_on_gpu(dtype, p, q, other):
            return False
    return True


def product_kernel(grad, x, factors, needs, are_wide, kind, trans_factors, precision):
    """The function for gradients by x, by all factors and by a bias, as far as `needs` says so;
    None if there is none. Its arguments: the gradient, x, all factors, and the gradients; all
    row-major, as matrices of one mkm or kmm. Gradients by factors and bias that `are_wide` are
    in f32, whatever the type."""
    shapes = tuple([tuple(factor.shape) for factor in factors])
    if (not grad.numel() or not x.numel() or not any(needs[:-1])
            or any(len(s) != 2 for s in shapes)
            or kind == "kmm" and x.dim() != 2):
        return None
    letters = _real(trans_factors) or "N" * len(factors)
    if kind != "mkm":
        letters = _flip(letters)
    sizes = [infer_factor("mkm", shape, letter) for shape, letter in zip(shapes, letters)]
    op = "kmm" if kind == "kmm" else "mkm"
    if not _has_product(grad, x, op, sizes, needs[1:-1]):
        return None
    return _product_kernel(op, shapes, letters, precision, x.dtype, _device(x), tuple(needs),
                           are_wide)


def product_grads(kind, grad, x, factors, needs, alpha, trans_x, trans_factors, precision,
                  stream):
    """Like _kernels.product_grads; None where there is no such function."""
    kernel = None
    if trans_x == "N":
        kernel = product_kernel(grad, x, factors, (*needs, False), (False,) * (len(factors) + 1),
                                kind, trans_factors, precision)
    if kernel is None:
        return None
    if alpha != 1:
        grad = grad * alpha
    dx = _row_major(x) if needs[0] else None
    results = [dx, *[_row_major(factor) if flag else None
                     for factor, flag in zip(factors, needs[1:])]]
    arrays = [grad, x] if dx is None else [grad, x, dx]
    if kind != "kmm":
        count = 1 if kind == "mkm" else len(factors)
        arrays = [array.reshape(-1, math.prod(array.shape[-count:])) for array in arrays]
    grad, x, *arrays = _contiguous(arrays)
    kernel(grad, x, *_contiguous(factors), *arrays,
           *[result for result in results[1:] if result is not None], stream=stream)
    return results
