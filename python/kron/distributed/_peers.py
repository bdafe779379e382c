# Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
# SPDX-License-Identifier: MIT
"""Memory of the other GPUs of a host, which this rank writes to.

Where all ranks of a group have GPUs of one host with access to each other, what a rank sends
goes straight to its place in a window, an array of PyTorch's symmetric memory that each rank
has: by copy engines, which take boxes out of arrays without packing and leave the SMs to
kernels. Ranks tell each other by signals, words in this memory, which streams wait for and hosts do not.

Protocol of one exchange, on every rank:

    begin()                    copies wait until all others have read their windows
    send(n, ...)               boxes of step n, to each other rank; tells them that all up to it is there
    keep(...)                  what this rank itself gets
    wait(n)                    the current stream waits for all others' step n
    end()                      tells the others that this rank has read its window

A signal is taken before it is given again, so that a late rank can never be overtaken.

Links between GPUs are at their full rate only while each GPU has one sender. So ranks write in turns: in each
step, rank r writes to r + 1 first, then to r + 2, and begins a copy when the rank that wrote to the same receiver
before is done with it: r + 1, or r + 2 where r begins a step. What ranks tell is written, and turns are waited for, by
the front ends of GPUs: that takes no SM, which kernels may have all of. Kernels wait for signals, with a timeout,
which ends a process that waits for a lost rank.
"""

import ctypes
import os
import socket
import warnings

import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _resolve_process_group

#: Words of each rank in the memory of signals, behind those of steps: how many copies it has made, and in how
#: many exchanges it has read its window.
_WORDS = 2
#: Words that there is room for, of each rank: steps, and those above.
_CHANNELS = 32
#: Steps of an exchange at most.
MOST_STEPS = _CHANNELS - _WORDS
_COPIES, _READ = MOST_STEPS, MOST_STEPS + 1
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


class _WordOperation(ctypes.Structure):
    """CUstreamBatchMemOpParams of the driver's interface: a wait for a word, or a write of one."""

    _fields_ = [("operation", ctypes.c_int), ("address", ctypes.c_uint64),
                ("value", ctypes.c_uint64), ("flags", ctypes.c_uint), ("rest", ctypes.c_uint64 * 2)]


#: Until the word, as a number of 32 bits with a sign, is that or more: it may run over. Writes come when what
#: the stream has been given before is done and can be seen.
_WAIT, _WRITE = 1, 2


def _operations(entries):
    """For `_Driver.words`, of (kind, address, value)."""
    return (_WordOperation * len(entries))(
        *(_WordOperation(operation=kind, address=address, value=value)
          for kind, address, value in entries))


class _Driver:
    """What kron calls of CUDA's driver."""

    def __init__(self):
        library = ctypes.CDLL("libcuda.so.1")
        self._copy, self._words = library.cuMemcpy3DAsync_v2, library.cuStreamBatchMemOp_v2
        self._copy.argtypes = [ctypes.POINTER(_Box3D), ctypes.c_void_p]
        self._words.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.POINTER(_WordOperation),
                                ctypes.c_uint]

    def copy(self, stream, box):
        self._check("cuMemcpy3DAsync", self._copy(ctypes.byref(box), stream.cuda_stream))

    def words(self, stream, operations):
        """Waits and writes, one after the other."""
        if len(operations):
            self._check("cuStreamBatchMemOp",
                        self._words(stream.cuda_stream, len(operations), operations, 0))

    @staticmethod
    def _check(name, status):
        if status:
            raise RuntimeError(f"{name}: CUDA's driver reports error {status}")


