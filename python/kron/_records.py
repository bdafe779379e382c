"""Which tuning records kernels are compiled with.

SPDX-License-Identifier: MIT
"""

import os
import warnings

_MODES = ("off", "use", "online")
#: What holds from now on; seconds: what each operation is tuned for online.
_state = {"mode": None, "seconds": 2.0}


def mode():
    """"use", "off" or "online"."""
    if _state["mode"] is None:
        given = os.environ.get("KRON_TUNE", "use")
        if given not in _MODES:
            warnings.warn(f"expects KRON_TUNE to be off, use or online, but got {given!r}",
                          stacklevel=3)
            given = "use"
        _state["mode"] = given
    return _state["mode"]


def check_mode(value):
    if value not in _MODES:
        raise ValueError(f"expects mode to be 'off', 'use' or 'online', but got {value!r}")


def set_mode(value):
    _state["mode"] = value


def online_seconds():
    return _state["seconds"]


def check_seconds(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"expects seconds to be a number above 0, but got {value!r}")
    return float(value)


def set_online_seconds(value):
    _state["seconds"] = check_seconds(value)


def output(compiler):
    """The file that records are added to."""
    path = compiler.user_record_file()
    if not path:
        raise ValueError("expects a cache for records, but KRON_CACHE=0 turns it off")
    return path


def files(compiler):
    """Files of records that can be read, and the name of those that are part of kron."""
    readable = []
    for path in compiler.record_files() if mode() != "off" else []:
        if path == compiler.shipped_records:
            readable.append(path)
            continue
        try:
            with open(path, "rb"):
                readable.append(path)
        except OSError as error:
            warnings.warn(f"kron uses no tuning records of {path!r}: {error.strerror}", stacklevel=3)
    return readable
