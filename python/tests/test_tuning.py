"""kron.tune, kron.tuning, and kernels that are compiled with records.

SPDX-License-Identifier: MIT
"""

import json

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
    assert path.exists() == bool(found.plan)
    if found.plan:
        assert json.loads(path.read_text())["plan"] == found.plan
    np.testing.assert_array_equal(kron.jit(product)(x, a, b), x @ np.kron(a, b))


def test_records_are_found(folder, monkeypatch):
    record = folder / "rec.jsonl"
    monkeypatch.setenv("KRON_RECORDS", str(record))
    module = _compile.compiler()
    with pytest.warns(UserWarning, match="kron uses no tuning records of .*rec.jsonl': No such file"):
        assert _records.files(module) == ([], None)
    record.write_text("{}\n")
    files, first = _records.files(module)
    assert files == [str(record)]
    # The key of compiled kernels follows the contents.
    record.write_text("{} \n")
    assert _records.files(module)[1] != first
    assert kron.tuning("off") == "use"
    assert _records.files(module) == ([], None)


def test_lines_that_are_no_records_are_skipped(folder, monkeypatch):
    record = folder / "rec.jsonl"
    record.write_text('{"other": 1}\n[\n')
    monkeypatch.setenv("KRON_RECORDS", str(record))
    x, a = np.ones((3, 7)), np.ones((7, 2))
    np.testing.assert_array_equal(kron.jit(lambda x, a: kron.mkm(x, [a]))(x, a), x @ a)


def test_mode_of_the_environment(monkeypatch):
    monkeypatch.setitem(_records._state, "mode", None)
    monkeypatch.setenv("KRON_TUNE", "off")
    assert kron.tuning() == "off"
    monkeypatch.setitem(_records._state, "mode", None)
    monkeypatch.setenv("KRON_TUNE", "online")
    with pytest.warns(UserWarning, match="expects KRON_TUNE to be off or use, but got 'online'"):
        assert kron.tuning() == "use"


def test_bad_arguments(folder, monkeypatch):
    x, a, b = np.ones((5, 12)), np.ones((3, 2)), np.ones((4, 4))
    with pytest.raises(ValueError, match="expects mode to be 'off' or 'use', but got 'on'"):
        kron.tuning("on")
    for seconds in (0, -1, "1", True, float("nan")):
        with pytest.raises(ValueError, match="expects seconds to be a number above 0"):
            kron.tune(product, x, a, b, seconds=seconds)
    with pytest.raises(kron.CompileError, match="expects operations that take a plan"):
        kron.tune(lambda x: x + x, x)
    monkeypatch.setenv("KRON_CACHE", "0")
    with pytest.raises(ValueError, match="expects a cache for records"):
        kron.tune(product, x, a, b)
