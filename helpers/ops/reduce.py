"""Reductions over any axes, by the kernels of cuda_src/rowreduce and cuda_src/higherdim."""

import builtins
from math import gcd
from math import prod as product

import numpy as np

from .. import sources
from .arrays import check, is_contiguous, signature
from .elementwise import contiguous
from .launch import (
    Form,
    Kept,
    KernelCall,
    address,
    ceil_divide,
    cuda,
    multiprocessors,
    workspace,
)

__all__ = ["argmax", "argmin", "max", "mean", "min", "prod", "sum"]

WIDE = {"float16": "float32", "float32": "float32", "float64": "float64", "int32": "int64"}
TOTAL_BYTES = 16  # for a block's total, whatever the accumulator
LOAD_US, STEP_US, MEET_US = 0.7, 0.03, 1.5  # to memory, to shared memory, of the last to arrive
BYTES_PER_US = 23000  # of a multiprocessor's share of the memory

prepared = Kept()


def sum(x, axis=None, stream=None):
    """The sum over an axis, several, or (None) all."""
    return _reduce("Sum", x, axis, stream)


def prod(x, axis=None, stream=None):
    """The product over an axis, several, or (None) all."""
    return _reduce("Prod", x, axis, stream)


def mean(x, axis=None, stream=None):
    """The mean over an axis, several, or (None) all."""
    return _reduce("Mean", x, axis, stream)


def max(x, axis=None, stream=None):
    """The greatest element over an axis, several, or (None) all."""
    return _reduce("Max", x, axis, stream)


def min(x, axis=None, stream=None):
    """The least element over an axis, several, or (None) all."""
    return _reduce("Min", x, axis, stream)


def argmax(x, axis=None, stream=None):
    """The place of the first greatest element over an axis or (None) in the flat array, int64."""
    return _reduce("ArgMax", x, axis, stream)


def argmin(x, axis=None, stream=None):
    """The place of the first least element over an axis or (None) in the flat array, int64."""
    return _reduce("ArgMin", x, axis, stream)


def _reduce(op, x, axis, stream):
    told = axis if axis is None or type(axis) is int else repr(axis)  # 1.0 == 1, and no axis
    room = workspace(stream)
    key = op, told, room.context, signature(x)
    folds = prepared.get(key)
    if folds is None:
        axes = _axes(op, check(x, WIDE, "x") and x, axis)
        if not x.size:
            return _of_nothing(op, x, axes)
        if not is_contiguous(x):
            return _reduce(op, contiguous(x, stream), axis, stream)
        if not axes:
            return _of_each(op, x, stream)
        folds = prepared[key] = _folds(op, x, axes)
    y = x
    for fold in folds:
        y = fold(y, room, stream)
    return y


def _axes(op, x, axis):
    """The axes to reduce over, from 0, in order."""
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
    """The types that an operator folds in and gives back."""
    wide = WIDE[dtype.name]
    if op.startswith("Arg"):
        return _narrow(dtype), "int64"
    if op in ("Max", "Min"):
        return _narrow(dtype), dtype.name
    if op == "Mean" and dtype.kind != "f":
        wide = "float64"
    return wide, dtype.name if dtype.kind == "f" else wide


def _narrow(dtype):
    """What to compare in: no wider than must be."""
    return "float32" if dtype.name == "float16" else dtype.name


def _of_each(op, x, stream):
    """The result where each element is folded with nothing: a copy, or its place, which is 0."""
    _, out = _types(op, x.dtype)
    if x.dtype != out and not op.startswith("Arg"):
        return x.astype(out, stream)
    y = Form(x.shape, out).new(x, workspace(stream))
    if op.startswith("Arg"):
        return y.fill(0, stream)
    cuda.memcpy_dtod_async(y.gpudata, x.gpudata, x.nbytes, stream)
    return y


def _of_nothing(op, x, axes):
    """The result of a reduction of an array without elements, made on the host."""
    from pycuda import gpuarray

    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    neutral = {"Sum": 0, "Prod": 1, "Mean": np.nan}.get(op)
    if neutral is None and product(shape):
        raise ValueError(f"{op.lower()} of no elements: {x.shape} has nothing to choose from")
    return gpuarray.to_gpu(np.full(shape, neutral or 0, _types(op, x.dtype)[1]))


def _folds(op, x, axes):
    """The launches that reduce a contiguous array: fold(array, workspace, stream) -> array.

    Neighbouring axes fold as one; of several such groups the last goes first."""
    wide, out = _types(op, x.dtype)
    shape, dtype, place, folds = x.shape, x.dtype, address(x) % 16, []
    while axes:
        last = first = axes.pop()
        while axes and axes[-1] == first - 1:
            first = axes.pop()
        result = np.dtype(wide if axes else out)
        sizes = product(shape[:first]), product(shape[first : last + 1]), product(shape[last + 1 :])
        shape = shape[:first] + shape[last + 1 :]
        folds.append(folding(op, sizes, dtype, wide, Form(shape, result), place))
        dtype, place = result, 0
    return folds


def folding(op, sizes, dtype, wide, form, place, out=None):
    """A launch of x[outer, reduce, inner] -> y[outer, inner]. out: y's type, unless NumPy knows."""
    outer, reduce, inner = sizes
    acc = sources.C_NAMES[wide]
    choices = {
        "T": dtype,
        "Acc": f"Indexed<{acc}>" if op.startswith("Arg") else acc,
        "Out": out or form.attributes["dtype"],
        "Op": f"{op}<{acc}>",
    }
    choose = _rows if inner == 1 else _columns
    launch, total_bytes, counters = choose(sizes, np.dtype(dtype).itemsize, place, choices)

    def fold(x, room, stream):
        y = form.new(x, room)
        after = room.scratch(total_bytes, counters) if total_bytes is not None else ()
        launch(stream, (address(x), address(y)), after)
        return y

    return fold


