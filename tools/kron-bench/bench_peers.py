"""Other implementations, on the same arrays.

`make(name, case, arrays)` gives a function that enqueues (GPU) or does (CPU) the work and
returns the array with the result; it raises `Unsupported` if the peer cannot do the case.
`arrays` are tensors on a GPU, NumPy arrays on the processor.

SPDX-License-Identifier: MIT
"""

import importlib.util
import math

import bench_blas

ON_GPU = ("torch", "einsum", "bmm", "dense", "gpytorch", "cublas", "pyfastkron")
ON_CPU = ("numpy", "torch", "einsum", "bmm", "dense", "gpytorch", "pyfastkron",
          *bench_blas.LIBRARIES)
NAMES = tuple(dict.fromkeys((*ON_GPU, *ON_CPU)))
PACKAGES = {"torch": "torch", "einsum": "torch", "bmm": "torch", "dense": "torch",
            "gpytorch": "linear_operator", "cublas": "torch", "pyfastkron": "pyfastkron",
            "numpy": "numpy"}
# Called from C, on arrays as they lie.
FROM_C = ("pyfastkron", *bench_blas.LIBRARIES)
LARGEST_DENSE = 2**26  # elements of a Kronecker-sparse matrix that `dense` writes out


def is_installed(name):
    if name in bench_blas.LIBRARIES:
        return bench_blas.find(name) is not None
    return importlib.util.find_spec(PACKAGES[name]) is not None


def installed(on_gpu):
    """Names of the peers that this machine has, of those for a GPU or for the processor."""
    return [n for n in (ON_GPU if on_gpu else ON_CPU) if is_installed(n)]


def require(names, on_gpu):
    """Ends the program unless all of them can run."""
    for name in names:
        if name not in (ON_GPU if on_gpu else ON_CPU):
            raise SystemExit(f"kron-bench: expects --peer for {'a GPU' if on_gpu else 'the CPU'} "
                             f"to be one of {', '.join(ON_GPU if on_gpu else ON_CPU)}, but got "
                             f"{name}")
        if not is_installed(name):
            needs = (bench_blas.describe(name) if name in bench_blas.LIBRARIES
                     else f"Python package {PACKAGES[name]}")
            raise SystemExit(f"kron-bench: expects {needs} for --peer {name}, but it is not "
                             "installed")


class Unsupported(Exception):
    pass


def make(name, case, arrays):
    if case.beta or case.of_8_bits:
        raise Unsupported("flags")
    # NumPy conjugates into an array of its own, which would have to be timed.
    conjugates = "C" in case.trans and case.type in ("c32", "c64")
    if case.trans != "NN" and (name in FROM_C or case.op == "ksmm_grad" or
                               (conjugates and name == "numpy")):
        raise Unsupported("transposed operands")
    if name == "einsum" and not case.sparse and hasattr(arrays[0], "is_cuda"):
        raise Unsupported(f"{case.op} on a GPU: torch takes its place")
    if name in bench_blas.LIBRARIES:
        run = bench_blas.make(name, case, arrays)
        if run is None:
            raise Unsupported(f"{case.op} {case.type}")
        return run
    return {"torch": _torch, "einsum": _einsum, "bmm": _bmm, "dense": _dense,
            "gpytorch": _gpytorch, "cublas": _cublas, "pyfastkron": _pyfastkron,
            "numpy": _numpy}[name](case, arrays)


def _views(case, arrays):
    """op(X) and op(F): views of X and the factors, tensors or NumPy arrays."""
    x, *factors = arrays
    if case.trans[0] != "N":
        axes = (0, *range(x.ndim - 1, 0, -1)) if case.op == "batched" else (1, 0)
        x = x.permute(axes) if hasattr(x, "permute") else x.transpose(axes)
    if case.trans[1] != "N":
        factors = [f.swapaxes(1, 2) if f.ndim == 4 else f.T for f in factors]
    return [a.conj() if op == "C" else a
            for a, op in zip([x, *factors], case.trans[0] + case.trans[1] * len(factors))]


def _rows_times(y, factors):
    """[M, P1..PN] times (F1 (x) ... (x) FN): multiply along the last axis, move it to
    the front, N times."""
    rows = y.shape[0]
    for factor in reversed(factors):
        y = y.reshape(rows, -1, factor.shape[0]) @ factor
        y = y.swapaxes(1, 2)
    return y.reshape(rows, -1)


