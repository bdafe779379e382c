"""The tables of docs/Performance.md for render.py: a line for many cases each."""

import re

import cpu_tables
import gpu_tables
import host_tables
import program_tables
from gpu_tables import FULL_BATCH, markdown, mean, share_text

# How many reasons are named for a kind of goal.
REASONS = 1
# A type's unit of relative error.
UNITS = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7, "c32": 2.0**-23,
         "c64": 2.0**-52}


def _place(result):
    machine = result["machine"]
    if "gpu" in machine:
        more = [f"driver {machine['driver']}"] if machine.get("driver") else []
        more += [f"CUDA {machine['driver_cuda']}"] if "driver_cuda" in machine else []
        return ", ".join([machine["gpu"], *more])
    return f"{machine['processor']} (family {machine['family']}, model {machine['model']})"


def sources(results):
    """A line per machine: commands, dates, commits and threads of these results."""
    places = {}
    for result in results:
        commits = places.setdefault(_place(result), {})
        commits.setdefault(result["commit"][:12], []).append(result)
    lines = []
    for place, commits in places.items():
        texts = [_source(commit, found) for commit, found in commits.items()]
        threads = sorted({r["machine"]["threads"] for found in commits.values() for r in found
                          if "threads" in r["machine"]})
        more = (f", {' or '.join(map(str, threads))} thread{'s' * (threads != [1])}"
                if threads else "")
        lines.append(f"{'; '.join(texts)}: {place}{more}.")
    return "\n".join(lines)


def _source(commit, results):
    """Commands, dates and commit."""
    commands = {}
    for result in results:
        # Variables of the environment come before the program's name.
        words = re.match(r"((?:\w+=\S+ )*\S+)\s*(.*)", result["command"])
        commands.setdefault(words[1], {})[words[2]] = None
    text = "; ".join(f"`{name} {'|'.join(filter(None, rest))}`".replace(" `", "`")
                     for name, rest in commands.items())
    first, last = (form(r["date"] for r in results) for form in (min, max))
    dates = first if first == last else f"{first} to {last[11:] if first[:10] == last[:10] else last}"
    return f"{text}, {dates}, commit {commit}"


def _spread(values, form):
    """Geometric mean, worst, best."""
    values = [v for v in values if v]
    return [form(mean(values)), form(min(values)), form(max(values))] if values else ["–"] * 3


def _ratio(value):
    return f"{value:.3g}x" if value >= 10 else f"{value:.2f}x"


def _kind(row):
    """Type and precision."""
    precision = row.get("precision", "full")
    return row["type"] if precision == "full" else f"{row['type']}, `{precision}`"


def _gpu_family(name, row):
    """(operation, type) under which a case is counted, or None where another file has it."""
    op, element, precision, kind = row["op"], row["type"], row.get("precision"), _kind(row)
    if name in ("gpu_f32", "gpu_f64"):
        return op, kind
    if name == "gpu_half":
        return (op, kind) if element != "f32" else None
    if name == "gpu_precision":
        return (op, kind) if precision == "tf32" else None
    if name == "gpu_odd":
        return f"{op}, odd and rectangular factors", kind
    if name == "gpu_flags":
        return ("kmm, and transposed operands", kind) if (op, row["trans"]) != ("mkm", "NN") else None
    if name == "gpu_rotations":
        return f"{op}, rotations", kind
    if name == "gpu_ksmm":
        return f"{op}, {'' if row['rows'] >= FULL_BATCH else 'fewer than '}{FULL_BATCH} rows", kind
    if name == "gpu_patterns":
        return f"{op}, patterns of models in use", kind
    if name == "gpu_backward":
        gradient = "weights" if op == "ksmm_grad" else "input" if row["trans"] == "NT" else None
        return (f"gradient of ksmm by the {gradient}", kind) if gradient else None
    if name == "gpu_quantized":
        return (f"{op} of f8 (`{row['of_8_bits']}`)", kind) if row.get("of_8_bits") else None
    return op, kind


