"""A layer's columns spread over ranks: a product, and an all-gather by its stores."""

import numpy as np

from helpers.exercises.judges import Judge
from helpers.exercises.launches import In, Launch, Out, blocks_for
from helpers.exercises.products import product
from helpers.exercises.values import numbers, planted


def drawn(rng):
    rows, depth, wide = (int(rng.integers(*ends)) for ends in ((3, 9), (20, 60), (60, 300)))
    return (rows, depth, wide, 1), (3, 7, 2700 + wide, 2)


def launch(rng, size):
    rows, depth, wide, rank = size
    x, w = numbers(rng, rows, depth), planted(rng, numbers(rng, depth, wide), np.nan)
    if depth > 1:
        x[::2, 1], w[1, ::5] = 0, np.inf  # times 0 it is not 0
    own, ranks = product(x, w), []
    mine, within = slice(rank * wide, (rank + 1) * wide), np.zeros((rows, 4 * wide))
    within[:, mine] = own.tolerance
    for _ in range(4):
        before = numbers(rng, rows, 4 * wide)
        after = before.copy()
        after[:, mine] = own.expected
        ranks.append(Out(after, within, initial=before))
    arguments = [In(x), In(w), *ranks, *map(np.int32, (depth, wide, rank))]
    what = f"{rows} x {depth} times {depth} x {wide}, rank {rank}"
    return Launch(arguments, (blocks_for(wide), rows), 256, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 1, 0), (3, 5, 7, 3), (2, 33, 257, 1), (5, 0, 20, 2)),
    drawn=drawn,
    large=((70, 9, 3001, 3), (2, 70_000, 5, 1)),
    counted=(8, 32, 512, 2),
    budget={"ld.sectors": (20_480, 20_480), "st.sectors": (2048, 2048)},
    limits=dict.fromkeys(  # a row of x may be shared, and ranks may be an array
        ["barriers", "lds.wavefronts", "sts.wavefronts", "ldl.sectors", "stl.sectors"]
    ),
)
