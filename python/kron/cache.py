"""The cache of compiled kernels, shared by processes and kept between them.

An entry is a file with the object code of one module, named by the SHA-256 of
everything that the code depends on. Code out of a file is executed, so an entry
counts only if this user owns it, nobody else can write it, and its checksum and
key are right; anything else is compiled again and replaced. Files are written
under another name and renamed, so readers never see half of one.

Environment: KRON_CACHE=0 turns the cache off, KRON_CACHE_DIR says where it is,
KRON_CACHE_SIZE how many megabytes it may take (256, also with a value that is no such
number, of which a warning tells); the entries that were not used for the longest time go
first.

SPDX-License-Identifier: MIT
"""

import hashlib
import json
import math
import os
import stat
import struct
import tempfile
import time
import warnings
from dataclasses import dataclass

_MAGIC = b"KRONKC1\n"
_SUFFIX = ".kernel"
_TEMPORARY = ".kron-"
_DEFAULT_MEGABYTES = 256
_STALE_SECONDS = 3600
#: No module has as much code.
_MOST_BYTES = 2**30

_counts = {"hits": 0, "misses": 0, "rejected": 0}


@dataclass(frozen=True)
class Info:
    """What kron.cache.info() returns."""

    path: str
    enabled: bool
    entries: int
    bytes: int
    limit: int
    #: Of this process: entries used, entries that were not there, and files that
    #: were damaged or belonged to somebody else.
    hits: int
    misses: int
    rejected: int


def _enabled():
    return os.environ.get("KRON_CACHE", "1") != "0"


def _path():
    # Calibrations and tuning records, which are the compiler's, are kept there too.
    from kron import _compile

    return _compile.compiler().cache_folder()


def _limit():
    text = os.environ.get("KRON_CACHE_SIZE", "")
    try:
        megabytes = float(text) if text else _DEFAULT_MEGABYTES
    except ValueError:
        megabytes = math.nan
    if not 0 <= megabytes < math.inf:
        megabytes = _DEFAULT_MEGABYTES
        warnings.warn(f"expects KRON_CACHE_SIZE to be a number of megabytes, but got {text!r}",
                      stacklevel=2)
    return int(megabytes * 2**20)


def _open_folder(create):
    """The folder, private to this user; None if it cannot be or is not there."""
    path = _path()
    if not _enabled() or not path:
        return None
    if create:
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
        except OSError:
            return None
    from kron import _compile

    if problem := _compile.compiler().cache_problem():
        warnings.warn(problem, stacklevel=3)
        return None
    return path if os.path.isdir(path) else None


def make_key(**parts):
    """The name of an entry."""
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read_private(path):
    """Contents of a file that only this user can have written."""
    # Without O_NONBLOCK, opening a FIFO waits for somebody who writes to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if (not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid()
                or status.st_mode & 0o022 or status.st_size > _MOST_BYTES):
            raise ValueError("not private, or not an entry")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def _pack(key, names, code):
    header = json.dumps({"key": key, "names": names}).encode()
    payload = struct.pack("<I", len(header)) + header + code
    return _MAGIC + hashlib.sha256(payload).digest() + payload


def _are_names(names):
    return (isinstance(names, list) and bool(names)
            and all(isinstance(name, str) and name.isascii() and name.isidentifier()
                    for name in names) and len(set(names)) == len(names))


def _unpack(key, data):
    start = len(_MAGIC) + 32
    payload = data[start:]
    if data[:len(_MAGIC)] != _MAGIC or len(payload) < 4:
        raise ValueError("not an entry")
    if hashlib.sha256(payload).digest() != data[len(_MAGIC):start]:
        raise ValueError("wrong checksum")
    (size,) = struct.unpack_from("<I", payload)
    header = json.loads(payload[4:4 + size])
    if header["key"] != key:
        raise ValueError("another entry")
    if not _are_names(header["names"]):
        raise ValueError("wrong names")
    return header["names"], payload[4 + size:]


def load(key):
    """(names of kernels, object code) of an entry, or None."""
    folder = _open_folder(create=False)
    if folder is None:
        _counts["misses"] += _enabled()
        return None
    path = os.path.join(folder, key + _SUFFIX)
    try:
        entry = _unpack(key, _read_private(path))
        os.utime(path)
    except FileNotFoundError:
        _counts["misses"] += 1
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        _counts["rejected"] += 1
        return None
    _counts["hits"] += 1
    return entry


def discard(key):
    """Removes an entry that turned out to be unusable."""
    try:
        os.unlink(os.path.join(_path(), key + _SUFFIX))
    except OSError:
        pass


def store(key, names, code):
    """Writes an entry; a cache that cannot be written is as good as none."""
    folder = _open_folder(create=True)
    if folder is None or not names:
        return
    data = _pack(key, names, code)
    if len(data) > _limit():
        return
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, os.path.join(folder, key + _SUFFIX))
    except OSError:
        if temporary:
            try:
                os.unlink(temporary)
            except OSError:
                pass
        return
    _evict(folder)


def _entries(folder):
    """(time of last use, bytes, path) of every entry."""
    found = []
    try:
        with os.scandir(folder) as items:
            for item in items:
                temporary = item.name.startswith(_TEMPORARY)
                if not temporary and not item.name.endswith(_SUFFIX):
                    continue
                try:
                    status = item.stat(follow_symlinks=False)
                except OSError:
                    continue
                if temporary:
                    # Left by a process that died.
                    if time.time() - status.st_mtime > _STALE_SECONDS:
                        _remove(item.path)
                    continue
                found.append((status.st_mtime, status.st_size, item.path))
    except OSError:
        pass
    return sorted(found)


def _remove(path):
    try:
        os.unlink(path)
        return True
    except OSError:
        return False


def _evict(folder):
    entries = _entries(folder)
    total = sum(size for _, size, _ in entries)
    limit = _limit()
    for _, size, path in entries:
        if total <= limit:
            break
        if _remove(path):
            total -= size


def info():
    """Where the cache is, what it holds, and what this process did with it."""
    folder = _open_folder(create=False)
    entries = _entries(folder) if folder else []
    return Info(path=_path(), enabled=_enabled(), entries=len(entries),
                bytes=sum(size for _, size, _ in entries), limit=_limit(), **_counts)


def clear():
    """Removes all entries, and the kernels in this process; returns how many entries
    there were."""
    from kron import _core

    _core.forget_kernels()
    folder = _open_folder(create=False)
    return sum(_remove(path) for _, _, path in _entries(folder)) if folder else 0
