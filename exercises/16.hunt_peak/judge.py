"""A running maximum that is overwritten before it is compared."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(((2, 66, 34), (5, 129, 65)), ((4, 120, 200), (7, 150, 128))).tolist()


def launch(rng, size):
    units, queries, keys = size
    q, k, v = climbing(rng, units, queries, keys)
    scale = np.float32(rng.uniform(0.1, 0.25))
    out = attention(q, k, v, scale)
    with_nan_query(q, out)
    arguments = [In(q), In(k), In(v), out, *map(np.int32, (queries, keys)), scale]
    what = f"{units} x {several(queries, 'query')}, {several(keys, 'key')}"
    return Launch(arguments, (-(-queries // 64), units), 64, what=what)


def explain(launch, out, got):
    if np.isnan(got[np.isfinite(np.ravel(out.expected))]).any():
        return None
    keys = launch.arguments[1].values.shape[1]
    return which_keys(launch, out, got, lambda query: (0, keys - 1)) or (
        "Follow two keys with scores 1 and 3 by hand: at the second, everything from the first"
        " must shrink by expf(1 - 3). Then two keys with scores 3 and 1: nothing shrinks."
    )


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 32), (1, 3, 64), (2, 65, 97)),
    drawn=drawn,
    large=((1, 300, 1203), (1, 33_000, 2)),
    far=lambda rng: far_queries(launch(rng, (2, 12, 2070)), 2070, 65_000),
    undefined=ATTENDED
    | {"inf": "an infinite value is a NaN if what has been added so far shrinks to 0"},
    counted=(1, 64, 64),
    budget={},
    explain=explain,
    limits=None,
    survivors={
        "score = 1": "what all scores of a row have more is no difference to their shares",
        "sum = 1": "it shrinks to nothing in the first turn",
    },
)