class Peers:
    """The ranks of a group, seen from one of them."""

    def __init__(self, group, device):
        self.group, self.device = group, device
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        #: The other ranks, in the order in which this one writes to them.
        self.others = [(self.rank + step) % self.ranks for step in range(1, self.ranks)]
        self._stream, self._own_stream = torch.cuda.Stream(device), torch.cuda.Stream(device)
        self.timeout_ms = int(group._get_backend(device).options._timeout.total_seconds() * 1e3)
        self._driver = _Driver()
        self._memory = self._handle = self._last = self._current = None
        self._windows, self._words = [], []
        #: Copies, and exchanges in which this rank has read its window, since the window was made.
        self._copies = self._reads = 0
        #: What copies wait for at the start of an exchange; what its end tells.
        self._begins = self._ends = None
        #: Before the first copy of a step, between copies, and behind the last one, by the number of
        #: the step, or None if it is not told.
        self._first = self._between = None
        self._behind = {}

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
        self.use_words(list(self._handle.signal_pad_ptrs))
        return True

    def use_words(self, addresses):
        """Those at the addresses, of each rank, which are 0."""
        self._words, self._copies, self._reads, self._behind = addresses, 0, 0, {}
        self._begins = _operations([(_WAIT, self._word(self.rank, _READ, rank), 0)
                                    for rank in self.others])
        self._ends = _operations([(_WRITE, self._word(rank, _READ, self.rank), 0)
                                  for rank in self.others])
        self._first = _operations(self._waits_for(2))
        self._between = _operations(self._tells(1) + self._waits_for(1))

    def _waits_for(self, step):
        """For the last copy so far of the rank so many behind this one; two ranks have turns as they are."""
        rank = (self.rank + step) % self.ranks
        return [(_WAIT, self._word(self.rank, _COPIES, rank), 0)] if self.ranks > 2 else []

    def _tells(self, step):
        rank = (self.rank - step) % self.ranks
        return [(_WRITE, self._word(rank, _COPIES, self.rank), 0)] if self.ranks > 2 else []

    def _operations_behind(self, number):
        if number not in self._behind:
            told = [] if number is None else self.others
            self._behind[number] = _operations(
                self._tells(2) + [(_WRITE, self._word(rank, number, self.rank), 1) for rank in told])
        return self._behind[number]

    def window(self, shape, dtype):
        """An array at the start of this rank's window."""
        return self._handle.get_buffer(self.rank, shape, dtype)

    def begin(self):
        """Copies wait until windows may be written to, and the current stream until this rank's
        own is read."""
        self._current = torch.cuda.current_stream(self.device)
        if self._last is not None:
            self._current.wait_event(self._last)
        self._own_stream.wait_stream(self._current)
        self._give(self._begins, self._reads)

    def mark(self):
        """What the current stream of `begin` has been given up to here; copies follow it."""
        return self._current.record_event()

    def send(self, number, boxes, source, after, tells=True):
        """Step `number`, which counts from 0, on the stream of copies: to each other rank in `boxes` its
        (box, offset in its window, offset from the address `source`), in bytes. All ranks call this for
        the same steps. With `tells`, the others hear that all up to here is there."""
        self._stream.wait_event(after)
        self._give(self._first, self._copies)
        for rank in self.others:
            if rank in boxes:
                self._start(boxes[rank], rank, source, self._stream)
            self._copies += 1
            if rank != self.others[-1]:
                self._give(self._between, self._copies)
        # Signals come behind the word for the turn.
        self._give(self._operations_behind(number if tells else None), self._copies,
                   len(self._first))

    def _give(self, operations, value, count=None):
        """To the stream of copies, the first `count` with this value."""
        for operation in operations[:count]:
            operation.value = value & 0xFFFFFFFF
        self._driver.words(self._stream, operations)

    def keep(self, box, source, after):
        """Copies the same to this rank's own window, on a stream of its own. Returns an event."""
        self._own_stream.wait_event(after)
        self._start(box, self.rank, source, self._own_stream)
        return self._own_stream.record_event()

    def _start(self, found, rank, source, stream):
        box, there, here = found
        box.dstDevice, box.srcDevice = self._windows[rank] + there, source + here
        self._driver.copy(stream, box)

    def _word(self, owner, channel, writer):
        """Address of a word that `writer` writes into the memory of `owner`; signals of PyTorch have the
        same places."""
        return self._words[owner] + (channel * self.ranks + writer) * _WORD_BYTES

    def wait(self, number, kept):
        """The current stream waits for step `number` of all others, and for what `keep` has copied
        up to the call that returned `kept`, unless that is None."""
        if kept is not None:
            self._current.wait_event(kept)
        for rank in self.others:
            self._handle.wait_signal(rank, number, self.timeout_ms)

    def end(self):
        """Behind the last read of this rank's window and the last step."""
        # What the copies have read may be overwritten behind this.
        self._current.wait_stream(self._stream)
        self._reads += 1
        for operation in self._ends:
            operation.value = self._reads & 0xFFFFFFFF
        self._driver.words(self._current, self._ends)
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
