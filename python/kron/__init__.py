"""kron: a compiler for Kronecker-structured linear algebra.

SPDX-License-Identifier: MIT
"""

from kron import _core, _fork
from kron._core import (allow_cublas, get_num_threads, is_cublas_allowed, release_memory,
                        set_num_threads)
from kron._errors import CompileError
from kron._functions import batched, kmm, ksmm, ksmm_chain, mkm

__version__ = _core.runtime_version()

__all__ = [
    "CompileError",
    "Spec",
    "allow_cublas",
    "batched",
    "cache",
    "compile",
    "explain",
    "get_num_threads",
    "ir",
    "is_cublas_allowed",
    "jit",
    "kernels",
    "kmm",
    "ksmm",
    "ksmm_chain",
    "load",
    "mkm",
    "quantize",
    "release_memory",
    "rotations",
    "set_num_threads",
    "tune",
    "tuning",
]


# Modules, and functions of modules, that are loaded when they are first used.
_MODULES = ("cache", "compat", "distributed", "gpytorch", "ir", "kernels", "nn", "rotations", "sklearn",
            "torch")
_FUNCTIONS = {"Spec": "_jit", "compile": "_jit", "jit": "_jit", "load": "_jit",
              "explain": "_explain", "quantize": "_quantize", "tune": "_tuning",
              "tuning": "_tuning"}


def __getattr__(name):
    import importlib

    if name in _MODULES:
        return importlib.import_module("kron." + name)
    if name in _FUNCTIONS:
        return getattr(importlib.import_module("kron." + _FUNCTIONS[name]), name)
    raise AttributeError(f"module 'kron' has no attribute '{name}'")


def __dir__():
    return sorted(set(globals()) | set(_MODULES) | set(_FUNCTIONS))


def _compile_call(program, device, shapes, factors):
    with _fork.imports:
        from kron import _build, _compile  # noqa: F401, what building a kernel needs

    return _build.build(program, device, shapes, factors)


def _fall_back(name, args, kwargs):
    with _fork.imports:
        from kron import _fallback

    return _fallback.call(name, args, kwargs)


_core.set_hooks(_compile_call, _fall_back)
