"""Lets modules of tools/kron-bench be imported: `import kron_bench_path` before them.

SPDX-License-Identifier: MIT
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools/kron-bench"))
