# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Checks of arguments that name what is wrong.

Fake kernels run them first, real ones only once the compiled function has refused a
call: a call that is right pays nothing.
"""

from .. import _core, _rules


def factor_transposes(trans_factors, count):
    """One of N, T, C per factor."""
    return trans_factors if trans_factors else "N" * count


def operator_shape(kind, factor, trans):
    """(contracted, resulting) size of a factor."""
    return _core.infer_factor(kind, tuple(factor.shape), trans)


def contracts_rows(kind, trans):
    """Whether a factor's rows are summed over, not its columns."""
    return _core.infer_factor(kind, (True, False), trans)[0]


def _same_kind(name, array, x):
    if array.dtype != x.dtype:
        raise TypeError(f"expects {name} to be of x's type {x.dtype}, but got "
                        f"{array.dtype}")
    if array.device != x.device:
        raise ValueError(f"expects {name} to be on x's device {x.device}, but got "
                         f"{array.device}")


def product(kind, x, factors, z, beta, trans_x, trans_factors):
    """Arguments of mkm, kmm and batched; the shape of the result."""
    for k, factor in enumerate(factors):
        _same_kind(f"factors[{k}]", factor, x)
    if z is not None:
        _same_kind("z", z, x)
    _, shape = _rules.infer_product(
        kind, x.shape, [factor.shape for factor in factors], trans_x,
        factor_transposes(trans_factors, len(factors)), None if z is None else z.shape)
    _rules.check_addend(z is not None, beta)
    return shape


def ksmm(x, weights, bias, residual, z, beta, trans, layout, activation, is_chain=False):
    """Arguments of ksmm and of ksmm_chain, `trans` with a letter per weight; the shape of the
    result."""
    kind = "c" if x.dtype.is_complex else "f" if x.dtype.is_floating_point else "i"
    _rules.check_activation(activation, kind, x.dtype)
    for k, weight in enumerate(weights):
        _same_kind(f"weights[{k}]" if is_chain else "weights", weight, x)
    others = {"bias": bias, "residual": residual, "z": z}
    for name, array in others.items():
        if array is not None:
            _same_kind(name, array, x)
    shape = _rules.infer_sparse(
        x.shape, [weight.shape for weight in weights], trans, layout, is_chain,
        **{name: array.shape for name, array in others.items() if array is not None})
    _rules.check_addend(z is not None, beta)
    return shape
