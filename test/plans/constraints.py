"""Whether --kron-plan meets fields that a plan by hand gives.

Of a module that --kron-plan has written plans into, `variants` makes others: in each one a plan is
replaced by a single one of its fields, as a constraint, or by the other value of a field that is 0
or 1. `check` plans them again: the field is there, or an error names it. A field that --kron-plan
has chosen itself must be there, but for those of PARTIAL.

SPDX-License-Identifier: MIT
"""

import collections
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTRIBUTE = re.compile(r"#kron\.(cpu_plan|gpu_plan|pairwise_plan|dispatch)<")
SEPARATOR = "// -----\n"
#: Cases of each target in which a field of a kernel is tried.
CASES = 2

#: Fields that one plan of a dispatch has and another one of its kernel cannot have: given alone
#: they are for both. Tiles of few rows, or of the rows of 8 bits, have no others.
PARTIAL = {"sparse": {"result_tiles", "result_warps", "row_warps", "k_step", "k_warps", "stages",
                      "ctas_per_sm", "keeps_factor", "lane_chunks", "row_tiles"}}


@dataclasses.dataclass
class Plan:
    """An attribute in a module's text: where it is, its kind, and what stands in it."""

    begin: int
    end: int
    kind: str
    body: str


@dataclasses.dataclass
class Variant:
    """A module whose plan number `number` is `constraint`, of which `field` has to be met, of step
    `step` or, with None, of the plan."""

    text: str
    number: int
    constraint: str
    field: str
    step: int | None
    #: What it means where the field is not printed; None: nothing.
    default: str | None
    #: Whether it must be met, since --kron-plan has chosen it itself.
    is_required: bool


