"""libkron_runtime, libkron_compiler and the CUDA driver, in ctypes.

The structs are those of kron/Runtime/Runtime.h and kron/Compiler/Compiler.h.

SPDX-License-Identifier: MIT
"""

import ctypes
import pathlib
import subprocess
from ctypes import (POINTER, Structure, byref, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_uint32, c_uint64, c_void_p, create_string_buffer)

STATUS = (
    "KRON_SUCCESS",
    "KRON_INVALID_ARGUMENT",
    "KRON_MISMATCH",
    "KRON_WORKSPACE_TOO_SMALL",
    "KRON_UNSUPPORTED",
    "KRON_OUT_OF_MEMORY",
    "KRON_VERSION_MISMATCH",
    "KRON_NO_DEVICE",
    "KRON_CUDA_ERROR",
)
CPU, CUDA = 0, 1


class Array(Structure):
    _fields_ = [("data", c_void_p), ("sizes", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("rank", c_int32), ("type", c_int32)]


class ArgInfo(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int32), ("rank", c_int32), ("access", c_int32),
                ("contiguity", c_int32), ("is_scalar", c_int32), ("sizes", POINTER(c_int64)),
                ("symbols", POINTER(c_int32))]


class Kernel(Structure):
    _fields_ = [("api_version", c_uint32), ("num_args", c_int32), ("name", c_char_p),
                ("args", POINTER(ArgInfo)), ("num_versions", c_int32), ("allocates", c_int32),
                ("versions", c_void_p)]


class LaunchOptions(Structure):
    _fields_ = [("num_threads", c_int32), ("target", c_int32), ("workspace", c_void_p),
                ("workspace_bytes", c_size_t), ("device", c_int32), ("stream", c_void_p)]


class CompileOptions(Structure):
    _fields_ = [("gpu_chips", c_char_p), ("reference", c_int32), ("widen", c_int32),
                ("poison_shared_memory", c_int32), ("row_major", c_int32),
                ("records", c_char_p)]


class CompileTimes(Structure):
    _fields_ = [("passes", c_double), ("optimizer", c_double), ("code", c_double),
                ("gpu", c_double)]


