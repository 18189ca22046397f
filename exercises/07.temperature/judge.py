"""Softmax at a temperature."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    t = np.float32(10 ** (-2 if batch % 2 else 2) * rng.uniform(0.3, 3))
    x = numbers(rng, batch, hidden) * t * 10 ** rng.uniform(0, 1.5, (batch, 1)).astype(np.float32)
    x[::2] -= x[::2].max(1, keepdims=True) + 1000 * t  # no element above 0
    scaled = x.astype(float) / t
    # the division by t is one more rounding of the exponent
    tolerance = 2 * checks.softmax_tolerance((x / t).astype(np.float32))
    y = checks.softmax(scaled)
    rounding = 4 * checks.roundoff("float32") * np.abs(scaled).max(1, keepdims=True)
    out = Out(y, tolerance + rounding * y)
    what = f"{several(batch, 'row', hidden)}, t = {t:.6g}"
    return Launch([In(x), out, t, np.int64(hidden)], batch, 128, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)),
    drawn=drawn_rows,
    undefined=SCALED | {"inf": "a thread whose elements are all -inf may take that off itself"},
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700),
    counted=(16, 1024),
    budget={"ld.sectors": 6144, "st.sectors": 2048},
    warps=1.5,
)
