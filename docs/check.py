"""Checks that the documentation agrees with the sources.

usage: check.py [--build BUILD] [--update]

- docs/reference is what `ninja kron-docs` writes today, and no cell of its tables is empty.
- A code block behind `<!-- from FILE -->` or `<!-- from FILE:NAME -->` is that file,
  or the part of it between lines holding `[NAME]` and `[/NAME]`.
- Relative links lead to files that exist.
- Tables between `<!-- table of FILE -->` and `<!-- end -->`, and the roofline plots, are
  what docs/benchmarks/render.py makes of the result files.

With --update the quoted code is copied anew first. Prints one line per failure and ends with `N passed, N failed`.
"""

import argparse
import pathlib
import re
import sys
import types

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(DOCS / "benchmarks")]
sys.dont_write_bytecode = True

import generate
import render

SNIPPET = re.compile(r"(?P<head>^<!-- from (?P<file>\S+?)(?::(?P<name>\w+))? -->\n```\w*\n)"
                     r"(?P<code>.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


class Checker:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, condition, message):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {message}", file=sys.stderr)


def part_of(path, name):
    """A file, or its part `name`, as a document quotes it."""
    lines = path.read_text().splitlines(keepends=True)
    if not name:
        return "".join(lines)
    begin = next((i for i, l in enumerate(lines) if f"[{name}]" in l), None)
    end = next((i for i, l in enumerate(lines) if f"[/{name}]" in l), None)
    return None if begin is None or end is None else "".join(lines[begin + 1:end])


def check_references(checker, build):
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M))
    prefix = pathlib.Path(cache["KRON_LLVM_PREFIX"])
    options = types.SimpleNamespace(mlir_tblgen=str(prefix / "bin/mlir-tblgen"),
                                    include=[prefix / "include"])
    for name, text in generate.references(options).items():
        path = DOCS / "reference" / name
        checker.expect(path.exists() and path.read_text() == text,
                       f"docs/reference/{name} is stale; run `ninja kron-docs`")
        empty = re.findall(r"^\| (\S+) \|.*\|\s+\|$", text, re.M)
        checker.expect(not empty,
                       f"docs/reference/{name}: no description of {', '.join(empty)}")


def update_page(page):
    """Copies the quoted code from the files."""
    def replace(snippet):
        code = part_of(ROOT / snippet["file"], snippet["name"])
        return snippet[0] if code is None else snippet["head"] + code + "```"
    text = page.read_text()
    if SNIPPET.sub(replace, text) != text:
        page.write_text(SNIPPET.sub(replace, text))


def check_page(checker, page):
    text, where = page.read_text(), page.relative_to(ROOT)
    for snippet in SNIPPET.finditer(text):
        path = ROOT / snippet["file"]
        checker.expect(path.exists() and part_of(path, snippet["name"]) == snippet["code"],
                       f"{where}: the code from {snippet['file']} differs from that file; "
                       f"run docs/check.py --update")
    for link in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        if "://" not in link and not link.startswith("mailto:"):
            checker.expect((page.parent / link).exists(), f"{where}: {link} does not exist")
    if render.TABLE.search(text):
        checker.expect(render.rendered(text) == text,
                       f"{where}: a table is stale; run docs/benchmarks/render.py")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--update", action="store_true", help="copy quoted code anew")
    options = parser.parse_args()
    checker = Checker()
    check_references(checker, options.build)
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        if options.update:
            update_page(page)
        check_page(checker, page)
    for path, text in render.plots().items():
        checker.expect(path.exists() and path.read_text() == text,
                       f"{path.relative_to(ROOT)} is stale; run docs/benchmarks/render.py")
    print(f"{checker.passed} passed, {checker.failed} failed")
    return 1 if checker.failed else 0


if __name__ == "__main__":
    sys.exit(main())
