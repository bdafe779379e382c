"""Compiled kernels under AddressSanitizer or ThreadSanitizer.

The optimised LLVM IR of a module gets the sanitizer's attribute and goes through clang,
which instruments it; the worker runs with the sanitizer's runtime loaded first. The
library `libkron_runtime` should be built with the same one (--runtime).

SPDX-License-Identifier: MIT
"""

import ctypes
import os
import re
import subprocess

KINDS = ("address", "thread")
CLANG = os.environ.get("KRON_CLANG", "clang-22")
DEFINITION = re.compile(r"^(define .*?)((?: #\d+)? \{)$", re.M)
# The first report ends the process, so that it counts for the case that runs.
OPTIONS = {"address": ("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0"),
           "thread": ("TSAN_OPTIONS", "halt_on_error=1:exitcode=66:report_signal_unsafe=0")}


def link(kind, source, library):
    """Compiles LLVM IR to a shared library with the sanitizer's checks. None, or the
    error."""
    text = DEFINITION.sub(rf"\1 sanitize_{kind}\2", source.read_text())
    source.write_text(text)
    done = subprocess.run(
        [CLANG, "-x", "ir", source, "-shared", "-fPIC", f"-fsanitize={kind}", "-shared-libsan",
         "-O1", "-Wno-override-module", "-o", library], capture_output=True, text=True)
    return None if done.returncode == 0 else f"{CLANG}: {done.stderr.strip().splitlines()[0]}"


def environment(kind, suppressions):
    """Variables of a worker."""
    name = "asan" if kind == "address" else "tsan"
    done = subprocess.run([CLANG, f"-print-file-name=libclang_rt.{name}-x86_64.so"],
                          capture_output=True, text=True)
    variable, options = OPTIONS[kind]
    if kind == "thread":
        options += f":suppressions={suppressions}"
    return {"LD_PRELOAD": done.stdout.strip(), variable: options}


class Shield:
    """Makes memory around an array inaccessible while kernels run, where this process has
    AddressSanitizer."""

    def __init__(self):
        process = ctypes.CDLL(None)
        self.poison = getattr(process, "__asan_poison_memory_region", None)
        self.unpoison = getattr(process, "__asan_unpoison_memory_region", None)

    def _each(self, function, ranges):
        for begin, end in ranges:
            if function and end > begin:
                function(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin))

    def close(self, ranges):
        self._each(self.poison, ranges)

    def open(self, ranges):
        self._each(self.unpoison, ranges)


SHIELD = Shield()
