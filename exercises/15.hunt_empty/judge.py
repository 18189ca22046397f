"""A producer and consumers, with barriers for full and empty."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.extra_checks import Exposed
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Boxes, In, Launch, Out
from helpers.exercises.values import eighths


def drawn(rng):
    return (2, int(rng.integers(6, 12))), (12, int(rng.integers(3, 6)))


def launch(rng, size):
    blocks, tiles = size
    x = eighths(rng, 1, 32 * blocks * tiles, 32)
    sums = x.reshape(blocks, -1, 32).sum(1)
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=0))])
    what = f"{blocks} blocks of {tiles} tiles"
    return Launch([boxes, Out(sums), np.int32(tiles)], blocks, 64, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (1, 2), (2, 3), (1, 5), (3, 8)),
    drawn=drawn,
    large=((2, 300),),
    counted=(4, 9),
    budget={},
    limits=None,  # of who waits
    even=False,
    checks=[
        Exposed(
            16_384,  # of each block the first tile
            24_576,
            "Let the copy wait for its own stage only: one tile comes while the other is added up.",
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
