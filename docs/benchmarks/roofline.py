"""Roofline plots as SVG: rates over operations per byte, under a machine's roofs."""

import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 520, 64, 210, 34, 50


def text(x, y, content, anchor="middle", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>'
            f"{html.escape(content)}</text>")


def line(x1, y1, x2, y2, more):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>'


def powers(low, high):
    return [2.0**i for i in range(round(math.log2(low)), round(math.log2(high)) + 1)]


class Plot:
    """Collects roofs and points; ranges are powers of two, `unit` is a rate and how many
    operations per second it is."""

    def __init__(self, title, x_range, y_range, unit):
        self.x_range, self.y_range = x_range, y_range
        self.unit, self.scale = unit
        self.parts, self.legend, self.legend_y = self._axes(title), [], TOP + 10

    def x_of(self, value):
        low, high = map(math.log2, self.x_range)
        return LEFT + (math.log2(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y_of(self, value):
        low, high = map(math.log2, self.y_range)
        return HEIGHT - BOTTOM - (math.log2(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def _axes(self, title):
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts = [text(middle, TOP - 14, title, more=' font-size="14"'),
                 text(middle, HEIGHT - 10, "operations per byte (inputs and outputs once)"),
                 text(16, HEIGHT / 2, self.unit,
                      more=f' transform="rotate(-90 16 {HEIGHT / 2})"')]
        for value in powers(*self.x_range):
            x = self.x_of(value)
            parts.append(line(x, TOP, x, HEIGHT - BOTTOM, 'stroke="#ddd"'))
            parts.append(text(x, HEIGHT - BOTTOM + 16, f"{value:g}"))
        for value in powers(*self.y_range):
            y = self.y_of(value)
            parts.append(line(LEFT, y, WIDTH - RIGHT, y, 'stroke="#ddd"'))
            parts.append(text(LEFT - 6, y + 4, f"{value:g}", "end"))
        return parts

    def _label(self, name):
        self.legend.append(text(WIDTH - RIGHT + 50, self.legend_y + 4, name, "start"))
        self.legend_y += 20

    def roof(self, copy, peak, dashes, name):
        """Along the copy rate up to the peak, then level; both per second."""
        (left, right), (low, high) = self.x_range, self.y_range
        corner = min(max(peak / copy, left), right)
        start = max(left, low / copy * self.scale)
        points = [(start, copy * start), (corner, min(peak, copy * corner)), (right, peak)]
        path = " ".join(f"{self.x_of(x):.1f},{self.y_of(min(y / self.scale, high)):.1f}"
                        for x, y in points)
        style = f'stroke="#555" stroke-dasharray="{dashes}"'
        self.parts.append(f'<polyline points="{path}" fill="none" {style}/>')
        self.legend.append(line(WIDTH - RIGHT + 14, self.legend_y, WIDTH - RIGHT + 44,
                                self.legend_y, style))
        self._label(f"roof of {name}")

    def points(self, name, colour, rows):
        """Rows of results, with flops, bytes and gflops."""
        for row in rows:
            rate = row["gflops"] * 1e9 / self.scale
            x = min(max(row["flops"] / row["bytes"], self.x_range[0]), self.x_range[1])
            y = self.y_of(max(rate, self.y_range[0]))
            self.parts.append(
                f'<circle cx="{self.x_of(x):.1f}" cy="{y:.1f}" r="3.5" fill="{colour}" '
                f'fill-opacity="0.8"><title>{html.escape(row["case"])}: {rate:.3g} {self.unit}'
                "</title></circle>")
        if rows:
            self.legend.append(f'<circle cx="{WIDTH - RIGHT + 29}" cy="{self.legend_y}" r="4" '
                               f'fill="{colour}"/>')
            self._label(name)

    def svg(self):
        body = "\n".join([*self.parts, *self.legend])
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'font-family="sans-serif" font-size="12">\n<rect width="{WIDTH}" '
                f'height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n')
