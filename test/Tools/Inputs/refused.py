"""Does kron-opt refuse a public function for each name in a file? See kronc-names.test."""

import pathlib
import subprocess
import sys

names = pathlib.Path(sys.argv[1]).read_text().split()
functions = [f"func.func @{name}() {{\n  return\n}}\n" for name in names]
done = subprocess.run(["kron-opt", "-", "--split-input-file", "--kron-lower-interface"],
                      input="// -----\n".join(functions), capture_output=True, text=True)
for name in names:
    if f"of a public function not to be that of a function of the C library, but got '{name}'" \
            not in done.stderr:
        raise SystemExit(f"'{name}' is not refused")
print(f"{len(names)} names, all refused")
