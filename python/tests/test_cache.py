"""The cache of kernels: across processes, damaged, foreign, full.

SPDX-License-Identifier: MIT
"""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import kron
from kron import cache

PROGRAM = """
import numpy as np, kron
x = np.arange(24.0).reshape(2, 12)
y = kron.mkm(x, [np.ones((3, 2)), np.eye(4)])
info = kron.cache.info()
print(float(y.sum()), info.hits, info.misses, info.rejected)
"""


def start(folder, **environment):
    environment = {**os.environ, "KRON_CACHE_DIR": str(folder), **environment}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process):
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return tuple(map(float, output.split()))


def entries(folder):
    return sorted(folder.glob("*.kernel"))


def test_between_processes(tmp_path):
    folder = tmp_path / "cache"
    assert finish(start(folder)) == (552, 0, 1, 0)
    assert len(entries(folder)) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entries(folder)[0].stat().st_mode) == 0o600
    assert finish(start(folder)) == (552, 1, 0, 0)


def test_sixteen_at_once(tmp_path):
    processes = [start(tmp_path / "cache") for _ in range(16)]
    results = [finish(process) for process in processes]
    assert {result[0] for result in results} == {552}
    assert len(entries(tmp_path / "cache")) == 1
    assert not list((tmp_path / "cache").glob("*.tmp"))


def damage(path, kind):
    data = bytearray(path.read_bytes())
    if kind == "flipped":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif kind == "truncated":
        path.write_bytes(data[:-100])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_bytes(b"not a kernel at all, but long enough to be one" * 9)
    elif kind == "writable":
        path.chmod(0o666)
    elif kind == "link":
        other = path.with_suffix(".other")
        path.rename(other)
        path.symlink_to(other)
    elif kind == "folder":
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize("kind", ["flipped", "truncated", "empty", "text", "writable", "link",
                                  "folder"])
def test_unusable_entry_is_rebuilt(tmp_path, kind):
    folder = tmp_path / "cache"
    finish(start(folder))
    damage(entries(folder)[0], kind)
    assert finish(start(folder)) == (552, 0, 0, 1)
    if kind != "folder":
        assert finish(start(folder)) == (552, 1, 0, 0)


def test_entry_under_another_key(tmp_path):
    folder = tmp_path / "cache"
    finish(start(folder))
    entry = entries(folder)[0]
    data = entry.read_bytes()
    os.environ["KRON_CACHE_DIR"] = str(folder)
    other = cache.make_key(text="another")
    (folder / (other + ".kernel")).write_bytes(data)
    assert cache.load(other) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_foreign_owner(tmp_path):
    folder = tmp_path / "cache"
    finish(start(folder))
    os.chown(entries(folder)[0], 12345, 12345)
    assert finish(start(folder)) == (552, 0, 0, 1)
    os.chown(folder, 12345, 12345)
    assert finish(start(folder))[:2] == (552, 0)


def test_turned_off(tmp_path):
    folder = tmp_path / "cache"
    assert finish(start(folder, KRON_CACHE="0"))[0] == 552
    assert not folder.exists()


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    assert finish(start(tmp_path / "file" / "cache"))[0] == 552


def test_size_is_capped(tmp_path, monkeypatch):
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("KRON_CACHE_SIZE", "0.01")
    keys = [cache.make_key(number=number) for number in range(5)]
    for age, key in enumerate(keys[:4]):
        cache.store(key, ["main"], bytes(3000))
        os.utime(tmp_path / (key + ".kernel"), (age + 1, age + 1))
    # Used last, whenever it was made: it stays.
    assert cache.load(keys[1]) is not None
    cache.store(keys[4], ["main"], bytes(3000))
    left = {path.stem for path in entries(tmp_path)}
    assert left == {keys[1], keys[3], keys[4]}
    assert cache.info().bytes <= cache.info().limit == int(0.01 * 2**20)


def test_info_and_clear(tmp_path, monkeypatch):
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path / "own"))
    assert kron.cache.info().entries == 0
    kron.mkm(np.ones((2, 5)), [np.ones((5, 7))])
    before = kron.cache.info()
    assert before.path == str(tmp_path / "own")
    kron.cache.clear()
    assert kron.cache.info().entries == 0
    assert kron.mkm(np.ones((2, 5)), [np.ones((5, 7))]).sum() == 70
    assert kron.cache.info().entries == 1
    assert kron.cache.clear() == 1
