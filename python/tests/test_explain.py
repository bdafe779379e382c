"""kron.explain, progress on a terminal, python -m kron.

SPDX-License-Identifier: MIT
"""

import io
import json
import os
import re
import subprocess
import sys
import threading
import types
import xml.etree.ElementTree

import numpy as np
import pytest

import kron
from kron import _compile, _explain

rng = np.random.default_rng(0)
FACTORS = [rng.standard_normal((4, 4)), rng.standard_normal((3, 3))]


def test_plans_of_a_dispatch():
    text = ("kron.fused {plan = #kron.dispatch<[<kernel = cublas>, <kernel = simt, threads = 64, "
            "launches = [{factors = 1, extents = [2]}]>]>}\nkron.fused {plan = #kron.cpu_plan<tile = 4>}")
    one, other = _explain._PLAN.findall(text)
    assert one[1].startswith("<kernel = cublas>, <kernel = simt") and one[1].endswith("}]>")
    assert other == ("tile = 4", "")


def test_explain(capsys):
    x = np.ones((100, 12))
    explanation = kron.explain(kron.mkm, x, FACTORS)
    text = capsys.readouterr().out
    assert "fused region 1: 2 factor(s)" in text
    assert text.count("plan: vector_bits = ") == 1 and "#kron.cpu_plan" not in text
    assert "expected floor" in text
    # The plan is that for this processor.
    assert re.search(r"kron-plan: bound by .*, estimated \d+ us on one thread, floor \d+ us", text)
    bits = re.search(r"\{.*vector-bits=(\d+) .*\}", _compile.compiler().pipeline(["native"], []))[1]
    assert f"plan: vector_bits = {bits}," in text
    assert explanation.bytes == 2 * x.nbytes + sum(f.nbytes for f in FACTORS)
    assert explanation.multiply_adds == 100 * 12 * (4 + 3)
    # out is written once, whoever gave it.
    given = kron.explain(kron.mkm, x, FACTORS, out=np.empty_like(x), show=False)
    assert given.bytes == explanation.bytes
    with pytest.raises(TypeError, match="function"):
        kron.explain(np.matmul, x, x)
    with pytest.raises(ValueError, match="columns"):
        kron.explain(kron.mkm, x, FACTORS[:1])


PRODUCT = """
func.func @f(%x: memref<?x64xf32>, %f: memref<{0}x8xf32>, %y: memref<?x64xf32>) {{
  kron.mkm ins(%x : memref<?x64xf32>) factors(%f, %f : memref<{0}x8xf32>, memref<{0}x8xf32>)
    outs(%y : memref<?x64xf32>)
  return
}}"""


def test_remarks_name_the_slow_path_and_kernels_that_were_not_chosen(monkeypatch):
    explanation = object.__new__(_explain.Explanation)
    explanation.on_gpu = False
    explanation.stages = [explanation._stages(PRODUCT.format("?"))]
    assert explanation.fallback_reasons == [
        "line 3: kron-fallback: kron.mkm takes the slow path: a factor has a dynamic shape"]
    explanation.stages = [explanation._stages(PRODUCT.format(8))]
    assert explanation.fallback_reasons == []
    explanation.on_gpu = True
    monkeypatch.setattr(_compile, "parse_target", lambda text: ([], ["h200"]))
    fuse, plan = explanation._stages(PRODUCT.format(8))["remarks"]
    assert fuse.startswith("line 3: kron-fuse: 1 fused region: axes 2, 1")
    assert " estimated " in plan and " floor " in plan
    assert "simt: " in plan and " us, bound by " in plan


# Verify that factors which vary over the batch, whose sizes are constants of the code then, take
# no slow path, and that the size of another axis stays open.
@pytest.mark.parametrize("name, core", [("mkm", (7, 6)), ("kmm", (6, 7)), ("batched", (2, 3))])
def test_factors_that_vary(name, core):
    factors = [np.ones((5, 2, 2)), np.ones((3, 3))]
    explanation = kron.explain(getattr(kron, name), np.ones((4, 5, *core)), factors, show=False)
    assert explanation.fallback_reasons == []
    assert "fused region 1: 2 factor(s)" in str(explanation)
    assert "5x2x2xf64" in str(explanation)


