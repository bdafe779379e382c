#!/usr/bin/env python3
"""What needs no GPU: ptxas accepts the kernels, within a budget of registers and spills.

usage: ptxas.py --root ROOT [--verbose]

Compiles the golden cases below for sm_80 and sm_90a and assembles their PTX, whose kernels
for sm_90a touch no memory before they have waited for the kernel before. The budget of a
kernel: as many registers as the threads of a block leave each other, and SPILLED bytes of
spill code, which stays outside of inner loops; EXCEPTIONS lists the factors whose kernels
need more today. Ends with a line `N passed, N failed`; without
ptxas, `0 passed, 0 failed, N not for this machine`.

SPDX-License-Identifier: MIT
"""

import argparse
import concurrent.futures
import ctypes
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from ctypes import POINTER, Structure, c_int32, c_int64, c_void_p

import selection  # noqa: F401  (finds the modules below)

import eight_bits
import pair_gradients
import pairs
from bench_cases import Case
from kronlib import Kron, KronError

CHIPS = ("sm_80", "sm_90a")
PTX = 1
REGISTER_FILE = 65536
SPILLED = 96
# Sums of pairs leave no registers for more: what spilled would do so in their loops. Of logarithms of sums, linalg
# kernels that reduce what CTAs have spill, and f64 ones of several columns with rows in registers; powers have 64
# registers, since many threads hide how long they take. Matrix products have 128 sums, of warpgroups half as many of a
# step beside these, and addresses by strides that are not known spill.
# Known losses: each lowers the speed of these shapes.
EXCEPTIONS = {"pairs": 0, "pair gradients": 0, "pairs products": 1408, "pairs logsumexp": 480, "pairs power": 48,
              "8^5": 256, "8^8": 192, "31^3": 384,
              "256^2": 768, "1,64,64,16": 576, "1,256,256,4": 768, "1,1024,1024,1": 704,
              "6,64,64,1": 176, "epilogue 1,768,192,2": 1248,
              "chain 2,48,192,1 1,192,48,2": 528, "chain 6,64,64,1 1,768,192,2": 240,
              "chain 6,64,256,1 1,128,128,3": 128,
              "grad 1,256,256,4": 160, "grad 1,768,192,2": 112, "grad 12,64,64,4": 304,
              "grad 3,17,9,5": 256,
              "quantize 64,64": 128, "quantized 1,64,64,16": 864,
              "quantized 6,64,64,1": 128,
              "quantized 2,48,192,1 1,192,48,2": 256}
