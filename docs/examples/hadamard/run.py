"""A Walsh-Hadamard transform with ten 2x2 factors, against NumPy's butterflies.

Checks the result in float64 and that transforming twice gives 1024 times the input,
and times kron next to the butterflies on one core.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import common
import numpy as np


def fast_hadamard(x):
    """Butterflies along the last axis: log2(n) sweeps of additions."""
    y = x.copy()
    rows, n = y.shape
    half = 1
    while half < n:
        pairs = y.reshape(rows, n // (2 * half), 2, half)
        y = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        half *= 2
    return y.reshape(rows, n)


def main():
    options = common.parse_options(
        __doc__.splitlines()[0],
        lambda parser: parser.add_argument("--times", type=int, default=20, help="calls to time"))
    folder = common.output_folder(options, "hadamard")
    common.pin_to_one_core()
    checks = common.Checks()
    x = np.random.default_rng(1).standard_normal((1024, 1024)).astype(np.float32)
    h = np.array([[1, 1], [1, -1]], np.float32)

    y, seconds, _ = common.kron_run(options, HERE / "hadamard.mlir", "hadamard", folder,
                                    [x, h], options.times)
    eps = np.finfo(np.float32).eps
    checks.below("relative error against NumPy's butterflies in float64",
                 common.relative_error(y, fast_hadamard(x.astype(np.float64))), 16 * eps)
    twice, _, _ = common.kron_run(options, HERE / "hadamard.mlir", "hadamard", folder, [y, h])
    checks.below("relative error of transforming twice",
                 common.relative_error(twice / 1024, x.astype(np.float64)), 16 * eps)
    butterflies = common.median_seconds(lambda: fast_hadamard(x), 5)
    print(f"1024 rows of 1024, one core: kron {seconds * 1e3:.3f} ms, "
          f"NumPy's butterflies {butterflies * 1e3:.3f} ms")
    checks.done()


if __name__ == "__main__":
    main()
