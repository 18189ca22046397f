"""A box that one thread copies."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.for_judges import *


def launch(rng, size):
    rows, columns = size
    x = eighths(rng, 1, rows, columns)
    if rows > 32:
        x[0, -1, 0] = np.nan
    down, across = -(-rows // 32), -(-columns // 32)
    whole = np.zeros((32 * down, 32 * across))
    whole[:rows, :columns] = x[0]
    sums = whole.reshape(down, 32, across, 32).sum((1, 3))
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=0))])
    return Launch([boxes, Out(sums)], (across, down), 32, what=f"{rows} x {columns}")


def explain(launch, out, got):
    down, across = np.shape(out.expected)
    swapped = np.zeros((down, across))  # of tiles that lie outside the sum is 0
    side = min(down, across)
    swapped[:side, :side] = np.transpose(out.expected)[:side, :side]
    if out.expected.size > 1 and np.array_equal(got, swapped.ravel(), equal_nan=True):
        return "Each tile's sum is its mirror image's: the column comes first, then the row."
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 4), (32, 32), (33, 36), (70, 100), (31, 128)),
    drawn=lambda rng: [(int(rng.integers(1, 200)), 4 * int(rng.integers(1, 60))) for _ in "ab"],
    large=((1060, 300), (33, 36_000)),
    counted=(256, 256),
    budget={"ld.sectors": 0},
    limits={"instructions": None},  # of who waits
    explain=explain,
    advice={
        "box_element": "Coordinates count elements, not tiles: the column, then the row.",
        "race": "Does the barrier know how many bytes to expect (`expect_bytes`), and does"
        " every thread wait for phase 0 (`wait_for`)?",
        "missing __syncwarp": "One thread begins the barrier, shows it, and starts the copy. The"
        " others may use the barrier, even to wait, only once all have met after that.",
        "missing proxy fence": "Call `show_barriers()` after `begin_barrier`, before the copy.",
    },
    survivors={"threadIdx.x == 1": "another thread copies"},
)
