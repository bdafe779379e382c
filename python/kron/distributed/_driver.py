# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Calls of CUDA's driver that PyTorch has no functions for: copies of boxes, and words in memory that
streams write and wait for."""

import ctypes

#: The driver's limit of the distance between lines of a box.
MOST_PITCH = 2**31 - 1


class _Box3D(ctypes.Structure):
    """CUDA_MEMCPY3D of the driver's interface."""

    _fields_ = [field for side in ("src", "dst") for field in (
        (f"{side}XInBytes", ctypes.c_size_t), (f"{side}Y", ctypes.c_size_t),
        (f"{side}Z", ctypes.c_size_t), (f"{side}LOD", ctypes.c_size_t),
        (f"{side}MemoryType", ctypes.c_int), (f"{side}Host", ctypes.c_void_p),
        (f"{side}Device", ctypes.c_uint64), (f"{side}Array", ctypes.c_void_p),
        (f"{side}Reserved", ctypes.c_void_p), (f"{side}Pitch", ctypes.c_size_t),
        (f"{side}Height", ctypes.c_size_t))] + [
            ("LineBytes", ctypes.c_size_t), ("Lines", ctypes.c_size_t),
            ("Planes", ctypes.c_size_t)]


_DEVICE_MEMORY = 2  # CU_MEMORYTYPE_DEVICE
_AT_LEAST = 0  # CU_STREAM_WAIT_VALUE_GEQ: differences of words are signed ones, so that they may wrap.
_BEHIND_ALL_WRITES = 0  # CU_STREAM_WRITE_VALUE_DEFAULT


def box_of(sizes, target, source, width):
    """The box of two arrays of sizes (planes, lines, elements of a line), each given by its (plane,
    line), the elements from one to the next; None if it is empty. `width` is bytes of an element."""
    planes, lines, elements = sizes
    if not planes * lines * elements:
        return None
    box = _Box3D(LineBytes=elements * width, Lines=lines, Planes=planes,
                 srcMemoryType=_DEVICE_MEMORY, dstMemoryType=_DEVICE_MEMORY)
    for side, (plane, line) in (("src", source), ("dst", target)):
        setattr(box, f"{side}Pitch", line * width)
        setattr(box, f"{side}Height", plane // line if planes > 1 else lines)
    return box


class Driver:
    """Gives work to streams of PyTorch. The driver's context is PyTorch's."""

    def __init__(self):
        library = ctypes.CDLL("libcuda.so.1")
        self._copy = library.cuMemcpy3DAsync_v2
        self._copy.argtypes = [ctypes.POINTER(_Box3D), ctypes.c_void_p]
        self._write, self._wait = library.cuStreamWriteValue32_v2, library.cuStreamWaitValue32_v2
        for function in (self._write, self._wait):
            function.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint]

    def copy(self, box, target, source, stream):
        """Copies a box by a copy engine."""
        box.dstDevice, box.srcDevice = target, source
        _check("cuMemcpy3DAsync", self._copy(ctypes.byref(box), stream.cuda_stream))

    def write(self, address, word, stream):
        """Writes 32 bits when all that was written before is seen by other GPUs."""
        _check("cuStreamWriteValue32",
               self._write(stream.cuda_stream, address, word, _BEHIND_ALL_WRITES))

    def wait(self, address, word, stream):
        """The stream waits until 32 bits are so many or more."""
        _check("cuStreamWaitValue32", self._wait(stream.cuda_stream, address, word, _AT_LEAST))


def _check(name, status):
    if status:
        raise RuntimeError(f"{name}: CUDA's driver reports error {status}")
