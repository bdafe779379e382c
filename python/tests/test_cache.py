"""The cache of kernels: across processes, damaged, foreign, full.

SPDX-License-Identifier: MIT
"""

import hashlib
import os
import stat
import struct
import subprocess
import sys

import numpy as np
import pytest

import kron
from kron import _compile, cache

#: Seconds after which a process is taken to hang, however busy the machine.
HANGS = 1800

PROGRAM = """
import numpy as np, kron
x = np.arange(24.0).reshape(2, 12)
y = kron.mkm(x, [np.ones((3, 2)), np.eye(4)])
assert (y == x @ np.kron(np.ones((3, 2)), np.eye(4))).all()
info = kron.cache.info()
print(float(y.sum()), info.hits, info.misses, info.rejected)
"""


def start(folder, **environment):
    environment = {**os.environ, "KRON_CACHE_DIR": str(folder), **environment}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process):
    output, errors = process.communicate(timeout=HANGS)
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
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".kernel"]


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
    elif kind == "fifo":
        path.unlink()
        os.mkfifo(path, 0o600)
    elif kind == "huge":
        path.write_bytes(data)
        os.truncate(path, 2**40)


@pytest.mark.parametrize("kind", ["flipped", "truncated", "empty", "text", "writable", "link",
                                  "folder", "fifo", "huge"])
def test_unusable_entry_is_rebuilt(tmp_path, kind):
    folder = tmp_path / "cache"
    finish(start(folder))
    damage(entries(folder)[0], kind)
    assert finish(start(folder)) == (552, 0, 0, 1)
    if kind != "folder":
        assert finish(start(folder)) == (552, 1, 0, 0)


#: Headers of entries whose checksum is right.
HEADERS = {
    "no header": b"",
    "deep": b"[" * 100000,
    "a list": b'["key", "names"]',
    "no names": b'{"key": "KEY"}',
    "null": b'{"key": "KEY", "names": null}',
    "text for names": b'{"key": "KEY", "names": "main"}',
    "empty names": b'{"key": "KEY", "names": []}',
    "numbers": b'{"key": "KEY", "names": [1, 2]}',
    "nested": b'{"key": "KEY", "names": [["main"]]}',
    "a dictionary": b'{"key": "KEY", "names": {"main": 1}}',
    "half a character": b'{"key": "KEY", "names": ["main\\ud800"]}',
    "a zero": b'{"key": "KEY", "names": ["main\\u0000"]}',
    "twice": b'{"key": "KEY", "names": ["main", "main"]}',
    "not UTF-8": b'{"key": "KEY", "names": ["\xff"]}',
    "another function": b'{"key": "KEY", "names": ["other"]}',
    "one more function": b'{"key": "KEY", "names": ["main", "other"]}',
}


def rewrite(path, header):
    """Replaces the header of an entry, whose code and checksum stay right."""
    payload = path.read_bytes()[40:]
    (size,) = struct.unpack_from("<I", payload)
    header = header.replace(b"KEY", path.stem.encode())
    payload = struct.pack("<I", len(header)) + header + payload[4 + size:]
    path.write_bytes(b"KRONKC1\n" + hashlib.sha256(payload).digest() + payload)


@pytest.mark.parametrize("kind", HEADERS)
def test_unusable_header_is_rebuilt(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path))
    text = "func.func @main(%x: memref<4xf32>) { return }"
    assert list(_compile.compile_all(text)) == ["main"]
    (entry,) = entries(tmp_path)
    good = entry.read_bytes()
    rewrite(entry, HEADERS[kind])
    before = cache.info()
    assert list(_compile.compile_all(text)) == ["main"]
    # Names that are names, but not of the code, come out when it is loaded.
    counted = "hits" if kind.endswith("function") else "rejected"
    assert getattr(cache.info(), counted) == getattr(before, counted) + 1
    assert entry.read_bytes() == good


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


