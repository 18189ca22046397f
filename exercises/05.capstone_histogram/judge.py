"""A histogram of bytes, half of which are equal; all of them where n is odd."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n, block, each):
    data = rng.integers(0, 256, n, np.uint8)
    data[: n if n % 2 else n // 2] = rng.integers(0, 256)
    before = numbers(rng, 256, dtype=np.uint32)
    counts = Out(before + np.bincount(data, minlength=256), dtype=np.uint32, initial=before)
    return Launch([In(data), counts, np.int64(n)], blocks_for(-(-n // each), block), block)


def far(rng, block, each):
    n = 2**31 + 77
    grid = blocks_for(-(-n // each), block)
    arguments = [Far(n, np.uint8), Far(256, np.uint32), np.int64(n)]  # which bytes, is the design's
    blocks = [range(2), range(grid - 2, grid)]
    return Launch(arguments, grid, block, what=f"n = {n:,}", blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 15, 16, 33, 4098, 70001, 131_071, 1 << 18, 0),
    drawn=lambda rng: (int(rng.integers(34, 3000)), int(rng.integers(100_000, 200_000))),
    far=far,
    choices=("BLOCK", "EACH"),
    counted=1 << 22,
    budget={
        "ld.sectors": 131_072,
        "ld.requests": (8192, 9000),
        "atoms.wavefronts": (247_309, 350_000),
        "atomics": (512, 4096),
    },
    limits=None,  # the statement has the whole budget
    shared_bytes=1 << 16,  # a histogram for each warp, if one likes
    checks=[Blocks(64)],
    survivors={"value = 1, times = 0": "a value that was seen 0 times adds nothing"},
)
