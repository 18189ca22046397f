"""Boxes in two stages, and the phases of their barriers."""

from functools import partial

import numpy as np

from helpers.exercises.for_judges import *


def explain(launch, out, got):
    x, tiles = launch.arguments[0].of[0][0].values, int(launch.arguments[2])
    rows = x.reshape(-1, tiles, 32, 32)
    of_tiles = rows.sum(2)
    for made, words in (
        (rows[:, -1, -1], "Only the last row of the last tile is there: add each to the sum."),
        (of_tiles[:, -1], "Only the last tile is there: the sum goes on from tile to tile."),
        (of_tiles[:, 0], "Only the first tile is there: the others belong to the sum, too."),
        (of_tiles[:, 0] * tiles, "The first tile is added each time: take stage tile % STAGES."),
    ):
        if np.array_equal(got, made.ravel(), equal_nan=True):
            return words
    return None


JUDGE = Judge(
    launch=partial(sums_of_boxes, threads=32),
    sizes=((1, 1), (1, 2), (2, 3), (1, 5), (3, 8)),
    drawn=lambda rng: ((2, int(rng.integers(6, 12))), (12, int(rng.integers(3, 6)))),
    large=((2, 300),),
    counted=(4, 9),
    budget={"ld.sectors": 0, "barriers": (40, 80)},
    limits=dict.fromkeys(("instructions", "ldl.sectors", "stl.sectors")),  # who waits; phases kept
    explain=explain,
    checks=[
        Exposed(
            16_384,  # of each block the first tile
            24_576,
            "Start fetching a tile before the previous one is added up: there is room for two.",
        )
    ],
    survivors={
        "tile + STAGES <= tiles": "a box more, which nobody reads",
        "tile - STAGES < tiles": "boxes more, which nobody reads",
        "threadIdx.x != 0": "threads begin the barriers alike",
        "threadIdx.x == 1": "another thread begins the barriers",
        "threadIdx.y == 0": "all threads begin the barriers alike",
        "STAGES = 3": "another number of stages",
    },
)