def _predicted_us(blocks, threads, loads, block_bytes, more_us):
    """What a launch takes: waves of blocks whose threads wait for so many loads in turn, and then
    more_us, or the bytes of the busiest multiprocessor, whichever is longer."""
    resident = builtins.max(1, builtins.min(16, 1024 // (ceil_divide(threads, 32) * 32)))
    waves = ceil_divide(blocks, resident * multiprocessors())
    busiest = ceil_divide(blocks, multiprocessors()) * block_bytes
    return builtins.max(waves * (loads * LOAD_US + more_us), busiest / BYTES_PER_US)


def _rows(sizes, itemsize, place, choices):
    """The launch for rows, and how many bytes of scratch (None: it takes none) and counters."""
    batch, hidden, _ = sizes
    pack, row_bytes, found = 16 // itemsize, hidden * itemsize, []
    packs = ceil_divide(hidden, pack) + (hidden % pack + place > 0)
    for lanes in 1, 2, 4, 8, 16, 32:
        for rows in (1, 4) if packs <= 8 * lanes else ():
            grid, loads = ceil_divide(batch * lanes, rows * 256), ceil_divide(packs, lanes)
            us = _predicted_us(grid, 256, loads, row_bytes * rows * 256 // lanes, rows * STEP_US)
            found.append((us, grid, (256,), {"PACK": pack, "LANES": lanes, "ROWS": rows}))
    for block in 64, 128, 256, 512:
        enough = ceil_divide(1024 // block * multiprocessors(), batch)
        for splits in {1, *(enough * n for n in (1, 2, 4))}:
            if splits > 1 and row_bytes < splits * block * 16:
                continue
            loads = ceil_divide(packs, 8 * block * splits)
            more_us = 8 * STEP_US + (splits > 1) * (MEET_US + splits // block * LOAD_US)
            us = _predicted_us(batch * splits, block, loads, row_bytes // splits, more_us)
            found.append((us, batch * splits, (block,), splits))
    _, grid, block, chosen = builtins.min(found, key=lambda each: each[0])
    if isinstance(chosen, dict):
        call = KernelCall("rowreduce/lanes.cu", choices | chosen, (grid,), block, batch, hidden)
        return call, None, 0
    together = grid if chosen > 1 else 0
    values = batch, hidden, np.int32(chosen)
    launch = KernelCall("rowreduce/split.cu", choices, (grid,), block, *values)
    return launch, together * TOTAL_BYTES, together


def _columns(sizes, itemsize, place, choices):
    """The launch for columns, and how many bytes of scratch and counters."""
    outer, reduce, inner = sizes
    pack, arg = 16 // itemsize, "Indexed" in choices["Acc"]
    most = 256 if arg else 512  # threads: those take more shared memory
    alike = pack // gcd(inner, pack)  # so many rows lie in as many ways
    merged = {1} if arg else {1, reduce, *(alike << e for e in range(10))}
    tried = (
        (m, height, tiles)
        for m in merged
        if m == 1 or m <= reduce and m * inner <= most * pack
        for height in (1, 2, 4, 8, 16, 32, 64)
        if not height % (pack // gcd(m * inner, pack)) or height >= ceil_divide(reduce, m)
        for tiles in (1, 2, 3, 4, 6, 8, ceil_divide(inner, most // height * pack - pack + 1))
        if tiles > 0 and (m == 1 or tiles == 1)
    )
    found = (t for sizes_of in tried for t in _tilings(sizes, pack, itemsize, place, most, *sizes_of))
    _, merged, block, blocks, chunks = builtins.min(found)
    together = blocks * chunks if chunks > 1 else 0
    choices = choices | {"PACK": pack, "BLOCK": most}
    values = *sizes, np.int32(merged)
    launch = KernelCall("higherdim/tiles.cu", choices, (blocks, chunks), block, *values)
    return launch, together * block[0] * pack * TOTAL_BYTES, together


def _tilings(sizes, pack, itemsize, place, most, merged, height, tiles):
    """What tiles.cu may be launched with: (µs, rows merged, block, tiles of all slices, chunks)."""
    outer, reduce, inner = sizes
    wide, rows = merged * inner, ceil_divide(reduce, merged)
    slack = pack - 1 if wide % pack or reduce * inner % pack or place else 0
    width = ceil_divide(ceil_divide(wide, tiles) + slack, pack)
    if width * height > most or height > 2 * rows:
        return
    columns = width * pack - slack
    tiles = ceil_divide(wide, columns)
    here, own = builtins.min(columns, wide), builtins.min(columns, inner)
    side = builtins.min(most // (width * height), outer, 64)
    for slices in {1, side, ceil_divide(side, 2), ceil_divide(side, 4)}:
        blocks, threads = ceil_divide(outer, slices) * tiles, width * height * slices
        wave = 1024 // threads * multiprocessors()
        for chunks in {1, *(wave * n // blocks for n in (1, 2, 4))} if slices == 1 else {1}:
            share = ceil_divide(rows // chunks if chunks else 0, height)
            if not share or chunks > 1 and share < 2:
                continue
            steps = ceil_divide(slices * here, threads) * (height - 1)
            steps += ceil_divide(slices * own, threads) * merged
            more_us = (1 + (chunks > 1)) * steps * STEP_US
            more_us += (chunks > 1) * (MEET_US + ceil_divide(chunks, 4 * height) * LOAD_US)
            moved = slices * ceil_divide(rows, chunks) * (here * itemsize + 32 * (slack > 0))
            us = _predicted_us(blocks * chunks, threads, ceil_divide(share, 4), moved, more_us)
            yield us, merged, (width, height, slices), blocks, chunks
