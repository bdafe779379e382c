"""What every operation means, in NumPy, slowly and obviously.

The functions take arrays of the wide type and use only `*`, `+` and `conj`, so
that running them on absolute values gives the sum of the absolute terms that
a-priori error bounds need. `selftest` checks them against explicit Kronecker
matrices.

SPDX-License-Identifier: MIT
"""

import functools
import math

import numpy as np


def apply_op(op, array):
    """BLAS op(A) on the last two axes."""
    if op == "N":
        return array
    swapped = np.swapaxes(array, -1, -2)
    return np.conj(swapped) if op == "C" else swapped


def transpose(array):
    return np.swapaxes(array, -1, -2)


def with_batch(array, num_batch, num_axes):
    """`array` with leading axes of size 1 until it has `num_batch` batch axes."""
    missing = num_batch + num_axes - array.ndim
    return array.reshape((1,) * missing + array.shape)


def apply_mode(x, matrix, axis, num_batch):
    """y[b, .., q, ..] = sum_p x[b, .., p, ..] * matrix[b, p, q] along `axis`; the
    first `num_batch` axes of both are the batch and broadcast."""
    moved = np.moveaxis(x, axis, -1)
    rest = moved.shape[num_batch:-1]
    rows = moved.reshape(moved.shape[:num_batch] + (math.prod(rest), moved.shape[-1]))
    y = np.matmul(rows, matrix)
    y = y.reshape(y.shape[:num_batch] + rest + y.shape[-1:])
    return np.moveaxis(y, -1, axis)


def apply_modes(x, matrices, num_batch, first_axis):
    """matrices[k] along axis `first_axis + k`."""
    for k, matrix in enumerate(matrices):
        x = apply_mode(x, with_batch(matrix, num_batch, 2), first_axis + k, num_batch)
    return x


def mkm(x, factors, op_x, ops, num_batch):
    """op(X) * (op(F1) (x) ... (x) op(FN)) with X viewed as [batch, M, P1..PN]."""
    matrices = [apply_op(op, f) for op, f in zip(ops, factors)]
    x = with_batch(apply_op(op_x, x), num_batch, 2)
    x = x.reshape(x.shape[:-1] + tuple(m.shape[-2] for m in matrices))
    y = apply_modes(x, matrices, num_batch, num_batch + 1)
    columns = math.prod(m.shape[-1] for m in matrices)
    return y.reshape(y.shape[: num_batch + 1] + (columns,))


def kmm(x, factors, op_x, ops, num_batch):
    """(op(F1) (x) ... (x) op(FN)) * op(X) with X viewed as [batch, P1..PN, M]."""
    matrices = [transpose(apply_op(op, f)) for op, f in zip(ops, factors)]
    x = with_batch(apply_op(op_x, x), num_batch, 2)
    sizes = tuple(m.shape[-2] for m in matrices)
    x = x.reshape(x.shape[:num_batch] + sizes + x.shape[-1:])
    y = apply_modes(x, matrices, num_batch, num_batch)
    rows = math.prod(m.shape[-1] for m in matrices)
    return y.reshape(y.shape[:num_batch] + (rows,) + y.shape[-1:])


def batched(x, factors, op_x, ops, num_batch):
    """One matrix per axis; op(X) = T reverses the axes, C conjugates too."""
    matrices = [transpose(apply_op(op, f)) for op, f in zip(ops, factors)]
    n = len(matrices)
    if op_x != "N":
        batch = list(range(x.ndim - n))
        x = np.transpose(x, batch + list(range(x.ndim - 1, len(batch) - 1, -1)))
        x = np.conj(x) if op_x == "C" else x
    return apply_modes(with_batch(x, num_batch, n), matrices, num_batch, num_batch)


def ksmm(x, weights, op_x, op_weights, layout):
    """y[n, i*b*d + j*d + t] = sum_k K[i, j, k, t] x[n, i*c*d + k*d + t]; batch
    last means that x and y are stored transposed."""
    if op_weights != "N":
        weights = np.swapaxes(weights, 1, 2)
        weights = np.conj(weights) if op_weights == "C" else weights
    x = apply_op(op_x, x)
    x = x if layout == "batch_first" else transpose(x)
    a, b, c, d = weights.shape
    y = np.einsum("ajkt,nakt->najt", weights, x.reshape(x.shape[0], a, c, d))
    y = y.reshape(x.shape[0], a * b * d)
    return y if layout == "batch_first" else transpose(y)


