"""Checks that the documentation agrees with the sources.

usage: check.py [--build BUILD] [--update]

- docs/reference is what `ninja kron-docs` writes today, and no cell of its tables is empty.
- A code block behind `<!-- from FILE -->` or `<!-- from FILE:NAME -->` is that file,
  or the part of it between lines holding `[NAME]` and `[/NAME]`.
- Relative links lead to files that exist, and their anchors to headings.
- Tables between `<!-- table of FILE -->` and `<!-- end -->`, docs/Performance.md, the pages of
  docs/performance, and the plots are what docs/benchmarks/render.py makes of the result files;
  docs/performance has no other page, and docs/Performance.md, CPUCodeGeneration.md
  and GPUCodeGeneration.md at most `MOST_LINES` lines.
- No document, comment or message has a word that docs/Glossary.md has replaced (`WORDS`).
- docs/Glossary.md defines each term once, and lib or another page uses it; names of include, of plan fields and of
  numbers in remarks are made of terms and of the words of docs/words.txt, and docs/Remarks.md has each remark
  (docs/vocabulary.py).
- Each numbered constraint of docs/reference/Dialect.md and Tile.md, number 3 of kron.mkm say, has its tag `mkm_c3`
  in a comment of a verifier and in the name of a negative test, and there are no other tags.
- docs/Architecture.md has each folder of include and lib in one layer, no layer includes headers of a lower one,
  nothing but passes of the layer mapping includes what chooses plans, and files that the page names exist.
- Each GPU and each processor of lib/Machine's tables is in a test of decisions (`check_machines`, `check_processors`).
- Code of the tile level meets the criteria in docs/tiles.py.
- docs/benchmarks/tuned_plot.py draws a small result file of tuned plans as it should.
- docs/Constants.md has a row, with a reason, for each number outside of lib/Machine that has a name or is a fraction
  (docs/constants.py), and no other rows.

With --update the quoted code is copied anew first. Prints one line per failure and ends with `N passed, N failed`.
"""

import argparse
import io
import pathlib
import re
import subprocess
import sys
import tokenize
import types

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS), str(DOCS / "benchmarks")]
sys.dont_write_bytecode = True

import constants
import generate
import render
import tiles
import tuned_plot
import vocabulary