@pytest.mark.parametrize("mode, used", [(0o755, True), (0o777, False), (0o1777, False)])
def test_folder_with_other_uses(tmp_path, mode, used):
    """Its mode and its other files stay; where others can write, there is no cache."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    old = folder / "other.tmp"
    old.write_text("")
    os.utime(old, (1, 1))
    assert finish(start(folder))[0] == 552
    assert stat.S_IMODE(folder.stat().st_mode) == mode and old.exists()
    assert len(entries(folder)) == used


def test_calibrations_are_of_the_same_cache(tmp_path, monkeypatch):
    """Where others can write, none of kron's files is used, and one warning names the folder."""
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path / "shared"))
    (tmp_path / "shared").mkdir(mode=0o700)
    compiler = _compile.compiler()
    assert compiler.user_record_file() == str(tmp_path / "shared/records.jsonl")
    assert cache.info().path == compiler.cache_folder() == str(tmp_path / "shared")
    (tmp_path / "shared").chmod(0o777)
    assert compiler.user_record_file() == ""
    with pytest.warns(UserWarning, match="does not use the cache .*shared: others can write there"):
        assert cache.info().entries == 0


def test_default_folder_is_private(tmp_path):
    folder = tmp_path / "kron"
    folder.mkdir(mode=0o755)
    environment = {"XDG_CACHE_HOME": str(tmp_path), "KRON_CACHE_DIR": ""}
    assert finish(start("", **environment)) == (552, 0, 1, 0)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert finish(start("", **environment)) == (552, 1, 0, 0)


def test_remains_of_dead_processes_go(tmp_path, monkeypatch):
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path))
    dead, alive = tmp_path / ".kron-dead", tmp_path / ".kron-alive"
    for path in (dead, alive):
        path.write_text("")
    os.utime(dead, (1, 1))
    cache.store(cache.make_key(number=1), ["main"], b"code")
    assert alive.exists() and not dead.exists()


def test_turned_off(tmp_path):
    folder = tmp_path / "cache"
    assert finish(start(folder, KRON_CACHE="0"))[0] == 552
    assert not folder.exists()


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    assert finish(start(tmp_path / "file" / "cache"))[0] == 552


def misses_after(change, target="cpu"):
    """Whether a kernel that is there is looked for in vain after `change`."""
    text = ("func.func @f(%x: tensor<?x4xf32>, %a: tensor<4x4xf32>, %y: tensor<?x4xf32>) -> "
            "tensor<?x4xf32> {\n%0 = kron.mkm ins(%x : tensor<?x4xf32>) factors(%a : "
            "tensor<4x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>\n"
            "return %0 : tensor<?x4xf32> }")
    _compile.compile_all(text, target=target)
    before = cache.info()
    _compile.compile_all(text, target=target)
    assert cache.info().hits == before.hits + 1
    change()
    _compile.compile_all(text, target=target)
    return cache.info().misses - before.misses


@pytest.mark.parametrize("part", ["kron", "LLVM", "its files", "processor"])
def test_key_holds_compiler_and_processor(tmp_path, monkeypatch, part):
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path))
    number = ["kron", "LLVM", "its files", "processor"].index(part)

    def change():
        identity = list(_compile._identity())
        identity[number] = "another"
        monkeypatch.setitem(_compile._state, "identity", identity)

    assert misses_after(change) == 1
    # What makes them up is what it should be.
    monkeypatch.setitem(_compile._state, "identity", None)
    version, llvm, files, host = _compile._identity()
    assert version == kron.__version__ and llvm.startswith("22.")
    assert all(os.path.getsize(path) == size for path, size, _ in files)
    assert "+sse2" in host or "+neon" in host


def test_key_holds_driver_and_assembler(tmp_path, monkeypatch):
    monkeypatch.setenv("KRON_CACHE_DIR", str(tmp_path))

    def change():
        monkeypatch.setattr(_compile, "_driver_version", lambda: [99999, "another"])

    assert misses_after(change, "cuda:sm_90a") == 1
    # Kernels for processors do not depend on a driver.
    assert misses_after(lambda: monkeypatch.setattr(_compile, "_driver_version", list)) == 0


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


@pytest.mark.parametrize("size", ["-3", "many", "nan", "inf", "1e999"])
def test_bad_size(size, monkeypatch):
    monkeypatch.setenv("KRON_CACHE_SIZE", size)
    with pytest.warns(UserWarning, match=f"expects KRON_CACHE_SIZE .* but got '{size}'"):
        assert cache.info().limit == 256 * 2**20


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
