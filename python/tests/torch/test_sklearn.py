# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Kernels and distances for scikit-learn against scikit-learn's own."""

import math

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn import metrics  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_diabetes, load_iris  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

import kron.sklearn as ks  # noqa: E402


@pytest.fixture
def rng():
    return np.random.default_rng(7)


FUNCTIONS = [("rbf_kernel", {}), ("rbf_kernel", {"gamma": 0.3}), ("laplacian_kernel", {}),
             ("laplacian_kernel", {"gamma": 0.3}), ("euclidean_distances", {}),
             ("euclidean_distances", {"squared": True}), ("manhattan_distances", {})]


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("name, options", FUNCTIONS)
def test_functions(name, options, dtype, tolerance, rng):
    x, y = rng.standard_normal((20, 5)).astype(dtype), rng.standard_normal((9, 5)).astype(dtype)
    ours, stock = getattr(ks, name), getattr(metrics.pairwise, name)
    for args in ((x, y), (x,)):
        found = ours(*args, **options)
        exact = stock(*(a.astype(np.float64) for a in args), **options)
        assert found.dtype == dtype
        # Distances of equal rows are 0; scikit-learn's are roots of rounding errors at times.
        np.testing.assert_allclose(found, exact, rtol=tolerance, atol=tolerance)


KERNELS = [(ks.KronRBF, RBF, {})] + [(ks.KronMatern, Matern, {"nu": nu}) for nu in (0.5, 1.5, 2.5, math.inf, 0.7)]


@pytest.mark.parametrize("length_scale", [1.3, [0.4, 2.0, 1.1]])
@pytest.mark.parametrize("ours, stock, options", KERNELS)
def test_kernels(ours, stock, options, length_scale, rng):
    """Values, and derivatives by the logarithms of length scales."""
    ours, stock = (make(length_scale=length_scale, **options) for make in (ours, stock))
    x, y = rng.standard_normal((12, 3)), rng.standard_normal((5, 3))
    np.testing.assert_allclose(ours(x, y), stock(x, y), rtol=1e-12)
    np.testing.assert_allclose(ours(x), stock(x), rtol=1e-12)
    for a, b in zip(ours(x, eval_gradient=True), stock(x, eval_gradient=True), strict=True):
        assert a.shape == b.shape
        # Those of 0.7 are differences of values.
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    fixed = clone(ours).set_params(length_scale_bounds="fixed")
    assert fixed(x, eval_gradient=True)[1].shape == (12, 12, 0)


def test_bad_input(rng):
    x = rng.standard_normal((4, 3))
    with pytest.raises(ValueError, match="expects no Y where eval_gradient is True"):
        ks.KronRBF()(x, x, eval_gradient=True)
    with pytest.raises(ValueError, match=r"one element for each of 3 features, but got shape \(2,\)"):
        ks.KronRBF(length_scale=[1.0, 2.0])(x)
    kernel = ks.KronRBF()
    with pytest.raises(ValueError, match=r"expects X to have 2 axes, \[rows, features\], but got shape \(1, 4, 3\)"):
        kernel(x[None])
    with pytest.raises(ValueError, match=r"expects Y to have 2 axes, \[rows, features\], but got shape \(1, 4, 3\)"):
        kernel(x, x[None])
    # One feature would broadcast with the length scales of three.
    for y, scale in ((x[:, :1], [1.0, 2.0, 3.0]), (x[:, :2], 1.0)):
        with pytest.raises(ValueError, match=rf"expects Y to have 3 features as X, but got shape \(4, {y.shape[1]}\)"):
            ks.KronRBF(length_scale=scale)(x, y)
    with pytest.raises(ValueError, match="one element for each of 1 features"):
        ks.KronMatern(length_scale=[1.0, 2.0, 3.0])(x[:, :1])
    with pytest.raises(ValueError, match="Incompatible dimension"):
        ks.rbf_kernel(x, x[:, :2])
    for function in (ks.rbf_kernel, ks.laplacian_kernel):
        for gamma in (0, -1.0, math.nan, math.inf, True, "scale", np.ones(3), np.float32(-1)):
            with pytest.raises(ValueError, match="expects gamma to be None or a positive finite number"):
                function(x, gamma=gamma)
        with pytest.raises(ValueError, match="positive finite number of float32, but got 1e\\+39"):
            function(x.astype(np.float32), gamma=1e39)
        np.testing.assert_array_equal(function(x, gamma=np.float64(2)), function(x, gamma=2))


def test_types(rng):
    """Kernels compute in float64, functions in the type of both sides."""
    x = rng.standard_normal((4, 3)).astype(np.float32)
    assert ks.KronRBF()(x).dtype == ks.KronMatern(nu=1.5)(x).dtype == np.float64
    assert ks.rbf_kernel(x).dtype == np.float32
    assert ks.rbf_kernel(x, x.astype(np.float64)).dtype == np.float64


@pytest.mark.parametrize("length_scale", [1.3, [0.4, 2.0, 1.1]])
def test_changed_nu(length_scale, rng):
    """What kron has no code for is scikit-learn's, whenever it was set."""
    x = rng.standard_normal((6, 3))
    kernel = ks.KronMatern(length_scale=length_scale, nu=0.5)
    kernel(x)
    kernel.nu = 0.7
    np.testing.assert_array_equal(kernel(x), Matern(length_scale=length_scale, nu=0.7)(x))
    kernel.set_params(nu=1.5)
    np.testing.assert_allclose(kernel(x), Matern(length_scale=length_scale, nu=1.5)(x), rtol=1e-12)


def test_kernel_ridge():
    """By a kernel of Gaussian processes, and by a matrix."""
    x, y = load_diabetes(return_X_y=True)
    expected = KernelRidge(kernel="rbf", gamma=8.0, alpha=0.1).fit(x[:300], y[:300]).predict(x[300:])
    model = KernelRidge(kernel=ks.KronRBF(length_scale=0.25), alpha=0.1).fit(x[:300], y[:300])
    np.testing.assert_allclose(model.predict(x[300:]), expected, rtol=1e-9)
    model = KernelRidge(kernel="precomputed", alpha=0.1).fit(ks.rbf_kernel(x[:300], gamma=8.0), y[:300])
    np.testing.assert_allclose(model.predict(ks.rbf_kernel(x[300:], x[:300], gamma=8.0)), expected, rtol=1e-9)


@pytest.mark.parametrize("function", [ks.rbf_kernel, ks.KronRBF(length_scale=math.sqrt(2))])
def test_support_vectors(function):
    x, y = load_iris(return_X_y=True)
    gamma = 0.25
    expected = SVC(kernel="rbf", gamma=gamma).fit(x, y).predict(x)
    found = SVC(kernel=function).fit(x, y).predict(x)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ours, stock, options", KERNELS[:4])
@pytest.mark.parametrize("length_scale", [1.0, [1.0, 1.0]])
def test_gaussian_processes(ours, stock, options, length_scale, rng):
    """Fitted hyper-parameters, predictions and their deviations."""
    x = rng.uniform(0, 4, (60, 2))
    y = np.sin(2 * x[:, 0]) * np.cos(x[:, 1]) + 0.05 * rng.standard_normal(60)
    found = []
    for make in (ours, stock):
        kernel = ConstantKernel() * make(length_scale=length_scale, **options) + WhiteKernel(0.01)
        model = GaussianProcessRegressor(kernel, random_state=0).fit(x, y)
        found.append((model.kernel_.theta, *model.predict(x[:10] + 0.1, return_std=True)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
