#!/bin/sh
# Compresses a photograph with a blockwise DCT that kron compiles, next to NumPy.
# Installs what is missing and builds kron-run first. Arguments go to docs/examples/dct/run.py.
#
# usage: tools/demo.sh [OPTIONS]
#        tools/demo.sh gp [OPTIONS]
#
# With gp it predicts a photograph from 8,000 of its pixels, or --points N, by a Gaussian process,
# and plots that in build/examples: docs/examples/python/gp_photograph.py, which gets the options.
# It builds the Python package, and installs scikit-learn, which has the photograph.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${KRON_BUILD_DIR:-$root/build}
if [ "${1-}" != gp ]; then
  "$root/tools/setup.sh" kron-run
  exec "$build/venv/bin/python" "$root/docs/examples/dct/run.py" --build "$build" "$@"
fi
shift
"$root/tools/setup.sh" kron_python
python=$build/venv/bin/python
if ! "$python" -c "import sklearn.datasets" 2>/dev/null; then
  echo "demo: installing scikit-learn"
  grep -E '^(cloudpickle|joblib|narwhals|scikit-learn|scipy|threadpoolctl)==' "$root/tools/requirements-torch.txt" |
    "$build/venv/bin/pip" install -q --disable-pip-version-check --no-deps -r /dev/stdin
fi
mkdir -p "$build/examples"
exec env PYTHONPATH="$build/python" "$python" "$root/docs/examples/python/gp_photograph.py" \
  --svg "$build/examples/gp_photograph.svg" "$@"
