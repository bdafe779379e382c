#!/bin/sh
# Runs the tests of kron.distributed on GPUs over NCCL, and its benchmark into ./results. Needs
# PyTorch and pytest.
#
# usage: run-distributed-tests.sh [--ranks N,...] [--no-tests] [--no-benchmark] [BENCHMARK OPTION...]
#
# --ranks   numbers of processes: the tests run with each, the benchmark with the first. By
#           default the number of GPUs, and 2 if that is 1.
#
# Where there are fewer GPUs than processes, some share one: NCCL takes them for processes of
# different machines (each gets an NCCL_HOSTID of its own), which talk by sockets of the loopback
# interface. That tests everything but the speed, which then means nothing; --scale 4 keeps the
# benchmark's arrays small. Further options go to docs/benchmarks/distributed.py (--help lists them).
root=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
ranks= tests=yes benchmark=yes
while [ $# -gt 0 ]; do
  case $1 in
    --ranks) ranks=$2; shift 2 ;;
    --no-tests) tests=; shift ;;
    --no-benchmark) benchmark=; shift ;;
    *) break ;;
  esac
done
gpus=$("$python" -c 'import torch; print(torch.cuda.device_count())') || exit 1
if [ "$gpus" = 0 ]; then
  echo "run-distributed-tests.sh: expects a GPU, but PyTorch finds none" >&2
  exit 1
fi
if [ -z "$ranks" ]; then
  if [ "$gpus" = 1 ]; then ranks=2; else ranks=$gpus; fi
fi
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
export PYTHONPATH="$root/python" KRON_CACHE_DIR="$cache"
status=0
if [ -n "$tests" ]; then
  KRON_TEST_DEVICE=cuda KRON_TEST_RANKS=$ranks "$python" -m pytest -q -rs --durations=10 -p no:cacheprovider \
    "$root/python/tests/torch/test_distributed.py" || status=1
fi
if [ -n "$benchmark" ]; then
  "$python" -m torch.distributed.run --standalone --nproc-per-node "${ranks%%,*}" \
    "$root/docs/benchmarks/distributed.py" --out "results/distributed_${ranks%%,*}.json" \
    --command "kron/run-distributed-tests.sh --ranks ${ranks%%,*}${*:+ $*}" "$@" || status=1
fi
exit $status
