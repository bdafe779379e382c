"""Writes the tables of the documentation, and the roofline plots, from the result files.

usage: render.py

In README.md and docs/*.md, what stands between `<!-- KIND of FILE -->` and `<!-- end -->`
becomes the table of that result file: `table`, `summary` (a shorter one), `suite` (of the
GPU tests), `overhead`, `products` and `training` (of python.json), `exec-runs` and
`exec-paths` (of the execution tests). `misses` and `costs` are of all gpu_*.json of a
folder, `cpu-goals` and `cpu-misses` of all cpu_*.json, `programs-summary` and
`program-losses` of all programs_*.json, `worst` of random_*.json. docs/check.py tests that nothing is stale.
"""

import json
import pathlib
import re

import cpu_plot
import cpu_tables
import exec_tables
import gpu_plot
import gpu_tables
import program_tables
import python_tables
import random_tables

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = re.compile(r"(<!-- (table|summary|suite|misses|costs|cpu-goals|cpu-misses|"
                   r"exec-runs|exec-paths|programs-summary|program-losses|worst|"
                   r"overhead|products|training) of (\S+) -->\n).*?(<!-- end -->)",
                   re.S)
# In the order of the tables.
GPU = ("gpu_f32", "gpu_f64", "gpu_odd", "gpu_flags", "gpu_half", "gpu_precision",
       "gpu_batched", "gpu_ksmm", "gpu_patterns", "gpu_quantized", "gpu_chains",
       "gpu_backward")
CPU = ("cpu_products", "cpu_fastkron", "cpu_flags", "cpu_odd", "cpu_ksmm", "cpu_chains", "cpu_batched",
       "cpu_types")
CPU_THREADS = "cpu_threads"
PROGRAMS = {"programs_cpu": "cpu", "programs_cuda": "cuda"}
RANDOM = {"random_cpu": "CPU", "random_cuda": "GPU"}


def results(folder, names):
    """{name: result} of those that are there."""
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in names
            if (folder / f"{name}.json").exists()}


def plans():
    """{case: its trips}, as plans.py wrote them."""
    path = HERE / "results/gpu_plans.json"
    return json.loads(path.read_text())["plans"] if path.exists() else {}


def first_light(result):
    machine = result["machine"]
    lines = ["| factors | kron | NumPy | kron is | wanted | kron's rate | of this core's limit | "
             "compiled in | error kron | error NumPy |", "|---|" + "--:|" * 9]
    for row in result["rows"]:
        lines.append(
            f"| {row['n']} of {row['p']}x{row['p']} | {row['kron_ms']:.2f} ms | "
            f"{row['numpy_ms']:.2f} ms | {row['ratio']:.1f}x as fast | {row['target']:g}x | "
            f"{row['kron_gflops']:.0f} GFLOP/s | {row['limit_percent']:.0f} % | "
            f"{row['compile_ms']:.0f} ms | {row['kron_error']:.1e} | {row['numpy_error']:.1e} |")
    lines += ["", f"`{result['command']}`, {result['date']}, commit "
              f"{result['commit'][:12]}: one core of {machine['Model name']} (family "
              f"{machine['CPU family']}, model {machine['Model']}, {', '.join(machine['features'])}); "
              f"NumPy {machine['numpy']} with {machine['blas']}."]
    return "\n".join(lines) + "\n"


def body(kind, path):
    """What belongs between the marks."""
    if kind == "misses":
        return gpu_tables.misses(results(path, GPU), plans())
    if kind == "costs":
        return gpu_tables.costs(results(path, GPU))
    if kind == "cpu-goals":
        return cpu_tables.goals(results(path, (*CPU, CPU_THREADS)))
    if kind == "cpu-misses":
        return cpu_tables.misses(results(path, (*CPU, CPU_THREADS)))
    if kind in program_tables.PARTS:
        return program_tables.PARTS[kind]({PROGRAMS[name]: result for name, result
                                           in results(path, PROGRAMS).items()})
    if not path.exists():
        return "(not measured yet)\n"
    result = json.loads(path.read_text())
    if kind == "exec-runs":
        return exec_tables.runs(result)
    if kind == "exec-paths":
        return exec_tables.paths(result)
    if kind in python_tables.PARTS:
        return python_tables.table(result, kind)
    if kind == "suite":
        return gpu_tables.suite(result)
    if path.stem in RANDOM:
        return random_tables.PARTS[kind](result)
    if path.stem in PROGRAMS:
        return program_tables.table(result)
    if path.stem in cpu_tables.LAYOUTS:
        return cpu_tables.table(result, path.stem)
    if "limits" not in result:
        return first_light(result)
    if kind == "summary":
        return gpu_tables.summary(result)
    return gpu_tables.table(result, path.stem, plans())


def rendered(text):
    """`text` with every table written anew."""
    return TABLE.sub(lambda match: match[1] + body(match[2], ROOT / match[3]) + match[4], text)


def plots():
    """{file: the roofline of what was measured, and the ratios of random shapes}"""
    folder = HERE / "results"
    drawn = {HERE / f"{name}.svg": random_tables.svg(result, f"Random shapes on a {RANDOM[name]}")
             for name, result in results(folder, RANDOM).items()}
    return drawn | {HERE / "roofline.svg": gpu_plot.svg(results(folder, GPU)),
                    HERE / "cpu_roofline.svg": cpu_plot.svg(results(folder, CPU))}


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    written = {page: rendered(page.read_text()) for page in pages} | plots()
    for path, text in written.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"updated {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
