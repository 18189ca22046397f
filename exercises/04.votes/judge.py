"""A count by ballots, an atomic a warp."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x, limit = numbers(rng, n), np.float32(rng.uniform(-1, 1))
    nearby = np.nextafter(limit, np.float32([-9, 9]))
    special = np.float32([limit, *nearby, np.inf, -np.inf, np.nan])
    where = rng.random(n) < 0.4
    x[where] = rng.choice(special, where.sum())
    before = rng.integers(-9, 10000, 1)
    count = before + np.count_nonzero(x > limit)
    out = Out(count, dtype=np.int32, initial=before)
    return Launch([In(x), out, limit, np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    n, last, limit = 2**31 + 77, 2**31 + 3, np.float32(0.5)
    votes = rng.integers(0, 2, 50).astype(np.float32)
    x = Far(n, np.float32, {0: votes, last: votes})
    out = Far(1, np.int32, {}, {0: [2 * int(votes.sum())]})
    grid = blocks_for(n)
    blocks = [range(1), range(grid - 1, grid)]
    return Launch([x, out, limit, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


JUDGE = Judge(
    launch=launch,
    far=far,
    spare=128,
    counted=1 << 14,
    budget={"ld.sectors": 2048, "atomics": (511, 512)},
    limits={"barriers": None},  # __syncthreads_count is a vote, too
    idea={"votes": (512, "Let the lanes vote: __ballot_sync.")},
    without={
        r"\.shared\b": "Let the lanes vote: no shared memory is needed.",
        r"\b(?P<what>shfl|redux)\b": "The bits of the vote are all you need: count them by __popc.",
        r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
    },
    survivors={
        "% 32 == 1": "all lanes of the warp have the same bits",
        "% 33 == 0": "there is one in each warp of a block of 256, and all of its lanes have the"
        " same bits",
    },
)
