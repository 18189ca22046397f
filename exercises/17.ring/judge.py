"""Which chunk a rank takes from its left neighbour, and what comes of it: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    some, many = int(rng.integers(300, 1000)), int(rng.integers(9000, 12_000))
    return (some, 6, int(rng.integers(6)), 4), (many, 2, int(rng.integers(2)), 1)


def launch(rng, size):
    n, ranks, rank, step = size
    left, before = numbers(rng, n), planted(rng, numbers(rng, n), np.inf, np.nan)
    length = -(-n // ranks)
    begin = (rank - step - 1) % ranks * length
    chunk = slice(begin, begin + length)
    left[begin + 1 : begin + 2] = np.nan
    left[begin + 2 : begin + 4] = before[begin + 2 : begin + 4] = -0.0
    after = before.copy()
    after[chunk] = left[chunk] + before[chunk] if step < ranks - 1 else left[chunk]
    numbers_of = map(np.int32, (ranks, rank, step))
    arguments = [In(left), Out(after, initial=before, bits=True), np.int64(n), *numbers_of]
    what = f"n = {n}, {several(ranks, 'rank')}, rank {rank}, step {step}"
    return Launch(arguments, max(1, length // 700), 256, what=what)


def explain(launch, out, got):
    left, before = launch.arguments[0].values, out.initial
    ranks, step = int(launch.arguments[3]), int(launch.arguments[5])
    with np.errstate(invalid="ignore"):
        wrong = ~np.isclose(got, out.expected, equal_nan=True)
        if step >= ranks - 1 and np.isclose(got, before + left, equal_nan=True)[wrong].all():
            return (
                "From step ranks - 1 on, the chunks that come are whole sums: copy them instead"
                " of adding."
            )
    if np.array_equal(got[wrong], before[wrong], equal_nan=True):
        return (
            "The wrong elements still have their old values. The chunk is number (rank - step -"
            " 1) mod ranks; it has n / ranks elements, rounded up; and threads step by the whole"
            " grid, to its end."
        )
    return None


def far(rng):
    n, ranks, rank, step = 2**32 + 77, 9, 0, 0
    begin = (ranks - 1) * -(-n // ranks)
    blocks, i = near(n - begin, 0, n - begin - 1)
    (left, x), (mine, y) = (strewn(rng, n, begin + i) for _ in range(2))
    mine.expected = pieces(begin + i, x + y)
    arguments = [left, mine, np.int64(n), *map(np.int32, (ranks, rank, step))]
    what = f"n = {n:,}, {several(ranks, 'rank')}, rank {rank}, step {step}"
    return Launch(arguments, blocks_for(begin // (ranks - 1)), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (4, 4, 0, 0),
        (1, 4, 1, 0),
        (33, 4, 0, 3),
        (100, 3, 2, 1),
        (257, 5, 4, 7),
        (7, 5, 1, 6),
        (7, 5, 0, 1),
        (4, 3, 0, 0),
        (0, 3, 1, 0),
    ),
    drawn=drawn,
    large=((9000, 20, 15, 1),),
    far=far,
    ours="ranks/ring.cu",
    counted=(1 << 15, 4, 1, 0),  # chunk 0, after which the others are left alone
    budget={"ld.sectors": (2048, 2048), "st.sectors": (1024, 1024)},
    even=False,
    explain=explain,
    advice=dict.fromkeys(
        ["race", "double write"],
        "Two blocks make the same element. Share the chunk out among the threads of all blocks:"
        " each begins at its place in the grid, and steps by as many threads as the grid has.",
    ),
    survivors={"3 * ranks": "the same remainder"},
)
