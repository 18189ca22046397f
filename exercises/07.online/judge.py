"""Softmax of rows in two passes: a step of the course."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * np.float32(30)
    x[rng.random(x.shape) < 0.2] = -np.inf
    x[:, rng.integers(hidden)] = 5
    x[1::3] -= np.float32(2000)
    with_nan(rng, x[2::4], 128)
    x[3::8] = -np.inf
    x[5::8, rng.integers(hidden)] = np.inf
    out = Out(checks.softmax(x), 2 * checks.softmax_tolerance(x))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    return Launch(arguments, batch, 128, what=several(batch, "row", hidden))


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (4, 129), (12, 200), (2, 1009)),
    drawn=drawn_rows,
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700),
    ours="softmax/online.cu",
    undefined=SCALED,
    counted=(16, 1024),
    budget={"ld.sectors": 4096, "st.sectors": 2048},
)
