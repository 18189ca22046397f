"""Softmax over the last axis, by the kernels of cuda_src/softmax."""

import numpy as np

from .arrays import check, dividing, is_contiguous, kind
from .elementwise import contiguous
from .launch import Form, Kept, KernelCall, address, ceil_divide, cuda, power_of_two, workspace
from .reduce import WIDE

__all__ = ["softmax"]

REGISTER_BYTES = 256  # of a thread, for its share of a row
BLOCK, TILE_BYTES = 256, 1 << 15  # threads, and what they hold, where others write a tile
CLUSTER = 8  # blocks that hold a row which is too long for one
MANY_BYTES = 8 << 20  # of an array, from which on there are enough tiles of that size
MOST_TRAILING = 256  # tiles of a row: 8 slots a lane
LONG_BYTES = 1 << 10  # of a row from which on wide packs pay that leave edges
MOST_PARTS = 1024  # of longer rows: each warp that writes reads what all parts measured
SLOT_BYTES = 16  # for a block's maximum and sum, whatever the accumulator

prepared = Kept()


def softmax(x, stream=None):
    """Return softmax over the last axis. A row with +inf or NaN, or with only -inf, becomes NaN."""
    room = workspace(stream)
    layout, word = kind(x)
    key = room.context, layout
    call = prepared.get(key)
    if call is None:
        _check(x)
        if not is_contiguous(x):
            return softmax(contiguous(x, stream), stream)
        call = prepared[key] = Form(x.shape, x.dtype), _choose(x)
    form, run = call
    y = form.new(x, room)
    if run:
        run(stream, (word, y.gpudata.__int__()))
    return y


def _check(x):
    if check(x, WIDE, "x").kind != "f":
        raise TypeError(f"softmax of {x.dtype}: expected float16, float32 or float64")
    if not x.ndim:
        raise ValueError("softmax of an array without dimensions")


def _choose(x):
    """Prepare the softmax of a contiguous array: run(stream, addresses)."""
    if not x.size:
        return None
    hidden, batch = x.shape[-1], x.size // x.shape[-1]
    itemsize, wide = x.dtype.itemsize, np.dtype(WIDE[x.dtype.name])
    plain, widest = (dividing(size, itemsize, address(x)) for size in (hidden, 0))
    narrow = plain * itemsize <= 4  # bytes
    edges = int(narrow and plain < widest and hidden * itemsize >= LONG_BYTES)
    pack = widest if edges else plain
    packs = ceil_divide(hidden, pack)
    choices = {"T": x.dtype, "Acc": wide, "PACK": pack, "EDGES": edges}
    each = 2 if packs <= 64 else 4 if packs <= 1024 else 8 if packs <= 4096 else 16  # of a thread
    if narrow and not edges:  # more of them in flight, and fewer lanes to meet
        each = max(each, 8)
    each = min(each, REGISTER_BYTES // (pack * wide.itemsize))
    group = power_of_two(ceil_divide(packs, each))
    if group <= 512:
        return _in_registers(batch, hidden, group, choices | {"PACKS": ceil_divide(packs, group)})
    few, spread = x.nbytes <= MANY_BYTES, ceil_divide(packs, CLUSTER * BLOCK)
    has_clusters = cuda.Context.get_device().compute_capability() >= (9, 0)
    if few and has_clusters and spread <= REGISTER_BYTES // (pack * wide.itemsize):
        choices, grid = choices | {"PACKS": spread}, (batch * CLUSTER,)
        return KernelCall("softmax/cluster.cu", choices, grid, (BLOCK,), batch, hidden)
    held = TILE_BYTES // 2 if few else TILE_BYTES
    choices["PACKS"] = packs = min(held // (BLOCK * pack * itemsize), 32)
    tile = BLOCK * packs * pack
    if hidden <= MOST_TRAILING * tile:
        return _trailing(batch, hidden, tile, itemsize, choices)
    return _in_two(batch, hidden, itemsize, {"T": x.dtype, "Acc": wide, "PACK": plain})


def _in_registers(batch, hidden, group, choices):
    block = group if group > 32 else BLOCK
    grid = (ceil_divide(batch * group, block),)
    choices = choices | {"GROUP": group}
    return KernelCall("softmax/registers.cu", choices, grid, (block,), batch, hidden)


def _trailing(batch, hidden, tile, itemsize, choices):
    parts = ceil_divide(hidden, tile)
    tiles = batch * parts
    near = cuda.Context.get_device().l2_cache_size // 8 // (tile * itemsize)
    lag = max(parts, min(tiles, near))
    choices = choices | {"BLOCK": BLOCK, "WHOLE": int(hidden % tile == 0)}
    sizes = batch, hidden, np.int32(parts), np.int32(lag)
    launch = KernelCall("softmax/trailing.cu", choices, (tiles + lag,), (BLOCK,), *sizes)
    ticket_bytes = 16  # before the slots
    room_bytes = ticket_bytes + tiles * SLOT_BYTES

    def run(stream, addresses):
        ticket, _ = workspace(stream).scratch(room_bytes, 0)
        cuda.memset_d32_async(ticket, 0, room_bytes // 4, stream)
        launch(stream, addresses, after=(ticket + ticket_bytes, ticket))

    return run


def _in_two(batch, hidden, itemsize, choices):
    tile = power_of_two(max(32768 // itemsize, ceil_divide(hidden, MOST_PARTS)))
    parts = ceil_divide(hidden, tile)
    grid, block, sizes = (batch * parts,), (256,), (batch, hidden, np.int32(parts))
    choices = choices | {"TILE": tile}
    measure = KernelCall("softmax/measure.cu", choices, grid, block, *sizes)
    write = KernelCall("softmax/write.cu", choices, grid, block, *sizes)

    def run(stream, addresses):
        x, y = addresses
        stats, _ = workspace(stream).scratch(batch * parts * SLOT_BYTES, 0)
        measure(stream, (x, stats))
        write(stream, (x, y), after=(stats,))

    return run