# (operation, type, rows, factors or pattern, more fields)
GOLDEN = [
    *(("mkm", t, 1024, f, {}) for t in ("f32", "f64", "f16", "bf16")
      for f in ("8^5", "16^4", "32^3", "64^3", "128^2", "12^4", "31^3", "5^6", "256^2")),
    *(("mkm", "f32", 1024, f, {"precision": p}) for f in ("16^4", "64^2")
      for p in ("ieee", "tf32")),
    *(("kmm", t, 1024, f, {"trans": tr}) for t in ("f32", "f64")
      for f in ("8^4", "32^3") for tr in ("NN", "TT")),
    *(("mkm", t, 1024, f, {"trans": "TT"}) for t in ("f32", "f64")
      for f in ("16^3", "64^2", "128^2")),
    ("mkm", "f16", 1024, "16^3", {"trans": "TT"}),
    *(("mkm", t, 64, "4^4", {}) for t in ("c32", "c64", "i32", "i64")),
    ("mkm", "f32", 16, "8^8", {}),
    ("mkm", "f32", 1, "16^6", {"beta": 0.5}),
    ("mkm", "f32", 1024, "14:15,19:13,34:23", {}),
    *(("batched", t, 100000, f"{n}^3", {}) for t in ("f32", "f64") for n in (4, 8, 9, 11)),
    *(("batched", t, 100000, "8^3", {"beta": 0.5}) for t in ("f32", "f64")),
    *(("ksmm", t, 25088, p, {"layout": layout}) for t in ("f32", "f16")
      for p in ((1, 64, 64, 16), (6, 64, 64, 1), (1, 256, 256, 4), (1, 1024, 1024, 1))
      for layout in ("batch_first", "batch_last")),
    *(("ksmm", t, 7, p, {"layout": layout}) for t in ("f32", "f16")
      for p in ((1, 64, 64, 16), (1, 1024, 1024, 1))
      for layout in ("batch_first", "batch_last")),
    ("ksmm", "f16", 196, (1, 256, 256, 4), {"layout": "batch_last"}),
    *(("ksmm", t, 25088, (64, 463, 64, 1), {}) for t in ("f32", "f64", "f16")),
    *(("ksmm", t, 25088, p, {}) for t in ("f32", "f16") for p in ((512, 56, 8, 1), (4096, 7, 1, 1))),
    ("ksmm", "bf16", 25088, (256, 112, 16, 1), {}),
    ("ksmm", "f64", 25088, (12, 64, 64, 4), {}),
    ("ksmm", "bf16", 25088, (3, 17, 9, 5), {}),
    *(("epilogue", t, 25088, p, {"layout": layout}) for t in ("f32", "f16")
      for p in ((1, 768, 192, 2), (6, 64, 64, 1)) for layout in ("batch_first", "batch_last")),
    *(("chain", t, 25088, p, {}) for t in ("f32", "f16")
      for p in (((2, 48, 192, 1), (1, 192, 48, 2)), ((6, 64, 64, 1), (1, 768, 192, 2)),
                ((6, 64, 256, 1), (1, 128, 128, 3)))),
    *(("ksmm_grad", t, 25088, p, {"layout": layout}) for t in ("f32", "f16")
      for p in ((1, 64, 64, 16), (6, 64, 64, 1), (1, 256, 256, 4), (3, 17, 9, 5))
      for layout in ("batch_first", "batch_last")),
    *(("ksmm_grad", t, 25088, (12, 64, 64, 4), {}) for t in ("f64", "bf16")),
    *(("ksmm_grad", t, 25088, (1, 768, 192, 2), {}) for t in ("f32", "f16")),
    *(("ksmm_grad", "f32", 25088, p, {"layout": "batch_last"})
      for p in ((1, 768, 192, 2), (1, 128, 128, 64))),
    *(("ksmm_grad", t, rows, p, {"layout": "batch_last"}) for t in ("f16", "bf16")
      for rows, p in ((25088, (1, 768, 192, 2)), ("?", (2, 250, 72, 1)))),
    *(("quantize", t, 0, orders, {"kind": kind}) for t in ("f32", "f16")
      for orders in ((129,), (4096,), (64, 64), (112, 128)) for kind in ("i8", "f8E4M3FN")),
    *(("quantized", t, "?", p, {"kind": kind})
      for t in ("f32", "f16")
      for p in (((6, 64, 64, 1),), ((1, 64, 64, 16),), ((2, 48, 192, 1), (1, 192, 48, 2)))
      for kind in ("i8", "f8E4M3FN")),
    *(("pairs", t, 30000, (30000, 30000, 1024), {"function": f})
      for t in ("f32", "f64", "f16", "bf16") for f in ("dot", "abs_diff", "square_diff", "pow_diff(1.3)")),
    *(("pairs", t, 30000, (30000, 30000, 1024), {"function": "pow_diff(1.5)"}) for t in ("f32", "f16")),
    *(("pairs", t, 30000, (30000, 30000, 1024), {"function": f, "epilogue": f == "square_diff", "same": True})
      for t in ("f32", "f64", "f16") for f in ("square_diff", "abs_diff")),
    *(("pairs", t, 30000, (30000, 30000, 64, c), {"function": "square_diff", "epilogue": True, "accumulate": a})
      for t in ("f32", "f64", "f16") for c, a in ((1, "sum"), (9, "sum"), (9, "max"), (9, "logsumexp"))),
    # Values by matrix instructions, of dense arrays.
    *(("pairs", t, 30000, (30000, 30000, k, 16), {"function": "square_diff", "epilogue": True, "dynamic": "MN",
                                                  "memref_layout": "identity"})
      for t in ("f32", "f64", "f16") for k in (64, 256)),
    # Rows in registers.
    *(("pairs", t, 30000, (30000, 30000, 3, c), {"function": "square_diff", "epilogue": True, "accumulate": a, "dynamic": "MN"})
      for t in ("f32", "f64", "f16") for c, a in ((1, "sum"), (9, "sum"), (9, "logsumexp"))),
    *(("pair_gradients", t, 30000, (30000, 30000, k, 1), {"function": f, "weights": w, "epilogue": e})
      for t in ("f32", "f64", "f16") for k in (16, 1024)
      for f, w, e in (("square_diff", "uv", True), ("abs_diff", "h", False))),
    *(("pair_gradients", t, 1000, (1000, 1000, 64, 1), {"function": "pow_diff(1.3)", "weights": "huv", "dynamic": "MNK",
                                                        "batches": ((), (), (), (), (8,), (8,))}) for t in ("f32", "f64")),
]


