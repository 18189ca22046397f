"""Cross-entropy of rows."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(0, 4.5, (batch, 1)).astype(np.float32)
    x += rng.uniform(-3000, 3000, (batch, 1)).astype(np.float32)
    x[::2] -= x[::2].max(1, keepdims=True) + 9  # no element above 0
    label = rng.integers(0, hidden, batch, np.int32)
    label[-1] = hidden - 1 - label[-1] // 8
    drop = x.astype(float) - x.max(1, keepdims=True)
    log_sum = np.log(np.exp(drop).sum(1))
    own = drop[np.arange(batch), label]
    u = checks.roundoff("float32")
    of_sum = checks.gamma(hidden + 16, "float32") + u * np.abs(np.where(drop > -104, drop, 0)).max(
        1
    )
    out = Out(
        log_sum - own, 3 * u * (np.abs(own) + log_sum + np.abs(x).max(1)) + of_sum + 4 * u * log_sum
    )
    return Launch(
        [In(x), In(label), out, np.int64(hidden)],
        batch,
        64 if hidden == 129 else 128,
        what=several(batch, "row", hidden),
    )


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)),
    drawn=drawn_rows,
    undefined=SCALED | {"inf": "a thread whose elements are all -inf may take that off itself"},
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700),
    counted=(16, 1024),
    budget={"ld.sectors": (4128, 4200), "st.sectors": 16},
    warps=1.5,
    survivors={"tid == 1": "all threads have what block_reduce returns"},
)
