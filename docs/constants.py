"""Which numbers stand in the sources outside of lib/Machine, and why they may.

What was measured of a machine stands in lib/Machine and include/kron/Machine alone. Every other number of lib and
include that has a name, or that is a fraction, has a row in docs/Constants.md with the reason why it is none of these.

SPDX-License-Identifier: MIT
"""

import collections
import re

SOURCES = (".h", ".hpp", ".cpp", ".td")
#: The layer that may have measured numbers.
MACHINE = ("lib/Machine/", "include/kron/Machine/")
#: Where choices are made or written down, and fractions are nobody's but the machine's.
CHOOSING = ("lib/Mapping/", "lib/Plan/", "lib/Conversion/", "lib/Dialect/", "include/kron/Mapping/",
            "include/kron/Plan/")
#: Rows of a table of the page: `| file | name = value | reason |`.
ROW = re.compile(r"^\| `([\w./]+)` \| `(.+?)` \| (.*?) *\|$", re.M)

TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
NUMBER = r"(?:0[xX][\da-fA-F.]+(?:p[+-]?\d+)?|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?)[uUlLf]*"
LITERAL = re.compile(rf"(?<![\w.]){NUMBER}")
FRACTION = re.compile(r"(?<![\w.])(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])")
#: Fractions that say nothing of a machine: whole numbers, halves, rounding, and units of time.
PLAIN = {0.0, 0.5, 1.0, 2.0, 1e3, 1e6, 1e-3, 1e-6}
CONSTANT = re.compile(r"\b(?:constexpr|const)\b(?!\s*[&*)>,;])")
#: What may stand between a function and its body.
SPECIFIERS = ("override", "final", "noexcept")
NAMED = re.compile(r"[\w:<>,\s]*?\b(\w+)\s*((?:\[[^\]]*\])*)\s*(?==[^=]|\{)", re.S)
#: A variable or member that is no constant but begins with a number.
VARIABLE = re.compile(r"\b(?:u?int(?:8|16|32|64)_t|int|unsigned|size_t|double|float)\s+([^;(){}]*?=[^;(){}=]*)(?=[;)])")
DECLARATOR = re.compile(rf"(\w+)\s*=\s*(-?{NUMBER}(?:\s*(?:\*|<<)\s*{NUMBER})*)\s*$")


def without_text(source):
    """`source` with comments and strings blanked, on as many lines."""
    return TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source)


def end_of(source, begin, stops):
    """Where the first of `stops` is from `begin` on, outside of brackets."""
    depth = 0
    for at in range(begin, len(source)):
        letter = source[at]
        if depth == 0 and letter in stops:
            return at
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return at
    return len(source)


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def value_of(text):
    """A short value as it is written; of tables, how many numbers they have."""
    text = squeezed(text)
    if text.startswith("{"):
        return f"{{{len(LITERAL.findall(text))} numbers}}"
    return text


def constants(source):
    """(place, `name = value`) of what is declared constant and has a number in its value."""
    for keyword in CONSTANT.finditer(source):
        begin = keyword.end()
        head = source[begin:end_of(source, begin, "=({;)")]
        named = NAMED.match(source, begin)
        if not named or named.end() > begin + len(head) + 1 or re.search(r"[&*]|\boperator\b", head):
            continue
        end = end_of(source, begin, ";")
        at, name, suffix = named.end(), named[1], named[2]
        while at < end:
            at += source[at] == "="
            comma = end_of(source, at, ",;")
            value = source[at:comma]
            is_table = value.lstrip().startswith("{")
            if LITERAL.search(value) and (is_table or "{" not in value) and name not in SPECIFIERS:
                yield (at, comma), f"{name}{'[]' if suffix else ''} = {value_of(value)}"
            further = re.match(r",\s*(\w+)\s*((?:\[[^\]]*\])*)\s*=", source[comma:])
            if not further:
                break
            name, suffix, at = further[1], further[2], comma + further.end() - 1


def variables(source):
    """(place, `name = value`) of variables and members that begin with a number other than -1, 0, 1 and 2."""
    for match in VARIABLE.finditer(source):
        before = source[max(0, match.start() - 40):match.start()]
        if re.search(r"\b(?:const|constexpr)\s+$", before):
            continue
        for part in match[1].split(","):
            found = DECLARATOR.search(part.strip())
            if found and found[2] not in ("-1", "0", "1", "2"):
                yield match.span(), f"{found[1]} = {squeezed(found[2])}"


def fractions(source):
    """Fractions in expressions."""
    for match in FRACTION.finditer(source):
        if float(match[0]) not in PLAIN:
            yield match[0]


def numbers_of(path, source):
    """What a file has to have rows for."""
    code = without_text(source)
    # Descriptions of operations are text, too.
    named = list(constants(code)) + ([] if path.endswith(".td") else list(variables(code)))
    found = [number for _, number in named]
    if path.startswith(CHOOSING) and not path.endswith(".td"):
        for (begin, end), _ in named:
            code = code[:begin] + " " * (end - begin) + code[end:]
        found += fractions(code)
    return list(dict.fromkeys(found))


def find(root, files):
    """(file, number) of all that has to have rows."""
    return {(path, number) for path in files
            if path.startswith(("lib/", "include/")) and path.endswith(SOURCES) and not path.startswith(MACHINE)
            and (root / path).exists()
            for number in numbers_of(path, (root / path).read_text())}


def check(checker, page, root, files):
    """The rows of `page` are what the sources have, each with a reason."""
    where = page.relative_to(root)
    rows = ROW.findall(page.read_text())
    for path, number, reason in rows:
        checker.expect(reason, f"{where}: {path} `{number}` has no reason")
    listed = collections.Counter((path, number) for path, number, _ in rows)
    for (path, number), times in listed.items():
        checker.expect(times == 1, f"{where}: {path} `{number}` has {times} rows")
    found = find(root, files)
    checker.expect(len(found) > 100, f"{where}: the sources have only {len(found)} numbers")
    for path, number in sorted(found - set(listed)):
        checker.expect(False, f"{path}: `{number}` stands outside of lib/Machine and has no row in {where}")
    for path, number in sorted(set(listed) - found):
        checker.expect(False, f"{where}: {path} has no `{number}`")
    checker.passed += len(found & set(listed))
