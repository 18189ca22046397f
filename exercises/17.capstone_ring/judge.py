"""An all-reduce in a ring, all ranks in one launch, of the learner's own design."""

import numpy as np

from helpers.checks import gamma
from helpers.exercises.launches import Far, Launch, Out, Wrong, handed_over, numbers, pieces

SIZES = (5, 1, 1), (64, 2, 1), (1, 3, 1), (100, 3, 2), (257, 4, 1), (1009, 5, 3)


def drawn(rng):
    some, many = int(rng.integers(300, 700)), int(rng.integers(4000, 5000))
    return (some, int(rng.integers(3, 8)), 1), (many, int(rng.integers(2, 5)), 4)


def launch(rng, size):
    n, ranks, blocks = size
    x = numbers(rng, ranks, n)
    tolerance = gamma(ranks, np.float32) * np.abs(x).sum(0, dtype=float)
    sums = [np.tile(row, (ranks, 1)) for row in (x.sum(0, dtype=float), tolerance)]
    steps = np.full((ranks, blocks), 2 * ranks - 2)
    flags = Out(steps, dtype=np.uint32, initial=np.zeros((ranks, blocks)))
    arguments = [Out(*sums, initial=x), flags, np.int32(n)]
    return Launch(arguments, (blocks, ranks), 256, what=f"{ranks} ranks of {n}, {blocks} blocks")


def far(rng):
    """Two blocks of each of five ranks, whose rows have more elements than 32 bits can count."""
    ranks, blocks = 5, 671_100
    chunk = 256 * blocks
    n = ranks * chunk
    some = np.array([0, blocks - 1])
    i = (np.arange(ranks)[:, None, None] * chunk + some[:, None] * 256 + np.arange(256)).ravel()
    places = (np.arange(ranks)[:, None] * n + i).ravel()
    x = numbers(rng, ranks, i.size)
    sums = np.tile(x.sum(0, dtype=float), ranks)
    tolerance = gamma(ranks, np.float32) * np.abs(x).sum(0, dtype=float).max()
    of_flags = (np.arange(ranks)[:, None] * blocks + some).ravel()
    steps = pieces(of_flags, np.full(of_flags.size, 2 * ranks - 2))
    arguments = [
        Far(ranks * n, np.float32, pieces(places, x.ravel()), pieces(places, sums), tolerance),
        Far(ranks * blocks, np.uint32, {}, steps),
        np.int32(n),
    ]
    what, ran = f"{ranks} ranks of {n:,}, {blocks:,} blocks", [range(b, b + 1) for b in of_flags]
    return Launch(arguments, (blocks, ranks), 256, what=what, blocks=ran)


LARGE = ((9000, 9, 2),)
COUNTED = 1 << 14, 8, 2
BUDGET = {"ld.sectors": (43008, 45_000), "st.sectors": (28896, 29_500)}
LIMITS = dict.fromkeys(["instructions", "atomics", "atomics.sectors"])  # of who waits
EVEN = False
WAITS = True
REPEATABLE = True
ADVICE = dict.fromkeys(
    ["race", "double write"],
    "A fence is one thread's, so all threads of the block must have written before: `__syncthreads()`,"
    " then one thread calls `post`. Another after `wait_for` lets the others read. Before"
    " step s, wait for s steps of the left neighbour.",
)
BETWEEN = handed_over(
    "Ranks are devices: a fence of this device does not reach the others. Take `post` or"
    " `__threadfence_system()`, between what is written and the flag.",
    "Loads may come early: take `wait_for`, or a `__threadfence_system()` after the wait.",
)


def may_read(launch):
    ranks, n = np.shape(launch.arguments[0].expected)
    advice = "A rank reads its own row and its left neighbour's, `mine` and `from`: no other."
    return [(0, [range(n), range((ranks - 1) * n, ranks * n)], advice)]


CHUNK, WAIT = (
    "(rank - step - 1 + 2 * ranks) % ranks",
    "if (threadIdx.x == 0) wait_for(theirs, step);",
)
POST = "        __syncthreads();\n        if (threadIdx.x == 0) post"
WRONG = {
    "no wait": Wrong("race", {WAIT: ""}),
    "gives up waiting": Wrong("time", {WAIT: "if (threadIdx.x == 0) {\n            for (int turn = 0; turn < 100000 && *(volatile unsigned *)theirs < step; ++turn) {}\n            __threadfence_system();\n        }"}),
    "the ring the other way round": Wrong("reads", {"left = (rank + ranks - 1)": "left = (rank + 1)", CHUNK: "(rank + step + 1) % ranks"}),
    "places of rows in 32 bits": Wrong("859,008,000", {"left * (long long)n": "left * n", "rank * (long long)n": "rank * n"}),
    "a step behind": Wrong("race|values", {"wait_for(theirs, step)": "wait_for(theirs, max(step, 1) - 1)"}),
    "no barrier after the wait": Wrong("race", {f"{WAIT}\n        __syncthreads();": WAIT}),
    "no barrier before the post": Wrong("race", {POST: "        if (threadIdx.x == 0) post"}),
    "no fence": Wrong("race", {"post(done, step + 1)": "*(volatile unsigned *)done = step + 1"}),
    "a step left out": Wrong("values", {"step < 2 * ranks - 2": "step < 2 * ranks - 3", "post(done, step + 1)": "post(done, step + 1 + (step == 2 * ranks - 4))"}),
    "the same chunk": Wrong("values|race", {CHUNK: "(rank + ranks - 1) % ranks"}),
    "added for ever": Wrong("values|NaN", {"step < ranks - 1 ?": "true ?"}),
    "chunks rounded down": Wrong("values", {"(n + ranks - 1) / ranks": "n / ranks"}),
    "past the chunk": Wrong("values|race", {"min(chunk, begin + part)": "begin + part"}),
    "past the end": Wrong("values|race|out of bounds", {"min(n, first + min(chunk, begin + part))": "first + min(chunk, begin + part)"}),
    "the whole row each step": Wrong("values|race", {"int end = min(n, first + min(chunk, begin + part));": "int end = n;"}),
}  # fmt: skip
SURVIVORS = {
    "(rank - step + 1": "another chunk goes first",
    "(rank - step - 2": "another chunk goes first",
    "3 * ranks": "the same remainder",
    "threadIdx.x == 1": "another thread waits or posts",
    "threadIdx.x != 0": "all threads but one wait",
    "threadIdx.y == 0": "all threads wait",
}
