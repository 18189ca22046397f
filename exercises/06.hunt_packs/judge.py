"""Row sums in packs, from wherever a row begins."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden)
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=several(batch, "row", hidden))


JUDGE = Judge(
    launch=launch,
    sizes=((4, 64), (1, 1), (3, 31), (7, 1), (5, 33), (9, 100), (2, 1009), (17, 130)),
    drawn=drawn_rows,
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700, 4),
    undefined=SCALED,
    counted=(64, 1001),
    budget={"ld.requests": (800, 900), "st.sectors": 64},
    survivors=ANY_LANE
    | {
        "% 5": "where a row begins at 16 bytes, its first pack goes one by one",
        "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
        "blockDim.x / 31": "128 / 31 is 4, too",
    },
)
