"""Launches with little host overhead: prepared calls, cached per kind of call, and pooled
memory."""

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
    "most_shared",
    "multiprocessors",
    "power_of_two",
    "workspace",
]

MOST_KEPT = 4096  # calls of different kinds
MOST_ADDRESSES = 49  # per call: three for each of 16 devices, and one more
SHARED_UNASKED = 48 << 10  # bytes of shared memory that need no opt-in
LONG = 1 << 20  # bytes of a result from which on the pool's size is checked
POOL_MB = os.environ.get("HELPERS_POOL_MB")  # most unused memory that stays in a pool; 0: no pool


def context():
    """Return a number that identifies the current context."""
    return cuda.Context.get_current().handle


def address(x):
    """Return an array's address on the GPU; 0 if it has no elements."""
    memory = x.gpudata
    return 0 if memory is None else memory.__int__()  # what int() looks up first


def multiprocessors():
    """Return the number of multiprocessors of the current context's GPU."""
    return cuda.Context.get_device().multiprocessor_count


def most_shared():
    """Return the bytes of shared memory that a block of the current context's GPU may have."""
    return cuda.Context.get_device().max_shared_memory_per_block_optin


def ceil_divide(a, b):
    """Return a / b, rounded up."""
    return -(-a // b)


def power_of_two(n):
    """Return the smallest power of two >= n."""
    return 1 << max(n - 1, 0).bit_length()


class Kept(dict):
    """A cache of prepared calls, by a key that identifies the kind of call."""

    def __setitem__(self, key, value):
        if len(self) >= MOST_KEPT:
            self.clear()
        super().__setitem__(key, value)


class KernelCall:
    """A kernel of cuda_src with its choices, grid, block and all arguments except addresses. The
    leading addresses, and perhaps some trailing ones, are passed at each call.

    Arguments are NumPy numbers and arrays, passed by value; Python integers become long long.
    shared: bytes of dynamic shared memory; kernel: which of a file's, if it has several."""

    def __init__(self, name, choices, grid, block, *arguments, shared=0, kernel=None):
        self.function, self.shared = sources.kernel(name, kernel, **choices), shared
        if shared and shared + self.function.shared_size_bytes > SHARED_UNASKED:
            limit = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.function.set_attribute(limit, shared)
        # What Function.__call__ calls after inspecting each argument: saves 2 µs.
        self.launch = self.function._launch_kernel
        self.grid, self.block = tuple(grid), tuple(block)  # further ones cost 0.5 µs each
        self.middle = b""
        for argument in arguments:
            value = np.int64(argument) if isinstance(argument, int) else argument
            self.middle += b"\0" * (-len(self.middle) % value.dtype.alignment) + value.tobytes()

    def __call__(self, stream, addresses, after=(), before=b""):
        arguments = ADDRESSES[len(addresses)](*addresses) + self.middle
        if before:
            arguments = before + arguments
        if after:
            arguments += b"\0" * (-len(arguments) % 8) + ADDRESSES[len(after)](*after)
        self.launch(self.grid, self.block, arguments, self.shared, stream)


ADDRESSES = [Struct(f"{count}Q").pack for count in range(MOST_ADDRESSES + 1)]


class Form:
    """A template for results of one shape, type and strides (in bytes; None: contiguous)."""

    def __init__(self, shape, dtype, strides=None):
        sample = GPUArray(shape, dtype, gpudata=0, strides=strides)
        self.attributes, self.nbytes = vars(sample), sample.nbytes

    def new(self, like, room):
        """Create an array, in the pool that `like` comes from, or else in the room's pool. like:
        an array of the current context, or None."""
        attributes, nbytes = self.attributes.copy(), self.nbytes
        allocator = cuda.mem_alloc if like is None else like.allocator
        if allocator is cuda.mem_alloc:
            allocator = room.pool if nbytes < LONG else room.long
        attributes["allocator"] = allocator
        attributes["gpudata"] = allocator(nbytes) if nbytes else None
        # What GPUArray's constructor would set, without calling it: saves 2 µs.
        result = GPUArray.__new__(GPUArray)
        result.__dict__ = attributes
        return result


class Workspace:
    """Memory for work queued on one stream: reusable as soon as the next call is queued."""

    def __init__(self, stream, current):
        self.stream, self.current, self.context = stream, current, current.handle
        kept = cuda.mem_get_info()[1] >> 2 if POOL_MB is None else int(POOL_MB) << 20
        self.memory, self.most_kept = DeviceMemoryPool(), kept
        self.pool = self.memory.allocate if kept else cuda.mem_alloc
        self.forget()

    def long(self, nbytes):
        """Return memory from the pool, trimmed to its limit first. If memory runs out, free what
        all pools hold unused and try again."""
        if self.memory.managed_bytes - self.memory.active_bytes > self.most_kept:
            self.memory.free_held()
        try:
            return self.pool(nbytes)
        except cuda.MemoryError:
            for room in workspaces.values():
                room.memory.free_held()
            return self.pool(nbytes)

    def forget(self):
        self.memories: list = [None, None]  # of totals and counters, whose addresses and sizes are:
        self.totals = self.counters = self.total_bytes = self.counter_bytes = 0
        self.stopped = softgpu.stopped_launches() if autoinit.is_software else 0

    def scratch(self, total_bytes, counters):
        """Return the addresses of memory for totals and of counters, which are zero between
        launches."""
        if autoinit.is_software and self.stopped != softgpu.stopped_launches():
            self.forget()  # a launch may have been stopped before it had reset its counters
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
latest = None  # the previous call's workspace, which most calls need again


@atexit.register
def give_back():
    """Free all workspaces while their contexts still exist."""
    global latest
    latest = None
    workspaces.clear()


def workspace(stream):
    """Return the Workspace of a stream in the current context."""
    global latest
    room, current = latest, cuda.Context.get_current()
    if room is None or room.current is not current or room.stream is not stream:
        key = current.handle, stream and stream.handle
        room = latest = workspaces.get(key) or Workspace(stream, current)
        workspaces[key] = room
    return room