SNIPPET = re.compile(r"(?P<head>^<!-- from (?P<file>\S+?)(?::(?P<name>\w+))? -->\n```\w*\n)"
                     r"(?P<code>.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"```.*?```", re.S)
#: Of docs/Performance.md, whose full tables go to docs/performance, and of the pages on code
#: generation, whose experiments go to docs/notes.
MOST_LINES = 300

#: (what is refused, the word to use, where it may stand all the same). A blank matches any white
#: space, ends of lines included; upper and lower case are the same.
WORDS = [
    (r"kron\.pass|PassOp", "kron.fused, FusedOp", []),
    (r"(?:select-|kron\.)schedule|ScheduleAttr|schedules? of (?:an? )?(?:operations?|kernels?|fused regions?)",
     "plan, kron-plan, CPUPlanAttr or GPUPlanAttr", []),
    (r"trips?", "fused region", [r"round[- ]trips?", r"trip[- ]counts?"]),
    (r"slabs?", "tile footprint", []),
    (r"(?:past|around) the caches?", "non-temporal", []),
    (r"teams?", "warp group", []),
    (r"thin", "split-K", [r"thin (?:MLIR )?(?:pass|layer|wrapper)"]),
    (r"depths?", "K", [r"depth[- ]first", r"(?:stack|recursion|nesting|loop|tree|bit)[- ]depths?",
                       r"depths? of (?:the )?(?:stack|recursion|nesting|loops?|calls?|regions?|blocks?)",
                       r"`depth` of launches"]),
    (r"half types?|half[- ]precision(?: types?)?|of halves", "16-bit type, f16 value",
     [r"IEEE half precision"]),
    (r"(?:b?f16|t?f32|f64|16-bit|half) numbers|numbers of (?:b?f16|t?f32|f64|(?:8|16) bits)",
     "values, elements", [r"floating-point numbers"]),
    (r"numbers in (?:registers|(?:shared |global )?memory)|number by number|single numbers"
     r"|(?:rows?|columns?|arrays?|tiles?) of \w+ numbers", "values, elements", []),
    (r"rests", "residual, remainder", [r"rests (?:on|with)"]),
    (r"runs? of (?:memory|[0-9]+ (?:bytes|KB|KiB|elements))", "contiguous segment", []),
    (r"asked for early|fetch ahead", "prefetch", []),
    (r"stages? of (?:the|a|one) (?:fused region|tile|CPU)|Stage(?:Array|Emitter|Factor|Layout|Mapping)s?",
     "step, StepLayout", []),
    (r"images? of (?:the|a|its|one) (?:factor|operand|weights?)", "packed operand", []),
]
#: Texts that have to be refused, one for each row of WORDS, and texts that have to be accepted.
REFUSED = ["a kron.pass", "a #kron.schedule", "two trips", "Slabs of", "stored past\nthe caches", "a team of warps",
           "tiles are thin", "a depth of 128", "groups of halves", "16-bit numbers",
           "number by number", "the rests of", "runs of 128 bytes", "asked for early",
           "a stage of the tile", "the image of the factor"]
ACCEPTED = ["kron.passes", "the scheduler of the system", "a round trip", "the trip count", "a thin layer", "depth-first",
            "the recursion depth", "a depth of nesting", "half of it", "both halves",
            "the number of f32 elements", "64-bit numbers", "the rest of the tile", "it rests on",
            "it runs on 128 threads", "an image of the moon", "asked for more threads", "a pipeline stage of the ring"]

#: What has the old words for a reason: lists of them, and records.
UNCHECKED = re.compile(r"docs/(check\.py|Glossary\.md|notes/|benchmarks/(results/|exec_tables\.py))")
CODE = re.compile(r'(?P<kept>//[^\n]*|/\*.*?\*/|R"(?P<raw>\w*)\(.*?\)(?P=raw)"'
                  r'|"(?:\\.|[^"\\\n])*")|\'(?:\\.|[^\'\\\n])+\'', re.S)
HASHED = re.compile(r"(?P<kept>#[^\n]*)")
SLASHED = re.compile(r"(?P<kept>//[^\n]*)")
PROSE = re.compile(r"(?P<kept>.+)", re.S)
#: Which part of a file people read, by the end of its name: comments and strings, or all of it.
READ = {**dict.fromkeys((".h", ".hpp", ".c", ".cpp", ".in"), CODE), ".mlir": SLASHED,
        **dict.fromkeys((".sh", ".cmake", ".txt"), HASHED), ".py": None,
        **dict.fromkeys((".md", ".td", ".test"), PROSE)}
TERM = re.compile(r"\*\*(.+?)\*\*|`(.+?)`")


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


def anchors(page):
    """What links call the headings of a page."""
    found = {}
    for heading in re.findall(r"^#+ +(.+?) *$", FENCE.sub("", page.read_text()), re.M):
        heading = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = found[name] = found.get(name, -1) + 1
        yield f"{name}-{count}" if count else name


def check_page(checker, page):
    text, where = page.read_text(), page.relative_to(ROOT)
    for snippet in SNIPPET.finditer(text):
        path = ROOT / snippet["file"]
        checker.expect(path.exists() and part_of(path, snippet["name"]) == snippet["code"],
                       f"{where}: the code from {snippet['file']} differs from that file; "
                       f"run docs/check.py --update")
    for link, anchor in LINK.findall(FENCE.sub("", text)):
        if "://" in link or link.startswith("mailto:"):
            continue
        target = page.parent / link if link else page
        checker.expect(target.exists(), f"{where}: {link} does not exist")
        if anchor and target.suffix == ".md" and target.exists():
            checker.expect(anchor in anchors(target), f"{where}: {link} has no heading #{anchor}")
    if render.TABLE.search(text):
        checker.expect(render.rendered(text) == text,
                       f"{where}: a table is stale; run docs/benchmarks/render.py")


def python_spans(text):
    """Where comments and strings of a Python file are."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in kinds:
            continue
        begin = start = starts[token.start[0] - 1] + token.start[1]
        # Up to Python 3.11 an f-string is one token with the code in its braces.
        code = re.finditer(r"\{[^{}]*\}", token.string) if "f" in token.string[:2].lower() else ()
        for match in code:
            yield begin, start + match.start()
            begin = start + match.end()
        yield begin, starts[token.end[0] - 1] + token.end[1]


def prose_of(path, text):
    """What people read of a file; all else is zeros, so that places stay what they are."""
    pattern = READ[path.suffix]
    spans = python_spans(text) if pattern is None else (
        m.span("kept") for m in pattern.finditer(text) if m["kept"])
    kept = list(re.sub(r"\S", "\0", text))
    for begin, end in spans:
        kept[begin:end] = text[begin:end]
    # A phrase may go on in the next line of a comment.
    return re.sub(r"^[ \t]*(?:///?|#+:?)(?=\s)", lambda m: " " * len(m[0]), "".join(kept), flags=re.M)


def old_words(text):
    """(position, word, what to write instead) of each word of WORDS in a text."""
    def pattern(source):
        return re.compile(r"(?<![\w-])(?:" + re.sub(r" (?![?*+])", r"\\s+", source) + r")(?![\w-])", re.I)
    for source, new, exceptions in WORDS:
        left = text
        for exception in exceptions:
            left = re.sub(exception.replace(" ", r"\s+"), lambda m: "\0" * len(m[0]), left, flags=re.I)
        for match in pattern(source).finditer(left):
            yield match.start(), " ".join(match[0].split()), new


def tracked_files():
    """Files of the repository, by their paths from the root."""
    return subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True,
                          text=True).stdout.split("\0")[:-1]


def check_words(checker):
    for (source, _, _), sample in zip(WORDS, REFUSED, strict=True):
        checker.expect(len(list(old_words(sample))) == 1, f"WORDS: {source} accepts '{sample}'")
    for sample in ACCEPTED:
        checker.expect(not list(old_words(sample)), f"WORDS: '{sample}' is refused")
    for name in tracked_files():
        path = ROOT / name
        if path.suffix not in READ or UNCHECKED.match(name) or not path.exists():
            continue
        text = path.read_text()
        found = sorted(old_words(prose_of(path, text)))
        for at, word, new in found:
            line = text.count("\n", 0, at) + 1
            checker.expect(False, f"{name}:{line}: '{word}', expected '{new}'")
        checker.passed += not found


def check_glossary(checker, page):
    """Every term has one row, and somebody uses it."""
    cells = re.findall(r"^\| (.+?) \|.*\|$", page.read_text(), re.M)
    terms = [bold or code for cell in cells for bold, code in TERM.findall(cell)]
    checker.expect(terms, f"{page.relative_to(ROOT)}: no terms")
    used = "\n".join(path.read_text() for folder in (ROOT / "lib", DOCS) for path in folder.rglob("*")
                     if path.suffix in (".h", ".cpp", ".md") and path != page)
    for term in dict.fromkeys(terms):
        checker.expect(terms.count(term) == 1,
                       f"{page.relative_to(ROOT)}: '{term}' is defined {terms.count(term)} times")
        words = r"s?\s+(?://+\s+)?".join(map(re.escape, term.split()))
        checker.expect(re.search(rf"(?<!\w){words}(?:s|es)?(?!\w)", used, re.I),
                       f"{page.relative_to(ROOT)}: nothing else uses '{term}'")


def check_machines(checker, page, source, test):
    """The table of GPUs has what the compiler's has, and each is in the test of decisions."""
    rows = re.findall(r'{"([\w-]+)",\s+"[^"]+",\s+(\d+),\s+(\d+),\s+(\d+),\s+\d+,\s+(\d+),\s+(\d+),\s+[\d.]+,\s+(\w+|{})}',
                      source.read_text())
    checker.expect(len(rows) > 10, f"{source.relative_to(ROOT)}: only {len(rows)} GPUs")
    expected = [f"| `{name}` | sm_{capability}{'a' if int(capability) >= 90 else ''} | {sms} | {clock} "
                f"| {rate} | {l2} | {'data sheet' if measured == '{}' else 'measured'} |"
                for name, capability, sms, clock, rate, l2, measured in rows]
    found = re.findall(r"^\| `.*` \| sm_.*\|$", page.read_text(), re.M)
    checker.expect(found == expected, f"{page.relative_to(ROOT)}: its table of GPUs has "
                   f"{sorted(set(found) ^ set(expected))} more or fewer than {source.relative_to(ROOT)}")
    tested = set(re.findall(r"\bchip=([\w-]+)", test.read_text()))
    missing = [row[0] for row in rows if row[0] not in tested]
    checker.expect(not missing, f"{test.relative_to(ROOT)}: no decision of {', '.join(missing)}")


def check_processors(checker, source, *tests):
    """Each processor of the compiler's table is in a test of decisions; there, any of AArch64 is the generic one."""
    names = re.findall(r"^    {(?:\"([\w-]+)\"|kGeneric),", source.read_text(), re.M)
    checker.expect(len(names) > 20, f"{source.relative_to(ROOT)}: only {len(names)} processors")
    tested = {name for test in tests for name in re.findall(r"--mcpu=([\w-]+)", test.read_text())}
    missing = [name or "aarch64" for name in names if (name or "aarch64") not in tested]
    checker.expect(not missing, f"{tests[0].relative_to(ROOT)}: no decision of {', '.join(missing)}")


def rules_of(reference):
    """Tags of the constraints that the generated reference numbers."""
    for section in re.split(r"^### ", reference, flags=re.M)[1:]:
        name = re.match(r"`(?:kron|tile)\.(\w+)`", section)
        listed = re.search(r"^Constraints\b.*?(?=^(?:Example|####)|\Z)", section, re.M | re.S)
        for number in re.findall(r"^(\d+)\. ", listed[0] if name and listed else "", re.M):
            yield f"{name[1]}_c{number}"


def tags_of_verifiers(text):
    """Tags in comments; one in back-ticks is an example."""
    for comment in re.findall(r"//.*", text):
        yield from re.findall(r"(?<![`\w])[a-z_]+_c\d+\b", comment)


def tags_of_tests(text):
    """Tags in names of functions for which an error is expected."""
    for part in text.split("// -----"):
        if "expected-error" in part:
            yield from re.findall(r"@([a-z_]+_c\d+)(?:_\w+)?\(", part)


def check_rules(checker, page, verifiers, tests):
    """What the reference states, the verifiers check and the negative tests break is the same."""
    places = {str(page.relative_to(ROOT)): set(rules_of(page.read_text()))}
    for folder, suffix, find in ((verifiers, "cpp", tags_of_verifiers), (tests, "mlir", tags_of_tests)):
        places[str(folder.relative_to(ROOT))] = {
            tag for path in folder.glob(f"*.{suffix}") for tag in find(path.read_text())}
    for place, tags in places.items():
        checker.expect(tags, f"{place}: no tags of constraints")
    for tag in sorted(set.union(*places.values())):
        missing = [place for place, tags in places.items() if tag not in tags]
        checker.expect(not missing, f"constraint {tag} is missing in {', '.join(missing)}")


def layers_of(page):
    """{folder below include/kron or lib: number of its layer}; names of several layers, twice."""
    table = re.search(r"^\| layer \|.*?\n\n", page.read_text(), re.M | re.S)[0]
    rows = [re.findall(r"`(?:include/kron|lib)/([\w/.]+)`", row) for row in table.splitlines()[2:]]
    return [(name, number) for number, names in enumerate(rows) for name in dict.fromkeys(names)]


#: Folders below include/kron or lib that choose nothing, and what they must not include: planners and what these
#: choose by, measured numbers.
NO_CHOICE = {"Plan", "CodeGen", "Conversion", "Dialect"}
CHOICE = ("Mapping/", *(f"Machine/{name}.h" for name in ("CPURates", "GPURates", "GPUSplits", "GPUTiles", "ThreadRates")))


def check_layers(checker, page):
    """The layers of the page are those of the tree."""
    where, listed = page.relative_to(ROOT), layers_of(page)
    layers = dict(listed)
    checker.expect(len(layers) == len(listed), f"{where}: a folder is in two layers")

    def layer_of(name):
        found = [known for known in layers if name == known or name.startswith(known + "/")]
        return layers[max(found, key=len)] if found else None

    for top in (ROOT / "include/kron", ROOT / "lib"):
        for path in sorted(top.rglob("*")):
            if path.suffix not in (".h", ".hpp", ".cpp", ".td"):
                continue
            layer = layer_of(str(path.relative_to(top)))
            checker.expect(layer is not None, f"{where}: no layer has {path.relative_to(ROOT)}")
            for name in re.findall(r'^#?include "kron/([\w/.]+)"', path.read_text(), re.M):
                used = layer_of(name)
                checker.expect(layer is None or used is not None and used <= layer,
                               f"{path.relative_to(ROOT)} includes kron/{name}, of a lower layer of {where}")
                checker.expect(path.relative_to(top).parts[0] not in NO_CHOICE or not name.startswith(CHOICE),
                               f"{path.relative_to(ROOT)} includes kron/{name}: only --kron-plan chooses")


FILE = r"[\w./-]+\.(?:h|hpp|cpp|td|py|pyi|mlir|test|json|jsonl|md|txt|cmake|sh)"


def check_paths(checker, page):
    """Files and folders that the page names exist, by a path or the end of one."""
    where, files = page.relative_to(ROOT), [f"/{name}" for name in tracked_files()]
    folders = {str(folder) for name in files for folder in pathlib.PurePath(name).parents}
    tops = {folder.split("/")[1] for folder in folders}
    for name in dict.fromkeys(re.findall(r"`([\w./-]+)`", page.read_text())):
        if re.fullmatch(FILE, name):
            checker.expect(any(path.endswith(f"/{name}") for path in files), f"{where}: {name} does not exist")
        elif "/" in name and name.split("/")[0] in tops:
            checker.expect(f"/{name}".rstrip("/") in folders | set(files), f"{where}: {name} does not exist")


def check_recipes(checker, page):
    """Each step of a recipe names files that can be told from others: a name alone is one of a
    kind, or in a folder that the step names."""
    where, files = page.relative_to(ROOT), [f"/{name}" for name in tracked_files()]
    recipes = page.read_text().split("\n## Recipes\n")[1]
    for step in re.split(r"^(?=\d+\. |### )", recipes, flags=re.M):
        names = re.findall(r"`([\w./-]+)`", step)
        folders = [str(pathlib.PurePath(name).parent if re.fullmatch(FILE, name) else name) for name in names]
        for name in dict.fromkeys(name for name in names if re.fullmatch(FILE, name)):
            found = [path for path in files if path.endswith(f"/{name}")]
            is_named = any(path == f"/{name}" or str(pathlib.PurePath(path).parent).endswith(f"/{folder}")
                           for path in found for folder in folders)
            # Those beside new files are meant.
            checker.expect(len(found) <= 1 or is_named or name == "CMakeLists.txt",
                           f"{where}: which {name} of {', '.join(found)} is meant, in '{step[:60].strip()}'")


def check_generated(checker, generated):
    """Pages and plots that render.py writes as a whole; `generated` is {file: text}."""
    for path, text in generated.items():
        checker.expect(path.exists() and path.read_text() == text,
                       f"{path.relative_to(ROOT)} is stale; run docs/benchmarks/render.py")
    for path in (DOCS / "performance").rglob("*"):
        checker.expect(path in generated,
                       f"{path.relative_to(ROOT)}: docs/benchmarks/render.py does not make it")
    checker.expect(DOCS / "Performance.md" in generated, "docs/Performance.md is not generated")
    for name in ("Performance", "CPUCodeGeneration", "GPUCodeGeneration"):
        lines = len((DOCS / f"{name}.md").read_text().splitlines())
        checker.expect(lines <= MOST_LINES, f"docs/{name}.md: {lines} lines, more than {MOST_LINES}")


def check_tuned(checker):
    """What docs/benchmarks/tuned_plot.py makes of a small result file."""
    def row(case, default, tuned):
        return {"case": case, "ms": default, "ms_low": 0.9 * default, "ms_high": 1.2 * default,
                "tuned_ms": tuned, "tuned_ms_low": tuned, "tuned_ms_high": tuned}
    rows = [row("<twice>", 2.0, 1.0), row("same", 1.0, 1.0), {"case": "untuned", "ms": 1.0}]
    found = {"small": {"rows": rows, "machine": {"gpu": "a GPU"}, "commit": "0" * 40, "command": "bench",
                       "date": "today"}}
    checker.expect(tuned_plot.gains(found["small"]) == [(1.0, 0.9, 1.2, "same"), (2.0, 1.8, 2.4, "<twice>")],
                   "docs/benchmarks/tuned_plot.py: gains are not those of the rows")
    svg = tuned_plot.svg(found)
    heights = [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', svg)]
    checker.expect(len(heights) == 2 and heights[0] > heights[1] and "&lt;twice&gt;: 2.000x" in svg,
                   "docs/benchmarks/tuned_plot.py: the plot has not one point for each case")
    summary = tuned_plot.summary(found)
    checker.expect("geometric mean 1.414x over 2 cases; the default is within 10% of tuned in 1; tuned is slower by "
                   "more than 2% in 0; spread of a quotient 15.0%" in summary,
                   f"docs/benchmarks/tuned_plot.py: {summary}")


def check_constants(checker, page):
    constants.check(checker, page, ROOT, tracked_files())


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
    check_constants(checker, DOCS / "Constants.md")
    check_words(checker)
    check_glossary(checker, DOCS / "Glossary.md")
    vocabulary.check(checker, ROOT)
    old = [word for word in vocabulary.ordinary_words((DOCS / "words.txt").read_text()) if list(old_words(word))]
    checker.expect(not old, f"docs/words.txt: old words: {', '.join(old)}")
    check_machines(checker, DOCS / "Machines.md", ROOT / "lib/Machine/GPUTable.cpp",
                   ROOT / "test/Transforms/machines.mlir")
    check_processors(checker, ROOT / "lib/Machine/Processor.cpp", ROOT / "test/Tools/processor-plans.test",
                     ROOT / "test/Tools/processor-plans-aarch64.test")
    for page, dialect in (("Dialect.md", "Kron"), ("Tile.md", "Tile")):
        check_rules(checker, DOCS / "reference" / page, ROOT / f"lib/Dialect/{dialect}/IR", ROOT / f"test/Dialect/{dialect}")
    check_layers(checker, DOCS / "Architecture.md")
    tiles.check(checker, ROOT, options.build)
    check_paths(checker, DOCS / "Architecture.md")
    check_recipes(checker, DOCS / "Architecture.md")
    check_generated(checker, render.generated())
    check_tuned(checker)
    print(f"{checker.passed} passed, {checker.failed} failed")
    return 1 if checker.failed else 0


if __name__ == "__main__":
    sys.exit(main())
