#!/bin/sh
# Compresses a photograph with a blockwise DCT that kron compiles, next to NumPy.
# Installs what is missing and builds kron-run first. Arguments go to docs/examples/dct/run.py.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${KRON_BUILD_DIR:-$root/build}
"$root/tools/setup.sh" kron-run
exec "$build/venv/bin/python" "$root/docs/examples/dct/run.py" --build "$build" "$@"
