"""A plot of products on several GPUs, of results/distributed_*.json, for render.py."""

import html

from distributed_tables import factors, linear_share
from roofline import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, line, text

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")


def speedups(results):
    """{case: [(GPUs, times that they are as fast as one)]} of f32, of those that every number of GPUs has
    that were measured."""
    found = {}
    for result in results:
        gpus = result["machine"]["processes"]
        for row in result["rows"]:
            if row["type"] == "f32" and row["table"] in ("rows", "modes") and linear_share(row, gpus):
                name = f"{row['rows']} x {factors(row['sizes'])}, {row['kind']}"
                found.setdefault(name, []).append((gpus, gpus * linear_share(row, gpus)))
    return {name: sorted(points) for name, points in found.items() if len(points) == len(results)}


def svg(results):
    """How many times as fast as one GPU several are, and as they would be at best."""
    found = speedups(results)
    most = max(result["machine"]["processes"] for result in results)
    right = WIDTH - RIGHT

    def x_of(gpus):
        return LEFT + (gpus - 1) / (most - 1) * (right - LEFT)

    def y_of(times):
        return HEIGHT - BOTTOM - min(times, most + .5) / (most + .5) * (HEIGHT - TOP - BOTTOM)

    parts = [text((LEFT + right) / 2, TOP - 14, "Products on several GPUs, f32", more=' font-size="14"'),
             text((LEFT + right) / 2, HEIGHT - 10, "GPUs"),
             text(16, HEIGHT / 2, "times as fast as one", more=f' transform="rotate(-90 16 {HEIGHT / 2})"')]
    for gpus in range(1, most + 1):
        parts += [line(LEFT, y_of(gpus), right, y_of(gpus), 'stroke="#ddd"'), text(LEFT - 6, y_of(gpus) + 4, str(gpus), "end"),
                  text(x_of(gpus), HEIGHT - BOTTOM + 18, str(gpus))]
    parts.append(line(x_of(1), y_of(1), x_of(most), y_of(most), 'stroke="#555" stroke-dasharray="4 4"'))
    for number, (name, points) in enumerate(found.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(1, 1.0), *points]
        path = " ".join(f"{x_of(gpus):.1f},{y_of(times):.1f}" for gpus, times in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x_of(gpus):.1f}" cy="{y_of(times):.1f}" r="3.5" fill="{colour}"><title>'
                  f"{html.escape(name)}: {times:.2f}x on {gpus}</title></circle>" for gpus, times in points]
        y = TOP + 10 + 20 * number
        parts += [line(right + 14, y, right + 44, y, f'stroke="{colour}" stroke-width="2"'),
                  text(right + 50, y + 4, name, "start")]
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" '
            f'fill="white"/>\n{body}\n</svg>\n')
