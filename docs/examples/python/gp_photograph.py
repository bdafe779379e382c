"""Gaussian process regression with up to 100,000 points and more, of which no matrix is ever in memory.

usage: python gp_photograph.py [--points N] [--patch N] [--deviations N] [--svg FILE]

The data is scikit-learn's photograph of a flower: pixels at random places are given, with noise, and all
others are predicted. The covariance is Matern's of order 3/2 in the place of a pixel; a patch of
neighbouring pixels gives its length scale and the noise, by the marginal likelihood. Then conjugate
gradients solve for the weights of all points, three colours at a time, and for the deviations of some
predictions. Each step takes products of the matrix with a few columns, and says what it does: of the 8,000 points
that are taken by default all ends in about a minute on two cores, and --points 100000, whose matrix would have
40 GB in float32, takes most of half an hour.

The plot shows the prediction along a part of one row of the photograph.
"""

import argparse
import itertools
import time

import numpy as np
from sklearn.datasets import load_sample_image

from kron.kernels import kernel

FUNCTION = "matern32"
NOISE = 0.05


def load(points, rng):
    """Places and noisy colours that are given, those that are not, and the shape of the photograph."""
    image = load_sample_image("flower.jpg").astype(np.float32) / 127.5 - 1
    places = np.indices(image.shape[:2], dtype=np.float32).reshape(2, -1).T
    order = rng.permutation(len(places))
    given, hidden = order[:points], order[points:]
    colours = image.reshape(-1, 3)
    noisy = colours[given] + NOISE * rng.standard_normal((points, 3)).astype(np.float32)
    return (np.ascontiguousarray(places[given]), noisy), (np.ascontiguousarray(places[hidden]), colours[hidden]), image


def fit(places, colours, count):
    """(length scale, variance of the noise as a part of that of the covariance, variance), which the
    `count` pixels nearest to the middle make the most likely."""
    middle = places.mean(0)
    nearest = np.argsort(((places - middle) ** 2).sum(1))[:count]
    x, y = places[nearest].astype(np.float64), colours[nearest].astype(np.float64)
    y -= y.mean(0)
    best = None
    for scale, ratio in itertools.product((2.0, 4.0, 8.0, 16.0, 32.0), (0.003, 0.01, 0.03, 0.1, 0.3)):
        matrix = kernel(x, None, FUNCTION, lengthscale=scale).to_dense() + ratio * np.eye(count)
        root = np.linalg.cholesky(matrix)
        variance = (np.linalg.solve(root, y) ** 2).mean()
        likelihood = -count * np.log(variance) / 2 - np.log(root.diagonal()).sum()
        if best is None or likelihood > best[0]:
            best = likelihood, scale, ratio, variance
    return best[1:]


def get_segment(image, places, length):
    """A part of the row in the middle: the row, its columns, and which given pixels lie there."""
    row, first = image.shape[0] // 2, (image.shape[1] - length) // 2
    columns = np.arange(first, first + length)
    return row, columns, np.flatnonzero((places[:, 0] == row) & (places[:, 1] >= first)
                                        & (places[:, 1] < first + length))


def polyline(points, style):
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" {style}/>'


