"""The CUDA driver whose kernels run here: the library of test/unit/FakeCuda.cpp, which hands launches on.

SPDX-License-Identifier: MIT
"""

import ctypes
import functools
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_uint, c_uint64, c_void_p

from . import machine, parser
from .code import Code
from .memory import Memory
from .parser import Unsupported
from .shared import Fault

#: Kernel, PTX, grid, block, cluster, bytes of shared memory, whether it starts early, addresses of the arguments; an
#: error or 0.
RUN = CFUNCTYPE(c_int, c_char_p, c_char_p, c_uint, c_uint, c_uint, c_uint, c_int, POINTER(c_void_p))
LAUNCH_FAILED = 719


@functools.lru_cache(4)
def _kernels(image):
    return parser.split(image.decode())


@functools.lru_cache(8)
def _code(name, text):
    return Code(parser.parse(name, text))


class Driver:
    """What GPU tests use of kronlib.Cuda, and what went wrong in launches."""

    def __init__(self, library, num_sms):
        # Under this name the runtime looks for it too, and finds what is loaded.
        self.lib = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        self.memory = Memory()
        self.problems, self.launches, self.steps = {}, [], 0
        #: Changes a kernel's PTX before it runs: from its name and text to another text.
        self.edit = None
        self._run = RUN(self._launch)
        self.lib.fakeCudaInterpret(self._run, num_sms)

    def allocate(self, size):
        return self.memory.allocate(size)

    def synchronize(self):
        """Launches are over when they return."""

    def reset(self):
        """Forgets arrays, launches and problems."""
        self.memory.allocations.clear()
        self.problems, self.launches, self.steps = {}, [], 0

    def report(self, kind, text):
        count, first = self.problems.get(kind, (0, text))
        self.problems[kind] = count + 1, first

    def summary(self):
        """What went wrong, or None."""
        lines = [f"{kind}: {text}" + (f", and {count - 1} more" if count > 1 else "")
                 for kind, (count, text) in self.problems.items()]
        return "\n  ".join(lines) or None

    def _launch(self, name, image, *configuration):
        try:
            self.launches.append(name.decode())
            self.execute(name.decode(), image, *configuration)
            return 0
        except (Fault, Unsupported) as error:
            self.report(f"{name.decode()} does not run", str(error))
        except Exception as error:  # pylint: disable=broad-except
            self.report("the interpreter failed", repr(error))
        return LAUNCH_FAILED

    def execute(self, name, image, grid, block, cluster, shared_bytes, starts_early, arguments):
        text = _kernels(image)[name]
        code = _code(name, self.edit(name, text) if self.edit else text)
        kernel = code.kernel
        if block > kernel.max_threads:
            raise Fault(f"{block} threads, of at most {kernel.max_threads}")
        types = {8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: c_uint, 64: c_uint64}
        parameters = {param: types[width].from_address(arguments[i]).value
                      for i, (param, width) in enumerate(kernel.params)}
        launch = machine.Launch(grid, block, max(cluster, 1), shared_bytes, parameters, bool(starts_early))
        self.steps += machine.run(code, launch, self.memory, self.report)
