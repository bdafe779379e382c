"""Markdown tables from results of kron-bench; `render.py` puts them into the pages.

Every table comes with what missed its goal. Goals are those that were set before, for
one H200: times and shares in the case files (`target_ms`, `target_share`), ratios here.
"""

import fnmatch
import json
import math
import pathlib

CAUSES = pathlib.Path(__file__).resolve().parent / "causes.json"
PEER_NAMES = {"torch": "PyTorch", "einsum": "einsum", "bmm": "bmm", "dense": "dense",
              "gpytorch": "GPyTorch", "cublas": "cuBLAS per factor", "pyfastkron": "FastKron",
              "numpy": "NumPy"}
# Against FastKron; kmm over mkm; transposed over not; f16 and bf16 over f32.
GEOMETRIC_MEAN, KMM, TRANSPOSED, HALF = 2.5, 1.10, 1.15, 1.6
# Kronecker-sparse factors: against the best of PyTorch's ways, in f16 where the matrix has
# more rows; and the worst of that; share of the floor of batches below the full one;
# gradients by input and weights over the product.
SPARSE, SPARSE_ROWS = {"f32": 3.0, "f16": 2.0}, {"f32": 0, "f16": 1024}
SPARSE_WORST, SMALL_BATCH, FULL_BATCH, BACKWARD = 0.9, 0.7, 25088, 2.3
RATES = ("f32", "tf32", "f64", "f16", "bf16")


