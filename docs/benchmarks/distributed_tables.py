"""Table of results/distributed_*.json for render.py."""

from gpu_tables import markdown

#: Milliseconds in f32 on two H200, by (rows, sizes).
GOALS = {(16, (64,) * 4): 1.1, (2, (128,) * 4): 3.2, (16, (8,) * 8): 1.05, (1, (16,) * 7): 1.25}
#: Least shares, by the number of GPUs: of linear scaling for rows, of the bound for modes, and in which
#: tables.
LEAST_ROWS = {2: 0.97}
LEAST_MODES = {2: (0.90, ("larger",))}
#: The same of more than two.
MORE_ROWS, MORE_MODES = 0.95, (0.85, ("modes", "larger", "weak-modes"))


def factors(sizes):
    return f"{sizes[0]}^{len(sizes)}" if len(set(sizes)) == 1 else " x ".join(map(str, sizes))


def linear_share(row, processes):
    """Of linear scaling: one GPU has as many rows as its time is of."""
    alone = row["ms"].get("one GPU")
    return alone and alone * row["rows"] / row.get("one_gpu_rows", row["rows"]) / processes / row["ms"]["kron"]


def share(value, least):
    text = f"{100 * value:.0f} %"
    return text if least is None else f"{text} ({'met' if value >= least else 'missed'})"


def cells(row, processes):
    ms, times = row["ms"], {}
    for name in ("kron", "no overlap", "local", "exchange", "pytorch", "one GPU"):
        times[name] = f"{ms[name]:.3g}" if name in ms else "–"
    goal = None
    if row["type"] == "f32" and processes == 2:
        goal = GOALS.get((row["rows"], tuple(row["sizes"])))
    wanted = "–" if goal is None else f"{goal:g} ({'met' if ms['kron'] <= goal else 'missed'})"
    linear = linear_share(row, processes)
    is_rows = row["kind"] == "rows"
    bound = None if is_rows else ms["bound"] / ms["kron"]
    least, tables = LEAST_MODES.get(processes, MORE_MODES)
    name = f"{row['rows']} x {factors(row['sizes'])}"
    if row["table"].startswith("weak"):
        name = f"{row['one_gpu_rows']} g x {factors(row['sizes'])}"
    return [name, "rows" if is_rows else "mode 1", row["type"],
            times["kron"], wanted, times["no overlap"], times["local"], times["exchange"],
            "–" if bound is None else share(bound, least if row["table"] in tables else None),
            "–" if linear is None else share(
                linear, LEAST_ROWS.get(processes, MORE_ROWS) if is_rows else None),
            f"{times['pytorch']} ({ms['pytorch'] / ms['kron']:.1f}x)", f"{row['error']['kron']:.1e}",
            f"{row['bytes_on_the_wire'] / 2**20:.0f}"]


def table(result):
    machine, rows = result["machine"], result["rows"]
    as_formula = all(row["bytes_on_the_wire"] == row["bytes_by_formula"] for row in rows)
    lines = [f"`{result['command']}`, {machine['date'][:16]}, commit {machine['commit'][:12]}: "
             f"{machine['processes']} {machine['device']}, PyTorch {machine['torch']}, NCCL "
             f"{machine['nccl']}. Times in ms; bytes on the wire are "
             f"{'those of the formula in all rows' if as_formula else 'NOT those of the formula'}.", "",
             markdown(["M x factors", "divided", "type", "kron", "goal", "not overlapped", "local",
                       "NCCL's exchange", "of the bound", "of linear", "PyTorch", "error", "MiB sent"],
                      [cells(row, machine["processes"]) for row in rows])]
    if "driver" in machine:
        lines[0] += f" Driver {machine['driver']}; links of GPU 0: {links(machine['topology'])}."
    if "rates" in result:
        rates = ", ".join(f"{rate['gb_s']:.0f} GB/s with {rate['mib']} MiB" for rate in result["rates"])
        lines += ["", f"NCCL's all-to-all of {machine['processes']} GPUs, each way: {rates} of each."]
    return "\n".join(lines) + "\n"


def links(topology):
    """What the first row of `nvidia-smi topo -m` says of the other GPUs."""
    for text in topology.splitlines():
        words = text.split()
        if words[:1] == ["GPU0"] and words[1:2] == ["X"]:
            return ", ".join(word for word in words[2:] if word.startswith(("NV", "P", "S", "N")))
    return "unknown"
