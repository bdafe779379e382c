"""Writes scikit-learn's diabetes data, divided in two, and its predictions by kernel ridge regression.

usage: reference.py FOLDER GAMMA LAMBDA
"""

import pathlib
import sys

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge


def main():
    folder, gamma, alpha = pathlib.Path(sys.argv[1]), *map(float, sys.argv[2:])
    x, t = load_diabetes(return_X_y=True)
    x = x / x.std(0)
    order = np.random.default_rng(0).permutation(len(x))
    x, t = x[order], t[order] - t.mean()
    train = 3 * len(x) // 4
    model = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha).fit(x[:train], t[:train])
    for name, array in (("x", x[:train]), ("t", t[:train]), ("new", x[train:]), ("truth", t[train:]),
                        ("expected", model.predict(x[train:]))):
        np.ascontiguousarray(array, "<f8").tofile(folder / f"{name}.raw")


if __name__ == "__main__":
    main()
