"""Reads case files (the format: bench_cases.py). What is wrong in one is an error that names
file, case and field, what was expected and what was found.

SPDX-License-Identifier: MIT
"""

import itertools
import json
import pathlib

from bench_cases import MLIR, SEVERAL, SIZES, Case, parse_factors

SPARSE = ("ksmm", "ksmm_grad", "chain")
CHOICES = {
    "op": ("mkm", "kmm", "batched", *SPARSE),
    "type": tuple(name for name in SIZES if name not in ("e4m3", "e5m2")),
    "trans": tuple(map("".join, itertools.product("NTC", repeat=2))),
    "layout": ("batch_first", "batch_last"),
    "precision": ("full", "ieee", "tf32"),
    "of_8_bits": (None, *(name for name in MLIR if name[0] == "e")),
}


class FileError(Exception):
    """A case file cannot be read, or makes no sense."""


def each(fields):
    """The fields of each case that these stand for: one for each element of a list."""
    lists = {name: fields[name] for name in SEVERAL if isinstance(fields.get(name), list)}
    if "pattern" in lists and not (lists["pattern"] and isinstance(lists["pattern"][0], list)):
        del lists["pattern"]
    for values in itertools.product(*lists.values()):
        yield fields | dict(zip(lists, values))


def is_size(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def check_patterns(fields):
    """What is wrong with the patterns of a case; None if nothing is."""
    name = "patterns" if fields["op"] == "chain" else "pattern"
    patterns = fields.get(name) if name == "patterns" else [fields.get(name)]
    if not isinstance(patterns, list) or not patterns:
        return f"expects {name} to be a list of patterns, but got {patterns}"
    for pattern in patterns:
        if not isinstance(pattern, list) or len(pattern) != 4 or not all(map(is_size, pattern)):
            return (f"expects {name} to be of four integers of at least 1 (a, b, c, d), but got "
                    f"{pattern}")
    for (a, b, _, d), (e, _, g, h) in itertools.pairwise(patterns):
        if a * b * d != e * g * h:
            return (f"expects pattern {[e, _, g, h]} to read the {a * b * d} features that the one "
                    f"before it writes, but it reads {e * g * h}")
    return None


def check_factors(fields):
    """What is wrong with the factors of a case; None if nothing is."""
    text = fields.get("factors")
    try:
        if parse_factors(text) and min(min(shape) for shape in parse_factors(text)) >= 1:
            return None
    except (AttributeError, ValueError):
        pass
    return f"expects factors to be like '8^4' or '14:15,19:13', but got {text!r}"


def check(fields):
    """What is wrong with the fields of one case; None if nothing is."""
    if not isinstance(fields, dict):
        return f"expects an object, but got {fields!r}"
    for name, choices in CHOICES.items():
        default = None if name in ("op", "type") else choices[0]
        if fields.get(name, default) not in choices:
            return (f"expects {name} to be one of {', '.join(map(str, choices))}, but got "
                    f"{fields.get(name)!r}")
    if not is_size(fields.get("rows")):
        return f"expects rows to be an integer of at least 1, but got {fields.get('rows')!r}"
    if not isinstance(fields.get("beta", 0), (int, float)):
        return f"expects beta to be a number, but got {fields['beta']!r}"
    if fields.get("of_8_bits") and fields["op"] != "ksmm":
        return f"expects of_8_bits with op ksmm only, but got {fields['op']}"
    return check_patterns(fields) if fields["op"] in SPARSE else check_factors(fields)


def read(path, only=""):
    """The title of a file and those of its cases whose name contains `only`."""
    try:
        content = json.loads(pathlib.Path(path).read_text())
    except OSError as problem:
        raise FileError(f"cannot read '{path}': {problem.strerror}") from problem
    except ValueError as problem:
        raise FileError(f"{path}: expects JSON, but {problem}") from problem
    if (not isinstance(content, dict) or not isinstance(content.get("title"), str) or
            not isinstance(content.get("cases"), list) or
            not isinstance(content.get("defaults", {}), dict)):
        raise FileError(f"{path}: expects an object with title, a string, cases, a list, and "
                        f"perhaps defaults, an object")
    cases = []
    for number, own in enumerate(content["cases"], 1):
        if not isinstance(own, dict):
            raise FileError(f"{path}: case {number}: {check(own)}")
        for fields in each(content.get("defaults", {}) | own):
            if problem := check(fields):
                raise FileError(f"{path}: case {number}: {problem}")
            cases.append(Case(fields))
    return content["title"], [case for case in cases if only in case.name]
