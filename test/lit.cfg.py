"""lit configuration: IR tests (FileCheck) and tool tests."""

import importlib.util
import os
import platform
import shutil
import subprocess
import sys

import lit.formats

config.name = "kron"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "exec", "mpi", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.kron_obj_root
config.environment["PATH"] = os.pathsep.join(
    [config.kron_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
# Remarks say whose rates estimates are counted from.
config.environment["KRON_CALIBRATE"] = "0"
config.environment["KRON_VERIFY_EACH"] = "1"
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"
config.substitutions.append(("%kron_lib_dir", config.kron_lib_dir))
config.substitutions.append(("%kron_build_dir", config.kron_build_dir))
config.substitutions.append(
    ("%kron_cmake_dir", os.path.join(config.test_source_root, "../lib/cmake/kron"))
)
# What runs lit itself may have no NumPy; the environment that tools/setup.sh makes has.
python = sys.executable
venv = os.path.join(config.kron_build_dir, "venv", "bin", "python")
if not importlib.util.find_spec("numpy") and os.access(venv, os.X_OK):
    python = venv
config.substitutions.append(("%python", python))
config.substitutions.append(("%cc", config.cc))
config.substitutions.append(("%cxx", config.cxx))
if not config.kron_sanitize:
    config.available_features.add("no-sanitizer")
config.substitutions.append(
    ("%mlir_lib_dir", os.path.join(config.llvm_tools_dir, "..", "lib"))
)
config.substitutions.append(
    ("%mlir_include_dir", os.path.join(config.llvm_tools_dir, "..", "include"))
)

if shutil.which("ptxas") or os.access("/usr/local/cuda/bin/ptxas", os.X_OK):
    config.available_features.add("ptxas")

targets = subprocess.run([os.path.join(config.llvm_tools_dir, "llvm-config"), "--targets-built"],
                         capture_output=True, text=True).stdout.split()
if platform.machine() == "x86_64" and "AArch64" in targets:
    config.available_features.add("aarch64-target")

if python == venv or importlib.util.find_spec("numpy"):
    config.available_features.add("numpy")

with open("/proc/cpuinfo") as cpuinfo:
    cpu_flags = set(cpuinfo.read().split())
for feature, flags in {
    "avx2": {"avx2", "fma", "f16c"},
    "avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}.items():
    if flags <= cpu_flags:
        config.available_features.add(feature)
