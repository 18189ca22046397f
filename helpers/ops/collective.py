"""Collective operations on several devices with one array each, or on several processes."""

from .. import ranks
from . import processes, together
from .arrays import signature
from .launch import Form, Kept, address, ceil_divide, cuda, workspace
from .product import matmul
from .reduce import WIDE
from .shares import check_share, queue_sum, share_of_rows, shares

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce_scatter", "split_matmul"]

PIECES = 8  # that a device's rows are split into; each is sent while the next is multiplied
TILE_ROWS = 128  # pieces are whole tiles of a product

forms, known = Kept(), Kept()


def all_reduce(arrays, comm=None, out=None):
    """Return the sum of arrays of one type and shape, one per device, on each of these devices.

    Terms are added in the order of `arrays`, so all devices get the same bits, in every run.
    out: arrays for the sums, one per device; they must not be among the inputs. With an mpi4py
    communicator, each process passes its own array and gets the sum of all."""
    if comm is not None:
        if out is not None:
            raise TypeError("all_reduce over a communicator gives a new array: leave out away")
        return processes.all_reduce(arrays, comm)
    places = _places(arrays, WIDE)
    if out is None:
        shape, dtype = arrays[0].shape, arrays[0].dtype
        sums = [_new(rank, shape, dtype, x) for rank, x in zip(places, arrays, strict=True)]
    else:
        sums = _checked_out(out, arrays, places)
    if together.AT_ONCE:
        together.add(places, arrays, sums)
    else:
        _add_in_steps(places, arrays, sums)
    return sums


def _checked_out(out, arrays, places):
    """Return arrays for the sums, on the devices of the inputs."""
    sums = list(out)
    if _places(sums, WIDE) != places:
        raise ValueError(f"out: expected an array on each of the devices {places}, in this order")
    if (sums[0].shape, sums[0].dtype) != (arrays[0].shape, arrays[0].dtype):
        raise ValueError(
            f"out has arrays of {sums[0].dtype} and shape {sums[0].shape}: expected"
            f" {arrays[0].dtype} and {arrays[0].shape}, as the terms have"
        )
    if any(address(a) == address(b) for a, b in zip(arrays, sums, strict=True)):
        raise ValueError("out: expected other arrays than the terms, which all devices read")
    return sums


def _add_in_steps(places, arrays, sums):
    """Queue the sum of each device's share, then copies of the shares to the other devices."""
    itemsize = arrays[0].dtype.itemsize
    parts = shares(arrays[0], len(arrays))
    ranks.meet(places)
    for rank, out, (first, end) in zip(places, sums, parts, strict=True):
        _sum(rank, arrays, address(out) + first * itemsize, first, end - first)
    ranks.meet(places)
    if len(set(parts)) > 1:
        for mine, out in enumerate(sums):
            for number, (first, end) in enumerate(parts):
                if number != mine:
                    start = first * itemsize
                    _copy(places[mine], out, start, sums[number], start, (end - first) * itemsize)
        ranks.meet(places)


def reduce_scatter(arrays, comm=None):
    """Sum arrays, one per device; return the sum's rows in equal parts, one part per device."""
    if comm is not None:
        return processes.reduce_scatter(arrays, comm)
    places = _places(arrays, WIDE)
    shape = share_of_rows(arrays[0], len(arrays))
    parts = [_new(rank, shape, arrays[0].dtype) for rank in places]
    ranks.meet(places)
    for number, (rank, part) in enumerate(zip(places, parts, strict=True)):
        _sum(rank, arrays, address(part), number * part.size, part.size)
    ranks.meet(places)
    return parts


def all_gather(arrays, comm=None):
    """Concatenate the rows of arrays, one per device, on each of these devices."""
    if comm is not None:
        return processes.all_gather(arrays, comm)
    places = _places(arrays)
    rows, *rest = arrays[0].shape or (1,)
    wholes = [_new(rank, (rows * len(arrays), *rest), arrays[0].dtype) for rank in places]
    ranks.meet(places)
    for rank, whole in zip(places, wholes, strict=True):
        for number, x in enumerate(arrays):
            _copy(rank, whole, number * x.nbytes, x, 0, x.nbytes)
    ranks.meet(places)
    return wholes


