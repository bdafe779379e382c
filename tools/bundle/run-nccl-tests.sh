#!/bin/sh
# Tests sharded products on GPUs by NCCL, as several processes.
#
# usage: ./run-nccl-tests.sh [RANKS] [GOOGLETEST-OPTION...]
#
# RANKS is the number of processes, 2 by default. They share out the GPUs; where there are
# fewer GPUs than ranks, NCCL takes each process for one of another machine and goes
# through sockets. KRON_NCCL names libnccl.so.2 where the loader does not find it;
# KRON_SANITIZER is a command to run each process under, e.g. "compute-sanitizer". The last
# line is `N passed, N failed`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ranks=${1:-2}
[ $# -eq 0 ] || shift
program=$here/bin/kron-nccl-tests
gpus=$(nvidia-smi -L | grep -c '^GPU ') || { echo "run-nccl-tests: error: expects a GPU" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

processes=
rank=0
while [ "$rank" -lt "$ranks" ]; do
  (
    export NCCL_DEBUG="${NCCL_DEBUG:-WARN}"
    if [ "$gpus" -lt "$ranks" ]; then
      export NCCL_HOSTID="rank-$rank" NCCL_SOCKET_IFNAME=lo
    fi
    exec ${KRON_SANITIZER:-} "$program" "$rank" "$ranks" $((rank % gpus)) "$folder/id" \
      --gtest_color=no "$@"
  ) >"$folder/log.$rank" 2>&1 &
  processes="$processes $!"
  rank=$((rank + 1))
done
passed=0 failed=0 rank=0
for process in $processes; do
  status=0
  wait "$process" || status=$?
  echo "== rank $rank: exit status $status"
  cat "$folder/log.$rank"
  passed=$((passed + $(grep -c '^\[       OK \]' "$folder/log.$rank" || true)))
  wrong=$(grep -c '^\[  FAILED  \].*ms)$' "$folder/log.$rank" || true)
  [ "$wrong" -gt 0 ] || [ "$status" -eq 0 ] || wrong=1
  failed=$((failed + wrong))
  rank=$((rank + 1))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
