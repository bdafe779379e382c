#!/bin/sh
# Installs what is missing on a Debian 12 machine and builds kron in ./build.
#
# usage: tools/setup.sh [NINJA-TARGET...]
#
# Debian packages come from apt (with sudo when not root), Python packages from
# PyPI into build/venv. Nothing is installed twice: with everything in place this
# needs neither network nor sudo. KRON_BUILD_DIR names another build folder.
set -eu
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
build=${KRON_BUILD_DIR:-$root/build}

packages="clang-22 lld-22 llvm-22 llvm-22-dev llvm-22-tools libmlir-22-dev
mlir-22-tools cmake ninja-build ccache git libtbb-dev libomp-22-dev libgtest-dev
libopenmpi-dev openmpi-bin python3 python3-dev python3-venv ca-certificates"

say() { echo "setup: $*"; }
die() { echo "setup: error: $*" >&2; exit 1; }

install_packages() {
  missing=
  for package in $packages; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=
    [ "$status" = installed ] || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  say "installing$missing"
  if [ "$(id -u)" = 0 ]; then
    sudo=
  elif command -v sudo >/dev/null; then
    sudo=sudo
  else
    die "expects to run as root or to find sudo; or install by hand:" \
        "apt-get install$missing"
  fi
  $sudo apt-get update -qq ||
    die "apt-get update failed (see above); expects root rights, a network and Debian 12's package sources"
  for package in $missing; do
    apt-cache show "$package" >/dev/null 2>&1 ||
      die "apt does not know $package; expects Debian 12 with its security" \
          "updates (suite bookworm-security) among its package sources"
  done
  $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >"$build/apt.log" 2>&1 || {
    tail -n 20 "$build/apt.log" >&2
    die "apt-get install failed; the log is $build/apt.log"
  }
}

install_python_packages() {
  requirements=$root/tools/requirements.txt
  cmp -s "$requirements" "$build/venv/requirements.txt" && return 0
  say "installing the Python packages of tools/requirements.txt"
  # Debian's own interpreter, whatever else is first in PATH.
  /usr/bin/python3 -m venv --clear "$build/venv"
  "$build/venv/bin/pip" install -q --disable-pip-version-check --no-compile --no-deps \
    -r "$requirements" ||
    die "pip install failed; expects a network and PyPI"
  cp "$requirements" "$build/venv/requirements.txt"
}

configure() {
  if [ -f "$build/build.ninja" ] &&
     grep -q "^KRON_BUILD_PYTHON:BOOL=ON" "$build/CMakeCache.txt"; then
    return 0
  fi
  say "configuring"
  # Most of the time goes into reading MLIR's headers; -O1 is enough for the rest,
  # which generates code but is not the code that it generates.
  cmake -G Ninja -S "$root" -B "$build" \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld \
    -DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld \
    -DKRON_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$build/venv/bin/python" \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" >"$build/configure.log" 2>&1 || {
    tail -n 20 "$build/configure.log" >&2
    die "cmake failed; the log is $build/configure.log"
  }
}

mkdir -p "$build"
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  install_packages
else
  say "this is not Debian: expects LLVM/MLIR 22, CMake, Ninja and Python 3 in place"
fi
install_python_packages
configure
say "building (the first time takes some minutes)"
ninja -C "$build" "$@" || die "the build failed"
