"""A sum in one launch; the blocks' totals in `totals`."""

from functools import partial

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    blocks = 300 if n > 4096 else max(1, -(-n // 256))
    blocks += n // 500 if n > 150_000 else 0  # more than a block has threads, twice over
    return sum_by_last_block(x, blocks, 256, chain=40)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 257, 2003, 77003, 0),
    drawn=lambda rng: (int(rng.integers(34, 2600)), int(rng.integers(150_000, 200_000))),
    far=partial(far_sum_by_last_block, threads=256),
    undefined=BY_ATOMICS,
    counted=1 << 14,
    budget={"ld.sectors": (2086, 2200), "st.requests": (301, 304), "atomics": 300},
    even=False,  # the last block has more to do
    checks=[Repeatable()],
    survivors={"threadIdx.x == 1": "all threads have what block_reduce returns"},
)
