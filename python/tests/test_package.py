"""The package's build: source distributions hold all that a build needs, and a build
says what is missing.

SPDX-License-Identifier: MIT
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import pytest

pytest.importorskip("scikit_build_core")

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
BACKEND = PACKAGE / "backend"


def backend(code, cwd, **environment):
    """Runs code that uses the backend as `backend`, as pip would: in a process of its own."""
    code = f"import sys; sys.path.insert(0, {str(BACKEND)!r}); import kron_build_backend as backend\n" \
        + code
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, text=True,
                          capture_output=True, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    """An unpacked source distribution."""
    if not (PACKAGE.parent / "CMakeLists.txt").exists():
        pytest.skip("this is a source distribution")
    folder = tmp_path_factory.mktemp("sdist")
    result = backend(f"backend.build_sdist({str(folder)!r})", PACKAGE)
    assert result.returncode == 0, result.stderr
    (archive,) = folder.glob("kron-*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder)
    return folder / archive.name.removesuffix(".tar.gz")


def files_of(root, *folders):
    return {path.relative_to(root).as_posix() for folder in folders
            for path in (root / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts}


def test_source_distribution_is_complete(distribution):
    repository = PACKAGE.parent
    for name in ("pyproject.toml", "PKG-INFO", "README.md", "backend/kron_build_backend.py"):
        assert (distribution / name).is_file()
    expected = files_of(repository, "include", "lib", "python/kron", "python/src", "python/tests")
    expected |= {"CMakeLists.txt", "LICENSE", "python/CMakeLists.txt"}
    missing = expected - files_of(distribution / "source", ".")
    assert not missing
    assert sum(f.stat().st_size for f in distribution.rglob("*") if f.is_file()) < 20e6


@pytest.mark.skipif(not (shutil.which("clang++-22") and shutil.which("ninja")),
                    reason="builds need clang 22 and Ninja")
def test_source_distribution_can_be_built(distribution):
    """As far as it goes without compiling: CMake accepts it, and every source is there."""
    code = (f"sys.path[0] = {str(distribution / 'backend')!r}; import importlib\n"
            "print(importlib.reload(backend)._settings(None)['cmake.source-dir'])")
    assert backend(code, distribution).stdout.strip() == "source"
    build = distribution / "build"
    configured = subprocess.run(
        ["cmake", "-G", "Ninja", "-S", distribution / "source", "-B", build,
         "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22",
         "-DKRON_BUILD_PYTHON=ON", "-DKRON_BUILD_TESTS=OFF", "-DKRON_PYTHON_STATIC=ON",
         f"-DPython_EXECUTABLE={sys.executable}"], text=True, capture_output=True)
    assert configured.returncode == 0, configured.stderr
    listed = subprocess.run(["ninja", "-C", build, "-t", "inputs", "kron_python"], text=True,
                            capture_output=True, check=True).stdout.splitlines()
    sources = [path for path in listed if path.startswith(str(distribution / "source"))]
    assert str(distribution / "source/python/src/Compiler.cpp") in sources
    # Without them the module links as well, and cannot be imported.
    linked = subprocess.run(["ninja", "-C", build, "-t", "commands", "kron_python"], text=True,
                            capture_output=True, check=True).stdout
    assert "libLLVMCore.a" in linked and "libMLIRIR.a" in linked
    assert len(sources) > 100 and not [path for path in sources if not os.path.exists(path)]


def test_a_build_says_what_is_missing(tmp_path):
    (tmp_path / "wheel").mkdir()
    result = backend(f"backend.build_wheel({str(tmp_path / 'wheel')!r})", PACKAGE,
                     PATH=str(tmp_path), CXX="")
    assert result.returncode != 0
    for text in ("kron cannot be built here", "clang++-22", "lld", "LLVM 22", "apt-get install",
                 "libmlir-22-dev"):
        assert text in result.stderr
    assert "Traceback" not in result.stderr
    assert not list((tmp_path / "wheel").iterdir())
