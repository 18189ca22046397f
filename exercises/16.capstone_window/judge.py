"""Attention in a sliding window, of the learner's own design."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(((1, 66, 2), (2, 300, 20)), ((4, 200, 40), (4, 400, 300))).tolist()


def launch(rng, size, rows, threads, queries=None):
    """queries: how many there are of the n, the last ones."""
    units, n, window = size
    queries = queries or n
    q, k, v = climbing(rng, units, queries, n)
    scale = np.float32(rng.uniform(0.1, 0.25))
    sees = np.tri(n, dtype=bool) & ~np.tri(n, k=-window, dtype=bool)
    out = attention(q, k, v, scale, sees[n - queries :])
    with_nan_query(q, out)
    arguments = [In(q), In(k), In(v), out, np.int32(n), np.int32(window), scale]
    what = f"{units} x {several(n, 'query')}, a window of {window}"
    return Launch(arguments, (-(-n // rows), units), threads, what=what)


def explain(launch, out, got):
    window = int(launch.arguments[5])
    return which_keys(launch, out, got, lambda query: (max(0, query - window + 1), query))


def far(rng, rows, threads):
    n, some = 2070, 12
    small = launch(rng, (2, n, 700), rows, threads, some)
    return far_rows(small, 65_000, before=(n - some) * 32, last=2)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 1), (1, 70, 1), (2, 40, 60), (1, 130, 33)),
    drawn=drawn,
    undefined=ATTENDED
    | {
        "NaN": "what a hidden key has may count 0 times, or not at all",
        "inf": "what a hidden key has may count 0 times, or not at all",
    },
    far=far,
    choices=("ROWS", "THREADS"),
    counted=(2, 1024, 100),
    budget={"ld.sectors": (94256, 100_000), "lds.conflicts": 0, "sts.conflicts": 0},
    limits={"instructions": 1.5},
    shared_bytes=49_152,
    even=False,
    explain=explain,
    advice={
        "ld.sectors": "A block needs no key before the first one that its first query sees. From"
        " there on, each block fetches its queries' window: with more queries per"
        " block (`ROWS`), fewer blocks fetch the same keys."
    },
    survivors={
        "first <= min(": "a tile of which nothing is seen adds nothing",
        "window - 1); first": "keys before the window are looked at and not seen",
        "* SIZE + i] : 1": "what is past the last key has no share",
        "sum = 1": "it shrinks to nothing with the first key that is seen",
        "dot = 1": "what all scores of a row have more is no difference to their shares",
        "most == -INFINITY ? 1": "-inf less any number will do",
        "TILE = 15": "another size of a tile",
        "TILE = 17": "another size of a tile",
    },
)
