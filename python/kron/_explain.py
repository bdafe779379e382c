"""kron.explain: what a call does, and how far it is from what the machine allows.

SPDX-License-Identifier: MIT
"""

import functools
import re
import time

import numpy as np

from kron import _build, _compile, _core, _jit, _roofline

#: Of the package's functions.
_NAMES = ("mkm", "kmm", "batched", "ksmm", "ksmm_chain")
_MODE_PRODUCT = re.compile(r"kron\.mode_product axis\((\d+)\).*?\[([^\]]*)\] : "
                           r"(?:tensor|memref)<([^>]*)>")
# The plan at the end of a remark.
_PLAN_OF_REMARK = re.compile(r"(kron-plan: .*); #kron\.cpu_plan<.*")
# One plan, or those of which one is chosen at launch.
_PLAN = re.compile(r"#kron\.(?:(?:cpu|gpu)_plan<([^>]*)>|dispatch<\[(.*?>)\]>)")


@functools.lru_cache(maxsize=None)
def machine(dtype_name):
    """(bytes per second of a copy, multiply-adds per second of a matrix product), both
    of NumPy on this machine, now."""
    source = np.ones(2**23)
    target = np.empty_like(source)
    matrix = np.ones((768, 768), dtype_name)
    return _rates(lambda: np.copyto(target, source), 2 * source.nbytes,
                  lambda: matrix @ matrix, 768**3, _time)


@functools.lru_cache(maxsize=None)
def gpu(dtype_name):
    """The same of PyTorch on the current GPU."""
    import torch

    source = torch.ones(2**26, device="cuda")
    target = torch.empty_like(source)
    matrix = torch.ones((4096, 4096), device="cuda", dtype=getattr(torch, dtype_name))
    return _rates(lambda: target.copy_(source), 2 * source.nbytes,
                  lambda: matrix @ matrix, 4096**3, _time_on_gpu)


def _rates(copy, num_bytes, multiply, multiply_adds, clock):
    bandwidth = num_bytes / min(clock(copy) for _ in range(5))
    return bandwidth, multiply_adds / min(clock(multiply) for _ in range(3))