class KronError(Exception):
    """A launch or compilation that failed; `status` is a name of STATUS."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status, self.message = status, message


def make_array(address, code, shape, strides=None):
    """A KronArray; `strides` None means row-major. Keeps what it points to."""
    rank = len(shape)
    array = Array(address, (c_int64 * max(rank, 1))(*shape), None, rank, code)
    if strides is not None:
        array.strides = (c_int64 * max(rank, 1))(*strides)
    return array


def find_libraries(root=None):
    """The folder with both libraries: of a build tree, an unpacked bundle or an
    installation."""
    here = pathlib.Path(__file__).resolve().parents[2]
    for base in [pathlib.Path(root)] if root else [here, here / "build"]:
        for folder in (base / "lib", base):
            if (folder / "libkron_compiler.so").exists():
                return folder
    raise SystemExit(f"kron: expects libkron_compiler.so in {root or here}/lib; "
                     "give the build folder with --root")


class Kron:
    """The runtime and the compiler."""

    def __init__(self, root=None):
        self.root = root
        folder = find_libraries(root)
        # Compiled code finds the runtime among the process's symbols.
        self.runtime = ctypes.CDLL(str(folder / "libkron_runtime.so"), mode=ctypes.RTLD_GLOBAL)
        self.compiler = ctypes.CDLL(str(folder / "libkron_compiler.so"))
        self.runtime.kronGetLastError.restype = c_char_p
        self.runtime.kronGetVersion.restype = c_char_p
        launch = [c_void_p, POINTER(Array), c_int32, POINTER(LaunchOptions)]
        self.runtime.kronLaunch.argtypes = launch
        self.runtime.kronGetLaunchWorkspaceSize.argtypes = [*launch, POINTER(c_size_t)]
        self.compiler.kronCompile.argtypes = [c_char_p, POINTER(CompileOptions)]
        self.compiler.kronCompile.restype = c_void_p
        self.compiler.kronGetCompileLog.restype = c_char_p
        self.compiler.kronGetGpuName.argtypes = [c_int32, c_char_p, c_size_t]
        self.compiler.kronGetKernel.argtypes = [c_void_p, c_char_p]
        self.compiler.kronGetKernel.restype = POINTER(Kernel)
        self.compiler.kronMeasureLaunches.argtypes = [*launch, c_int32, POINTER(c_double)]
        self.compiler.kronGetCompileTimes.argtypes = [c_void_p, POINTER(CompileTimes)]
        self.compiler.kronDestroyProgram.argtypes = [c_void_p]

    def cuda_capability(self, device=0):
        """Compute capability times ten, or 0 without a GPU."""
        capability = c_int32()
        status = self.runtime.kronGetCudaCapability(device, byref(capability))
        return 0 if status else capability.value

    def chip(self, device=0):
        """The GPU as compile() takes it: "h200", with its rates if it was calibrated."""
        name = create_string_buffer(512)
        if self.compiler.kronGetGpuName(device, name, len(name)):
            raise RuntimeError(f"GPU {device}: {self.runtime.kronGetLastError().decode()}")
        return name.value.decode()

    def compile(self, text, chips="", reference=False, widen=False, poison=False,
                row_major=False, records=""):
        """A program; `poison`: its GPU kernels fill shared memory with NaN first; `row_major`:
        all arrays will be; `records`: a file of tuning records, whoever else has some."""
        options = CompileOptions(chips.encode(), reference, widen, poison, row_major,
                                 str(records).encode())
        handle = self.compiler.kronCompile(text.encode(), byref(options))
        log = (self.compiler.kronGetCompileLog() or b"").decode()
        if not handle:
            raise KronError("compile", log)
        return Program(self, handle, log)

    def measure_limits(self, type_code, size, threads):
        """Operations and bytes per second of the processor's multiply-adds on a type
        and of a copy that touches `size` bytes."""
        flops, rate = c_double(), c_double()
        self.compiler.kronMeasureProcessor(type_code, c_double(size), threads, byref(flops),
                                           byref(rate))
        return flops.value, rate.value

    def check(self, status):
        if status:
            raise KronError(STATUS[status], self.runtime.kronGetLastError().decode())


class Program:
    """Compiled kernels; released with the object."""

    def __init__(self, kron, handle, log):
        self.kron, self.handle, self.log = kron, handle, log

    def __del__(self):
        if self.handle:
            self.kron.compiler.kronDestroyProgram(self.handle)
            self.handle = None

    def kernel(self, name):
        kernel = self.kron.compiler.kronGetKernel(self.handle, name.encode())
        if not kernel:
            raise KronError("compile", f"no kernel {name}")
        return kernel

    def times(self):
        times = CompileTimes()
        self.kron.compiler.kronGetCompileTimes(self.handle, byref(times))
        return {name: getattr(times, name) for name, _ in CompileTimes._fields_}


class Call:
    """A kernel with its arguments, ready to be launched again and again."""

    def __init__(self, program, name, arrays, target=CUDA, device=0, stream=None, threads=0):
        self.program, self.kernel = program, program.kernel(name)
        self.lib = program.kron.runtime
        self.arrays, self.count = (Array * max(len(arrays), 1))(*arrays), len(arrays)
        self.options = LaunchOptions(threads, target, None, 0, device, stream)
        self._arguments = (self.kernel, self.arrays, self.count, byref(self.options))

    def workspace_size(self):
        size = c_size_t()
        self.program.kron.check(
            self.lib.kronGetLaunchWorkspaceSize(*self._arguments, byref(size)))
        return size.value

    def use_workspace(self, address, size):
        self.options.workspace, self.options.workspace_bytes = address, size

    def __call__(self):
        if self.lib.kronLaunch(*self._arguments):
            self.program.kron.check(self.lib.kronLaunch(*self._arguments))

    def host_seconds(self, count):
        """Seconds that the caller spends per launch, measured in C."""
        seconds = c_double()
        self.program.kron.check(self.program.kron.compiler.kronMeasureLaunches(
            *self._arguments, count, byref(seconds)))
        return seconds.value

    def launch(self):
        """Like a call, but once only: raises KronError."""
        self.program.kron.check(self.lib.kronLaunch(*self._arguments))


#===------------------------------------------------------------------------===#
# The CUDA driver
#===------------------------------------------------------------------------===#


class CudaError(Exception):
    pass


class Cuda:
    """What tests and benchmarks need of the driver, on one GPU's primary context,
    which PyTorch and the runtime use too."""

    def __init__(self, device=0):
        try:
            self.lib = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise CudaError("no CUDA driver") from None
        self.call("cuInit", 0)
        handle, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(handle), device)
        self.call("cuDevicePrimaryCtxRetain", byref(context), handle)
        self.call("cuCtxSetCurrent", context)
        self.device, self.handle = device, handle

    def call(self, name, *arguments):
        result = getattr(self.lib, name)(*arguments)
        if result:
            text = c_char_p()
            self.lib.cuGetErrorName(result, byref(text))
            raise CudaError(f"{name}: {(text.value or b'').decode()} ({result})")

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", text, 100, self.handle)
        return text.value.decode()

    def attribute(self, number):
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), number, self.handle)
        return value.value

    def driver_version(self):
        value = c_int()
        self.call("cuDriverGetVersion", byref(value))
        return f"{value.value // 1000}.{value.value % 1000 // 10}"

    def machine(self):
        """What result files say about the GPU."""
        return {"gpu": self.name(), "driver": kernel_driver(),
                "driver_cuda": self.driver_version()}

    def l2_bytes(self):
        return self.attribute(38)

    def synchronize(self):
        self.call("cuCtxSynchronize")

    def allocate(self, size):
        return DeviceMemory(self, size)

    def stream(self):
        stream = c_void_p()
        self.call("cuStreamCreate", byref(stream), 1)  # non-blocking
        return stream

    def event(self):
        event = c_void_p()
        self.call("cuEventCreate", byref(event), 0)
        return event

    def record(self, event, stream=None):
        self.call("cuEventRecord", event, stream)

    def milliseconds(self, start, stop):
        self.call("cuEventSynchronize", stop)
        value = ctypes.c_float()
        self.call("cuEventElapsedTime", byref(value), start, stop)
        return value.value


def kernel_driver():
    """Of NVIDIA's kernel module, or "" where nothing tells it."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=driver_version",
                               "--format=csv,noheader"], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.split("\n")[0].strip() if done.returncode == 0 else ""


