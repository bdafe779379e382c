#!/bin/sh
# Runs the execution tests of the processor once per instruction set that it has.
#
# usage: run-cpu-tests.sh [x86-64-v4-amx|x86-64-v4|x86-64-v3|x86-64-v2]...
#
# CASES random cases each (10000) and the systematic ones, JOBS at a time (all processors);
# logs and exec.json go to OUT (.). Needs a C compiler or linker, and Python with NumPy.
root=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-.}
if [ $# -eq 0 ]; then
  set -- x86-64-v4 x86-64-v3 x86-64-v2
  ! grep -q amx_bf16 /proc/cpuinfo || set -- x86-64-v4-amx "$@"
fi
status=0
for isa; do
  "${PYTHON:-python3}" "$root/test/exec/run.py" --build "$root" --isa "$isa" --no-cli \
    --cases "${CASES:-10000}" --jobs "${JOBS:-$(nproc)}" --json "$out/exec.json" \
    >"$out/exec-$isa.log" 2>&1 || status=1
  grep "^FAILED" "$out/exec-$isa.log" | head -n 20
  echo "$isa: $(tail -n 1 "$out/exec-$isa.log")"
done
exit $status
