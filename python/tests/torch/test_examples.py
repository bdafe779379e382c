# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""The Python examples of the documentation, at small sizes; each checks itself."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "docs/examples/python"


@pytest.mark.parametrize("command, needs", [
    (["quickstart.py"], []),
    (["gp_regression.py", "--size", "40", "48", "--steps", "4"], ["gpytorch", "sklearn"]),
    (["gp_photograph.py", "--points", "3000", "--patch", "500", "--deviations", "4"], ["sklearn"]),
    (["rotate_and_quantise.py"], []),
    (["vision_kslinear.py", "--epochs", "12"], ["sklearn"]),
])
def test_example(command, needs):
    for module in needs:
        pytest.importorskip(module)
    name, *options = command
    process = subprocess.run([sys.executable, EXAMPLES / name, *options], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=7200)
    assert process.returncode == 0, process.stdout
