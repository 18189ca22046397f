"""The greatest of each row, a warp each."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = varied(rng, batch, hidden)
    x[::3] -= np.float32(2000)  # with no element above
    arguments = [In(x), Out(x.max(1)), np.int64(batch), np.int64(hidden)]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=several(batch, "row", hidden))


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (4, 32), (5, 33), (9, 100), (2, 1009)),
    drawn=drawn_rows,
    undefined=SCALED | {"NaN": "the statement says that there is none"},
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700, 4),
    counted=(64, 256),
    budget={"ld.sectors": (2048, 2200), "ld.requests": (512, 600), "st.sectors": 64},
    survivors=ANY_LANE,
)
