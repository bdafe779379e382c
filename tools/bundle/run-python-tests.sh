#!/bin/sh
# Runs the GPU tests of the Python package, which need PyTorch and pytest. Arguments go to
# pytest.
root=$(cd "$(dirname "$0")" && pwd)
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
PYTHONPATH=$root/python KRON_CACHE_DIR=$cache "${PYTHON:-python3}" -m pytest -q -rs \
  -p no:cacheprovider "$root/python/tests/torch/test_gpu.py" \
  "$root/python/tests/torch/test_gpu_training.py" \
  "$root/python/tests/torch/test_gpu_libraries.py" \
  "$root/python/tests/torch/test_cdist.py" "$root/python/tests/torch/test_kernels.py" \
  "$root/python/tests/torch/test_kermac.py" "$root/python/tests/torch/test_pair_layouts.py" "$@"
