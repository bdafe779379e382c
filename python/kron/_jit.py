"""Compiled functions: kron.jit, kron.compile, kron.load.

SPDX-License-Identifier: MIT
"""

import ctypes
import functools
import inspect
import os
import struct

import numpy as np

from kron import _compile, _core, ir
from kron._fallback import TYPES, element_type

_DTYPES = {element: name for name, element in TYPES.items()}


def _dtype(element):
    name = _DTYPES[element]
    if name == "bfloat16":
        import ml_dtypes

        dtype = np.dtype(ml_dtypes.bfloat16)
        _core.register_bfloat16(dtype.num)
        return dtype
    return np.dtype(name)


def _empty_array(shape, element):
    return np.empty(shape, _dtype(element))


def _is_tensor(value):
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "data_ptr")


class Function:
    """One compiled function; called with arrays, it returns new ones.

    `out` gives the arrays to write instead, one or a tuple of them."""

    def __init__(self, kernel):
        self._kernel = kernel
        self._args = kernel.args
        self._inputs = [arg for arg in self._args if arg["access"] != "write"]
        self._outputs = [arg for arg in self._args if arg["access"] == "write"]
        self.__name__ = kernel.name

    @property
    def arguments(self):
        """What the function takes and gives: name, type, access, sizes."""
        return self._args

    def __repr__(self):
        def show(arg):
            sizes = "x".join("?" if size < 0 else str(size) for size in arg["sizes"])
            return f"{arg['name']}: {arg['type']}[{sizes}]"

        return (f"<kron function {self.__name__}({', '.join(map(show, self._inputs))}) -> "
                f"({', '.join(map(show, self._outputs))})>")

    def __call__(self, *args, out=None):
        if len(args) != len(self._inputs):
            names = ", ".join(arg["name"] for arg in self._inputs)
            raise TypeError(f"{self.__name__}() expects {len(self._inputs)} arguments ({names}), "
                            f"but got {len(args)}")
        tensor = next((value for value in args if _is_tensor(value)), None)
        if tensor is not None:
            return self._call_tensors(tensor, args, out)
        inputs = [self._input(arg, value) for arg, value in zip(self._inputs, args)]
        outputs = self._allocate(inputs, _empty_array) if out is None else self._given(out)
        self._run(inputs, outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _run(self, inputs, outputs, stream=0):
        remaining_inputs, remaining_outputs = iter(inputs), iter(outputs)
        self._kernel(*(next(remaining_outputs if arg["access"] == "write" else remaining_inputs)
                       for arg in self._args), stream=stream)

    def _call_tensors(self, tensor, args, out):
        """PyTorch tensors, on the CPU or a GPU with its current stream."""
        import torch

        import kron.torch  # noqa: F401, makes tensors known to the fast path

        def allocate(shape, element):
            name = "bfloat16" if element == "bf16" else _DTYPES[element]
            return torch.empty(shape, dtype=getattr(torch, name), device=tensor.device)

        inputs = [value.detach() if _is_tensor(value) else value for value in args]
        outputs = self._allocate(inputs, allocate) if out is None else self._given(out)
        stream = torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else 0
        self._run(inputs, outputs, stream)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _input(self, arg, value):
        if not arg["sizes"] and not isinstance(value, np.ndarray):
            return value.item() if isinstance(value, np.generic) else value
        name = arg["name"]
        if not isinstance(value, np.ndarray):
            raise TypeError(f"expects argument '{name}' to be an array, "
                            f"but got {type(value).__name__}")
        if element_type(value.dtype.newbyteorder("="), f"argument '{name}'") != arg["type"]:
            raise TypeError(f"expects argument '{name}' to have dtype {_DTYPES[arg['type']]}, "
                            f"but got {value.dtype}")
        if arg["access"] != "read":
            return value
        strides_fit = value.ndim == 0 or value.shape[-1] <= 1 or not arg["contiguity"] or \
            value.strides[-1] == value.itemsize
        if (not strides_fit or not value.dtype.isnative or not value.flags.aligned
                or any(stride < 0 or stride % value.itemsize for stride in value.strides)
                or (arg["contiguity"] == 2 and not value.flags.c_contiguous)
                or type(value) is not np.ndarray):
            return np.array(value, dtype=value.dtype.newbyteorder("="), order="C", copy=True)
        return value

    def _given(self, out):
        outputs = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if len(outputs) != len(self._outputs):
            raise TypeError(f"expects out to be {len(self._outputs)} arrays, "
                            f"but got {len(outputs)}")
        return outputs

    def _allocate(self, inputs, allocate):
        """Outputs, whose free sizes are those of inputs with the same symbol."""
        known = {}
        for arg, value in zip(self._inputs, inputs):
            known.update(zip(arg["symbols"], getattr(value, "shape", ())))
        outputs = []
        for arg in self._outputs:
            shape = []
            for axis, (size, symbol) in enumerate(zip(arg["sizes"], arg["symbols"])):
                if size < 0 and (symbol < 0 or symbol not in known):
                    raise ValueError(f"expects out, since nothing tells the size of axis {axis} "
                                     f"of '{arg['name']}'")
                shape.append(size if size >= 0 else known[symbol])
            outputs.append(allocate(tuple(shape), arg["type"]))
        return outputs


class Library:
    """Compiled functions by name. With one function, it can be called itself."""

    def __init__(self, kernels, module=None, target="cpu", owner=None):
        self._functions = {name: Function(kernel) for name, kernel in kernels.items()}
        self._module, self._target, self._owner = module, target, owner

    @property
    def names(self):
        return list(self._functions)

    @property
    def mlir(self):
        """The module that was compiled; None for a loaded library."""
        return None if self._module is None else str(self._module)

    def __getitem__(self, name):
        if name not in self._functions:
            raise KeyError(f"expects one of {', '.join(self._functions)}, but got {name!r}")
        return self._functions[name]

    def __iter__(self):
        return iter(self._functions.values())

    def __len__(self):
        return len(self._functions)

    def __repr__(self):
        return f"<kron library: {', '.join(map(repr, self))}>"

    def __call__(self, *args, **kwargs):
        if len(self._functions) != 1:
            raise TypeError(f"expects the name of one of the functions {', '.join(self.names)}")
        return next(iter(self))(*args, **kwargs)

    def save(self, path):
        """Writes a shared library, which kron.load and kronLaunch of libkron_runtime
        take; with the extension .mlir the module, with .o an object file."""
        if self._module is None:
            raise ValueError("expects a library that was compiled here, not loaded")
        path = os.fspath(path)
        extension = os.path.splitext(path)[1]
        text = str(self._module)
        if extension not in (".so", ".o", ".mlir"):
            raise ValueError(f"expects path to end in .so, .o or .mlir, but got '{path}'")
        if extension == ".mlir":
            with open(path, "w") as file:
                file.write(text)
            return
        with _compile.translated() as compiler:
            compiled = compiler.compile(text, *_compile.parse_target(self._target),
                                        c_functions=True)
            if extension == ".o":
                with open(path, "wb") as file:
                    file.write(compiled["object"])
            else:
                compiler.save_library(compiled["object"], path, _core.runtime_folder())


def compile(source, *arguments, target="cpu"):
    """Compiles a module (kron.ir.Module or MLIR text) or a function.

    A function (or one that kron.jit decorates) is traced with `arguments`: arrays, of
    which dtype and shape count, or kron.Spec(shape, dtype). Targets: 'cpu' is this
    processor, 'cpu:portable' chooses at run time among x86-64-v2, -v3 and -v4,
    'cpu:NAME' is a processor that LLVM knows; 'cuda' is the GPU of this machine,
    'cuda:sm_90a' one of that kind."""
    if isinstance(source, Jitted):
        module = source.trace(*arguments)
    elif isinstance(source, (ir.Module, str)):
        if arguments:
            raise TypeError("expects no arguments with a module")
        module = source if isinstance(source, ir.Module) else ir.Module(source)
    elif callable(source):
        module = Jitted(source).trace(*arguments)
    else:
        raise TypeError(f"expects source to be a kron.ir.Module, MLIR text or a function, "
                        f"but got {type(source).__name__}")
    kernels = _compile.compile_all(str(module), target=target)
    return Library(kernels, module, target)


def load(path):
    """The functions of a shared library that save or kronc wrote. It is code: load only
    what you trust."""
    path = os.path.abspath(os.fspath(path))
    if not os.path.exists(path):
        raise FileNotFoundError(f"expects path to be a file, but there is no '{path}'")
    names = [name[len(_PREFIX):] for name in _defined_symbols(path) if name.startswith(_PREFIX)]
    if not names:
        raise ValueError(f"expects a library of kron's, but '{path}' defines no kernel")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ValueError(f"cannot load '{path}': {error}") from None
    kernels = {}
    for name in names:
        address = ctypes.addressof(ctypes.c_char.in_dll(library, _PREFIX + name))
        _core.check_kernel(address)
        kernels[name] = _core.Kernel(address, library)
    return Library(kernels, owner=library)


_PREFIX = "kron_kernel_"


def _defined_symbols(path):
    """Names that a 64-bit ELF library defines."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        if data[:5] != b"\x7fELF\x02":
            raise ValueError
        (table,) = struct.unpack_from("<Q", data, 0x28)
        entry_size, count = struct.unpack_from("<HH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size)
                    for i in range(count)]
        names = []
        for section in sections:
            if section[1] != 11:  # SHT_DYNSYM
                continue
            strings = sections[section[6]]
            for offset in range(section[4], section[4] + section[5], 24):
                name, _, _, index = struct.unpack_from("<IBBH", data, offset)
                start = strings[4] + name
                if index:
                    names.append(data[start:data.index(b"\0", start)].decode())
        return names
    except (struct.error, ValueError, IndexError, UnicodeDecodeError):
        raise ValueError(f"expects an ELF shared library, but got '{path}'") from None


class Spec:
    """Shape and dtype of an argument. Sizes may be names, which make them dynamic:
    those of the same name are equal."""

    def __init__(self, shape, dtype=np.float32):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)


class Jitted:
    """A Python function that is traced and compiled per dtypes and shapes."""

    def __init__(self, function, dynamic=None, target="cpu"):
        self._function, self._dynamic, self._target = function, dynamic or {}, target
        self._signature = inspect.signature(function)
        self._compiled = {}
        functools.update_wrapper(self, function)
        unknown = set(self._dynamic) - set(self._signature.parameters)
        if unknown:
            raise ValueError(f"expects dynamic to name arguments of the function, "
                             f"but got {sorted(unknown)}")

    def __call__(self, *args, **kwargs):
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arrays, key = self._flatten(bound.arguments)
        library = self._compiled.get(key)
        if library is None:
            module = self._trace(bound.arguments)
            library = Library(_compile.compile_all(str(module), target=self._target), module,
                              self._target)
            self._compiled[key] = library
        return library(*arrays)

    def trace(self, *args, **kwargs):
        """The module for arguments like these."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._trace(bound.arguments)

    def _shape(self, name, array):
        """The shape with names for dynamic axes."""
        dynamic = self._dynamic.get(name, {})
        if not isinstance(dynamic, dict):
            dynamic = {axis: f"{name}_{axis}" for axis in dynamic}
        return tuple(dynamic.get(axis, size) for axis, size in enumerate(array.shape))

    def _flatten(self, arguments):
        """Arrays in order, and what the compiled code depends on."""
        arrays, key = [], []

        def visit(name, value):
            if isinstance(value, (np.ndarray, Spec)):
                arrays.append(value)
                key.append((value.dtype, self._shape(name, value)))
            elif isinstance(value, (list, tuple)):
                key.append((type(value), len(value)))
                for item in value:
                    visit(name, item)
            else:
                key.append(value)

        for name, value in arguments.items():
            visit(name, value)
        try:
            hash(tuple(key))
        except TypeError:
            raise TypeError("expects arguments to be arrays, lists of arrays, or constants that "
                            "can be hashed") from None
        return arrays, tuple(key)

    def _trace(self, arguments):
        module = ir.Module()
        function = module.function(_identifier(self._function.__name__))

        def visit(name, path, value):
            if isinstance(value, (np.ndarray, Spec)):
                return function.argument(path, value.dtype, self._shape(name, value))
            if isinstance(value, (list, tuple)):
                return type(value)(visit(name, f"{path}_{i}", item)
                                   for i, item in enumerate(value))
            return value

        traced = {name: visit(name, name, value) for name, value in arguments.items()}
        bound = inspect.BoundArguments(self._signature, traced)
        result = self._function(*bound.args, **bound.kwargs)
        function.returns(*(result if isinstance(result, (tuple, list)) else (result,)))
        return module


def _identifier(name):
    return name if name.isidentifier() else "function"


def jit(function=None, *, dynamic=None, target="cpu"):
    """Compiles a function of arrays when it is called.

    The function is run once per combination of dtypes and shapes with values that
    stand for its arrays (kron.ir.Value); other arguments are constants. `dynamic`
    makes sizes of arguments free: {"x": {0: "m"}} names axis 0 of x, {"x": (0,)}
    leaves the naming to kron; sizes of one name are equal."""
    if function is None:
        return functools.partial(jit, dynamic=dynamic, target=target)
    if not callable(function):
        raise TypeError(f"expects a function, but got {type(function).__name__}")
    return Jitted(function, dynamic, target)