def draw(path, columns, truth, predicted, given, deviations):
    """Writes a plot of one colour along a row: `given` and `deviations` are (columns, values)."""
    width, height, edge = 900, 360, 40
    low, high = min(truth.min(), given[1].min()) - 0.1, max(truth.max(), given[1].max()) + 0.1

    def place(xs, ys):
        return list(zip(edge + (np.asarray(xs) - columns[0]) * (width - 2 * edge) / (len(columns) - 1),
                        height - edge - (np.asarray(ys) - low) * (height - 2 * edge) / (high - low)))

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="13">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for value in np.arange(np.ceil(low * 5), high * 5) / 5:
        (x0, y0), (x1, _) = place(columns[[0, -1]], [value, value])
        parts.append(f'<path d="M{x0:.1f} {y0:.1f}H{x1:.1f}" stroke="#ddd"/>'
                     f'<text x="{x0 - 6:.1f}" y="{y0 + 4:.1f}" text-anchor="end">{value + 0:.1f}</text>')
    at, deviation = deviations
    for (x, low_y), (_, high_y) in zip(place(at, predicted[at - columns[0]] - 2 * deviation),
                                       place(at, predicted[at - columns[0]] + 2 * deviation)):
        parts.append(f'<path d="M{x:.1f} {low_y:.1f}V{high_y:.1f}" stroke="#9ecae1" stroke-width="7"/>')
    parts.append(polyline(place(columns, truth), 'fill="none" stroke="#888" stroke-width="1.2"'))
    parts.append(polyline(place(columns, predicted), 'fill="none" stroke="#d62728" stroke-width="1.6"'))
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="#1f77b4"/>' for x, y in place(*given)]
    for number, (text, colour) in enumerate((("photograph", "#888"), ("given, with noise", "#1f77b4"),
                                             ("predicted", "#d62728"), ("2 deviations", "#9ecae1"))):
        parts.append(f'<text x="{edge + 10 + 150 * number}" y="20" fill="{colour}">{text}</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">red, from column {columns[0]} to '
                 f'{columns[-1]} of the row in the middle</text></svg>')
    with open(path, "w") as file:
        file.write("\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=8000, help="pixels that are given")
    parser.add_argument("--patch", type=int, default=1000, help="pixels that give the hyper-parameters")
    parser.add_argument("--deviations", type=int, default=16, help="predictions with a deviation")
    parser.add_argument("--svg", help="file for the plot")
    options = parser.parse_args()
    (places, colours), (hidden, truth), image = load(options.points, np.random.default_rng(0))
    print(f"{options.points} of {image.shape[0] * image.shape[1]} pixels are given, with noise", flush=True)

    print(f"hyper-parameters: 25 factorisations for {options.patch} pixels ...", flush=True)
    start = time.perf_counter()
    scale, ratio, variance = fit(places, colours, options.patch)
    print(f"  length scale {scale:g} pixels, deviation of the noise {np.sqrt(ratio * variance):.3f} (true: {NOISE}), "
          f"{time.perf_counter() - start:.1f} s")

    print(f"weights: conjugate gradients, each step a product with {options.points} x {options.points} elements ...",
          flush=True)
    start = time.perf_counter()
    mean = colours.mean(0)
    covariance = kernel(places, None, FUNCTION, lengthscale=scale)
    weights = covariance.solve(colours - mean, noise=ratio, tolerance=1e-3, rank=100)
    print(f"  {time.perf_counter() - start:.1f} s")

    print(f"prediction: a product with {len(hidden)} x {options.points} elements ...", flush=True)
    start = time.perf_counter()
    predicted = kernel(hidden, places, FUNCTION, lengthscale=scale) @ weights + mean
    error = np.sqrt(((predicted - truth) ** 2).mean())
    spread = np.sqrt(((truth - mean) ** 2).mean())
    print(f"  {time.perf_counter() - start:.1f} s, error {error:.4f}, where the mean has "
          f"{spread:.4f}")

    start = time.perf_counter()
    row, columns, inside = get_segment(image, places, 160)
    line = np.stack((np.full(len(columns), row), columns), 1).astype(np.float32)
    along = (kernel(line, places, FUNCTION, lengthscale=scale) @ weights + mean)[:, 0]
    at = columns[::max(1, len(columns) // options.deviations)]
    cross = kernel(places, line[at - columns[0]], FUNCTION, lengthscale=scale).to_dense()
    print(f"deviations: the same gradients for {len(at)} right sides ...", flush=True)
    solved = covariance.solve(cross, noise=ratio, tolerance=1e-2, rank=100)
    deviation = np.sqrt(variance * (1 - (cross * solved).sum(0)).clip(0))
    print(f"  {time.perf_counter() - start:.1f} s, from {deviation.min():.3f} to "
          f"{deviation.max():.3f}")
    if options.svg:
        draw(options.svg, columns, image[row, columns, 0], along, (places[inside, 1], colours[inside, 0]),
             (at, deviation))
    misses = abs(along[at - columns[0]] - image[row, at, 0]) > 3 * np.hypot(deviation, np.sqrt(ratio * variance))
    assert error < 0.5 * spread, f"no better than the mean, {spread}"
    assert misses.mean() < 0.3, f"{misses.sum()} of {len(at)} predictions are 3 deviations off"


if __name__ == "__main__":
    main()
