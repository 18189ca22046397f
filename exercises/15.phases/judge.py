"""Boxes in two stages, and the phases of their barriers."""

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
    return Launch([boxes, Out(sums), np.int32(tiles)], blocks, 32, what=what)


LARGE = ((2, 300),)
COUNTED = 4, 9
BUDGET = {"ld.sectors": 0, "barriers": (40, 80)}
LIMITS = {"instructions": None}  # of who waits
EXPOSED = (
    16_384,  # of each block the first tile
    24_576,
    "Begin to fetch a tile before the one before it is added up: two have room.",
)

WRONG = {
    "always phase 0": Wrong("race|values|fault", {"tile / STAGES % 2": "0"}),
    "the tile's parity": Wrong("race|values|time|fault", {"tile / STAGES % 2": "tile % 2"}),
    "always stage 0": Wrong("race|values|time|fault", {"wait_for(full + tile % STAGES * 8": "wait_for(full"}),
    "nobody waits": Wrong("race|values|uninit", {"        wait_for(full + tile % STAGES * 8, tile / STAGES % 2);\n": ""}),
    "while others read": Wrong("race", {"        __syncthreads();\n        if": "        if"}),
    "one stage at a time": Wrong("boxes that come", {"STAGES = 2": "STAGES = 1"}),
    "fetched only when it is needed": Wrong("boxes that come", {"        __syncthreads();\n        if (tile + STAGES < tiles) fetch(tile + STAGES);\n": "        __syncthreads();\n", "        wait_for(": "        if (tile >= STAGES) fetch(tile);\n        wait_for("}),
    "fetched before it is read": Wrong("race|values", {"        for (int row = 0; row": "        if (tile + STAGES < tiles) fetch(tile + STAGES);\n        for (int row = 0; row", "        __syncthreads();\n        if (tile + STAGES < tiles) fetch(tile + STAGES);\n": ""}),
    "sums of whole numbers": Wrong("values", {"float sum = 0": "int sum = 0"}),
    "the next tile instead": Wrong("race|values|time|fault", {"fetch(tile + STAGES)": "fetch(tile + 1)"}),
}  # fmt: skip

SURVIVORS = {
    "tile + STAGES <= tiles": "a box more, which nobody reads",
    "tile - STAGES < tiles": "boxes more, which nobody reads",
    "threadIdx.x != 0": "threads begin the barriers alike",
    "threadIdx.x == 1": "another thread begins the barriers",
    "threadIdx.y == 0": "all threads begin the barriers alike",
    "STAGES = 3": "another number of stages",
}
