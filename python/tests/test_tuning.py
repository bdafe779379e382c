"""kron.tune, kron.tuning, and kernels that are compiled with records.

SPDX-License-Identifier: MIT
"""

import contextlib
import json
import re

import numpy as np
import pytest

import kron
from kron import _compile, _records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KRON_RECORDS", raising=False)
    before = kron.tuning()
    yield tmp_path
    kron.tuning(before)


def product(x, a, b):
    return kron.mkm(x, [a, b])


def test_tune(folder):
    x, a, b = np.ones((5, 12), np.float32), np.ones((3, 2), np.float32), np.ones((4, 4), np.float32)
    (found,) = kron.tune(product, x, a, b, seconds=0.1)
    assert found.operation.startswith("kron.mkm 5x12xf32 3x2xf32 4x4xf32 ")
    assert found.seconds > 0 and found.default_seconds > 0
    path = folder / "cache/records.jsonl"
    assert json.loads(path.read_text())["plan"] == found.plan
    np.testing.assert_array_equal(kron.jit(product)(x, a, b), x @ np.kron(a, b))


def test_records_are_found(folder, monkeypatch):
    record = folder / "rec.jsonl"
    monkeypatch.setenv("KRON_RECORDS", str(record))
    module = _compile.compiler()
    with pytest.warns(UserWarning, match="kron uses no tuning records of .*rec.jsonl': No such file"):
        assert str(record) not in _records.files(module)
    record.write_text("{}\n")
    found = [str(record), str(folder / "none.jsonl"), module.shipped_records]
    monkeypatch.setattr(module, "record_files", lambda: found)
    with pytest.warns(UserWarning, match="none.jsonl': No such file"):
        assert _records.files(module) == [str(record), "<kron>"]
    assert kron.tuning("off") == "use"
    assert _records.files(module) == []


def test_kernels_whose_plans_change_are_compiled_again(folder, monkeypatch):
    module = _compile.compiler()
    compiled, late = [], []

    class Counting(module.Compilation):
        def compile(self):
            compiled.append(self)
            result = super().compile()
            while late:
                add(late.pop())
            return result

    monkeypatch.setattr(module, "Compilation", Counting)
    record = folder / "rec.jsonl"
    monkeypatch.setenv("KRON_RECORDS", str(record))
    record.write_text("")
    f64 = np.float64
    first, second = (str(kron.jit(product).trace(kron.Spec((rows, 12), f64), kron.Spec((3, 2), f64),
                                                 kron.Spec((4, 4), f64))) for rows in (9, 10))

    def misses(text, **target):
        compiled.clear()
        _compile.compile_all(text, **target)
        return len(compiled)

    def add(line):
        with record.open("a") as file:
            file.write(json.dumps(line) + "\n")

    @contextlib.contextmanager
    def warned(text):
        """Nobody is told of lines twice; who finds code in the cache is told as well."""
        with pytest.warns(UserWarning) as caught:
            yield
        messages = [str(one.message) for one in caught]
        assert len(messages) == 1 and re.search(text, messages[0]), messages

    assert misses(first) == misses(second) == misses(first, target="cpu:x86-64-v3") == 1
    # A record for one of both, out of that of another plan and machine.
    kron.tune(product, np.ones((9, 12)), np.ones((3, 2)), np.ones((4, 4)), seconds=0.1)
    own = folder / "cache/records.jsonl"
    line = json.loads(own.read_text())
    own.unlink()
    add(line | {"target": line["target"] | {"processor": "another"}})
    add(line | {"plan": ""})
    whole = record.read_text()
    record.write_text(whole + "no record\n")
    with warned("rec.jsonl:3: no tuning record, skipped: .*Invalid JSON"):
        assert misses(first) == 0
    with warned("rec.jsonl:3: no tuning record, skipped: .*Invalid JSON"):
        assert misses(second, target="cpu:x86-64-v3") == 1
    record.write_text(whole)
    assert misses(first) == misses(second) == 0
    add(line | {"plan": "#kron.cpu_plan<vector_bits = 128>"})
    assert misses(first) == 1
    assert misses(first) == misses(second) == misses(first, target="cpu:x86-64-v3") == 0
    add(line | {"plan": "#kron.cpu_plan<vector_bits = 128, tile = 1>"})
    assert misses(first) == 1
    assert misses(second) == 0
    # As before: that code is still there.
    add(line | {"plan": ""})
    assert misses(first) == misses(second) == 0
    # A line that is written while something is compiled: its code is not kept for the lines before.
    add(line | {"plan": "#kron.cpu_plan<tile = 2>"})
    late.append(line | {"plan": "#kron.cpu_plan<tile = 3>"})
    assert misses(first) == 1
    add(line | {"plan": "#kron.cpu_plan<tile = 2>"})
    assert misses(first) == 1
    add(line | {"plan": ""})
    kron.tuning("off")
    assert misses(first) == 0
    kron.tuning("use")
    # Code that goes without its records is not kept: each process says so.
    add(line | {"plan": "#kron.cpu_plan<tiled_axis = 7>"})
    for _ in range(2):
        with warned("no tuning record is used: "):
            assert misses(first) == 1
    # Records are of a number of threads.
    add(line | {"plan": "#kron.cpu_plan<vector_bits = 256>"})
    threads = kron.get_num_threads()
    kron.set_num_threads(threads + 1)
    try:
        assert misses(first) == 0
    finally:
        kron.set_num_threads(threads)
    assert misses(first) == 1


