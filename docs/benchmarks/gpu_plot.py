"""The roofline plot of one GPU."""

from roofline import Plot

FILES = ("gpu_f32", "gpu_f64", "gpu_half", "gpu_odd", "gpu_batched")
# (measured rate, fraction of it, dashes, label)
ROOFS = (("f16", 1, "", "f16"), ("tf32", 1 / 3, "2 3", "f32 by 3 x TF32"),
         ("f64", 1, "6 3", "f64"), ("f32", 1, "10 4", "f32"))
COLOURS = {("f32", "full"): "#1f77b4", ("f32", "ieee"): "#9ecae1", ("f64", "full"): "#d62728",
           ("f16", "full"): "#2ca02c", ("bf16", "full"): "#9467bd"}


def svg(results):
    """The plot of {name: result of kron-bench}."""
    limits, machine = {}, ""
    for result in results.values():
        limits |= result["limits"]
        machine = result["machine"].get("gpu", machine)
    plot = Plot(f"kron on one {machine}" if machine else "kron", (1.0, 256.0), (0.5, 1024.0),
                ("TFLOP/s", 1e12))
    for name, fraction, dashes, label in ROOFS:
        if name in limits and "copy" in limits:
            plot.roof(limits["copy"], limits[name] * fraction, dashes, label)
    rows = [r for name in FILES for r in results.get(name, {"rows": []})["rows"]]
    for (element, precision), colour in COLOURS.items():
        plot.points(element if precision == "full" else f"{element} {precision}", colour,
                    [r for r in rows if "ms" in r and r["flops"] and r.get("type") == element
                     and r.get("precision") == precision])
    return plot.svg()
