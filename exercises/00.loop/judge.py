"""x *= a, by 4 blocks."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x, a = planted(rng, numbers(rng, n), *SPECIAL), np.float32(rng.uniform(-3, 3))
    grid = 4 if n < COUNTED else n // 1024
    return Launch([Out(x * a, initial=x), a, np.int64(n)], grid, block=256)


def far(rng):
    """More threads than elements: a turn each, unless their number is taken as 512, of 32 bits."""
    last, a, block = numbers(rng, FAR - PAST), np.float32(rng.uniform(2, 3)), PAST // 256
    x = Far(FAR, np.float32, {PAST: last}, {PAST: last * a})
    some = [range(block - 2, block + 1)]
    return Launch([x, a, np.int64(FAR)], 2**24 + 2, 256, what=f"n = {FAR:,}", blocks=some)


COUNTED = 1 << 16


JUDGE = Judge(
    launch=launch,
    sizes=(1, 31, 33, 255, 1024, 1025, 4099, 0),
    far=far,
    spare=128,
    counted=COUNTED,
    budget={"ld.sectors": 8192, "st.sectors": 8192},
    warps=1.5,
    inputs=same_place,
    advice={
        "race": "Two threads take one element: where does each begin, and by how many does it step?"
    },
)
