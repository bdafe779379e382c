# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""docs/benchmarks/programs.py, at tiny sizes: results of every program and kernel matrix, and the file."""

import json
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("gpytorch")

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "docs/benchmarks"
PROGRAMS = {"GPyTorch training": {"kron", "gpytorch"},
            "KSLinear": {"kron", "bmm", "einsum", "dense", "nn.Linear"},
            "Monarch": {"kron", "bmm", "einsum", "dense", "nn.Linear"},
            "Transformer MLP, training": {"kron", "bmm", "nn.Linear"},
            "Transformer MLP, generation": {"kron", "bmm", "nn.Linear"},
            "LoKr": {"kron", "materialised", "matmul"},
            "K-FAC update": {"kron", "matmul", "bmm"},
            "CG solve": {"kron", "matmul", "gpytorch", "einsum"},
            "DCT of a photograph": {"kron", "matmul", "dense", "convolution"},
            "Layer of gates": {"kron", "gate by gate", "groups of 5"}}
# Of any way against float64; rounding of 16 bits adds up over layers.
ERRORS = {"f64": 1e-12, "c64": 1e-12, "f32": 1e-5, "c32": 1e-5, "bf16": 0.05, "f16": 0.01}


def programs(out, *options):
    command = [sys.executable, FOLDER / "programs.py", "--quick", "--threads", "1",
               "--seconds", "0", "--rounds", "2", "--out", out, *options]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=7200)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    out = tmp_path_factory.mktemp("programs") / "programs_cpu.json"
    process = programs(out, "--seed", "3")
    assert process.returncode == 0, process.stdout
    return out


@pytest.fixture(scope="module")
def result(path):
    return json.loads(path.read_text())


def test_where_and_how(result):
    assert result["name"] == "programs" and result["target"] == "cpu"
    assert result["seed"] == 3 and result["threads"] == 1 and result["quick"] is True
    assert result["date"] and result["commit"]
    # Neither where it was written to nor which part was measured last.
    assert result["command"].endswith(
        "docs/benchmarks/programs.py --target cpu --quick --seed 3 --threads 1 --seconds 0 "
        "--rounds 2")
    assert {"processor", "features", "python", "torch", "gpytorch"} <= set(result["machine"])


def test_programs_and_their_ways(result):
    ways = {}
    for row in result["rows"]:
        ways.setdefault(row["program"], set()).update(row["ways"])
    assert ways == PROGRAMS
    cases = [(row["program"], row["case"]) for row in result["rows"]]
    assert len(set(cases)) == len(cases)


def test_results_agree_with_float64(result):
    for row in result["rows"]:
        assert "problem" not in row, row
        for name, way in row["ways"].items():
            assert "problem" not in way, (row["case"], name, way)
            assert 0 <= way["error"] < ERRORS[row["type"]], (row["case"], name, way)
        assert row["ways"]["kron"]["error"] <= row["error_bound"], row


def test_times(result):
    for row in result["rows"]:
        for name, way in row["ways"].items():
            low, high = way["quartiles_ms"]
            assert 0 < low <= way["ms"] <= high and way["first_ms"] > 0
            assert way["rounds"] >= 2 and way["steps"] >= 1
            assert ("ratio" in way) == (name != "kron")
            if name != "kron":
                low, high = way["ratio_quartiles"]
                assert 0 < low <= way["ratio"] <= high
            if "training" in row["program"]:
                assert set(way["phases_ms"]) == {"forward", "backward", "optimizer"}


def test_part_of_a_run_keeps_the_rest(path, result, tmp_path):
    copy = tmp_path / "programs_cpu.json"
    copy.write_text(path.read_text())
    process = programs(copy, "--seed", "3", "--only", "DCT*")
    assert process.returncode == 0, process.stdout
    again = json.loads(copy.read_text())
    changed = [row["program"] for row, before in zip(again["rows"], result["rows"])
               if row != before]
    assert changed == ["DCT of a photograph"]
    process = programs(copy, "--seed", "4", "--only", "DCT*")
    assert process.returncode == 0, process.stdout
    assert len(json.loads(copy.read_text())["rows"]) == 1


def test_unknown_program(tmp_path):
    process = programs(tmp_path / "x.json", "--only", "KSLinaer")
    assert process.returncode == 1
    assert "expects --only to match one of the programs GPyTorch training, KSLinear" \
        in process.stdout
    assert not (tmp_path / "x.json").exists()


