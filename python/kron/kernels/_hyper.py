"""Hyper-parameters of kernels.

SPDX-License-Identifier: MIT
"""

from kron.kernels import _arrays, _named, _trace


def _length_scales(value, a):
    """(the hyper-parameter, what rows are divided by or None)"""
    array = _arrays.hyper_parameter(value, "lengthscale", a)
    _arrays.check_positive(array, "lengthscale", value)
    if array.ndim == 0:
        return array, None
    features = a.shape[-1]
    if array.shape[-1] not in (1, features) or array.ndim > 1 and array.shape[-2] != 1:
        raise ValueError(f"expects lengthscale to be a number, or to have shape [..., 1, {features}] or [..., 1, 1], "
                         f"but got {tuple(array.shape)}")
    if array.shape[-1] == 1:
        return array.reshape(array.shape[:-2]), None
    return _arrays.hyper_parameter(1, "lengthscale", a), array


def _divided(array, scales):
    """Rows in units of length scales, in their own type."""
    return _arrays.cast(array / scales, array.dtype)


def _check_names(given, names, defaults, shown):
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise TypeError(f"expects hyper-parameters of {shown} out of {', '.join(names) or 'none'}, but got "
                        f"{', '.join(unknown)}")
    missing = [name for name in names if name not in given and name not in defaults]
    if missing:
        raise TypeError(f"expects hyper-parameters {', '.join(missing)} of {shown}")


def of_name(name, a, b, given):
    """(a, b, hyper-parameters by name) of a kernel with a name."""
    names, defaults = _named.PARAMETERS[name]
    _check_names(given, names, defaults, f"'{name}'")
    values = {**defaults, **given}
    lengthscale, scales = _length_scales(values["lengthscale"], a)
    if scales is not None and name == "periodic":
        raise ValueError("expects lengthscale of 'periodic' to be a number, or to have shape [..., 1, 1], but got one "
                         "for every feature")
    parameters = {}
    for key in names:
        if key == "lengthscale":
            parameters[key] = lengthscale
            continue
        parameters[key] = _arrays.hyper_parameter(values[key], key, a)
        _arrays.check_positive(parameters[key], key, values[key])
    if scales is None:
        return a, b, parameters
    left = _divided(a, scales)
    return left, left if b is a else _divided(b, scales), parameters


def of_function(function, a, given):
    """Hyper-parameters by name of a function of rows, in its order."""
    names, defaults = _trace.parameters_of(function)
    _check_names(given, names, defaults, "the function of rows")
    return {name: _arrays.hyper_parameter(given.get(name, defaults.get(name)), name, a) for name in names}
