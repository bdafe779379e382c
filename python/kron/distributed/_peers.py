# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Memory of the other GPUs of a host, which this rank writes to.

Where all ranks of a group have GPUs of one host with access to each other, what a rank sends
goes straight to its place in a window, an array of PyTorch's symmetric memory that each rank
has: by copy engines, which take boxes out of arrays without packing and leave the SMs to
kernels. Ranks tell each other by signals, which streams wait for and hosts do not.

Protocol of one exchange, on every rank:

    begin()                    copies wait until all others have read their windows
    put(...), signal(n)        boxes of step n, to each other rank; then that all up to it is there
    keep(...)                  what this rank itself gets
    wait(n)                    the current stream waits for all others' step n
    end()                      tells the others that this rank has read its window

signal is called where `signalling` has made its stream the current one.

A signal is taken before it is given again, so that a late rank can never be overtaken.
"""

import ctypes
import os
import socket
import warnings

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _resolve_process_group

#: Channel of the signal that a window may be written to; those of steps follow it.
_READY = 0
#: Signals that a window has room for, of each rank: steps and the one above.
_CHANNELS = 32
_WORD_BYTES = 4
#: The driver's limit of the distance between lines of a box.
MOST_PITCH = 2**31 - 1
#: Bytes of a line from which on copy engines move a box at their full rate, 380 GB/s between two
#: H200; lines of 128 bytes move at 354 GB/s.
LINE_BYTES = 512
#: Windows are whole multiples of this, so that they seldom grow.
_GRAIN = 64 << 20


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


def _copy_function():
    function = ctypes.CDLL("libcuda.so.1").cuMemcpy3DAsync_v2
    function.argtypes = [ctypes.POINTER(_Box3D), ctypes.c_void_p]
    return function


class Peers:
    """The ranks of a group, seen from one of them."""

    def __init__(self, group, device):
        self.group, self.device = group, device
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        #: The other ranks, each rank beginning behind itself, so that not all write to one.
        self.others = [(self.rank + step) % self.ranks for step in range(1, self.ranks)]
        # Signals are small kernels, which find SMs only when a large kernel leaves some: on a stream
        # of their own, so that no copy waits for that, and before other kernels.
        self._signals = torch.cuda.Stream(device, priority=-1)
        self._stream, self._own_stream = torch.cuda.Stream(device), torch.cuda.Stream(device)
        self.timeout_ms = int(group._get_backend(device).options._timeout.total_seconds() * 1e3)
        self._copy = _copy_function()
        self._memory = self._handle = self._last = self._current = None
        self._windows = []

    def reserve(self, size):
        """Makes windows of at least so many bytes, the same on all ranks. False, on all of
        them, where one rank has no memory for it."""
        if self._memory is not None and self._memory.numel() >= size:
            return True
        if self._memory is not None:
            # All have to be done with the old windows.
            torch.cuda.synchronize(self.device)
            dist.barrier(self.group, device_ids=[self.device.index])
            self._memory = self._handle = self._last = None
        from torch.distributed import _symmetric_memory as symmetric

        size = -(-size // _GRAIN) * _GRAIN
        problem = 0
        try:
            memory = symmetric.empty(size, dtype=torch.uint8, device=self.device)
        except RuntimeError:
            problem = 1
        if sum(_gather(problem, self.group, self.device)):
            warnings.warn(f"a rank has no memory for a window of {size >> 20} MiB: kron.distributed "
                          "sends messages instead, which takes longer", RuntimeWarning, 2)
            return False
        self._handle = symmetric.rendezvous(memory, self.group.group_name)
        self._memory, self._windows = memory, list(self._handle.buffer_ptrs)
        for rank in self.others:
            self._handle.put_signal(rank, _READY, self.timeout_ms)
        return True

    def window(self, shape, dtype):
        """An array at the start of this rank's window."""
        return self._handle.get_buffer(self.rank, shape, dtype)

    def signalling(self):
        """Makes the stream of signals the current one."""
        return torch.cuda.stream(self._signals)

    def begin(self):
        """Copies wait until windows may be written to, and the current stream until this rank's
        own is read."""
        self._current = torch.cuda.current_stream(self.device)
        if self._last is not None:
            self._current.wait_event(self._last)
        self._own_stream.wait_stream(self._current)
        with self.signalling():
            for rank in self.others:
                self._handle.wait_signal(rank, _READY, self.timeout_ms)
        self._stream.wait_stream(self._signals)

    def mark(self):
        """What the current stream of `begin` has been given up to here; copies follow it."""
        return self._current.record_event()

    def put(self, rank, box, target, source, after):
        """Copies a box to a rank's window on the stream of copies. `target` and `source` are
        offsets and addresses in bytes."""
        self._stream.wait_event(after)
        self._start(box, self._windows[rank] + target, source, self._stream)

    def keep(self, box, target, source, after):
        """Copies a box to this rank's own window, on a stream of its own. Returns an event."""
        self._own_stream.wait_event(after)
        self._start(box, self._windows[self.rank] + target, source, self._own_stream)
        return self._own_stream.record_event()

    def _start(self, box, target, source, stream):
        box.dstDevice, box.srcDevice = target, source
        status = self._copy(ctypes.byref(box), stream.cuda_stream)
        if status:
            raise RuntimeError(f"cuMemcpy3DAsync: CUDA's driver reports error {status}")

    def signal(self, number):
        """Tells all others that what has been put up to here is there: step `number`, which counts
        from 0; within `signalling`."""
        self._signals.wait_event(self._stream.record_event())
        for rank in self.others:
            self._handle.put_signal(rank, 1 + number, self.timeout_ms)

    def wait(self, number, kept):
        """The current stream waits for step `number` of all others, and for what `keep` has copied
        up to the call that returned `kept`, unless that is None."""
        if kept is not None:
            self._current.wait_event(kept)
        for rank in self.others:
            self._handle.wait_signal(rank, 1 + number, self.timeout_ms)

    def end(self):
        """Behind the last read of this rank's window and the last step."""
        self._current.wait_stream(self._signals)
        for rank in self.others:
            self._handle.put_signal(rank, _READY, self.timeout_ms)
        self._last = self._current.record_event()


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


