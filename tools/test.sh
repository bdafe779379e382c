#!/bin/sh
# Passes all tests. Installs and builds what is missing first. Arguments go to
# tools/run-tests.py: names of suites, or nothing for all of them.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${KRON_BUILD_DIR:-$root/build}
"$root/tools/setup.sh"
exec "$build/venv/bin/python" "$root/tools/run-tests.py" --build "$build" "$@"