def sum_products(subscripts, a, b):
    """np.einsum, which may leave a sum over nothing as the memory was."""
    if a.size and b.size:
        return np.einsum(subscripts, a, b)
    terms, result = subscripts.split("->")
    sizes = dict(zip(terms.replace(",", ""), a.shape + b.shape))
    return np.zeros([sizes[letter] for letter in result], np.result_type(a, b))


def ksmm_grad(x, grad, pattern, layout, conj_x, conj_grad):
    """d[i, j, k, t] = sum_n g[n, i*b*d + j*d + t] x[n, i*c*d + k*d + t]."""
    a, b, c, d = pattern
    x = np.conj(x) if conj_x else x
    grad = np.conj(grad) if conj_grad else grad
    if layout == "batch_last":
        x, grad = transpose(x), transpose(grad)
    rows = x.shape[0]
    return sum_products("najt,nakt->ajkt", grad.reshape(rows, a, b, d),
                        x.reshape(rows, a, c, d))


def factor_grad(x, grad, factors, ops, index, layout, conj_x, conj_grad):
    """The sum over all axes but those of factor `index`; `factors` are the other ones.
    `conj_x` conjugates X with them applied."""
    right = layout == "batch_first"
    matrices = [apply_op(op, f) if right else transpose(apply_op(op, f))
                for op, f in zip(ops, factors)]
    if not right:
        x, grad = transpose(x), transpose(grad)
    sizes = [m.shape for m in matrices]
    before, after = ((math.prod(s[0] for s in part), math.prod(s[1] for s in part))
                     for part in (sizes[:index], sizes[index:]))
    x = x.reshape(-1, before[0], x.shape[-1] // (before[0] * after[0]), after[0])
    grad = grad.reshape(-1, before[1], grad.shape[-1] // (before[1] * after[1]), after[1])
    identity = np.ones((1, 1), x.dtype)
    for axis, part in ((1, matrices[:index]), (3, matrices[index:])):
        x = apply_mode(x, functools.reduce(np.kron, part, identity), axis, 0)
    x = np.conj(x) if conj_x else x
    grad = np.conj(grad) if conj_grad else grad
    sums = sum_products("napt,naqt->pq", x, grad)
    return sums if right else sums.T


def bias_grad(grad, layout):
    return grad.sum(0 if layout == "batch_first" else 1)


def mode_product(x, factor, axis, factor_dims, out_shape, conj_x, conj_factor):
    """One factor along one axis; other axes of X and of the factor that have size
    1 stretch to those of the result."""
    x = np.conj(x) if conj_x else x
    factor = np.conj(factor) if conj_factor else factor
    x = np.broadcast_to(x, out_shape[:axis] + (x.shape[axis],) + out_shape[axis + 1 :])
    letters = "abcdefgh"[: x.ndim]
    factor_letters = "".join(
        {"p": letters[axis], "q": "z"}.get(dim) or letters[int(dim)] for dim in factor_dims
    )
    factor = np.broadcast_to(
        factor,
        [n if dim in "pq" else out_shape[int(dim)] for n, dim in zip(factor.shape, factor_dims)],
    )
    result = letters[:axis] + "z" + letters[axis + 1 :]
    return np.einsum(f"{letters},{factor_letters}->{result}", x, factor)


def scaled(linear, alpha, beta, addend):
    """alpha * linear() + beta * Z. As in BLAS a zero alpha or beta means that
    what it multiplies is not looked at."""
    y = None
    if alpha != 0:
        y = linear() * alpha
    if beta != 0:
        y = addend * beta if y is None else y + addend * beta
    return y


_erf = np.frompyfunc(math.erf, 1, 1)


def erf(v):
    return _erf(v.astype(np.float64)).astype(v.dtype)


def activate(name, v):
    """The activations of #kron.activation; v is real."""
    if name == "relu":
        return np.where(np.isnan(v), v, np.maximum(v, 0))
    if name == "gelu":
        return v / 2 * (1 + erf(v / np.sqrt(v.dtype.type(2))))
    if name == "silu":
        return v / (1 + np.exp(-v))
    return v


def selftest():
    """The mode-wise references against explicit Kronecker matrices."""
    rng = np.random.default_rng(1)

    def data(*shape):
        return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)

    def check(name, got, expected):
        error = np.abs(got - expected).max()
        assert got.shape == expected.shape and error < 1e-12, f"reference of {name}: {error}"

    ops = ("N", "T", "C")
    sizes = ((2, 3), (4, 2), (1, 5))
    for op_x in ops:
        for op_f in ops:
            stored = [data(*(s if op_f == "N" else s[::-1])) for s in sizes]
            full = functools.reduce(np.kron, [apply_op(op_f, f) for f in stored])
            x = data(6, 8)
            x_stored = x if op_x == "N" else apply_op(op_x, x)
            check("mkm", mkm(x_stored, stored, op_x, [op_f] * 3, 0), x @ full)
            full = functools.reduce(np.kron, [apply_op(op_f, transpose(f)) for f in stored])
            stored_q_p = [transpose(f) for f in stored]
            check(
                "kmm",
                kmm(apply_op(op_x, x.T), stored_q_p, op_x, [op_f] * 3, 0),
                full @ x.T,
            )
            cube = data(2, 4, 1)
            axes = (2, 1, 0) if op_x != "N" else (0, 1, 2)
            cube_stored = np.conj(cube.transpose(axes)) if op_x == "C" else cube.transpose(axes)
            check(
                "batched",
                batched(cube_stored, stored_q_p, op_x, [op_f] * 3, 0).reshape(-1),
                full @ cube.reshape(-1),
            )
    batch_x, batch_f = data(2, 1, 3, 4), data(3, 4, 5)
    check("batch", mkm(batch_x, [batch_f], "N", ["N"], 2), batch_x @ batch_f)
    a, b, c, d = 2, 3, 4, 5
    weights = data(a, b, c, d)
    full = np.zeros((a * b * d, a * c * d), complex)
    for i, j, k, t in np.ndindex(a, b, c, d):
        full[i * b * d + j * d + t, i * c * d + k * d + t] = weights[i, j, k, t]
    x = data(3, a * c * d)
    check("ksmm", ksmm(x, weights, "N", "N", "batch_first"), x @ full.T)
    check("ksmm", ksmm(x.T, weights, "N", "N", "batch_last"), full @ x.T)
    check("ksmm", ksmm(np.conj(x.T), weights, "C", "N", "batch_first"), x @ full.T)
    z = data(3, a * b * d)
    check("ksmm", ksmm(z, weights, "N", "C", "batch_first"), z @ np.conj(full))
    # <G, K x> is linear in K: its derivative by K is the gradient.
    grad = data(3, a * b * d)
    for layout, stored_x, stored_grad in (("batch_first", x, grad), ("batch_last", x.T, grad.T)):
        slope = ksmm_grad(stored_x, stored_grad, (a, b, c, d), layout, False, False)
        check("ksmm_grad", np.sum(slope * weights), np.sum(grad * (x @ full.T)))
        check("ksmm_grad", ksmm_grad(np.conj(stored_x), stored_grad, (a, b, c, d), layout, True,
                                     False), slope)
    # <G, X (F1 kron F2 kron F3)> is linear in every factor.
    stored = [data(2, 3), data(4, 2), data(2, 5)]
    full = functools.reduce(np.kron, stored)
    x, grad = data(2, 3, 16), data(2, 3, 30)
    value = np.sum(grad * (x @ full))
    for index, factor in enumerate(stored):
        others = stored[:index] + stored[index + 1:]
        for layout, pair, transposed in (("batch_first", (x, grad), False),
                                         ("batch_last", (x.swapaxes(1, 2), grad.swapaxes(1, 2)),
                                          True)):
            for op in ops:
                undone = [apply_op(op, transpose(f) if transposed else f) for f in others]
                slope = factor_grad(*pair, undone, [op] * 2, index, layout, False, False)
                check("factor_grad", np.sum((slope.T if transposed else slope) * factor), value)
        slope = factor_grad(np.conj(x), grad, [np.conj(f) for f in others], ["N"] * 2, index,
                            "batch_first", True, False)
        check("factor_grad", np.sum(slope * factor), value)
    x, f = data(3, 4, 5), data(4, 6)
    check("mode", mode_product(x, f, 1, "pq", (3, 6, 5), False, False),
          np.einsum("apb,pq->aqb", x, f))


if __name__ == "__main__":
    selftest()
    print("references agree with explicit Kronecker matrices")
