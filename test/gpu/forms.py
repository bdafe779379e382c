"""Which plans the cases of the GPU suite reach, and which forms of them no case takes.

A form is a kind of kernel, a field of the table of plan fields (docs/reference/Plans.md) at its default, or at another
value, a requirement of a #kron.dispatch, or a number of parts. `kron-opt` plans the cases without a GPU; a form that
none of them has is a failure, since nothing would run its code.

SPDX-License-Identifier: MIT
"""

import collections
import concurrent.futures
import itertools
import math
import os
import pathlib
import re
import subprocess

import selection

import eight_bits

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ROOT / "docs/reference/Plans.md"
BATCH = 100
#: Cases that are planned for each chip: every so many of the exhaustive ones, whose sizes are small and few, and of
#: the others.
CHIPS = {"sm_90a": (3, 1), "sm_80": (12, 4)}
#: Fields that are lists of parts, and the number from which on there are "more"; fields of `sparse` that each step of a
#: chain has for itself.
PARTS = {"chain": ("steps", 3), "simt": ("launches", 2)}
STEP_FIELDS = ("lane_chunks", "row_warps", "tile_warps", "bf16_residuals")
#: What no plan has, and why.
IMPOSSIBLE = {"dmma: alignment by default": "it copies pairs of f64",
              "dmma: cluster 0": "0 stands for no constraint", "mma: cluster 0": "0 stands for no constraint",
              "sparse: tile_warps chosen": "steps of chains alone have several",
              "step of chain: bf16_residuals 2": "warpgroups alone have it"}
SECTION = re.compile(r"^## (?:`(\w+)`|A launch of `(\w+)`)$(.*?)(?=^## |\Z)", re.M | re.S)
ROW = re.compile(r"^\| `(\w+)` \| (required|default (\w+)) \| (?:(\d+) to ([^|]+?)|list[^|]*) \|", re.M)
ATTRIBUTE = re.compile(r"#kron\.(gpu_plan|dispatch)<")
#: Words and brackets of a plan.
TOKEN = re.compile(r"[\w-]+|[<>\[\]{}=,]")
KINDS = tuple(itertools.product(("f32", "f16"), ("i8", "f8E4M3FN")))
EIGHT_BITS = (*(eight_bits.module(element, math.prod(orders), kind, orders) for element, kind in KINDS
                for orders in ((64, 64), (112, 128))),
              *(eight_bits.sparse_module(element, patterns, kind) for element, kind in KINDS
                for patterns in (((6, 64, 64, 1),), ((1, 64, 64, 16),), ((2, 48, 192, 1), (1, 192, 48, 2)))),
              # As `eight_bits.py` gives it by hand.
              eight_bits.module("f32", 4096, "i8", (), "kept_segments = 2"))


def table():
    """{kernel: {field: (default, the values that it may have, if they are few)}} of fields that have a default."""
    found = {}
    for kernel, part, text in SECTION.findall(FIELDS.read_text()):
        if part:
            continue
        fields = found[kernel] = {}
        for name, _, default, least, most in ROW.findall(text):
            if default:
                few = most.isdigit() and int(most) <= 2
                fields[name] = (default, [str(n) for n in range(int(least), int(most) + 1)] if few else None)
    return found


def expected(fields):
    """Names of all forms."""
    for kernel, own in fields.items():
        yield kernel
        for name, (_, few) in own.items():
            yield from (f"{kernel}: {name} {value}" for value in (few or ("by default", "chosen")))
    yield from (f"dispatch by {name}" for name in ("min_rows", "alignment", "packed", "cublas"))
    for kernel, (part, many) in PARTS.items():
        yield from (f"{kernel}: {number} {part}" for number in (*range(1, many), "more"))
    for name in STEP_FIELDS:
        yield from (f"step of chain: {name} {value}"
                    for value in (fields["sparse"][name][1] or ("by default", "chosen")))