class Image(Structure):
    _fields_ = [("kind", c_int32), ("capability", c_int32), ("exact", c_int32),
                ("data", c_void_p), ("bytes", c_int64)]


class Module(Structure):
    _fields_ = [("num_images", c_int32), ("images", POINTER(Image)), ("state", c_void_p)]


class Version(Structure):
    _fields_ = [("isa", c_int32), ("entry", c_void_p), ("shared_bytes", c_int64),
                ("thread_bytes", c_int64), ("cuda", POINTER(Module))]


def find_ptxas():
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    return shutil.which("ptxas") or shutil.which("ptxas", path=f"{home}/bin")


def ptx_of(kron, text, chip):
    """The PTX that a program carries."""
    program = kron.compile(text, chip)
    kernel = program.kernel("bench").contents
    versions = ctypes.cast(kernel.versions, POINTER(Version))
    for version in versions[: kernel.num_versions]:
        for image in version.cuda.contents.images[: version.cuda.contents.num_images] \
                if version.cuda else []:
            if image.kind == PTX:
                return ctypes.string_at(image.data).decode()
    raise KronError("compile", "the program carries no PTX")


class Layer:
    """A kron.ksmm with everything that its epilogue can have, as check takes it."""

    label = "epilogue"

    def __init__(self, element, rows, pattern, layout="batch_first"):
        self.element, self.rows, self.pattern, self.layout = element, rows, pattern, layout
        self.text = f"{self.label} " + ",".join(map(str, pattern))
        self.name = f"ksmm {element} {rows} {self.text} {layout}"

    def array(self, features):
        sizes = [self.rows, features]
        if self.layout == "batch_last":
            sizes.reverse()
        return f"memref<{sizes[0]}x{sizes[1]}x{self.element}>"

    def mlir(self):
        a, b, c, d = self.pattern
        x, y, k = self.array(a * c * d), self.array(a * b * d), f"{a}x{b}x{c}x{d}x{self.element}"
        bias = f"memref<{a * b * d}x{self.element}>"
        return (f"func.func @bench(%x: {x}, %k: memref<{k}>, %b: {bias}, %r: {y}, %y: {y}) {{\n"
                f"  kron.ksmm ins(%x : {x}) weights(%k : memref<{k}>) outs(%y : {y}) "
                f"bias(%b : {bias}) residual(%r : {y}) {{activation = #kron.activation<gelu>, "
                f"scale = 0.5 : f32, layout = #kron.layout<{self.layout}>}}\n  return\n}}\n")


