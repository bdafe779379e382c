"""Turns results of kron-bench into Markdown tables and a roofline plot.

usage: gpu_tables.py RESULT.json...          (tables, to standard output)
       gpu_tables.py --plot OUT.svg RESULT.json...   (needs matplotlib)

`render.py` puts the tables of docs/benchmarks/results/gpu_*.json into the pages.
"""

import argparse
import json
import math
import pathlib

PEERS = ("torch", "gpytorch", "cublas", "pyfastkron", "numpy")
PEER_NAMES = {"torch": "PyTorch", "gpytorch": "GPyTorch", "cublas": "cuBLAS per factor",
              "pyfastkron": "FastKron", "numpy": "NumPy"}


def time_text(ms):
    return "–" if ms is None else f"{ms:.4g}"


def where_measured(result):
    machine = result["machine"]
    what = machine.get("gpu") or machine.get("processor")
    more = [f"CUDA driver {machine['driver_cuda']}"] if "driver_cuda" in machine else []
    more += [f"PyTorch {machine['torch']}"] if "torch" in machine else []
    copy = result["limits"].get("copy")
    more += [f"copy {copy * 1e-12:.2f} TB/s"] if copy else []
    more += [f"{name} {rate * 1e-12:.1f} TFLOP/s" for name, rate in result["limits"].items()
             if name in ("f32", "tf32", "f64", "f16", "bf16")]
    return (f"`{result['command']}`, {result['date']}, commit {result['commit'][:12]}: {what}, "
            f"{', '.join(more)}; medians of {result['samples']} samples.")


def columns(rows):
    """(heading, function of a row) of each column."""
    cells = [("case", lambda r: r["case"]),
             ("ms", lambda r: time_text(r.get("ms"))),
             ("spread", lambda r: f"{r['ms_low']:.4g}–{r['ms_high']:.4g}"),
             ("TFLOP/s", lambda r: f"{r['gflops'] * 1e-3:.3g}"),
             ("GB/s", lambda r: f"{r['gbytes']:.0f}"),
             ("of the floor", lambda r: f"{r['of_floor'] * 100:.0f} % ({r['floor']})"),
             ("error", lambda r: f"{r['error']:.1e}")]
    if any("target_ms" in r for r in rows):
        cells.insert(2, ("wanted", lambda r: time_text(r.get("target_ms"))))
    if any("fastkron_ms" in r for r in rows):
        cells.append(("FastKron (H200)", lambda r: f"{r['fastkron_ms']:.4g} ms, "
                      f"{r['fastkron_ms'] / r['ms']:.2f}x" if "fastkron_ms" in r else "–"))
    for peer in PEERS:
        if any(f"{peer}_ms" in r for r in rows):
            cells.append((PEER_NAMES[peer], lambda r, p=peer: f"{r[p + '_ms']:.4g} ms, "
                          f"{r[p + '_ratio']:.2f}x" if p + "_ms" in r else "–"))
    return cells


def table(result):
    """The Markdown table of one result file, with where and how it was measured."""
    good = [r for r in result["rows"] if "ms" in r]
    cells = columns(good)
    lines = ["| " + " | ".join(name for name, _ in cells) + " |",
             "|---|" + "--:|" * (len(cells) - 1)]
    lines += ["| " + " | ".join(cell(r) for _, cell in cells) + " |" for r in good]
    for row in result["rows"]:
        if "problem" in row:
            lines.append(f"| {row['case']} | {row['problem'][:80]} |" + " |" * (len(cells) - 2))
    ratios = [r["fastkron_ms"] / r["ms"] for r in good
              if "fastkron_ms" in r and r["precision"] == "full"]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"Geometric mean against FastKron: {mean:.2f}x over {len(ratios)} cases."]
    return "\n".join([*lines, "", where_measured(result)]) + "\n"


def summary(result):
    """The rows of default precision, in few columns."""
    rows = [r for r in result["rows"] if "ms" in r and r["precision"] == "full"]
    peers = [p for p in PEERS if any(f"{p}_ms" in r for r in rows)]
    heads = ["rows x factors", "kron", "of the floor", "error", "FastKron (H200)",
             *(PEER_NAMES[p] for p in peers)]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    for row in rows:
        cells = [f"{row['rows']} x {row['factors']}", f"{row['ms']:.4g} ms",
                 f"{row['of_floor'] * 100:.0f} %", f"{row['error']:.1e}",
                 f"{row['fastkron_ms'] / row['ms']:.1f}x" if "fastkron_ms" in row else "–"]
        cells += [f"{row[p + '_ratio']:.1f}x" if p + "_ms" in row else "–" for p in peers]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", where_measured(result)]) + "\n"


def plot(results, path):
    """Rates over operations per byte, under the roofs of the same machine."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(8, 5))
    limits = {}
    for result in results:
        limits |= {k: v for k, v in result["limits"].items() if isinstance(v, float)}
    intensities = [2.0**(i / 4) for i in range(-4, 44)]
    for name, style in (("f64", "--"), ("f32", "-."), ("tf32", ":"), ("f16", "-")):
        if name in limits and "copy" in limits:
            axes.plot(intensities, [min(limits["copy"] * i, limits[name]) * 1e-12
                                    for i in intensities],
                      style, color="gray", linewidth=1, label=f"{name}: cuBLAS, copy")
    kinds = {}
    for result in results:
        for row in result["rows"]:
            if "ms" in row and row["flops"]:
                kinds.setdefault((row["type"], row["precision"]), []).append(
                    (row["flops"] / row["bytes"], row["gflops"] * 1e-3))
    for (name, precision), points in sorted(kinds.items()):
        label = name if precision == "full" else f"{name} {precision}"
        axes.scatter(*zip(*points), s=18, label=label)
    axes.set(xscale="log", yscale="log", xlabel="operations per byte (inputs and outputs once)",
             ylabel="TFLOP/s", title=results[0]["machine"].get("gpu", ""))
    axes.legend(fontsize=8)
    axes.grid(True, which="both", linewidth=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path, metavar="OUT.svg")
    options = parser.parse_args()
    results = [json.loads(p.read_text()) for p in options.results]
    if options.plot:
        plot(results, options.plot)
        return
    for result in results:
        print(f"## {result['title']}\n\n{table(result)}")


if __name__ == "__main__":
    main()
