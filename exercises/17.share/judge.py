"""Each rank adds up its share, and touches nothing else."""

import numpy as np

from helpers.exercises.distant import near, pieces, strewn
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Far, In, Launch, Out, blocks_for
from helpers.exercises.values import numbers, planted, scales


def drawn(rng):
    return (int(rng.integers(200, 1000)), 3), (int(rng.integers(12_000, 15_000)), 2)


def launch(rng, size):
    n, rank = size
    a, b, c, d = ranks = [numbers(rng, n) * scales(rng, n) for _ in range(4)]
    planted(rng, a, np.inf, np.nan)
    planted(rng, d, -np.inf)
    share = -(-n // 128) * 32
    mine = slice(rank * share, (rank + 1) * share)
    before = numbers(rng, n)
    after = before.copy()
    after[mine] = (a + b + c + d)[mine]
    arguments = [
        *map(In, ranks),
        Out(after, initial=before, bits=True),
        np.int64(n),
        np.int32(rank),
    ]
    return Launch(arguments, blocks_for(share), 256, what=f"n = {n}, rank {rank}")


def far(rng):
    n, rank = 2**32 + 77, 3
    begin = rank * (-(-n // 128) * 32)
    blocks, i = near(n - begin, 0, n - begin - 1)
    ranks = [strewn(rng, n, begin + i) for _ in range(4)]
    a, b, c, d = (values for _, values in ranks)
    out = Far(n, np.float32, {}, pieces(begin + i, a + b + c + d))
    arguments = [*(rank for rank, _ in ranks), out, np.int64(n), np.int32(rank)]
    grid = blocks_for(begin // rank)
    return Launch(arguments, grid, 256, what=f"n = {n:,}, rank {rank}", blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 0), (1, 1), (127, 3), (128, 3), (129, 2), (129, 3), (1009, 1), (0, 0)),
    drawn=drawn,
    large=((300_003, 3),),
    far=far,
    counted=(16_000, 1),
    budget={"ld.sectors": (2000, 2000), "st.sectors": (500, 500)},
    rounding="Add a, b, c and d in this order: another rounds otherwise.",
)
