"""The structs and functions of kron/Runtime/Runtime.h, in ctypes.

SPDX-License-Identifier: MIT
"""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p

API_VERSION = 3
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


class Array(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("sizes", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("rank", c_int32),
        ("type", c_int32),
    ]


class ArgInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_int32),
        ("rank", c_int32),
        ("access", c_int32),
        ("contiguity", c_int32),
        ("is_scalar", c_int32),
        ("sizes", POINTER(c_int64)),
        ("symbols", POINTER(c_int32)),
    ]


class Version(Structure):
    _fields_ = [
        ("isa", c_int32),
        ("entry", c_void_p),
        ("shared_bytes", c_int64),
        ("thread_bytes", c_int64),
        ("cuda", c_void_p),
    ]


class Kernel(Structure):
    _fields_ = [
        ("api_version", c_uint32),
        ("num_args", c_int32),
        ("name", c_char_p),
        ("args", POINTER(ArgInfo)),
        ("num_versions", c_int32),
        ("allocates", c_int32),
        ("versions", POINTER(Version)),
    ]


class LaunchOptions(Structure):
    _fields_ = [
        ("num_threads", c_int32),
        ("target", c_int32),
        ("workspace", c_void_p),
        ("workspace_bytes", c_size_t),
        ("device", c_int32),
        ("stream", c_void_p),
    ]


def make_array(address, element_code, shape, strides):
    """A KronArray; `strides` None means row-major. Keeps what it points to."""
    rank = len(shape)
    sizes = (c_int64 * max(rank, 1))(*shape)
    array = Array(address, sizes, None, rank, element_code)
    if strides is not None:
        array.strides = (c_int64 * max(rank, 1))(*strides)
    return array


class Runtime:
    """libkron_runtime, loaded so that compiled modules find its symbols."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self.lib.kronGetLastError.restype = c_char_p
        self.lib.kronLaunch.argtypes = [
            POINTER(Kernel), POINTER(Array), c_int32, POINTER(LaunchOptions)
        ]
        self.lib.kronGetWorkspaceSize.argtypes = [POINTER(Kernel), c_int32, POINTER(c_size_t)]

    def load(self, path):
        return ctypes.CDLL(str(path))

    def kernel(self, module, name):
        return Kernel.in_dll(module, f"kron_kernel_{name}")

    def launch(self, kernel, arrays, threads=0, workspace=None, workspace_bytes=0):
        """Runs the kernel: name of the status and its message ("" on success)."""
        packed = (Array * max(len(arrays), 1))(*arrays)
        options = LaunchOptions(threads, 0, workspace, workspace_bytes)
        status = self.lib.kronLaunch(
            ctypes.byref(kernel), packed, len(arrays), ctypes.byref(options)
        )
        message = self.lib.kronGetLastError().decode() if status else ""
        return STATUS[status], message

    def workspace_size(self, kernel, threads):
        size = c_size_t()
        status = self.lib.kronGetWorkspaceSize(ctypes.byref(kernel), threads, ctypes.byref(size))
        return STATUS[status], size.value
