"""kron from Python against PyTorch and GPyTorch on the CPU.

usage: python.py [--threads N] [--seconds S] [--out FILE] [--only PART,...]

Parts, some minutes each: overhead (calls on tiny arrays, first use, import), products (kron.mkm against
GPyTorch's KroneckerProductLinearOperator, torch.einsum and torch.compile), training
(a step of a KSLinear layer against the einsum implementation). Both sides of a
comparison get the same arrays, in turn, for `--seconds` at least: times are medians,
and a ratio is the median of those between neighbouring calls, so that other work on the
machine falls out of it. Needs the kron package, PyTorch and GPyTorch. Writes
docs/benchmarks/results/python.json after every part, which render.py turns into
tables; parts that are not measured anew keep their figures.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# (M, P, N): those of the GPU tables that fit a small machine's memory and time; the
# largest with fewer rows than there.
SHAPES = [(8192, 8, 4), (1024, 8, 5), (8192, 16, 3), (1024, 16, 4), (1024, 32, 3),
          (1024, 64, 2), (16384, 64, 2), (64, 64, 3), (1024, 128, 2), (2, 8, 8),
          (2, 16, 6), (16, 128, 3), (1, 16, 6), (1, 64, 4)]
# Patterns and batch of one KSLinear layer. The batch of the KSMM paper's ViT, 25088,
# is cut to 4096.
LAYERS = [[(1, 48, 48, 4)], [(1, 64, 64, 16)], [(6, 64, 64, 1)],
          [(2, 48, 192, 1), (1, 192, 48, 2)], [(6, 64, 64, 1), (1, 768, 192, 2)],
          [(6, 64, 256, 1), (1, 128, 128, 3)]]
LAYER_BATCH = 4096
PEERS = ("gpytorch", "einsum", "compile")


def compare(functions, seconds):
    """Median seconds of each function, and how many times as long as the first each
    takes; they take turns."""
    for function in functions:
        function()
    times = [[] for _ in functions]
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times[0]) < 3:
        for function, record in zip(functions, times):
            begin = time.perf_counter()
            function()
            record.append(time.perf_counter() - begin)
    ratios = [statistics.median(other / own for other, own in zip(record, times[0]))
              for record in times]
    return [statistics.median(record) for record in times], ratios


def call_times(functions, calls=500, rounds=60):
    """Microseconds of calls that take so few: the lower quartile over rounds in which
    the functions take turns."""
    times = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            begin = time.perf_counter()
            for _ in range(calls):
                function()
            times[name].append(1e6 * (time.perf_counter() - begin) / calls)
    return {name: statistics.quantiles(record)[0] for name, record in times.items()}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


# --- overhead -----------------------------------------------------------------------


def fresh_process(code, **environment):
    """What `code` prints in a new interpreter, as a number."""
    process = subprocess.run([sys.executable, "-c", code], text=True, check=True,
                             stdout=subprocess.PIPE, env={**os.environ, **environment})
    return float(process.stdout)


FIRST_USE = """
import time, numpy as np, kron
x, f = np.ones((16, 512), np.float32), [np.ones((8, 8), np.float32)] * 3
begin = time.perf_counter()
kron.mkm(x, f)
print(time.perf_counter() - begin)
"""
IMPORT = """
import time, numpy
begin = time.perf_counter()
import kron
print(time.perf_counter() - begin)
"""


def measure_overhead(_seconds):
    import numpy as np
    import torch

    import kron
    import kron.torch

    library = torch.library.Library("kron_benchmark", "DEF")
    signature = str(torch.ops.kron.mkm.default._schema)[len("kron::mkm"):]
    for name in ("empty", "bare"):
        library.define(name + signature)
        library.impl(name, lambda x, *rest: torch.empty_like(x), "CPU")
    # As kron.mkm has them; "bare" has no derivative registered.
    torch.library.register_autograd("kron_benchmark::empty", lambda ctx, grad: (grad,),
                                    lib=library)
    x = np.ones((2, 16), np.float32)
    factors = [np.ones((4, 4), np.float32)] * 2
    tensor, matrices = torch.from_numpy(x), [torch.from_numpy(f) for f in factors]
    empty, bare = torch.ops.kron_benchmark.empty, torch.ops.kron_benchmark.bare
    mkm = torch.ops.kron.mkm
    calls = call_times({
        "numpy_call_us": lambda: kron.mkm(x, factors),
        "numpy_matmul_us": lambda: x @ x.T,
        "empty_op_us": lambda: empty(tensor, matrices),
        "bare_op_us": lambda: bare(tensor, matrices),
        "torch_op_us": lambda: mkm(tensor, matrices),
        "torch_function_us": lambda: kron.mkm(tensor, matrices),
        "torch_matmul_us": lambda: tensor @ tensor.mT})
    with tempfile.TemporaryDirectory() as folder:
        first = [fresh_process(FIRST_USE, KRON_CACHE="0") for _ in range(5)]
        cached = [fresh_process(FIRST_USE, KRON_CACHE_DIR=folder) for _ in range(5)][1:]
    imports = [fresh_process(IMPORT) for _ in range(7)]
    return {**calls, "torch_above_empty_us": calls["torch_op_us"] - calls["empty_op_us"],
            "torch_above_bare_us": calls["torch_op_us"] - calls["bare_op_us"],
            "first_use_ms": 1e3 * statistics.median(first),
            "first_use_cached_ms": 1e3 * statistics.median(cached),
            "import_ms": 1e3 * statistics.median(imports)}


# --- products -----------------------------------------------------------------------


def shuffle(x, factors):
    """The product as reshapes, matrix products and transposes."""
    rows = x.shape[0]
    for factor in reversed(factors):
        p, q = factor.shape
        x = (x.reshape(-1, p) @ factor).reshape(rows, -1, q).transpose(1, 2)
    return x.reshape(rows, -1)


def einsum(x, factors):
    count = len(factors)
    p = "".join(chr(ord("a") + k) for k in range(count))
    q = p.upper()
    terms = ",".join(a + b for a, b in zip(p, q))
    view = x.view(x.shape[0], *(f.shape[0] for f in factors))
    import torch

    return torch.einsum(f"z{p},{terms}->z{q}", view, *factors).reshape(x.shape[0], -1)


def measure_product(m, p, n, seconds):
    import linear_operator.operators as lo
    import torch

    import kron

    torch.manual_seed(p * 100 + n)
    x = torch.randn(m, p ** n)
    factors = [torch.randn(p, p) / math.sqrt(p) for _ in range(n)]
    operator = lo.KroneckerProductLinearOperator(*[f.mT.contiguous() for f in factors])
    columns = x.mT.contiguous()
    torch._dynamo.reset()
    compiled = torch.compile(shuffle)
    functions = {"kron": lambda: kron.mkm(x, factors),
                 "kron_kmm": lambda: kron.kmm(columns, factors, trans_factors=True),
                 "gpytorch": lambda: operator @ columns,
                 "einsum": lambda: einsum(x, factors),
                 "compile": lambda: compiled(x, factors)}
    with torch.no_grad():
        exact = shuffle(x.double(), [f.double() for f in factors])
        errors = {name: float((function().mT if name in ("kron_kmm", "gpytorch")
                               else function()).sub(exact).norm() / exact.norm())
                  for name, function in functions.items()}
        del exact
        times, ratios = compare(list(functions.values()), seconds)
    row = {"m": m, "p": p, "n": n}
    row.update({f"{name}_ms": 1e3 * t for name, t in zip(functions, times)})
    row.update({f"{name}_ratio": r for name, r in zip(functions, ratios) if name in PEERS})
    row["kron_gflops"] = 2e-6 * m * p ** n * p * n / row["kron_ms"]
    row["kron_error"], row["gpytorch_error"] = errors["kron"], errors["gpytorch"]
    return row


def measure_products(seconds):
    import torch

    torch.set_grad_enabled(True)
    rows = []
    for shape in SHAPES:
        row = measure_product(*shape, seconds)
        rows.append(row)
        print(f"{row['m']:6} x {row['p']}^{row['n']}: " + "  ".join(
            f"{name} {row[name + '_ms']:.3f} ms" for name in
            ("kron", "kron_kmm", "gpytorch", "einsum", "compile")), flush=True)
    means = {peer: geometric_mean([row[f"{peer}_ratio"] for row in rows])
             for peer in PEERS}
    return {"rows": rows, "geometric_means": means,
            "geometric_mean": geometric_mean(list(means.values()))}


# --- training -----------------------------------------------------------------------


def measure_training(seconds):
    import torch

    from kron import nn as knn

    rows = []
    for chain in LAYERS:
        layers = []
        for algo in ("kernel", "einsum"):
            torch.manual_seed(0)
            layers.append(knn.KSLinear(chain, algo=algo))
        x = torch.randn(LAYER_BATCH, layers[0].in_size, requires_grad=True)
        target = torch.randn(LAYER_BATCH, layers[0].out_size)

        def step(layer):
            optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)

            def run():
                optimizer.zero_grad()
                x.grad = None
                layer(x).backward(target)
                optimizer.step()

            return run

        (kernel, stock), (_, ratio) = compare([step(layer) for layer in layers], seconds)
        with torch.no_grad():
            (forward, stock_forward), (_, forward_ratio) = compare(
                [lambda layer=layer: layer(x) for layer in layers], seconds / 2)
        flops = 6 * LAYER_BATCH * sum(math.prod(pattern) for pattern in chain)
        rows.append({"patterns": chain, "batch": LAYER_BATCH, "kron_ms": 1e3 * kernel,
                     "einsum_ms": 1e3 * stock, "ratio": ratio,
                     "forward_ratio": forward_ratio,
                     "kron_gflops": 1e-9 * flops / kernel,
                     "kron_forward_ms": 1e3 * forward,
                     "einsum_forward_ms": 1e3 * stock_forward})
        print(f"{chain}: kron {1e3 * kernel:.2f} ms  einsum {1e3 * stock:.2f} ms  forward "
              f"{1e3 * forward:.2f} / {1e3 * stock_forward:.2f} ms", flush=True)
    return {"rows": rows, "geometric_mean": geometric_mean([r["ratio"] for r in rows])}


# --- the result file ----------------------------------------------------------------


def machine():
    import gpytorch
    import torch

    text = subprocess.run(["lscpu"], text=True, stdout=subprocess.PIPE,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
    info = dict(re.findall(r"^(.+?):\s+(.*)$", text, re.M))
    features = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_tile")
                if flag in info.get("Flags", "").split()]
    return {**{key: info[key] for key in ("Model name", "CPU family", "Model", "CPU(s)",
                                          "L2 cache", "L3 cache") if key in info},
            "features": features, "system": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(), "torch": torch.__version__,
            "gpytorch": gpytorch.__version__}


def commit():
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
    changed = git("status", "--porcelain", "--", "include", "lib", "python")
    return git("rev-parse", "HEAD") + ("-modified" if changed else "")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0,
                        help="of each comparison, at least")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results/python.json")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS),
                        metavar="PART,...", help=f"parts out of {', '.join(PARTS)}")
    options = parser.parse_args()
    unknown = sorted(set(options.only) - set(PARTS))
    if unknown:
        parser.error(f"expects parts out of {', '.join(PARTS)}, but got {', '.join(unknown)}")
    return options


def write(path, result):
    """Replaces the file as a whole, so that it is complete whenever this is stopped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps({"name": "python", **result}, indent=1) + "\n")
    temporary.replace(path)


def main():
    options = parse_arguments()
    os.environ["KRON_NUM_THREADS"] = str(options.threads)
    import torch

    torch.set_num_threads(options.threads)
    result = json.loads(options.out.read_text()) if options.out.exists() else {}
    for name in options.only:
        measured = PARTS[name](options.seconds)
        measured.update(
            date=datetime.date.today().isoformat(), commit=commit(),
            threads=options.threads, machine=machine(),
            command=f"python docs/benchmarks/python.py --threads {options.threads} "
                    f"--seconds {options.seconds:g} --only {name}")
        print(json.dumps({k: v for k, v in measured.items()
                          if k not in ("rows", "machine")}, indent=1), flush=True)
        result[name] = measured
        write(options.out, result)
        print(f"wrote {options.out}", flush=True)


PARTS = {"overhead": measure_overhead, "products": measure_products,
         "training": measure_training}


if __name__ == "__main__":
    main()
