"""Rotations make activations with outliers fit eight bits, as in quantised language models.

A layer y = x @ W is computed in integers: rows of x and columns of W get a scale each.
Some features of x are a hundred times larger than the others, so little is left of those.
With an orthonormal H, (x @ H) @ (H.T @ W) is the same product, and every element of x @ H is
a sum over all features: nothing stands out. H is a Kronecker product of Hadamard matrices,
which kron applies in one fused region; H.T @ W is done once. On a GPU the kernel that
rotates stores eight bits and scales, where a tile of it has whole rows.

usage: rotate_and_quantise.py [--rows N] [--features N]    (needs the kron package)
"""

import argparse

import numpy as np

import kron

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rows", type=int, default=64)
parser.add_argument("--features", type=int, default=3584, help="28 * 128 by default")
options = parser.parse_args()


def multiply(x, weights):
    """x @ weights in integers; both are rows of eight bits and their scales, so that x is
    about x[0] * x[1][:, None], and the same of the columns of the weights."""
    product = x[0].astype(np.int32) @ weights[0].astype(np.int32).T
    return product * x[1][:, None] * weights[1]


rng = np.random.default_rng(0)
x = rng.standard_normal((options.rows, options.features)).astype(np.float32)
outliers = rng.choice(options.features, 8, replace=False)
x[:, outliers] *= 100
weights = rng.standard_normal((options.features, 96)).astype(np.float32)
weights[outliers] /= 100  # What training makes of it: they matter as much as the others.
exact = x @ weights

rotate = kron.rotations.Rotation(options.features)
print(f"{rotate} of {options.features} features has "
      f"{sum(n * n for n in rotate.sizes)} weights instead of {options.features ** 2}")
columns = np.ascontiguousarray(weights.T)
np.testing.assert_allclose(rotate(x) @ rotate(columns).T, exact, atol=1e-3 * np.abs(exact).max())


def error(product):
    return np.linalg.norm(product - exact) / np.linalg.norm(exact)


plain = error(multiply(kron.quantize(x), kron.quantize(columns)))
rotate_to_8 = kron.rotations.Rotation(options.features, quantize="int8")
rotated = error(multiply(rotate_to_8(x), rotate_to_8(columns)))
print(f"relative error in eight bits: {plain:.4f}, with the rotation {rotated:.4f}")
assert rotated < 0.3 * plain
