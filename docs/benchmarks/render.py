"""Writes the tables of the documentation from the result files.

usage: render.py

In README.md and docs/*.md, what stands between `<!-- table of FILE -->` (or `summary`,
a shorter one) and `<!-- end -->` becomes the table of that result file. docs/check.py
tests that nothing is stale.
"""

import json
import pathlib
import re

import gpu_tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = re.compile(r"(<!-- (table|summary) of (\S+) -->\n).*?(<!-- end -->)", re.S)


def table(result, kind):
    """The Markdown table of one result file, with where and how it was measured."""
    if "limits" in result:  # of kron-bench
        return gpu_tables.table(result) if kind == "table" else gpu_tables.summary(result)
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


def rendered(text):
    """`text` with every table written anew."""
    def replace(match):
        path = ROOT / match[3]
        body = "(not measured yet)\n"
        if path.exists():
            body = table(json.loads(path.read_text()), match[2])
        return match[1] + body + match[4]
    return TABLE.sub(replace, text)


def main():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text()
        if rendered(text) != text:
            page.write_text(rendered(text))
            print(f"updated {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
