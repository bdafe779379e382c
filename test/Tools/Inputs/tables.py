"""Prints the tables that docs/benchmarks/gpu_tables.py makes of a few made-up rows.

usage: tables.py FOLDER    (docs/benchmarks)
"""

import made_up

import gpu_plot
import gpu_tables
import summary_tables


def row(case, ms, **more):
    is_large = case.split()[2] == "9"
    fields = {"precision": "full", "first_launch_ms": ms + 3,
              "compile_ms": 1200.0 if is_large else 100.0, "gflops": 9000.0, "gbytes": 900.0,
              "output_bytes": 10**6, "workspace_bytes": 10**6 if is_large else 0}
    return made_up.row(case, ms, **fields | more)


def result(rows):
    return made_up.result("made up", rows, {"gpu": "A GPU", "driver": "1.2"},
                          limits={"copy": 4e12, "f32": 5e13}, launch_us=3.5)


RESULTS = {
    "gpu_f32": result([
        row("mkm f32 8 x 8^4", 1.0, target_ms=1.5, fastkron_ms=4.0, torch_ms=9.0),
        row("mkm f32 8 x 8^4 ieee", 2.0, precision="ieee", fastkron_ms=4.0),
        row("mkm f32 9 x 8^4", 2.0, target_ms=1.5, fastkron_ms=1.0, torch_ms=6.0, cublas_ms=5.0,
            error=3e-6),
        {"case": "mkm f32 7 x 8^4", "problem": "out of memory"}]),
    "gpu_odd": result([row("mkm f32 8 x 5^6", 2.0, target_share=0.5, torch_ms=1.0),
                       row("mkm f32 8 x 3^8", 0.6, target_share=0.5)]),
    "gpu_flags": result([row("mkm f32 8 x 8^4", 1.0),
                         row("kmm f32 8 x 8^4", 1.05, op="kmm"),
                         row("mkm f32 8 x 8^4 TT", 1.2, trans="TT"),
                         row("kmm f32 8 x 8^4 TT", 1.1, trans="TT")]),
    "gpu_half": result([row("mkm f32 8 x 8^4", 1.0), row("mkm f16 8 x 8^4", 0.5),
                        row("mkm bf16 8 x 8^4", 0.8)]),
    "gpu_batched": result([row("batched f32 8 x 4^3", 1.0, copy_ms=0.9, target_share=0.85),
                           row("batched f64 8 x 4^3", 1.0, copy_ms=0.7, target_share=0.85)]),
    "gpu_ksmm": result([
        row("ksmm f32 25088 x 1,8,8,4", 1.0, layout="batch_first", target_ms=1.5, einsum_ms=4.0,
            bmm_ms=2.0, dense_ms=3.0),
        row("ksmm f32 25088 x 1,8,8,4 batch last", 2.0, layout="batch_last",
            target_ms=1.5, bmm_ms=1.0),
        row("ksmm f16 25088 x 1,8,8,4", 1.0, layout="batch_first", dense_ms=1.0),
        row("ksmm f16 25088 x 1,512,8,4", 1.0, layout="batch_first", dense_ms=3.0),
        row("ksmm f32 7 x 1,8,8,4", 1.0, layout="batch_first")]),
    "gpu_backward": result([
        row("ksmm f32 8 x 1,8,8,4", 1.0, layout="batch_first"),
        row("ksmm f32 8 x 1,8,8,4 NT", 1.5, layout="batch_first", trans="NT"),
        row("ksmm_grad f32 8 x 1,8,8,4", 1.25, layout="batch_first", einsum_ms=2.5)]),
    "gpu_chains": result([
        row("chain f16 25088 x 1,2,2,2>2,2,2,1", 1.0, layout="batch_first", single_ms=1.5,
            single_ratio=1.5, target_single=1.6, single_floor_ms=0.65),
        row("chain f16 10 x 1,2,2,2>2,2,2,1", 1.0, layout="batch_first", single_ms=2.0,
            single_ratio=2.0, dense_ms=1.5, dense_ratio=1.5, target_dense=1.0)]),
    "gpu_quantized": result([
        row("ksmm f16 8 x 1,8,8,4 of e4m3", 0.8, layout="batch_first", of_8_bits="e4m3"),
        row("ksmm f16 8 x 1,8,8,4", 1.0, layout="batch_first")]),
}

PLANS = {"mkm f32 9 x 8^4": [{"kernel": "mma", "axes": 3, "bytes": 10**9},
                             {"kernel": "ffma", "axes": 1, "bytes": 10**9}]}

for name, content in RESULTS.items():
    print(f"== {name}")
    print(gpu_tables.table(content, name, PLANS))
print("== summary")
print(gpu_tables.summary(RESULTS["gpu_f32"]))
print("== misses")
print(gpu_tables.misses(RESULTS, PLANS))
print("== costs")
print(*gpu_tables.costs(RESULTS), sep="\n")
print("== by family")
print(summary_tables.gpu(RESULTS))
print("== accuracy")
print(summary_tables.accuracy(RESULTS, {}))
print("== goals")
print(summary_tables.goals(RESULTS, {}))
print("== plot")
print(gpu_plot.svg(RESULTS))
