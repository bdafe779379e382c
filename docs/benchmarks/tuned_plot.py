"""What tuning brings over cases of the benchmark: a line and a plot of results/tuned/*.json, which
`kron-bench --tuned` writes, for render.py."""

import html
import math
import pathlib
import sys

from roofline import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, line, text
from summary_tables import sources

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/kron-bench"))
import bench_tuned  # noqa: E402

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")
GAINS = (0.8, 4.0)  # of the plot
LINES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0)


def gains(result):
    """[(gain, least, most, case)] in the order of gains: times that the tuned plan is as fast as the
    default, between the outer tenths of the samples of both."""
    return sorted((row["ms"] / row["tuned_ms"], row["ms_low"] / row["tuned_ms_high"],
                   row["ms_high"] / row["tuned_ms_low"], row["case"])
                  for row in result["rows"] if "tuned_ms" in row)


def spread(found):
    """The median half width of the ranges of gains, as a share."""
    widths = sorted((most - least) / 2 / gain for gain, least, most, _ in found)
    return widths[len(widths) // 2]


def summary(results):
    """The plot, where it was measured, and a line for each result file."""
    parts = ["![How many times as fast tuned plans are](benchmarks/tuned.svg)", sources(results.values())]
    lines = [f"- {name}: {bench_tuned.summary(result['rows'])}; spread of a quotient {spread(gains(result)):.1%}, "
             "the median" for name, result in results.items()]
    return "\n\n".join([*parts, "\n".join(lines)]) + "\n"


def _y_of(gain):
    low, high = map(math.log2, GAINS)
    at = min(max(math.log2(gain), low), high)
    return HEIGHT - BOTTOM - (at - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def svg(results):
    """Every case's gain, sorted, with the range of its samples: a colour for each result file."""
    right = WIDTH - RIGHT
    parts = [text((LEFT + right) / 2, TOP - 14, "Tuned plans beside what kron chooses", more=' font-size="14"'),
             text((LEFT + right) / 2, HEIGHT - 10, "share of the cases"),
             text(16, HEIGHT / 2, "times as fast as the default",
                  more=f' transform="rotate(-90 16 {HEIGHT / 2})"')]
    for gain in LINES:
        parts += [line(LEFT, _y_of(gain), right, _y_of(gain), f'stroke="{"#555" if gain == 1 else "#ddd"}"'),
                  text(LEFT - 6, _y_of(gain) + 4, f"{gain:g}", "end")]
    for number, (name, result) in enumerate(results.items()):
        colour, found = COLOURS[number % len(COLOURS)], gains(result)
        for index, (gain, least, most, case) in enumerate(found):
            x = LEFT + (index + .5) / len(found) * (right - LEFT)
            parts += [line(x, _y_of(least), x, _y_of(most), f'stroke="{colour}" stroke-opacity="0.5"'),
                      f'<circle cx="{x:.1f}" cy="{_y_of(gain):.1f}" r="3.5" fill="{colour}"><title>'
                      f"{html.escape(case)}: {gain:.3f}x</title></circle>"]
        y = TOP + 10 + 20 * number
        parts += [line(right + 14, y, right + 44, y, f'stroke="{colour}" stroke-width="2"'),
                  text(right + 50, y + 4, f"{name}, {len(found)} cases", "start")]
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" '
            f'fill="white"/>\n{body}\n</svg>\n')
