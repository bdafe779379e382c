"""Other implementations, on the same arrays.

`make(name, case, arrays)` gives a function that enqueues (GPU) or does (CPU) the
work, and the array that it leaves the result in (a function to call for it). None if
the peer cannot do the case.

SPDX-License-Identifier: MIT
"""

import importlib.util
import math

ON_GPU = ("torch", "gpytorch", "cublas", "pyfastkron")
NAMES = (*ON_GPU, "numpy")
PACKAGES = {"torch": "torch", "gpytorch": "linear_operator", "cublas": "torch",
            "pyfastkron": "pyfastkron", "numpy": "numpy"}


def installed(on_gpu):
    """Names of the peers that this Python has, of those for a GPU or for the processor."""
    names = ON_GPU if on_gpu else ("numpy", "pyfastkron")
    return [n for n in names if importlib.util.find_spec(PACKAGES[n])]


class Unsupported(Exception):
    pass


def make(name, case, arrays):
    if case.trans != "NN" or case.beta:
        raise Unsupported("flags")
    return {"torch": _torch, "gpytorch": _gpytorch, "cublas": _cublas,
            "pyfastkron": _pyfastkron, "numpy": _numpy}[name](case, arrays)


def _rows_times(y, factors):
    """[M, P1..PN] times (F1 (x) ... (x) FN): multiply along the last axis, move it to
    the front, N times."""
    rows = y.shape[0]
    for factor in reversed(factors):
        y = y.reshape(rows, -1, factor.shape[0]) @ factor
        y = y.swapaxes(1, 2)
    return y.reshape(rows, -1)


def _torch(case, arrays):
    """Reshape, matmul, transpose; what one writes in PyTorch."""
    import torch
    x, *factors = arrays[:-1]
    if case.op == "ksmm":
        a, b, c, d = case.pattern
        if case.layout == "batch_last":
            return lambda: torch.einsum("ajkt,aktn->ajtn", factors[0],
                                        x.view(a, c, d, -1)).reshape(a * b * d, -1)
        return lambda: torch.einsum("ajkt,nakt->najt", factors[0],
                                    x.view(-1, a, c, d)).reshape(-1, a * b * d)
    if case.op == "mkm":
        return lambda: _rows_times(x, factors)
    matrices = [f.t() for f in factors]
    if case.op == "kmm":
        return lambda: _rows_times(x.t(), matrices).t().contiguous()
    shape = [case.rows, *(q for _, q in case.factors)]
    return lambda: _rows_times(x.view(case.rows, -1), matrices).reshape(shape)


def _cublas(case, arrays):
    """One (batched) cuBLAS product per factor along its axis, without transposes."""
    import torch
    if case.op == "ksmm":
        raise Unsupported("ksmm")
    x, *factors = arrays[:-1]
    inner = case.rows if case.op == "kmm" else 1
    steps = []
    for k in reversed(range(len(factors))):
        matrix = factors[k].t() if case.op == "mkm" else factors[k]
        inside = inner * math.prod(q for _, q in case.factors[k + 1:])
        steps.append((matrix, case.factors[k][0], inside))

    def run():
        y = x
        for matrix, p, inside in steps:
            if inside == 1:
                y = y.reshape(-1, p) @ matrix.t()
            else:
                y = torch.matmul(matrix, y.reshape(-1, p, inside))
        return y.reshape(case.shapes[-1])
    return run


def _gpytorch(case, arrays):
    """linear_operator's Kronecker product. It multiplies from the left only, so for mkm
    it gets the transposed problem, with its X contiguous."""
    if case.op not in ("mkm", "kmm"):
        raise Unsupported(case.op)
    from linear_operator.operators import DenseLinearOperator, KroneckerProductLinearOperator
    x, *factors = arrays[:-1]
    if case.op == "mkm":
        x, factors = x.t().contiguous(), [f.t().contiguous() for f in factors]
    product = KroneckerProductLinearOperator(*(DenseLinearOperator(f) for f in factors))
    if case.op == "mkm":
        return lambda: product.matmul(x).t()
    return lambda: product.matmul(x)


def _pyfastkron(case, arrays):
    if case.op not in ("mkm", "kmm"):
        raise Unsupported(case.op)
    x, *factors = arrays[:-1]
    if hasattr(x, "is_cuda"):
        import pyfastkron.fastkrontorch as fastkron
    else:
        import pyfastkron.fastkronnumpy as fastkron
    if case.op == "mkm":
        return lambda: fastkron.gemkm(x, factors)
    return lambda: fastkron.gekmm(factors, x)


def _numpy(case, arrays):
    import numpy as np
    if case.type == "bf16":
        raise Unsupported("bf16")
    x, *factors = arrays[:-1]
    if case.op == "ksmm":
        a, b, c, d = case.pattern
        if case.layout == "batch_last":
            raise Unsupported("batch last")
        return lambda: np.einsum("ajkt,nakt->najt", factors[0], x.reshape(-1, a, c, d),
                                 optimize=True).reshape(-1, a * b * d)
    if case.op == "mkm":
        return lambda: _rows_times(x, factors)
    matrices = [f.T for f in factors]
    if case.op == "kmm":
        return lambda: np.ascontiguousarray(_rows_times(x.T, matrices).T)
    shape = [case.rows, *(q for _, q in case.factors)]
    return lambda: _rows_times(x.reshape(case.rows, -1), matrices).reshape(shape)
