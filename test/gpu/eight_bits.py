"""Arrays of 8 bits: kron.quantize bit for bit, by itself and behind a rotation or sparse
factors, and products of f8E4M3FN and f8E5M2; with rows of zeros and NaN, arrays that are not
aligned, and guards behind what is written. Every program is launched a second time with
shared memory that is full of NaN when a kernel starts, and has to give the same bits.

SPDX-License-Identifier: MIT
"""

import concurrent.futures
import functools
import multiprocessing

import numpy as np

from kronlib import CUDA, Call, Cuda, Kron, KronError, make_array

CODES = {"f32": 0, "f16": 2, "i8": 10, "f8E4M3FN": 11, "f8E5M2": 12}
STORAGE = {"f32": np.float32, "f16": np.float16}
LARGEST = {"i8": 127, "f8E4M3FN": 448, "f8E5M2": 57344}
GUARD = 55
#: Fields of plans by hand, and elements of rows: a thread per row; more threads than a row has segments; fewer than a
#: row has warps, of several rows of a CTA; rows that are read twice, in a loop.
PLANNED = {"row_threads = 1": 40, "row_threads = 64, threads = 64": 24,
           "row_threads = 64, threads = 512, ctas_per_sm = 2": 1000, "row_threads = 2, kept_segments = 1": 72,
           "row_threads = 4, threads = 32, kept_segments = 1": 200}


@functools.cache
def values_of(kind):
    """The number of each of 256 codes, in float64."""
    mantissa, bias = (3, 7) if kind == "f8E4M3FN" else (2, 15)
    codes = np.arange(128)
    exponent, fraction = codes >> mantissa, codes & ((1 << mantissa) - 1)
    unit = 2.0 ** -mantissa
    normal = (1 + fraction * unit) * 2.0 ** (exponent - bias)
    numbers = np.where(exponent == 0, fraction * unit * 2.0 ** (1 - bias), normal)
    if kind == "f8E4M3FN":
        numbers[127] = np.nan
    else:
        numbers[124], numbers[125:] = np.inf, np.nan
    return np.concatenate([numbers, -numbers])


def round_to(numbers, kind):
    """Codes of the nearest values of 8 bits, ties to even."""
    if kind == "i8":
        return np.rint(numbers).astype(np.int8).view(np.uint8)
    finite = values_of(kind)[: 127 if kind == "f8E4M3FN" else 124]
    magnitude = np.minimum(np.abs(numbers).astype(np.float64), finite[-1])
    above = np.clip(np.searchsorted(finite, magnitude), 1, len(finite) - 1)
    low, high = finite[above - 1], finite[above]
    nearer = magnitude - low > high - magnitude
    tie = magnitude - low == high - magnitude
    code = np.where(nearer | (tie & (above % 2 == 0)), above, above - 1)
    return (code | np.where(np.signbit(numbers), 128, 0)).astype(np.uint8)


def quantized(x, kind):
    """(codes, scales) as the description of kron.quantize says."""
    wide = x.astype(np.float32)
    with np.errstate(all="ignore"):
        largest = np.abs(wide).max(1)
        scale = largest / np.float32(LARGEST[kind])
        scale[scale < np.float32(2.0**-126)] = 0
        scale[~np.isfinite(largest)] = np.nan
        usable = scale > 0
        numbers = np.where(usable[:, None], wide * (np.float32(1) / scale)[:, None], 0)
    codes = round_to(np.where(usable[:, None], numbers, np.float32(0)), kind)
    codes[~usable] = 0
    return codes, scale


def module(element, features, kind, orders=(), fields=""):
    """kron.quantize on rows, behind kron.mkm if there are `orders`; with fields of a plan of its own, or without."""
    x, q, s = f"?x{features}x{element}", f"?x{features}x{kind}", "?xf32"
    types = [f"tensor<{n}x{n}x{element}>" for n in orders]
    names = [f"%f{i}" for i in range(len(orders))]
    arguments = "".join(f", {n}: {t}" for n, t in zip(names, types))
    product = f"""
  %e = tensor.empty(%d) : tensor<{x}>
  %v = kron.mkm ins(%x : tensor<{x}>) factors({', '.join(names)} : {', '.join(types)})
         outs(%e : tensor<{x}>) -> tensor<{x}>""" if orders else ""
    source = "%v" if orders else "%x"
    plan = f"{{plan = #kron.gpu_plan<kernel = quantize, {fields}>}} " if fields else ""
    return f"""
func.func @main(%x: tensor<{x}>{arguments}) -> (tensor<{q}>, tensor<{s}>) {{
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<{x}>{product}
  %a = tensor.empty(%d) : tensor<{q}>
  %b = tensor.empty(%d) : tensor<{s}>
  %r:2 = kron.quantize ins({source} : tensor<{x}>) outs(%a, %b : tensor<{q}>, tensor<{s}>)
         {plan}-> tensor<{q}>, tensor<{s}>
  return %r#0, %r#1 : tensor<{q}>, tensor<{s}>
}}
"""