def parse(text):
    """A value of a plan, from its tokens: a word, a list, or the fields of a plan or a part."""
    token = next(text)
    if token == "[":
        values = []
        while True:
            token = parse(text)
            if token != "]":
                values.append(token)
            if token == "]" or next(text) == "]":
                return values
    if token in ("<", "{"):
        fields = {}
        for name in text:
            if name in (">", "}"):
                break
            if name != ",":
                assert next(text) == "="
                fields[name] = parse(text)
        return fields
    return token


def plans_of(text):
    """Lists of plans, of which a launch chooses one, in a printed module."""
    for match in ATTRIBUTE.finditer(text):
        tokens = (token[0] for token in TOKEN.finditer(text, match.end() - 1))
        if match[1] == "gpu_plan":
            yield [parse(tokens)]
        else:
            next(tokens)
            yield parse(tokens)


def form_of_fields(owner, fields, plan):
    for name, (default, few) in fields.items():
        yield f"{owner}: {name} " + (plan.get(name, default) if few else "chosen" if name in plan else "by default")


def forms_of(text, fields):
    """How many plans in a printed module have each form."""
    found = collections.Counter()
    for plans in plans_of(text):
        forms = set()
        for plan in plans:
            kernel = plan["kernel"]
            forms.add(kernel)
            forms.update(form_of_fields(kernel, fields[kernel], plan))
            if len(plans) > 1:
                forms.update(f"dispatch by {name}" for name in ("min_rows", "alignment", "packed") if name in plan)
                forms.update(["dispatch by cublas"] * (kernel == "cublas"))
            if kernel in PARTS:
                name, many = PARTS[kernel]
                parts = plan[name]
                forms.add(f"{kernel}: {len(parts) if len(parts) < many else 'more'} {name}")
                if kernel == "chain":
                    steps = {name: fields["sparse"][name] for name in STEP_FIELDS}
                    for part in parts:
                        forms.update(form_of_fields("step of chain", steps, part))
        found.update(forms)
    return found


def plan(kron_opt, texts, chip):
    """Modules with plans, as text."""
    done = subprocess.run([kron_opt, "-", f"--kron-gpu-pipeline=chip={chip} plan-only"], input="\n".join(texts),
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"kron-opt: {done.stderr[:300]}")
    return done.stdout


def cases_of(indices, exhaustive, others):
    listed = [i for i in indices if i < selection.FIRST_SHAPE]
    return [*listed[::exhaustive], *[i for i in indices if i >= selection.FIRST_SHAPE][::others]]


def count(kron_opt, seed, indices, jobs):
    """How many fused regions of the cases have each form."""
    fields, work = table(), []
    for chip, shares in CHIPS.items():
        chosen = cases_of(indices, *shares)
        texts = [selection.make(seed, i).mlir() for i in chosen]
        batches = [texts[i:i + BATCH] for i in range(0, len(texts), BATCH)]
        batches += [[text.replace("@main", f"@rows{n}") for n, text in enumerate(EIGHT_BITS)]]
        work += [(batch, chip) for batch in batches]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        modules = pool.map(lambda job: plan(kron_opt, *job), work)
        return sum((forms_of(module, fields) for module in modules), collections.Counter()), fields


def check(root, seed, indices):
    """(passed, failed): forms that cases take, and forms that none does. Without kron-opt, nothing."""
    kron_opt = root / "bin/kron-opt"
    if not kron_opt.exists() or not FIELDS.exists():
        print("forms of plans: not counted, there is no kron-opt")
        return 0, 0
    found, fields = count(kron_opt, seed, indices, len(os.sched_getaffinity(0)))
    wanted = [form for form in expected(fields) if form not in IMPOSSIBLE]
    print(f"== plans by form, of {len(wanted)} forms")
    for _, group in itertools.groupby(wanted, lambda form: form.split(":")[0]):
        print("  " + ", ".join(f"{form} {found[form]}" for form in group))
    missing = [form for form in wanted if not found[form]]
    for form in missing:
        print(f"FAILED form {form}: expects a case in test/gpu/shapes.py that takes it, but got none")
    wrong = [form for form in IMPOSSIBLE if found[form]]
    for form in wrong:
        print(f"FAILED form {form}: expects no case to take it, since {IMPOSSIBLE[form]}, but got {found[form]}")
    return len(wanted) - len(missing), len(missing) + len(wrong)
