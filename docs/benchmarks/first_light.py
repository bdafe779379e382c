"""kron.mkm against NumPy's reshape-matmul-transpose on one core, f32, M = 1024.

usage: first_light.py [--build BUILD] [--rounds N] [--times N] [--out FILE]

For every P^N both sides get the same arrays, alternating `rounds` times; a round is
the median of `times` calls. On a machine that is doing other work, `chrt -f 1` before the
command (as root) keeps the core to it. Errors are relative L2 errors against float64. Writes
docs/benchmarks/results/first_light.json, which render.py turns into tables.
"""

import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "examples"))
sys.dont_write_bytecode = True

import common
import numpy as np

ROWS = 1024
SHAPES = [(4, 6), (8, 4), (16, 3), (32, 3), (64, 2), (128, 2)]
# At least so many times as fast as NumPy.
TARGETS = {4: 3.0, 8: 3.0, 16: 3.0, 32: 1.2, 64: 1.2, 128: 1.2}
COMPILED = re.compile(r"compiled in ([\d.]+) ms")
LIMIT = re.compile(r"([\d.]+) % of this machine's limit")


def program(p, n):
    """The .mlir text of X (F1 (x) ... (x) FN) with N factors of PxP."""
    x, f = f"tensor<?x{p ** n}xf32>", f"tensor<{p}x{p}xf32>"
    names = [f"%f{i}" for i in range(n)]
    return f"""func.func @mkm(%x: {x}, {', '.join(f'{name}: {f}' for name in names)}) -> {x} {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : {x}
  %init = tensor.empty(%m) : {x}
  %y = kron.mkm ins(%x : {x}) factors({', '.join(names)} : {', '.join([f] * n)})
                outs(%init : {x}) -> {x}
  return %y : {x}
}}
"""


def machine():
    info = dict(re.findall(r"^(.+?):\s+(.*)$",
                           subprocess.run(["lscpu"], text=True, stdout=subprocess.PIPE,
                                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout, re.M))
    wanted = ("Model name", "CPU family", "Model", "CPU(s)", "L1d cache", "L2 cache", "L3 cache",
              "Hypervisor vendor")
    features = [flag for flag in ("avx2", "fma", "avx512f", "avx512_bf16", "amx_tile")
                if flag in info.get("Flags", "").split()]
    return {**{key: info[key] for key in wanted if key in info}, "features": features,
            "system": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(), "numpy": np.__version__,
            "blas": common.blas_name()}


def commit():
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=common.ROOT, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
    changed = git("status", "--porcelain", "--", "include", "lib", "tools")
    return git("rev-parse", "HEAD") + ("-modified" if changed else "")


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results/first_light.json")


def measure(options, folder, p, n):
    """One row of the result file."""
    rng = np.random.default_rng(p * 100 + n)
    x = rng.standard_normal((ROWS, p ** n)).astype(np.float32)
    factors = [(rng.standard_normal((p, p)) / np.sqrt(p)).astype(np.float32) for _ in range(n)]
    source = folder / f"mkm_{p}_{n}.mlir"
    source.write_text(program(p, n))
    inputs = []
    for index, array in enumerate([x, *factors]):
        inputs.append(folder / f"arg{index}.npy")
        np.save(inputs[-1], array)
    exact = common.mkm_by_shuffles(x.astype(np.float64), [f.astype(np.float64) for f in factors])

    kron, numpy, compile_times, limits = [], [], [], []
    for _ in range(options.rounds):
        y, seconds, text = common.kron_run(options, source, "mkm", folder, inputs, options.times)
        kron.append(seconds)
        compile_times.append(float(COMPILED.search(text)[1]))
        limits.append(float(LIMIT.search(text)[1]))
        numpy.append(common.median_seconds(lambda: common.mkm_by_shuffles(x, factors),
                                           options.times))
    flops = 2 * ROWS * p ** n * p * n
    kron_seconds, numpy_seconds = statistics.median(kron), statistics.median(numpy)
    for path in inputs:
        path.unlink()
    return {"p": p, "n": n, "m": ROWS, "type": "f32",
            "kron_ms": kron_seconds * 1e3, "numpy_ms": numpy_seconds * 1e3,
            "kron_rounds_ms": [s * 1e3 for s in kron], "numpy_rounds_ms": [s * 1e3 for s in numpy],
            "kron_gflops": flops / kron_seconds * 1e-9, "numpy_gflops": flops / numpy_seconds * 1e-9,
            "ratio": numpy_seconds / kron_seconds, "target": TARGETS[p],
            "compile_ms": statistics.median(compile_times),
            "limit_percent": statistics.median(limits),
            "kron_error": common.relative_error(y, exact),
            "numpy_error": common.relative_error(common.mkm_by_shuffles(x, factors), exact)}


def main():
    options = common.parse_options(__doc__.splitlines()[0], add_options)
    folder = options.build / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    core = common.pin_to_one_core()
    rows = []
    for p, n in SHAPES:
        row = measure(options, folder, p, n)
        rows.append(row)
        print(f"{p:3}^{n}: kron {row['kron_ms']:8.3f} ms ({row['kron_gflops']:6.1f} GFLOP/s)  "
              f"NumPy {row['numpy_ms']:8.3f} ms  ratio {row['ratio']:5.2f} (target "
              f"{row['target']})  {row['limit_percent']:.0f} % of the limit  compiled in "
              f"{row['compile_ms']:.0f} ms  errors {row['kron_error']:.1e} "
              f"{row['numpy_error']:.1e}", flush=True)
    command = ("build/venv/bin/python docs/benchmarks/first_light.py "
               f"--rounds {options.rounds} --times {options.times}")
    if os.sched_getscheduler(0) == os.SCHED_FIFO:
        command = "chrt -f 1 " + command
    result = {"name": "first_light", "date": datetime.date.today().isoformat(),
              "commit": commit(), "command": command, "core": core, "threads": 1,
              "machine": machine(), "rows": rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
