"""Row sums, with a guard of rows and none of lanes."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden)
    x[::2, -1:] = np.inf  # times 0 it is no 0
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(np.where(np.isfinite(x), x, 0), axis=1))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=several(batch, "row", hidden))


JUDGE = Judge(
    launch=launch,
    sizes=((4, 64), (1, 1), (5, 0), (3, 31), (5, 33), (9, 100), (2, 1009), (17, 33)),
    drawn=drawn_rows,
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700, 4),
    undefined=SCALED,
    counted=(64, 256),
    budget={"ld.sectors": 2048, "st.sectors": 64},
    limits={"instructions": 1.6},
    survivors=ANY_LANE
    | {
        "blockDim.x / 31": "128 / 31 is 4, too",
        "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    },
)