def broadcast(x, devices=None, comm=None, root=0):
    """Copy an array to each of the devices, in their order; None: to all devices.

    With a communicator, return in every process a copy of rank `root`'s array; the others pass
    None."""
    if comm is not None:
        return processes.broadcast(x, comm, root)
    devices = range(ranks.count()) if devices is None else devices
    check_share(x, "x")
    copies = [_new(rank, x.shape, x.dtype) for rank in devices]
    met = sorted({ranks.rank_of(x), *devices})
    ranks.meet(met)
    for rank, copy in zip(devices, copies, strict=True):
        _copy(rank, copy, 0, x, 0, x.nbytes)
    ranks.meet(met)
    return copies


def split_matmul(parts, factors, dtype=None):
    """Multiply a matrix, whose rows are split over several devices, by a matrix that each device
    has; return the whole product on each device. dtype: as in matmul.

    Each device multiplies its rows piece by piece, and sends each piece while it multiplies the
    next."""
    places = _places(parts)
    if parts[0].ndim != 2 or factors[0].ndim != 2 or _places(factors) != places:
        raise ValueError("split_matmul: expected two matrices on each device, in the same order")
    rows = parts[0].shape[0]
    height = ceil_divide(rows, PIECES * TILE_ROWS) * TILE_ROWS
    made, wholes = [], None
    ranks.meet(places)
    for begin in range(0, rows, height):
        for number, rank in enumerate(places):
            with ranks.on(rank):
                piece = parts[number][begin : begin + height]
                made.append(matmul(piece, factors[number], ranks.stream(rank), dtype))
                _follow(ranks.sender(rank), ranks.stream(rank))
            if wholes is None:
                shape = rows * len(places), made[0].shape[1]
                wholes = [_new(rank, shape, made[0].dtype, x) for rank, x in zip(places, parts)]
            start = (number * rows + begin) * made[-1].strides[0]
            for whole in wholes:
                _copy(rank, whole, start, made[-1], 0, made[-1].nbytes, ranks.sender(rank))
    for rank in places:
        with ranks.on(rank):
            _follow(ranks.stream(rank), ranks.sender(rank))
    ranks.meet(places)
    return wholes


def _follow(stream, other):
    """Make later work on a stream of the current context wait for another stream's work so far."""
    stream.wait_for_event(cuda.Event(cuda.event_flags.DISABLE_TIMING).record(other))


def _places(arrays, types=None):
    """Return the arrays' devices; check that they differ and that shapes and types are equal."""
    kinds = types is None, *map(signature, arrays)
    if kinds not in known:
        _check_kinds(arrays, types)
        known[kinds] = True
    places = tuple(map(ranks.rank_of, arrays))
    for number, place in enumerate(places):
        if place in places[:number]:
            raise ValueError(
                f"arrays {places.index(place)} and {number} lie on device {place}: expected each on"
                " another; make them in `with ranks.on(rank)`"
            )
    return places


def _check_kinds(arrays, types):
    if not arrays:
        raise ValueError("expected an array for each device, got none")
    for number, x in enumerate(arrays):
        check_share(x, f"array {number}", types)
        if (x.shape, x.dtype) != (arrays[0].shape, arrays[0].dtype):
            raise ValueError(
                f"array {number} is {x.dtype} of shape {x.shape}, array 0 is {arrays[0].dtype} of"
                f" shape {arrays[0].shape}: expected arrays of one kind"
            )


def _new(rank, shape, dtype, like=None):
    """Create an array on a device. like: an array there whose pool is used."""
    form = forms.get((shape, dtype))
    if form is None:
        form = forms[shape, dtype] = Form(shape, dtype)
    with ranks.on(rank):
        return form.new(like, workspace(None))


def _copy(rank, to, to_byte, x, from_byte, nbytes, stream=None):
    """Queue a copy on a device; the memory may be on any device."""
    if nbytes:
        with ranks.on(rank):
            start, end = address(x) + from_byte, address(to) + to_byte
            cuda.memcpy_dtod_async(end, start, nbytes, stream or ranks.stream(rank))


def _sum(rank, arrays, out, first, count):
    """Queue the sum of a part of the arrays on a device."""
    dtype = arrays[0].dtype
    with ranks.on(rank):
        starts = [address(x) + first * dtype.itemsize for x in arrays]
        queue_sum(starts, dtype, out, count, ranks.stream(rank))
