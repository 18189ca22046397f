"""Attention in one kernel, scores in shared memory: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(
        ((2, 3, 65, 3), (3, 9, 20, 65)), ((4, 6, 200, 40), (5, 12, 60, 90))
    ).tolist()


def launch(rng, size, causal=False):
    units, queries, keys, length = size
    q, k, v = (numbers(rng, units, n, length) for n in (queries, keys, keys))
    q *= rng.choice(np.float32([1, 40]), (units, queries, 1))  # powers of such scores overflow
    k[..., 0] = rng.uniform(-6, -4, (units, keys))
    q[..., 0] = rng.choice([0, 300], (units, queries))  # some see low scores only
    if keys > 500:  # all of them count, the last ones most, so that those that are left out show
        q /= 100
        v += np.linspace(0, 5, keys, dtype=np.float32)[:, None]
    if length > 1000:  # scores add up without cancelling, and stay small
        q, k = abs(numbers(rng, *q.shape)) / 50, abs(k) * np.linspace(0, 1, keys)[:, None]
        q, k = q.astype(np.float32), k.astype(np.float32)
    scale = np.float32(rng.uniform(0.7, 1.3) * length**-0.5)
    seen = np.arange(keys) <= np.arange(queries)[:, None] if causal else None
    out = attention(q, k, v, scale, seen)
    with_nan_query(q, out)
    if units > 1:  # of a value, it shows wherever its key is seen, even where its share is 0
        v[0, 0, 0] = out.expected[0, :, 0] = np.nan
    arguments = [In(q), In(k), In(v), out, *map(np.int64, (queries, keys, length)), scale]
    what = f"{units} x {several(queries, 'query')}, {several(keys, 'key', length)}"
    return Launch(arguments, (queries, units), 64, shared=4 * keys, what=what)


def explain(launch, out, got):
    """With a key to a thread at most, as a thread's own maximum, or sum, is then of one key."""
    q, k, v = (argument.values.astype(float) for argument in launch.arguments[:3])
    keys, length = k.shape[1:]
    if np.isnan(got[np.isfinite(np.ravel(out.expected))]).any():
        return (
            "∞ / ∞ or 0 / 0: scores far from 0 have powers that are ∞ or 0. Subtract the largest"
            " score from each. Start the search for it at -INFINITY, since all scores may be far"
            " below 0."
        )
    if not 1 < keys <= 64 or length > 64:
        return None
    got = got.reshape(np.shape(out.expected))
    with np.errstate(all="ignore"):
        scores = float(launch.arguments[-1]) * q @ k.swapaxes(1, 2)
        powers = np.exp(scores - scores.max(2, keepdims=True))
        own = np.pad(powers, ((0, 0), (0, 0), (0, 64)))[..., :length]  # the sum of thread i
        for made, words in (
            (
                np.broadcast_to(v.mean(1, keepdims=True), got.shape),
                "Each thread subtracts its own maximum: peak must be the maximum over all keys,"
                " by block_reduce with Max.",
            ),
            (
                powers @ v / own,
                "Each thread divides by its own sum: sum must be the sum over all keys, by"
                " block_reduce with Sum.",
            ),
        ):
            is_there = np.isfinite(got) & np.isfinite(made) & np.isfinite(out.expected)
            if is_there.any() and np.allclose(made[is_there], got[is_there], 1e-2, 1e-4):
                return words
    return which_keys(launch, out, got, lambda query: (0, keys - 1))


def otherwise(rng):
    return launch(rng, (2, 70, 90, 9), causal=True)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 1, 1), (2, 3, 33, 5), (1, 2, 70, 70), (2, 2, 64, 8)),
    drawn=drawn,
    large=((1, 1, 700, 4), (1, 2, 40_000, 3), (1, 33_000, 1, 1), (1, 1, 2, 33_000)),
    undefined=ATTENDED | {"inf": "an infinite value times a power that is 0 is a NaN"},
    far=lambda rng: far_rows(launch(rng, (2, 80, 81, 900)), 60_000, last=1, compared=900),
    ours="attention/fused.cu",
    counted=(2, 16, 64, 64),
    budget={"st.sectors": 256},
    warps=1.2,
    limits={"barriers": None},  # of trees in shared memory
    explain=explain,
    checks=[Otherwise({"CAUSAL": 1}, otherwise)],
    survivors={"dot = 1": "what all scores of a row have more is no difference to their shares"},
)
