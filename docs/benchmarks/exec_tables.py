"""Tables of the records that test/exec/run.py --json writes; `render.py` puts them into the
pages."""

from gpu_tables import markdown

OPERATIONS = ("mkm", "kmm", "batched", "ksmm", "ksmm_grad", "factor_grad", "bias_grad",
              "mode_product", "chain")

# What paths are called now, by the names in older records.
RENAMED = {"no kron.pass": "no kron.fused", "staged runs": "staged segments", "depth": "k"}


def added(runs):
    """Parts of the same run as one: {(instruction set, sanitizer): sums}."""
    found = {}
    for run in runs:
        sums = found.setdefault((run["isa"], run["sanitizer"]), {
            "passed": 0, "failed": 0, "seconds": 0, "paths": {}, "failures": [], "about": set(),
            "commits": set()})
        for key in ("passed", "failed", "seconds"):
            sums[key] += run[key]
        for path, count in run["paths"].items():
            sums["paths"][path] = sums["paths"].get(path, 0) + count
        sums["failures"] += run["failures"]
        sums["commits"].add(run["commit"][:12])
        sums["about"].add((run["date"][:10], f"seed {run['seed']}", run["processor"]))
    return found


def runs(record):
    """What passed and failed, per instruction set and sanitizer."""
    cells, about, failures = [], set(), []
    for (isa, sanitizer), sums in added(record["runs"]).items():
        cells.append([isa, f"{sanitizer.capitalize()}Sanitizer" if sanitizer else "–",
                      str(sums["passed"]), str(sums["failed"]), f"{sums['seconds']} s",
                      ", ".join(sorted(sums["commits"]))])
        about |= sums["about"]
        failures += [f"case {f['case']} [{f['variant']}]: {f['message']}"
                     for f in sums["failures"]]
    text = markdown(["compiled for", "under", "passed", "failed", "time", "commit"], cells)
    if failures:
        text += "\n\nFailed: " + "; ".join(failures) + "."
    where = "; ".join(", ".join(items) for items in sorted(about))
    return f"{text}\n\n`test/exec/run.py --cases 10000 --isa ...`, {where}.\n"


def paths(record):
    """How many cases took each path through the code generator, by operation."""
    total = {}
    for sums in added(record["runs"]).values():
        for path, count in sums["paths"].items():
            operation, name = path.split(": ")
            name = RENAMED.get(name, name)
            total[name, operation] = total.get((name, operation), 0) + count
    names = dict.fromkeys(name for name, _ in total)
    order = sorted(names, key=lambda n: -sum(total.get((n, o), 0) for o in OPERATIONS))
    return markdown(["path", *OPERATIONS],
                    [[n, *(str(total.get((n, o), 0)) for o in OPERATIONS)] for n in order]) + "\n"
