"""Table of results/distributed_*.json for render.py."""

from gpu_tables import markdown

#: Milliseconds in f32 on two H200, by (rows, sizes).
GOALS = {(16, (64,) * 4): 1.1, (2, (128,) * 4): 3.2, (16, (8,) * 8): 1.05, (1, (16,) * 7): 1.25}
#: Least shares: of linear scaling for rows, of the bound for larger products of modes.
LEAST_ROWS, LEAST_LARGER = 0.97, 0.90


def factors(sizes):
    return f"{sizes[0]}^{len(sizes)}" if len(set(sizes)) == 1 else " x ".join(map(str, sizes))


def share(value, least):
    text = f"{100 * value:.0f} %"
    return text if least is None else f"{text} ({'met' if value >= least else 'missed'})"


def cells(row, processes):
    ms, times = row["ms"], {}
    for name in ("kron", "no overlap", "local", "exchange", "pytorch", "one GPU"):
        times[name] = f"{ms[name]:.3g}" if name in ms else "–"
    goal = GOALS.get((row["rows"], tuple(row["sizes"]))) if row["type"] == "f32" else None
    wanted = "–" if goal is None else f"{goal:g} ({'met' if ms['kron'] <= goal else 'missed'})"
    linear = ms["one GPU"] / processes / ms["kron"] if "one GPU" in ms else None
    is_rows = row["kind"] == "rows"
    bound = None if is_rows else ms["bound"] / ms["kron"]
    return [f"{row['rows']} x {factors(row['sizes'])}", "rows" if is_rows else "mode 1", row["type"],
            times["kron"], wanted, times["no overlap"], times["local"], times["exchange"],
            "–" if bound is None else share(bound, LEAST_LARGER if row["table"] == "larger" else None),
            "–" if linear is None else share(linear, LEAST_ROWS if is_rows else None),
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
    return "\n".join(lines) + "\n"
