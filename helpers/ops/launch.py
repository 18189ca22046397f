"""Calls that cost the host little: what can be prepared once for each kind of call, and memory that
is kept."""

import atexit
import os
from struct import Struct

import numpy as np

import softgpu

from .. import autoinit, sources

import pycuda.driver as cuda  # isort: skip  (autoinit first)
from pycuda.gpuarray import GPUArray  # isort: skip
from pycuda.tools import DeviceMemoryPool  # isort: skip

__all__ = [
    "Form",
    "Kept",
    "KernelCall",
    "address",
    "ceil_divide",
    "context",
    "multiprocessors",
    "power_of_two",
    "workspace",
]

MOST_KEPT = 4096  # calls of different kinds
MOST_ADDRESSES = 49  # that a call takes at once: three of each of 16 devices, and one more
SHARED_UNASKED = 48 << 10  # bytes of shared memory that a launch gets without more ado
LONG = 1 << 20  # bytes of a result from which on what the pool holds is looked at
POOL_MB = os.environ.get("HELPERS_POOL_MB")  # that stay in a pool unused; 0: no pool


def context():
    """The current context, as a number that tells it from others."""
    return cuda.Context.get_current().handle


def address(x):
    """Where an array begins on the GPU; 0 if it has no elements."""
    memory = x.gpudata
    return 0 if memory is None else memory.__int__()  # what int() looks up first


def multiprocessors():
    """Of the current context's GPU."""
    return cuda.Context.get_device().multiprocessor_count


def ceil_divide(a, b):
    """a / b, rounded up."""
    return -(-a // b)


def power_of_two(n):
    """The least power of two that is n or more."""
    return 1 << max(n - 1, 0).bit_length()


class Kept(dict):
    """What was prepared for each kind of call, by whatever tells kinds apart."""

    def __setitem__(self, key, value):
        if len(self) >= MOST_KEPT:
            self.clear()
        super().__setitem__(key, value)


class KernelCall:
    """A kernel of cuda_src with its choices, grid and block, and all arguments but addresses: those
    in front of the others, and perhaps some after them, are given at each call.

    Arguments are NumPy's numbers and arrays, passed by value; Python's integers are long long.
    shared: bytes of shared memory beside what the kernel declares."""

    def __init__(self, name, choices, grid, block, *arguments, shared=0):
        self.function, self.shared = sources.kernel(name, **choices), shared
        if shared > SHARED_UNASKED:
            limit = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.function.set_attribute(limit, shared)
        # What Function.__call__ comes to, without a look at each argument: 2 µs less.
        self.launch = self.function._launch_kernel
        self.grid, self.block = ((*v, 1, 1)[:3] for v in (grid, block))
        self.middle = b""
        for argument in arguments:
            value = np.int64(argument) if isinstance(argument, int) else argument
            self.middle += b"\0" * (-len(self.middle) % value.dtype.alignment) + value.tobytes()

    def __call__(self, stream, addresses, after=()):
        arguments = self.front(addresses) + self.middle
        if after:
            arguments += b"\0" * (-len(arguments) % 8) + ADDRESSES[len(after)](*after)
        self.launch(self.grid, self.block, arguments, self.shared, stream)

    def front(self, addresses):
        """The first arguments."""
        return ADDRESSES[len(addresses)](*addresses)


ADDRESSES = [Struct(f"{count}Q").pack for count in range(MOST_ADDRESSES + 1)]


class Form:
    """Results of one shape, type and strides (in bytes; None: contiguous), made many times."""

    def __init__(self, shape, dtype, strides=None):
        sample = GPUArray(shape, dtype, gpudata=0, strides=strides)
        self.attributes, self.nbytes = vars(sample), sample.nbytes

    def new(self, like, room):
        """A new array, with memory from where `like` has its own, or else from the room's pool.
        like: an array of the current context, or None."""
        # What GPUArray's constructor leaves, without its way there: 2 µs less.
        result, nbytes = GPUArray.__new__(GPUArray), self.nbytes
        allocator = cuda.mem_alloc if like is None else like.allocator
        if allocator is cuda.mem_alloc:
            allocator = room.pool if nbytes < LONG else room.long
        memory = allocator(nbytes) if nbytes else None
        result.__dict__.update(self.attributes, allocator=allocator, gpudata=memory)
        return result


class Workspace:
    """Memory for what is queued on one stream: free again as soon as the next call is queued."""

    def __init__(self, stream, current):
        self.stream, self.current, self.context = stream, current, current.handle
        kept = cuda.mem_get_info()[1] >> 2 if POOL_MB is None else int(POOL_MB) << 20
        self.memory, self.most_kept = DeviceMemoryPool(), kept
        self.pool = self.memory.allocate if kept else cuda.mem_alloc
        self.forget()

    def long(self, nbytes):
        """Memory from the pool, which keeps no more than it may; nothing where memory runs out."""
        if self.memory.managed_bytes - self.memory.active_bytes > self.most_kept:
            self.memory.free_held()
        try:
            return self.pool(nbytes)
        except cuda.MemoryError:
            for room in workspaces.values():
                room.memory.free_held()
            return self.pool(nbytes)

    def forget(self):
        self.memories: list = [None, None]  # of totals and counters, which begin and have:
        self.totals = self.counters = self.total_bytes = self.counter_bytes = 0
        self.stopped = softgpu.stopped_launches() if autoinit.is_software else 0

    def scratch(self, total_bytes, counters):
        """Addresses of memory for totals, and of counters, which are zero between launches."""
        if autoinit.is_software and self.stopped != softgpu.stopped_launches():
            self.forget()  # a launch of ours, perhaps, was stopped before it had reset its counters
        if self.total_bytes < total_bytes:
            self.total_bytes = power_of_two(max(total_bytes, 4096))
            self.memories[0] = cuda.mem_alloc(self.total_bytes)
            self.totals = int(self.memories[0])
        if self.counter_bytes < 4 * counters:
            self.counter_bytes = power_of_two(max(4 * counters, 4096))
            self.memories[1] = cuda.mem_alloc(self.counter_bytes)
            self.counters = int(self.memories[1])
            cuda.memset_d8_async(self.counters, 0, self.counter_bytes, self.stream)
        return self.totals, self.counters


workspaces: dict = {}
latest = None  # what most calls ask for: the workspace of the call before


@atexit.register
def give_back():
    """Free all workspaces while there is a context to give memory back to."""
    global latest
    latest = None
    workspaces.clear()


def workspace(stream):
    """The Workspace of a stream in the current context."""
    global latest
    room, current = latest, cuda.Context.get_current()
    if room is None or room.current is not current or room.stream is not stream:
        key = current.handle, stream and stream.handle
        room = latest = workspaces.get(key) or Workspace(stream, current)
        workspaces[key] = room
    return room