#: Steps of an exchange at most.
MOST_STEPS = _CHANNELS - 1

#: name of a group -> (the group, Peers or None where ranks cannot write to each other).
_peers = {}


def _gather(value, group, device):
    own = torch.tensor([value], dtype=torch.int64, device=device)
    every = own.new_empty(dist.get_world_size(group))
    dist.all_gather_into_tensor(every, own, group=group)
    return every.tolist()


def _place(device):
    """(host, GPU) of this process. NCCL_HOSTID says of processes that they are to be taken for
    ones of different hosts."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    host = socket.gethostname(), boot, os.environ.get("NCCL_HOSTID")
    return host, str(torch.cuda.get_device_properties(device).uuid)


def _reach(places, device):
    """Whether ranks at these places, this one's GPU among them, can write to each other."""
    hosts, gpus = {host for host, _ in places}, {gpu for _, gpu in places}
    if len(hosts) > 1 or len(gpus) < len(places):
        return False
    visible = {str(torch.cuda.get_device_properties(n).uuid): n
               for n in range(torch.cuda.device_count())}
    # What another process sees and this one does not cannot be asked for: NVLink is likely then.
    return all(visible[gpu] == device.index
               or torch.cuda.can_device_access_peer(device.index, visible[gpu])
               for gpu in gpus if gpu in visible)


def peers_of(group_name, device):
    """The Peers of a group, on all ranks of it, or None on all; called by all together. None in
    captures: an exchange is ordered by events of the one before, and who the others are is asked for on
    the host."""
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        return None
    group, found = _resolve_process_group(group_name), None
    # Names come again when groups have been destroyed.
    known, peers = _peers.get(group_name, (None, None))
    if known is group:
        return peers
    if device.type == "cuda" and dist.get_backend(group) == "nccl":
        from torch.distributed import _symmetric_memory as symmetric

        if device.index is None:
            device = torch.device("cuda", torch.cuda.current_device())
        ranks = dist.get_world_size(group)
        places = [None] * ranks
        dist.all_gather_object(places, _place(device), group=group)
        room = symmetric.get_signal_pad_size() >= _CHANNELS * ranks * _WORD_BYTES
        if all(_gather(int(room and _reach(places, device)), group, device)):
            found = Peers(group, device)
    _peers[group_name] = group, found
    return found
