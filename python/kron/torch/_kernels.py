# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The operations on the memory of tensors: no derivatives, no dispatcher.

The functions have the parameters of those in _dispatch.py, so that rules for derivatives
(_grads.py) run with either.
"""

import sys

from .. import _core
from . import _checks, _grads, _programs
from ._axis_grad import axis_grad  # noqa: F401
from ._streams import stream_of
from ._weight_grad import ksmm_weight_grad  # noqa: F401

_this = sys.modules[__name__]


def plain(array):
    """What compiled code takes whatever the array's strides are."""
    return None if array is None else array.resolve_conj().resolve_neg().contiguous()


def _product(kind):
    raw = getattr(_core, "raw_" + kind)

    def kernel(x, factors, alpha=1, z=None, beta=0, trans_x="N", trans_factors="",
               precision="full"):
        try:
            return raw(x, factors, alpha, beta, z, None, trans_x, trans_factors,
                       precision, stream_of(x))
        except ValueError:
            _checks.product(kind, x, factors, z, beta, trans_x, trans_factors)
            # Strides that the runtime does not take.
            return raw(plain(x), [plain(f) for f in factors], alpha, beta, plain(z),
                       None, trans_x, trans_factors, precision, stream_of(x))

    return kernel


mkm, kmm, batched = map(_product, ("mkm", "kmm", "batched"))


def ksmm(x, weights, bias=None, residual=None, z=None, alpha=1, beta=0, scale=1,
         trans_weights="N", layout="batch_first", activation="identity",
         precision="full"):
    def call(x, weights, bias, residual, z):
        return _core.raw_ksmm(x, weights, None, layout, bias=bias, residual=residual,
                              z=z, alpha=alpha, beta=beta, scale=scale,
                              trans_weights=trans_weights, epilogue=activation,
                              precision=precision, stream=stream_of(x))

    try:
        return call(x, weights, bias, residual, z)
    except ValueError:
        _checks.ksmm(x, [weights], bias, residual, z, beta, trans_weights, layout,
                     activation)
        return call(*map(plain, (x, weights, bias, residual, z)))


def ksmm_chain(x, weights, bias=None, layout="batch_first", precision="full"):
    def call(x, weights, bias):
        return _core.raw_ksmm_chain(x, weights, None, layout, bias=bias,
                                    precision=precision, stream=stream_of(x))

    try:
        return call(x, weights, bias)
    except ValueError:
        _checks.ksmm(x, weights, bias, None, None, 0, "N" * len(weights), layout, "identity",
                     is_chain=True)
        return call(plain(x), [plain(w) for w in weights], plain(bias))


def product_grads(kind, grad, x, factors, needs, alpha, trans_x, trans_factors, precision):
    """Gradients by x and by every factor, None where not needed."""
    arguments = kind, grad, x, factors, needs, alpha, trans_x, trans_factors, precision
    result = _programs.product_grads(*arguments, stream_of(x))
    return _grads.product(_this, *arguments) if result is None else result


def ksmm_grads(grad, x, weights, kept, needs, trans, layout, precision):
    """Gradients by x, by a bias and by all weights of a chain, None where not needed. `kept`
    are the inputs of all weights but the first, or nothing."""
    arguments = grad, x, weights, kept, needs, trans, layout, precision
    result = _programs.ksmm_grads(*arguments, stream_of(x))
    return _grads.ksmm_chain(_this, *arguments) if result is None else result
