#!/bin/sh
# Measures the processor: the case files cpu_*.json, beside other implementations.
#
# usage: docs/benchmarks/cpu.sh [products|fastkron|flags|odd|ksmm|chains|batched|types|threads]...
#
# All of them by default, one after another, in about ten minutes; results go to
# docs/benchmarks/results or to OUT. Nothing else may run meanwhile; RESUME=1 keeps the cases
# that a result file has. BUILD names the build folder or an unpacked bundle, PYTHON an
# interpreter with NumPy, and with PyTorch and pyfastkron if they are to be measured. KRON_ISA
# limits kron to an instruction set, and with x86-64-v3 (AVX2) all others but FastKron. The
# process gets real-time priority where that is allowed.
set -eu
export FASTKRON_TUNE=1  # as its authors measure; takes most of the time of `fastkron`
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}
python=${PYTHON:-$build/venv-torch/bin/python}
# PYTHON may be a name on the PATH; without it, PyTorch's environment is there or not.
[ -n "${PYTHON:-}" ] || [ -x "$python" ] || python=$build/venv/bin/python
command -v "$python" >/dev/null || { echo "cpu.sh: no interpreter $python" >&2; exit 1; }
[ $# -gt 0 ] || set -- products fastkron flags odd ksmm chains batched types threads

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
if chrt -f 1 true 2>/dev/null; then first="chrt -f 1"; fi
for name; do
  threads=1
  case $name in
  fastkron) with=$(peers pyfastkron) ;;
  flags | types) with= ;;
  ksmm | chains) with=$(peers einsum bmm dense) ;;
  threads) threads=$(nproc) with= ;;
  *) with=$(peers torch) ;;
  esac
  # shellcheck disable=SC2086
  $first "$python" "$root/tools/kron-bench/kron-bench" --root "$build" --threads "$threads" \
    --samples 9 $with --command "${KRON_ISA:+KRON_ISA=$KRON_ISA }docs/benchmarks/cpu.sh $name" --out "${OUT:-$here/results}" \
    ${RESUME:+--resume} "$here/cases/cpu_$name.json"
done
