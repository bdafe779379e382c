#!/bin/sh
# Measures whole programs with the Python package beside what they replace, or with
# --set kernels kernel matrices, on a GPU or, with --target cpu, on the processor, into ./results.
# Needs PyTorch and GPyTorch. Further options go to programs.py (--help lists them); what --only
# leaves out keeps its figures.
root=$(cd "$(dirname "$0")" && pwd)
target=cuda set=programs
case " $* " in *" --target cpu "* | *" --target=cpu "*) target=cpu ;; esac
case " $* " in *" --set kernels "* | *" --set=kernels "*) set=kernels ;; esac
PYTHONPATH=$root/python exec "${PYTHON:-python3}" "$root/docs/benchmarks/programs.py" \
  --target $target --out "results/${set}_$target.json" "$@"