class Chain(Layer):
    """Two kron.ksmm, of which the second one reads what the first one writes, in one fused region."""

    def __init__(self, element, rows, patterns):
        super().__init__(element, rows, sum(patterns, ()))
        self.patterns = patterns
        self.text = "chain " + " ".join(",".join(map(str, p)) for p in patterns)
        self.name = f"{element} {rows} {self.text}"

    def mlir(self):
        (a, b, c, d), (e, f, g, h) = self.patterns
        x, t, y = (f"tensor<{self.rows}x{n}x{self.element}>"
                   for n in (a * c * d, a * b * d, e * f * h))
        k, m = (f"tensor<{'x'.join(map(str, p))}x{self.element}>" for p in self.patterns)
        return (f"func.func @bench(%x: {x}, %k: {k}, %m: {m}) -> {y} {{\n"
                f"  %e = tensor.empty() : {t}\n"
                f"  %t = kron.ksmm ins(%x : {x}) weights(%k : {k}) outs(%e : {t}) -> {t}\n"
                f"  %f = tensor.empty() : {y}\n"
                f"  %y = kron.ksmm ins(%t : {t}) weights(%m : {m}) outs(%f : {y}) "
                f"{{plan = #kron.gpu_plan<regions = [2]>}} -> {y}\n  return %y : {y}\n}}\n")


class Gradient(Layer):
    """A kron.ksmm_grad, as check takes it."""

    label = "grad"

    def mlir(self):
        a, b, c, d = self.pattern
        array = self.array
        x, grad = array(a * c * d), array(a * b * d)
        result = f"memref<{a}x{b}x{c}x{d}x{self.element}>"
        return (f"func.func @bench(%x: {x}, %g: {grad}, %y: {result}) {{\n"
                f"  kron.ksmm_grad ins(%x : {x}) grad(%g : {grad}) outs(%y : {result}) "
                f"{{layout = #kron.layout<{self.layout}>}}\n  return\n}}\n")


class Rows:
    """A kron.quantize, behind a rotation by several orders, as check takes it."""

    def __init__(self, element, rows, orders, kind):
        self.element, self.orders, self.kind = element, orders, kind
        self.text = "quantize " + ",".join(map(str, orders))
        self.name = f"{self.text} {element} to {kind}"

    def mlir(self):
        orders = self.orders if len(self.orders) > 1 else ()
        text = eight_bits.module(self.element, math.prod(self.orders), self.kind, orders)
        return text.replace("@main", "@bench")


class SparseRows:
    """A kron.quantize behind sparse factors, as check takes it."""

    def __init__(self, element, rows, patterns, kind):
        self.element, self.rows, self.patterns, self.kind = element, rows, patterns, kind
        self.text = "quantized " + " ".join(",".join(map(str, p)) for p in patterns)
        self.name = f"{self.text} {element} to {kind}"

    def mlir(self):
        text = eight_bits.sparse_module(self.element, self.patterns, self.kind, rows=self.rows)
        return text.replace("@main", "@bench")


class Pairs(pairs.PairCase):
    """A function of pairs, of sizes that are not known, as check takes it."""

    def __init__(self, element, rows, sizes, function, **more):
        op = "pairwise" if len(sizes) == 3 else "pairwise_apply"
        # How many columns the values have is known.
        p = pairs.parameters(op, element, function, sizes, **({"memref_layout": "any", "dynamic": "MNK"} | more))
        super().__init__(0, pairs.of_one_array(p) if p["same"] else p)
        kind = (" logsumexp" if p["accumulate"] == "logsumexp" else " power" if "pow" in function
                else " products" if function in ("dot", "square_diff") else "")
        self.text = f"pairs{kind}"
        self.name = f"bench {op} {element} {function} {sizes} {p['accumulate']}{' same' * p['same']}"

    def mlir(self):
        return super().mlir().replace(f"@{self.name}(", "@bench(")


class PairGradients(pair_gradients.GradCase):
    """The gradient of a function of pairs by an operand, of sizes that are not known, as check takes it."""

    def __init__(self, element, rows, sizes, function, weights, **more):
        p = pair_gradients.parameters("lhs", element, function, sizes, weights,
                                      **({"memref_layout": "any", "dynamic": "MNKC"} | more))
        super().__init__(0, p)
        self.text = "pair gradients"
        self.name = f"bench pairwise_grad {element} {function} {sizes} {weights}"

    def mlir(self):
        return super().mlir().replace(f"@{self.name}(", "@bench(")


