#!/bin/sh
# Measures the processor; see docs/benchmarks/cpu.sh. Result files go to OUT (./results).
root=$(cd "$(dirname "$0")" && pwd)
export BUILD="$root" OUT="${OUT:-results}" PYTHON="${PYTHON:-$(command -v python3)}"
mkdir -p "$OUT"
exec "$root/docs/benchmarks/cpu.sh" "$@"
