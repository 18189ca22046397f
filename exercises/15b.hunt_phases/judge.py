"""Stages that go on from tile to tile."""

import numpy as np

from helpers.exercises.for_judges import *

SHARED = 4 * (128 + 128) * 128 + 8 * 4096


def drawn(rng):
    m, n, k = (int(x) for x in rng.integers((130, 33, 9), (400, 50, 60)))
    return [(m, 8 * n, 8 * k, int(rng.integers(1, 4))), (520, 296, 72, 2)]


def launch(rng, size):
    m, n, k, blocks = size
    boxes, out = boxed_product(rng, m, n, k, rows=128)
    arguments = [boxes, out, *map(np.int64, (m, n)), np.int32(-(-k // 64))]
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch(arguments, blocks, 384, SHARED, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 8, 8, 1),
        (128, 256, 64, 1),
        (300, 264, 136, 2),
        (200, 264, 520, 2),
        (300, 200, 840, 2),
    ),
    drawn=drawn,
    counted=(256, 512, 256, 3),
    budget={"ld.sectors": 0, "hmma": 1024},
    limits={"instructions": None},  # of who waits
    shared_bytes=SHARED + 1024,
    even=False,
    advice={
        "hmma": "A tile needs one product per step, and no more: leave the number of steps as"
        " it is, and let stages and phases continue where the previous tile left them.",
        "race": "Initialise the barriers once, before all tiles and before any thread waits, and"
        " let stages and phases continue where the previous tile left them.",
    },
    survivors=BY_STAGES | {"- 2) /": "8 divides n"},
)
