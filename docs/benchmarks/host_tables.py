"""Tables of results/host_time_*.json and python_calls.json for render.py."""

from gpu_tables import markdown

DEVICES = {"host_time_cpu": "CPU", "host_time_cuda": "GPU"}
# Files that an older script wrote do not say it themselves.
COMMAND = "docs/benchmarks/host_time.py"


def micros(value):
    return "–" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def opening(results):
    """Where and how each file was measured."""
    lines = []
    for name, result in results.items():
        machine = result["machine"]
        gpu = f"{machine['device']}, host " if machine["device"] != "cpu" else ""
        lines += [f"{DEVICES[name]}: `{result.get('command', COMMAND)}`, "
                  f"{result.get('date', 'date not recorded')}, commit {machine['commit'][:12]}: {gpu}"
                  f"{machine['processor']}; Python {machine['python']}, PyTorch {machine['torch']}.",
                  ""]
    return lines


def _table(results, heads, lines):
    """`lines` are (name, function of one result that gives cells, or a KeyError)."""
    cells = []
    for name, cells_of in lines:
        row = [name]
        for result in results.values():
            try:
                row += cells_of(result)
            except KeyError:
                row += ["–"] * (len(heads) // len(results))
        cells.append(row)
    return "\n".join([*opening(results), markdown(["", *heads], cells)]) + "\n"


def _names(results, *path):
    found = {}
    for result in results.values():
        for key in path:
            result = result.get(key, {})
        found |= dict.fromkeys(result)
    return found


def calls(results):
    """What a call takes of the host before it returns."""
    return _table(results, [f"{DEVICES[name]}, us" for name in results],
                  [(name, lambda r, n=name: [micros(r["calls"][n])])
                   for name in _names(results, "calls")])


def gradients(results):
    heads = [f"{DEVICES[name]}: {part}, us" for name in results
             for part in ("forward", "backward", "its node")]

    def cells_of(result, name):
        grads = result["grads"]
        return [micros(grads[part].get(name)) for part in ("forward", "backward", "node")]
    return _table(results, heads, [(name, lambda r, n=name: cells_of(r, n))
                                   for name in _names(results, "grads", "forward")])


def layer(results):
    """A layer by kron's kernel and by others, on the host."""
    ways = ("kernel", "bmm", "dense")
    heads = [f"{DEVICES[name]}: {way}, us" for name in results for way in ways]
    lines = [(f"{shape}, {part}", lambda r, s=shape, p=part: [micros(r["layer"][s][p][w])
                                                             for w in ways])
             for shape in _names(results, "layer") for part in _names(results, "layer", shape)]
    return _table(results, heads, lines)


def compiled(results):
    """A step as it is and under torch.compile."""
    results = {name: result for name, result in results.items() if result.get("compile")}
    if not results:
        return "(not measured yet)\n"
    shapes = _names(results, "compile")
    ways = dict.fromkeys(way for shape in shapes for way in _names(results, "compile", shape))
    heads = [f"{DEVICES[name]}: {shape}, us" for name in results for shape in shapes]

    def cells_of(result, way):
        return [micros(result["compile"].get(shape, {}).get(way)) for shape in shapes]
    return _table(results, heads, [(way, lambda r, w=way: cells_of(r, w)) for way in ways])


def nodes(results):
    """What a forward and a backward pass put on the stream of a GPU."""
    results = {name: result for name, result in results.items() if result.get("nodes")}
    if not results:
        return "(not measured yet)\n"
    result = next(iter(results.values()))
    kinds = dict.fromkeys(kind for found in result["nodes"].values() for kind in found)
    cells = [[name, *(str(found.get(kind, 0)) for kind in kinds)]
             for name, found in result["nodes"].items()]
    text = "\n".join([*opening(results), markdown(["", *kinds], cells)]) + "\n"
    if result["driver"]:
        text += "\nCalls of the driver: " + ", ".join(
            f"`{name}` {value:.2g} us" for name, value in result["driver"].items()) + ".\n"
    return text


def python_calls(result):
    """Import, first call and cached calls of NumPy arrays."""
    machine = result["machine"]
    command = result.get("command", "docs/benchmarks/python_calls.py")
    cells = []
    for name, value in result["results"].items():
        call, _, unit = name[:-1].rpartition(" (")
        is_code = any(mark in call for mark in "(@") or call.startswith("import")
        cells.append([f"`{call}`" if is_code else call, f"{value:.3g} {unit}"])
    return "\n".join([f"`{command}`, {result.get('date', 'date not recorded')}, commit "
                      f"{machine['commit'][:12]}: {machine['threads']} threads; Python "
                      f"{machine['python']}, NumPy {machine['numpy']}.", "",
                      markdown(["", "time"], cells)]) + "\n"


PARTS = {"host-calls": calls, "host-gradients": gradients, "host-layer": layer,
         "host-compile": compiled,
         "host-nodes": nodes}
