"""Markdown tables from results of kron-bench on the processor; `render.py` puts them into
the pages. Goals are those that were set before: shares of the floor and ratios to single
launches in the case files (`target_share`, `target_single`), the others here.
"""

import fnmatch
import json
import pathlib

from gpu_tables import (cases_text, floors_text, goal_cells, markdown, mean, ms_text,
                        share_text, verdict)

CAUSES = pathlib.Path(__file__).resolve().parent / "cpu_causes.json"
PEERS = {"torch": "PyTorch", "einsum": "einsum", "bmm": "bmm", "dense": "dense",
         "gpytorch": "GPyTorch", "pyfastkron": "FastKron", "numpy": "NumPy", "mkl": "MKL",
         "openblas": "OpenBLAS", "libxsmm": "LIBXSMM"}
# kmm and transposed over mkm N/N; Kronecker-sparse factors, batches above and of 1.
FLAGS, SPARSE, SPARSE_ROW = 0.9, 0.7, 0.6
FASTKRON_MEAN, FASTKRON_WORST = 3.5, 1.1
# bf16 over f32 on processors with AMX, factors of so many rows and more.
AMX, AMX_ROWS = 2.0, 64


def best_peer(row):
    """(name, ratio) of the fastest other implementation, or None."""
    found = [(name, row[f"{key}_ratio"]) for key, name in PEERS.items()
             if f"{key}_ratio" in row]
    return min(found, key=lambda item: item[1], default=None)


def peer_text(peer):
    return "–" if peer is None else f"{peer[1]:.2f}x ({peer[0]})"


def ratio_text(row, key):
    return f"{row[key]:.2f}x" if key in row else "–"


def where_measured(result):
    machine = result["machine"]
    threads = machine["threads"]
    return (f"`{result['command']}`, {result['date']}, commit {result['commit'][:12]}: "
            f"{threads} thread{'s' * (threads > 1)} on {machine['processor']} (family "
            f"{machine['family']}, model {machine['model']}, {', '.join(machine['features'])}); "
            f"medians of up to {result['samples']} samples{disturbed_text(result)}.")


def disturbed_text(result):
    """How many rows were measured beside others' work all the same."""
    count = sum(is_disturbed(row, result) for row in result["rows"])
    return f"; others disturbed half of them or more in {cases_text(count)}" if count else ""


def is_disturbed(row, result):
    return 2 * row.get("disturbed", 0) >= result["samples"]


class Layout:
    """The table of one result file. `misses` fills with (case, measured, goal, what kind of goal),
    `verdicts` with (what kind, met or not)."""

    heads = ("case", "ms", "of the floor", "goal", "")

    def __init__(self, result):
        self.result, self.misses, self.verdicts = result, [], []
        self.rows = [r for r in result["rows"] if "ms" in r]
        self.misses += [(r["case"], r["problem"][:100], "a result", "a result")
                        for r in result["rows"] if "problem" in r]

    def judge(self, kind, good, case, measured, goal):
        self.verdicts.append((kind, good))
        if not good:
            self.misses.append((case, measured, goal, kind))
        return verdict(good)

    def share(self, row, kind="share of the floor"):
        if "target_share" not in row:
            return "–"
        return self.judge(kind, row["of_floor"] >= row["target_share"], row["case"],
                          f"{share_text(row['of_floor'])} of the floor",
                          share_text(row["target_share"]))

    def groups(self, *fields):
        """{values of all other fields that name a case: {values of the fields: row}}."""
        names = [n for n in ("op", "type", "rows", "factors", "trans", "layout")
                 if n not in fields]
        found = {}
        for row in self.rows:
            key = tuple(row.get(n) for n in names)
            found.setdefault(key, {})[tuple(row.get(f) for f in fields)] = row
        return found

    def cells(self):
        return [[r["case"], ms_text(r["ms"]), share_text(r["of_floor"]),
                 share_text(r.get("target_share")), self.share(r)] for r in self.rows]

    def closing(self):
        return ""

    def text(self):
        parts = [where_measured(self.result), markdown(self.heads, self.cells()), self.closing()]
        return "\n\n".join(filter(None, parts)) + "\n"


