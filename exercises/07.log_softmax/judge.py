"""Log-softmax, where a softmax would be 0."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden)
    x[::2] *= 10 ** rng.uniform(2, 5, (len(x[::2]), 1)).astype(
        np.float32
    )  # in others the sum counts
    x += rng.uniform(-3000, 3000, (batch, 1)).astype(np.float32)
    x[::3] -= x[::3].max(1, keepdims=True) + 9  # no element above 0
    drop = x.astype(float) - x.max(1, keepdims=True)
    log_sum = np.log(np.exp(drop).sum(1, keepdims=True))
    expected = drop - log_sum
    u = checks.roundoff("float32")
    # x - peak, the sum (relative error: of exp and of the additions), its logarithm, the last -
    of_sum = checks.gamma(hidden + 16, "float32") + u * np.abs(np.where(drop > -104, drop, 0)).max(
        1, keepdims=True
    )
    tolerance = 2 * u * (np.abs(x) + np.abs(drop) + np.abs(expected)) + of_sum + 4 * u * log_sum
    return Launch(
        [In(x), Out(expected, tolerance), np.int64(hidden)],
        batch,
        128,
        what=several(batch, "row", hidden),
    )


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)),
    drawn=drawn_rows,
    undefined=SCALED | {"inf": "a thread whose elements are all -inf may take that off itself"},
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700),
    counted=(16, 1024),
    budget={"ld.sectors": 6144, "st.sectors": 2048},
)
