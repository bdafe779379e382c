"""Compiling modules and loading their kernels, through the cache.

SPDX-License-Identifier: MIT
"""

import contextlib
import ctypes
import functools
import os
import sys
import threading
import warnings

from kron import _core, _fork, _records, cache
from kron._errors import CompileError

_core.bind_program()

#: Processors that 'cpu:portable' stands for.
PORTABLE = "portable"

_state = {"compiler": None, "identity": None}


def compiler():
    """The extension module with LLVM in it, loaded when first needed."""
    if _state["compiler"] is None:
        with _fork.imports:
            from kron import _compiler

        _state["compiler"] = _compiler
    return _state["compiler"]


def _identity():
    """What compiled code depends on beside the module: versions of kron and LLVM, the files
    that they are in, and the processor."""
    if _state["identity"] is None:
        module = compiler()
        files = [(path, status.st_size, status.st_mtime_ns)
                 for path in module.code_files() for status in [os.stat(path)]]
        _state["identity"] = [_core.runtime_version(), module.llvm_version, files, module.host()]
    return _state["identity"]


def _gpu_identity():
    """What compiled code for GPUs depends on in addition: the assembler and the driver."""
    assembler = compiler().find_assembler()
    return [[assembler, os.stat(assembler).st_mtime_ns] if assembler else None,
            _driver_version()]


@functools.lru_cache(maxsize=None)
def _driver_version():
    """Versions of CUDA's driver and of the kernel's part of it; None without one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))
    try:
        with open("/proc/driver/nvidia/version") as file:
            return [version.value, file.readline()]
    except OSError:
        return [version.value, None]


def parse_target(target):
    """(names of processors, names of GPU chips) for 'cpu' (this one), 'cpu:NAME,...',
    'cpu:portable', 'cuda' (the GPU of this machine) or 'cuda:CHIP,...'."""
    if not isinstance(target, str):
        raise TypeError(f"expects target to be a string, but got {type(target).__name__}")
    kind, _, names = target.partition(":")
    if kind == "cpu":
        return (names.split(",") if names else ["native"]), []
    if kind == "cuda":
        return [], (names.split(",") if names else [chip_of_device(0)])
    raise ValueError("expects target to be 'cpu', 'cpu:NAME', 'cuda' or 'cuda:CHIP', "
                     f"but got '{target}'")


@functools.cache
def chip_of_device(device):
    """The name of a GPU as `cuda:NAME` takes it: "h200", with its rates if they are kept. One
    that kron has no description of is measured, which takes seconds, the first time."""
    _core.cuda_properties(device)  # Raises where there is no such GPU.
    with translated() as module, _progress():
        name, problems = module.name_gpu(device)
    for problem in problems.splitlines():
        warnings.warn(f"kron: {problem}", stacklevel=2)
    return name


@contextlib.contextmanager
def translated():
    """Turns the extension's errors into kron.CompileError."""
    try:
        yield compiler()
    except compiler().CompileError as error:
        raise CompileError(str(error)) from None


@contextlib.contextmanager
def _progress():
    """Says on a terminal that compilation takes its time, once it does."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()

    def show():
        if done.wait(1):
            return
        try:
            from tqdm import tqdm
        except ImportError:
            print("kron: compiling ...", file=sys.stderr)
            return
        with tqdm(desc="kron: compiling", bar_format="{desc} {elapsed}", leave=False) as bar:
            while not done.wait(0.2):
                bar.refresh()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _load(module, names, code):
    loaded = module.load(code, names)
    return {name: _core.Kernel(loaded.address(name), loaded) for name in names}


def _warn_of_records(problems):
    for problem in problems:
        warnings.warn(f"kron: {problem}", stacklevel=2)


def _compile_for(source, processors, chips, reference):
    """(all kernels by name of a module for one kind of target, through the cache; its text)"""
    with translated() as module:
        records = [] if reference else _records.files(module)
        compilation = module.Compilation(source, processors, chips, reference, records)
        # A text is a key as it is: lines of it are in remarks.
        text = source if isinstance(source, str) else compilation.text
        # What records plan: lines for other operations and machines leave the code as it is.
        # And what is wrong with their lines.
        plans, problems = compilation.recorded_plans()
        key = cache.make_key(text=text, target=[processors, chips], reference=reference,
                             identity=_identity(), gpu=_gpu_identity() if chips else None,
                             plans=plans)
        entry = cache.load(key)
        if entry is not None:
            try:
                kernels = _load(module, *entry)
            except module.CompileError:
                cache.discard(key)
            else:
                _warn_of_records(problems)
                return kernels, text
        with _progress():
            compiled = compilation.compile()
        warned = list(dict.fromkeys([*problems, *compiled["warnings"]]))
        _warn_of_records(warned)
        # Somebody may have written a line in between, which the code has and the key has not.
        # And what was compiled without its records is compiled, and told of, by each process.
        if warned == problems and compilation.recorded_plans() == (plans, problems):
            cache.store(key, compiled["names"], compiled["object"])
        return _load(module, compiled["names"], compiled["object"]), text


def compile_all(source, *, target="cpu", device=-1, reference=False, shapes=None):
    """All kernels by name of a module, which is a text or the compiler's Program. `shapes` of
    the arguments of a single kernel that is about to be called, outputs at the end or not at
    all, are what it is tuned for where kron.tuning says "online"."""
    if device >= 0:
        target = "cuda:" + chip_of_device(device)
    processors, chips = parse_target(target)
    kernels, text = _compile_for(source, processors, chips, reference)
    if shapes is None or _records.mode() != "online":
        return kernels
    (kernel,) = kernels.values()
    if _tuned_online(text, kernel.args, shapes, device):
        kernels, _ = _compile_for(source, processors, chips, reference)
    return kernels


def _tuned_online(text, arguments, shapes, device):
    """Whether there are records now that a kernel can be compiled with anew."""
    inputs = [arg for arg in arguments if arg["access"] != "write"]
    if len(shapes) == len(arguments):
        outputs = [shape for arg, shape in zip(arguments, shapes) if arg["access"] == "write"]
        shapes = [shape for arg, shape in zip(arguments, shapes) if arg["access"] != "write"]
    else:
        outputs = []
    if 0 in (size for shape in shapes for size in shape):
        return False  # Nothing takes time.
    specs = [f"random:{'x'.join(map(str, shape))}:{arg['type']}" if shape else
             f"value:1:{arg['type']}" for arg, shape in zip(inputs, shapes)]
    module = compiler()
    try:
        # One at a time: others would take its processors.
        with _fork.tuning:
            return bool(module.tune(text, specs, outputs, device, _records.online_seconds(),
                                    _records.output(module), only_unknown=True))
    except (module.CompileError, ValueError) as error:
        warnings.warn(f"kron cannot tune what is called: {error}", stacklevel=2)
        return False


def compile(source, *, target="cpu", device=-1, reference=False, shapes=None):
    """The only kernel of a module."""
    kernels = compile_all(source, target=target, device=device, reference=reference,
                          shapes=shapes)
    if len(kernels) != 1:
        raise ValueError(f"expects a module with one public function, but got {len(kernels)}")
    return next(iter(kernels.values()))
