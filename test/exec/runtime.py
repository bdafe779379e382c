"""libkron_runtime as a program that links compiled kernels calls it.

SPDX-License-Identifier: MIT
"""

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_size_t

import kron_bench_path
from kronlib import STATUS, Array, Kernel, LaunchOptions


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
