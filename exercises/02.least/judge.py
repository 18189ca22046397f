"""The least of whole numbers by atomics, 8 elements each."""

import numpy as np

from helpers.exercises.for_judges import *

LEAST, GREATEST = -(2**31), 2**31 - 1


def drawn(rng):
    few, many = map(int, rng.integers((34, 20_500), (1001, 25_000)))
    least = rng.integers(LEAST, GREATEST - 1000, 2)
    return (few, int(least[0]), int(rng.integers(few))), (many, int(least[1]), many - 1)


def launch(rng, size):
    n, least, place = size
    near = rng.integers(least + 1, least + 40, n)  # the same as floats, if they are far from 0
    x = np.where(rng.random(n) < 0.5, near, rng.integers(least + 1, GREATEST + 1, n))
    if n:
        x[place] = least
    out = Out(np.array([x.min(initial=GREATEST)]), dtype=np.int32, initial=np.array([GREATEST]))
    what = f"n = {n:,}, element {place:,} is the least: {least:,}" if n else "n = 0"
    arguments = [In(x.astype(np.int32)), out, np.int64(n)]
    return Launch(arguments, blocks_for(-(-n // 8)), 256, what=what)


def far(rng):
    least = rng.integers(-1000, -1, FAR - PAST, np.int32)
    x = Far(FAR, np.int32, {16 * 256: np.full(256, -2000), PAST: least})
    out = Far(1, np.int32, expected={0: [least.min()]})
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    # elements, the least of them, and its place: also at the end of the last turn, whole or not
    sizes=(
        *((1, LEAST, 0), (31, GREATEST - 1000, 30), (33, -7, 0), (257, LEAST + 1, 256)),
        *((2048, 1, 1000), (2048, LEAST, 2047), (2051, 5, 2047), (2051, LEAST, 2050)),
        *((4500, GREATEST - 1000, 4200), (4500, 1 - (1 << 30), 4499), (0, GREATEST, None)),
    ),
    drawn=drawn,
    far=far,
    spare=256,
    counted=(1 << 16, -5, 60_000),
    budget={"ld.sectors": 8192, "red.requests": 256},
    limits={"barriers": None},  # blocks that compare first are right as well
    survivors={"first <= n": "a thread without an element offers the neutral one"},
)
