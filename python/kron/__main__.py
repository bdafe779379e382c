"""python -m kron: what is installed, what the machine has, and whether it works.
python -m kron calibrate [cpu] [cuda[:NUMBER]] ...: measures the rates of the processor and
the GPUs (without arguments, of all), prints them, and keeps them for plans.

SPDX-License-Identifier: MIT
"""

import platform
import sys
import time
from functools import reduce
from importlib import metadata

import numpy as np

import kron
from kron import _compile, _core


def _version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _gpus():
    names = []
    for index in range(_core.cuda_device_count()):
        model = _core.cuda_properties(index)["model"]
        names.append(f"GPU {index}: {model}, {_compile.chip_of_device(index)}")
    return names or ["none that CUDA's driver knows"]


def _smoke_test():
    """Names of what does not work."""
    rng = np.random.default_rng(0)
    factors = [rng.standard_normal((4, 4)) for _ in range(3)]
    x = rng.standard_normal((10, 64))
    dense = reduce(np.kron, factors)
    weights = rng.standard_normal((2, 4, 8, 4))
    expected = np.einsum("ijkt,nikt->nijt", weights, x.reshape(10, 2, 8, 4)).reshape(10, 32)
    trial = kron.jit(lambda x, factors: kron.mkm(x, factors) + x)
    checks = {
        "mkm": lambda: (kron.mkm(x, factors), x @ dense),
        "kmm": lambda: (kron.kmm(x.T, factors), dense @ x.T),
        "ksmm": lambda: (kron.ksmm(x, weights), expected),
        "jit": lambda: (trial(x, factors), x @ dense + x),
    }
    failed = []
    for name, check in checks.items():
        start = time.perf_counter()
        try:
            result, reference = check()
            good = np.allclose(result, reference)
            problem = "wrong result"
        except Exception as error:  # A self-check reports, whatever it is.
            good, problem = False, f"{type(error).__name__}: {error}"
        milliseconds = (time.perf_counter() - start) * 1e3
        print(f"  {name:5} {'ok' if good else 'FAILED: ' + problem} ({milliseconds:.0f} ms)")
        if not good:
            failed.append(name)
    return failed


def _devices(targets):
    """Numbers of the GPUs that targets of calibrate mean, -1 for the processor."""
    if not targets:
        return [-1, *range(_core.cuda_device_count())]
    numbers = []
    for target in targets:
        kind, _, number = target.partition(":")
        if target == "cpu":
            numbers.append(-1)
        elif kind == "cuda" and (target == "cuda" or number.isdecimal()):
            numbers.append(int(number or 0))
        else:
            raise ValueError(f"expects cpu, cuda or cuda:NUMBER to calibrate, but got '{target}'")
    return numbers


def _calibrate(targets):
    try:
        for number in _devices(targets):
            with _compile.translated() as compiler:
                print(compiler.calibrate(number), end="")
    except (ValueError, kron.CompileError) as error:
        print(f"kron: error: {error}", file=sys.stderr)
        return 1
    return 0


def main():
    if sys.argv[1:2] == ["calibrate"]:
        return _calibrate(sys.argv[2:])
    print(f"kron {kron.__version__}, Python {platform.python_version()}, "
          f"NumPy {np.__version__}, PyTorch {_version_of('torch')}")
    cpu, _, features = _compile.compiler().host().partition(" ")
    wanted = ("avx2", "fma", "avx512f", "avx512fp16", "avx512bf16", "amx-bf16")
    present = [name for name in wanted if f"+{name}" in features.split(",")]
    print(f"processor: {cpu} ({', '.join(present) or 'baseline'}), "
          f"{kron.get_num_threads()} threads")
    print("GPUs: " + "; ".join(_gpus()))
    info = kron.cache.info()
    state = "on" if info.enabled else "off"
    print(f"cache: {state}, {info.path}, {info.entries} entries, {info.bytes / 2**20:.1f} of "
          f"{info.limit / 2**20:.0f} MB")
    failed = _smoke_test()
    print("all works" if not failed else f"does not work: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
