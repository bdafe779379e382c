# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kernel matrices and distances of descriptors."""

import torch

from ...kernels import _arrays, _programs
from ...torch import _ops  # noqa: F401, makes tensors known to compiled functions
from . import _checks, _descriptors
from ._descriptors import KernelType, PowerType

_EPSILON = 1e-5


def _check_use(descriptor, p, inner_p, outer_p, bandwidth, others):
    """What a descriptor needs has to be given, and nothing else."""
    for power, own, name in ((descriptor._inner_power, inner_p, "inner_p"),
                             (descriptor._outer_power, outer_p, "outer_p")):
        given = [key for key, value in (("p", p), (name, own)) if value is not None]
        if power is PowerType.POW and len(given) != 1:
            raise ValueError(f"expects p or {name} for PowerType.POW, but got {' and '.join(given) or 'neither'}")
        if power is not PowerType.POW and given:
            raise ValueError(f"expects no {given[0]} for {power}")
    has_kernel = descriptor._kernel_type is not KernelType.NONE
    if has_kernel and bandwidth is None:
        raise ValueError(f"expects bandwidth for {descriptor._kernel_type}")
    for name, value in {"bandwidth": bandwidth, **others}.items():
        if not has_kernel and value is not None:
            raise ValueError(f"expects no {name} for KernelType.NONE")


def _exponents(p, inner_p, outer_p, like):
    """[(tensor, number or None)] of the inner and the outer exponent; 0 where there is none."""
    if p is not None:
        value, number = _checks.hyper_parameter(p, "p", like)
        if number is None:
            return [(value, None), (1 / value, None)]
        return [(value, number), (_arrays.scalar(1 / number, "float32", like), 1 / number)]
    none = _arrays.scalar(0.0, "float32", like), 0.0
    return [none if value is None else _checks.hyper_parameter(value, name, like)
            for name, value in (("inner_p", inner_p), ("outer_p", outer_p))]


def _store(function, arrays, out):
    """The matrix of `arrays` in `out`, which may be row-major or column-major."""
    x, y, *parameters = arrays
    batch = max(*(array.shape[0] for array in (x, y)), *(value.shape[0] for value in parameters if value.dim()))
    if batch != out.shape[0]:
        out.copy_(_programs.pairwise(function, arrays))
    elif out.stride(-1) == 1 or out.shape[-1] == 1:
        _programs.pairwise(function, arrays, out=out)
    elif out.stride(-2) == 1:
        _programs.pairwise(function.swapped(), (y, x, *parameters), out=out.mT)
    else:
        raise ValueError(f"expects out to have stride 1 along one of its last two axes, but got {out.stride()}")


def run_kernel(kernel_descriptor, a, b, out=None, p=None, inner_p=None, outer_p=None, bandwidth=None, epsilon=None,
               regularization=None, regularization_offset_x=0, regularization_offset_y=0, try_to_align=False,
               debug=False):
    """The matrix [L, M, N] of a descriptor of rows a, [M, K] or [L, M, K], and b, [N, K] or [L, N, K],
    written to `out` if that is given.

    Exponents, `bandwidth`, `epsilon` and `regularization` are numbers, or tensors without axes or of shape [L]. Values
    smaller than `epsilon` count as 0 before the kernel is taken. Where row m + regularization_offset_x is
    row n + regularization_offset_y, the result is 1 + regularization, if that is not 0. `try_to_align` and
    `debug` have no effect."""
    if not isinstance(kernel_descriptor, _descriptors.KernelDescriptor):
        raise TypeError(f"expects kernel_descriptor to be a KernelDescriptor, but got "
                        f"{type(kernel_descriptor).__name__}")
    _check_use(kernel_descriptor, p, inner_p, outer_p, bandwidth,
               {"epsilon": epsilon, "regularization": regularization})
    _checks.check_tensors(a=a, b=b, out=out)
    x, y = (_checks.batched(_checks.plain(array), name) for name, array in (("a", a), ("b", b)))
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"expects the last axis of b to have size {x.shape[-1]} as that of a, but got shape "
                         f"{tuple(b.shape)}")
    (inner, inner_number), (outer, outer_number) = _exponents(p, inner_p, outer_p, a)
    width, _ = _checks.hyper_parameter(1.0 if bandwidth is None else bandwidth, "bandwidth", a)
    least, _ = _checks.hyper_parameter(_EPSILON if epsilon is None else epsilon, "epsilon", a, is_positive=False)
    added, _ = _checks.hyper_parameter(0.0 if regularization is None else regularization, "regularization", a,
                                       is_positive=False)
    given = None if out is None else _checks.batched(_checks.plain(out), "out")
    count = _checks.joined(a=x, b=y, p=inner, outer_p=outer, bandwidth=width, epsilon=least,
                           regularization=added, out=given)
    shape = (count, x.shape[1], y.shape[1])
    if given is None:
        out = given = torch.empty(shape, dtype=torch.float32, device=a.device)
    _checks.check_shape(given, "out", shape)
    function = kernel_descriptor.function(inner_number, outer_number)
    with torch.no_grad():
        _store(function, (x, y, inner, outer, width, least), given)
        if regularization is not None:
            offset = regularization_offset_x - regularization_offset_y
            diagonal = given.diagonal(offset, -2, -1)
            added = added.reshape(-1, 1)
            diagonal.copy_(torch.where(added != 0, 1 + added, diagonal))
    return out


def cdist(a, b, out=None, p=2.0, skip_epilogue=False, try_to_align=False, debug=False):
    """Distances [L, M, N] of rows a, [M, K] or [L, M, K], and b, [N, K] or [L, N, K]; sums of powers
    with `skip_epilogue`. `p` is positive, a number or a tensor without axes or of shape [L]."""
    if not isinstance(p, torch.Tensor) and p == 1:
        return run_kernel(_descriptors.kernel_descriptor_l1_norm, a, b, out=out)
    if not isinstance(p, torch.Tensor) and p == 2:
        descriptor = _descriptors.kernel_descriptor_l2_sum if skip_epilogue else _descriptors.kernel_descriptor_l2_norm
        return run_kernel(descriptor, a, b, out=out)
    if skip_epilogue:
        return run_kernel(_descriptors.kernel_descriptor_p_sum, a, b, out=out, inner_p=p)
    return run_kernel(_descriptors.kernel_descriptor_p_norm, a, b, out=out, p=p)


def pre_compile_descriptors(device, descriptors, try_to_align=False, debug=False):
    """Compiles the programs of descriptors for a device, each for a and b with and without a batch. Those with
    PowerType.POW are compiled at their first call, by their exponents."""
    device = torch.device("cuda", device.device_id) if hasattr(device, "device_id") else torch.device(device)
    for descriptor in descriptors:
        if PowerType.POW in (descriptor._inner_power, descriptor._outer_power):
            continue
        bandwidth = None if descriptor._kernel_type is KernelType.NONE else 1.0
        for batch_a in (1, 2):
            for batch_b in (1, 2):
                a, b = (torch.zeros(batch, 1, 1, device=device) for batch in (batch_a, batch_b))
                run_kernel(descriptor, a, b, bandwidth=bandwidth)
