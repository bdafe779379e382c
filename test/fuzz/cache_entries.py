"""Damaged entries in the cache of kernels: each is refused or what was stored.

usage: cache_entries.py --seconds N --runs N --seed N   (with the package in PYTHONPATH)

An entry is changed byte by byte, or its header is, with a checksum that is right
again. `kron.cache.load` must not raise, and must not take what is no entry; where
names of kernels are wrong, the kernel has to be compiled again. Ends with the counts
that kron-fuzz prints; on a failure the entry is in $KRON_FUZZ_STATE.input.

SPDX-License-Identifier: MIT
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import struct
import sys
import tempfile
import time

TEXT = """
func.func @mkm(%x: tensor<?x4xf32>, %f: tensor<2x2xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %init = tensor.empty(%rows) : tensor<?x4xf32>
  %y = kron.mkm ins(%x : tensor<?x4xf32>) factors(%f, %f : tensor<2x2xf32>, tensor<2x2xf32>)
         outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""
VALUES = (None, True, 0, -1, 2**70, 1.5, "", "mkm", "x" * 300, "\0", "\ud800", [], ["mkm"], {},
          [["mkm"]], {"mkm": 1}, [None], ["mkm", "mkm"], ["no_such_kernel"])


def mutate_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        where = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del data[where:where + rng.randint(1, 64)]
        elif kind == 1:
            data[where:where] = rng.randbytes(rng.randint(1, 16))
        elif kind == 2 and where < len(data):
            data[where] ^= 1 << rng.randrange(8)
        else:
            del data[where:]
    return bytes(data)


def mutate_header(rng, header):
    """Another header, as bytes."""
    header = dict(header)
    kind = rng.randrange(6)
    if kind == 0:
        return mutate_bytes(rng, json.dumps(header).encode())
    if kind == 1:
        return b"[" * rng.choice((10, 1000, 200_000))
    if kind == 2:
        header.pop(rng.choice(list(header)))
    else:
        header[rng.choice([*header, "more"])] = rng.choice(VALUES)
    if kind == 3:
        return json.dumps(rng.choice(VALUES)).encode()
    return json.dumps(header).encode()


class Entry:
    """An entry as kron writes it, taken apart."""

    def __init__(self, magic, data):
        self.magic, self.data = magic, data
        payload = data[len(magic) + 32:]
        (size,) = struct.unpack_from("<I", payload)
        self.header, self.code = json.loads(payload[4:4 + size]), payload[4 + size:]

    def with_header(self, rng):
        """Another header and the code that was stored, with a checksum."""
        header = mutate_header(rng, self.header)
        size = len(header) if rng.random() < 0.9 else rng.choice((0, 1, 2**31, 2**32 - 1))
        payload = struct.pack("<I", size) + header + self.code
        return self.magic + hashlib.sha256(payload).digest() + payload


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    state = os.environ.get("KRON_FUZZ_STATE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KRON_CACHE_DIR"] = folder
        from kron import _compile, cache

        _compile.compile_all(TEXT)
        (path,) = pathlib.Path(folder).glob("*.kernel")
        entry, key = Entry(cache._MAGIC, path.read_bytes()), path.stem
        rng = random.Random(options.seed)
        end = time.monotonic() + options.seconds
        runs = accepted = 0
        while runs < options.runs and time.monotonic() < end:
            structured = rng.random() < 0.8
            data = entry.with_header(rng) if structured else mutate_bytes(rng, entry.data)
            if state:
                pathlib.Path(state + ".input").write_bytes(data)
            path.write_bytes(data)
            path.chmod(0o600)
            loaded = cache.load(key)
            runs += 1
            if loaded is None:
                continue
            accepted += 1
            names, code = loaded
            if not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
                sys.exit(f"cache_entries.py: fault: names {names!r} are taken from an entry")
            # The code of an entry may be trusted with its checksum, so only one that was
            # stored is run.
            if code == entry.code and list(_compile.compile_all(TEXT)) != ["mkm"]:
                sys.exit(f"cache_entries.py: fault: kernels of {names!r} instead of mkm")
        print(f"kron-fuzz: runs {runs}, parsed {accepted}, accepted {accepted}, "
              f"completed {accepted}")


if __name__ == "__main__":
    main()
