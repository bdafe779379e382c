"""A C++ program with a kernel compiled ahead of time, against kron-run.

Installs kron into BUILD/install, builds this folder as a user's project that finds it
there, checks that nothing of LLVM is linked and that the program's numbers are
kron-run's.
"""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import common
import numpy as np


def main():
    options = common.parse_options(__doc__.splitlines()[0])
    folder = common.output_folder(options, "aot")
    checks = common.Checks()
    prefix, project = options.build / "install", folder / "project"
    shutil.rmtree(prefix, ignore_errors=True)
    shutil.rmtree(project, ignore_errors=True)
    common.run("cmake", "--install", options.build, "--prefix", prefix)
    common.run("cmake", "-G", "Ninja", "-S", HERE, "-B", project, "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_COMPILER=clang++-22")
    common.run("cmake", "--build", project)

    libraries = common.run("ldd", project / "aot")
    foreign = [line for line in libraries.splitlines()
               if "LLVM" in line or "MLIR" in line or "not found" in line]
    checks.below("libraries of LLVM or missing ones that the program needs", len(foreign), 0)

    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal(shape).astype(np.float32)
              for shape in ((1000, 64), (8, 8), (8, 8))]
    paths = [folder / f"{name}.raw" for name in ("x", "f1", "f2", "y")]
    for path, array in zip(paths, arrays):
        array.tofile(path)
    print(common.run(project / "aot", *paths), end="")
    y = np.fromfile(paths[-1], np.float32).reshape(1000, 64)

    expected, _, _ = common.kron_run(options, HERE / "mkm.mlir", "mkm", folder, arrays)
    checks.below("largest difference from kron-run's result",
                 float(np.abs(y - expected).max()), 0)
    exact = arrays[0].astype(np.float64) @ np.kron(arrays[1].astype(np.float64), arrays[2])
    checks.below("relative error against NumPy in float64",
                 common.relative_error(y, exact), 16 * np.finfo(np.float32).eps)
    checks.done()


if __name__ == "__main__":
    main()
