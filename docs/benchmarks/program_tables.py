"""Tables of results/programs_cpu.json and programs_cuda.json for render.py."""

import fnmatch
import json
import pathlib
import statistics

from gpu_tables import markdown, mean, ms_text

CAUSES = pathlib.Path(__file__).resolve().parent / "program_causes.json"
TARGETS = {"cpu": "CPU", "cuda": "GPU"}
# Slower by less is within the noise of paired rounds.
TIE = 0.97


def best_other(row):
    """(way, its record) of the fastest besides kron, or None."""
    others = [(name, record) for name, record in row["ways"].items()
              if name != "kron" and "ratio" in record]
    return min(others, key=lambda item: item[1]["ratio"], default=None)


def ratio_text(ratio):
    return f"{ratio:.3g}x" if ratio >= 10 else f"{ratio:.2f}x"


def is_measured(row):
    return "problem" not in row and best_other(row) is not None


def groups(results):
    """{(program, group): {target: rows}}."""
    found = {}
    for target, result in results.items():
        for row in filter(is_measured, result["rows"]):
            found.setdefault((row["program"], row["group"]), {}) \
                .setdefault(target, []).append(row)
    return found


def where_measured(result):
    machine, threads = result["machine"], result["threads"]
    place = (f"{machine['processor']} (family {machine['family']}, model {machine['model']}, "
             f"{', '.join(machine['features'])})")
    if "gpu" in machine:
        driver = f", driver {machine['driver']}" if "driver" in machine else ""
        place = f"{machine['gpu']}{driver}, CUDA {machine['cuda']}, host {place}"
    changes = " and changes" if result["commit"].endswith("-modified") else ""
    return (f"`{result['command']}`, {result['date']}, commit {result['commit'][:12]}{changes}: "
            f"{place}, {threads} thread{'s' * (threads != 1)}; PyTorch {machine['torch']}, "
            f"GPyTorch {machine['gpytorch']}.")


def opening(results):
    return [text for result in results.values() for text in (where_measured(result), "")]


def _summary_cells(rows):
    """kron's times, the others' and ratios; of many cases ratios alone."""
    if not rows:
        return ["–"] * 3
    best = [best_other(row) for row in rows]
    names = ", ".join(dict.fromkeys(name for name, _ in best))
    types = ", ".join(dict.fromkeys(row["type"] for row in rows))
    ratios = [record["ratio"] for _, record in best]
    if len(rows) > 3:
        sizes = f"{rows[0]['rows']} to {rows[-1]['rows']} rows, " if "rows" in rows[0] else ""
        return [f"{sizes}{types}", names, f"{ratio_text(min(ratios))} to "
                f"{ratio_text(max(ratios))}, mean {ratio_text(mean(ratios))}"]
    return [", ".join(ms_text(row["ways"]["kron"]["ms"]) for row in rows) + f" ms ({types})",
            ", ".join(ms_text(record["ms"]) for _, record in best) + f" ms ({names})",
            ", ".join(map(ratio_text, ratios))]


def summary(results):
    """A line per group of cases."""
    if not results:
        return "(not measured yet)\n"
    heads = ["program"]
    for target in results:
        title = TARGETS[target]
        heads += [f"{title}: kron", "best other", "ratio"]
    lines = [[f"{program}, {group}", *(cell for target in results
                                       for cell in _summary_cells(found.get(target)))]
             for (program, group), found in groups(results).items()]
    count = sum(is_loss(row) for result in results.values()
                for row in filter(is_measured, result["rows"]))
    total = sum(len(rows) for found in groups(results).values() for rows in found.values())
    text = f"Another way is faster in {count} of {total} cases."
    return "\n".join([*opening(results), markdown(heads, lines), "", text]) + "\n"


def _spread(values):
    low, high = values
    return f"{ms_text(low)}-{ms_text(high)}"


def _other_cells(row):
    def text(name, record):
        if "ratio" not in record:
            return f"{name} failed"
        low, high = record["ratio_quartiles"]
        return (f"{name} {ms_text(record['ms'])} ({ratio_text(record['ratio'])}, "
                f"{low:.2f}-{high:.2f})")
    return "; ".join(text(*item) for item in row["ways"].items() if item[0] != "kron")


def table(result):
    """Every case of one target, with all ways."""
    is_gpu = result["target"] == "cuda"
    heads = ["case", "kron, ms", "quartiles", *(["host, ms"] if is_gpu else []),
             "first step, ms", "error", "others: ms (ratio, its quartiles)"]
    lines = []
    for row in result["rows"]:
        own, name = row["ways"]["kron"], f"{row['program']}, {row['case']}"
        if "problem" in row or "ms" not in own:
            lines.append([name, "failed"] + ["–"] * (len(heads) - 3) + [row["problem"]])
            continue
        lines.append([name, ms_text(own["ms"]), _spread(own["quartiles_ms"]),
                      *([ms_text(own["host_ms"])] if is_gpu else []),
                      ms_text(own["first_ms"]), f"{own['error']:.1e}", _other_cells(row)])
    rounds = statistics.median(row["ways"]["kron"].get("rounds", 0) for row in result["rows"])
    return "\n".join([where_measured(result), "", markdown(heads, lines), "",
                      f"Medians of {rounds:g} rounds, in the median case."]) + "\n"


def is_loss(row):
    return best_other(row)[1]["ratio"] < TIE


def cause(target, row):
    """Why kron is slower in a case: what program_causes.json says at the first pattern of
    TARGET/PROGRAM/CASE that matches. Such a cause names the `ways` that it explains, and as
    `host` how much of a step the host has to take for it to hold. ValueError if there is none,
    or if the case's figures say otherwise."""
    name = f"{target}/{row['program']}/{row['case']}"
    faster = [way for way, record in row["ways"].items()
              if way != "kron" and record.get("ratio", 1) < TIE]
    for pattern, known in json.loads(CAUSES.read_text()).items():
        if fnmatch.fnmatchcase(name, pattern):
            break
    else:
        raise ValueError(f"expects {CAUSES.name} to say why {', '.join(faster)} is faster in {name}")
    for way in faster:
        if way not in known["ways"]:
            raise ValueError(f"expects {CAUSES.name} to say why {way} is faster in {name}, but "
                             f"'{pattern}' is about {', '.join(known['ways'])}")
    own = row["ways"]["kron"]
    if own.get("host_ms", 0) < known.get("host", 0) * own["ms"]:
        raise ValueError(f"expects another cause for {name} in {CAUSES.name}: of a step of "
                         f"{ms_text(own['ms'])} ms the host takes {ms_text(own.get('host_ms', 0))}")
    return known["cause"]


def phases_text(record):
    """How a step's time is divided, beside the whole if there are no phases."""
    phases = record.get("phases_ms")
    return "–" if phases is None else ", ".join(f"{name} {ms_text(ms)}"
                                                for name, ms in phases.items())


def losses(results):
    """Every case in which another way is faster."""
    lines = []
    for target, result in results.items():
        for row in filter(is_measured, result["rows"]):
            if is_loss(row):
                other, record = best_other(row)
                lines.append([f"{TARGETS[target]}: {row['program']}, {row['case']}",
                              f"{ratio_text(record['ratio'])} ({other})",
                              phases_text(row["ways"]["kron"]), phases_text(record),
                              cause(target, row)])
    if not lines:
        return "None.\n"
    heads = ["case", "ratio", "kron's parts, ms", "the other's", "cause"]
    return "\n".join([*opening(results), markdown(heads, lines).replace("--:|", "---|")]) + "\n"


PARTS = {"programs-summary": summary, "program-losses": losses}
