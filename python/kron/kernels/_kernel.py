"""Kernel matrices.

SPDX-License-Identifier: MIT
"""

from kron.kernels import _arrays, _hyper, _named, _operations, _trace


class Kernel:
    """The matrix of a kernel of all rows of a and b, [..., M, N], which is made where it is asked for:
    by `to_dense` or numpy.asarray in memory, by `matmul` (or @) a part at a time."""

    # NumPy leaves products with a Kernel to it.
    __array_priority__ = 1000

    def __init__(self, name, function, a, b, parameters):
        """`function` is a text of a traced function; `parameters` are arrays by name, in its order."""
        self._name, self._function, self._parameters = name, function, parameters
        #: Rows, as the function sees them.
        self.a, self.b = a, b
        batch = _arrays.check_points(a, b)[:-2]
        for key, parameter in parameters.items():
            batch = _arrays.joined_batch(batch, parameter.shape, key)
        self.shape = (*batch, a.shape[-2], b.shape[-2])

    @property
    def dtype(self):
        return self.a.dtype

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def mT(self):
        """The kernel of b and a: the last two axes are exchanged."""
        return Kernel(self._name, _trace.swapped_text(self._function), self.b, self.a, self._parameters)

    def __repr__(self):
        return f"<kron.kernels.Kernel {self._name}: {'x'.join(map(str, self.shape))} {self.dtype}>"

    @property
    def _operands(self):
        return (self.a, self.b, *self._parameters.values())

    def to_dense(self):
        """All of the matrix in memory."""
        _arrays.check_size(self.shape, self.a)
        return _operations.pairwise(self._function, self._operands)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("expects copy not to be False, since a kernel matrix has no memory")
        return self.to_dense().__array__(*([] if dtype is None else [dtype]))


def kernel(a, b=None, function="gaussian", /, **parameters):
    """The kernel matrix of all rows of a, [..., M, K], and b, [..., N, K] (of a and a without b), as a
    Kernel. Leading axes broadcast.

    `function` is one of 'gaussian', 'laplace', 'matern12', 'matern32', 'matern52',
    'rational_quadratic' and 'periodic', or a function of two rows and of hyper-parameters, which is
    traced:

        def cauchy(x, y, width):
            return 1 / (1 + numpy.sum((x - y) ** 2) / width ** 2)

        kron.kernels.kernel(a, b, cauchy, width=2.0)

    It is made of arithmetic and of NumPy's (or PyTorch's) functions, and has one sum or maximum along
    the rows. Hyper-parameters are numbers, or arrays with an element for every matrix of the batch.
    Those of kernels with names are positive: `lengthscale`, and `alpha` of 'rational_quadratic',
    `period` of 'periodic', each 1 if it is not given. `lengthscale` may have shape [..., 1, K], one for
    every feature, or [..., 1, 1], one for every matrix."""
    b = a if b is None else b
    _arrays.check_points(a, b)
    if isinstance(function, str):
        if function not in _named.TEXTS:
            raise ValueError(f"expects function to be one of {', '.join(map(repr, _named.TEXTS))} or a function, "
                             f"but got {function!r}")
        a, b, arrays = _hyper.of_name(function, a, b, parameters)
        return Kernel(function, _named.TEXTS[function], a, b, arrays)
    if not callable(function):
        raise TypeError(f"expects function to be the name of a kernel or a function of two rows, but got "
                        f"{type(function).__name__}")
    arrays = _hyper.of_function(function, a, parameters)
    return Kernel(getattr(function, "__name__", "function"), _trace.text_of(function), a, b, arrays)
