"""Collective operations of an mpi4py communicator's ranks, each a process with its own array.
They block until done."""

from contextlib import contextmanager

from .. import mpi
from .launch import address, cuda
from .reduce import WIDE
from .shares import check_share, queue_sum, share_of_rows, shares

from pycuda.gpuarray import GPUArray  # isort: skip

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce_scatter"]


def all_reduce(x, comm):
    team = mpi.team(comm)
    with _reached(team, x, lambda of, by: shares(x, team.size)[by], _check_term) as starts:
        out, parts = GPUArray(x.shape, x.dtype), shares(x, team.size)
        first, end = parts[team.rank]
        queue_sum(starts, x.dtype, address(out) + first * x.dtype.itemsize, end - first)
    if len(set(parts)) > 1:
        with _reached(team, out, lambda of, by: parts[of]) as starts:
            for rank, (first, end) in enumerate(parts):
                if rank != team.rank:
                    _copy(out, first, starts[rank], end - first)
    return out


def reduce_scatter(x, comm):
    team = mpi.team(comm)

    def rows(of, by):
        size = x.size // team.size
        return by * size, (by + 1) * size

    def check(x):
        _check_term(x)
        share_of_rows(x, team.size)

    with _reached(team, x, rows, check) as starts:
        part = GPUArray(share_of_rows(x, team.size), x.dtype)
        queue_sum(starts, x.dtype, address(part), part.size)
    return part


def all_gather(x, comm):
    team = mpi.team(comm)
    with _reached(team, x, lambda of, by: (0, x.size)) as starts:
        rows, *rest = x.shape or (1,)
        whole = GPUArray((rows * team.size, *rest), x.dtype)
        for rank, start in enumerate(starts):
            _copy(whole, rank * x.size, start, x.size)
    return whole


def broadcast(x, comm, root):
    team = mpi.team(comm)
    if root not in range(team.size):
        raise ValueError(f"broadcast: root {root} is not among the ranks, 0 to {team.size - 1}")
    ours = _refused(x, check_share) if team.rank == root else None
    with team.reach(ours, lambda of, by: (0, x.size)) as (arrays, starts):
        copy = GPUArray(arrays[root].shape, arrays[root].dtype)
        _copy(copy, 0, starts[root], copy.size)
    return copy


def _check_term(x):
    check_share(x, types=WIDE)


def _refused(x, check):
    """Return the array, or the error that a check raises for it."""
    try:
        check(x)
    except (TypeError, ValueError) as error:
        return error
    return x


@contextmanager
def _reached(team, x, wanted, check=check_share):
    """Return where this rank finds what it wants of each rank's array; all must be of one kind."""
    with team.reach(_refused(x, check), wanted) as (arrays, starts):
        for rank, array in enumerate(arrays):
            if (array.shape, array.dtype) != (arrays[0].shape, arrays[0].dtype):
                raise ValueError(
                    f"rank {rank}'s array is {array.dtype} of shape {array.shape}, rank 0's is"
                    f" {arrays[0].dtype} of shape {arrays[0].shape}: expected arrays of one kind"
                )
        yield starts


def _copy(to, element, start, count):
    if count:
        itemsize = to.dtype.itemsize
        cuda.memcpy_dtod(address(to) + element * itemsize, start, count * itemsize)
