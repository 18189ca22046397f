"""Reductions and softmax of arrays on the GPU, by the course's fastest kernels.

    from helpers import autoinit, ops
    x = pycuda.gpuarray.to_gpu(...)          # float32, float64, float16 or int32, contiguous
    ops.sum(x), ops.max(x, axis=0), ops.mean(x, axis=(-2, -1)), ops.argmin(x, axis=1)
    ops.softmax(x)                           # over the last axis, floats only

Results are new arrays, and the same bits every run. float16 is accumulated in float32. int32 is
summed and multiplied in int64, its mean is float64, as in NumPy. NaN anywhere in a max, min, argmax
or argmin is the result, of several the first. All work is queued on `stream`."""

import builtins
from collections import defaultdict
from math import prod as product

import numpy as np

import softgpu

from . import autoinit, sources

__all__ = ["argmax", "argmin", "max", "mean", "min", "prod", "softmax", "sum"]

WIDE = {"float16": "float32", "float32": "float32", "float64": "float64", "int32": "int64"}
REGISTER_BYTES = 256  # of a thread, for its share of a softmax's row
LONGEST_TRAILING_BYTES = 1 << 22  # of a softmax's row, accumulated: 128 tiles, 4 slots a lane
MOST_PARTS = 1024  # of longer rows: each warp that writes reads what all parts measured


def sum(x, axis=None, stream=None):
    """The sum over an axis, several, or (None) all."""
    wide = WIDE[_check(x).name]
    return _reduce(x, axis, stream, "Sum", wide, x.dtype if x.dtype.kind == "f" else wide)


def prod(x, axis=None, stream=None):
    """The product over an axis, several, or (None) all."""
    wide = WIDE[_check(x).name]
    return _reduce(x, axis, stream, "Prod", wide, x.dtype if x.dtype.kind == "f" else wide)


def mean(x, axis=None, stream=None):
    """The mean over an axis, several, or (None) all."""
    dtype = _check(x)
    wide = WIDE[dtype.name] if dtype.kind == "f" else "float64"
    return _reduce(x, axis, stream, "Mean", wide, dtype if dtype.kind == "f" else wide)


def max(x, axis=None, stream=None):
    """The greatest element over an axis, several, or (None) all."""
    return _reduce(x, axis, stream, "Max", _narrow(_check(x)), x.dtype)


def min(x, axis=None, stream=None):
    """The least element over an axis, several, or (None) all."""
    return _reduce(x, axis, stream, "Min", _narrow(_check(x)), x.dtype)


def argmax(x, axis=None, stream=None):
    """The place of the first greatest element over an axis or (None) in the flat array, int64."""
    return _reduce(x, axis, stream, "ArgMax", _narrow(_check(x)), "int64")


def argmin(x, axis=None, stream=None):
    """The place of the first least element over an axis or (None) in the flat array, int64."""
    return _reduce(x, axis, stream, "ArgMin", _narrow(_check(x)), "int64")


