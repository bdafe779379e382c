"""Kernel matrices.

SPDX-License-Identifier: MIT
"""

from kron.kernels import _arrays, _cg, _hyper, _named, _operations, _trace


class Kernel:
    """The matrix of a kernel of all rows of a and b, [..., M, N], which is made where it is asked for:
    by `to_dense` or numpy.asarray in memory, by `matmul` (or @) a part at a time."""

    # NumPy leaves products with a Kernel to it.
    __array_priority__ = 1000

    def __init__(self, name, function, a, b, parameters):
        """`function` is a text of a traced function; `parameters` are arrays by name, in its order."""
        self._name, self._parameters = name, parameters
        #: What the kernel computes, as operations take it.
        self.function = function
        #: Rows, as the function sees them: divided by length scales of features.
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
        return Kernel(self._name, _trace.swapped_text(self.function), self.b, self.a, self._parameters)

    def __repr__(self):
        return f"<kron.kernels.Kernel {self._name}: {'x'.join(map(str, self.shape))} {self.dtype}>"

    @property
    def operands(self):
        """Rows of both sides and hyper-parameters."""
        return (self.a, self.b, *self._parameters.values())

    def to_dense(self):
        """All of the matrix in memory."""
        _arrays.check_size(self.shape, self.a)
        return _operations.pairwise(self.function, self.operands)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("expects copy not to be False, since a kernel matrix has no memory")
        return self.to_dense().__array__(*([] if dtype is None else [dtype]))

    def with_operands(self, operands):
        """The kernel of other rows and hyper-parameters."""
        a, b, *parameters = operands
        return Kernel(self._name, self.function, a, b, dict(zip(self._parameters, parameters)))

    def diag(self):
        """The diagonal of a square matrix, [..., N]."""
        if self.shape[-1] != self.shape[-2]:
            raise ValueError(f"expects a square matrix, but got shape {self.shape}")
        # A matrix of 1 x 1 for every element.
        parameters = [array[..., None] if array.ndim else array for array in self._parameters.values()]
        single = self.with_operands((self.a[..., None, :], self.b[..., None, :], *parameters))
        return single.to_dense()[..., 0, 0]

    def _columns(self, v, name):
        """(v as a matrix, whether it was a vector)"""
        _arrays.check_like(v, name, self.a, "a")
        if v.ndim == 0 or v.shape[-2 if v.ndim > 1 else 0] != self.shape[-1]:
            size = self.shape[-1]
            raise ValueError(f"expects {name} to have shape [{size}] or [..., {size}, C], but got {tuple(v.shape)}")
        is_vector = v.ndim == 1
        v = v[:, None] if is_vector else v
        batch = _arrays.joined_batch(self.shape[:-2], v.shape[:-2], name)
        _arrays.check_size((*batch, self.shape[-2], v.shape[-1]), self.a)
        return v, is_vector

    def matmul(self, v):
        """The product with v, [..., N, C] or [N], of which only some columns of the matrix are in memory
        at a time."""
        v, is_vector = self._columns(v, "v")
        result = _operations.apply(self.function, self.operands, v)
        return result[..., 0] if is_vector else result

    def __matmul__(self, v):
        return self.matmul(v)

    def __rmatmul__(self, v):
        _arrays.check_array(v, "v")
        if v.ndim < 2:
            return self.mT.matmul(v)
        return self.mT.matmul(v.swapaxes(-1, -2)).swapaxes(-1, -2)

    def solve(self, rhs, *, noise=0, tolerance=None, max_iterations=1000, rank=15):
        """X with (K + noise I) X = rhs, [..., N, C] or [N], by conjugate gradients, for a kernel of rows
        with themselves whose matrix is positive definite with the noise added.

        `noise` is a number, or an array with an element for every matrix. Columns are done when their
        residual is at most `tolerance` times the norm of the right side, by default 1e-5, and 1e-10 in
        double precision, or as small as products with the matrix are exact. A RuntimeWarning tells of
        those that are not after `max_iterations` steps, or since the matrix is not positive definite. A
        pivoted Cholesky factor with `rank` columns preconditions where there is noise."""
        if self.b is not self.a:
            raise ValueError("expects a kernel of rows with themselves, kernel(a), to solve with, but got one of "
                             "two arrays")
        rhs, is_vector = self._columns(rhs, "rhs")
        shift = _arrays.hyper_parameter(noise, "noise", self.a)
        _arrays.check_not_negative(shift, "noise", noise)
        if _arrays.is_tensor(shift):
            # Arithmetic with the residuals, unlike a program, takes no number of the host for it.
            shift = shift.to(self.a.device)
        batch = _arrays.joined_batch(self.shape[:-2], rhs.shape[:-2], "rhs")
        _arrays.joined_batch(batch, shift.shape, "noise")
        result = _operations.solve(self, rhs, shift, _cg.options(self.a, tolerance, max_iterations, rank))
        return result[..., 0] if is_vector else result


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