def sparse_module(element, patterns, kind, bias=False, rows="?", plan=None):
    """kron.quantize on rows behind one kron.ksmm of each pattern, in one fused region; the last
    one with a bias and relu, or without, and with a plan."""
    first, last = patterns[0], patterns[-1]
    x = f"{rows}x{first[0] * first[2] * first[3]}x{element}"
    features = last[0] * last[1] * last[3]
    q, s, b = f"{rows}x{features}x{kind}", f"{rows}xf32", f"{features}x{element}"
    weights = [f"tensor<{'x'.join(map(str, p))}x{element}>" for p in patterns]
    arguments = [f"%x: tensor<{x}>", *(f"%k{i}: {w}" for i, w in enumerate(weights))]
    if bias:
        arguments.append(f"%b: tensor<{b}>")
    size = "%d" if rows == "?" else ""
    lines, source, type_ = [], "%x", x
    for i, (pattern, weight) in enumerate(zip(patterns, weights)):
        is_last = i == len(patterns) - 1
        added = f" bias(%b : tensor<{b}>)" if bias and is_last else ""
        attributes = ["activation = #kron.activation<relu>"] if added else []
        if is_last and (plan or i > 0):
            attributes.append(f"plan = {plan or f'#kron.gpu_plan<regions = [{len(patterns)}]>'}")
        result = f"{rows}x{pattern[0] * pattern[1] * pattern[3]}x{element}"
        lines.append(f"""
  %e{i} = tensor.empty({size}) : tensor<{result}>
  %v{i} = kron.ksmm ins({source} : tensor<{type_}>) weights(%k{i} : {weight})
          outs(%e{i} : tensor<{result}>){added} {{{', '.join(attributes)}}} -> tensor<{result}>""")
        source, type_ = f"%v{i}", result
    return f"""
func.func @main({', '.join(arguments)}) -> (tensor<{q}>, tensor<{s}>) {{
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<{x}>{''.join(lines)}
  %q = tensor.empty({size}) : tensor<{q}>
  %s = tensor.empty({size}) : tensor<{s}>
  %r:2 = kron.quantize ins({source} : tensor<{type_}>) outs(%q, %s : tensor<{q}>, tensor<{s}>)
         -> tensor<{q}>, tensor<{s}>
  return %r#0, %r#1 : tensor<{q}>, tensor<{s}>
}}
"""