def _cpu_family(name, row):
    op, element = row["op"], row["type"]
    if name == "cpu_flags":
        return ("kmm, and transposed operands", element) if (op, row["trans"]) != ("mkm", "NN") else None
    if name == "cpu_types":
        return (op, element) if element not in ("f32", "f64") else None
    more = {"cpu_fastkron": ", beside FastKron", "cpu_odd": ", odd and rectangular factors",
            "cpu_ksmm": ", 1 row" if row["rows"] == 1 else ", 7 rows and more",
            "cpu_threads": ", all threads"}.get(name, "")
    return op + more, element


def _families(results, family_of):
    """{(operation, type): rows}"""
    found = {}
    for name, result in results.items():
        for row in result["rows"]:
            key = family_of(name, row) if "ms" in row else None
            if key:
                found.setdefault(key, []).append(row)
    return found


def gpu(results):
    """Shares of the floor and ratios to the fastest other, by operation and type."""
    heads = ["operation", "type", "cases", "of the floor", "worst", "best",
             "the best other takes", "worst", "best", "others faster"]
    cells = []
    for (family, kind), rows in _families(results, _gpu_family).items():
        ratios = [peer[1] / row["ms"] for row in rows if (peer := gpu_tables.best_peer(row))]
        cells.append([family, kind, str(len(rows)),
                      *_spread([row["of_floor"] for row in rows], share_text),
                      *_spread(ratios, _ratio),
                      f"{sum(r < 1 for r in ratios)} of {len(ratios)}" if ratios else "–"])
    return "\n\n".join([sources(results.values()), markdown(heads, cells)]) + "\n"


def cpu(machines):
    """The same of {machine: {name: result}}; worst and best in brackets."""
    def cell(values, form):
        average, worst, best = _spread(values, form)
        return average if average in ("–", worst, best) else f"{average} ({worst} to {best})"
    found = {machine: _families(results, _cpu_family) for machine, results in machines.items()}
    heads = ["operation", "type", "cases"]
    for machine in machines:
        heads += [f"{machine}: of the floor", "the best other takes"]
    cells = []
    for family, kind in dict.fromkeys(key for families in found.values() for key in families):
        counts = dict.fromkeys(str(len(f.get((family, kind), ()))) for f in found.values())
        line = [family, kind, " / ".join(counts)]
        for families in found.values():
            rows = families.get((family, kind), ())
            ratios = [peer[1] for row in rows if (peer := cpu_tables.best_peer(row))]
            line += [cell([row["of_floor"] for row in rows], share_text), cell(ratios, _ratio)]
        cells.append(line)
    everything = [r for results in machines.values() for r in results.values()]
    return "\n\n".join([sources(everything), markdown(heads, cells)]) + "\n"


def _others_error(row):
    return max((v for k, v in row.items() if k.endswith("_error") and isinstance(v, float)),
               default=None)


def accuracy(gpu_results, machines):
    """Errors by type, in units of the type's precision, too."""
    groups = {}

    def add(place, result):
        for row in result["rows"]:
            if "error" in row:
                kind = _kind(row) + " of f8" * bool(row.get("of_8_bits"))
                groups.setdefault((place, kind), []).append(row)
    for result in gpu_results.values():
        add("GPU", result)
    for results in machines.values():
        for result in results.values():
            add("CPU", result)
    cells = []
    for (place, kind), rows in groups.items():
        errors, unit = sorted(row["error"] for row in rows), UNITS.get(kind.partition(",")[0].split()[0])
        compared = [(row["error"], other) for row in rows
                    if (other := _others_error(row)) is not None]
        largest = [f"{max(column):.1e}" for column in zip(*compared)] or ["–", "–"]
        cells.append([place, kind, str(len(rows)), f"{errors[len(errors) // 2]:.1e}",
                      f"{errors[-1]:.1e}", "–" if unit is None else f"{errors[-1] / unit:.2g}",
                      max(rows, key=lambda r: r["error"])["case"] if errors[-1] else "–",
                      str(len(compared)), *largest])
    heads = ["", "type", "cases", "median error", "largest", "in units of the type", "in",
             "beside others", "largest of kron there", "of the others"]
    everything = [*gpu_results.values(), *(r for rs in machines.values() for r in rs.values())]
    return "\n\n".join([sources(everything), markdown(heads, cells)]) + "\n"


