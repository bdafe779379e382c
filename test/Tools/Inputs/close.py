"""Whether two NPY files of f64 hold the same numbers but for rounding.

usage: close.py FILE FILE"""

import sys

import numpy as np

one, other = map(np.load, sys.argv[1:])
error = np.abs(one - other).max() / np.abs(one).max() if one.shape == other.shape else np.inf
print("close" if error < 1e-14 * 64 and np.abs(one).max() > 0 else f"not close: {error}")
