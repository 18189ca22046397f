"""Operations of several devices, each of which holds one array: cuda_src/ranks."""

from itertools import pairwise

from .. import ranks
from .arrays import check, is_contiguous
from .launch import Kept, KernelCall, address, ceil_divide, cuda
from .reduce import WIDE

from pycuda.gpuarray import GPUArray  # isort: skip

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce_scatter"]

ONE_SHOT_BYTES = 1 << 18  # longer arrays go over the links twice in parts, not as often as ranks
BLOCK, MOST_BLOCKS = 256, 1024
LINE = 128

prepared = Kept()


def all_reduce(arrays):
    """The sum of arrays, one on each device, on each of these devices: of one type and shape.

    Terms are added in the order of the arrays: results have the same bits, and every run's."""
    places = _places(arrays, WIDE)
    size, itemsize = arrays[0].size, arrays[0].dtype.itemsize
    sums = [_new(rank, arrays[0].shape, arrays[0].dtype) for rank in places]
    whole = arrays[0].nbytes <= ONE_SHOT_BYTES
    line = LINE // itemsize
    share = ceil_divide(size, len(arrays) * line) * line
    cuts = [min(number * share, size) for number in range(len(arrays) + 1)]
    parts = [(0, size)] * len(arrays) if whole else list(pairwise(cuts))
    ranks.meet(places)
    for rank, out, (first, end) in zip(places, sums, parts, strict=True):
        _sum(rank, arrays, address(out) + first * itemsize, first, end - first)
    ranks.meet(places)
    if not whole:
        for mine, out in enumerate(sums):
            for number, (first, end) in enumerate(parts):
                if number != mine:
                    start = first * itemsize
                    _copy(places[mine], out, start, sums[number], start, (end - first) * itemsize)
        ranks.meet(places)
    return sums


def reduce_scatter(arrays):
    """The sum of arrays, one on each device, of which each device gets its part of the rows."""
    places = _places(arrays, WIDE)
    rows, *rest = arrays[0].shape or (1,)
    if rows % len(arrays):
        raise ValueError(f"reduce_scatter: {rows} rows are not to be divided by {len(arrays)}")
    parts = [_new(rank, (rows // len(arrays), *rest), arrays[0].dtype) for rank in places]
    ranks.meet(places)
    for number, (rank, part) in enumerate(zip(places, parts, strict=True)):
        _sum(rank, arrays, address(part), number * part.size, part.size)
    ranks.meet(places)
    return parts


def all_gather(arrays):
    """The rows of all arrays, one on each device, behind each other, on each of these devices."""
    places = _places(arrays)
    rows, *rest = arrays[0].shape or (1,)
    wholes = [_new(rank, (rows * len(arrays), *rest), arrays[0].dtype) for rank in places]
    ranks.meet(places)
    for rank, whole in zip(places, wholes, strict=True):
        for number, x in enumerate(arrays):
            _copy(rank, whole, number * x.nbytes, x, 0, x.nbytes)
    ranks.meet(places)
    return wholes


def broadcast(x, devices=None):
    """A copy of an array on each of some devices, in their order; None: on all there are."""
    devices = range(ranks.count()) if devices is None else devices
    _check(x, "x", (x.dtype.name,))
    copies = [_new(rank, x.shape, x.dtype) for rank in devices]
    met = sorted({ranks.rank_of(x), *devices})
    ranks.meet(met)
    for rank, copy in zip(devices, copies, strict=True):
        _copy(rank, copy, 0, x, 0, x.nbytes)
    ranks.meet(met)
    return copies


def _check(x, name, types):
    check(x, types, name)
    if not is_contiguous(x) or not x.size:
        raise ValueError(f"{name} of shape {x.shape}: expected a contiguous array with elements")


def _places(arrays, types=None):
    """The devices that arrays lie on: each on another, all of one shape and type."""
    if not arrays:
        raise ValueError("expected an array for each device, got none")
    for number, x in enumerate(arrays):
        _check(x, f"array {number}", types or (arrays[0].dtype.name,))
        if (x.shape, x.dtype) != (arrays[0].shape, arrays[0].dtype):
            raise ValueError(
                f"array {number} is {x.dtype} of shape {x.shape}, array 0 is {arrays[0].dtype} of"
                f" shape {arrays[0].shape}: expected arrays of one kind"
            )
    places = [ranks.rank_of(x) for x in arrays]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise ValueError(
                f"arrays {places.index(place)} and {number} lie on device {place}: expected each on"
                " another; make them in `with ranks.on(rank)`"
            )
    return places


def _new(rank, shape, dtype):
    with ranks.on(rank):
        return GPUArray(shape, dtype)


def _copy(rank, to, to_byte, x, from_byte, nbytes):
    """Queues a copy on a device, of memory wherever it is."""
    if nbytes:
        with ranks.on(rank):
            start, end = address(x) + from_byte, address(to) + to_byte
            cuda.memcpy_dtod_async(end, start, nbytes, ranks.stream(rank))


def _sum(rank, arrays, out, first, count):
    """Queues the sum of a part of the arrays on a device."""
    if not count:
        return
    dtype, places = arrays[0].dtype, [address(x) for x in arrays]
    starts = [out, *(place + first * dtype.itemsize for place in places)]
    pack = 1 if any(start % 16 for start in starts) else 16 // dtype.itemsize
    key = rank, dtype.name, len(arrays), pack, first, count
    with ranks.on(rank):
        call = prepared.get(key)
        if call is None:
            choices = {"T": dtype, "Acc": WIDE[dtype.name], "RANKS": len(arrays), "PACK": pack}
            grid = (min(ceil_divide(count, BLOCK * pack), MOST_BLOCKS),)
            call = KernelCall("ranks/one_shot.cu", choices, grid, (BLOCK,), first, count)
            prepared[key] = call
        call(ranks.stream(rank), (*places, out))
