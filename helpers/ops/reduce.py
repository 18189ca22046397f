"""Reductions over any axes, by the kernels of cuda_src/rowreduce and cuda_src/higherdim."""

import builtins
from math import gcd
from math import prod as product

import numpy as np

from .. import sources
from .arrays import check, dividing, is_contiguous, signature
from .elementwise import contiguous, copy
from .launch import (
    Form,
    Kept,
    KernelCall,
    address,
    ceil_divide,
    multiprocessors,
    power_of_two,
    workspace,
)

__all__ = ["argmax", "argmin", "max", "mean", "min", "prod", "sum"]

WIDE = {"float16": "float32", "float32": "float32", "float64": "float64", "int32": "int64"}
NARROW = 4  # bytes per load, up to which two aligned ones of 16 bytes are faster
LARGE = 4 << 20  # bytes from which on wide accesses pay
MANY = 1056  # blocks: eight for each multiprocessor of the GPU that this was tuned on
MOST_PACKS = 160  # of a row that lanes share
MOST_BYTES = 64  # that a thread loads at once; of small arrays, twice as many
SLICES_BYTES = 1 << 14  # of short slices that a block has
ROUND_US, MEET_US = 0.5, 2  # a load's way from memory; a total's way to the last block, and back
AT_A_TIME = 1024  # threads of a multiprocessor whose loads keep memory busy
TOTAL_BYTES = 16  # for a block's total, whatever the accumulator

prepared = Kept()


def _reduction(op, says):
    """Define a public function of an array and its axes."""

    def function(x, axis=None, stream=None):
        return _reduce(op, x, axis, stream)

    function.__name__ = function.__qualname__ = op.lower()
    function.__doc__ = says
    return function


OVER = "over one axis, several axes, or all (None)."
INDEX = "over an axis, or in the flattened array (None), as int64."
sum = _reduction("Sum", f"Return the sum {OVER}")
prod = _reduction("Prod", f"Return the product {OVER}")
mean = _reduction("Mean", f"Return the mean {OVER}")
max = _reduction("Max", f"Return the maximum {OVER}")
min = _reduction("Min", f"Return the minimum {OVER}")
argmax = _reduction("ArgMax", f"Return the index of the first maximum {INDEX}")
argmin = _reduction("ArgMin", f"Return the index of the first minimum {INDEX}")


def _reduce(op, x, axis, stream):
    told = axis if axis is None or type(axis) is int else repr(axis)  # 1.0 == 1, but is not an axis
    room = workspace(stream)
    key = op, told, room.context, signature(x)
    folds = prepared.get(key)
    if folds is None:
        axes = _axes(op, check(x, WIDE, "x") and x, axis)
        if not x.size:
            return _of_nothing(op, x, axes)
        if not is_contiguous(x):
            return _reduce(op, contiguous(x, stream), axis, stream)
        folds = prepared[key] = _folds(op, x, axes)
    y = x
    for fold in folds:
        y = fold(y, room, stream)
    return y


