"""A producer and consumers, with barriers for full and empty."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.launches import Boxes, In, Launch, Out, Wrong, eighths

SIZES = (1, 1), (1, 2), (2, 3), (1, 5), (3, 8)


def drawn(rng):
    return (2, int(rng.integers(6, 12))), (12, int(rng.integers(3, 6)))


def launch(rng, size):
    blocks, tiles = size
    x = eighths(rng, 1, 32 * blocks * tiles, 32)
    sums = x.reshape(blocks, -1, 32).sum(1)
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=0))])
    what = f"{blocks} blocks of {tiles} tiles"
    return Launch([boxes, Out(sums), np.int32(tiles)], blocks, 64, what=what)


LARGE = ((2, 300),)
COUNTED = 4, 9
BUDGET = {}
LIMITS = None  # of who waits
EXPOSED = (
    16_384,  # of each block the first tile
    24_576,
    "Let the copy wait for its own stage only: one tile comes while the other is added up.",
)
EVEN = False

ARRIVE = "        arrive(empty + stage * 8);\n"
READ = "        for (int row = 0; row < 32; ++row) sum += room[stage][row][threadIdx.x];\n"
WRONG = {
    "as it was": Wrong("race", {READ + ARRIVE: ARRIVE + READ}),
    "nobody arrives": Wrong("time|fault|launch", {ARRIVE: ""}),
    "one lane arrives": Wrong("time|fault|launch", {ARRIVE: "        if (threadIdx.x == 0) arrive(empty + stage * 8);\n"}),
    "the copy does not wait": Wrong("race|launch|fault", {"            wait_for(empty + stage * 8, parity ^ 1);  // at first it is\n": ""}),
    "for the other phase": Wrong("race|time|fault|launch", {"parity ^ 1": "parity"}),
    "one stage": Wrong("boxes that come", {"STAGES = 2": "STAGES = 1"}),
    "at the other stage": Wrong("race|time|fault|launch", {ARRIVE: "        arrive(empty + (stage ^ 1) * 8);\n"}),
    "empty after 31 lanes": Wrong("race", {"begin_barrier(empty + n * 8, 32)": "begin_barrier(empty + n * 8, 31)"}),
    "empty after one lane": Wrong("race|launch|fault", {"begin_barrier(empty + n * 8, 32)": "begin_barrier(empty + n * 8, 1)"}),
}  # fmt: skip

SURVIVORS = {
    "tile <= tiles": "a box more, which nobody reads",
    "threadIdx.x != 0": "threads begin the barriers alike",
    "threadIdx.x == 1": "another thread begins the barriers",
    "threadIdx.y == 0": "all threads begin the barriers alike",
    "STAGES = 3": "another number of stages",
    "3 * STAGES": "room for barriers that nobody uses",
    "threadIdx.x == 33": "another thread copies",
}
