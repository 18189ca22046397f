"""A producer and consumers, with barriers for full and empty."""

from functools import partial

from helpers.exercises.for_judges import *

JUDGE = Judge(
    launch=partial(sums_of_boxes, threads=64),
    sizes=((1, 1), (1, 2), (2, 3), (1, 5), (3, 8)),
    drawn=lambda rng: ((2, int(rng.integers(6, 12))), (12, int(rng.integers(3, 6)))),
    large=((2, 300),),
    counted=(4, 9),
    budget={},
    limits=None,  # of who waits
    even=False,
    advice={
        "race": "A stage is empty when its last element has been read: each reader may `arrive` at"
        " its `empty` only then, and the copy waits for that."
    },
    checks=[
        Exposed(
            16_384,  # of each block the first tile
            24_576,
            "Let the copy wait for its own stage only: one tile arrives while the other is"
            " added up.",
        )
    ],
    survivors={
        "tile <= tiles": "a box more, which nobody reads",
        "threadIdx.x != 0": "threads begin the barriers alike",
        "threadIdx.x == 1": "another thread begins the barriers",
        "threadIdx.y == 0": "all threads begin the barriers alike",
        "STAGES = 3": "another number of stages",
        "3 * STAGES": "room for barriers that nobody uses",
        "threadIdx.x == 33": "another thread copies",
    },
)