@pytest.fixture
def timing(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import program_timing

    return program_timing


def test_wrong_results_are_problems(timing):
    import torch

    def way(value):
        return timing.Way({"step": lambda: None}, lambda: {"y": torch.full((4,), value)})

    def fail():
        raise MemoryError("no room")

    def row(kron):
        case = timing.Case("P", "c", "f32", lambda: (
            {"kron": kron, "right": lambda: way(1.0), "failing": fail},
            {"y": torch.ones(4, dtype=torch.float64)}))
        return timing.Measurement(case, timing.Place("cpu", 0, True), 0, 1).row()

    assert "problem" not in row(lambda: way(1.0))
    assert row(lambda: way(1.0))["ways"]["failing"]["problem"] == "MemoryError: no room"
    assert row(lambda: way(1.1))["problem"].startswith("error 1.0e-01 is above")
    assert "above" in row(lambda: way(float("nan")))["problem"]
    assert row(fail)["problem"] == "MemoryError: no room"


def test_tables(result, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))
    import program_tables as tables

    # Made-up times: all others take twice as long, but one.
    for row in result["rows"]:
        for name, way in row["ways"].items():
            way.update({"ms": 1.0} if name == "kron" else {"ms": 2.0, "ratio": 2.0})
    lost = next(row for row in result["rows"] if row["program"] == "CG solve")
    lost["ways"]["matmul"].update(ms=0.5, ratio=0.5)
    results = {"cpu": result}
    text = tables.summary(results)
    assert "| DCT of a photograph, 48 x 32 x 3 | 1 ms (f32) | 2 ms (matmul) | 2.00x |" in text
    assert "| CG solve, grid 4 x 5 x 6, 60 steps | 1, 1 ms (f64, f32) | 0.5, 2 ms (matmul) " \
           "| 0.50x, 2.00x |" in text
    assert "| Monarch, 16 to 32 | 1 to 5 rows, f32, bf16 | bmm | 2.00x to 2.00x, mean 2.00x |" \
        in text
    assert f"Another way is faster in 1 of {len(result['rows'])} cases." in text
    known = tmp_path / "causes.json"
    monkeypatch.setattr(tables, "CAUSES", known)

    def refuses(entry, words):
        known.write_text(json.dumps(entry))
        with pytest.raises(ValueError, match=words):
            tables.losses(results)

    # No cause, one that is about another way, and one that the figures deny.
    refuses({"cpu/DCT*": {}}, "why matmul is faster in cpu/CG solve/grid 4 x 5 x 6, 60 steps, f64")
    refuses({"*/CG*": {"cause": "c", "ways": ["einsum"]}}, "about einsum")
    refuses({"*/CG*": {"cause": "c", "ways": ["matmul"], "host": 0.9}}, "another cause")
    known.write_text(json.dumps({"*/CG*": {"cause": "the cause", "ways": ["matmul"]}}))
    assert "| the cause |" in tables.losses(results)
    assert tables.losses(results).count("\n") == 5
    assert "| CPU: CG solve, grid 4 x 5 x 6, 60 steps, f64 | 0.50x (matmul) |" \
        in tables.losses(results)
    lost["ways"]["matmul"].update(ms=2.0, ratio=2.0)
    assert tables.losses(results) == "None.\n"
    lost["problem"] = "error 1.0e-01 is above 1.0e-06"
    assert "| CG solve, grid 4 x 5 x 6, 60 steps, f64 | failed | " in tables.table(result)
    assert "error 1.0e-01 is above 1.0e-06 |" in tables.table(result)
    assert tables.summary({}) == "(not measured yet)\n"


def test_kernel_matrices(tmp_path):
    out = tmp_path / "kernels_cpu.json"
    process = programs(out, "--set", "kernels", "--seed", "4")
    assert process.returncode == 0, process.stdout
    result = json.loads(out.read_text())
    assert result["name"] == "kernels" and "--set kernels --target cpu" in result["command"]
    assert {row["program"] for row in result["rows"]} == {
        "Distances", "Gaussian kernel", "Product", "Weighted derivatives", "Many small"}
    for row in result["rows"]:
        assert "problem" not in row and len(row["ways"]) > 1, row
        for way in row["ways"].values():
            assert 0 <= way["error"] < ERRORS[row["type"]] and way["ms"] > 0, row


def test_patience(tmp_path):
    """A way that takes longer is timed once, and compared by that."""
    script = f"""
import sys, time
sys.path.insert(0, {str(FOLDER)!r})
import torch, program_timing as timing
from program_arrays import ways_of
calls = []
def slow():
    calls.append(1)
    time.sleep(0.02)
    return torch.ones(2)
def setup():
    return ways_of({{"kron": lambda: torch.ones(2), "slow": slow}}), {{"y": torch.ones(2).double()}}
case = timing.Case("p", "c", "f32", setup, patience=0.01)
row = timing.Measurement(case, timing.Place("cpu", 1, True), 0, 3).row()
assert len(calls) == 2, calls
assert row["ways"]["slow"]["rounds"] == 1 and row["ways"]["slow"]["ratio"] > 1, row
assert row["ways"]["kron"]["rounds"] == 3, row
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)
