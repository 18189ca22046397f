"""Mean and variance of rows far from 0, in one read."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden = size
    center = rng.choice([-1, 1], batch) * rng.uniform(500, 5000, batch)
    center[::3] /= 1000
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(-1, 1, (batch, 1))
    x = (x + center[:, None]).astype(np.float32)
    d = (x - x[:, :1]).astype(float)
    rounding = checks.gamma(hidden + 8, np.float32)
    of_mean = np.abs(d).mean(1) * rounding + np.abs(x.mean(1, dtype=float)) * checks.roundoff(
        "float32"
    )
    of_variance = 4 * rounding * (d**2).mean(1)
    running = checks.gamma(-(-hidden // 32) + 10, np.float32) * np.abs(x).max(1)  # Welford's mean
    of_mean += running
    of_variance += 2 * running * np.abs(x - x.mean(1, dtype=float)[:, None]).mean(1) + running**2
    of_variance += checks.gamma(hidden // 32 + 8, float) * (x.astype(float) ** 2).mean(1)
    arguments = [
        In(x),
        Out(x.mean(1, dtype=float), of_mean),
        Out(x.var(1, dtype=float), of_variance),
        np.int64(batch),
        np.int64(hidden),
    ]
    warps = 2 if batch == 5 else 4
    return Launch(arguments, -(-batch // warps), 32 * warps, what=several(batch, "row", hidden))


def explain(launch, out, got):
    """Whether the variance is off by no more than squares of such numbers round."""
    x = launch.arguments[0].values.astype(float)
    off = np.abs(got - np.ravel(out.expected))
    squares = (x**2).mean(1) * checks.roundoff("float32") * (x.shape[1] + 8)
    if out is launch.arguments[2] and (off <= squares).all():
        return CANCELLED
    return None


CANCELLED = (
    "Digits are lost: the squares are large, and their sum nearly cancels with the mean's square."
    " Take an element of the row off each one first, or add up in double."
)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (4, 32), (5, 33), (9, 100), (2, 1009)),
    drawn=drawn_rows,
    undefined=SCALED | {"inf": "an element that is taken off first leaves a NaN of an infinity"},
    far=lambda rng: far_rows(launch(rng, (4, 65_600)), 65_700, 4),
    counted=(64, 256),
    budget={"ld.sectors": (2112, 2112), "ld.requests": (576, 660)},
    explain=explain,
    survivors=ANY_LANE,
)
