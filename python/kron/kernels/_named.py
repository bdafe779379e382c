"""Kernels with names, as functions of rows.

SPDX-License-Identifier: MIT
"""

import math

import numpy as np

from kron.kernels import _trace

#: Added to squared distances in units of the length scale, which changes no value: kernels that are
#: smooth at distance 0 get their derivatives there, which square roots have not.
TINY = 1e-20


def gaussian(x, y, lengthscale=1):
    return np.exp(np.sum((x - y) ** 2) * (-0.5 / lengthscale ** 2))


def laplace(x, y, lengthscale=1):
    return np.exp(np.sum(abs(x - y)) * (-1 / lengthscale))


def matern12(x, y, lengthscale=1):
    return np.exp(-np.sqrt(np.sum((x - y) ** 2)) / lengthscale)


def _scaled_distance(x, y, factor, lengthscale):
    """The distance in units of the length scale times the root of `factor`."""
    return np.sqrt(np.sum((x - y) ** 2) * (factor / lengthscale ** 2) + TINY)


def matern32(x, y, lengthscale=1):
    r = _scaled_distance(x, y, 3, lengthscale)
    return (1 + r) * np.exp(-r)


def matern52(x, y, lengthscale=1):
    r = _scaled_distance(x, y, 5, lengthscale)
    return (1 + r + r * r / 3) * np.exp(-r)


def rational_quadratic(x, y, lengthscale=1, alpha=1):
    return np.exp(-alpha * np.log1p(np.sum((x - y) ** 2) * (0.5 / (alpha * lengthscale ** 2))))


def periodic(x, y, lengthscale=1, period=1):
    # Whole periods are taken off, which is exact, since functions of large angles are not.
    turns = (x - y) / period
    sine = np.sin(math.pi * (turns - np.rint(turns)))
    return np.exp(np.sum(sine * sine) * (-2 / lengthscale ** 2))


FUNCTIONS = {function.__name__: function for function in (
    gaussian, laplace, matern12, matern32, matern52, rational_quadratic, periodic)}
#: name -> names of hyper-parameters, and those of defaults.
PARAMETERS = {name: _trace.parameters_of(function) for name, function in FUNCTIONS.items()}
#: name -> text of the traced function.
TEXTS = {name: _trace.text_of(function) for name, function in FUNCTIONS.items()}