class DeviceMemory:
    """Memory on the GPU, released with the object."""

    def __init__(self, cuda, size):
        address = c_uint64()
        self.cuda, self.size, self.address = cuda, size, 0
        cuda.call("cuMemAlloc_v2", byref(address), c_size_t(max(size, 1)))
        self.address = address.value

    def __del__(self):
        if self.address:
            self.cuda.lib.cuMemFree_v2(c_uint64(self.address))

    def upload(self, array):
        self.cuda.call("cuMemcpyHtoD_v2", c_uint64(self.address), c_void_p(array.ctypes.data),
                       c_size_t(array.nbytes))

    def download(self, array, offset=0):
        """Into `array`, which is contiguous."""
        self.cuda.call("cuMemcpyDtoH_v2", c_void_p(array.ctypes.data),
                       c_uint64(self.address + offset), c_size_t(array.nbytes))
        return array

    def fill(self, byte, stream=None):
        self.cuda.call("cuMemsetD8Async", c_uint64(self.address), ctypes.c_ubyte(byte),
                       c_size_t(self.size), stream)

    def copy_from(self, other, stream=None):
        self.cuda.call("cuMemcpyDtoDAsync_v2", c_uint64(self.address), c_uint64(other.address),
                       c_size_t(min(self.size, other.size)), stream)
