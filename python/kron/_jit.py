"""Compiled functions: kron.jit, kron.compile, kron.load.

SPDX-License-Identifier: MIT
"""

import ctypes
import functools
import importlib.util
import inspect
import math
import os
import re
import struct

import numpy as np

from kron import _compile, _core, _nodes, ir
from kron._fallback import TYPES, describe, element_type, is_foreign
from kron._quantize import KINDS

#: Of compiled functions; operations by themselves take none of 8 bits.
_DTYPES = {element: name for name, element in {**TYPES, **KINDS}.items()}


@functools.lru_cache(maxsize=None)
def _dtype(element):
    """NumPy's dtype of an element type."""
    name = _DTYPES[element]
    if element not in ("bf16", "f8E4M3FN", "f8E5M2"):
        return np.dtype(name)
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, name))
    _core.register_type(element, dtype.num)
    return dtype


@functools.lru_cache(maxsize=None)
def torch_dtype(element):
    """PyTorch's dtype of an element type."""
    import torch

    return getattr(torch, _DTYPES[element])


def _empty_array(shape, element):
    return np.empty(shape, _dtype(element))


def _is_tensor(value):
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "data_ptr")


def _is_array(value):
    return isinstance(value, (np.ndarray, Spec)) or is_foreign(value)


def _is_on_gpu(value):
    if _is_tensor(value):
        return value.is_cuda
    if not is_foreign(value):
        return False
    from kron import _cuda

    return _cuda.is_on_gpu(value)


def _viewed(value, name="an argument"):
    """`value`, or a NumPy array that looks like an array of another library than
    PyTorch: a view of it, on a GPU one without elements."""
    if not is_foreign(value) or _is_tensor(value):
        return value
    if _is_on_gpu(value):
        from kron import _cuda

        return _cuda.stand_in(_cuda.buffer_of(value, name))
    from kron import _interop

    return _interop.to_numpy(value, name)


def _device_of(value):
    """The number of the GPU that an array is on, else -1."""
    if not _is_on_gpu(value):
        return -1
    if _is_tensor(value):
        return value.device.index
    from kron import _cuda

    return _cuda.buffer_of(value, "an argument").device


def _is_row_major(array):
    if _is_tensor(array):
        return array.is_contiguous()
    return not isinstance(array, Spec) and _viewed(array).flags.c_contiguous


def _dtype_of(array):
    """NumPy's dtype of an array, tensor or Spec."""
    if not _is_tensor(array):
        return array.dtype
    name = str(array.dtype).rpartition(".")[2]
    if name not in TYPES:
        raise TypeError(f"expects tensors of dtype {', '.join(TYPES)}, but got {array.dtype}")
    return _dtype(TYPES[name])


def _has_strides_for(arg, tensor):
    """Whether a kernel takes the tensor's strides."""
    return (tensor.is_contiguous() or not arg["contiguity"]
            or (arg["contiguity"] == 1 and (tensor.shape[-1] <= 1 or tensor.stride(-1) == 1)))


_PLAIN = {np.ndarray}

#: Types of tensors that kernels take in PyTorch's current stream, and of numbers beside them.
_PLAIN_TENSORS = set()
_empty_like = None


def register_tensors(kinds, empty_like):
    """From now on kernels take tensors of these types as they are; `empty_like` makes others, for one of
    them, of a shape and an element type."""
    global _empty_like
    _PLAIN_TENSORS.update(kinds, (float,))
    _empty_like = empty_like


