#!/bin/sh
# Builds one archive that runs on a Linux machine without LLVM: the slim tools, the
# libraries, the GPU test suite and the benchmark cases.
#
# usage: tools/bundle.sh [OUTPUT.tar.xz]
#
# Expects a build folder that tools/setup.sh configured (KRON_BUILD_DIR names another
# one). The archive needs glibc 2.35 and libstdc++ of GCC 12 or newer; its tests and
# benchmarks need Python 3 with NumPy, and a CUDA driver for what runs on a GPU. Where the
# build makes the Python package without shared LLVM (cmake -DKRON_BUILD_PYTHON=ON
# -DKRON_PYTHON_STATIC=ON -DPython_EXECUTABLE=...), the archive has that, its tests of
# GPUs and its benchmark of whole programs too, for the same minor version of Python; it is
# twice as large then.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${KRON_BUILD_DIR:-$root/build}
output=${1:-$build/kron-linux-x86_64.tar.xz}

say() { echo "bundle: $*"; }
die() { echo "bundle: error: $*" >&2; exit 1; }

[ -f "$build/build.ninja" ] || die "expects a build in $build; run tools/setup.sh first"
setting() { grep -q "^$1:BOOL=ON$" "$build/CMakeCache.txt"; }
python=
if setting KRON_BUILD_PYTHON && setting KRON_PYTHON_STATIC; then python=kron_python; fi
${KRON_NINJA:-ninja -C "$build"} kron-slim kron_runtime kron_runtime_static kron_nccl_tests $python

stage=$build/bundle/kron
rm -rf "$stage"
mkdir -p "$stage/lib"
for component in slim runtime; do
  cmake --install "$build" --component $component --prefix "$stage" --strip >/dev/null
done

strip -o "$stage/bin/kron-nccl-tests" "$build/bin/kron-nccl-tests"

# What the libraries need beyond the C and C++ libraries.
for library in libtbb.so.12 libzstd.so.1; do
  path=$(ldd "$stage"/lib/*.so | sed -n "s|.*$library => \([^ ]*\) .*|\1|p" | head -n 1)
  [ -n "$path" ] || die "cannot find $library"
  cp -L "$path" "$stage/lib/"
done

for folder in tools/kron-bench test/exec test/gpu docs/benchmarks/cases; do
  mkdir -p "$stage/$folder"
  cp -R "$root/$folder/." "$stage/$folder/"
done
if [ -n "$python" ]; then
  cmake --install "$build" --component python --prefix "$stage/python" --strip >/dev/null
  cp -R "$root/python/kron" "$stage/python/"
  mkdir -p "$stage/python/tests"
  cp -R "$root/python/tests/torch" "$stage/python/tests/"
  cp "$root/tools/bundle/run-python-tests.sh" "$root/tools/bundle/run-programs.sh" \
     "$root/tools/bundle/run-distributed-tests.sh" "$stage/"
  for name in host_time programs program_timing program_gp program_layers program_arrays program_kernels photograph \
              distributed distributed_model; do
    cp "$root/docs/benchmarks/$name.py" "$stage/docs/benchmarks/"
  done
  "$build/venv/bin/python" "$root/docs/benchmarks/photograph.py" \
    "$stage/docs/benchmarks/photograph.npy"
fi
mkdir -p "$stage/include/kron/Compiler"
cp "$root/include/kron/Compiler/Compiler.h" "$stage/include/kron/Compiler/"
find "$stage" -name __pycache__ -prune -exec rm -rf {} +
cp "$root/tools/bundle/README" "$root/tools/bundle/run-gpu-tests.sh" \
   "$root/tools/bundle/run-nccl-tests.sh" "$root/tools/bundle/run-benchmarks.sh" \
   "$root/tools/bundle/run-cpu-tests.sh" "$root/tools/bundle/run-cpu-benchmarks.sh" "$stage/"
for name in cpu.sh draw.py random_shapes.py; do
  cp "$root/docs/benchmarks/$name" "$stage/docs/benchmarks/"
done
git -C "$root" rev-parse HEAD >"$stage/COMMIT" 2>/dev/null || echo unknown >"$stage/COMMIT"

# The filter for x86 code saves a seventh.
tar -C "$build/bundle" -cf - kron | xz -T0 --x86 --lzma2=preset="${KRON_XZ_PRESET:-6}" >"$output"
say "$output: $(du -h "$output" | cut -f1), unpacked $(du -sh "$stage" | cut -f1)"