def split(text):
    """The parts of a list, at the commas that are in no brackets."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "[{<") - (letter in "]}>")
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() else parts


def find_plans(text):
    found, at = [], 0
    while match := ATTRIBUTE.search(text, at):
        depth, at = 1, match.end()
        while depth:
            depth += (text[at] == "<") - (text[at] == ">")
            at += 1
        found.append(Plan(match.start(), at, match[1], text[match.end():at - 1]))
    return found


def read_fields():
    """By kernel, and for "region" and "step" of a CPU: {field: (default or None, range)}."""
    page = (ROOT / "docs/reference/Plans.md").read_text()
    names = {"A fused region on a CPU": "region", "A step on a CPU": "step"}
    found = {}
    for title, text in re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page, re.M):
        found[names.get(title, title.strip("`"))] = {
            name: (default, numbers) for name, default, numbers in re.findall(
                r"^\| `(\w+)` \| (?:default ([^ |]+)|[^|]*) \| ([^|]*) \|", text, re.M)}
    return found


FIELDS = read_fields()


def other_values(fields, kernel):
    """The value that it does not have of each field that is 0 or 1, of one with `fields`."""
    own = dict(field.split(" = ", 1) for field in fields)
    for name, (default, numbers) in FIELDS.get(kernel, {}).items():
        if numbers == "0 to 1" and (value := own.get(name, default)) in ("0", "1"):
            yield f"{name} = {1 - int(value)}"


def list_constraints(kind, body):
    """(kernel, text of the plan, field, step, whether it was chosen) for each constraint."""
    if kind == "dispatch":
        for part in split(body[1:-1]):
            yield from list_constraints("gpu_plan", part[1:-1])
        return
    fields = split(body)
    named = [field for field in fields if field.startswith("kernel = ")]
    kernel = named[0].split(" = ")[1] if named else "region"
    parts = [field for field in fields if field.startswith("steps = ")]
    own = [field for field in fields if field not in named + parts
           and not field.startswith("launches = ")]
    for field in own:
        yield kernel, ", ".join([*named, field]), field, None, True
    for field in other_values(own, kernel if kind != "pairwise_plan" else None):
        yield kernel, ", ".join([*named, field]), field, None, False
    if not parts:
        return
    steps = [split(step[1:-1]) for step in split(parts[0].split(" = ", 1)[1][1:-1])]
    bare = [[field for field in step if field.startswith("factors = ")] for step in steps]
    for index, step in enumerate(steps):
        chosen = [field for field in step if not field.startswith("factors = ")]
        others = [] if named else other_values(step, "step")
        for field in [*chosen, *others]:
            texts = [", ".join([*own, field] if number == index else own)
                     for number, own in enumerate(bare)]
            steps_text = "steps = [" + ", ".join("{" + text + "}" for text in texts) + "]"
            yield f"{kernel} step", ", ".join([*named, steps_text]), field, index, field in chosen


class Chooser:
    """Chooses variants: each field and value of a kernel in a few cases of a target."""

    def __init__(self):
        self.counts = collections.Counter()

    def variants(self, target, planned):
        found, seen = [], set()
        for number, plan in enumerate(find_plans(planned)):
            for kernel, constraint, field, step, is_chosen in list_constraints(plan.kind, plan.body):
                value = field if re.search(r" = [01]$", field) else field.split(" = ")[0]
                key = (target, kernel, value, is_chosen)
                if (number, constraint) in seen or self.counts[key] >= CASES:
                    continue
                seen.add((number, constraint))
                self.counts[key] += 1
                fields = FIELDS.get("step" if kernel == "region step" else kernel, {})
                default = fields.get(field.split(" = ")[0], (None,))[0]
                text = f"{planned[:plan.begin]}#kron.{attribute(plan)}<{constraint}>{planned[plan.end:]}"
                required = is_chosen and field.split(" = ")[0] not in PARTIAL.get(kernel, ())
                found.append(Variant(text, number, constraint, field, step, default, required))
        return found


def attribute(plan):
    return "gpu_plan" if plan.kind == "dispatch" else plan.kind


def is_met(plan, variant):
    """Whether the plan, or one of a dispatch, has the field."""
    name, value = variant.field.split(" = ", 1)
    bodies = [part[1:-1] for part in split(plan.body[1:-1])] if plan.kind == "dispatch" else [plan.body]
    for body in bodies:
        fields = split(body)
        kernel = dict(field.split(" = ", 1) for field in fields).get("kernel")
        if variant.step is not None:
            steps = [field for field in fields if field.startswith("steps = ")]
            if not steps:
                continue
            fields = split(split(steps[0].split(" = ", 1)[1][1:-1])[variant.step][1:-1])
        # Another kernel of a dispatch may not have the field at all.
        has_field = kernel is None or variant.step is not None or name in FIELDS.get(kernel, {})
        default = variant.default if has_field else None
        if dict(field.split(" = ", 1) for field in fields).get(name, default) == value:
            return True
    return False


def names(message, field):
    """Whether an error names the field with its value, or says what it has to be."""
    name, value = field.split(" = ", 1)
    return bool(re.search(rf"\b{name} = {re.escape(value)}(?![\w.])", message)
                or re.search(rf"\b{name}\b.* to be .*but got {re.escape(value)}(?!\w)", message)
                or value == "0" and re.search(rf"without .*\b{name}\b", message))


def check(run, variants, option):
    """What is wrong with plans of `variants`: texts. `run(text, options...)` is kron-opt's stdout
    and stderr, whatever its status."""
    out, errors = run(SEPARATOR.join(variant.text + "\n" for variant in variants),
                      "--split-input-file", option)
    outputs = out.split(SEPARATOR)
    if len(outputs) != len(variants):
        return [f"{len(outputs)} modules of {len(variants)}: {errors[:200]}"]
    # Errors name lines of the whole text.
    lines, first = [], 1
    for variant in variants:
        lines.append(first)
        first += variant.text.count("\n") + 2
    messages = collections.defaultdict(list)
    for line, message in re.findall(r"^[^\n:]*:(\d+):\d+: error: (.*)$", errors, re.M):
        index = max(number for number, start in enumerate(lines) if start <= int(line))
        messages[index].append(message)
    wrong = []
    for index, (variant, output) in enumerate(zip(variants, outputs)):
        if output.strip():
            plan = find_plans(output)[variant.number]
            if not is_met(plan, variant):
                wrong.append(f"<{variant.constraint}> is not met by <{plan.body}>")
            continue
        message = " ".join(messages[index]) or "no error"
        if variant.is_required:
            wrong.append(f"<{variant.constraint}>, which was chosen, is refused: {message}")
        elif not names(message, variant.field):
            wrong.append(f"an error does not name <{variant.constraint}>: {message}")
    return wrong
