#!/bin/sh
# Measures the processor: the case files cpu_*.json, beside other implementations.
#
# usage: docs/benchmarks/cpu.sh [products|flags|odd|ksmm|chains|batched|types|threads]...
#
# All of them by default, one after another, under 10 minutes; results go to
# docs/benchmarks/results. Nothing else may run meanwhile. BUILD names the build folder,
# PYTHON an interpreter with NumPy and the peers that PEERS lists (those that miss are
# left out): FastKron, PyTorch. As root the process gets real-time priority.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}
python=${PYTHON:-$build/venv-torch/bin/python}
[ -x "$python" ] || python=$build/venv/bin/python
[ $# -gt 0 ] || set -- products flags odd ksmm chains batched types threads

has() { "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)"; }
peers() {
  for peer; do
    case $peer in
    pyfastkron) has pyfastkron && printf ' --peer %s' "$peer" ;;
    *) has torch && printf ' --peer %s' "$peer" ;;
    esac || true
  done
}

first=
[ "$(id -u)" != 0 ] || first="chrt -f 1"
for name; do
  threads=1
  case $name in
  products) with=$(peers pyfastkron torch) ;;
  flags) with=$(peers pyfastkron) ;;
  ksmm | chains) with=$(peers einsum bmm dense) ;;
  threads) threads=$(nproc) with=$(peers pyfastkron) ;;
  *) with=$(peers torch) ;;
  esac
  # shellcheck disable=SC2086
  $first "$python" "$root/tools/kron-bench/kron-bench" --root "$build" --threads "$threads" \
    --samples 9 $with --command "docs/benchmarks/cpu.sh $name" --out "$here/results" \
    ${RESUME:+--resume} "$here/cases/cpu_$name.json"
done
