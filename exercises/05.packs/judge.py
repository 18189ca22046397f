"""out = 2 x in packs of four."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = any_floats(rng, n)
    out = Out(2 * x, bits=True)
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(-(-n // 4)), block=256)


def far(rng):
    n, last = 2**33 + 3, 2**33 - 5  # packs of four: their number needs 64 bits, too
    x = numbers(rng, 8)
    grid = blocks_for(-(-n // 4))
    pieces = Far(n, np.float32, {0: x, last: x}), Far(n, np.float32, {}, {0: 2 * x, last: 2 * x})
    blocks = [range(1), range(grid - 2, grid)]
    return Launch([*pieces, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 3, 4, 5, 31, 1024, 1027, 4098, 0),
    far=far,
    spare=128,
    counted=(1 << 16) + 3,
    budget={"ld.requests": 515, "st.requests": 515, "ld.sectors": 8195, "st.sectors": 8195},
)
