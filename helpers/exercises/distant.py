"""Launches on arrays whose places 32 bits do not hold."""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .launches import Far, In, Launch, Out, blocks_for, several
from .values import numbers

__all__ = [
    "FAR",
    "PAST",
    "far_elements",
    "far_launch",
    "far_numbers",
    "far_queries",
    "far_results",
    "far_rows",
    "far_totals",
    "near",
    "pieces",
    "strewn",
]

PAST = 2**31 + 2**20  # a place that no int holds
FAR = PAST + 77  # elements of a launch that passes it, in its last block
Result = Callable[[np.ndarray], ArrayLike]  # what a kernel makes of elements side by side


def near(count: int, *places: int, block: int = 256) -> tuple[list[range], np.ndarray]:
    """Of a launch of so many threads: the blocks around some of them, and the elements of these."""
    blocks = [
        range(max(p // block - 1, 0), min(p // block + 2, blocks_for(count, block))) for p in places
    ]
    return blocks, np.concatenate(
        [np.arange(b.start * block, min(b.stop * block, count)) for b in blocks]
    )


def pieces(places: np.ndarray, values: ArrayLike) -> dict[int, np.ndarray]:
    """Values at ascending places, as a Far has them: {first place: those that lie side by side}."""
    begins = np.flatnonzero(np.diff(places, prepend=-2) > 1)
    return dict(zip(map(int, places[begins]), np.split(np.asarray(values), begins[1:])))


def strewn(rng: np.random.Generator, count: int, places: np.ndarray) -> tuple[Far, np.ndarray]:
    """A Far of so many floats with random numbers at these places, and the number at each."""
    distinct, which = np.unique(places, return_inverse=True)
    values = numbers(rng, distinct.size)
    return Far(count, values.dtype, pieces(distinct, values)), values[which].reshape(places.shape)


def far_numbers(rng: np.random.Generator, each: int = 256, dtype: DTypeLike = np.float32) -> Far:
    """FAR zeros except the first ones, the last, and the ones of block 16, which far_launch leaves
    out; `each`: how many per block."""
    counts = {0: FAR - PAST, 16 * each: each, PAST: FAR - PAST}
    return Far(FAR, dtype, {at: numbers(rng, n, dtype=dtype) for at, n in counts.items()})


def far_results(x: Far, result: Result) -> dict:
    """The pieces of an output of as many elements: what comes of x's, 0 from block 16."""
    return {at: result(x.pieces[at]) if at in (0, PAST) else [0] for at in x.pieces}


def far_totals(x: Far, result: Result, each: int = 256, none: float = 0) -> dict:
    """The same of an output with an element a block; none: of a block that has no elements."""
    ends = {at // each: result(x.pieces[at]) for at in (0, PAST)}
    return ends | {2**32 // each + 16: [none]}


def far_launch(arguments: list, each: int = 256, shared: int = 0) -> Launch:
    """A launch for FAR elements, `each` a block, of which those blocks run that matter.

    Whether a thread takes 1, 2, 4, 8 or 16 elements, and whether the blocks begin at the front or
    at the back, one of them has element PAST, and one element 0. The one past 2**32 has nothing to
    do, unless its place is taken as a 32-bit number: then it does the work of block 16."""
    owner, wrapped = PAST // each, 2**32 // each + 16
    grid = wrapped + 1000
    blocks = {0, *(owner >> k for k in range(5)), grid - 1 - owner, grid - 1, wrapped}
    some = [range(block, block + 1) for block in sorted(blocks)]
    return Launch(arguments, grid, 256, shared, f"n = {FAR:,}", blocks=some)


def far_elements(small: Launch, n: int, each: int = 1) -> Launch:
    """The Launch of a small one on arrays of n elements, of which its own are the last, from the
    beginning of a block on: an element of each array for each of the others'. each: of a thread."""
    first = n - np.size(small.arguments[0].values)

    def moved(argument: Any) -> Any:
        if isinstance(argument, In):
            return Far(n, argument.dtype, {first: argument.values})
        if isinstance(argument, Out):
            off = np.broadcast_to(argument.tolerance, np.shape(argument.expected))
            return Far(n, argument.dtype, {}, {first: argument.expected}, {first: off})
        return np.int64(n) if isinstance(argument, np.int64) else argument

    arguments, grid = [moved(argument) for argument in small.arguments], blocks_for(-(-n // each))
    own = [range(first // (256 * each), grid)]
    return Launch(arguments, grid, 256, what=f"n = {n:,}", blocks=own)


def far_rows(
    small: Launch,
    batch: int,
    per_block: int = 1,
    before: int = 0,
    last: int = 0,
    compared: int = 0,
) -> Launch:
    """The Launch on the rows of a small one, spread over so many that a 32-bit place overflows.

    The count of rows among its arguments becomes the new one; per_block: the rows of a block. Where
    a grid has several dimensions, its last is the rows'. An input of another length is for
    all rows. before: what is left out of the first argument and the output, of each row, in front.
    last: how many blocks run of a row, 0 for all; compared: so many elements."""
    count = np.shape(small.arguments[0].values)[0]
    rows = [int(row) for row in np.linspace(0, batch - 1, count)]
    grid: int | tuple = -(-batch // per_block)
    each = 1
    if isinstance(small.grid, tuple):
        grid, each = (*small.grid[:-1], batch), prod(small.grid[:-1])

    def spread(values: ArrayLike, before: int, kept: int = 0) -> dict:
        pieces = np.asarray(values).reshape(count, -1)
        size = before + pieces.shape[1]
        pieces = pieces[:, -kept:]
        return {(row + 1) * size - piece.size: piece for row, piece in zip(rows, pieces)}

    def moved(argument: Any) -> Any:
        if isinstance(argument, In):
            if len(argument.values) != count:
                return argument
            more = before if argument is small.arguments[0] else 0
            wide = batch * (more + argument.values[0].size)
            return Far(wide, argument.dtype, spread(argument.values, more))
        if isinstance(argument, Out):
            wide = batch * (before + np.asarray(argument.expected)[0].size)
            tolerance = np.broadcast_to(argument.tolerance, np.shape(argument.expected))
            expected, off = (spread(v, before, compared) for v in (argument.expected, tolerance))
            given = {} if argument.initial is None else spread(argument.initial, before)
            return Far(wide, argument.dtype, given, expected, off)
        is_count = isinstance(argument, np.integer) and argument == count
        return type(argument)(batch) if is_count else argument

    return Launch(
        [moved(argument) for argument in small.arguments],
        grid=grid,
        block=small.block,
        shared=small.shared,
        what=several(batch, "row")
        if each == 1
        else f"{batch:,} x {small.what.partition(' x ')[2]}",
        blocks=[
            range((at + 1) * each - (last or each), (at + 1) * each)
            for at in (row // per_block for row in rows)
        ],
    )


def far_queries(small: Launch, queries: int, units: int) -> Launch:
    """The Launch of a small one of attention, whose queries [some, 32] of each unit become the last
    of so many, in blocks of 64."""
    some = small.arguments[0].values.shape[1]
    arguments = [
        np.int32(queries) if isinstance(argument, np.int32) and argument == some else argument
        for argument in small.arguments
    ]
    last = replace(small, arguments=arguments, grid=(blocks_for(queries, 64), 2))
    return far_rows(last, units, before=(queries - some) * 32, last=1)
