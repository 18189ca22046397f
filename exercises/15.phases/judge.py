"""Boxes in two stages, and the phases of their barriers."""

from functools import partial

from helpers.exercises.extra_checks import Exposed
from helpers.exercises.judges import Judge
from helpers.exercises.products import sums_of_boxes


def drawn(rng):
    return (2, int(rng.integers(6, 12))), (12, int(rng.integers(3, 6)))


JUDGE = Judge(
    launch=partial(sums_of_boxes, threads=32),
    sizes=((1, 1), (1, 2), (2, 3), (1, 5), (3, 8)),
    drawn=drawn,
    large=((2, 300),),
    counted=(4, 9),
    budget={"ld.sectors": 0, "barriers": (40, 80)},
    limits=dict.fromkeys(("instructions", "ldl.sectors", "stl.sectors")),  # who waits; phases kept
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