class Products(Layout):
    heads = ("rows x factors", "type", "ms", "low-high", "GFLOP/s", "GB/s", "floor, ms",
             "of the floor", "goal", "", "error", "best of others")

    def cells(self):
        return [[f"{r['rows']} x {r['factors']}", r["type"], ms_text(r["ms"]),
                 f"{ms_text(r['ms_low'])}-{ms_text(r['ms_high'])}", f"{r['gflops']:.3g}",
                 f"{r['gbytes']:.3g}", f"{ms_text(r['floor_ms'])} ({r['floor']})",
                 share_text(r["of_floor"]), share_text(r.get("target_share")), self.share(r),
                 f"{r['error']:.1e}", peer_text(best_peer(r))] for r in self.rows]


class FastKron(Layout):
    heads = ("case", "ms", "GFLOP/s", "of the floor", "FastKron, ms", "ratio", "")

    def cells(self):
        return [[r["case"], ms_text(r["ms"]), f"{r['gflops']:.3g}", share_text(r["of_floor"]),
                 ms_text(r["pyfastkron_ms"]), ratio_text(r, "pyfastkron_ratio"),
                 self.judge("FastKron in each case", r["pyfastkron_ratio"] >= FASTKRON_WORST,
                            r["case"], f"{r['pyfastkron_ratio']:.2f}x FastKron",
                            f"{FASTKRON_WORST:g}x")]
                for r in self.rows if "pyfastkron_ratio" in r]

    def closing(self):
        ratios = [r["pyfastkron_ratio"] for r in self.rows if "pyfastkron_ratio" in r]
        if not ratios:
            return ""
        value = mean(ratios)
        good = self.judge("geometric mean of FastKron", value >= FASTKRON_MEAN,
                          "geometric mean of FastKron", f"{value:.2f}x", f"{FASTKRON_MEAN:g}x")
        tuned = "" if self.result.get("fastkron_tuned") else ", which was not tuned,"
        return (f"FastKron{tuned} takes {value:.2f} times as long in the geometric mean of "
                f"{cases_text(len(ratios))} (goal {FASTKRON_MEAN:g}: {good}); goal in each case: "
                f"{FASTKRON_WORST:g}.")


class Flags(Layout):
    heads = ("rows x factors", "type", "mkm, ms", "mkm T/T, ms", "kmm, ms", "kmm T/T, ms",
             "mkm T/T", "kmm", "kmm T/T")

    def cells(self):
        lines = []
        for group in self.groups("op", "trans").values():
            plain = group.get(("mkm", "NN"))
            others = [group.get(key) for key in (("mkm", "TT"), ("kmm", "NN"), ("kmm", "TT"))]
            if plain is None or None in others:
                continue
            ratios = [plain["ms"] / r["ms"] for r in others]
            marks = [self.judge("rate of mkm N/N", ratio >= FLAGS, r["case"],
                                f"{ratio:.2f}x the rate of mkm N/N", f"{FLAGS:g}x")
                     for ratio, r in zip(ratios, others)]
            lines.append([f"{plain['rows']} x {plain['factors']}", plain["type"],
                          *(ms_text(r["ms"]) for r in (plain, *others)),
                          *(f"{x:.2f}x {m}" for x, m in zip(ratios, marks))])
        return lines

    def closing(self):
        return f"Goal: {FLAGS:g}x the rate of mkm on operands as they are."


