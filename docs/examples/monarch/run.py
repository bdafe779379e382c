"""A Monarch layer as two Kronecker-sparse factors with bias and ReLU.

Checks the result against the dense matrix that the two factors stand for, in
float64, and times kron next to NumPy's permute-and-batched-matmul on one core.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import common
import numpy as np

ROWS = 512


def dense(k):
    """The matrix with y = matrix @ x for weights [a, b, c, d]."""
    a, b, c, d = k.shape
    matrix = np.zeros((a, b, d, a, c, d))
    for i in range(a):
        for t in range(d):
            matrix[i, :, t, i, :, t] = k[i, :, :, t]
    return matrix.reshape(a * b * d, a * c * d)


def layer_by_permutes(x, k1, k2, bias):
    """The way a Monarch layer is usually written: batched matmul, permute, batched
    matmul, permute back."""
    hidden = x.reshape(-1, 32, 32).transpose(1, 0, 2) @ k1[..., 0].transpose(0, 2, 1)
    hidden = hidden.transpose(2, 1, 0) @ k2[0].transpose(2, 1, 0)
    return np.maximum(hidden.transpose(1, 2, 0).reshape(-1, 1024) + bias, 0)


def main():
    options = common.parse_options(
        __doc__.splitlines()[0],
        lambda parser: parser.add_argument("--times", type=int, default=20, help="calls to time"))
    folder = common.output_folder(options, "monarch")
    common.pin_to_one_core()
    checks = common.Checks()
    rng = np.random.default_rng(2)
    x, k1, k2, bias = [rng.standard_normal(shape).astype(np.float32) for shape in
                       ((ROWS, 1024), (32, 32, 32, 1), (1, 32, 32, 32), (1024,))]

    y, seconds, _ = common.kron_run(options, HERE / "monarch.mlir", "layer", folder,
                                    [x, k1, k2, bias], options.times)
    exact = np.maximum(x.astype(np.float64) @ (dense(k2) @ dense(k1)).T + bias, 0)
    checks.below("relative error against the dense matrix in float64",
                 common.relative_error(y, exact), 16 * np.finfo(np.float32).eps)
    checks.below("relative error of NumPy's way",
                 common.relative_error(layer_by_permutes(x, k1, k2, bias), exact),
                 16 * np.finfo(np.float32).eps)
    permutes = common.median_seconds(lambda: layer_by_permutes(x, k1, k2, bias), options.times)
    print(f"{ROWS} rows of 1024 features, one core: kron {seconds * 1e3:.3f} ms, "
          f"NumPy {permutes * 1e3:.3f} ms")
    checks.done()


if __name__ == "__main__":
    main()