class Function:
    """One compiled function; called with arrays, it returns new ones.

    `out` gives the arrays to write instead, one or a tuple of them."""

    def __init__(self, kernel):
        self._kernel = kernel
        self._args = kernel.args
        for arg in self._args:
            if arg["type"] in ("f8E4M3FN", "f8E5M2") and importlib.util.find_spec("ml_dtypes"):
                _dtype(arg["type"])
        self._inputs = [arg for arg in self._args if arg["access"] != "write"]
        self._outputs = [arg for arg in self._args if arg["access"] == "write"]
        self._plan = self._output_plan()
        #: Whether there are arrays that have to be row-major.
        self.needs_row_major = any(arg["contiguity"] == 2 and arg["sizes"] for arg in self._args)
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

    def _output_plan(self):
        """[(shape, element type)] of outputs that follow the inputs, with (number of an
        input, axis) for free sizes; None if that does not say it all."""
        if self._args != self._inputs + self._outputs:
            return None
        known = {symbol: (number, axis) for number, arg in enumerate(self._inputs)
                 for axis, symbol in enumerate(arg["symbols"]) if symbol >= 0}
        plan = []
        for arg in self._outputs:
            shape = [size if size >= 0 else known.get(symbol)
                     for size, symbol in zip(arg["sizes"], arg["symbols"])]
            if None in shape:
                return None
            plan.append((shape, arg["type"]))
        return plan

    def _call_simply(self, args):
        """The call if arrays can be taken as they are; the kernel checks them."""
        outputs = []
        for shape, element in self._plan:
            sizes = [size if type(size) is int else args[size[0]].shape[size[1]]
                     for size in shape]
            outputs.append(np.empty(sizes, _dtype(element)))
        self._kernel(*args, *outputs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def __call__(self, *args, out=None):
        if self._plan is not None and len(args) == len(self._inputs):
            kinds = set(map(type, args))
            try:
                if kinds == _PLAIN and out is None:
                    return self._call_simply(args)
                if kinds <= _PLAIN_TENSORS and self._are_plain(args):
                    return self._call_tensors_simply(args, out)
            except (TypeError, ValueError, IndexError):
                pass  # Converts what can be, and says what is wrong.
        if len(args) != len(self._inputs):
            names = ", ".join(arg["name"] for arg in self._inputs)
            raise TypeError(f"{self.__name__}() expects {len(self._inputs)} arguments ({names}), "
                            f"but got {len(args)}")
        tensor = next((value for value in args if _is_tensor(value)), None)
        if tensor is not None:
            return self._call_tensors(tensor, args, out)
        foreign = next((value for value in args if is_foreign(value)), None)
        if foreign is not None:
            call = self._call_gpu if _is_on_gpu(foreign) else self._call_foreign
            return call(foreign, args, out)
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
            return torch.empty(shape, dtype=torch_dtype(element), device=tensor.device)

        inputs = [self._tensor(arg, value) if _is_tensor(value) else value
                  for arg, value in zip(self._inputs, args)]
        outputs = self._allocate(inputs, allocate) if out is None else self._given(out)
        stream = torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else 0
        self._run(inputs, outputs, stream)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _are_plain(self, args):
        """Whether there are tensors that the kernel may take as they are, numbers among them."""
        tensors = [(arg, value) for arg, value in zip(self._inputs, args) if type(value) is not float]
        for arg, value in tensors:
            if value.requires_grad or value.is_neg() or value.is_conj() or not _has_strides_for(arg, value):
                return False
        return bool(tensors)

    def _call_tensors_simply(self, args, out):
        """The call with such tensors; the kernel checks them."""
        if out is None:
            tensor = next(value for value in args if type(value) is not float)
            outputs = [_empty_like(tensor, [size if type(size) is int else args[size[0]].shape[size[1]]
                                            for size in shape], element) for shape, element in self._plan]
        else:
            outputs = self._given(out)
        self._kernel(*args, *outputs, stream=None)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _tensor(self, arg, value):
        import torch

        if value.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"expects argument '{arg['name']}' to need no gradient, since "
                             "compiled functions have no derivatives; use torch.no_grad() or "
                             "detach()")
        value = value.detach().resolve_conj().resolve_neg()
        return value if _has_strides_for(arg, value) or arg["access"] != "read" else value.contiguous()

    def _call_foreign(self, foreign, args, out):
        """Arrays of other libraries on the CPU; results are of the same one."""
        from kron import _interop

        inputs = [self._input(arg, _interop.to_numpy(value, f"argument '{arg['name']}'")
                              if is_foreign(value) else value)
                  for arg, value in zip(self._inputs, args)]
        outputs = self._given(out) if out is not None else self._allocate(
            inputs, lambda shape, element: _interop.allocate(shape, _dtype(element)))
        self._run(inputs, outputs)
        if out is None:
            outputs = [_interop.from_numpy(output, foreign) for output in outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _call_gpu(self, foreign, args, out):
        """Arrays of other libraries on a GPU, in their stream."""
        from kron import _cuda

        def buffer_of(arg, value):
            if not arg["sizes"]:
                return value.item() if hasattr(value, "item") else value
            name = f"argument '{arg['name']}'"
            if not is_foreign(value):
                raise ValueError(f"expects {name} on the GPU like the others, but it is "
                                 f"{describe(value)}")
            return _cuda.buffer_of(value, name)

        inputs = [buffer_of(arg, value) for arg, value in zip(self._inputs, args)]
        device = _cuda.buffer_of(foreign, "an argument").device
        stream = _cuda.stream_of(foreign)
        if out is None:
            made = self._allocate(inputs, lambda shape, element: _cuda.allocate(
                foreign, shape, _dtype(element)))
            results, outputs = zip(*made)
        else:
            results = self._given(out)
            for result in results:
                _cuda.check_output(result)
            outputs = list(map(buffer_of, self._outputs, results))
        self._run(inputs, outputs, stream)
        _cuda.finish(foreign, device, stream)
        return results[0] if len(results) == 1 else tuple(results)

    def _input(self, arg, value):
        if not arg["sizes"] and not isinstance(value, np.ndarray):
            return value.item() if isinstance(value, np.generic) else value
        name = arg["name"]
        if not isinstance(value, np.ndarray):
            raise TypeError(f"expects argument '{name}' to be an array, "
                            f"but got {type(value).__name__}")
        if KINDS.get(value.dtype.name) == arg["type"]:
            pass
        elif element_type(value.dtype.newbyteorder("="), f"argument '{name}'") != arg["type"]:
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
            compiled = compiler.Compilation(text, *_compile.parse_target(self._target)).compile(
                c_functions=True)
            if extension == ".o":
                with open(path, "wb") as file:
                    file.write(compiled["object"])
            else:
                compiler.save_library(compiled["object"], path, _core.runtime_folder())


def compile(source, *arguments, target="cpu", row_major=False):
    """Compiles a module (kron.ir.Module or MLIR text) or a function.

    A function (or one that kron.jit decorates) is traced with `arguments`: arrays, of
    which dtype and shape count, or kron.Spec(shape, dtype). Targets: 'cpu' is this
    processor, 'cpu:portable' chooses at run time among x86-64-v2, -v3 and -v4,
    'cpu:NAME' is a processor that LLVM knows; 'cuda' is the GPU of this machine,
    'cuda:sm_90a' one of that kind. With `row_major` the arrays of a function with sparse
    factors have to be row-major, which takes half of the time to compile."""
    if isinstance(source, Jitted) or (callable(source) and not isinstance(source, ir.Module)):
        traced = source if isinstance(source, Jitted) else Jitted(source)
        module, captured = traced._trace(traced._values(arguments, {}))
        if captured:
            raise TypeError("expects all arrays of the function to be arguments of it, but it "
                            f"uses {len(captured)} other array(s)")
        module.functions[0].row_major = bool(row_major)
    elif isinstance(source, (ir.Module, str)):
        if arguments:
            raise TypeError("expects no arguments with a module")
        if row_major:
            raise TypeError("expects no row_major with a module, whose functions say it "
                            "themselves: kron.ir.Function.row_major, or in text kron.row_major")
        module = source if isinstance(source, ir.Module) else ir.Module(source)
    else:
        raise TypeError(f"expects source to be a kron.ir.Module, MLIR text or a function, "
                        f"but got {type(source).__name__}")
    kernels = _compile.compile_all(str(module), target=target)
    if not kernels:
        raise ValueError("expects source to have a public function, but got none")
    return Library(kernels, module, target)


def load(path):
    """The functions of a shared library that save or kronc wrote. It is code: load only
    what you trust."""
    try:
        path = os.path.abspath(os.fspath(path))
    except TypeError:
        raise TypeError(f"expects path to be a path, but got {type(path).__name__}") from None
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
    those of the same name are equal. None is a name of its own."""

    def __init__(self, shape, dtype=np.float32):
        if isinstance(shape, str) or not hasattr(shape, "__iter__"):
            raise TypeError(f"expects shape to be a tuple of sizes, but got {shape!r}")
        self.shape = tuple(shape)
        for size in self.shape:
            ir.check_size(size)
        self.dtype = ir.element_of(dtype)[1]

    def __repr__(self):
        return f"Spec({self.shape}, {self.dtype.name!r})"


class Jitted:
    """A Python function that is traced and compiled per dtypes and shapes."""

    def __init__(self, function, dynamic=None, target=None):
        self._function, self._target = function, target
        if target is not None:
            _compile.parse_target(target)
        self._signature = inspect.signature(function)
        self._names = tuple(self._signature.parameters)
        self._is_plain = all(parameter.kind == parameter.POSITIONAL_OR_KEYWORD
                             for parameter in self._signature.parameters.values())
        self._dynamic = self._check_dynamic(dynamic or {})
        self._compiled = {}
        functools.update_wrapper(self, function)

    def _check_dynamic(self, dynamic):
        if not isinstance(dynamic, dict):
            raise TypeError(f"expects dynamic to be a dictionary, but got {dynamic!r}")
        unknown = set(dynamic) - set(self._names)
        if unknown:
            raise ValueError(f"expects dynamic to name arguments of the function, "
                             f"but got {sorted(map(str, unknown))}")
        result = {}
        for name, axes in dynamic.items():
            if isinstance(axes, (list, tuple, set)):
                axes = {axis: f"{name}_{axis}" for axis in axes}
            if not isinstance(axes, dict) or not all(isinstance(axis, int) for axis in axes):
                raise TypeError(f"expects dynamic['{name}'] to be axes, or a dictionary from axes "
                                f"to names, but got {axes!r}")
            result[name] = axes
        return result

    def _values(self, args, kwargs):
        """The values of the parameters, in order."""
        if self._is_plain and not kwargs and len(args) == len(self._names):
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self._names)

    def __call__(self, *args, **kwargs):
        values = self._values(args, kwargs)
        arrays, key = [], []
        for name, value in zip(self._names, values):
            self._flatten(self._dynamic.get(name), value, arrays, key)
        key = tuple(key)
        try:
            entry = self._compiled.get(key)
        except TypeError:
            raise TypeError("expects arguments to be arrays, lists or dictionaries of them, or "
                            "constants that can be hashed") from None
        if entry is not None and entry[0].needs_row_major \
                and not all(map(_is_row_major, arrays)):
            key = (*key, "any layout")
            entry = self._compiled.get(key)
        if entry is None:
            entry = self._compiled[key] = self._compile(values, arrays)
        function, captured = entry
        return function(*arrays, *captured)

    def _compile(self, values, arrays):
        module, captured = self._trace(values)
        device = max(map(_device_of, arrays), default=-1)
        shapes = None if self._target else [_viewed(array).shape for array in [*arrays, *captured]]
        kernels = _compile.compile_all(str(module), target=self._target or "cpu",
                                       device=-1 if self._target else device, shapes=shapes)
        (kernel,) = kernels.values()
        return Function(kernel), captured

    def trace(self, *args, **kwargs):
        """The module for arguments like these, kron.Spec among them."""
        return self._trace(self._values(args, kwargs))[0]

    def multiply_adds(self, *args, **kwargs):
        """Of kron's operations in the function, for arguments like these."""
        module, _ = Jitted(self._function)._trace(self._values(args, kwargs))
        values, _ = module.functions[0].simplified()
        return sum(round(value.node.multiply_adds * math.prod(value.shape))
                   for value in values if isinstance(value.node, _nodes.Product))

    def _shape(self, dynamic, array):
        """The shape with names for dynamic axes."""
        shape = tuple(array.shape)
        if dynamic is None:
            return shape
        if any(not -len(shape) <= axis < len(shape) for axis in dynamic):
            raise ValueError(f"expects dynamic to name axes of {shape}, but got {dynamic}")
        names = {axis % len(shape): name for axis, name in dynamic.items()}
        return tuple(names.get(axis, size) for axis, size in enumerate(shape))

    def _flatten(self, dynamic, value, arrays, key):
        """Arrays in order, and what the compiled code depends on."""
        if type(value) is np.ndarray:
            arrays.append(value)
            key += (value.dtype, value.shape if dynamic is None else self._shape(dynamic, value))
        elif _is_array(value):
            arrays.append(value)
            view = _viewed(value)
            device = value.device if _is_tensor(value) else _device_of(value)
            key += (type(view), device, view.dtype, self._shape(dynamic, view))
        elif isinstance(value, (list, tuple)):
            key += (type(value), len(value))
            for item in value:
                self._flatten(dynamic, item, arrays, key)
        elif isinstance(value, dict):
            key += (dict, tuple(value))
            for item in value.values():
                self._flatten(dynamic, item, arrays, key)
        else:
            key += (type(value), value)

    def _trace(self, values):
        """(module, arrays that it captured) for values of the parameters."""
        module = ir.Module()
        # C reserves names that start with two underscores.
        name = re.sub("^__+", "_", self._function.__name__)
        function = module.function(_identifier(name), captures=True)
        arrays = []

        def visit(name, path, value):
            if _is_array(value):
                arrays.append(value)
                while any(known.name == "%" + path for known in function.arguments):
                    path += "_"
                view = _viewed(value, path)
                return function.argument(path, _dtype_of(view),
                                         self._shape(self._dynamic.get(name), view))
            if isinstance(value, dict):
                return {key: visit(name, _identifier(f"{path}_{key}"), item)
                        for key, item in value.items()}
            if isinstance(value, (list, tuple)):
                return _rebuilt(value, [visit(name, f"{path}_{i}", item)
                                        for i, item in enumerate(value)])
            return value

        traced = {name: visit(name, name, value) for name, value in zip(self._names, values)}
        bound = inspect.BoundArguments(self._signature, traced)
        result = self._function(*bound.args, **bound.kwargs)
        function.returns(*(result if isinstance(result, (tuple, list)) else (result,)))
        function.row_major = all(map(_is_row_major, [*arrays, *function.captured]))
        return module, function.captured


def _rebuilt(sequence, items):
    """A list, tuple or named tuple like `sequence`."""
    return type(sequence)(*items) if hasattr(sequence, "_fields") else type(sequence)(items)


def _identifier(name):
    return re.sub(r"\W|^(?=\d)", "_", name, flags=re.ASCII)


def jit(function=None, *, dynamic=None, target=None):
    """Compiles a function of arrays when it is called.

    The function is run once per combination of dtypes and shapes with values that
    stand for its arrays (kron.ir.Value); other arguments are constants. NumPy arrays
    that it finds elsewhere are handed to the compiled function in every call. `dynamic`
    makes sizes of arguments free: {"x": {0: "m"}} names axis 0 of x, {"x": (0,)}
    leaves the naming to kron; sizes of one name are equal. Without `target` (see
    kron.compile) the function runs where its arrays are."""
    if function is None:
        return functools.partial(jit, dynamic=dynamic, target=target)
    if not callable(function):
        raise TypeError(f"expects a function, but got {type(function).__name__}")
    return Jitted(function, dynamic, target)
