"""Scores of queries and keys, scaled: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(
        ((2, 18, 35, 3), (2, 90, 60, 1)), ((5, 40, 90, 40), (4, 120, 90, 20))
    ).tolist()


def launch(rng, size, causal=False):
    units, queries, keys, length = size
    q, k = numbers(rng, units, queries, length), numbers(rng, units, keys, length)
    if length > 1000:  # what is left out of a sum in which nothing cancels shows
        q, k = abs(q), abs(k)
    if queries > 2:
        q[-1, 2, 0], k[0, -1, 0] = np.nan, np.inf
    scale = np.float32(rng.uniform(0.1, 0.4))
    dots = product(q, k.swapaxes(1, 2), roundings=length + 3)
    hidden = causal & (np.arange(keys) > np.arange(queries)[:, None])
    out = Out(np.where(hidden, -np.inf, scale * dots.expected), scale * dots.tolerance)
    arguments = [In(q), In(k), out, *map(np.int64, (queries, keys, length)), scale]
    what = f"{units} x {several(queries, 'query')}, {several(keys, 'key', length)}"
    return Launch(arguments, (-(-keys // 16), -(-queries // 16), units), (16, 16), what=what)


def explain(launch, out, got):
    q, k = (argument.values.astype(float) for argument in launch.arguments[:2])
    units, keys, length = k.shape
    got, scale = got.reshape(np.shape(out.expected)), float(launch.arguments[-1])
    flat = k.ravel()
    own, other = np.ogrid[:units, : keys * length]
    taken = (own * q.shape[1] * length + other) % flat.size
    with np.errstate(all="ignore"):
        for made, words in (
            (q @ k.swapaxes(1, 2), "Multiply each sum by scale."),
            (
                scale * q @ k.reshape(units, length, keys),
                "Key `key` is a row of k, as a query is a row of q: its numbers are next to"
                " each other.",
            ),
            (
                scale * q @ flat[taken].reshape(k.shape).swapaxes(1, 2),
                "A unit has `queries` rows of q, and `keys` rows of k: where do this unit's begin?",
            ),
        ):
            is_there = (
                np.isfinite(made) & np.isfinite(got) & (own[..., None] * q.shape[1] < units * keys)
            )
            if is_there.any() and np.allclose(made[is_there], got[is_there], 1e-3, 1e-5):
                return words
    if np.isnan(got[out.expected == -np.inf]).any():
        return "A hidden score is -INFINITY, even where the sum is NaN or ∞: choose, don't add."
    return None


def otherwise(rng):
    return launch(rng, (2, 30, 41, 6), causal=True)


def far(rng):
    small = launch(rng, (2, 270, 270, 270))
    return far_rows(small, 60_000, last=17, compared=14 * 270)  # a row of blocks


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 1, 1), (3, 17, 33, 5), (2, 16, 40, 32), (2, 2, 4, 0)),
    drawn=drawn,
    large=((20, 3, 5, 2), (1, 33_000, 2, 1), (1, 2, 33_000, 1), (1, 2, 2, 33_000)),
    far=far,
    ours="attention/scores.cu",
    counted=(2, 64, 64, 32),
    budget={"st.sectors": 1024},
    limits={"barriers": None},  # of tiles
    explain=explain,
    checks=[Otherwise({"CAUSAL": 1}, otherwise)],
)
