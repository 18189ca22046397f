"""Online softmax of rows with -inf in them, and of short rows."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * np.float32(30)
    x[4::8] = np.round(x[4::8] / 60)  # many are 0
    x[rng.random(x.shape) < 0.3] = -np.inf
    x[:, rng.integers(hidden)] = 5
    x[1::4] = np.float32(-1e30) * rng.integers(2, 5, x[1::4].shape)
    with_nan(rng, x[2::4], 32)
    x[3::8] = -np.inf
    x[7::8] = np.finfo(np.float32).min
    x[5::8, rng.integers(hidden)] = np.inf  # less itself it is NaN
    out = Out(checks.softmax(x), 2 * checks.softmax_tolerance(x))
    return Launch([In(x), out, np.int64(hidden)], batch, 32, what=several(batch, "row", hidden))


JUDGE = Judge(
    launch=launch,
    sizes=((3, 32), (1, 1), (12, 31), (4, 33), (12, 70), (2, 200)),
    drawn=drawn_rows,
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700),
    undefined=SCALED,
    counted=(16, 1024),
    budget={"ld.sectors": 4096, "st.sectors": 2048},
    survivors={
        "{-INFINITY, 1}": "-inf less a peak that is finite has the power 0, whatever it is"
        " multiplied by",
        "? 1.f : 1.f": "the same",
        "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    },
)
