#!/bin/sh
# Runs benchmark cases on the GPU. Without arguments: all case files for GPUs, beside all
# other implementations that this machine's Python has; one result file for each goes to
# ./results after every case, so that nothing is lost when the run is cut off. Five to six
# minutes on an H200; SECONDS_LEFT=N stops starting cases after N seconds. With arguments:
# they go to kron-bench.
root=$(cd "$(dirname "$0")" && pwd)
bench="${PYTHON:-python3} $root/tools/kron-bench/kron-bench --root $root"
[ $# -eq 0 ] || exec $bench "$@"
cases=
for name in f32 f64 odd batched flags half precision ksmm chains rotations quantized backward \
  patterns; do
  cases="$cases $root/docs/benchmarks/cases/gpu_$name.json"
done
end=$(($(date +%s) + ${SECONDS_LEFT:-1200}))
resume=
# Every case is assembled anew, so that compile times are those of new kernels.
export CUDA_CACHE_DISABLE=1
# 75: a case has spoilt its process and is marked; the others follow in a new one.
while :; do
  left=$((end - $(date +%s)))
  [ $left -gt 0 ] || exit 1
  status=0
  $bench --target cuda --peer all --samples 9 --out results --seconds $left $resume \
    --command "kron/run-benchmarks.sh" $cases || status=$?
  [ $status -eq 75 ] || exit $status
  resume=--resume
done
