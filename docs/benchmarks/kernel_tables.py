"""Tables of results/kernels_cpu.json and kernels_cuda.json, which programs.py --set kernels writes, for
render.py."""

from gpu_tables import markdown, ms_text, share_text, verdict
from program_tables import ratio_text, where_measured

FILES = ("kernels_cpu", "kernels_cuda")


def _others(row):
    def text(name, record):
        if "problem" in record:
            return f"{name} failed: {record['problem'].splitlines()[0][:60]}"
        if "ratio" not in record:
            return f"{name} {ms_text(record['ms'])} (error {record['error']:.1e})"
        return f"{name} {ms_text(record['ms'])} ({ratio_text(record['ratio'])}, error {record['error']:.1e})"
    return "; ".join(text(*item) for item in row["ways"].items() if item[0] != "kron")


def _cells(row, has_floor):
    own = row["ways"]["kron"]
    name = f"{row['program']}, {row['case']}"
    if "ms" not in own:
        return [name, f"failed: {row['problem'].splitlines()[0][:80]}", *["–"] * (4 if has_floor else 0), "–",
                _others(row)]
    goal = row.get("goal_ms")
    floor = [ms_text(row["floor_ms"]), share_text(row["floor_ms"] / own["ms"]), ms_text(goal),
             "–" if goal is None else verdict(own["ms"] <= goal)] if has_floor else []
    return [name, ms_text(own["ms"]), *floor, f"{own['error']:.1e}", _others(row)]


def table(result):
    """Every case of one target."""
    has_floor = result["target"] == "cuda"
    heads = ["case", "kron, ms", *(["floor, ms", "of the floor", "goal, ms", ""] if has_floor else []),
             "error", "others: ms (ratio, error)"]
    return "\n".join([where_measured(result), "",
                      markdown(heads, [_cells(row, has_floor) for row in result["rows"]])]) + "\n"

