"""Stores that a warpgroup's products must see."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, blocks):
    a, b = (numbers(rng, rows, 64, dtype=np.float16) for rows in (64 * blocks, 64))
    if blocks > 1:
        a[-1, 0] = np.nan
    out = product(a, np.ascontiguousarray(b.T))
    packed = [In(x.view(np.uint32)) for x in (a, b)]
    return Launch([*packed, out], blocks, 128, what=several(blocks, "block"))


JUDGE = Judge(
    launch=launch,
    sizes=(1, 2, 5),
    drawn=lambda rng: (int(rng.integers(3, 8)), int(rng.integers(11, 16))),
    large=(300,),
    counted=4,
    budget={"ld.sectors": 2048, "lds.conflicts": 0},
    limits={"barriers": 2},
    advice={
        "missing proxy fence": "A fence shows the stores of the thread that calls it: let every"
        " thread that has stored call `show_stores()`, before the barrier."
    },
    survivors={
        "n >= 0": "what registers hold at first is not watched, and is 0 here",
        "64 + LINE": "along k the panel is not used",
        "63 * LINE": "along k the panel is not used",
        "65 * LINE": "along k the panel is not used",
    },
)