def softmax(x, stream=None):
    """Softmax over the last axis. A row with +inf or NaN, or nothing but -inf, becomes NaN."""
    if _check(x).kind != "f":
        raise TypeError(f"softmax of {x.dtype}: expected float16, float32 or float64")
    if not x.ndim:
        raise ValueError("softmax of an array without dimensions")
    y = _empty(x, x.shape, x.dtype)
    if not x.size:
        return y
    hidden, batch = x.shape[-1], x.size // x.shape[-1]
    pack = _pack(x, hidden)
    packs = hidden // pack
    wide = np.dtype(WIDE[x.dtype.name])
    choices = {"T": x.dtype, "Acc": wide, "PACK": pack}
    each = 2 if packs <= 64 else 4 if packs <= 1024 else 8 if packs <= 4096 else 16  # of a thread
    each = builtins.min(each, REGISTER_BYTES // (pack * wide.itemsize))
    group = _power_of_two(_ceil(packs, each))
    if group <= 512:
        block = group if group > 32 else 128
        run = sources.kernel(
            "softmax/registers.cu", **choices, GROUP=group, PACKS=_ceil(packs, group)
        )
        _launch(run, stream, _ceil(batch * group, block), block, x, y, batch, hidden)
        return y
    if hidden * wide.itemsize <= LONGEST_TRAILING_BYTES:
        _softmax_trailing(x, y, batch, hidden, choices, stream)
    else:
        _softmax_in_two(x, y, batch, hidden, choices, stream)
    return y


def _softmax_trailing(x, y, batch, hidden, choices, stream):
    import pycuda.driver as cuda

    block, pack_bytes = 256, choices["PACK"] * x.dtype.itemsize
    packs = builtins.min(128 // pack_bytes, 32)  # a thread holds up to 128 bytes of each tile
    tile = block * packs * choices["PACK"]
    parts = _ceil(hidden, tile)
    tiles = batch * parts
    near = cuda.Context.get_device().l2_cache_size // 8 // (block * packs * pack_bytes)
    lag = builtins.max(parts, builtins.min(tiles, near))
    ticket_bytes = 16  # before the slots
    room, _ = _scratch(stream, ticket_bytes + tiles * 16, 0)
    cuda.memset_d32_async(room, 0, (ticket_bytes + tiles * 16) // 4, stream)
    whole = int(hidden % tile == 0)
    run = sources.kernel("softmax/trailing.cu", **choices, PACKS=packs, BLOCK=block, WHOLE=whole)
    rest = np.int32(parts), np.int32(lag), np.intp(int(room) + ticket_bytes), room
    _launch(run, stream, tiles + lag, block, x, y, batch, hidden, *rest)


def _softmax_in_two(x, y, batch, hidden, choices, stream):
    tile = _power_of_two(builtins.max(32768 // x.dtype.itemsize, _ceil(hidden, MOST_PARTS)))
    parts = _ceil(hidden, tile)
    stats, _ = _scratch(stream, batch * parts * 16, 0)
    measure = sources.kernel("softmax/measure.cu", **choices, TILE=tile)
    _launch(measure, stream, batch * parts, 256, x, stats, batch, hidden, np.int32(parts))
    write = sources.kernel("softmax/write.cu", **choices, TILE=tile)
    _launch(write, stream, batch * parts, 256, x, y, batch, hidden, np.int32(parts), stats)


def _check(x):
    """The dtype of an array that the kernels take; an error says why another is refused."""
    from pycuda.gpuarray import GPUArray

    if not isinstance(x, GPUArray):
        raise TypeError(f"expected a pycuda GPUArray, got {type(x).__name__}")
    if x.dtype.name not in WIDE or not x.dtype.isnative:
        hint = "; x.astype(np.int32) may do" if x.dtype.kind in "iub" else ""
        raise TypeError(f"{x.dtype} is not among {', '.join(WIDE)}{hint}")
    if not x.flags.c_contiguous:
        raise ValueError(
            f"array of shape {x.shape}, strides {x.strides} is not contiguous: send one that is,"
            " to_gpu(np.ascontiguousarray(…))"
        )
    if x.size and x.ptr % x.dtype.itemsize:
        raise ValueError(f"the array begins at {x.ptr:#x}, no multiple of {x.dtype.itemsize} bytes")
    return x.dtype


def _narrow(dtype):
    """What to compare in: no wider than must be."""
    return "float32" if dtype.name == "float16" else dtype.name


def _axes(x, axis):
    """The axes to reduce over, from 0, in order."""
    if axis is None:
        return list(range(x.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    for a in axes:
        if not isinstance(a, int | np.integer):
            raise TypeError(f"axis {a!r}: expected an integer, a tuple of them, or None")
        if not -x.ndim <= a < x.ndim:
            raise ValueError(f"axis {a} is out of range for an array of {x.ndim} dimensions")
    axes = sorted(int(a) % x.ndim for a in axes)
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis {axis} names a dimension twice")
    return axes


def _reduce(x, axis, stream, op, wide, out):
    """Fold x over axes with an operator of operators.cuh, in the type `wide`, to the type `out`."""
    axes = _axes(x, axis)
    if op.startswith("Arg") and isinstance(axis, tuple):
        raise TypeError(f"{op.lower()} takes one axis, an integer, or None; got {axis}")
    if not x.size:
        return _of_nothing(x, axes, op, out)
    if not axes:
        return _of_each(x, op, out, stream)
    # Neighbouring axes fold as one; of several such groups the last goes first.
    while axes:
        last = first = axes.pop()
        while axes and axes[-1] == first - 1:
            first = axes.pop()
        shape = x.shape[:first] + x.shape[last + 1 :]
        y = _empty(x, shape, wide if axes else out)
        outer, inner = product(x.shape[:first]), product(x.shape[last + 1 :])
        _fold(x, y, (outer, x.size // (outer * inner), inner), op, wide, stream)
        x = y
    return x


def _of_each(x, op, out, stream):
    """The result where each element is folded with nothing: a copy, or its place, which is 0."""
    import pycuda.driver as cuda

    if x.dtype != out and not op.startswith("Arg"):
        return x.astype(out, stream)
    y = _empty(x, x.shape, out)
    if op.startswith("Arg"):
        return y.fill(0, stream)
    cuda.memcpy_dtod_async(y.gpudata, x.gpudata, x.nbytes, stream)
    return y


def _of_nothing(x, axes, op, out):
    """The result of a reduction of an array without elements, made on the host."""
    from pycuda import gpuarray

    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    neutral = {"Sum": 0, "Prod": 1, "Mean": np.nan}.get(op)
    if neutral is None and product(shape):
        raise ValueError(f"{op.lower()} of no elements: {x.shape} has nothing to choose from")
    return gpuarray.to_gpu(np.full(shape, neutral or 0, out))


def _fold(x, y, shape, op, wide, stream):
    """Launch the kernel for x[outer, reduce, inner] -> y[outer, inner]."""
    outer, reduce, inner = shape
    acc = sources.C_NAMES[wide]
    indexed = op.startswith("Arg")
    choices = {
        "T": x.dtype,
        "Acc": f"Indexed<{acc}>" if indexed else acc,
        "Out": y.dtype,
        "Op": f"{op}<{acc}>",
    }
    if inner == 1:
        _fold_rows(x, y, outer, reduce, choices, stream)
    else:
        _fold_columns(x, y, shape, choices, stream)


def _fold_rows(x, y, batch, hidden, choices, stream):
    size = x.dtype.itemsize
    pack = _pack(x, hidden)
    multiprocessors = _multiprocessors()
    if batch >= multiprocessors and hidden // pack <= 64:
        rows, lanes = 4, builtins.min(32, _power_of_two(hidden // pack))
        run = sources.kernel("rowreduce/lanes.cu", **choices, PACK=pack, LANES=lanes, ROWS=rows)
        _launch(run, stream, _ceil(batch * lanes, rows * 256), 256, x, y, batch, hidden)
    elif batch >= multiprocessors and hidden * size <= 4096:
        run = sources.kernel("rowreduce/warp_packed.cu", **choices)
        _launch(run, stream, _ceil(batch, 8), 256, x, y, batch, hidden)
    else:
        row_bytes = hidden * size
        most, splits = 256 if batch >= 4 * multiprocessors else 512, 1
        block = _power_of_two(row_bytes // 128)  # 8 packs of 16 bytes a thread
        block = builtins.min(most, builtins.max(64, block))
        if batch < multiprocessors and row_bytes > 65536:
            block = 256
            enough = builtins.max(_ceil(4 * multiprocessors, batch), row_bytes >> 19)
            splits = builtins.min(row_bytes >> 14, enough)
        run = sources.kernel("rowreduce/split.cu", **choices)
        together = batch * splits if splits > 1 else 0
        totals, arrived = _scratch(stream, together * 16, together)
        arguments = np.int32(splits), totals, arrived
        _launch(run, stream, batch * splits, block, x, y, batch, hidden, *arguments)


def _fold_columns(x, y, shape, choices, stream):
    outer, reduce, inner = shape
    pack = _pack(x, inner)
    block = 256 if "Indexed" in choices["Acc"] else 512  # those take more shared memory
    height = builtins.min(32, _power_of_two(_ceil(reduce, 64)))
    width = builtins.min(block // height, _power_of_two(_ceil(inner, pack)))
    tiles = _ceil(inner, width * pack)
    one_wave = builtins.max(1, 2 * _multiprocessors() // (outer * tiles))
    chunks = builtins.min(one_wave, _ceil(reduce, 8 * height))
    run = sources.kernel("higherdim/tiles.cu", **choices, PACK=pack, BLOCK=block)
    together = outer * chunks if chunks > 1 else 0
    totals, arrived = _scratch(stream, together * inner * 16, together * tiles)
    threads, grid = (width, height), (outer * tiles, chunks)
    _launch(run, stream, grid, threads, x, y, outer, reduce, inner, totals, arrived)


def _launch(run, stream, grid, block, *arguments):
    """Launch a kernel; Python's integers go to it as long long."""
    grid = grid if isinstance(grid, tuple) else (grid, 1)
    block = block if isinstance(block, tuple) else (block, 1)
    arguments = [np.int64(a) if isinstance(a, int) else a for a in arguments]
    run(*arguments, grid=grid, block=(*block, 1), stream=stream)


def _pack(x, run):
    """Elements to a load: the most that divide a run of so many and keep x aligned, 16 bytes' worth
    at most."""
    pack = 16 // x.dtype.itemsize
    while run % pack or x.ptr % (pack * x.dtype.itemsize):
        pack //= 2
    return pack


def _empty(x, shape, dtype):
    """A new array, from where x came."""
    from pycuda import gpuarray

    return gpuarray.empty(shape, dtype, allocator=x.allocator)


def _multiprocessors():
    import pycuda.driver as cuda

    return cuda.Context.get_device().multiprocessor_count


scratch = defaultdict(lambda: [None, None, 0])


def _scratch(stream, total_bytes, counters):
    """Memory for blocks' totals, and counters, which are zero between two launches on a stream."""
    import pycuda.driver as cuda
    from pycuda import gpuarray

    kept = scratch[cuda.Context.get_current().handle, stream and stream.handle]
    stopped = softgpu.stopped_launches() if autoinit.is_software else 0
    if kept[2] != stopped:  # one of ours, perhaps, before it had reset its counters
        kept[:] = None, None, stopped
    for i, size in enumerate((total_bytes, 4 * counters)):
        if kept[i] is None or kept[i].size < size:
            kept[i] = gpuarray.zeros(_power_of_two(builtins.max(size, 4096)), np.uint8)
    return kept[0].gpudata, kept[1].gpudata


def _ceil(a, b):
    return -(-a // b)


def _power_of_two(n):
    """The least power of two that is n or more."""
    return 1 << builtins.max(n - 1, 0).bit_length()