def markdown(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |" for cells in rows])


def ms_text(ms):
    return "–" if ms is None else f"{ms:.4g}"


def share_text(share):
    return "–" if share is None else f"{share * 100:.0f} %"


def verdict(good):
    return "met" if good else "missed"


def cases_text(count):
    return f"{count} case{'s' * (count != 1)}"


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def where_measured(result):
    machine = result["machine"]
    more = [f"driver {machine['driver']}"] if machine.get("driver") else []
    more += [f"CUDA {machine['driver_cuda']}"] if "driver_cuda" in machine else []
    more += [f"PyTorch {machine['torch']}"] if "torch" in machine else []
    copy = result["limits"].get("copy")
    more += [f"copy {copy * 1e-12:.2f} TB/s"] if copy else []
    more += [f"{name} {rate * 1e-12:.1f} TFLOP/s" for name, rate in result["limits"].items()
             if name in RATES]
    return (f"`{result['command']}`, {result['date']}, commit {result['commit'][:12]}: "
            f"{machine.get('gpu') or machine.get('processor')}, {', '.join(more)}; medians of "
            f"{result['samples']} samples.")


def best_peer(row):
    """(name, milliseconds) of the fastest other implementation, FastKron's recorded
    figure among them, or None."""
    found = [(name, row[p + "_ms"]) for p, name in PEER_NAMES.items() if p + "_ms" in row]
    if "fastkron_ms" in row:
        found.append(("FastKron", row["fastkron_ms"]))
    return min(found, key=lambda item: item[1], default=None)


def best_measured(row):
    """The same among those that ran beside kron."""
    return best_peer({k: v for k, v in row.items() if k != "fastkron_ms"})


def peer_text(row, peer):
    return "–" if peer is None else f"{peer[1] / row['ms']:.2f}x ({peer[0]})"


def regions_text(regions):
    """Kernel and number of factors of each fused region."""
    return " + ".join(f"{t['kernel']} {t['axes']}" for t in regions) if regions else "–"


class Layout:
    """The table of one result file; `plans` has the fused regions of each case, by name. `misses`
    fills with (case, measured, goal, floor, what kind of goal), `verdicts` with (what kind, met
    or not)."""

    def __init__(self, result, plans=()):
        self.result, self.plans, self.misses, self.verdicts = result, dict(plans), [], []
        self.rows = [r for r in result["rows"] if "ms" in r]
        for row in result["rows"]:
            if "problem" in row:
                self.misses.append((row["case"], row["problem"][:100], "a result", "–", "a result"))
                self.verdicts.append(("a result", False))

    def check(self, kind, good, row, measured, goal):
        """Whether a goal is met, by a row or by what is named instead of one."""
        self.verdicts.append((kind, good))
        if not good:
            case, floor = ((row, "–") if isinstance(row, str) else
                           (row["case"], f"{row['floor_ms']:.4g} ms"))
            self.misses.append((case, measured, goal, floor, kind))
        return good

    def check_peer(self, row, least=1.0):
        """That no other implementation is faster, or faster by more than that."""
        peer = best_peer(row)
        if peer:
            kind = "no slower than others" if least == 1 else f"at least {least:g}x the best other"
            self.check(kind, peer[1] / row["ms"] >= least, row, f"{row['ms']:.4g} ms",
                       f"{peer[0]}'s {peer[1]:.4g} ms")

    def variants(self, field):
        """{shape: {value of the field: row}}: rows that differ in one field only."""
        groups = {}
        for row in self.rows:
            key = tuple(str(row.get(name)) for name in ("op", "type", "rows", "factors",
                                                        "precision", "trans", "layout")
                        if name not in field)
            groups.setdefault(key, {})[tuple(row.get(f) for f in field)] = row
        return groups.values()

    def regions(self, row):
        return regions_text(self.plans.get(row["case"]))

    def table(self):
        """Heads and cells of each case, with best figures of others."""
        heads = ["case", "fused regions", "ms", "floor, ms", "of the floor", "error", "TFLOP/s", "GB/s",
                 "best other"]
        return markdown(heads, [
            [r["case"], self.regions(r), ms_text(r["ms"]), ms_text(r["floor_ms"]),
             share_text(r["of_floor"]),
             f"{r['error']:.1e}", f"{r['gflops'] * 1e-3:.3g}", f"{r['gbytes']:.0f}",
             peer_text(r, best_peer(r))] for r in self.rows])

    def closing(self):
        """What is said below the table."""
        return ""

    def text(self):
        parts = [where_measured(self.result), self.table(), self.closing()]
        return "\n\n".join(filter(None, parts)) + "\n"


class Products(Layout):
    """f32 or f64 beside FastKron: default precision, and `ieee` in a second column."""

    def pairs(self):
        for group in self.variants(["precision"]):
            if ("full",) in group:
                yield group["full",], group.get(("ieee",))

    def table(self):
        heads = ["rows x factors", "fused regions", "ms", "goal", "", "floor, ms", "of the floor",
                 "error", "FastKron", "best of others, measured beside"]
        ieee = any(i for _, i in self.pairs())
        heads += ["`ieee`, ms", "error"] if ieee else []
        cells = []
        for row, exact in self.pairs():
            line = [f"{row['rows']} x {row['factors']}", self.regions(row), ms_text(row["ms"]),
                    ms_text(row.get("target_ms")), self.judge(row), ms_text(row["floor_ms"]),
                    share_text(row["of_floor"]), f"{row['error']:.1e}",
                    f"{row['fastkron_ms'] / row['ms']:.2f}x" if "fastkron_ms" in row else "–",
                    peer_text(row, best_measured(row))]
            if ieee:
                line += [ms_text(exact["ms"]), f"{exact['error']:.1e}"] if exact else ["–", "–"]
            cells.append(line)
        return markdown(heads, cells)

    def judge(self, row):
        self.check_peer(row)
        bound = self.error_bound(row)
        self.check("error of at most 16 units", row["error"] <= bound, row,
                   f"error {row['error']:.1e}", f"{bound:.1e}")
        if "target_ms" not in row:
            return "–"
        return verdict(self.check("time of the case", row["ms"] <= row["target_ms"], row,
                                  f"{row['ms']:.4g} ms", f"{row['target_ms']:g} ms"))

    @staticmethod
    def error_bound(row):
        return 16 * {"f32": 2.0**-23, "f64": 2.0**-52}.get(row["type"], math.inf)

    def closing(self):
        lines = []
        for title, key in (("FastKron", "fastkron_ms"), ("PyTorch", "torch_ms"),
                           ("GPyTorch", "gpytorch_ms"), ("cuBLAS per factor", "cublas_ms")):
            ratios = [r[key] / r["ms"] for r, _ in self.pairs() if key in r]
            if not ratios:
                continue
            text = f"{title} {mean(ratios):.2f}x over {cases_text(len(ratios))}"
            if title == "FastKron":
                good = self.check(f"FastKron takes {GEOMETRIC_MEAN:g}x, geometric mean",
                                  mean(ratios) >= GEOMETRIC_MEAN,
                                  f"geometric mean, {self.rows[0]['type']}",
                                  f"{mean(ratios):.2f}x", f"{GEOMETRIC_MEAN:g}x")
                text += f" (goal {GEOMETRIC_MEAN:g}x: {verdict(good)})"
            lines.append(text)
        exact = [i["fastkron_ms"] / i["ms"] for _, i in self.pairs() if i and "fastkron_ms" in i]
        if exact:
            lines.append(f"`ieee` against FastKron {mean(exact):.2f}x")
        return "Geometric means against others: " + "; ".join(lines) + "." if lines else ""


class Batched(Layout):
    """Many small arrays beside a copy of the same bytes."""

    def table(self):
        heads = ["arrays x sizes", "type", "ms", "copy, ms", "of the copy", "goal", "",
                 "of the floor", "error", "best other"]
        return markdown(heads, [
            [f"{r['rows']} x {r['factors']}", r["type"], ms_text(r["ms"]),
             ms_text(r.get("copy_ms")), share_text(self.share(r)),
             share_text(r.get("target_share")), self.judge(r), share_text(r["of_floor"]),
             f"{r['error']:.1e}", peer_text(r, best_peer(r))] for r in self.rows])

    @staticmethod
    def share(row):
        return row["copy_ms"] / row["ms"] if "copy_ms" in row else row["of_floor"]

    def judge(self, row):
        if "target_share" not in row:
            return "–"
        return verdict(self.check("share of a copy", self.share(row) >= row["target_share"], row,
                                  f"{share_text(self.share(row))} of a copy",
                                  share_text(row["target_share"])))


class Flags(Layout):
    """mkm and kmm, operands as they are and transposed."""

    def table(self):
        heads = ["type, rows x factors", "mkm N/N, ms", "mkm T/T", "kmm N/N", "kmm T/T",
                 "kmm over mkm", "T/T over N/N, mkm", "kmm"]
        cells = []
        for group in self.variants(["op", "trans"]):
            if len(group) < 4:
                continue
            plain, turned = group["mkm", "NN"], group["mkm", "TT"]
            left, left_turned = group["kmm", "NN"], group["kmm", "TT"]
            cells.append([
                f"{plain['type']}, {plain['rows']} x {plain['factors']}",
                *(ms_text(r["ms"]) for r in (plain, turned, left, left_turned)),
                self.ratio(left, plain, KMM, "mkm"),
                self.ratio(turned, plain, TRANSPOSED, "N/N"),
                self.ratio(left_turned, left, TRANSPOSED, "N/N")])
        return markdown(heads, cells)

    def ratio(self, row, base, goal, name):
        value = row["ms"] / base["ms"]
        good = self.check(f"at most {goal:g}x the time of {name}", value <= goal, row,
                          f"{value:.2f}x the time of {name}", f"{goal:g}x")
        return f"{value:.2f}" + ("" if good else " (missed)")

    def closing(self):
        return (f"Goals: kmm at most {KMM:g} times mkm, T/T at most {TRANSPOSED:g} times N/N.")


class Half(Layout):
    """f16 and bf16 beside f32."""

    def table(self):
        heads = ["rows x factors", "f32, ms", "f16, ms", "as fast as f32", "bf16, ms",
                 "as fast as f32", "error f16", "error bf16"]
        cells = []
        for group in self.variants(["type"]):
            if len(group) < 3:
                continue
            single, half, brain = (group[name,] for name in ("f32", "f16", "bf16"))
            cells.append([f"{single['rows']} x {single['factors']}", ms_text(single["ms"]),
                          ms_text(half["ms"]), self.ratio(half, single), ms_text(brain["ms"]),
                          self.ratio(brain, single), f"{half['error']:.1e}",
                          f"{brain['error']:.1e}"])
        return markdown(heads, cells)

    def ratio(self, row, single):
        value = single["ms"] / row["ms"]
        good = self.check(f"{HALF:g}x as fast as f32", value >= HALF, row,
                          f"{value:.2f}x as fast as f32", f"{HALF:g}x")
        return f"{value:.2f}x" + ("" if good else " (missed)")

    def closing(self):
        return f"Goal: at least {HALF:g} times as fast as f32."


class Odd(Layout):
    """Odd and rectangular factors: share of the floor, and no slower than any other."""

    def table(self):
        heads = ["case", "fused regions", "ms", "floor, ms", "of the floor", "goal", "", "error",
                 "best other"]
        return markdown(heads, [
            [r["case"], self.regions(r), ms_text(r["ms"]), ms_text(r["floor_ms"]), share_text(r["of_floor"]),
             share_text(r.get("target_share")), self.judge(r), f"{r['error']:.1e}",
             peer_text(r, best_peer(r))] for r in self.rows])

    def judge(self, row):
        self.check_peer(row)
        if "target_share" not in row:
            return "–"
        return verdict(self.check("share of the floor", row["of_floor"] >= row["target_share"], row,
                                  f"{share_text(row['of_floor'])} of the floor",
                                  share_text(row["target_share"])))


class Precisions(Layout):
    """One table row for all precisions of a shape."""

    def table(self):
        names = ("full", "ieee", "tf32")
        heads = ["rows x factors", *(f"`{n}`, ms" for n in names),
                 *(f"error `{n}`" for n in names)]
        groups = [g for g in self.variants(["precision"]) if len(g) == len(names)]
        return markdown(heads, [
            [f"{g['full',]['rows']} x {g['full',]['factors']}",
             *(ms_text(g[n,]["ms"]) for n in names), *(f"{g[n,]['error']:.1e}" for n in names)]
            for g in groups])


class Sparse(Layout):
    """Kronecker-sparse factors beside the best of einsum, one batched product, and one
    product with the matrix written out."""

    def table(self):
        heads = ["rows x pattern", "type", "batch", "ms", "goal", "", "of the floor", "error",
                 "best other"]
        return markdown(heads, [
            [f"{r['rows']} x {r['factors']}", r["type"], r["layout"][6:], ms_text(r["ms"]),
             *self.judge(r), share_text(r["of_floor"]), f"{r['error']:.1e}",
             peer_text(r, best_peer(r))] for r in self.rows])

    def judge(self, row):
        """The goal and whether it is met."""
        self.check_peer(row, SPARSE_WORST)
        if row["rows"] < FULL_BATCH:
            goal, good = f"{share_text(SMALL_BATCH)} of the floor", row["of_floor"] >= SMALL_BATCH
            kind = f"share of the floor, fewer than {FULL_BATCH} rows"
            measured = f"{share_text(row['of_floor'])} of the floor"
        elif "target_ms" in row:
            goal, good = f"{row['target_ms']:g} ms", row["ms"] <= row["target_ms"]
            kind, measured = f"time of {FULL_BATCH} rows", f"{row['ms']:.4g} ms"
        else:
            return "–", "–"
        return goal, verdict(self.check(kind, good, row, measured, goal))

    def closing(self):
        lines = []
        for kind, goal in SPARSE.items():
            rows = [r for r in self.rows if r["type"] == kind and r["rows"] == FULL_BATCH
                    and self.matrix_rows(r) > SPARSE_ROWS[kind] and best_peer(r)]
            if not rows:
                continue
            ratios = sorted(best_peer(r)[1] / r["ms"] for r in rows)
            value = mean(ratios)
            more = f" with matrices of more than {SPARSE_ROWS[kind]} rows" if SPARSE_ROWS[kind] else ""
            good = self.check(f"the best other takes {goal:g}x, geometric mean", value >= goal,
                              f"geometric mean, {self.result['title']}, {kind}",
                              f"{value:.2f}x", f"{goal:g}x")
            lines.append(f"{kind} {value:.2f}x over {cases_text(len(rows))}{more}, {ratios[0]:.2f}x to "
                         f"{ratios[-1]:.2f}x (goal {goal:g}x: {verdict(good)})")
        return (f"Geometric means against the best other, {FULL_BATCH} rows: " + "; ".join(lines)
                + ".") if lines else ""

    @staticmethod
    def matrix_rows(row):
        a, b, _, d = map(int, row["factors"].split(","))
        return a * b * d


class Backward(Layout):
    """Gradients by input and weights of a Kronecker-sparse factor beside the product."""

    def table(self):
        heads = ["rows x pattern", "type", "batch", "product, ms", "by the input", "error",
                 "by the weights", "error", "einsum", "both over the product"]
        cells = []
        for group in self.variants(["op", "trans"]):
            if len(group) < 3:
                continue
            product, by_input = group["ksmm", "NN"], group["ksmm", "NT"]
            by_weights = group["ksmm_grad", "NN"]
            value = (by_input["ms"] + by_weights["ms"]) / product["ms"]
            good = self.check(f"both gradients in {BACKWARD:g} times the product's time",
                              value <= BACKWARD, by_weights,
                              f"{value:.2f} times the product, both gradients",
                              f"{BACKWARD:g} times")
            cells.append([f"{product['rows']} x {product['factors']}", product["type"],
                          product["layout"][6:], ms_text(product["ms"]), ms_text(by_input["ms"]),
                          f"{by_input['error']:.1e}", ms_text(by_weights["ms"]),
                          f"{by_weights['error']:.1e}", peer_text(by_weights, best_peer(by_weights)),
                          f"{value:.2f}" + ("" if good else " (missed)")])
        return markdown(heads, cells)

    def closing(self):
        return (f"Goal: both gradients in at most {BACKWARD:g} times the product's time, met by "
                f"{sum(good for _, good in self.verdicts)} of {cases_text(len(self.verdicts))}.")


class Eights(Layout):
    """Kronecker-sparse factors of 8 bits beside f16, in both layouts."""

    def table(self):
        layouts = ("batch_first", "batch_last")
        heads = ["rows x pattern"]
        for layout in layouts:
            heads += [f"f8 {layout[6:]}, ms", "of the floor", "error", "f16", "error"]
        cells = []
        for group in self.variants(["layout", "of_8_bits"]):
            some = next(iter(group.values()))
            line = [f"{some['rows']} x {some['factors']}"]
            for layout in layouts:
                narrow, half = group.get((layout, "e4m3")), group.get((layout, None))
                line += ([ms_text(narrow["ms"]), share_text(narrow["of_floor"]),
                          f"{narrow['error']:.1e}"] if narrow else ["–"] * 3)
                line += [ms_text(half["ms"]), f"{half['error']:.1e}"] if half else ["–"] * 2
            cells.append(line)
        return markdown(heads, cells)


class Rotations(Layout):
    """Rotations of quantised language models: factors as they are, or Hadamard ones of as many."""

    def closing(self):
        most, shares = {}, {}
        for row in self.rows:
            most[row["factors"]] = max(most.get(row["factors"], 0), row["rows"])
        for row in self.rows:
            if row["rows"] == most[row["factors"]]:
                shares.setdefault(factor_count(row["factors"]), []).append(row["of_floor"])
        parts = [f"{count} factor{'s' * (count > 1)} " + " to ".join(
            dict.fromkeys(map(share_text, (min(found), max(found)))))
                 for count, found in sorted(shares.items())]
        return f"Of the floor, sizes with their most rows: {'; '.join(parts)}."


def factor_count(factors):
    """Of text such as 28,32,16 or 16^3."""
    return sum(int(part.partition("^")[2] or 1) for part in factors.split(","))


def floors_text(row):
    """How much longer a chain's factors take one at a time if all run at their floors."""
    single = row.get("single_floor_ms")
    return "–" if single is None else f"{single / row['floor_ms']:.2f}x"


class Chains(Layout):
    """Kronecker-sparse factors as one function, beside the same ones launched one by one
    or, where a goal says so, beside one product with the matrix written out.

    `floors` is the ratio if all of it ran at the floor: of the sum of the factors' own floors
    to the chain's."""

    def table(self):
        heads = ["rows x factors", "type", "batch", "ms", "one at a time", "floors", "goal", "",
                 "dense by cuBLAS", "goal", "", "of the floor", "error"]
        lines = []
        for r in self.rows:
            shown, *judged = self.judge(r, "single", "one at a time")
            lines.append([f"{r['rows']} x {r['factors']}", r["type"], r["layout"][6:],
                          ms_text(r["ms"]), shown, floors_text(r), *judged,
                          *self.judge(r, "dense", "the dense matrix"), share_text(r["of_floor"]),
                          f"{r['error']:.1e}"])
        return markdown(heads, lines)

    def judge(self, row, name, text):
        """Ratio, goal, and whether it is met."""
        ratio, goal = row.get(f"{name}_ratio"), row.get(f"target_{name}")
        shown = "–" if ratio is None else f"{ratio:.2f}x ({ms_text(row[name + '_ms'])} ms)"
        if ratio is None or goal is None:
            return shown, "–", "–"
        return shown, f"{goal:g}x", verdict(self.check(f"{goal:g}x {text}", ratio >= goal, row,
                                                       f"{ratio:.2f}x {text}", f"{goal:g}x"))


LAYOUTS = {"gpu_f32": Products, "gpu_f64": Products, "gpu_batched": Batched,
           "gpu_flags": Flags, "gpu_half": Half, "gpu_odd": Odd, "gpu_precision": Precisions,
           "gpu_chains": Chains, "gpu_quantized": Eights, "gpu_rotations": Rotations,
           "gpu_ksmm": Sparse,
           "gpu_patterns": Sparse, "gpu_backward": Backward}


def table(result, name, plans=()):
    """The table of result file `name`, with where and how it was measured."""
    return LAYOUTS.get(name, Layout)(result, plans).text()


def summary(result):
    """The cases of default precision, in few columns."""
    layout = Products(result)
    cells = [[f"{r['rows']} x {r['factors']}", f"{r['ms']:.4g} ms", share_text(r["of_floor"]),
              f"{r['error']:.1e}",
              f"{r['fastkron_ms'] / r['ms']:.1f}x" if "fastkron_ms" in r else "–",
              peer_text(r, best_measured(r))] for r, _ in layout.pairs()]
    heads = ["rows x factors", "kron", "of the floor", "error", "FastKron",
             "best of PyTorch, GPyTorch, cuBLAS"]
    return "\n\n".join(filter(None, [where_measured(result), markdown(heads, cells),
                                     layout.closing()])) + "\n"


def cause(case):
    """Why a case misses: the first pattern of causes.json that it matches."""
    for pattern, text in json.loads(CAUSES.read_text()).items():
        if fnmatch.fnmatchcase(case, pattern):
            return text
    return "not known"


def regions_floor(case, result, plans):
    """What the fused regions of a case take at the rate of a copy."""
    regions, copy = plans.get(case), result["limits"].get("copy")
    if not regions or not copy:
        return "–"
    return f"{sum(t['bytes'] for t in regions) / copy * 1e3:.4g} ms ({regions_text(regions)})"


def filled(results, plans=()):
    """{name: layout} whose tables have been made, so that all goals are judged."""
    layouts = {name: LAYOUTS.get(name, Layout)(result, plans) for name, result in results.items()}
    for layout in layouts.values():
        layout.text()
    return layouts


def misses(results, plans=()):
    """All that missed a goal; `results` is {name: result}."""
    cells = [[*miss, regions_floor(miss[0], layout.result, layout.plans), cause(miss[0])]
             for layout in filled(results, plans).values() for *miss, _ in layout.misses]
    if not cells:
        return "No goal is missed.\n"
    heads = ["case", "measured", "goal", "floor", "bytes of its fused regions, copied", "cause"]
    return markdown(heads, cells).replace("--:|", "---|") + "\n"


def goal_cells(what, value, unit, goal, more=""):
    """A line of the table of costs; `goal` is the largest value that meets it."""
    return [what, f"{value:.4g} {unit}{more}", f"{goal:g} {unit}", verdict(value <= goal)]


def costs(results):
    """Lines about cold compilation, workspace and launches, over all cases of all files."""
    rows = [r for result in results.values() for r in result["rows"]
            if "ms" in r and "compile_ms" in r]
    launches = sorted(r["launch_us"] for r in results.values() if "launch_us" in r)
    lines = []
    if rows:
        cold = sorted((r["compile_ms"] + max(0.0, r["first_launch_ms"] - r["ms"]), r["case"])
                      for r in rows)
        slow = sum(ms > 300 for ms, _ in cold)
        lines.append(goal_cells(f"MLIR text to loaded kernel, median of {cases_text(len(cold))}",
                                cold[len(cold) // 2][0], "ms", 300, f" ({slow} above 300 ms)"))
        lines.append(goal_cells(f"worst: {cold[-1][1]}", cold[-1][0], "ms", 1000))
    spaces = sorted((r["workspace_bytes"] / r["output_bytes"], r["case"]) for r in rows
                    if "workspace_bytes" in r)
    if spaces:
        none = sum(share == 0 for share, _ in spaces)
        lines.append(goal_cells(f"largest workspace: {spaces[-1][1]}; {none} of {len(spaces)} "
                                "cases need none", spaces[-1][0], "outputs", 1))
    if launches:
        lines.append(goal_cells("a launch, on the host (mkm f32 16 x 8^2)",
                                launches[len(launches) // 2], "us", 4))
    return lines


def suite(record):
    """A run of the GPU tests."""
    machine = record["machine"]
    names = {"own": "compiled for this GPU", "sm_80": "compiled for sm_80",
             "poisoned": "again, shared memory full of NaN at first",
             "refused": "launches that must be refused",
             "large": "arrays of more than 2^31 elements",
             "8 bits": "arrays of 8 bits", "without cuBLAS": "dense products without cuBLAS"}
    cells = [[names.get(v["name"], f"under compute-sanitizer {v['name']}"), v["chips"],
              str(v["cases"] - v["failed"]), str(v["failed"]), f"{v['seconds']:.0f} s"]
             for v in record["variants"]]
    cells.append(["all", "", str(record["passed"]), str(record["failed"]),
                  f"{record['seconds']} s"])
    text = markdown(["", "for", "passed", "failed", "time"], cells)
    if record["failures"]:
        text += "\n\nFailed: " + "; ".join(
            f"case {f['case']} ({f['variant']}): {f['message']}" for f in record["failures"]) + "."
    where = (f"`{record['command']}`, {record['date']}, commit {record['commit'][:12]}, seed "
             f"{record['seed']}, {record['processes']} processes: {machine['gpu']}, driver "
             f"{machine['driver']}, CUDA {machine['driver_cuda']}.")
    return f"{text}\n\n{where}\n"
