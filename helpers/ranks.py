"""The devices of one process: a context for each, which reaches the memory of all others.

    from helpers import ops, ranks
    arrays = []
    for rank in range(ranks.count()):
        with ranks.on(rank):
            arrays.append(pycuda.gpuarray.to_gpu(...))
    sums = ops.all_reduce(arrays)

SOFTGPU_DEVICES=4 makes four devices of the software GPU. Contexts are the devices' primary ones."""

import ctypes
from functools import cache

from . import autoinit

import pycuda.driver as cuda  # isort: skip  (autoinit first)

__all__ = ["count", "meet", "on", "rank_of", "sender", "stream", "tree"]

DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_...


def count():
    """How many devices there are."""
    return cuda.Device.count()


def on(rank):
    """What is allocated and launched in this block is of a device, by its number."""
    return _contexts()[rank]


class _On:
    """A context for a block. (What contextlib makes of a generator takes 1 µs more.)"""

    def __init__(self, context):
        self.context = context

    def __enter__(self):
        self.context.push()
        return self.context

    def __exit__(self, *exception):
        self.context.pop()


@cache
def _contexts():
    """A context of each device, for blocks; each may touch what the others allocate."""
    devices = [cuda.Device(rank) for rank in range(count())]
    contexts = [
        autoinit.context if device == autoinit.device else device.retain_primary_context()
        for device in devices
    ]
    for number, context in enumerate(contexts):
        context.push()
        for peer, other in enumerate(contexts):
            if devices[number].can_access_peer(devices[peer]):
                context.enable_peer_access(other)
        context.pop()
    return [_On(context) for context in contexts]


def rank_of(x):
    """The device that an array lies on."""
    rank, start = ctypes.c_int(), int(x.gpudata)
    if _asked()(ctypes.byref(rank), DEVICE_ORDINAL, start):
        raise ValueError(f"an array at {start:#x} is in no device's memory")
    return rank.value


@cache
def _asked():
    """The driver's function that tells something of an address."""
    function = ctypes.CDLL("libcuda.so.1").cuPointerGetAttribute
    function.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64
    return function


@cache
def stream(rank):
    """Where work on a device is queued that goes on while others do theirs. As PyCUDA's default
    stream waits for it, and it for that, neither is overtaken."""
    with on(rank):
        return cuda.Stream()


@cache
def sender(rank):
    """Where copies from a device are queued that go on while `stream` does something else."""
    with on(rank):
        return cuda.Stream()


def meet(numbers):
    """What these devices' streams get next begins once all that any of them has got is done."""
    events = []
    for rank in numbers:
        with on(rank):
            events.append(cuda.Event(cuda.event_flags.DISABLE_TIMING))
            events[-1].record(stream(rank))
    for rank in numbers:
        with on(rank):
            for event in events:
                stream(rank).wait_for_event(event)


def tree(count):
    """Who takes from whom in an all-reduce in a tree: steps, of (rank, other, adds) each."""
    apart = [1 << level for level in range((count - 1).bit_length())]
    up = [[(rank, rank + gap, True) for rank in range(0, count - gap, 2 * gap)] for gap in apart]
    return up + [[(other, rank, False) for rank, other, _ in step] for step in reversed(up)]
