"""Which words names are made of, and what remarks say.

Names of include, of operations, of fields of plans and of numbers in remarks are split into words (`getTileBytes`: get,
tile, bytes). Each word is part of a term of docs/Glossary.md, or an ordinary one of docs/words.txt. docs/Remarks.md has a
row for each remark of lib and for each key of its numbers. CPU code has steps, no stages.

SPDX-License-Identifier: MIT
"""

import re

import constants

#: Parts of a name: `CTA` of CTAsPerSM, `NVVM` of NVVMType, `tile` of tileBytes.
PART = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Shorter ones are indices, sizes and endings.
LEAST_LETTERS = 3
NAME = re.compile(r"[A-Za-z_]\w*")
#: Bodies of descriptions and of C++ in TableGen, and directives of the preprocessor.
UNNAMED = re.compile(r"\[\{.*?\}\]|^[ \t]*#[^\n]*", re.S | re.M)
FIELD = re.compile(r'\b(?:required|defaulted|constraint|list|parts)\(\s*"(\w+)"')
MNEMONIC = re.compile(r'\b(?:Kron|Tile)\w*_\w*Op<\s*"(\w+)"')
METRIC = re.compile(r'remark::metric\(\s*"(\w+)"')
REMARK = re.compile(r'RemarkOpts::name\("([\w-]+)"\)\s*\.category\("([\w-]+)"\)')
TERM = re.compile(r"\*\*(.+?)\*\*|`(.+?)`")
#: Rows of docs/Glossary.md: terms, their meaning, and what they are not called.
ENTRY = re.compile(r"^\| ((?:\*\*|`).+?) \| (.*?) \| (.*?) \|$", re.M)
#: Of docs/Remarks.md: `category`, `name`, files; `key`, names.
REMARK_ROW = re.compile(r"^\| `([a-z-]+)` \| `([\w-]+)` \| (.+?) \|", re.M)
KEY_ROW = re.compile(r"^\| `([A-Z]\w*)` \| (.+?) \|", re.M)
#: A definition is a sentence at least.
LEAST_DEFINITION = 4


def words_of(name):
    """The words of a name, in lower case."""
    return [part.lower() for part in PART.findall(name) if len(part) >= LEAST_LETTERS]


def bases_of(word):
    """What `word` may be a form of: itself, singulars, verbs."""
    yield word
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
                            ("er", ""), ("er", "e"), ("ly", ""), ("est", ""), ("est", "e"), ("ier", "y"), ("able", ""), ("able", "e")):
        if word.endswith(ending):
            base = word[:-len(ending)] + instead
            yield base
            if len(base) > 3 and base[-1] == base[-2]:
                yield base[:-1]


def is_known(word, known):
    return any(base in known for base in bases_of(word))


def entries_of(glossary):
    """(terms, meaning) of each row of docs/Glossary.md."""
    for cell, meaning, _ in ENTRY.findall(glossary):
        yield [bold or code for bold, code in TERM.findall(cell)], meaning


def term_words(glossary):
    """The words that terms are made of."""
    return {word.lower() for terms, _ in entries_of(glossary) for term in terms
            for word in re.findall(r"[A-Za-z]+", term)}