def test_calls_get_records_of_contiguous_arrays(folder, monkeypatch):
    """Kernels of calls take arrays of any stride along rows."""
    module, sources = _compile.compiler(), []

    def noting(source, *arguments):
        sources.append(source)
        return compilation(source, *arguments)

    compilation = module.Compilation
    monkeypatch.setattr(module, "Compilation", noting)
    kron.cache.clear()
    x, factors = np.ones((2, 1024), np.float32), [np.eye(2, dtype=np.float32)] * 10
    np.testing.assert_array_equal(kron.mkm(x, factors), x)
    (source,) = sources
    recorded = compilation(source, ["znver4"], records=[module.shipped_records])
    plans, problems = recorded.recorded_plans()
    assert plans.startswith("cpu/znver4/") and "#kron.cpu_plan<" in plans and not problems
    with_plan, without = recorded.compile(), compilation(source, ["znver4"]).compile()
    assert with_plan["object"] != without["object"] and not with_plan["warnings"]


def test_lines_that_are_no_records_are_skipped(folder, monkeypatch):
    record = folder / "rec.jsonl"
    record.write_text('{"other": 1}\n[\n')
    monkeypatch.setenv("KRON_RECORDS", str(record))
    x, a = np.ones((3, 7)), np.ones((7, 2))
    for _ in range(2):
        with pytest.warns(UserWarning) as caught:
            found = kron.jit(lambda x, a: kron.mkm(x, [a]))(x, a)
        np.testing.assert_array_equal(found, x @ a)
        first, second = (str(one.message) for one in caught)
        assert "rec.jsonl:1: no tuning record, skipped: expects 'the record' to have" in first
        assert "rec.jsonl:2: no tuning record, skipped: " in second


def test_mode_of_the_environment(monkeypatch):
    monkeypatch.setitem(_records._state, "mode", None)
    monkeypatch.setenv("KRON_TUNE", "off")
    assert kron.tuning() == "off"
    monkeypatch.setitem(_records._state, "mode", None)
    monkeypatch.setenv("KRON_TUNE", "never")
    with pytest.warns(UserWarning, match="expects KRON_TUNE to be off, use or online, but got 'never'"):
        assert kron.tuning() == "use"


def test_bad_arguments(folder, monkeypatch):
    x, a, b = np.ones((5, 12)), np.ones((3, 2)), np.ones((4, 4))
    with pytest.raises(ValueError, match="expects mode to be 'off', 'use' or 'online', but got 'on'"):
        kron.tuning("on")
    with pytest.raises(ValueError, match="expects seconds to be a number above 0, but got 0"):
        kron.tuning("online", seconds=0)
    assert kron.tuning() == "use"
    with pytest.raises(ValueError, match="expects mode"):
        kron.tuning("on", seconds=5)
    assert _records.online_seconds() == 2
    for seconds in (0, -1, "1", True, float("nan")):
        with pytest.raises(ValueError, match="expects seconds to be a number above 0"):
            kron.tune(product, x, a, b, seconds=seconds)
    with pytest.raises(kron.CompileError, match="expects operations that take a plan"):
        kron.tune(lambda x: x + x, x)
    monkeypatch.setenv("KRON_CACHE", "0")
    with pytest.raises(ValueError, match="expects a cache for records"):
        kron.tune(product, x, a, b)
    with pytest.raises(ValueError, match="expects a cache for records"):
        kron.tuning("online")


@pytest.fixture
def online(folder, monkeypatch):
    """Tunes a moment for each operation. Gives operations and rows of the records that there are."""
    monkeypatch.setitem(_records._state, "seconds", 2.0)
    kron.tuning("online", seconds=0.2)

    def records():
        path = folder / "cache/records.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        keys = [json.loads(line)["key"] for line in lines]
        return [(key["op"], key["operands"][0], key.get("rows")) for key in keys]

    return records


def test_online_calls(online):
    # Shapes that no other test has kernels of in this process.
    x, a, b = np.ones((5, 77)), np.ones((7, 3)), np.ones((11, 2))
    np.testing.assert_array_equal(kron.mkm(x, [a, b]), x @ np.kron(a, b))
    assert online() == [("kron.mkm", "?x77xf64 strided<[?, 1], offset: ?>", [2, 16])]
    np.testing.assert_array_equal(kron.mkm(x, [a, b], alpha=2.0), 2 * x @ np.kron(a, b))
    assert len(online()) == 2
    # A kernel is tuned once, a record that is used lets no other be made.
    kron.mkm(np.ones((500, 77)), [a, b])
    assert len(online()) == 2
    for columns, count in ((77, 2), (66, 3), (66, 3)):
        # With contiguous rows the record is one, too.
        a = np.ones((columns // 11, 3))
        text = kron.jit(product).trace(kron.Spec(("m", columns), np.float64), a, b)
        _compile.compile_all(str(text), shapes=[(9, columns), a.shape, b.shape])
        assert len(online()) == count


def test_online_functions(online):
    x, a, b = np.ones((6, 65)), np.ones((5, 2)), np.ones((13, 3))
    np.testing.assert_array_equal(kron.jit(product)(x, a, b), x @ np.kron(a, b))
    assert online() == [("kron.mkm", "6x65xf64", None)]
    # What takes no plan, or no time, is left alone.
    np.testing.assert_array_equal(kron.jit(product)(x[:0], a, b), np.ones((0, 6)))
    np.testing.assert_array_equal(kron.jit(lambda x: x + x)(x), x + x)
    assert len(online()) == 1


def test_online_without_a_place_for_records(online, monkeypatch):
    monkeypatch.setenv("KRON_CACHE", "0")
    x, a = np.ones((6, 19)), np.ones((19, 2))
    with pytest.warns(UserWarning, match="kron cannot tune what is called: expects a cache"):
        np.testing.assert_array_equal(kron.jit(lambda x, a: kron.mkm(x, [a]))(x, a), x @ a)
