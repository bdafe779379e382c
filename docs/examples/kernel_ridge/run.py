"""Kernel ridge regression in C++, with a kernel compiled ahead of time, beside scikit-learn's.

Installs kron, builds this folder as a user's project that finds it there, and compares
predictions of scikit-learn's diabetes data. Runs with the scikit-learn of BUILD/venv-torch, where
the PyTorch tests have installed it.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import common
import numpy as np

GAMMA, LAMBDA, FEATURES = "0.02", "0.5", "10"


def explained(predicted, truth):
    """The part of the variance that a prediction explains."""
    return 1 - ((predicted - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()


def main():
    options = common.parse_options(
        __doc__.splitlines()[0],
        lambda parser: parser.add_argument("--python", help="an interpreter that has scikit-learn"))
    python = pathlib.Path(options.python or options.build / "venv-torch/bin/python")
    if not python.exists():
        print(f"not run: scikit-learn is not installed in {options.build / 'venv-torch'}")
        sys.exit(77)
    folder = common.output_folder(options, "kernel_ridge")
    checks = common.Checks()
    project = common.build_project(options, HERE, folder)
    common.run(python, HERE / "reference.py", folder, GAMMA, LAMBDA)
    x, t, new, y = (folder / f"{name}.raw" for name in ("x", "t", "new", "y"))
    print(common.run(project / "kernel_ridge", FEATURES, GAMMA, LAMBDA, x, t, new, y), end="")
    predicted, expected, truth = (np.fromfile(folder / f"{name}.raw") for name in ("y", "expected", "truth"))
    print(f"explained variance: kron {explained(predicted, truth):.6f}, scikit-learn "
          f"{explained(expected, truth):.6f}")
    checks.below("relative difference from scikit-learn's predictions",
                 common.relative_error(predicted, expected), 1e-9)
    checks.below("part of the variance that is not explained", 1 - explained(predicted, truth), 0.65)
    checks.done()


if __name__ == "__main__":
    main()