def ordinary_words(text):
    """The lines of docs/words.txt but for comments."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def names_of(source, is_table):
    """Names in the code of a header, or of TableGen."""
    text = constants.without_text(UNNAMED.sub("", source) if is_table else source)
    yield from NAME.findall(UNNAMED.sub("", text))


def names_in(root):
    """(where, name) of each name that has to be made of known words."""
    for path in sorted((root / "include").rglob("*")):
        if path.suffix in (".h", ".hpp", ".td"):
            source, where = path.read_text(), path.relative_to(root)
            for name in sorted({*names_of(source, path.suffix == ".td"), *MNEMONIC.findall(source)}):
                yield where, name
    fields = root / "lib/Dialect/Kron/IR/PlanFields.cpp"
    for name in FIELD.findall(fields.read_text()):
        yield fields.relative_to(root), name
    for where, name in metrics_in(root):
        yield where, name


def metrics_in(root):
    """(file, key) of the numbers that remarks have."""
    for path in sorted((root / "lib").rglob("*.cpp")):
        for key in METRIC.findall(path.read_text()):
            yield path.relative_to(root), key


def remarks_in(root):
    """(category, name): names of the files that have it."""
    found = {}
    for path in sorted((root / "lib").rglob("*.cpp")):
        for name, category in REMARK.findall(path.read_text()):
            found.setdefault((category, name), set()).add(path.name)
    return found


def check_names(checker, root, glossary, ordinary):
    """Names are made of words that are ordinary or terms."""
    listed = ordinary_words(ordinary)
    checker.expect(listed == sorted(set(listed)), "docs/words.txt: words are not sorted, or stand there twice")
    terms = term_words(glossary)
    both = sorted(set(listed) & terms)
    checker.expect(not both, f"docs/words.txt: {', '.join(both)}: of docs/Glossary.md as well")
    known, bad = terms | set(listed), {}
    for where, name in names_in(root):
        bad.setdefault(where, [])
        for word in words_of(name):
            if not is_known(word, known):
                bad[where].append(f"'{word}' of {name}")
    for where, found in bad.items():
        checker.expect(not found, f"{where}: {', '.join(found)}: neither a term of docs/Glossary.md nor a word of "
                       "docs/words.txt: use one of these, define it, or list it if anybody knows it")


def check_stages(checker, root):
    """Only rings have stages, and only GPUs have these."""
    paths = [path for top in ("include/kron", "lib") for path in (root / top).glob("*/CPU/*")
             if path.suffix in (".h", ".cpp")]
    checker.expect(paths, "no CPU code in include/kron and lib")
    for path in paths:
        found = sorted({name for name in NAME.findall(constants.without_text(path.read_text()))
                        if {"stage", "stages"} & set(words_of(name))})
        checker.expect(not found, f"{path.relative_to(root)}: {', '.join(found)}: expects steps on a CPU")


def check_definitions(checker, glossary):
    for terms, meaning in entries_of(glossary):
        checker.expect(len(meaning.split()) >= LEAST_DEFINITION,
                       f"docs/Glossary.md: '{terms[0]}' has no definition")


def check_remarks(checker, root, page):
    """docs/Remarks.md has what sources say, and nothing else."""
    rows = {(category, name): set(re.findall(r"`(\w+\.cpp)`", files))
            for category, name, files in REMARK_ROW.findall(page)}
    found = remarks_in(root)
    for remark in sorted({*rows, *found}):
        checker.expect(rows.get(remark) == found.get(remark), f"docs/Remarks.md: {remark[0]}, {remark[1]}: expects files "
                       f"{sorted(found.get(remark, ()))}, but got {sorted(rows.get(remark, ()))}")
    keys = [key for key, _ in KEY_ROW.findall(page)]
    metrics = {key for _, key in metrics_in(root)}
    checker.expect(sorted(keys) == sorted(metrics), "docs/Remarks.md: keys of numbers differ from those of lib: "
                   f"{', '.join(sorted({*keys} ^ metrics)) or 'one stands there twice'}")
    names = {name for _, name in found}
    for key, of in KEY_ROW.findall(page):
        unknown = set(re.findall(r"`([\w-]+)`", of)) - names
        checker.expect(not unknown, f"docs/Remarks.md: {key}: no remark is called {', '.join(sorted(unknown))}")


#: (name, its words): what the splitting of names has to do.
SPLIT = [("getTileBytes", ["get", "tile", "bytes"]), ("CTAsPerSM", ["cta", "per"]), ("kMostAmxBlocks", ["most", "amx", "blocks"]),
         ("KRON_ISA_HOST", ["kron", "isa", "host"]), ("l1Bytes", ["bytes"]), ("kept_fibres", ["kept", "fibres"])]
#: (word, known words, whether it is one of these).
KNOWN = [("tiles", {"tile"}, True), ("copies", {"copy"}, True), ("choosing", {"choose"}, True), ("mapped", {"map"}, True),
         ("panes", {"tile"}, False), ("stage", {"step"}, False)]


def check(checker, root):
    for name, words in SPLIT:
        checker.expect(words_of(name) == words, f"docs/vocabulary.py: {name} is split into {words_of(name)}")
    for word, known, expected in KNOWN:
        checker.expect(is_known(word, known) == expected, f"docs/vocabulary.py: '{word}' of {known}: expects {expected}")
    docs = root / "docs"
    glossary = (docs / "Glossary.md").read_text()
    check_definitions(checker, glossary)
    check_stages(checker, root)
    check_names(checker, root, glossary, (docs / "words.txt").read_text())
    check_remarks(checker, root, (docs / "Remarks.md").read_text())