#===------------------------------------------------------------------------===#
# PyTorch
#===------------------------------------------------------------------------===#


def _tensors(case, arrays):
    """op(X) and op(F) as tensors, views of the memory of the inputs."""
    import torch
    if hasattr(arrays[0], "is_cuda"):
        tensors = arrays[:-1]
    elif case.type == "bf16":
        tensors = [torch.from_numpy(a.view("int16")).view(torch.bfloat16) for a in arrays[:-1]]
    else:
        tensors = [torch.from_numpy(a) for a in arrays[:-1]]
    return _views(case, tensors)


def _torch(case, arrays):
    """Reshape, matmul, transpose; what one writes in PyTorch."""
    if case.sparse:
        raise Unsupported(f"{case.op}: einsum, bmm and dense take its place")
    x, *factors = _tensors(case, arrays)
    if case.op == "mkm":
        return lambda: _rows_times(x, factors)
    matrices = [f.t() for f in factors]
    if case.op == "kmm":
        return lambda: _rows_times(x.t(), matrices).t().contiguous()
    shape = [case.rows, *(q for _, q in case.factors)]
    return lambda: _rows_times(x.reshape(case.rows, -1), matrices).reshape(shape)


def _sparse_steps(case, factors, step):
    """A function that applies `step(pattern, weights, x)` factor after factor."""
    steps = list(zip(case.patterns, factors))

    def run(x):
        for pattern, weights in steps:
            x = step(pattern, weights, x)
        return x
    return run


def _einsum(case, arrays):
    import torch
    x, *factors = _tensors(case, arrays)
    last = case.layout == "batch_last"
    if case.op == "ksmm_grad":
        (a, b, c, d), = case.patterns
        parts = (((a, c, d, -1), (a, b, d, -1), "aktn,ajtn->ajkt") if last else
                 ((-1, a, c, d), (-1, a, b, d), "nakt,najt->ajkt"))
        return lambda: torch.einsum(parts[2], x.view(parts[0]), factors[0].view(parts[1]))
    if case.sparse:
        def step(pattern, weights, x):
            a, b, c, d = pattern
            if last:
                return torch.einsum("ajkt,aktn->ajtn", weights,
                                    x.reshape(a, c, d, -1)).reshape(a * b * d, -1)
            return torch.einsum("ajkt,nakt->najt", weights,
                                x.reshape(-1, a, c, d)).reshape(-1, a * b * d)
        run = _sparse_steps(case, factors, step)
        return lambda: run(x)
    count = len(factors)
    old, new = "abcdefghij"[:count], "ABCDEFGHIJ"[:count]
    order = ((p, q) if case.op == "mkm" else (q, p) for p, q in zip(old, new))
    row = ("", "m") if case.op == "kmm" else ("m", "")
    equation = (f"{row[0]}{old}{row[1]},{','.join(map(''.join, order))}->"
                f"{row[0]}{new}{row[1]}")
    sizes = [p for p, _ in case.factors]
    shape = [*sizes, -1] if case.op == "kmm" else [-1, *sizes]
    return lambda: torch.einsum(equation, x.reshape(shape), *factors).reshape(case.shapes[-1])


def _bmm(case, arrays):
    """One batched product over (a, d), with the axes moved before and behind."""
    if case.op not in ("ksmm", "chain"):
        raise Unsupported(case.op)
    import torch
    x, *factors = _tensors(case, arrays)
    last = case.layout == "batch_last"
    # [a d, b, c] for W X, [a d, c, b] for X W: part of the model, not of the call.
    factors = [f.permute((0, 3, 1, 2) if last else (0, 3, 2, 1)).reshape(
        p[0] * p[3], *((p[1], p[2]) if last else (p[2], p[1]))) for p, f in
        zip(case.patterns, factors)]

    def step(pattern, weights, x):
        a, b, c, d = pattern
        if last:
            x = x.reshape(a, c, d, -1).transpose(1, 2).reshape(a * d, c, -1)
            return torch.bmm(weights, x).view(a, d, b, -1).transpose(1, 2).reshape(a * b * d, -1)
        x = x.reshape(-1, a, c, d).permute(1, 3, 0, 2).reshape(a * d, -1, c)
        return torch.bmm(x, weights).view(a, d, -1, b).permute(2, 0, 3, 1).reshape(-1, a * b * d)
    run = _sparse_steps(case, factors, step)
    return lambda: run(x)