@pytest.mark.parametrize("name, args, multiply_adds", [
    ("kmm", (np.ones((12, 50)), FACTORS), 50 * 12 * 7),
    # The factor that shrinks goes first.
    ("mkm", (np.ones((10, 6)), [np.ones((2, 5)), np.ones((3, 1))]), 10 * (6 + 2 * 5)),
    ("batched", (np.ones((5, 4, 3)), FACTORS), 5 * 12 * 7),
    ("ksmm", (np.ones((7, 12)), np.ones((1, 2, 3, 4))), 7 * 8 * 3),
    ("ksmm_chain", (np.ones((7, 12)), [np.ones((1, 2, 3, 4)), np.ones((2, 3, 4, 1))]),
     7 * (8 * 3 + 6 * 4)),
])
def test_explain_every_operation(name, args, multiply_adds):
    explanation = kron.explain(getattr(kron, name), *args, show=False)
    assert explanation.multiply_adds == multiply_adds
    assert str(explanation).startswith("kron." + name) and "fused region 1" in str(explanation)


def clock(seconds):
    """One by which everything takes so long."""
    def measure(function):
        function()
        return seconds

    return measure


@pytest.fixture
def made_up(monkeypatch):
    """A machine of 1e9 bytes and 1e9 multiply-adds per second, where calls take 1/4 s."""
    monkeypatch.setattr(_explain, "machine", lambda dtype: (1e9, 1e9))
    monkeypatch.setattr(_explain, "_time", clock(0.25))


def test_floor_is_what_the_machine_allows(made_up):
    """Of an operation that moves memory, the floor is that of a copy; of one that
    computes, that of a matrix product."""
    x = rng.standard_normal((1000, 64))
    memory = kron.explain(kron.mkm, x, [np.ones((2, 2))] * 6, show=False)
    assert memory.floor == memory.bytes / 1e9 > memory.multiply_adds / 1e9
    dense = rng.standard_normal((512, 512))
    compute = kron.explain(kron.mkm, dense, [dense], show=False)
    assert compute.multiply_adds == 512**3
    assert compute.floor == compute.multiply_adds / 1e9 > compute.bytes / 1e9
    assert memory.seconds == compute.seconds == 0.25
    assert "expected floor 134217.7 us, measured 250000.0 us (1.9x)" in str(compute)


def test_rates_of_the_machine(monkeypatch):
    """They are those of a copy and of a matrix product, by the same clock as calls."""
    monkeypatch.setattr(_explain, "_time", clock(0.5))
    bandwidth, peak = _explain.machine.__wrapped__("float32")
    assert (bandwidth, peak) == (2 * 8 * 2**23 / 0.5, 768**3 / 0.5)


def test_measured_time_is_the_median(monkeypatch):
    spent = iter([9, 3, 1, 2] + [None] * 9)
    assert _explain._measure(lambda: None, lambda function: next(spent)) == 2
    calls = []
    assert _explain._time(lambda: calls.append(1)) >= 0 and calls == [1]


def test_explain_a_jitted_function():
    @kron.jit(dynamic={"x": {0: "m"}})
    def f(x, factors):
        return kron.mkm(x, factors) * 2 + x

    x = np.ones((30, 12))
    explanation = kron.explain(f, x, FACTORS, show=False)
    assert explanation.multiply_adds == 30 * 12 * 7
    assert "fused region 1: 2 factor(s)" in str(explanation)
    assert "fused region 2" not in str(explanation)


def test_explain_says_why_a_way_is_slower():
    explanation = kron.explain(kron.mkm, np.ones((3, 0)), [np.ones((0, 2))], show=False)
    assert explanation.seconds > 0
    wide = kron.explain(kron.jit(lambda x: x.T + 1), np.ones((20, 30)), show=False)
    assert "general operation" in str(wide) and "no fused regions" in str(wide)


