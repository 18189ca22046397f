"""A product by blocks that stay, and the order of their tiles."""

import numpy as np

from helpers.exercises.for_judges import *

SHARED = 4 * (128 + 256) * 128 + 8 * 4096
BAND = 16


def drawn(rng):
    """More rows of tiles than a band has; more steps than stages."""
    m, n, k, blocks = (int(x) for x in rng.integers((2060, 33, 1, 3), (2200, 40, 9, 7)))
    return [(m, 8 * n, 8 * k, blocks), (136, 520, 264, 3)]


def launch(rng, size):
    m, n, k, blocks = size
    down, across = -(-m // 128), -(-n // 256)
    boxes, out = boxed_product(rng, m, n, k, rows=128)
    bands = [range(first, min(first + BAND, down)) for first in range(0, down, BAND)]
    order = [(row, column) for band in bands for column in range(across) for row in band]
    number = np.empty((down, across), np.int32)
    number[tuple(np.transpose(order))] = np.arange(len(order))
    arguments = [boxes, out, Out(number, dtype=np.int32)]
    arguments += [*map(np.int64, (m, n)), np.int32(-(-k // 64))]
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch(arguments, blocks, 384, SHARED, what=what)


def explain(launch, out, got):
    if np.dtype(out.dtype) != np.float16:
        return None  # the numbers
    number = np.repeat(np.repeat(launch.arguments[2].expected, 128, 0), 256, 1)
    m, n = np.shape(out.expected)
    wrong = np.abs(got.reshape(m, n) - out.expected) > out.tolerance
    if number[:m, :n][wrong].min(initial=launch.grid) >= launch.grid:
        return (
            "Each block's first tile is right, and a later one is not: what does it start with?"
            " Sums start from 0 for each tile; stages and their phases continue."
        )
    return None


def first_block(rng):
    """What the first of two blocks leaves: every second tile."""
    m, n, blocks = 200, 600, 2
    made = launch(rng, (m, n, 8, blocks))
    _, c, number = made.arguments[:3]
    is_own = number.expected % blocks == 0
    elements = np.repeat(np.repeat(is_own, 128, 0), 256, 1)[:m, :n]
    for out, own in ((c, elements), (number, is_own)):
        out.initial = np.zeros(own.shape, out.dtype)
        out.expected, out.tolerance = (
            np.where(own, of_all, 0) for of_all in (out.expected, out.tolerance)
        )
    return made


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8, 8, 1), (128, 256, 64, 2), (300, 264, 136, 2)),
    drawn=drawn,
    large=((4300, 264, 8, 3),),
    counted=(384, 1024, 256, 5),
    budget={"ld.sectors": 0, "hmma": 1536},
    limits={"instructions": None},  # of who waits
    shared_bytes=SHARED + 1024,
    even=False,
    explain=explain,
    checks=[
        Alone(
            first_block,
            "A block computes tile blockIdx.x, then the tile gridDim.x further on: blocks that run"
            " at the same time have neighbouring tiles.",
        )
    ],
    advice={
        "out of bounds": "Is that the place of a tile? The last band may have fewer rows of"
        " tiles: within it, divide by the number of rows that it has."
    },
    survivors=BY_STAGES
    | {"- 2) /": "8 divides n", "number[place.x": "other threads store the same number"},
)
