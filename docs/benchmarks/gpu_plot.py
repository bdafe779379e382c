"""The roofline plot as SVG: rates over operations per byte, under the machine's roofs."""

import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 520, 64, 210, 34, 50
X_RANGE, Y_RANGE = (1.0, 256.0), (0.5, 1024.0)
FILES = ("gpu_f32", "gpu_f64", "gpu_half", "gpu_odd", "gpu_batched")
# (measured rate, fraction of it, dashes, label)
ROOFS = (("f16", 1, "", "f16"), ("tf32", 1 / 3, "2 3", "f32 by 3 x TF32"),
         ("f64", 1, "6 3", "f64"), ("f32", 1, "10 4", "f32"))
COLOURS = {("f32", "full"): "#1f77b4", ("f32", "ieee"): "#9ecae1", ("f64", "full"): "#d62728",
           ("f16", "full"): "#2ca02c", ("bf16", "full"): "#9467bd"}


def x_of(value):
    low, high = map(math.log2, X_RANGE)
    return LEFT + (math.log2(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def y_of(value):
    low, high = map(math.log2, Y_RANGE)
    return HEIGHT - BOTTOM - (math.log2(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def text(x, y, content, anchor="middle", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>'
            f"{html.escape(content)}</text>")


def line(x1, y1, x2, y2, more):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {more}/>'


def powers(low, high):
    return [2.0**i for i in range(round(math.log2(low)), round(math.log2(high)) + 1)]


def axes(title):
    parts = [text((LEFT + WIDTH - RIGHT) / 2, TOP - 14, title, more=' font-size="14"'),
             text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10,
                  "operations per byte (inputs and outputs once)"),
             text(16, HEIGHT / 2, "TFLOP/s", more=f' transform="rotate(-90 16 {HEIGHT / 2})"')]
    for value in powers(*X_RANGE):
        parts.append(line(x_of(value), TOP, x_of(value), HEIGHT - BOTTOM, 'stroke="#ddd"'))
        parts.append(text(x_of(value), HEIGHT - BOTTOM + 16, f"{value:g}"))
    for value in powers(*Y_RANGE):
        parts.append(line(LEFT, y_of(value), WIDTH - RIGHT, y_of(value), 'stroke="#ddd"'))
        parts.append(text(LEFT - 6, y_of(value) + 4, f"{value:g}", "end"))
    return parts


def roof(copy, peak, dashes):
    """Along the copy rate up to the peak, then level."""
    corner = min(max(peak / copy, X_RANGE[0]), X_RANGE[1])
    start = max(X_RANGE[0], Y_RANGE[0] / copy * 1e12)
    points = [(start, copy * start), (corner, min(peak, copy * corner)), (X_RANGE[1], peak)]
    path = " ".join(f"{x_of(x):.1f},{y_of(min(y * 1e-12, Y_RANGE[1])):.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="#555" stroke-dasharray="{dashes}"/>'


def points_of(results):
    """{(type, precision): [(operations per byte, TFLOP/s, case)]}"""
    kinds = {}
    for name in FILES:
        for row in results.get(name, {"rows": []})["rows"]:
            kind = row.get("type"), row.get("precision")
            if "ms" in row and row["flops"] and kind in COLOURS:
                point = row["flops"] / row["bytes"], row["gflops"] * 1e-3, row["case"]
                kinds.setdefault(kind, []).append(point)
    return kinds


def svg(results):
    """The plot of {name: result of kron-bench}."""
    limits, machine = {}, ""
    for result in results.values():
        limits |= result["limits"]
        machine = result["machine"].get("gpu", machine)
    parts = axes(f"kron on one {machine}" if machine else "kron")
    legend, y = [], TOP + 10
    for name, fraction, dashes, label in ROOFS:
        if name in limits and "copy" in limits:
            parts.append(roof(limits["copy"], limits[name] * fraction, dashes))
            legend.append(line(WIDTH - RIGHT + 14, y, WIDTH - RIGHT + 44, y,
                               f'stroke="#555" stroke-dasharray="{dashes}"'))
            legend.append(text(WIDTH - RIGHT + 50, y + 4, f"roof of {label}", "start"))
            y += 20
    for kind, colour in COLOURS.items():
        points = points_of(results).get(kind, [])
        for x, rate, case in points:
            parts.append(f'<circle cx="{x_of(x):.1f}" cy="{y_of(max(rate, Y_RANGE[0])):.1f}" '
                         f'r="3.5" fill="{colour}" fill-opacity="0.8">'
                         f"<title>{html.escape(case)}: {rate:.3g} TFLOP/s</title></circle>")
        if points:
            legend.append(f'<circle cx="{WIDTH - RIGHT + 29}" cy="{y}" r="4" fill="{colour}"/>')
            label = kind[0] if kind[1] == "full" else " ".join(kind)
            legend.append(text(WIDTH - RIGHT + 50, y + 4, label, "start"))
            y += 20
    body = "\n".join([*parts, *legend])
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" '
            f'fill="white"/>\n{body}\n</svg>\n')