def make_case(golden):
    op, name, rows, shape, more = golden
    if op == "quantize":
        return Rows(name, rows, shape, **more)
    layers = {"ksmm_grad": Gradient, "epilogue": Layer, "chain": Chain,
              "quantized": SparseRows, "pairs": Pairs, "pair_gradients": PairGradients}
    if op in layers:
        return layers[op](name, rows, shape, **more)
    key = "pattern" if op == "ksmm" else "factors"
    return Case({"op": op, "type": name, "rows": rows, key: shape} | more)


def find_early_access(ptx):
    """The first kernel that may touch what the kernel before it works on, or None: from
    sm_90 on kernels start while that one runs (--kron-overlap-launches), and nothing may
    come in front of their wait. LLVM is free to move loads that are marked invariant."""
    for kernel in ptx.split(".entry ")[1:]:
        before, wait, _ = kernel.partition("griddepcontrol.wait")
        if not wait or re.search(r"\b(ld|st|red|atom|cp|prefetch)\.(?!param)", before):
            return kernel.partition("(")[0]
    return None


def check(ptxas, kron, golden, chip, folder):
    """What is wrong, or None; and what ptxas says about each kernel."""
    case = make_case(golden)
    try:
        ptx = ptx_of(kron, case.mlir(), chip)
    except KronError as error:
        return f"does not compile: {error}", []
    early = find_early_access(ptx) if chip != "sm_80" else None
    if early:
        return f"{early} accesses memory before it waits for the kernel before", []
    path = pathlib.Path(folder) / (re.sub(r"\W+", "-", f"{case.name} {chip}") + ".ptx")
    path.write_text(ptx)
    done = subprocess.run([ptxas, "-v", f"-arch={chip}", path, "-o", os.devnull],
                          capture_output=True, text=True)
    if done.returncode:
        return f"ptxas refuses {path.name}: {done.stderr.strip().splitlines()[:2]}", []
    kernels, problem = [], None
    for name, usage in re.findall(r"Compiling entry function '(\S+)'.*?\n(.*?Used [^\n]*)",
                                  done.stderr, re.S):
        stack, stores, loads = map(int, re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
            usage).groups())
        registers = int(re.search(r"Used (\d+) registers", usage)[1])
        threads = int((re.search(rf"{name}.*?\.maxntid (\d+)", ptx, re.S) or [0, 0])[1])
        kernels.append(f"{name}: {registers} registers, {threads} threads, {stores + loads} bytes "
                       f"spilled, {stack} bytes of stack")
        budget = EXCEPTIONS.get(case.text, SPILLED)
        if stores + loads > budget or registers * max(threads, 1) > REGISTER_FILE:
            problem = kernels[-1]
    return problem or (None if kernels else "ptxas reports no kernel"), kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, help="build folder or unpacked bundle")
    parser.add_argument("--verbose", action="store_true", help="print what every kernel takes")
    options = parser.parse_args()
    ptxas = find_ptxas()
    jobs = [(golden, chip) for golden in GOLDEN for chip in CHIPS]
    if not ptxas:
        print("no ptxas on PATH or in CUDA_HOME")
        print(f"0 passed, 0 failed, {len(jobs)} not for this machine")
        return 0
    kron, passed, failed = Kron(options.root), 0, 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        checks = pool.map(lambda job: check(ptxas, kron, *job, folder), jobs)
        for (golden, chip), (problem, kernels) in zip(jobs, checks):
            passed, failed = passed + (not problem), failed + bool(problem)
            if problem:
                print(f"FAILED {make_case(golden).name} for {chip}: {problem}", flush=True)
            if options.verbose:
                for kernel in kernels:
                    print(f"{make_case(golden).name} for {chip}: {kernel}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
