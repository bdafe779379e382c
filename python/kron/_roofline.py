"""A roofline picture as SVG, for machines without matplotlib.

SPDX-License-Identifier: MIT
"""

import math
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT = 600, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 20, 50


class _Axis:
    """A logarithmic axis over whole decades."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def __call__(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def draw(curve, point, title):
    """The picture of a curve [(x, y)] and of one (x, y)."""
    xs, ys = zip(*curve, point)
    x = _Axis(xs, _LEFT, _WIDTH - _RIGHT)
    y = _Axis(ys, _HEIGHT - _BOTTOM, _TOP)
    lines = []
    for tick in x.ticks():
        lines.append(f'<path d="M{x(tick):.1f},{y.start} V{y.end}" stroke="#ddd"/>')
        lines.append(f'<text x="{x(tick):.1f}" y="{y.start + 16}" text-anchor="middle">'
                     f'{tick:g}</text>')
    for tick in y.ticks():
        lines.append(f'<path d="M{x.start},{y(tick):.1f} H{x.end}" stroke="#ddd"/>')
        lines.append(f'<text x="{x.start - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">'
                     f'{tick:g}</text>')
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve)
    lines.append(f'<polyline points="{path}" fill="none" stroke="#1f77b4" stroke-width="2"/>')
    lines.append(f'<circle cx="{x(point[0]):.1f}" cy="{y(point[1]):.1f}" r="5" fill="#d62728"/>')
    lines.append(f'<text x="{x(point[0]) + 9:.1f}" y="{y(point[1]) + 4:.1f}">{escape(title)}'
                 '</text>')
    lines.append(f'<text x="{(x.start + x.end) / 2}" y="{_HEIGHT - 10}" text-anchor="middle">'
                 'multiply-adds per byte</text>')
    lines.append(f'<text transform="translate(16,{(y.start + y.end) / 2}) rotate(-90)" '
                 'text-anchor="middle">billion multiply-adds per second</text>')
    body = "\n".join(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
            f'font-family="sans-serif" font-size="12">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')
