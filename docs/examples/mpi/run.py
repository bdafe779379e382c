"""A C++ program with kernels compiled ahead of time, as 4 processes of MPI, against NumPy.

Installs kron, builds this folder as a user's project that finds it there, and checks the
program's numbers and the bytes that it says it has sent.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent.parent / "tools")]
sys.dont_write_bytecode = True

import common
import mpirun
import numpy as np

RANKS = 4


def main():
    options = common.parse_options(__doc__.splitlines()[0])
    if not mpirun.exists():
        print("not run: there is no mpirun")
        sys.exit(77)
    folder = common.output_folder(options, "mpi")
    checks = common.Checks()
    project = common.build_project(options, HERE, folder)

    rng = np.random.default_rng(5)
    sizes = (10, 8, 8, 8)
    x = rng.standard_normal((2, *sizes)).astype(np.float32)
    factors = [rng.standard_normal((size, size)).astype(np.float32) for size in sizes]
    paths = [folder / f"{name}.raw" for name in ("x", "factors", "y")]
    x.tofile(paths[0])
    np.concatenate([factor.ravel() for factor in factors]).tofile(paths[1])
    paths[2].unlink(missing_ok=True)
    text = common.run(*mpirun.command(RANKS, project / "sharded", *paths), env=mpirun.environment(),
               timeout=300)
    print(text, end="")

    exact = x.astype(np.float64)
    for _ in range(2):
        exact = np.einsum("mabcd,aA,bB,cC,dD->mABCD", exact, *factors, optimize=True)
    y = np.fromfile(paths[2], np.float32).reshape(x.shape)
    checks.below("relative error against NumPy in float64", common.relative_error(y, exact),
                 16 * np.finfo(np.float32).eps)
    # Each of the two exchanges moves what its ranks do not have already: 3, 3, 2 and 2 of
    # 10 planes, and 2 of 8.
    sent = sum(int(number) for number in re.findall(r"(\d+) bytes sent", text))
    formula = 2 * 4 * x.size * (RANKS - 1) // RANKS
    checks.below("bytes sent that the formula does not say", abs(sent - formula), 0)
    checks.done()


if __name__ == "__main__":
    main()
