"""Writes docs/Performance.md, docs/performance, the tables of other pages, and the plots, from the
result files.

usage: render.py

docs/Performance.md and the pages of docs/performance come from the texts in pages/, in which
`<!-- KIND of FILE -->` stands for the table of that result file or of the files of that folder.
In README.md and docs/*.md a table stands between `<!-- KIND of FILE -->` and `<!-- end -->`.
KIND is one of `KINDS`: `table`, what the file's own tables module makes of it, or another one.
docs/check.py tests that nothing is stale.
"""

import json
import pathlib
import re

import cpu_plot
import cpu_tables
import distributed_plot
import distributed_tables
import exec_tables
import gpu_plot
import gpu_tables
import host_tables
import kernel_tables
import program_tables
import python_tables
import random_tables
import summary_tables
import tuned_plot

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGES = HERE / "pages"
#: Each of these gets a page from pages/performance/cpu.md.in, docs/performance/cpu-NAME.md.
CPUS = {"xeon": ("Xeon", "docs/benchmarks/results"),
        "zen5": ("Zen 5", "docs/benchmarks/results/zen5"),
        "zen4": ("Zen 4", "docs/benchmarks/results/zen4"),
        "zen4-avx2": ("Zen 4, AVX2", "docs/benchmarks/results/zen4_avx2")}
# In the order of the tables.
GPU = ("gpu_f32", "gpu_f64", "gpu_odd", "gpu_flags", "gpu_half", "gpu_precision", "gpu_rotations",
       "gpu_batched", "gpu_ksmm", "gpu_patterns", "gpu_quantized", "gpu_chains",
       "gpu_backward")
CPU = ("cpu_products", "cpu_fastkron", "cpu_flags", "cpu_odd", "cpu_ksmm", "cpu_chains", "cpu_batched",
       "cpu_types")
CPU_THREADS = "cpu_threads"
PROGRAMS = {"programs_cpu": "cpu", "programs_cuda": "cuda"}
TUNED = "docs/benchmarks/results/tuned"
DISTRIBUTED = ("distributed_2", "distributed_4")
RANDOM = {"random_cpu": "CPU", "random_cuda": "GPU"}
#: A file without a plot of its own.
RANDOM_CHAINS = "random_chains_cuda"


def results(path, names):
    """{name: result} of those that are there, in a folder or in this file alone."""
    folder = path if path.is_dir() else path.parent
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in names
            if (folder / f"{name}.json").exists() and path in (folder, folder / f"{name}.json")}


def cpus():
    """{machine: {name: result}}"""
    return {title: results(ROOT / folder, (*CPU, CPU_THREADS)) for title, folder in CPUS.values()
            if (ROOT / folder).is_dir()}


def programs(path):
    return {PROGRAMS[name]: result for name, result in results(path, PROGRAMS).items()}


def plans():
    """{case: its fused regions}, as plans.py wrote them."""
    path = HERE / "results/gpu_plans.json"
    return json.loads(path.read_text())["plans"] if path.exists() else {}


def first_light(result):
    machine = result["machine"]
    lines = [f"`{result['command']}`, {result['date']}, commit "
             f"{result['commit'][:12]}: one core of {machine['Model name']} (family "
             f"{machine['CPU family']}, model {machine['Model']}, {', '.join(machine['features'])}); "
             f"NumPy {machine['numpy']} with {machine['blas']}.", "",
             "| factors | kron | NumPy | kron is | wanted | kron's rate | of this core's limit | "
             "compiled in | error kron | error NumPy |", "|---|" + "--:|" * 9]
    for row in result["rows"]:
        lines.append(
            f"| {row['n']} of {row['p']}x{row['p']} | {row['kron_ms']:.2f} ms | "
            f"{row['numpy_ms']:.2f} ms | {row['ratio']:.1f}x as fast | {row['target']:g}x | "
            f"{row['kron_gflops']:.0f} GFLOP/s | {row['limit_percent']:.0f} % | "
            f"{row['compile_ms']:.0f} ms | {row['kron_error']:.1e} | {row['numpy_error']:.1e} |")
    return "\n".join(lines) + "\n"


def table(path):
    """The table of one result file."""
    result = json.loads(path.read_text())
    if path.stem in (*RANDOM, RANDOM_CHAINS):
        return random_tables.table(result)
    if path.stem in PROGRAMS:
        return program_tables.table(result)
    if path.stem in kernel_tables.FILES:
        return kernel_tables.table(result)
    if path.stem in cpu_tables.LAYOUTS:
        return cpu_tables.table(result, path.stem)
    if path.stem == "first_light":
        return first_light(result)
    if path.stem == "python_calls":
        return host_tables.python_calls(result)
    return gpu_tables.table(result, path.stem, plans())


