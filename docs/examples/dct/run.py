"""Compresses a photograph with a blockwise DCT-II that kron compiles.

As JPEG does: every 8x8 block is transformed, its coefficients are divided by a
quantisation table and rounded, and what is left is packed. Writes the photograph
before and after as PNG, prints size and PSNR, and times both transforms next to
NumPy's reshape-matmul-transpose on the same blocks, on one core.
"""

import importlib.util
import pathlib
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import common
import numpy as np
from PIL import Image

# The luminance table of the JPEG standard (annex K).
TABLE = np.array([[16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55],
                  [14, 13, 16, 24, 40, 57, 69, 56], [14, 17, 22, 29, 51, 87, 80, 62],
                  [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92],
                  [49, 64, 78, 87, 103, 121, 120, 101],
                  [72, 92, 95, 98, 112, 100, 103, 99]], np.float32).reshape(64)


def dct_matrix(n):
    """Orthonormal DCT-II: row k holds cosine k."""
    k, i = np.mgrid[0:n, 0:n]
    d = np.sqrt(2 / n) * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    d[0] /= np.sqrt(2)
    return d


def default_photograph():
    """Eileen Collins, 1993 (NASA, public domain), which scikit-image brings."""
    package = pathlib.Path(importlib.util.find_spec("skimage").origin).parent
    return package / "data/astronaut.png"


def to_blocks(pixels):
    """[height, width, 3] -> one row of 64 per 8x8 block of every colour."""
    height, width, _ = pixels.shape
    blocks = pixels.reshape(height // 8, 8, width // 8, 8, 3).transpose(4, 0, 2, 1, 3)
    return np.ascontiguousarray(blocks).reshape(-1, 64).astype(np.float32) - 128


def to_pixels(blocks, shape):
    height, width, _ = shape
    pixels = blocks.reshape(3, height // 8, width // 8, 8, 8).transpose(1, 3, 2, 4, 0)
    return np.clip(np.rint(pixels + 128), 0, 255).astype(np.uint8).reshape(shape)


def psnr(a, b):
    return 10 * np.log10(255**2 / np.mean((a.astype(float) - b.astype(float)) ** 2))


def add_options(parser):
    parser.add_argument("--image", type=pathlib.Path, default=None,
                        help="photograph to compress (default: scikit-image's astronaut)")
    parser.add_argument("--quality", type=float, default=1.0,
                        help="multiplies the quantisation steps (default: 1)")
    parser.add_argument("--times", type=int, default=50, help="calls to time (default: 50)")


def report(name, rows, kron_seconds, numpy_seconds):
    flops = 2 * rows * 64 * 16
    print(f"  {name:8} kron {kron_seconds * 1e3:7.3f} ms ({flops / kron_seconds * 1e-9:5.1f} "
          f"GFLOP/s)   NumPy {numpy_seconds * 1e3:7.3f} ms   kron is "
          f"{numpy_seconds / kron_seconds:.1f} times as fast")


def main():
    options = common.parse_options(__doc__.splitlines()[0], add_options)
    folder = common.output_folder(options, "dct")
    core = common.pin_to_one_core()
    checks = common.Checks()

    image = options.image or default_photograph()
    pixels = np.asarray(Image.open(image).convert("RGB"))
    pixels = pixels[: pixels.shape[0] // 8 * 8, : pixels.shape[1] // 8 * 8]
    x = to_blocks(pixels)
    d = dct_matrix(8)
    d32 = d.astype(np.float32)
    print(f"{image.name}: {pixels.shape[1]}x{pixels.shape[0]} pixels, 3 colours, "
          f"{len(x)} blocks of 8x8")

    def run(entry, array):
        result, seconds, _ = common.kron_run(options, HERE / "dct.mlir", entry, folder,
                                             [array, d32], options.times)
        return result, seconds

    coefficients, forward = run("dct", x)
    steps = TABLE * options.quality
    quantised = np.rint(coefficients / steps).astype(np.int16)
    packed = zlib.compress(quantised.T.tobytes(), 9)
    restored, inverse = run("inverse", quantised * steps)
    result = to_pixels(restored, pixels.shape)
    Image.fromarray(pixels).save(folder / "before.png")
    Image.fromarray(result).save(folder / "after.png")

    print(f"compressed {pixels.nbytes} bytes to {len(packed)} "
          f"({pixels.nbytes / len(packed):.1f} : 1, {8 * len(packed) / pixels[..., 0].size:.2f} "
          f"bits per pixel), PSNR {psnr(pixels, result):.2f} dB")
    print(f"wrote {folder}/before.png and after.png")

    exact = common.mkm_by_shuffles(x.astype(np.float64), [d.T, d.T])
    checks.below("relative error of the DCT against NumPy in float64",
                 common.relative_error(coefficients, exact), 16 * np.finfo(np.float32).eps)
    unquantised, _ = run("inverse", coefficients)
    checks.below("largest error of the inverse of the DCT",
                 float(np.abs(unquantised - x).max()), 1e-3)

    print(f"time of one call, core {core}, median of {options.times}; "
          f"NumPy {np.__version__} with {common.blas_name()}:")
    dt = np.ascontiguousarray(d32.T)
    report("DCT", len(x), forward, common.median_seconds(
        lambda: common.mkm_by_shuffles(x, [dt, dt]), options.times))
    report("inverse", len(x), inverse, common.median_seconds(
        lambda: common.mkm_by_shuffles(coefficients, [d32, d32]), options.times))
    checks.done()


if __name__ == "__main__":
    main()
