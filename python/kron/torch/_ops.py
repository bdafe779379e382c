# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The operations as PyTorch knows them: torch.ops.kron.*.

Every operation has a kernel (kron's compiled one), a fake kernel that knows shapes
only, derivatives, a rule for vmap and one for autocast, so that torch.compile,
torch.func and torch.amp treat it like one of their own. Transposes are strings with
one of N, T, C per array.
"""

import warnings

import torch
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

from .. import _core, _jit
from . import _autocast, _dispatch, _grads, _kernels, _shapes, _streams, _vmap

_library = torch.library.Library("kron", "DEF")

_PRODUCT = ('(Tensor x, Tensor[] factors, Scalar alpha=1, Tensor? z=None, '
            'Scalar beta=0, str trans_x="N", str trans_factors="", '
            'str precision="full") -> Tensor')
for _name in ("mkm", "kmm", "batched"):
    _library.define(_name + _PRODUCT)
_library.define(
    "ksmm(Tensor x, Tensor weights, Tensor? bias=None, Tensor? residual=None, "
    "Tensor? z=None, Scalar alpha=1, Scalar beta=0, Scalar scale=1, "
    'str trans_weights="N", str layout="batch_first", str activation="identity", '
    'str precision="full") -> Tensor')
_library.define(
    'ksmm_chain(Tensor x, Tensor[] weights, Tensor? bias=None, '
    'str layout="batch_first", str precision="full") -> Tensor')
_library.define(
    "ksmm_weight_grad(Tensor grad, Tensor x, SymInt[] pattern, "
    'str layout="batch_first") -> Tensor')
_library.define("axis_grad(Tensor x, Tensor grad, str rows) -> Tensor")
# Gradients of whole calls, those that are needed; without derivatives of their own.
_library.define(
    "product_grads(str kind, Tensor grad, Tensor x, Tensor[] factors, bool[] needs, "
    "Scalar alpha, str trans_x, str trans_factors, str precision) -> Tensor[]")
_library.define(
    "ksmm_grads(Tensor grad, Tensor x, Tensor[] weights, Tensor[] kept, bool[] needs, "
    "str trans, str layout, str precision) -> Tensor[]")

_DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
           "bf16": torch.bfloat16, "i32": torch.int32, "i64": torch.int64,
           "complex<f32>": torch.complex64, "complex<f64>": torch.complex128}


def _allocate_on(device):
    """What code of torch.compile allocates by, in half the time that new_empty takes."""
    return getattr(torch._C._dynamo.guards, "_empty_strided_" + device, None)


#: Absent where PyTorch was built without CUDA.
_CURRENT_CUDA = getattr(torch._C, "_cuda_getDevice", None)


_core.register_tensors(
    classes=(torch.Tensor, torch.nn.Parameter),
    types={dtype: _core.type_code(name) for name, dtype in _DTYPES.items()},
    empty=torch.Tensor.new_empty, empty_cpu=_allocate_on("cpu"),
    empty_cuda=_CURRENT_CUDA and _allocate_on("cuda"), current_cuda=_CURRENT_CUDA,
    from_dlpack=torch._C._from_dlpack,
    is_grad_enabled=torch.is_grad_enabled,
    guards=(torch._C._are_functorch_transforms_active, torch._C._len_torch_dispatch_stack,
            torch._C._is_tracing),
    flags=((forward_ad, "_current_level", -1),
           (torch.autograd.profiler, "_is_profiler_enabled", False)),
    is_autocast=torch._C._is_any_autocast_enabled,
    is_autocast_on=torch.is_autocast_enabled, autocast_type=torch.get_autocast_dtype,
    casts={torch.float16: "half", torch.bfloat16: "bfloat16", torch.float32: "float"})

def _empty_like(tensor, shape, element):
    return tensor.new_empty(shape, dtype=_jit.torch_dtype(element))


if _streams.IS_FOUND:
    _jit.register_tensors((torch.Tensor, torch.nn.Parameter), _empty_like)

_bad_pool_size = _core.bad_pool_size()
if _bad_pool_size is not None:
    warnings.warn(f"expects KRON_POOL_SIZE to be a number of megabytes, but got "
                  f"{_bad_pool_size!r}", stacklevel=2)


# ----------------------------------------------------------------------------------
# Derivatives
# ----------------------------------------------------------------------------------


def _needs(ctx, count):
    """Which inputs need a gradient; arguments left at their defaults are absent."""
    needs = tuple(ctx.needs_input_grad)
    return needs + (False,) * (count - len(needs))


def _setup_product(kind):
    def setup_context(ctx, inputs, output):
        x, factors, alpha, z, *rest = inputs
        ctx.call = (kind, alpha, *rest)
        ctx.z_shape = None if z is None else z.shape
        ctx.save_for_backward(x, *factors)

    return setup_context


def _product_backward(ctx, grad):
    x, *factors = ctx.saved_tensors
    needs_x, needs_factors, _, needs_z = _needs(ctx, 4)[:4]
    dx, dz, dfactors = _grads.product_call(
        _dispatch, grad, x, factors, ctx.z_shape, [needs_x, needs_z, *needs_factors], ctx.call)
    return dx, dfactors, None, dz, None, None, None, None


def _setup_ksmm(ctx, inputs, output):
    x, weights, bias, _, z, alpha, beta, scale, trans, *rest, precision = inputs
    layout, activation = rest
    ctx.call = trans, layout, activation, alpha, beta, scale, precision
    ctx.save_for_backward(x, weights, bias, z)


def _ksmm_backward(ctx, grad):
    x, weights, bias, z = ctx.saved_tensors
    needs_x, needs_weights, *needs = _needs(ctx, 5)[:5]
    dx, dbias, dresidual, dz, dweights = _grads.ksmm_call(
        _dispatch, grad, x, [weights], [], bias, z, None if z is None else z.shape,
        [needs_x, *needs, needs_weights], ctx.call)
    return dx, *dweights, dbias, dresidual, dz, *[None] * 7


def _setup_chain(ctx, inputs, output):
    x, weights, bias, ctx.layout, ctx.precision = inputs
    ctx.save_for_backward(x, *weights)


def _chain_backward(ctx, grad):
    x, *weights = ctx.saved_tensors
    needs_x, needs_weights, needs_bias = _needs(ctx, 3)[:3]
    dx, dbias, *dweights = _dispatch.ksmm_grads(
        grad, x, weights, [], [needs_x, needs_bias, *needs_weights], "N" * len(weights),
        ctx.layout, ctx.precision)
    return dx, dweights, dbias, None, None


def _setup_weight_grad(ctx, inputs, output):
    grad, x, ctx.pattern, ctx.layout = inputs
    ctx.save_for_backward(grad, x)


def _weight_grad_backward(ctx, grad2):
    grad, x = ctx.saved_tensors
    dgrad = dx = None
    if ctx.needs_input_grad[0]:
        dgrad = _dispatch.ksmm(x, grad2, layout=ctx.layout)
    if ctx.needs_input_grad[1]:
        # The result conjugates x, so the derivative by x conjugates grad2's side.
        dx = _dispatch.ksmm(grad, grad2.conj(), trans_weights="T", layout=ctx.layout)
    return dgrad, dx, None, None


def _setup_axis_grad(ctx, inputs, output):
    x, grad, _ = inputs
    ctx.save_for_backward(x, grad)


def _axis_grad_backward(ctx, grad2):
    """The result takes conj(x): so does the derivative by the gradient take x, and that by
    x the conjugate of grad2."""
    x, grad = ctx.saved_tensors
    dx = dgrad = None
    if ctx.needs_input_grad[0]:
        dx = _dispatch.kmm(grad, [grad2.conj()], 1, None, 0, "N", "N", "full")
    if ctx.needs_input_grad[1]:
        dgrad = _dispatch.kmm(x, [grad2], 1, None, 0, "N", "T", "full")
    return dx, dgrad, None


class _Receiver:
    """A library as register_autograd sees it, which keeps the kernel for itself."""

    kernel = None

    def impl(self, name, kernel, *key, **options):
        self.kernel = kernel


def _autograd_kernel(qualified, direct, setup_context, backward):
    """Without derivatives to record, most calls can be computed at once: going on
    through PyTorch's dispatcher to the kernel of the device takes much longer."""
    receiver = _Receiver()
    torch.library.register_autograd(qualified, backward, setup_context=setup_context,
                                    lib=receiver)
    recorded = receiver.kernel
    # The dispatcher leaves out arguments at their defaults, but backward returns a
    # gradient for each, and before PyTorch 2.12 for just those that were given.
    schema = getattr(torch.ops.kron, qualified[len("kron::"):]).default._schema
    defaults = tuple(argument.default_value for argument in schema.arguments)

    def kernel(keyset, *arguments):
        result = direct(*arguments)
        if result is not NotImplemented:
            return result
        if forward_ad._current_level >= 0 and any(
                map(_has_tangent, pytree.tree_leaves(arguments))):
            raise NotImplementedError(f"{qualified} has no forward-mode derivative")
        _dispatch.load_sharding()
        return recorded(keyset, *arguments, *defaults[len(arguments):])

    return kernel


def _has_tangent(value):
    return (isinstance(value, torch.Tensor)
            and forward_ad.unpack_dual(value).tangent is not None)


def _direct_product(kind):
    direct = getattr(_core, "direct_" + kind)

    def call(x, factors, alpha=1, z=None, beta=0, trans_x="N", trans_factors="",
             precision="full"):
        return direct(x, factors, alpha, beta, z, None, trans_x, trans_factors, precision)

    return call


def _direct_ksmm(x, weights, bias=None, residual=None, z=None, alpha=1, beta=0, scale=1,
                 trans_weights="N", layout="batch_first", activation="identity",
                 precision="full"):
    return _core.direct_ksmm(x, weights, None, layout, bias, z, activation, alpha, beta,
                             None, scale, residual, trans_weights, precision)


def _direct_chain(x, weights, bias=None, layout="batch_first", precision="full"):
    return _core.direct_ksmm_chain(x, weights, None, layout, bias, None, None, 1, 0, None,
                                   None, None, None, precision)


def _no_direct(*arguments):
    return NotImplemented


# ----------------------------------------------------------------------------------
# Autocast
# ----------------------------------------------------------------------------------


def _autocast_kernel(op, device):
    """Casts the arrays of a call."""

    def kernel(*args, **kwargs):
        with _autocast.Casts(device) as casts:
            return op(*casts.cast(*args), **dict(zip(kwargs, casts.cast(*kwargs.values()))))

    return kernel


# ----------------------------------------------------------------------------------
# Registration
# ----------------------------------------------------------------------------------


def operation_vmap(rule):
    """The rule as an operation's own, within which it calls operations."""

    def operation_rule(info, in_dims, *args):
        with _dispatch.operations_only():
            return rule(info, in_dims, *args)

    return operation_rule


def _register(name, kernel, direct, fake, setup_context, backward, vmap):
    qualified = "kron::" + name
    op = getattr(torch.ops.kron, name).default
    for key in ("CPU", "CUDA"):
        _library.impl(name, kernel, key)
    for device in ("cpu", "cuda"):
        _library.impl(name, _autocast_kernel(op, device), "Autocast" + device.upper())
    torch.library.register_fake(qualified, fake, lib=_library)
    _library.impl(name, _autograd_kernel(qualified, direct, setup_context, backward),
                  "Autograd", with_keyset=True)
    torch.library.register_vmap(qualified, operation_vmap(vmap), lib=_library)
    _dispatch.rules[name] = setup_context, backward, vmap


def _register_gradients(name, fake):
    """An operation that backward passes call when nobody wants derivatives of them."""
    kernel = getattr(_kernels, name)

    def call(*arguments):
        return [result.contiguous() for result in kernel(*arguments) if result is not None]

    for key in ("CPU", "CUDA"):
        _library.impl(name, call, key)
    torch.library.register_fake("kron::" + name, fake, lib=_library)


for _name in ("mkm", "kmm", "batched"):
    _register(_name, getattr(_kernels, _name), _direct_product(_name),
              _shapes.product(_name), _setup_product(_name), _product_backward,
              _vmap.product(_name))
_register("ksmm", _kernels.ksmm, _direct_ksmm, _shapes.ksmm, _setup_ksmm, _ksmm_backward,
          _vmap.ksmm)
_register("ksmm_chain", _kernels.ksmm_chain, _direct_chain, _shapes.ksmm_chain, _setup_chain,
          _chain_backward, _vmap.ksmm_chain)
_register("ksmm_weight_grad", _kernels.ksmm_weight_grad, _no_direct,
          _shapes.ksmm_weight_grad, _setup_weight_grad, _weight_grad_backward,
          _vmap.ksmm_weight_grad)
_register("axis_grad", _kernels.axis_grad, _no_direct, _shapes.axis_grad, _setup_axis_grad,
          _axis_grad_backward, _vmap.axis_grad)
_register_gradients("product_grads", _shapes.product_grads)
_register_gradients("ksmm_grads", _shapes.ksmm_grads)
