"""Rotations make activations with outliers fit eight bits, as in quantised language models.

A layer y = x @ W is computed in integers: rows of x and columns of W get a scale each.
Some features of x are a hundred times larger than the others, so little is left of those.
With an orthonormal H, (x @ H) @ (H.T @ W) is the same product, and every element of x @ H is
a sum over all features: nothing stands out. H is a Kronecker product of Hadamard matrices,
which kron applies in one trip over memory; H.T @ W is done once.

usage: rotate_and_quantise.py [--rows N] [--features N]    (needs the kron package)
"""

import argparse

import numpy as np

import kron

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rows", type=int, default=64)
parser.add_argument("--features", type=int, default=3584, help="28 * 128 by default")
options = parser.parse_args()


def quantise(array, axis):
    """Eight-bit integers and their scales, so that `array` is about integers * scales."""
    scales = np.abs(array).max(axis, keepdims=True) / 127
    return np.rint(array / scales).astype(np.int8), scales


def multiply(x, weights):
    """x @ weights in integers."""
    xs, x_scales = quantise(x, 1)
    ws, w_scales = quantise(weights, 0)
    return (xs.astype(np.int32) @ ws.astype(np.int32)) * x_scales * w_scales


rng = np.random.default_rng(0)
x = rng.standard_normal((options.rows, options.features)).astype(np.float32)
outliers = rng.choice(options.features, 8, replace=False)
x[:, outliers] *= 100
weights = rng.standard_normal((options.features, 96)).astype(np.float32)
weights[outliers] /= 100  # What training makes of it: they matter as much as the others.
exact = x @ weights

rotate = kron.rotations.Rotation(options.features)
print(f"{rotate} of {options.features} features has "
      f"{sum(n * n for n in rotate.sizes)} numbers instead of {options.features ** 2}")
rotated_weights = np.ascontiguousarray(rotate(np.ascontiguousarray(weights.T)).T)
np.testing.assert_allclose(rotate(x) @ rotated_weights, exact, atol=1e-3 * np.abs(exact).max())


def error(product):
    return np.linalg.norm(product - exact) / np.linalg.norm(exact)


plain = error(multiply(x, weights))
rotated = error(multiply(rotate(x), rotated_weights))
print(f"relative error in eight bits: {plain:.4f}, with the rotation {rotated:.4f}")
assert rotated < 0.3 * plain
