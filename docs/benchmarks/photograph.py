"""The photograph of docs/examples/dct, without that example's packages where there is a
copy of its pixels.

usage: photograph.py FILE.npy         # writes that copy; tools/bundle.sh does

It shows Eileen Collins, 1993 (NASA, public domain), and comes with scikit-image.
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
COPY = HERE / "photograph.npy"


def pixels():
    """[height, width, 3] of 8 bits, whole blocks of 8 x 8."""
    if COPY.exists():
        return np.load(COPY)
    folders = [*map(pathlib.Path, sys.path),
               *HERE.parents[1].glob("build/venv/lib/python3*/site-packages")]
    for folder in folders:
        path = folder / "skimage/data/astronaut.png"
        if path.exists():
            from PIL import Image

            image = np.asarray(Image.open(path).convert("RGB"))
            return image[: image.shape[0] // 8 * 8, : image.shape[1] // 8 * 8]
    raise FileNotFoundError(f"expects {COPY}, or scikit-image among Python's packages or in "
                            "build/venv")


if __name__ == "__main__":
    np.save(sys.argv[1], pixels())
