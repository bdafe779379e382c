"""A C++ program with a kernel for GPUs compiled ahead of time.

Installs kron into BUILD/install and builds this folder as a user's project, which takes a
CUDA toolkit. Runs the program: its results on the processor and on the GPU have to agree;
without a GPU, it has to say so.
"""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import common

TOOLKIT = pathlib.Path("/usr/local/cuda")


def run(*command):
    return subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def build(*command):
    process = run(*command)
    if process.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{process.stdout}")


def main():
    options = common.parse_options(__doc__.splitlines()[0])
    if not (shutil.which("nvcc") or TOOLKIT.joinpath("include/cuda_runtime.h").exists()):
        print("not run: there is no CUDA toolkit")
        sys.exit(77)
    folder = common.output_folder(options, "aot-gpu")
    checks = common.Checks()
    prefix, project = options.build / "install-gpu", folder / "project"
    shutil.rmtree(prefix, ignore_errors=True)
    shutil.rmtree(project, ignore_errors=True)
    build("cmake", "--install", options.build, "--prefix", prefix)
    build("cmake", "-G", "Ninja", "-S", HERE, "-B", project, "-DCMAKE_BUILD_TYPE=Release",
          f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_COMPILER=clang++-22")
    build("cmake", "--build", project)
    process = run(project / "aot_gpu", 1000)
    print(process.stdout, end="")
    checks.below("processes that did not print the processor's result",
                 int("processor:" not in process.stdout), 0)
    no_gpu = any(text in process.stdout for text in ("no CUDA-capable device",
                                                     "CUDA driver version is insufficient"))
    checks.below("programs that failed with a GPU", int(process.returncode and not no_gpu), 0)
    checks.done()


if __name__ == "__main__":
    main()
