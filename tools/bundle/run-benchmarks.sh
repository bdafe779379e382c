#!/bin/sh
# Runs benchmark cases on the GPU, or with --target cpu on the processor. Arguments go
# to kron-bench; without any, all case files run and results go to ./results.
root=$(cd "$(dirname "$0")" && pwd)
bench="${PYTHON:-python3} $root/tools/kron-bench/kron-bench --root $root"
[ $# -eq 0 ] || exec $bench "$@"
mkdir -p results
status=0
for cases in "$root"/docs/benchmarks/cases/*.json; do
  name=$(basename "$cases" .json)
  $bench --target cuda --json "results/$name.json" "$cases" || status=1
done
exit $status
