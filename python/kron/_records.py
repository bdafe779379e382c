"""Which tuning records kernels are compiled with.

SPDX-License-Identifier: MIT
"""

import hashlib
import os
import warnings

from kron import _core

_MODES = ("off", "use")
_state = {"mode": None}


def mode():
    """"use" or "off"."""
    if _state["mode"] is None:
        given = os.environ.get("KRON_TUNE", "use")
        if given not in _MODES:
            warnings.warn(f"expects KRON_TUNE to be off or use, but got {given!r}", stacklevel=3)
            given = "use"
        _state["mode"] = given
    return _state["mode"]


def set_mode(value):
    if value not in _MODES:
        raise ValueError(f"expects mode to be 'off' or 'use', but got {value!r}")
    _state["mode"] = value


def files(compiler):
    """Files of records, and what of them the code depends on: their contents, and the
    threads that records are of."""
    found = compiler.record_files() if mode() == "use" else []
    readable, digests = [], []
    for path in found:
        try:
            with open(path, "rb") as file:
                digests.append(hashlib.sha256(file.read()).hexdigest())
        except OSError as error:
            warnings.warn(f"kron uses no tuning records of {path!r}: {error.strerror}", stacklevel=3)
            continue
        readable.append(path)
    return readable, [digests, _core.get_num_threads()] if readable else None