def _time(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _time_on_gpu(function):
    """Without the time to launch: of several calls in a row."""
    import torch

    count = 5
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        function()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / count


def _measure(function, clock):
    """Seconds of a call: the median of what fits into a tenth of a second."""
    first = clock(function)
    count = int(np.clip(0.1 / max(first, 1e-7), 3, 10000))
    return float(np.median([clock(function) for _ in range(count)]))


def _multiply_adds(factors, elements):
    """Of a kernel with such factors (CallProgram in Calls.h) and so many results."""
    if len(factors[0]) == 2:
        return round(elements * _build.multiply_adds(factors))
    total = 0
    for inputs, outputs, summed in reversed(factors):
        total += elements * summed
        elements = elements // outputs * inputs
    return total


class Explanation:
    """What kron.explain returns; prints as a report."""

    def __init__(self, title, modules, call, results, inputs_bytes, multiply_adds):
        self.title, self.modules = title, modules
        first = results[0]
        self.on_gpu = bool(getattr(first, "is_cuda", False))
        self.seconds = _measure(call, _time_on_gpu if self.on_gpu else _time)
        self.bytes = inputs_bytes + sum(result.nbytes for result in results)
        self.multiply_adds = multiply_adds
        name = str(first.dtype).rpartition(".")[2]
        wide = name if name in ("float32", "float64", "complex64", "complex128") else "float32"
        self.bandwidth, self.peak = (gpu if self.on_gpu else machine)(wide)
        self.stages = [self._stages(text) for text in modules]

    def _stages(self, text):
        with _compile.translated() as compiler:
            pipeline = compiler.pipeline(*_compile.parse_target("cuda" if self.on_gpu else "cpu"))
            _, stages, remarks = compiler.run_passes(text, pipeline, record=True)
        return {"stages": stages, "remarks": [line for line in remarks.splitlines() if line]}

    @property
    def floor(self):
        """Seconds that memory and arithmetic take at least, with the rates of NumPy, or of
        PyTorch on a GPU."""
        compute = self.multiply_adds / self.peak if self.multiply_adds else 0
        return max(self.bytes / self.bandwidth, compute)

    @property
    def fallback_reasons(self):
        """Why operations take the slow path."""
        return [line for entry in self.stages for line in entry["remarks"]
                if "kron-fallback: " in line]

    def _plan(self, entry):
        """Lines about the fused regions of one module."""
        stages = dict(entry["stages"])
        fused = stages.get("kron-fuse", "")
        lines = []
        regions = fused.split("kron.fused")[1:]
        plans = [one or "one of " + several
                 for one, several in _PLAN.findall(stages.get("kron-plan", ""))]
        for number, region in enumerate(regions):
            products = _MODE_PRODUCT.findall(region)
            what = ", ".join(f"axis {axis} by {shape}" for axis, _, shape in products)
            lines.append(f"fused region {number + 1}: {len(products)} factor(s): {what}")
            if number < len(plans):
                lines.append(f"  plan: {plans[number]}")
        generic = len(re.findall(r"linalg\.", fused))
        if generic:
            lines.append(f"{generic} general operation(s) (linalg) beside them")
        if not regions:
            lines.append("no fused regions: everything goes the general way")
        return lines

    def __str__(self):
        lines = ["kron." + self.title if self.title in _NAMES else self.title]
        for entry in self.stages:
            lines += ["  " + line for line in self._plan(entry)]
            # Plans stand above.
            lines += ["  remark: " + _PLAN_OF_REMARK.sub(r"\1", line)
                      for line in entry["remarks"]]
        lines.append(f"  memory: {self.bytes / 1e6:.3f} MB read and written at least; "
                     f"a copy runs at {self.bandwidth / 1e9:.1f} GB/s here")
        if self.multiply_adds:
            lines.append(f"  arithmetic: {self.multiply_adds / 1e6:.3f} million multiply-adds; "
                         f"a matrix product runs at {self.peak / 1e9:.1f} billion/s here")
        ratio = f" ({self.seconds / self.floor:.1f}x)" if self.floor else ""
        lines.append(f"  expected floor {self.floor * 1e6:.1f} us, measured "
                     f"{self.seconds * 1e6:.1f} us{ratio}")
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def intensity(self):
        """Multiply-adds per byte."""
        return max(self.multiply_adds, 1) / max(self.bytes, 1)

    def _curve(self):
        """Points of the roofline: (intensity, billion multiply-adds per second)."""
        knee = self.peak / self.bandwidth
        xs = np.geomspace(min(self.intensity, knee) / 8, max(self.intensity, knee) * 8, 50)
        xs = np.sort(np.append(xs, knee))
        return list(zip(xs.tolist(), (np.minimum(xs * self.bandwidth, self.peak) / 1e9).tolist()))

    @property
    def rate(self):
        """Billion multiply-adds per second."""
        return max(self.multiply_adds, 1) / self.seconds / 1e9

    def plot(self, path=None):
        """The call in a roofline picture. With a path, it is written there, as SVG also
        without matplotlib; without one, returns matplotlib's figure."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            if path is None or not str(path).endswith(".svg"):
                raise ImportError("expects matplotlib (pip install 'kron[plot]') for pictures "
                                  "other than files that end in .svg") from None
            with open(path, "w") as file:
                file.write(_roofline.draw(self._curve(), (self.intensity, self.rate),
                                          self.title))
            return None
        figure = Figure(figsize=(6, 4))
        axes = figure.subplots()
        axes.loglog(*zip(*self._curve()), label="roofline of a copy and a matrix product")
        axes.loglog([self.intensity], [self.rate], "o", label=self.title)
        axes.set_xlabel("multiply-adds per byte")
        axes.set_ylabel("billion multiply-adds per second")
        axes.legend()
        figure.tight_layout()
        if path is not None:
            figure.savefig(path)
        return figure


def explain(function, *args, show=True, plot=None, **kwargs):
    """Runs function(*args, **kwargs) and reports what it did: fused regions, what was
    fused, plans, on a GPU the estimated times of all kernels and what bounds them, why
    something goes a slower way, and the time against what memory and arithmetic allow.
    `function` is one of kron's or one that kron.jit
    decorates. `plot` names a file for a roofline picture."""

    def call():
        return function(*args, **kwargs)

    if isinstance(function, _jit.Jitted):
        result = call()
        modules = [str(function.trace(*args, **kwargs))]
        multiply_adds = function.multiply_adds(*args, **kwargs)
    elif callable(function) and getattr(function, "__name__", None) in _NAMES:
        with _build.recording() as calls:
            # Kernels are found again in the cache of files.
            _core.forget_kernels()
            result = call()
        compiler = _compile.compiler()
        modules = [compiler.Compilation(program).text for program, _ in calls]
        size = int(np.prod(tuple(result.shape)))
        multiply_adds = sum(_multiply_adds(factors, size) for _, factors in calls)
    else:
        raise TypeError("expects function to be one of kron's or one that kron.jit decorates, "
                        f"but got {function!r}")
    results = result if isinstance(result, tuple) else (result,)
    read = {key: value for key, value in kwargs.items() if key != "out"}
    explanation = Explanation(function.__name__, modules, call, results,
                              _bytes_of((args, read)), multiply_adds)
    if show:
        print(explanation)
    if plot is not None:
        explanation.plot(plot)
    return explanation


def _bytes_of(value):
    if hasattr(value, "nbytes"):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(_bytes_of, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes_of, value))
    return 0
