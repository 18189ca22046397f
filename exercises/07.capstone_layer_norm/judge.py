"""Layer norm of rows in one read."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def drawn(rng):
    return [drawn_rows(rng)[0], (int(rng.integers(20, 40)), int(rng.integers(513, 1024)))]


def launch(rng, size, block, rows):
    batch, hidden = size
    center = rng.choice([-1, 1], batch) * rng.uniform(2500, 3500, batch)
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(-0.5, 0.5, (batch, 1))
    x[:, -1] += 32  # the last square of a row counts as much as all the others
    x = (x + center[:, None]).astype(np.float32)
    eps = np.float32(10 ** rng.uniform(-4, 0))
    mean, variance = x.mean(1, dtype=float, keepdims=True), x.var(1, dtype=float, keepdims=True)
    scale = 1 / np.sqrt(variance + eps)
    y = (x - mean) * scale
    # the mean's error shifts a row and adds its square to the variance; the rest is relative
    rounding = checks.gamma(min(hidden, 64) + 16, np.float32)  # a lane adds up 64 at most
    shift = rounding * np.abs(mean)
    relative = rounding + shift**2 * scale**2 + 2 * shift * scale
    tolerance = shift * scale + np.abs(y) * relative
    arguments = [In(x), Out(y, tolerance), eps, np.int64(batch), np.int32(hidden)]
    return Launch(arguments, -(-batch // rows), block, what=several(batch, "row", hidden))


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (5, 33), (7, 1000), (2, 1024), (64, 1024)),
    drawn=drawn,
    far=lambda rng, block, rows: far_rows(launch(rng, (5, 1000), block, rows), 4_310_001, rows),
    choices=("BLOCK", "ROWS"),
    undefined=SCALED,
    counted=(256, 1024),
    budget={"ld.sectors": 32_768, "st.sectors": 32_768, "lds.conflicts": 0, "ldl.sectors": 0},
    limits={"barriers": None},  # of a block for each row
    without={
        r"\.shared [^;]*\[\d{4,}\];": "Keep the row in registers: shared memory is another place"
        " to write it to and read it from."
    },
    checks=[Blocks(16)],
    survivors={
        "k <= 32": "a row has 1024 elements at most: the guard leaves out what would be the 33rd",
        "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    },
)
