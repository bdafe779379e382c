"""The build backend: scikit-build-core, for a package whose sources lie above it.

The C++ sources are the repository's, outside of python/. A source distribution carries
them in `source/` and is built from there. Before anything is compiled, all that is
missing for it on the machine is said at once.

SPDX-License-Identifier: MIT
"""

import os
import pathlib
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile

from scikit_build_core import build as _build
from scikit_build_core.build import (  # noqa: F401, hooks as they are
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
#: What of the repository a build needs; python/ itself comes with the package.
SOURCES = ("CMakeLists.txt", "LICENSE", "docs/CMakeLists.txt", "include", "lib", "tools")
#: What lies at the top of a source distribution.
TOP = ("PKG-INFO", "README.md", "backend", "pyproject.toml")
DEBIAN = ("clang-22 lld-22 llvm-22-dev libmlir-22-dev libtbb-dev python3-dev")


# --- what has to be there ------------------------------------------------------------


def _llvm_prefix():
    program = shutil.which("llvm-config-22") or shutil.which("llvm-config")
    if not program:
        return None
    return pathlib.Path(subprocess.run([program, "--prefix"], text=True, check=True,
                                       stdout=subprocess.PIPE).stdout.strip())


def find_missing():
    """Lines about what a build needs and this machine lacks."""
    missing = []
    if not (os.environ.get("CXX") or shutil.which("clang++-22")):
        missing.append("the compiler clang++-22, or another one in CC and CXX")
    if not any(map(shutil.which, ("ld.lld-22", "ld.lld", "lld-22"))):
        missing.append("the linker lld")
    prefix = _llvm_prefix()
    if prefix is None:
        missing.append("LLVM 22 with its headers and static libraries (llvm-config-22)")
    else:
        for what, path in (("LLVM 22's static libraries", "lib/libLLVMCore.a"),
                           ("MLIR 22", "lib/cmake/mlir/MLIRConfig.cmake"),
                           ("MLIR 22's static libraries", "lib/libMLIRIR.a")):
            if not (prefix / path).exists():
                missing.append(f"{what} ({prefix / path})")
    header = pathlib.Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        missing.append(f"Python's headers ({header})")
    if not any(pathlib.Path(folder, "tbb/tbb.h").exists()
               for folder in ("/usr/include", "/usr/local/include",
                              *os.environ.get("CPATH", "").split(":"))) \
            and not (os.environ.get("TBB_DIR") or os.environ.get("CMAKE_PREFIX_PATH")):
        missing.append("oneTBB (tbb/tbb.h)")
    return missing


def _check_machine():
    missing = find_missing()
    if missing:
        raise SystemExit("kron cannot be built here: expects " + "; ".join(missing) + ".\n"
                         f"On Debian 12, as root: apt-get install {DEBIAN}\n"
                         "A wheel that was built elsewhere (pip wheel ./python) needs none of "
                         "them.")


# --- hooks ---------------------------------------------------------------------------


def _settings(config_settings):
    settings = dict(config_settings or {})
    if (PACKAGE / "source").is_dir():
        settings.setdefault("cmake.source-dir", "source")
        settings.setdefault("wheel.packages", "source/python/kron")
        settings.setdefault("build-dir", "build/{wheel_tag}")
    return settings


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _check_machine()
    return _build.build_wheel(wheel_directory, _settings(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _check_machine()
    return _build.build_editable(wheel_directory, _settings(config_settings), metadata_directory)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return _build.prepare_metadata_for_build_wheel(metadata_directory, _settings(config_settings))


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    return _build.prepare_metadata_for_build_editable(metadata_directory,
                                                      _settings(config_settings))


def _is_source(member):
    parts = pathlib.PurePath(member.name).parts
    return member if "__pycache__" not in parts else None


def build_sdist(sdist_directory, config_settings=None):
    """scikit-build-core's, with the package under source/python and the rest of the
    sources beside it."""
    if (PACKAGE / "source").is_dir():
        return _build.build_sdist(sdist_directory, config_settings)
    with tempfile.TemporaryDirectory() as folder:
        name = _build.build_sdist(folder, config_settings)
        root = name.removesuffix(".tar.gz")
        with tarfile.open(pathlib.Path(folder, name)) as plain, \
                tarfile.open(pathlib.Path(sdist_directory, name), "w:gz",
                             format=tarfile.PAX_FORMAT) as full:
            for member in plain.getmembers():
                inner = pathlib.PurePath(member.name).relative_to(root)
                if inner.parts and inner.parts[0] not in TOP:
                    member.name = f"{root}/source/python/{inner}"
                full.addfile(member, plain.extractfile(member) if member.isfile() else None)
            for path in SOURCES:
                full.add(PACKAGE.parent / path, f"{root}/source/{path}", filter=_is_source)
    return name
