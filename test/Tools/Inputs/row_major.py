"""Prints the contiguity of a kernel's arguments, compiled without and with rowMajor.

usage: row_major.py FILE.mlir BUILD"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tools/kron-bench"))

from kronlib import Kron  # noqa: E402

kron = Kron(pathlib.Path(sys.argv[2]))
for row_major in (False, True):
    program = kron.compile(pathlib.Path(sys.argv[1]).read_text(), row_major=row_major)
    kernel = program.kernel("sparse").contents
    print(row_major, [kernel.args[i].contiguity for i in range(kernel.num_args)])
