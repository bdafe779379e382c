"""Prints the tables that docs/benchmarks/cpu_tables.py makes of a few made-up rows.

usage: cpu_tables_of.py FOLDER    (docs/benchmarks)
"""

import made_up

import cpu_plot
import cpu_tables
import summary_tables


def row(case, ms, **more):
    is_large = case.split()[2] == "9"
    fields = {"compile_ms": 500.0 if is_large else 100.0, "ms_low": ms * 0.9,
              "ms_high": ms * 1.1, "floor": "bandwidth", "gflops": 90.0, "gbytes": 9.0,
              "workspace_bytes": 3 * 2**20 if is_large else 0}
    return made_up.row(case, ms, **fields | more)


def result(title, rows):
    machine = {"processor": "A processor", "family": "6", "model": "85", "features": ["avx2"],
               "threads": 1, "l2": "1024K"}
    return made_up.result(title, rows, machine, limits={"f32 of 2^19 bytes": [2e11, 8e10],
                                                        "f32 of 2^27 bytes": [2e11, 1e10]})


RESULTS = {
    "cpu_products": result("Products", [
        row("mkm f32 8 x 8^4", 1.0, target_share=0.45, torch_ratio=9.0),
        row("mkm f32 9 x 8^4", 2.0, target_share=0.45, numpy_ratio=6.0, torch_ratio=5.0,
            disturbed=5),
        {"case": "mkm f32 7 x 8^4", "problem": "out of memory"}]),
    "cpu_fastkron": result("FastKron", [
        row("mkm f32 8 x 8^4", 1.0, pyfastkron_ms=4.0, pyfastkron_ratio=4.0),
        row("mkm f32 8 x 8^5", 1.0, pyfastkron_ms=1.0, pyfastkron_ratio=1.0)]),
    "cpu_flags": result("Flags", [
        row("mkm f32 8 x 8^4", 1.0), row("kmm f32 8 x 8^4", 1.05),
        row("mkm f32 8 x 8^4 TT", 1.2, trans="TT"), row("kmm f32 8 x 8^4 TT", 1.1, trans="TT")]),
    "cpu_ksmm": result("Sparse", [
        row("ksmm f32 1 x 1,4,4,1", 1.0, layout="batch_first", bmm_ratio=0.5, dense_ratio=2.0),
        row("ksmm f32 7 x 1,4,4,1", 0.5, layout="batch_first", bmm_ratio=1.5)]),
    "cpu_chains": result("Chains", [
        row("chain f32 8 x 1,4,4,1>1,4,4,1", 1.0, single_ratio=1.8, target_single=1.7,
            single_floor_ms=0.75),
        row("chain f32 8 x 1,4,4,1>1,4,4,1", 1.0, single_ratio=1.2, target_single=1.7,
            layout="batch_last", single_ms=1.2)]),
    "cpu_batched": result("Batched", [
        row("batched f32 8 x 4^3", 0.6, target_share=0.8, torch_ratio=3.0)]),
    "cpu_types": result("Types", [row("mkm f32 8 x 8^4", 1.0), row("mkm i32 8 x 8^4", 2.0),
                                   row("mkm f32 8 x 64^2", 1.0), row("mkm bf16 8 x 64^2", 0.8)]),
}
RESULTS["cpu_types"]["machine"]["features"] = ["avx2", "amx_tile"]

for name, content in RESULTS.items():
    print(f"== {name}")
    print(cpu_tables.table(content, name))
print("== goals")
print(cpu_tables.goals(RESULTS))
print("== misses")
print(cpu_tables.misses(RESULTS))
print("== by family")
OTHER = result("Products", RESULTS["cpu_products"]["rows"][:1])
print(summary_tables.cpu({"A": RESULTS, "B": {"cpu_products": OTHER}}))
print("== plot")
print(cpu_plot.svg(RESULTS))
