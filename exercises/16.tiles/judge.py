"""Attention tile by tile, with a running softmax."""

import numpy as np

from helpers.exercises.for_judges import *

TILE = 16  # keys


def drawn(rng):
    units, queries, keys = (int(n) for n in rng.integers((2, 66, 34), (4, 150, 120)))
    return (units, queries, keys, 0), (6, queries, queries, 1)


def launch(rng, size):
    units, queries, keys, causal = size
    q, k, v = climbing(rng, units, queries, keys)
    scale = np.float32(rng.uniform(0.1, 0.25))
    out = attention(q, k, v, scale, np.tri(queries, keys, dtype=bool) if causal else None)
    with_nan_query(q, out)
    arguments = [In(q), In(k), In(v), out, *map(np.int32, (queries, keys)), scale, np.int32(causal)]
    what = f"{units} x {several(queries, 'query')}, {several(keys, 'key')}{', causal' * causal}"
    return Launch(arguments, (-(-queries // 64), units), 64, what=what)


def explain(launch, out, got):
    q, k, v = (argument.values.astype(float) for argument in launch.arguments[:3])
    queries, keys, scale, causal = map(float, launch.arguments[4:])
    seen = np.minimum(keys, np.arange(queries) + 1) if causal else np.full(int(queries), keys)
    got, within = got.reshape(np.shape(out.expected)), np.asarray(out.tolerance)
    with np.errstate(all="ignore"):
        wrong = ~(np.abs(got - out.expected) <= within) & np.isfinite(out.expected)
        wrong_rows = wrong.any((0, 2))
        dots = scale * q @ k.swapaxes(1, 2)
        for more in {1, int(-keys % TILE)} if not causal else ():
            scores = np.pad(dots, ((0, 0), (0, 0), (0, more)))  # a tile's zeros past the last key
            power = np.exp(scores - scores.max(2, keepdims=True))
            made = power[..., : int(keys)] @ v / power.sum(2, keepdims=True)
            if more and wrong.any() and (np.abs(made - got) <= 2 * within)[wrong].all():
                return (
                    "Keys past the last one take part, with score 0: if first + key is not below"
                    " seen, the score must be -INFINITY."
                )
    if words := which_keys(launch, out, got, lambda query: (0, int(seen[query]) - 1)):
        return words
    if wrong_rows.any() and seen[wrong_rows].min() > TILE >= seen.min():
        return (
            "Queries that see only one tile are right. When the next tile brings a larger score,"
            " both sum and o must shrink by expf(peak - most). Compute that from the old peak and"
            " from scaled scores, before peak becomes most."
        )
    if np.isnan(got[np.isfinite(out.expected)]).any():
        return (
            "∞ / ∞, ∞ − ∞ or 0 / 0: powers are expf(score - peak), and peak is the largest score"
            " of all tiles so far. A query may see nothing of this tile, so this tile's own"
            " maximum may be -INFINITY."
        )
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 1, 0), (2, 65, 33, 0), (1, 70, 70, 1), (1, 40, 20, 1), (1, 40, 70, 1)),
    drawn=drawn,
    large=((1, 300, 1203, 0), (1, 33_000, 2, 0)),
    undefined=ATTENDED
    | {"inf": "an infinite value is a NaN if what has been added so far shrinks to 0"},
    far=lambda rng: far_queries(launch(rng, (2, 12, 2070, 0)), 2070, 65_000),
    counted=(2, 128, 128, 0),
    budget={"ld.sectors": 12288},
    even=False,
    explain=explain,
    survivors={
        "first <= last": "a tile of which nothing is seen adds nothing",
        "max(keys, int(": "tiles of which nothing is seen add nothing",
        "blockIdx.x + 2": "a tile of which nothing is seen adds nothing",
        "* SIZE + i] : 1": "what is past the last key has no share",
        "sum = 1": "it shrinks to nothing with the first key",
        "dot = 1": "what all scores of a row have more is no difference to their shares",
        "TILE = 15": "another size of a tile",
        "TILE = 17": "another size of a tile",
    },
)
