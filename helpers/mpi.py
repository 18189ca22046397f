"""The processes of an mpi4py communicator, each with an array of its own: what they tell each
other, and where each finds the others' arrays.

    from mpi4py import MPI
    from helpers import autoinit, ops
    total = ops.all_reduce(x, MPI.COMM_WORLD)     # as every rank calls it, with its own x

`mpiexec -n 4 python program.py` starts four. Each takes a device (helpers.autoinit), the
software GPU's where SOFTGPU_DEVICES=4 makes as many. Ranks of one machine read each other's device
memory; all others send copies, by way of the host.

Nobody waits for ever: a rank that has ended, or does not come within PATIENCE seconds, is an error
in all others, which says its name."""

import atexit
import os
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import autoinit

import pycuda.driver as cuda  # isort: skip  (autoinit first)
from pycuda import gpuarray  # isort: skip

__all__ = ["PATIENCE", "Array", "team"]

PATIENCE = 30
"""Seconds. Ranks may differ by what they do between two operations, such as compiling kernels."""

_TAG = 17
_PAUSE = 50e-6  # seconds, between two looks at what has come


@dataclass
class Member:
    """Who a rank is."""

    process: int
    host: str
    machine: str  # the same for processes that see each other's numbers
    bus_id: str  # of the device


@dataclass
class Array:
    """What a rank tells of its array, and of what the receiver wants of it."""

    shape: tuple
    dtype: np.dtype
    handle: bytes | None = None  # of the memory that it lies in, if the receiver can open it
    offset: int = 0  # of what is wanted, there
    copy: np.ndarray | None = None  # else


class Team:
    """The ranks of a communicator."""

    def __init__(self, comm):
        self.comm, self.rank, self.size = comm, comm.rank, comm.size
        self.members = [None] * comm.size
        self.members = self.tell([_myself()] * comm.size)
        mine = [self._can_open(member) for member in self.members]
        self.can_open_ours = self.tell(mine)

    def tell(self, messages):
        """Sends each rank its message, and gives what all ranks have sent to this one."""
        sent = [self.comm.isend(message, rank, _TAG) for rank, message in enumerate(messages)]
        got, deadline = {}, time.monotonic() + PATIENCE
        missing = list(range(self.size))
        while missing:
            for rank in missing:
                if rank not in got and (message := self.comm.improbe(rank, _TAG)):
                    got[rank] = message.recv()
            missing = [rank for rank in missing if rank not in got or not sent[rank].test()[0]]
            self._look_for(missing, deadline)
            time.sleep(_PAUSE if missing else 0)
        return [got[rank] for rank in range(self.size)]

    def _look_for(self, missing, deadline):
        ended = [rank for rank in missing if self._has_ended(rank)]
        if ended:
            raise self._lost(f"{self._names(ended)} ended before the operation was done")
        if missing and time.monotonic() > deadline:
            raise self._lost(
                f"{self._names(missing)} did not come within {PATIENCE} s: every rank has to call"
                " the same operations in the same order. If it only needs longer, set"
                " helpers.mpi.PATIENCE"
            )

    def _has_ended(self, rank):
        member = self.members[rank]
        if not member or member.machine != self.members[self.rank].machine:
            return False
        try:
            state = Path(f"/proc/{member.process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state == "Z"  # a zombie, which nobody has asked for its exit code

    def _names(self, ranks):
        names = []
        for rank in ranks:
            member = self.members[rank]
            names.append(f"rank {rank}")
            if member:
                names[-1] += f" (process {member.process} on {member.host})"
        return ", ".join(names)

    def _lost(self, words):
        atexit.register(self._end_all)
        return TimeoutError(f"rank {self.rank} of {self.size}: {words}")

    def _end_all(self):
        """MPI would wait for the lost rank before it ends."""
        time.sleep(1)  # until others have said why, too
        self.comm.Abort(1)

    def _can_open(self, member):
        """Whether this rank can read the device memory of another."""
        if member.machine != self.members[self.rank].machine:
            return False
        try:
            theirs = cuda.Device(member.bus_id)
        except cuda.Error:
            return False
        return theirs == autoinit.device or autoinit.device.can_access_peer(theirs)

    @contextmanager
    def reach(self, x, wanted):
        """What each rank has: Arrays, and the addresses at which this rank finds what it wants of
        them, None where that is nothing. Of `of`'s array, `by` wants elements wanted(of, by), from
        and to. x is None at a rank that has no array, and an exception at one that refuses its own,
        which all ranks then raise.

        Everyone's array stays as it is until all have left."""
        cuda.Context.synchronize()
        arrays = self.tell([self._offer(x, wanted, by) for by in range(self.size)])
        for rank, array in enumerate(arrays):
            if isinstance(array, Exception):
                raise type(array)(f"rank {rank}: {array}")
        found = [_found(array) for array in arrays]
        places = [place for place, _ in found]
        if x is not None:
            places[self.rank] = int(x.gpudata) + wanted(self.rank, self.rank)[0] * x.dtype.itemsize
        try:
            yield arrays, places
            cuda.Context.synchronize()
            self.tell([None] * self.size)
        finally:
            for _, close in found:
                close()

    def _offer(self, x, wanted, by):
        """What this rank tells another of its array."""
        if x is None or isinstance(x, Exception):
            return x
        array, part = Array(x.shape, x.dtype), wanted(self.rank, by)
        if by == self.rank or part[0] == part[1]:
            return array
        if self.can_open_ours[by]:
            begin = int(x.gpudata)
            base, _ = cuda.mem_get_address_range(begin)
            array.handle = bytes(cuda.mem_get_ipc_handle(base))
            array.offset = begin - int(base) + part[0] * x.dtype.itemsize
        else:
            array.copy = x.ravel()[slice(*part)].get()
        return array


def _found(array):
    """The address of what another rank has told of, and what to call when it is done with."""
    if array and array.handle:
        memory = cuda.IPCMemoryHandle(bytearray(array.handle))
        return int(memory) + array.offset, memory.close
    if array and array.copy is not None:
        memory = gpuarray.to_gpu(array.copy).gpudata
        return int(memory), memory.free
    return None, lambda: None


def _myself():
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return Member(
        os.getpid(),
        socket.gethostname(),
        f"{boot} {os.readlink('/proc/self/ns/pid')}",
        autoinit.device.pci_bus_id(),
    )


_key = None


def team(comm):
    """The Team of a communicator, which is made once."""
    global _key
    if _key is None:
        _key = type(comm).Create_keyval()
    found = comm.Get_attr(_key)
    if found is None:
        found = Team(comm)
        comm.Set_attr(_key, found)
    return found