def costs(gpu_results, machines, host):
    """What compiling and launching takes, and memory beside the arrays."""
    lines = [["GPU", *line] for line in gpu_tables.costs(gpu_results)]
    found = {}  # {what: [(machine and its figure, verdict)]}
    for machine, results in machines.items():
        layouts = cpu_tables.filled(results).values()
        for _, what, measured, verdict in cpu_tables.costs(layouts):
            found.setdefault(what, []).append((f"{machine}: {measured}", verdict))
        launches = sorted(r["launch_us"] for r in results.values())
        found.setdefault("a launch", []).append(
            (f"{machine}: {launches[len(launches) // 2]:.3g} us", ""))
    for what, each in found.items():
        measured, verdicts = zip(*each)
        lines.append(["CPU", what, "; ".join(measured), "",
                      verdicts[0] if len(set(verdicts)) == 1 else ", ".join(verdicts)])
    for name, result in host.items():
        for call in ("kron.mkm 1 x 2^2", "torch: a @ b of 16 x 16"):
            lines.append([f"PyTorch, {host_tables.DEVICES[name]}", f"a call, on the host: {call}",
                          f"{host_tables.micros(result['calls'][call])} us", "", ""])
    everything = [*gpu_results.values(), *(r for rs in machines.values() for r in rs.values())]
    return "\n".join([sources(everything), "", *host_tables.opening(host),
                      markdown(["", "", "measured", "goal", ""], lines).replace("--:|", "---|")]) + "\n"


def _reasons(causes):
    """The most frequent ones of a list, each with how often it occurs."""
    counts = {}
    for cause in causes:
        counts[cause] = counts.get(cause, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    parts = [f"{cause} ({count})" for cause, count in ordered[:REASONS]]
    if len(ordered) > REASONS:
        parts.append(f"other reasons ({sum(count for _, count in ordered[REASONS:])})")
    return "; ".join(parts) or "–"


def _goal_rows(place, machines, filled, cause_of):
    """A row for each kind of goal of each result file; `machines` is {name: {file: result}}."""
    found = {}  # {(title, kind): ({machine: verdicts}, causes)}
    for machine, results in machines.items():
        for layout in filled(results).values():
            title = layout.result["title"].removeprefix("Processor: ")
            for kind, good in layout.verdicts:
                verdicts, _ = found.setdefault((title, kind), ({}, []))
                verdicts.setdefault(machine, []).append(good)
            for case, *_, kind in layout.misses:
                found[title, kind][1].append(cause_of(case))
    return [[f"{place}: {title}", kind,
             ", ".join(f"{machine} {sum(good)} of {len(good)}".strip()
                       for machine, good in verdicts.items()), _reasons(causes)]
            for (title, kind), (verdicts, causes) in found.items()]


def goals(gpu_results, machines):
    """How many cases meet each kind of goal, and why others do not."""
    rows = _goal_rows("GPU", {"": gpu_results}, gpu_tables.filled, gpu_tables.cause)
    rows += _goal_rows("CPU", machines, cpu_tables.filled, cpu_tables.cause)
    everything = [*gpu_results.values(), *(r for rs in machines.values() for r in rs.values())]
    heads = ["cases", "goal", "met by", "why others miss it (cases)"]
    return (f"{sources(everything)}\n\n" + markdown(heads, rows).replace("--:|", "---|") + "\n")


def losses(programs):
    """Programs in which another way is faster, a line for each cause."""
    causes = {}
    for target, result in programs.items():
        for row in filter(program_tables.is_measured, result["rows"]):
            if program_tables.is_loss(row):
                name = f"{row['program']}/{row['case']}"
                other, record = program_tables.best_other(row)
                cause = program_tables.cause(target, row)
                causes.setdefault((program_tables.TARGETS[target], cause), []).append(
                    (record["ratio"], f"{name.replace('/', ', ', 1)}: {_ratio(record['ratio'])} ({other})"))
    if not causes:
        return "None.\n"
    cells = [[target, str(len(found)), min(found)[1], cause]
             for (target, cause), found in causes.items()]
    return "\n".join([*program_tables.opening(programs),
                      markdown(["", "cases", "the worst", "reason"], cells).replace("--:|", "---|")]) + "\n"
