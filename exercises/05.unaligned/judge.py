"""out = 2 x in packs, from any alignment."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return [(int(n), offset) for offset, n in enumerate(rng.integers(34, 1000, 4))] + [
        (int(n), int(rng.integers(1, 4))) for n in rng.integers(10_300, 20_000, 2)
    ]


def launch(rng, size):
    n, offset = size
    x = any_floats(rng, n)
    arguments = [In(x, offset=offset), Out(2 * x, offset=offset, bits=True), np.int64(n)]
    what = f"n = {n:,}, {several(offset, 'float')} past 16 bytes"
    return Launch(arguments, grid=blocks_for(n // 4 + 2), block=256, what=what)


def far(rng):
    n, last = 2**33 + 3, 2**33 - 5  # packs of four: their number needs 64 bits, too
    x = numbers(rng, 8)
    grid = blocks_for(n // 4 + 2)
    pieces = Far(n, np.float32, {0: x, last: x}), Far(n, np.float32, {}, {0: 2 * x, last: 2 * x})
    blocks = [range(1), range(grid - 2, grid)]
    return Launch([*pieces, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 0),
        (1, 3),
        (2, 1),
        (2, 3),
        (3, 1),
        (4, 0),
        (31, 1),
        (33, 2),
        (1023, 3),
        (1027, 1),
        (0, 1),
    ),
    drawn=drawn,
    far=far,
    spare=128,
    counted=(1 << 16, 1),
    budget={"ld.requests": (516, 520), "st.requests": (516, 520)},
    inputs=same_place,
    survivors={"% 5": "where x begins at 16 bytes, the first pack goes one by one"},
)
