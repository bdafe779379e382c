"""How programs.py measures: ways to do the same program, checked and timed in turn."""

import contextlib
import dataclasses
import gc
import math
import statistics
import time
from collections.abc import Callable

import torch

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
         "f64": torch.float64, "c32": torch.complex64, "c64": torch.complex128}
# A block of steps between two synchronisations lasts so long, if it is not a single step.
BLOCK_SECONDS, MOST_STEPS = 0.02, 64
# A slow way is timed once only if it takes so many times as long as kron's.
PATIENT_RATIO = 5


@dataclasses.dataclass
class Way:
    """One implementation of a program's step."""

    # What a step does, in order: functions without arguments, by name.
    phases: dict[str, Callable]
    # {name: tensor} of what the last step computed; those names that the exact results
    # have too are compared.
    results: Callable
    # Active while the way's steps run.
    context: Callable = contextlib.nullcontext

    def step(self):
        for phase in self.phases.values():
            phase()


@dataclasses.dataclass
class Case:
    """A program at one size; `setup` makes ({way: function that makes it}, exact results),
    kron's way first. `more` goes into the row of the result file: `group`, cases that differ
    in types or numbers of rows only, and `rows`."""

    program: str
    name: str
    type: str
    setup: Callable
    more: dict = dataclasses.field(default_factory=dict)
    # Seconds of a step from which on a way that is far slower than kron's is timed once after
    # its first step, and the less counts.
    patience: float = math.inf


class Place:
    """The device, and random data on it."""

    def __init__(self, target, seed, quick):
        self.device, self.quick = torch.device(target), quick
        self.generator = torch.Generator(self.device).manual_seed(seed)

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def synchronize(self):
        if self.is_cuda:
            torch.cuda.synchronize()

    def randn(self, *shape, type="f64"):
        return torch.randn(*shape, dtype=TYPES[type], device=self.device,
                           generator=self.generator)

    def release(self):
        """Gives back what a case has left behind."""
        gc.collect()
        if self.is_cuda:
            torch.cuda.empty_cache()

    def warm_up(self):
        """Loads the libraries of matrix products, so that no first call pays for that."""
        for name in ("f32", "f64"):
            x = self.randn(64, 64, type=name).requires_grad_()
            torch.bmm(x[None], x[None]).sum().backward()
            torch.linalg.eigh(x.detach() @ x.detach().mT)
        self.synchronize()


def relative_error(results, exact):
    """The largest relative L2 error of those results that are known exactly."""
    def error(actual, expected):
        wide = torch.complex128 if expected.is_complex() else torch.float64
        return float((actual.to(wide) - expected).norm() / expected.norm())
    shared = [name for name in results if name in exact]
    if not shared:
        raise ValueError("expects a way to have one of the exact results "
                         f"{', '.join(exact)}, but got {', '.join(results)}")
    return max(error(results[name].detach(), exact[name]) for name in shared)


def bound(errors, type_name):
    """Which error kron may have: four times that of the others, or rounding's."""
    return max(4 * max(errors, default=0.0), 16 * torch.finfo(TYPES[type_name]).eps)


def quartiles(values):
    if len(values) < 2:
        return [values[0], values[0]]
    low, _, high = statistics.quantiles(values, method="inclusive")
    return [low, high]


