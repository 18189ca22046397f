"""A slot of the cache that is read before it is written."""

import numpy as np

from helpers.exercises.for_judges import *

SLOTS, WIDE = 128, 32


def launch(rng, size):
    texts, most = size
    q, key, value = (numbers(rng, texts, WIDE) for _ in "qkv")
    keys, values = (numbers(rng, texts, SLOTS, WIDE) for _ in "kv")
    seen = rng.integers(1, most + 1, texts).astype(np.int32)
    seen[-1] = most
    is_seen = np.arange(SLOTS) < seen[:, None]
    for cache in keys, values:
        cache[~is_seen] = np.nan  # nobody may look there
    before = keys.copy(), values.copy()
    rows = np.arange(texts)
    keys[rows, seen - 1], values[rows, seen - 1] = key, value
    scale = np.float32(rng.uniform(0.1, 0.3))
    some = (np.where(is_seen[..., None], cache, 0) for cache in (keys, values))
    with np.errstate(all="ignore"):
        out = attention(q[:, None], *some, scale, is_seen[:, None])
    # of subnormal numbers, two roundings per key are off by half the smallest number each
    within = np.asarray(out.tolerance)[:, 0] + SLOTS * 2.0**-149
    out.expected, out.tolerance = out.expected[:, 0], within
    held = [Out(cache, initial=old) for cache, old in zip((keys, values), before)]
    arguments = [In(q), In(key), In(value), In(seen), *held, out, scale]
    what = f"{several(texts, 'text')} of at most {several(most, 'word')}"
    return Launch(arguments, texts, SLOTS, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (2, 32), (3, 40), (2, 128)),
    drawn=lambda rng: [(int(rng.integers(11, 20)), int(rng.integers(2, SLOTS))) for _ in range(2)],
    far=lambda rng: far_rows(launch(rng, (3, SLOTS)), 600_000),
    undefined={"inf": "an infinite value is a NaN if its share is 0"},
    counted=(4, 128),
    budget={},
    limits=None,
    advice=dict.fromkeys(
        ["race", "missing __syncwarp"],
        "Some threads store the new key and value, and others read them. All must meet in"
        " between: __syncthreads(), outside of any condition.",
    ),
    survivors={
        "slot <= last ? 1": "what all scores have more is no difference to their shares",
        "score + block_reduce": "shares are the same while no power overflows: 07's lesson",
    },
)