class Sparse(Layout):
    """One line per pattern and type: shares of the floor by layout and batch."""

    def columns(self):
        batches = sorted({r["rows"] for r in self.rows})
        return [(layout, rows) for layout in ("batch_first", "batch_last") for rows in batches]

    @property
    def heads(self):
        return ("pattern", "type", *(f"{layout.split('_')[1]}, {rows}"
                                     for layout, rows in self.columns()), "PyTorch, at least")

    def cells(self):
        lines = []
        for (_, element, pattern, _), group in self.groups("layout", "rows").items():
            rows = [group.get(key) for key in self.columns()]
            peers = [p for p in map(best_peer, filter(None, rows)) if p]
            lines.append([pattern, element, *(share_text(r and r["of_floor"]) for r in rows),
                          peer_text(min(peers, key=lambda p: p[1], default=None))])
        return lines

    def mean_of(self, element, single):
        shares = [r["of_floor"] for r in self.rows
                  if r["type"] == element and (r["rows"] == 1) == single]
        return mean(shares) if shares else None

    def closing(self):
        parts = []
        for element in dict.fromkeys(r["type"] for r in self.rows):
            for single, goal in ((False, SPARSE), (True, SPARSE_ROW)):
                value, what = self.mean_of(element, single), f"{element}, batch {'= 1' if single else '> 1'}"
                if value is not None:
                    good = self.judge("geometric mean of ksmm", value >= goal,
                                      f"geometric mean of ksmm {what}",
                                      f"{share_text(value)} of the floor", share_text(goal))
                    parts.append(f"{what}: {share_text(value)} (goal {share_text(goal)}: {good})")
        means = f"Geometric means of the shares: {'; '.join(parts)}."
        compared = [(row, peer) for row in self.rows if (peer := best_peer(row))]
        if not compared:
            return means
        slower = 0
        for row, peer in compared:
            good = peer[1] >= 1
            slower += not good
            self.judge("no slower than PyTorch", good, row["case"],
                       f"{peer[1]:.2f}x {peer[0]}", "1x")
        return f"{means} PyTorch's best is faster in {slower} of {cases_text(len(compared))}."


class Chains(Layout):
    heads = ("rows x factors", "layout", "ms", "one at a time, ms", "ratio", "floors", "goal", "",
             "of the floor", "best of PyTorch")

    def cells(self):
        lines = []
        for r in self.rows:
            ratio, goal = r.get("single_ratio"), r.get("target_single")
            mark = "–" if ratio is None or goal is None else self.judge(
                "fused chains", ratio >= goal, r["case"], f"{ratio:.2f}x one at a time",
                f"{goal:g}x")
            lines.append([f"{r['rows']} x {r['factors']}", r.get("layout", "batch_first")[6:],
                          ms_text(r["ms"]), ms_text(r.get("single_ms")),
                          ratio_text(r, "single_ratio"), floors_text(r),
                          f"{goal:g}x" if goal else "–", mark,
                          share_text(r["of_floor"]), peer_text(best_peer(r))])
        return lines


class Batched(Layout):
    heads = ("arrays x sizes", "type", "ms", "GB/s", "of the floor", "goal", "", "error",
             "PyTorch")

    def cells(self):
        return [[f"{r['rows']} x {r['factors']}", r["type"], ms_text(r["ms"]),
                 f"{r['gbytes']:.3g}", share_text(r["of_floor"]),
                 share_text(r.get("target_share")), self.share(r), f"{r['error']:.1e}",
                 ratio_text(r, "torch_ratio")] for r in self.rows]


