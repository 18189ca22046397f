"""A block's sum by shuffles, its warps' totals by shared memory: a step of the course."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    n, block = size
    x, before = numbers(rng, n), numbers(rng, 1)
    grid = blocks_for(n, block)
    tolerance = checks.sum_tolerance(np.append(before, x), chain=10 + grid)
    out = Out(before + x.sum(dtype=float), tolerance, initial=before)
    what = f"n = {n:,}, blocks of {block}"
    return Launch([In(x), out, np.int64(n)], grid, block, what=what)


def far(rng):
    n, last = 2**31 + 77, 2**31
    x = rng.integers(-9, 9, 77).astype(np.float32)
    out = Far(1, np.float32, {}, {0: [2 * x.sum()]})
    grid = blocks_for(n)
    arguments = [Far(n, np.float32, {0: x, last: x}), out, np.int64(n)]
    return Launch(arguments, grid, 256, blocks=[range(1), range(grid - 1, grid)])


JUDGE = Judge(
    launch=launch,
    sizes=((1, 32), (257, 256), (1009, 992), (2049, 1024), (0, 64)),  # elements, threads of a block
    drawn=lambda rng: ((int(rng.integers(34, 1001)), 128), (int(rng.integers(2561, 5121)), 256)),
    far=far,
    ours="reduce/warp_totals.cu",
    undefined=BY_ATOMICS,
    counted=(1 << 14, 256),
    budget={
        "barriers": 64 * 8,
        "lds.wavefronts": 64,
        "sts.wavefronts": (64 * 8, 64 * 9),
        "atomics": 64,
    },
    idea={"shuffles": (64 * 43, "Fold by shuffles: the warps' elements, then the warps' totals.")},
    survivors={
        "lane != 0": "every lane has the sum of its warp: 31 store the same",
        "lane == 1": "every lane has the sum, so any one of them may store it, or add it",
        "mask = 17": "16 and 1 at once, and then 1 again: every lane still has all 32",
        "% 33": "one lane of each warp has the number 0, and the first warp's are as they were",
    },
)