def roofline_points(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg")
    (curve,) = root.iter("{http://www.w3.org/2000/svg}polyline")
    (circle,) = root.iter("{http://www.w3.org/2000/svg}circle")
    points = [tuple(map(float, point.split(","))) for point in curve.get("points").split()]
    return points, (float(circle.get("cx")), float(circle.get("cy")))


def test_roofline_without_matplotlib(tmp_path, monkeypatch, made_up):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    path = tmp_path / "roofline.svg"
    explanation = kron.explain(kron.mkm, np.ones((1000, 12)), FACTORS, show=False, plot=path)
    assert explanation.seconds > 10 * explanation.floor
    points, (x, y) = roofline_points(path)
    # The curve rises and is flat behind the knee; the call, which takes longer than the
    # floor, lies inside of the picture below the curve (pixels count downwards).
    heights = [height for _, height in points]
    assert heights == sorted(heights, reverse=True) and heights[-1] == heights[-2]
    assert 0 < x < 600 and 0 < y < 400
    left = max(point for point in points if point[0] <= x + 1e-6)
    assert y > left[1]
    with pytest.raises(ImportError, match="matplotlib"):
        explanation.plot(tmp_path / "roofline.png")


def test_roofline_with_matplotlib(tmp_path):
    pytest.importorskip("matplotlib")
    explanation = kron.explain(kron.mkm, np.ones((10, 12)), FACTORS, show=False,
                               plot=tmp_path / "roofline.png")
    assert (tmp_path / "roofline.png").read_bytes().startswith(b"\x89PNG")
    curve, point = explanation.plot().axes[0].lines
    assert point.get_xdata()[0] == explanation.intensity
    assert max(curve.get_ydata()) == pytest.approx(explanation.peak / 1e9)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar:
    """What kron uses of tqdm."""

    def __init__(self, desc, bar_format, leave):
        print(desc, "begins", file=sys.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        print("ends", file=sys.stderr)

    def refresh(self):
        print("goes on", file=sys.stderr)


@pytest.mark.parametrize("tqdm", ["present", "missing"])
def test_progress_after_a_second(monkeypatch, tqdm):
    """A compilation that takes long says so, one that does not is silent."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    module = types.SimpleNamespace(tqdm=Bar) if tqdm == "present" else None
    monkeypatch.setitem(sys.modules, "tqdm", module)
    text = ("func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {\n"
            "  return %x : tensor<3x4xf32>\n}")
    waited = []

    class Compiled(threading.Event):
        """That a compilation is done. A slow one is not within the first two waits,
        a quick one is within the first."""

        def wait(self, timeout=None):
            waited.append(timeout)
            return super().wait() if is_quick or len(waited) > 2 else False

    monkeypatch.setattr(_compile, "threading",
                        types.SimpleNamespace(Event=Compiled, Thread=threading.Thread))
    monkeypatch.setenv("KRON_CACHE", "0")
    is_quick = True
    kron.compile(text)
    assert terminal.getvalue() == "" and waited == [1]
    waited, is_quick = [], False
    kron.compile(text)
    assert waited[0] == 1
    lines = terminal.getvalue().splitlines()
    if tqdm == "present":
        assert lines == ["kron: compiling begins", "goes on", "ends"]
    else:
        assert lines == ["kron: compiling ..."]


def test_no_progress_without_a_terminal(monkeypatch, capfd):
    # Nothing that could say something is started.
    monkeypatch.setattr(_compile, "threading", None)
    with _compile._progress():
        pass
    assert capfd.readouterr().err == ""


def test_self_check():
    result = subprocess.run([sys.executable, "-m", "kron"], text=True, capture_output=True)
    assert result.returncode == 0, result.stdout + result.stderr
    for text in (f"kron {kron.__version__}", f"NumPy {np.__version__}", "processor:", "threads",
                 "GPUs:", "cache: on", "all works"):
        assert text in result.stdout
    for name in ("mkm", "kmm", "ksmm", "jit"):
        assert f"  {name}" in result.stdout


def run_calibrate(folder, *targets):
    return subprocess.run([sys.executable, "-m", "kron", "calibrate", *targets], text=True,
                          capture_output=True, env={**os.environ, "KRON_CACHE_DIR": str(folder)})


def test_calibrate(tmp_path):
    result = run_calibrate(tmp_path, "cpu")
    if result.returncode:
        # On a busy machine, which says so.
        assert re.search("other programs ran while .* (was|were) measured: no rate counts|"
                         "there was no time to measure any rate", result.stderr)
        return
    for text in ("copy of memory", "L2 cache", "multiply-adds in f32, one thread", "kept in "):
        assert text in result.stdout
    (file,) = (tmp_path / "machines").iterdir()
    content = json.loads(file.read_text())
    assert content["kind"] == "cpu" and content["units"] == 1
    unknown = result.stdout.count("other programs ran") + result.stdout.count("time was over")
    assert len(content["rates"]) + unknown == 3
    assert all(rate > 0 for rate in content["rates"].values())
    assert (tmp_path / "machines").stat().st_mode & 0o777 == 0o700


def test_calibrate_refuses(tmp_path):
    for target in ("gpu", "cpu:1", "cuda:", "cuda:x", "cuda:-1"):
        result = run_calibrate(tmp_path, target)
        assert result.returncode == 1
        assert (f"kron: error: expects cpu, cuda or cuda:NUMBER to calibrate, but got '{target}'"
                in result.stderr)
    result = run_calibrate(tmp_path, "cuda:99")
    assert result.returncode == 1 and "kron: error: expects " in result.stderr
    assert not (tmp_path / "machines").exists()


def test_self_check_finds_a_fault():
    code = ("import kron, numpy, runpy, sys; kron.ksmm = lambda x, w: numpy.zeros(3)\n"
            "sys.argv = ['kron']; runpy.run_module('kron', run_name='__main__')")
    result = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert result.returncode == 1
    assert "ksmm  FAILED" in result.stdout and "does not work: ksmm" in result.stdout