class Checks:
    """The checks of process number `share` of `shares`."""

    # Checks that differ in sizes unknown to the compiler come after each other.
    NEIGHBOURS = 4

    def __init__(self, kron, device, chips, share, shares):
        self.device = device
        self.compile = functools.lru_cache(8)(
            lambda text, poison: kron.compile(text, chips, poison=poison))
        self.cuda = Cuda(device)
        self.share, self.shares = share, shares
        self.count = self.passed = self.failed = 0

    def report(self, what, problem):
        if problem:
            self.failed += 1
            print(f"FAILED eight bits, {what}: {problem}", flush=True)
        else:
            self.passed += 1

    def upload(self, array, offset=0):
        """Memory that holds `array` from byte `offset` on."""
        memory = self.cuda.allocate(array.nbytes + offset)
        bytes_ = np.concatenate([np.zeros(offset, np.uint8),
                                 np.ascontiguousarray(array).reshape(-1).view(np.uint8)])
        memory.upload(bytes_)
        return memory

    def run(self, text, inputs, results):
        """Codes of the arrays `results`, (type, shape, offset), behind which nothing was
        written; `inputs` are (type, array, offset) or numbers."""
        found, again = (self.launch(self.compile(text, poison), inputs, results)
                        for poison in (False, True))
        for plain, poisoned in zip(found, again):
            if not np.array_equal(plain, poisoned, equal_nan=plain.dtype.kind == "f"):
                raise ValueError("results depend on shared memory that nobody wrote")
        return found

    def launch(self, program, inputs, results):
        keep, arrays = [], []
        for value in inputs:
            if isinstance(value, np.ndarray):
                keep.append(value)
                arrays.append(make_array(value.ctypes.data, CODES["f32"], ()))
                continue
            kind, array, offset = value
            keep.append(self.upload(array, offset))
            arrays.append(make_array(keep[-1].address + offset, CODES[kind], array.shape))
        outputs = []
        for kind, shape, offset in results:
            size = int(np.prod(shape)) * (STORAGE[kind]().itemsize if kind in STORAGE else 1)
            memory = self.cuda.allocate(size + offset + 64)
            memory.fill(GUARD)
            outputs.append((memory, size, offset))
            arrays.append(make_array(memory.address + offset, CODES[kind], shape))
        self.call(Call(program, "main", arrays, CUDA, self.device))
        self.cuda.synchronize()
        found = []
        for (memory, size, offset), (kind, shape, _) in zip(outputs, results):
            raw = memory.download(np.empty(size + offset + 64, np.uint8))
            if (raw[:offset] != GUARD).any() or (raw[offset + size :] != GUARD).any():
                raise ValueError("bytes beside a result were written")
            found.append(raw[offset : offset + size].view(STORAGE.get(kind, np.uint8))
                         .reshape(shape))
        return found

    def call(self, call):
        call.launch()

    def quantize(self, element, features, kind, rows, offset, fields=""):
        rng = np.random.default_rng(features)
        x = rng.standard_normal((rows, features)) * 10.0 ** rng.integers(-3, 4, (rows, 1))
        x = x.astype(STORAGE[element])
        if rows > 3:
            x[0], x[1, -1], x[2, 0] = 0, np.nan, -np.inf
        codes, scales = self.run(module(element, features, kind, fields=fields),
                                 [(element, x, offset * x.itemsize)],
                                 [(kind, x.shape, offset), ("f32", (rows,), 0)])
        expected_codes, expected_scales = quantized(x, kind)
        if not np.array_equal(scales, expected_scales, equal_nan=True):
            return "scales differ"
        # The sign of a zero does not count.
        differ = codes != expected_codes
        if kind != "i8":
            differ &= (codes | expected_codes) & 127 != 0
        return f"{differ.sum()} of {differ.size} codes differ" if differ.any() else None

    def rotate(self, element, orders, kind, rows, offset):
        rng = np.random.default_rng(sum(orders))
        n = int(np.prod(orders))
        x = rng.standard_normal((rows, n)).astype(STORAGE[element])
        factors = [np.linalg.qr(rng.standard_normal((m, m)))[0].astype(STORAGE[element])
                   for m in orders]
        if rows > 3:
            x[1], x[2, n // 3] = 0, np.nan
        codes, scales = self.run(
            module(element, n, kind, orders),
            [(element, x, 0), *((element, f, 0) for f in factors)],
            [(kind, x.shape, offset), ("f32", (rows,), 0)])
        y = x.astype(np.float64).reshape(rows, *orders)
        for axis, f in enumerate(factors, 1):
            y = np.moveaxis(np.tensordot(y, f.astype(np.float64), (axis, 0)), -1, axis)
        return self.compare(y.reshape(rows, n), codes, scales, element, kind)

    def compare(self, y, codes, scales, element, kind):
        """What is wrong with codes and scales of `y` in float64, whose row 1 is zeros and
        row 2 has a NaN if there are more than three."""
        rows = len(y)
        if rows > 3:
            if scales[1] != 0 or not np.isnan(scales[2]) or codes[1:3].any():
                return "rows of zeros or NaN are wrong"
            y, codes, scales = (np.delete(a, [1, 2], 0) for a in (y, codes, scales))
        error = np.abs(scales * LARGEST[kind] / np.abs(y).max(1) - 1).max() if rows else 0
        if error > (1e-5 if element == "f32" else 4e-3):
            return f"scales are off by {error:.1e}"
        numbers = codes.view(np.int8) if kind == "i8" else values_of(kind)[codes]
        numbers = numbers * scales[:, None].astype(np.float64)
        # Half a step, and what rounding the product to the element's type adds to it.
        step = scales[:, None] if kind == "i8" else np.maximum(
            np.abs(y) * (2.0**-3 if kind == "f8E4M3FN" else 2.0**-2),
            scales[:, None] * (2.0**-9 if kind == "f8E4M3FN" else 2.0**-16))
        rounded = (1e-5 if element == "f32" else 3e-3) * np.abs(y).max(1, keepdims=True)
        worst = (np.abs(numbers - y) / (0.51 * step + rounded)).max() if rows else 0
        return f"off by {worst:.2f} times what is allowed" if worst > 1 else None

    def sparse(self, element, patterns, kind, bias, rows, offset, plan=None):
        """With a plan the compiler knows the number of rows."""
        rng = np.random.default_rng(sum(map(sum, patterns)))
        a, _, c, d = patterns[0]
        x = rng.standard_normal((rows, a * c * d)).astype(STORAGE[element])
        weights = [(rng.standard_normal(p) / p[2] ** 0.5).astype(STORAGE[element])
                   for p in patterns]
        features = patterns[-1][0] * patterns[-1][1] * patterns[-1][3]
        # No number of the row of zeros is positive behind the bias.
        added = -np.abs(rng.standard_normal(features)).astype(STORAGE[element])
        if rows > 3:
            x[1], x[2, 0] = 0, np.nan
        codes, scales = self.run(
            sparse_module(element, patterns, kind, bias, *((rows, plan) if plan else ())),
            [(element, x, offset * x.itemsize), *((element, k, 0) for k in weights),
             *([(element, added, 0)] if bias else [])],
            [(kind, (rows, features), offset), ("f32", (rows,), 0)])
        y = x.astype(np.float64)
        for k in weights:
            a, b, c, d = k.shape
            y = np.einsum("nikt,ijkt->nijt", y.reshape(rows, a, c, d), k.astype(np.float64),
                          optimize=True).reshape(rows, a * b * d)
        if bias:
            y = np.maximum(y + added, 0)
        return self.compare(y, codes, scales, element, kind)

    def multiply(self, pattern, kinds, layout, rows):
        a, b, c, d = pattern
        x_kind, k_kind, y_kind = kinds
        rng = np.random.default_rng(sum(pattern))
        first = layout == "batch_first"

        def draw(shape, kind):
            """(what is uploaded, its values)."""
            numbers = rng.standard_normal(shape).astype(np.float32)
            if kind in STORAGE:
                numbers = numbers.astype(STORAGE[kind])
                return numbers, numbers.astype(np.float64)
            codes = round_to(numbers, kind)
            return codes, values_of(kind)[codes]

        x, x_numbers = draw((rows, a * c * d) if first else (a * c * d, rows), x_kind)
        k, k_numbers = draw(pattern, k_kind)
        shapes = [f"?x{n}" if first else f"{n}x?" for n in (a * c * d, a * b * d)]
        types = (f"memref<{shapes[0]}x{x_kind}>", f"memref<{a}x{b}x{c}x{d}x{k_kind}>",
                 f"memref<{shapes[1]}x{y_kind}>")
        # The scale is a number, or an element of an array of the GPU.
        in_memory = rows % 2 == 0
        kind, load = ("memref<2xf32>", """
  %c1 = arith.constant 1 : index
  %s = memref.load %a[%c1] : memref<2xf32>""") if in_memory else ("f32", "")
        text = f"""
func.func @main(%x: {types[0]}, %k: {types[1]}, %{'a' if in_memory else 's'}: {kind}, %y: {types[2]}) {{{load}
  kron.ksmm ins(%x : {types[0]}) weights(%k : {types[1]}) outs(%y : {types[2]}) alpha(%s : f32)
    {{layout = #kron.layout<{layout}>}}
  return
}}
"""
        scale = ("f32", np.array([7, 0.125], np.float32), 0) if in_memory \
            else np.array(0.125, np.float32)
        y, = self.run(text, [(x_kind, x, 0), (k_kind, k, 0), scale],
                      [(y_kind, (rows, a * b * d) if first else (a * b * d, rows), 0)])
        x_rows = (x_numbers if first else x_numbers.T).reshape(rows, a, c, d)
        exact = 0.125 * np.einsum("nikt,ijkt->nijt", x_rows, k_numbers).reshape(rows, a * b * d)
        error = np.linalg.norm((y if first else y.T) - exact)
        bound = (2e-6 if y_kind == "f32" else 5e-4) * np.linalg.norm(exact)
        return f"error {error:.1e}, bound {bound:.1e}" if error > bound else None

    def all(self):
        for element, features, kind, rows, offset in (
                *((e, n, q, r, o) for e in ("f32", "f16") for n in (1, 3, 64, 129, 4096)
                  for q in LARGEST for r, o in ((5, 0), (300, 0), (7, 1))),
                *(("f16", n, "i8", 9, 0) for n in (5120, 14336, 70000)), ("f32", 8, "i8", 0, 0)):
            self.attempt(f"quantize {rows} x {features} {element} to {kind}, {offset} off",
                         self.quantize, element, features, kind, rows, offset)
        for fields, features in PLANNED.items():
            for element, kind, offset in (("f16", "i8", 0), ("f32", "f8E4M3FN", 1)):
                self.attempt(f"quantize 300 x {features} {element} to {kind}, {offset} off, {fields}",
                             self.quantize, element, features, kind, 300, offset, fields)
        for element, orders, kind, rows, offset in (
                *((e, f, q, r, o) for e in ("f32", "f16")
                  for f in ((64, 64), (112, 128), (80, 64), (12, 32), (16, 16, 16))
                  for q in ("i8", "f8E4M3FN") for r, o in ((1, 0), (300, 0), (7, 1))),
                ("f16", (128, 128), "f8E5M2", 65, 0), ("f16", (64, 64), "i8", 0, 0)):
            self.attempt(f"rotation {orders} of {rows} {element} to {kind}, {offset} off",
                         self.rotate, element, orders, kind, rows, offset)
        # 20000 rows are in one kernel wherever that takes less time.
        for element, patterns, kind, bias, (rows, offset) in (
                *((e, p, q, False, r) for e in ("f32", "f16") for q in ("i8", "f8E4M3FN")
                  for p in (((6, 64, 64, 1),), ((1, 64, 64, 16),), ((2, 48, 192, 1),),
                            ((3, 16, 9, 5),), ((1, 17, 9, 5),),
                            ((2, 48, 192, 1), (1, 192, 48, 2)))
                  for r in ((1, 0), (300, 0), (7, 1), (20000, 0))),
                *((e, p, "f8E5M2", True, r) for e in ("f32", "f16")
                  for p in (((6, 64, 64, 1),), ((3, 5, 7, 1), (1, 16, 5, 3)),
                            ((2, 48, 192, 1), (1, 192, 48, 2)))
                  for r in ((0, 0), (65, 0), (20001, 1)))):
            self.attempt(f"{patterns} of {rows} {element} to {kind}, {offset} off"
                         + ", with a bias" * bias,
                         self.sparse, element, patterns, kind, bias, rows, offset)
        for pattern in ((1, 64, 64, 16), (3, 17, 9, 5), (2, 8, 300, 1)):
            for kinds in (("f8E4M3FN", "f8E4M3FN", "f16"), ("f8E5M2", "f32", "f32"),
                          ("f16", "f8E5M2", "f16"), ("f8E4M3FN", "f8E5M2", "f32")):
                for layout in ("batch_first", "batch_last"):
                    for rows in (0, 5, 200):
                        self.attempt(f"{pattern} {kinds} {layout} {rows}", self.multiply,
                                     pattern, kinds, layout, rows)

    def attempt(self, what, check, *arguments):
        self.count += 1
        if self.count // self.NEIGHBOURS % self.shares != self.share:
            return
        try:
            self.report(what, check(*arguments))
        except (KronError, ValueError) as error:
            self.report(what, str(error).splitlines()[0])


def _run_share(root, device, chips, share, shares):
    checks = Checks(Kron(root), device, chips, share, shares)
    checks.all()
    return checks.passed, checks.failed


def run(kron, device, chips, jobs):
    """(passed, failed), in `jobs` processes."""
    with concurrent.futures.ProcessPoolExecutor(
            jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        shares = [pool.submit(_run_share, kron.root, device, chips, share, jobs)
                  for share in range(jobs)]
        results = [share.result() for share in shares]
    return sum(passed for passed, _ in results), sum(failed for _, failed in results)
