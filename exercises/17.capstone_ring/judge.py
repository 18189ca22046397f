"""An all-reduce in a ring, all ranks in one launch, of the learner's own design."""

import numpy as np

from helpers.checks import gamma
from helpers.exercises.for_judges import *


def drawn(rng):
    some, many = int(rng.integers(300, 700)), int(rng.integers(4000, 5000))
    return (some, int(rng.integers(3, 8)), 1), (many, int(rng.integers(2, 5)), 4)


def launch(rng, size):
    n, ranks, blocks = size
    x = numbers(rng, ranks, n)
    if n > 60:
        x[0, 1], x[:, 2:4] = np.nan, -0.0
    tolerance = gamma(ranks, np.float32) * np.abs(x).sum(0, dtype=float)
    sums = [np.tile(row, (ranks, 1)) for row in (x.sum(0, dtype=float, initial=-0.0), tolerance)]
    steps = np.full((ranks, blocks), 2 * ranks - 2)
    flags = Out(steps, dtype=np.uint32, initial=np.zeros((ranks, blocks)))
    arguments = [Out(*sums, initial=x, bits=True), flags, np.int32(n)]
    return Launch(
        arguments,
        (blocks, ranks),
        256,
        what=f"{several(ranks, 'rank', n)}, {several(blocks, 'block')}",
    )


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
    what, ran = (
        f"{several(ranks, 'rank', n)}, {several(blocks, 'block')}",
        [range(b, b + 1) for b in of_flags],
    )
    return Launch(arguments, (blocks, ranks), 256, what=what, blocks=ran)


def explain(launch, out, got):
    if np.dtype(out.dtype) != np.float32:
        ranks, place = len(out.expected), np.argmax(got != np.ravel(out.expected))
        rank, block = np.unravel_index(place, np.shape(out.expected))
        return (
            f"flags[{rank}, {block}] ends as {got[place]}, and should be 2 · ranks − 2 ="
            f" {2 * ranks - 2}: how many steps does a block take, and does it post each one?"
        )
    if np.array_equal(got, np.ravel(out.initial)):
        return (
            "Nothing has changed: a chunk has n / ranks elements, rounded up; the last one may"
            " have fewer."
        )
    got, before = got.reshape(np.shape(out.initial)), out.initial
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(got - out.expected) <= out.tolerance) & ~np.isnan(out.expected)
    if np.array_equal(got[wrong], before[wrong]):
        return (
            "The wrong elements still have their old values: do the blocks' parts cover a chunk,"
            " its length / gridDim.x, rounded up, for any number of blocks?"
        )
    return (
        "In the first ranks - 1 steps, add the chunk that comes to your own; in the others, copy"
        " it. Which chunk has the left neighbour just finished, and which step is the first that"
        " copies? Before step s, it must have done s steps: wait for these, and post each step."
    )


def may_read(launch):
    ranks, n = np.shape(launch.arguments[0].expected)
    advice = "A rank reads only its own row and its left neighbour's, `mine` and `from`."
    return [(0, [range(n), range((ranks - 1) * n, ranks * n)], advice)]


JUDGE = Judge(
    launch=launch,
    sizes=((5, 1, 1), (0, 2, 1), (64, 2, 1), (1, 3, 1), (100, 3, 2), (257, 4, 1), (1009, 5, 3)),
    drawn=drawn,
    large=((9000, 9, 2), (90, 40, 1)),
    far=far,
    counted=(1 << 14, 8, 2),
    budget={"ld.sectors": (43008, 45_000), "st.sectors": (28896, 29_500)},
    limits=dict.fromkeys(["instructions", "atomics", "atomics.sectors"]),  # of who waits
    even=False,
    may_read=may_read,
    explain=explain,
    checks=[
        HandedOver(
            "Ranks are devices: a fence for this device does not reach the others. Use `post`"
            " or `__threadfence_system()` between your stores and the flag.",
            "Loads may run early: use `wait_for`, or a `__threadfence_system()` after the wait.",
        ),
        Repeatable(),
        Waits(),
    ],
    advice=dict.fromkeys(
        ["race", "double write"],
        "A fence works for one thread, so all threads of the block must have written before:"
        " `__syncthreads()`, then one thread calls `post`. Another `__syncthreads()` after"
        " `wait_for` lets the others read. Before step s, wait for s steps of the left"
        " neighbour. If the two are not the same block b, their parts overlap: do all ranks cut"
        " a chunk alike, and does a part end where its chunk ends?",
    )
    | {
        "time": "Does each block wait for s steps of its left neighbour before its step s, and"
        " post s + 1 after it? A block that waits for one step more waits forever."
    },
    survivors={
        "(rank - step + 1": "another chunk goes first",
        "(rank - step - 2": "another chunk goes first",
        "3 * ranks": "the same remainder",
        "threadIdx.x == 1": "another thread waits or posts",
        "threadIdx.x != 0": "all threads but one wait",
        "threadIdx.y == 0": "all threads wait",
    },
)