class Measurement:
    """Measures the ways of one case."""

    def __init__(self, case, place, seconds, rounds):
        self.case, self.place, self.seconds, self.rounds = case, place, seconds, rounds
        self.ways, self.records = {}, {}

    def row(self):
        makers, exact = self.case.setup()
        for name, make in makers.items():
            self._guarded(name, lambda name=name, make=make: self._first(name, make, exact))
        exact.clear()
        self._rounds()
        for name in list(self.ways):
            self._guarded(name, lambda name=name: self._phases(name))
        return {"program": self.case.program, "case": self.case.name,
                "type": self.case.type, **self.case.more,
                "ways": {name: self.records[name] for name in makers}, **self._judged()}

    def _guarded(self, name, function):
        """A way that cannot do the case is recorded and left out."""
        record = self.records.setdefault(name, {})
        try:
            function()
        except Exception as error:  # whatever another library raises
            record["problem"] = f"{type(error).__name__}: {str(error)[:200]}"
            self.ways.pop(name, None)

    def _timed(self, function):
        """Seconds until the function returns, and until the device is done."""
        self.place.synchronize()
        begin = time.perf_counter()
        function()
        returned = time.perf_counter()
        self.place.synchronize()
        return returned - begin, time.perf_counter() - begin

    def _first(self, name, make, exact):
        """The first step, which may compile, and its results; then a few more."""
        way = make()
        with way.context():
            _, first = self._timed(way.step)
            self.records[name]["first_ms"] = 1e3 * first
            self.records[name]["error"] = relative_error(way.results(), exact)
            if first < self.case.patience:
                way.step()
        self.ways[name] = way

    def _rounds(self):
        """Blocks of steps of all ways in turn; whoever was first is last in the next round."""
        steps, slow, own = {}, {}, None
        for name, way in self.ways.items():
            with way.context():
                once = min(self._timed(way.step)[1], self.records[name]["first_ms"] / 1e3)
                if name == "kron":
                    own = once
                # A ratio of a few needs turns, however slow both are.
                elif once > max(self.case.patience, PATIENT_RATIO * (own or 0)):
                    slow[name] = once
                    continue
                once = min(once, self._timed(way.step)[1])
            steps[name] = max(1, min(MOST_STEPS, int(BLOCK_SECONDS / once)))
        walls, hosts = ({name: [] for name in steps} for _ in range(2))
        begin, order = time.perf_counter(), list(steps)
        while order and (len(walls[order[0]]) < self.rounds
                         or time.perf_counter() - begin < self.seconds):
            for name in order:
                way, count = self.ways[name], steps[name]
                with way.context():
                    if self.place.is_cuda:
                        # By itself, since a full queue would keep the host waiting.
                        hosts[name].append(1e3 * self._timed(way.step)[0])
                    _, wall = self._timed(lambda: [way.step() for _ in range(count)])
                walls[name].append(1e3 * wall / count)
            order.append(order.pop(0))
        for name, way_ms in walls.items():
            record = self.records[name]
            record.update(ms=statistics.median(way_ms), quartiles_ms=quartiles(way_ms),
                          rounds=len(way_ms), steps=steps[name])
            if self.place.is_cuda:
                record["host_ms"] = statistics.median(hosts[name])
            if name != "kron" and "kron" in walls:
                ratios = [other / own for other, own in zip(way_ms, walls["kron"])]
                record.update(ratio=statistics.median(ratios),
                              ratio_quartiles=quartiles(ratios))

        for name, seconds in slow.items():
            record, own_ms = self.records[name], self.records["kron"].get("ms")
            record.update(ms=1e3 * seconds, quartiles_ms=[1e3 * seconds] * 2, rounds=1, steps=1)
            if own_ms is not None:
                record.update(ratio=record["ms"] / own_ms,
                              ratio_quartiles=[record["ms"] / own_ms] * 2)

    def _phases(self, name):
        """Milliseconds of each part of a step, the device waited for in between."""
        way, record = self.ways[name], self.records[name]
        if len(way.phases) < 2:
            return
        times = {phase: [] for phase in way.phases}
        with way.context():
            for _ in range(min(self.rounds, 3)):
                for phase, function in way.phases.items():
                    times[phase].append(self._timed(function))
        record["phases_ms"] = {phase: 1e3 * statistics.median(wall for _, wall in found)
                               for phase, found in times.items()}
        if self.place.is_cuda:
            record["phases_host_ms"] = {
                phase: 1e3 * statistics.median(host for host, _ in found)
                for phase, found in times.items()}

    def _judged(self):
        """The bound of kron's error; `problem` where kron failed or exceeds it."""
        others = [record["error"] for name, record in self.records.items()
                  if name != "kron" and "error" in record]
        own, limit = self.records["kron"], bound(others, self.case.type)
        problem = own.get("problem")
        if problem is None and not own["error"] <= limit:
            problem = f"error {own['error']:.1e} is above {limit:.1e}"
        return {"error_bound": limit, **({"problem": problem} if problem else {})}
