"""kron: a compiler for Kronecker-structured linear algebra.

SPDX-License-Identifier: MIT
"""

from kron import _core
from kron._core import batched, get_num_threads, kmm, ksmm, ksmm_chain, mkm, set_num_threads
from kron._errors import CompileError

__version__ = _core.runtime_version()

__all__ = [
    "CompileError",
    "batched",
    "get_num_threads",
    "kmm",
    "ksmm",
    "ksmm_chain",
    "mkm",
    "set_num_threads",
]


_LAZY = ("cache", "compat", "gpytorch", "ir", "nn", "torch")


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return importlib.import_module("kron." + name)
    raise AttributeError(f"module 'kron' has no attribute '{name}'")


def __dir__():
    return sorted(set(globals()) | set(_LAZY))


def _compile_call(description):
    from kron import _build

    return _build.build(description)


def _fall_back(name, args, kwargs):
    from kron import _fallback

    return _fallback.call(name, args, kwargs)


_core.set_hooks(_compile_call, _fall_back)