def cpu_goals(path):
    found = results(path, (*CPU, CPU_THREADS))
    return f"{summary_tables.sources(found.values())}\n\n{cpu_tables.goals(found)}"


def of_file(function):
    return lambda path: function(json.loads(path.read_text()))


#: {kind: what it makes of a path}; the last ones take folders.
KINDS = {
    "table": table,
    "summary": of_file(gpu_tables.summary),
    "suite": of_file(gpu_tables.suite),
    "sharded": of_file(distributed_tables.table),
    "exec-runs": of_file(exec_tables.runs),
    "exec-paths": of_file(exec_tables.paths),
    "worst": of_file(random_tables.worst),
    "random-summary": of_file(random_tables.summary),
    **{kind: of_file(lambda result, kind=kind: python_tables.table(result, kind))
       for kind in python_tables.PARTS},
    "misses": lambda path: gpu_tables.misses(results(path, GPU), plans()),
    "cpu-misses": lambda path: cpu_tables.misses(results(path, (*CPU, CPU_THREADS))),
    "cpu-goals": cpu_goals,
    **{kind: lambda path, make=make: make(programs(path))
       for kind, make in program_tables.PARTS.items()},
    **{kind: lambda path, make=make: make(results(path, host_tables.DEVICES))
       for kind, make in host_tables.PARTS.items()},
    "gpu-summary": lambda path: summary_tables.gpu(results(path, GPU)),
    "cpu-summary": lambda path: summary_tables.cpu(cpus()),
    "accuracy": lambda path: summary_tables.accuracy(results(path, GPU), cpus()),
    "all-costs": lambda path: summary_tables.costs(results(path, GPU), cpus(),
                                                   results(path, host_tables.DEVICES)),
    "all-goals": lambda path: summary_tables.goals(results(path, GPU), cpus()),
    "tuned": lambda path: tuned_plot.summary(results(path, (*GPU, "gpu_random", *CPU))),
    "all-losses": lambda path: summary_tables.losses(programs(path)),
}
MARK = rf"(<!-- ({'|'.join(KINDS)}) of (\S+) -->\n)"
TABLE = re.compile(MARK + r".*?(<!-- end -->)", re.S)


def body(kind, path):
    """What belongs in the place of a mark."""
    return KINDS[kind](path) if path.exists() else "(not measured yet)\n"


def rendered(text):
    """`text` with every table written anew."""
    return TABLE.sub(lambda match: match[1] + body(match[2], ROOT / match[3]) + match[4], text)


def page(source, **words):
    """The page that a text of pages/ makes; `words` stand in it as {word}."""
    text = source.read_text()
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", value)
    text = re.sub(MARK, lambda match: body(match[2], ROOT / match[3]), text)
    return (f"<!-- Written by docs/benchmarks/render.py from {source.relative_to(ROOT)}: "
            f"edit that. -->\n{text}")


def pages():
    """{file: text} of the pages that are generated as a whole."""
    found = {}
    for source in sorted(PAGES.rglob("*.md.in")):
        target = ROOT / "docs" / source.relative_to(PAGES).with_suffix("")
        if source.name == "cpu.md.in":
            for name, (title, folder) in CPUS.items():
                if (ROOT / folder).is_dir():
                    found[target.with_stem(f"cpu-{name}")] = page(source, title=title,
                                                                   results=folder)
        else:
            found[target] = page(source)
    return found


def plots():
    """{file: the roofline of what was measured, the ratios of random shapes, what tuning brings, and
    several GPUs}"""
    folder = HERE / "results"
    drawn = {HERE / f"{name}.svg": random_tables.svg(result, f"Random shapes on a {RANDOM[name]}")
             for name, result in results(folder, RANDOM).items()}
    if (ROOT / TUNED).exists():
        drawn[HERE / "tuned.svg"] = tuned_plot.svg(results(ROOT / TUNED, (*GPU, "gpu_random", *CPU)))
    sharded = results(folder, DISTRIBUTED)
    if len(sharded) == len(DISTRIBUTED):
        drawn[HERE / "distributed.svg"] = distributed_plot.svg(list(sharded.values()))
    return drawn | {HERE / "roofline.svg": gpu_plot.svg(results(folder, GPU)),
                    HERE / "cpu_roofline.svg": cpu_plot.svg(results(folder, CPU))}


def generated():
    """{file: text} of all that nobody edits."""
    return pages() | plots()


def main():
    whole = generated()
    partly = {path: rendered(path.read_text())
              for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if path not in whole}
    for path, text in (partly | whole).items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            print(f"updated {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
