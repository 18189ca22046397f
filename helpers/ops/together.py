"""All-reduce with one launch per device. The launches run concurrently and wait for each other:
cuda_src/ranks/packets.cu for short arrays, push.cu for long ones."""

import atexit
import gc
import os
from functools import cache
from threading import Lock

import numpy as np

from .. import autoinit, ranks
from .launch import Kept, KernelCall, address, ceil_divide, cuda, multiprocessors
from .reduce import WIDE
from .shares import share_of

__all__ = ["AT_ONCE", "add", "team"]

AT_ONCE = not autoinit.is_software and os.environ.get("CUDA_LAUNCH_BLOCKING", "0") == "0"
"""Whether launches on several devices run concurrently. If not, one launch acts for all devices."""

PACKET_BYTES = 1 << 20  # of arrays sent to all others, at most: longer ones are pushed
BLOCK = 256
PACKET_BLOCKS, PUSH_BLOCKS = 8, 1  # for each multiprocessor, at most
LINE = 16  # bytes, half of which are an array's


class Team:
    """Devices that reduce together, and the memory through which their launches communicate."""

    def __init__(self, places):
        self.places, self.turn, self.lock, self.calls = places, 0, Lock(), Kept()
        count = len(places)
        self.launches = [(rank, 1) for rank in range(count)] if AT_ONCE else [(0, count)]
        self.lines = ceil_divide(
            PACKET_BYTES, 8 * max(count - 1, 1)
        )  # of a sender, in half an inbox
        self.memory = []
        for rank in places:
            with ranks.on(rank):
                flags = 2 * count * PUSH_BLOCKS * multiprocessors()
                sizes = 2 * count * self.lines * LINE, 4 * flags
                self.memory.append([_zeros(nbytes) for nbytes in sizes])
                cuda.Context.synchronize()
        self.inboxes, self.flags = (list(map(int, all)) for all in zip(*self.memory, strict=True))

    def add(self, arrays, sums):
        """Queue the sum of arrays, one per device, into an array on each device."""
        x = arrays[0]
        starts = [*map(address, arrays), *map(address, sums)]
        packed = x.nbytes * (len(arrays) - 1) <= PACKET_BYTES
        aligned = not any(start % 16 for start in starts)
        key = x.dtype, x.size, packed, aligned
        calls = self.calls.get(key)
        if calls is None:
            prepare = self._packets if packed else self._push
            calls = self.calls[key] = [
                (ranks.on(self.places[first]), prepare(x, aligned, first, plays))
                for first, plays in self.launches
            ]
        starts += self.inboxes if packed else self.flags
        with self.lock:
            self._launch(calls, starts)

    def _launch(self, calls, starts):
        """Launch on all devices. No memory may be freed in between: that would wait for the
        first launch, which waits for the next."""
        self.turn += 1
        collects = gc.isenabled()
        gc.disable()
        try:
            for place, call in calls:
                with place:
                    call(None, (*starts, self.turn))
        finally:
            if collects:
                gc.enable()

    def _packets(self, x, aligned, first, plays):
        blocks = ceil_divide(x.nbytes, 8 * BLOCK)
        return self._prepared(
            "packets", x, {"ALIGNED": int(aligned)}, blocks, PACKET_BLOCKS, self.lines, first, plays
        )

    def _push(self, x, aligned, first, plays):
        pack = 16 // x.dtype.itemsize if aligned else 1
        share = share_of(x, len(self.places))
        blocks = ceil_divide(share, pack * BLOCK)
        return self._prepared("push", x, {"PACK": pack}, blocks, PUSH_BLOCKS, share, first, plays)

    def _prepared(self, name, x, choices, blocks, most, number, first, plays):
        with ranks.on(self.places[first]):
            choices |= {"T": x.dtype, "Acc": WIDE[x.dtype.name], "RANKS": len(self.places)}
            grid = min(blocks, most * multiprocessors()), plays
            numbers = x.size, number, np.int32(first)
            return KernelCall(f"ranks/{name}.cu", choices, grid, (BLOCK,), *numbers)


def _zeros(nbytes):
    memory = cuda.mem_alloc(nbytes)
    cuda.memset_d8(memory, 0, nbytes)
    return memory


@cache
def team(places):
    """Return the Team of some devices, a tuple."""
    return Team(places)


atexit.register(team.cache_clear)  # while there are contexts to give memory back to


def add(places, arrays, sums):
    """Queue the sum of arrays, on these devices, into an array on each of them."""
    team(tuple(places)).add(arrays, sums)
