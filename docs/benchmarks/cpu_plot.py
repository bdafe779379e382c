"""The roofline plot of one core: every measured case, under the rates of multiply-adds and of
copies that were measured in the same runs."""

import re

from roofline import Plot

COLOURS = {"f32": "#1f77b4", "f64": "#d62728", "bf16": "#9467bd", "f16": "#2ca02c",
           "c32": "#17becf", "c64": "#ff7f0e", "i32": "#7f7f7f", "i64": "#8c564b"}
IN_CACHE, IN_MEMORY = 2**19, 2**27  # bytes that a copy touches in all


def limits(results):
    """{type: {bytes: (operations, bytes per second)}}, medians over all runs."""
    found = {}
    for result in results.values():
        for name, rates in result["limits"].items():
            element, power = re.fullmatch(r"(\w+) of 2\^(\d+) bytes", name).groups()
            found.setdefault(element, {}).setdefault(2**int(power), []).append(rates)
    return {element: {size: tuple(sorted(column)[len(column) // 2] for column in zip(*rates))
                      for size, rates in sizes.items()} for element, sizes in found.items()}


def nearest(sizes, size):
    return sizes[min(sizes, key=lambda s: abs(s.bit_length() - size.bit_length()))]


def svg(results):
    """The plot of {name: result of kron-bench} on one thread."""
    machine = next((r["machine"]["processor"] for r in results.values()), "processor")
    plot = Plot(f"kron on one core of {machine}", (0.25, 512.0), (0.5, 256.0), ("GFLOP/s", 1e9))
    found = limits(results)
    for element, dashes in (("f32", ""), ("f64", "6 3")):
        if element in found:
            peak = max(rates[0] for rates in found[element].values())
            for size, where in ((IN_MEMORY, "memory"), (IN_CACHE, "L2")):
                plot.roof(nearest(found[element], size)[1], peak, dashes or "none",
                          f"{element}, arrays in {where}")
    rows = [r for result in results.values() for r in result["rows"] if "ms" in r]
    for element, colour in COLOURS.items():
        plot.points(element, colour, [r for r in rows if r["type"] == element])
    return plot.svg()