class Types(Layout):
    """One line per shape: share of the floor of every type."""

    @property
    def heads(self):
        pairs = [(f"{t}, ms", "of the floor") for t in self.types()]
        return ("rows x factors", *(head for pair in pairs for head in pair))

    def types(self):
        return list(dict.fromkeys(r["type"] for r in self.rows))

    def cells(self):
        lines = []
        for group in self.groups("type").values():
            rows = [group.get((t,)) for t in self.types()]
            first = next(filter(None, rows))
            pairs = [(ms_text(r and r["ms"]), share_text(r and r["of_floor"])) for r in rows]
            lines.append([f"{first['rows']} x {first['factors']}",
                          *(cell for pair in pairs for cell in pair)])
        return lines


    def closing(self):
        """bf16 against f32, where there are matrix instructions for it."""
        if "amx_tile" not in self.result["machine"]["features"]:
            return ""
        parts = []
        for group in self.groups("type").values():
            single, brain = group.get(("f32",)), group.get(("bf16",))
            if not single or not brain or int(single["factors"].split("^")[0]) < AMX_ROWS:
                continue
            ratio = single["ms"] / brain["ms"]
            good = self.judge("bf16 with AMX over f32", ratio >= AMX, brain["case"],
                              f"{ratio:.2f}x as fast as f32", f"{AMX:g}x")
            parts.append(f"{single['factors']} {ratio:.2f}x ({good})")
        return f"bf16 over f32, goal {AMX:g}x with AMX: {', '.join(parts)}." if parts else ""


LAYOUTS = {"cpu_products": Products, "cpu_threads": Products, "cpu_odd": Products,
           "cpu_fastkron": FastKron, "cpu_flags": Flags, "cpu_ksmm": Sparse, "cpu_chains": Chains, "cpu_batched": Batched,
           "cpu_types": Types}


def filled(results):
    """{name: layout} whose tables have been made, so that all goals are judged."""
    layouts = {name: LAYOUTS.get(name, Layout)(result) for name, result in results.items()}
    for layout in layouts.values():
        layout.text()
    return layouts


def table(result, name):
    """The table of result file `name`, with where and how it was measured."""
    return LAYOUTS.get(name, Layout)(result).text()


def goals(results):
    """How many cases meet each kind of goal, and the goals of all cases together."""
    if not results:
        return "(not measured yet)\n"
    lines = []
    layouts = filled(results)
    for name, layout in layouts.items():
        for kind in dict.fromkeys(kind for kind, _ in layout.verdicts):
            found = [good for k, good in layout.verdicts if k == kind]
            lines.append([layout.result["title"], kind, f"{sum(found)} of {len(found)}",
                          verdict(all(found))])
    lines += costs(layouts.values())
    return markdown(["cases", "goal", "met by", ""], lines).replace("--:|", "---|") + "\n"


def costs(layouts):
    """Compilation and workspace over all cases."""
    rows = [r for layout in layouts for r in layout.rows]
    if not rows:
        return []
    cold = sorted((r["compile_ms"], r["case"]) for r in rows)
    typical = goal_cells("", cold[len(cold) // 2][0], "ms", 150)
    worst = goal_cells("", cold[-1][0], "ms", 400)
    lines = [["all", "compiled in 150 ms, in the median", typical[1], typical[3]],
             ["all", "compiled in 400 ms", f"{worst[1]} ({cold[-1][1]})", worst[3]]]
    shares = [(r["workspace_bytes"] / workspace_bound(layout.result["machine"]), r["case"])
              for layout in layouts for r in layout.rows if "workspace_bytes" in r]
    if shares:
        share, case = max(shares)
        lines.append(["all", "workspace of at most twice the L2 caches",
                      f"{share_text(share)} of it ({case})", verdict(share <= 1)])
    return lines


def workspace_bound(machine):
    return machine["threads"] * 2 * 1024 * int(machine["l2"].rstrip("K"))


def cause(case):
    """Why a case misses: the first pattern of cpu_causes.json that it matches."""
    for pattern, text in json.loads(CAUSES.read_text()).items():
        if fnmatch.fnmatchcase(case, pattern):
            return text
    return "not known"


def misses(results):
    """All that missed a goal; `results` is {name: result}."""
    found = []
    for layout in filled(results).values():
        disturbed = {r["case"] for r in layout.rows if is_disturbed(r, layout.result)}
        found += [(*miss, "beside others' work; " * (miss[0] in disturbed) + cause(miss[0]))
                  for *miss, _ in layout.misses]
    if not found:
        return "No goal is missed.\n"
    return markdown(["case", "measured", "goal", "cause"], found).replace("--:|", "---|") + "\n"
