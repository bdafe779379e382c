#!/bin/sh
# Runs the GPU test suite. Options go to test/gpu/run.py (--help lists them).
root=$(cd "$(dirname "$0")" && pwd)
exec "${PYTHON:-python3}" "$root/test/gpu/run.py" --root "$root" "$@"
