"""Tables of results/python.json for render.py."""

import math


def _goal(met):
    return "met" if met else "missed"


def _overhead(result):
    rows = [
        ("a cached `kron.mkm` of NumPy arrays", result["numpy_call_us"], "us", 5),
        ("the same on tensors: `torch.ops.kron.mkm`", result["torch_op_us"], "us", None),
        ("- above an empty operation of the same signature with a derivative",
         result["torch_above_empty_us"], "us", 8),
        ("- above one without", result["torch_above_bare_us"], "us", 8),
        ("`kron.mkm` on tensors, which goes past the dispatcher",
         result["torch_function_us"], "us", None),
        ("`x @ x.T` of NumPy, of PyTorch: 2x16 by 16x2",
         (result["numpy_matmul_us"], result["torch_matmul_us"]), "us", None),
        ("first `kron.mkm` of a process, nothing cached", result["first_use_ms"], "ms", 200),
        ("the same out of the cache of files", result["first_use_cached_ms"], "ms", None),
        ("`import kron`, after `import numpy`", result["import_ms"], "ms", 150),
    ]
    yield "| call | time | goal | |"
    yield "|---|--:|--:|---|"
    for name, value, unit, goal in rows:
        values = value if isinstance(value, tuple) else (value,)
        text = ", ".join(f"{each:.3g}" for each in values)
        yield (f"| {name} | {text} {unit} | " + (f"{goal} {unit} | {_goal(value <= goal)} |"
                                                 if goal else "| |"))


def _products(result):
    yield ("| rows x factors | `kron.mkm` | `kron.kmm` | rate | GPyTorch | | einsum | | "
           "torch.compile | |")
    yield "|---|" + "--:|" * 9
    for row in result["rows"]:
        peers = " | ".join(f"{row[name + '_ms']:.2f} ms | {row[name + '_ratio']:.1f}x"
                           for name in ("gpytorch", "einsum", "compile"))
        yield (f"| {row['m']} x {row['p']}^{row['n']} | {row['kron_ms']:.2f} ms | "
               f"{row['kron_kmm_ms']:.2f} ms | {row['kron_gflops']:.0f} GFLOP/s | {peers} |")
    means = result["geometric_means"]
    yield ""
    yield (f"Geometric means: {means['gpytorch']:.2f}x GPyTorch's "
           f"`KroneckerProductLinearOperator`, {means['einsum']:.2f}x `torch.einsum`, "
           f"{means['compile']:.2f}x reshapes and matrix products under `torch.compile`; "
           f"{result['geometric_mean']:.2f}x all of them (goal 3x: "
           f"{_goal(result['geometric_mean'] >= 3)}).")


def _training(result):
    yield ("| patterns | rows | step | rate | einsum | | forward | einsum | |")
    yield "|---|" + "--:|" * 8
    for row in result["rows"]:
        patterns = ", ".join(str(tuple(pattern)) for pattern in row["patterns"])
        yield (f"| {patterns} | {row['batch']} | {row['kron_ms']:.2f} ms | "
               f"{row['kron_gflops']:.0f} GFLOP/s | {row['einsum_ms']:.2f} ms | "
               f"{row['ratio']:.2f}x | {row['kron_forward_ms']:.2f} ms | "
               f"{row['einsum_forward_ms']:.2f} ms | {row['forward_ratio']:.2f}x |")
    yield ""
    forward = math.exp(sum(math.log(row["forward_ratio"]) for row in result["rows"])
                       / len(result["rows"]))
    yield (f"Geometric means: a step {result['geometric_mean']:.2f}x (goal 2x: "
           f"{_goal(result['geometric_mean'] >= 2)}), forward alone {forward:.2f}x.")


PARTS = {"overhead": _overhead, "products": _products, "training": _training}


def _source(result):
    machine = result["machine"]
    return (f"`{result['command']}`, {result['date']}, commit {result['commit'][:12]}: "
            f"{result['threads']} thread on {machine['Model name']} (family "
            f"{machine['CPU family']}, model {machine['Model']}, "
            f"{', '.join(machine['features'])}); PyTorch {machine['torch']}, GPyTorch "
            f"{machine['gpytorch']}.")


def table(result, part):
    """The table of one part."""
    if part not in result:
        return "(not measured yet)\n"
    return "\n".join([_source(result[part]), "", *PARTS[part](result[part])]) + "\n"
