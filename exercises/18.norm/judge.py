"""RMSNorm of rows of halves, a warp for each."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    rows, hidden = size
    x = numbers(rng, rows, hidden, dtype=np.float16)
    x *= rng.choice([0.004, 1, 100], (rows, 1)).astype(np.float16)  # epsilon counts, or squares do
    weight = numbers(rng, hidden, dtype=np.float16)
    epsilon = np.float32(10 ** rng.uniform(-6, -4))
    with np.errstate(all="ignore"):
        y = _norm(x.astype(float), epsilon) * weight
    # two roundings to halves, of a weighted row, and in case the row is rounded before
    tolerance = 2.0**-10 * np.abs(y) + 2.0**-24 * (1 + np.abs(weight.astype(float)))
    out = Out(y, np.where(np.isfinite(tolerance), tolerance, 0), np.float16)
    arguments = [In(x), In(weight), out, epsilon, np.int64(rows), np.int32(hidden)]
    return Launch(arguments, -(-rows // 8), 256, what=several(rows, "row", hidden))


def _norm(x, epsilon):
    return x / np.sqrt((x * x).sum(1, keepdims=True) / max(x.shape[1], 1) + epsilon)


def explain(launch, out, got):
    x, weight, epsilon = launch.arguments[0].values.astype(float), *launch.arguments[1:4:2]
    got, own = got.reshape(np.shape(out.expected)).astype(float), weight.values.astype(float)
    with np.errstate(all="ignore"):
        for made, words in (
            (_norm(x, epsilon), "Multiply element i of a row by weight[i], too."),
            (_norm(x, epsilon) * (1 + own), "Multiply by weight[i], not by 1 + weight[i]."),
            (_norm(x, 0) * own, "Add epsilon to the mean square, before the root."),
            (x / np.sqrt((x * x).sum(1, keepdims=True) + epsilon) * own,
             "Divide the sum of squares by hidden: a mean is asked for."),
            ((x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True) * own,
             "Don't subtract the mean: that is a layer norm. RMSNorm only divides."),
        ):  # fmt: skip
            known = np.isfinite(made) & np.isfinite(got)
            if known.sum() > 1 and np.allclose(made[known], got[known], 4e-3, 1e-6):
                return words
    if (np.isfinite(x).all(1)[:, None] & (got == 0) & (np.abs(out.expected) > 1e-3)).any():
        return "A square of a half may exceed 65,504: square and add up in float."
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (9, 33), (8, 256), (17, 100), (2, 0)),
    drawn=drawn_rows,
    large=((1, 40_000),),
    far=lambda rng: far_rows(launch(rng, (5, 1000)), 4_310_001, 8),
    counted=(64, 256),
    budget={"st.sectors": 1024},
    limits={"barriers": (0,)},
    explain=explain,
    survivors={"mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too"},
)
