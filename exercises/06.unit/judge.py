"""Rows divided by their length; zeros stay."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(-17, 17, (batch, 1)).astype(np.float32)
    x[1::5] = 0
    x[2::5] = numbers(rng, *x[2::5].shape) * np.float32(1e-17)
    x = with_special(rng, x)
    length = np.sqrt((x.astype(float) ** 2).sum(1, keepdims=True))
    y = x / np.where(length > 0, length, 1)
    out = Out(y, checks.gamma(hidden + 8, np.float32) * np.abs(y))
    return Launch([In(x), out, np.int64(hidden)], batch, 128, what=several(batch, "row", hidden))


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)),
    drawn=drawn_rows,
    undefined=SCALED
    | {"NaN": "whoever looks for a length above 0 finds none, as in a row of zeros"},
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700),
    counted=(16, 1024),
    budget={"ld.sectors": 4096, "ld.requests": (1024, 1280), "st.sectors": 2048},
    warps=1.5,
    survivors={": 1.f": "a row of zeros stays one, whatever it is multiplied by"},
)
