"""Tables and plots of results/random_*.json, which random_shapes.py writes, for render.py."""

import math

from gpu_tables import markdown, share_text
from program_tables import ratio_text
from roofline import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, line, text

COLOURS = {"mkm": "#1f77b4", "kmm": "#ff7f0e", "batched": "#2ca02c", "ksmm": "#d62728",
           "chain": "#9467bd"}
RATIOS = (0.25, 64.0)  # of the plot
HEADS = ["family", "cases", "geometric mean over the best other", "slower than 0.95x", "worst",
         "of the floor, median", "a tenth is below", "compile and load, ms: median, 99 %, worst",
         "failed"]


def _each(parts, cell):
    """A cell with what each seed's summary says."""
    return " / ".join(cell(part) for part in parts)


def _or_dash(value, form):
    return "–" if value is None else form(value)


def _row(name, parts):
    return [name, _each(parts, lambda p: str(p["cases"])),
            _each(parts, lambda p: _or_dash(p["geometric_mean"], ratio_text)),
            _each(parts, lambda p: f"{p['slower']} of {p['with_peer']}"),
            _each(parts, lambda p: _or_dash(p["worst"][0]["ratio"] if p["worst"] else None,
                                            ratio_text)),
            _each(parts, lambda p: share_text(p["floor_median"])),
            _each(parts, lambda p: share_text(p["floor_low"])),
            _each(parts, lambda p: "–" if p["compile_median"] is None else
                  f"{p['compile_median']:.0f}, {p['compile_high']:.0f}, {p['compile_worst']:.0f}"),
            _each(parts, lambda p: str(p["failed"]))]


def _where_measured(result):
    machine = result["machine"]
    if "processor" in machine:
        place = (f"{machine['threads']} thread{'s' * (machine['threads'] != 1)} on "
                 f"{machine['processor']} (family {machine['family']}, model {machine['model']}, "
                 f"{', '.join(machine['features'])})")
    else:
        place = f"{machine['gpu']}, driver {machine['driver']}"
    return (f"`{result['command']}`, {result['date']}, commit {result['commit'][:12]}: {place}; "
            f"medians of up to {result['samples']} samples, arrays of "
            f"{result['bytes'][0] / 1e6:g} to {result['bytes'][1] / 1e6:g} MB.")


def _opening(result):
    seeds = dict.fromkeys(seed for found in result["families"].values() for seed in found)
    return f"Seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}. {_where_measured(result)}"


def summary(result):
    """A row per family."""
    rows = [_row(family, [parts["all"] for parts in seeds.values()])
            for family, seeds in result["families"].items()]
    return "\n\n".join([_opening(result), markdown(HEADS, rows)]) + "\n"


def table(result):
    """A row per family and kind of type; a column's entries are those of the seeds."""
    rows = []
    for family, seeds in result["families"].items():
        names = dict.fromkeys(name for parts in seeds.values() for name in parts)
        for name in names:
            parts = [parts[name] for parts in seeds.values() if name in parts]
            rows.append(_row(f"**{family}**" if name == "all" else f"{family} {name}", parts))
    return "\n\n".join([_opening(result), markdown(HEADS, rows)]) + "\n"


def worst(result):
    """The slowest cases beside others, with their plans."""
    heads = ["case", "the best other", "ratio", "kron, ms", "of the floor", "plan"]
    rows = [[row["case"], row["peer"], ratio_text(row["ratio"]), f"{row['ms']:.4g}",
             share_text(row["of_floor"]), f"`{row['plan']}`" if "plan" in row else "–"]
            for seeds in result["families"].values() for parts in seeds.values()
            for row in parts["all"]["worst"]]
    return "\n\n".join([_opening(result), markdown(heads, rows)]) + "\n"


PARTS = {"table": table, "random-summary": summary, "worst": worst}


def _y_of(ratio):
    low, high = map(math.log2, RATIOS)
    at = min(max(math.log2(ratio), low), high)
    return HEIGHT - BOTTOM - (at - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def svg(result, title):
    """Every case's ratio to the best other, sorted: one line per family."""
    right = WIDTH - RIGHT
    parts = [text((LEFT + right) / 2, TOP - 14, title, more=' font-size="14"'),
             text((LEFT + right) / 2, HEIGHT - 10, "share of the cases"),
             text(16, HEIGHT / 2, "times as fast as the best other",
                  more=f' transform="rotate(-90 16 {HEIGHT / 2})"')]
    for power in range(round(math.log2(RATIOS[0])), round(math.log2(RATIOS[1])) + 1):
        y = _y_of(2.0**power)
        parts += [line(LEFT, y, right, y, f'stroke="{"#555" if power == 0 else "#ddd"}"'),
                  text(LEFT - 6, y + 4, f"{2.0**power:g}", "end")]
    for share in range(0, 101, 20):
        x = LEFT + share / 100 * (right - LEFT)
        parts += [line(x, TOP, x, HEIGHT - BOTTOM, 'stroke="#ddd"'),
                  text(x, HEIGHT - BOTTOM + 16, f"{share} %")]
    for number, (family, seeds) in enumerate(result["families"].items()):
        ratios = sorted(ratio for summaries in seeds.values()
                        for ratio in summaries["all"]["ratios"])
        points = " ".join(f"{LEFT + (i + .5) / len(ratios) * (right - LEFT):.1f},{_y_of(r):.1f}"
                          for i, r in enumerate(ratios))
        colour, y = COLOURS[family], TOP + 10 + 20 * number
        parts += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
                  line(right + 14, y, right + 44, y, f'stroke="{colour}" stroke-width="2"'),
                  text(right + 50, y + 4, f"{family}, {len(ratios)} cases", "start")]
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12">\n<rect width="{WIDTH}" height="{HEIGHT}" '
            f'fill="white"/>\n{body}\n</svg>\n')