def _dense(case, arrays):
    """One product with the whole matrix, which is written out beforehand."""
    if case.op not in ("ksmm", "chain"):
        raise Unsupported(case.op)
    import torch
    x, *factors = _tensors(case, arrays)
    matrix = None
    for (a, b, c, d), weights in zip(case.patterns, factors):
        if a * b * d * a * c * d > LARGEST_DENSE:
            raise Unsupported("too large a matrix")
        part = torch.zeros(a, b, d, a, c, d, dtype=weights.dtype, device=weights.device)
        for i in range(a):
            for t in range(d):
                part[i, :, t, i, :, t] = weights[i, :, :, t]
        part = part.view(a * b * d, a * c * d)
        matrix = part if matrix is None else part @ matrix
    if case.layout == "batch_last":
        return lambda: matrix @ x
    turned = matrix.t().contiguous()
    return lambda: x @ turned


def _cublas(case, arrays):
    """One (batched) cuBLAS product per factor along its axis, without transposes."""
    import torch
    if case.sparse:
        raise Unsupported(case.op)
    x, *factors = _tensors(case, arrays)
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
    x, *factors = _tensors(case, arrays)
    if case.op == "mkm":
        x, factors = x.t().contiguous(), [f.t().contiguous() for f in factors]
    product = KroneckerProductLinearOperator(*(DenseLinearOperator(f) for f in factors))
    if case.op == "mkm":
        return lambda: product.matmul(x).t()
    return lambda: product.matmul(x)


#===------------------------------------------------------------------------===#
# FastKron, NumPy
#===------------------------------------------------------------------------===#


def _pyfastkron(case, arrays):
    if case.op not in ("mkm", "kmm") or case.type not in ("f32", "f64"):
        raise Unsupported(f"{case.op} {case.type}")
    x, *factors = arrays[:-1]
    if hasattr(x, "is_cuda"):
        import pyfastkron.fastkrontorch as fastkron
        if case.op == "mkm":
            return lambda: fastkron.gemkm(x, factors)
        return lambda: fastkron.gekmm(factors, x)
    return _pyfastkron_cpu(case, x, factors)


def _pyfastkron_cpu(case, x, factors):
    """Its kernels without what its Python functions do around them: they allocate the
    result and two intermediates in every call. FASTKRON_TUNE=1 in the environment makes
    its first call choose the kernels by trying them, which takes up to a minute."""
    import numpy as np
    from pyfastkron.fastkronbase import fastkronX86
    from pyfastkron.fastkronnumpy import fastkronnumpy
    if fastkronX86 is None:
        raise Unsupported("no backend for x86")
    from_right = case.op == "mkm"
    kind = fastkronnumpy.MMTypeMKM if from_right else fastkronnumpy.MMTypeKMM
    _, size = fastkronnumpy.gekmmSizes(kind, x, factors)
    result = np.empty(case.shapes[-1], x.dtype)
    buffers = [np.empty(size, x.dtype) for _ in range(2)]
    name = ("s" if case.type == "f32" else "d") + ("gemkm" if from_right else "gekmm")
    function = fastkronX86.xgemkm if from_right else fastkronX86.xgekmm
    arguments = (getattr(fastkronX86.libFastKron, name), case.rows, len(factors),
                 [p for p, _ in case.factors], [q for _, q in case.factors], x.ctypes.data,
                 [f.ctypes.data for f in factors], result.ctypes.data, 1.0, 0.0, 0,
                 *(b.ctypes.data for b in buffers))

    def run(keep=buffers):
        function(*arguments)
        return result
    return run


def _numpy(case, arrays):
    import numpy as np
    if case.type == "bf16" or case.op in ("chain", "ksmm_grad"):
        raise Unsupported(f"{case.op} {case.type}")
    x, *factors = _views(case, arrays[:-1])
    if case.op == "ksmm":
        a, b, c, d = case.patterns[0]
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