def _axes(op, x, axis):
    """Return the axes to reduce over, non-negative and sorted."""
    if op.startswith("Arg") and isinstance(axis, tuple):
        raise TypeError(f"{op.lower()} takes one axis, an integer, or None; got {axis}")
    if axis is None:
        return list(range(x.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    for a in axes:
        if not isinstance(a, int | np.integer):
            raise TypeError(f"axis {a!r}: expected an integer, a tuple of them, or None")
        if not -x.ndim <= a < x.ndim:
            raise ValueError(f"axis {a} is out of range for an array of {x.ndim} dimensions")
    places = sorted(int(a) % x.ndim for a in axes)
    if len(set(places)) < len(places):
        raise ValueError(f"axis {axis} names a dimension twice")
    return places


def _types(op, dtype):
    """Return an operator's accumulator and result types."""
    wide = WIDE[dtype.name]
    if op.startswith("Arg"):
        return _narrow(dtype), "int64"
    if op in ("Max", "Min"):
        return _narrow(dtype), dtype.name
    if op == "Mean" and dtype.kind != "f":
        wide = "float64"
    return wide, dtype.name if dtype.kind == "f" else wide


def _narrow(dtype):
    """Return the type to compare in: float32 for float16, else the type itself."""
    return "float32" if dtype.name == "float16" else dtype.name


def _of_each(op, out, shape):
    """Return what reduces each element on its own: a copy, or its index, which is 0."""
    form = Form(shape, out)

    def fold(x, room, stream):
        if op.startswith("Arg"):
            return form.new(x, room).fill(0, stream)
        if x.dtype != out:
            return x.reshape(shape).astype(out, stream)
        return copy(x.reshape(shape), stream)

    return fold


def _of_nothing(op, x, axes):
    """Return the reduction of an array without elements, computed on the host."""
    from pycuda import gpuarray

    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    neutral = {"Sum": 0, "Prod": 1, "Mean": np.nan}.get(op)
    if neutral is None and product(shape):
        raise ValueError(f"{op.lower()} of no elements: {x.shape} has nothing to choose from")
    return gpuarray.to_gpu(np.full(shape, neutral or 0, _types(op, x.dtype)[1]))


def _folds(op, x, axes):
    """Prepare the launches that reduce a contiguous array: fold(array, workspace, stream) -> array.

    Axes of one element are left out. Adjacent axes are reduced as one; of several such groups the
    last is reduced first."""
    wide, out = _types(op, x.dtype)
    kept = [i for i in range(x.ndim) if i not in axes or x.shape[i] > 1]
    shape, axes = tuple(x.shape[i] for i in kept), [kept.index(a) for a in axes if a in kept]
    dtype, folds = x.dtype, [] if axes else [_of_each(op, out, shape)]
    places: tuple[int, ...] = (address(x),)
    while axes:
        last = first = axes.pop()
        while axes and axes[-1] == first - 1:
            first = axes.pop()
        result = np.dtype(wide if axes else out)
        sizes = product(shape[:first]), product(shape[first : last + 1]), product(shape[last + 1 :])
        shape = shape[:first] + shape[last + 1 :]
        folds.append(folding(op, sizes, dtype, wide, Form(shape, result), places))
        dtype, places = result, ()
    return folds


def folding(op, sizes, dtype, wide, form, places, out=None):
    """Prepare a launch of x[outer, reduce, inner] -> y[outer, inner]. out: y's type, if NumPy
    lacks it."""
    outer, reduce, inner = sizes
    acc = sources.C_NAMES[wide]
    choices = {
        "T": dtype,
        "Acc": f"Indexed<{acc}>" if op.startswith("Arg") else acc,
        "Out": out or form.attributes["dtype"],
        "Op": f"{op}<{acc}>",
    }
    if inner == 1:
        launch, total_bytes, counters = _rows(outer, reduce, dtype.itemsize, choices, places)
    else:
        launch, total_bytes, counters = _columns(sizes, dtype.itemsize, choices, places)

    def fold(x, room, stream):
        y = form.new(x, room)
        after = room.scratch(total_bytes, counters) if total_bytes is not None else ()
        launch(stream, (address(x), address(y)), after)
        return y

    return fold


def _rows(batch, hidden, itemsize, choices, places):
    """Return the launch for rows, with its bytes of scratch (None: it takes none) and counters."""
    pack, row_bytes = dividing(hidden, itemsize, *places), hidden * itemsize
    packs, many = hidden // pack, batch >= multiprocessors()
    if many and packs <= MOST_PACKS:
        lanes = power_of_two(ceil_divide(packs, 9 if pack * itemsize <= 4 else 1))
        if lanes > 32:  # with a loop, fewer lanes are idle
            lanes = 16 if -packs % 16 < -packs % 32 else 32
        rows = 4 if lanes >= packs else 2 if packs < 4 * lanes else 1  # four loads in flight
        rows = builtins.min(rows, _spare(batch * lanes))
        choices = choices | {"PACK": pack, "LANES": lanes, "ROWS": rows}
        grid = (ceil_divide(batch * lanes, rows * 256),)
        return KernelCall("rowreduce/lanes.cu", choices, grid, (256,), batch, hidden), None, 0
    if many and row_bytes <= 4096:
        grid = (ceil_divide(batch, 8),)
        return KernelCall("rowreduce/warp_packed.cu", choices, grid, (256,), batch, hidden), None, 0
    block = power_of_two(row_bytes // 128)  # 8 packs of 16 bytes per thread
    block = builtins.min(256 if batch >= 4 * multiprocessors() else 512, builtins.max(64, block))
    splits = 1 if many else _parts(batch, 2 * 256, row_bytes >> 14)
    together, block = (batch * splits, 256) if splits > 1 else (0, block)
    sizes = batch, hidden, np.int32(splits)
    launch = KernelCall("rowreduce/split.cu", choices, (batch * splits,), (block,), *sizes)
    return launch, together * TOTAL_BYTES, together


def _columns(sizes, itemsize, choices, places):
    """Return the launch for columns, with its bytes of scratch and counters."""
    outer, reduce, inner = sizes
    indexed, large = "Indexed" in choices["Acc"], product(sizes) * itemsize >= LARGE
    pack, widest = (dividing(n, itemsize, *places) for n in (inner, 0))
    if large and reduce * inner < 31 * widest and outer > 2 * multiprocessors():
        return _slices(sizes, widest, itemsize, choices)
    merged, shifted = 1, False
    if large and not indexed:
        merged, shifted = _merged(sizes, itemsize, pack, widest)
    if large and pack * itemsize <= NARROW and merged == 1 and 2 * widest <= inner:
        shifted = widest * itemsize == 16
    pack = widest if merged > 1 or shifted else pack
    rows, packs = reduce // merged, ceil_divide(merged * inner, pack)
    block, unroll = 256 if indexed or shifted else 512, 8 if pack * itemsize <= 4 else 4
    width, each = power_of_two(packs if merged > 1 else builtins.min(packs, 16)), 8
    width = 32 if shifted else width
    while width < builtins.min(packs, 256) and outer * ceil_divide(packs, width) > MANY:
        width, each = 2 * width, 2 * unroll
    height = builtins.min(block // width, power_of_two(ceil_divide(rows, each)))
    whole = power_of_two(ceil_divide(rows, height))  # of a thread's rows
    most = 2 * MOST_BYTES // builtins.max(pack * itemsize, 8)
    if large and whole * pack * itemsize <= MOST_BYTES:
        unroll = whole
    elif not large and not indexed and whole <= 2 * most:  # the fewer rounds the better
        unroll = builtins.min(whole, most)
    unroll = builtins.min(unroll, power_of_two(rows))
    tiles = ceil_divide(packs, width - width // 32 * shifted)
    chunks = _parts(outer * tiles, width * height, ceil_divide(rows, height * unroll))
    choices = choices | {"PACK": pack, "BLOCK": block, "UNROLL": unroll}
    choices |= {"SHIFTED": int(shifted), "MERGED": merged}
    grid, together = (outer * tiles, chunks), outer * chunks if chunks > 1 else 0
    launch = KernelCall("higherdim/tiles.cu", choices, grid, (width, height), *sizes)
    return launch, together * packs * pack * TOTAL_BYTES, together * tiles


def _merged(sizes, itemsize, pack, widest):
    """Return how many rows count as one, so that packs of the widest kind fit rows that are too
    short or too odd for them, and whether such rows still begin anywhere."""
    outer, reduce, inner = sizes
    if inner >= 4 * widest or pack == widest:
        return 1, False
    shifted = outer > 1 and reduce * inner % widest > 0
    merged = 31 * widest // inner if shifted else widest // gcd(inner, widest)
    while merged * inner < 4 * widest:
        merged *= 2
    fits = merged <= reduce and (widest * itemsize == 16 or not shifted)
    return (merged, shifted) if fits else (1, False)


def _slices(sizes, pack, itemsize, choices):
    """Return the launch for slices that are short and many."""
    outer, reduce, inner = sizes
    packs = SLICES_BYTES // (pack * itemsize)
    slices = packs // (reduce * inner) * pack
    choices, grid = choices | {"PACK": pack, "SIZE": packs}, (ceil_divide(outer, slices),)
    call = KernelCall("higherdim/slices.cu", choices, grid, (256,), *sizes, np.int32(slices))
    return call, None, 0


def _parts(blocks, threads, rounds):
    """Return how many blocks share the work of one: what takes the least time, if each wave of
    blocks takes ROUND_US for each round of its loads, and MEET_US until totals have met."""
    room = AT_A_TIME * multiprocessors() // threads

    def us(parts):
        waves = ceil_divide(blocks * parts, room)
        return waves * ceil_divide(rounds, parts) * ROUND_US + MEET_US * (parts > 1)

    return builtins.min((1, builtins.max(1, builtins.min(rounds, room // blocks))), key=us)


def _spare(elements):
    """Return how many of so many elements a thread may have at once while others find work, too: a
    power of two."""
    return 1 << builtins.max(1, elements // (256 * multiprocessors())).bit_length() - 1
