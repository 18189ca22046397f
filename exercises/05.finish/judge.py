"""A sum in one launch; the blocks' totals in `totals`."""

import numpy as np

from helpers import checks
from helpers.exercises.extra_checks import Repeatable
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Far, In, Launch, Out
from helpers.exercises.values import numbers


def drawn(rng):
    return int(rng.integers(34, 2600)), int(rng.integers(150_000, 200_000))


def launch(rng, n):
    x = numbers(rng, n)
    blocks = 300 if n > 4096 else max(1, -(-n // 256))
    blocks += n // 500 if n > 150_000 else 0  # more than a block has threads, twice over
    tolerance = checks.sum_tolerance(x, chain=40)
    rows = np.zeros((-(-n // (256 * blocks)) or 1) * 256 * blocks)
    rows[:n] = x
    totals = Out(rows.reshape(-1, blocks, 256).sum((0, 2)), tolerance)
    out = Out(np.array([x.sum(dtype=float)]), tolerance)
    arrived = Out(np.zeros(1), dtype=np.uint32, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(n), totals, arrived], grid=blocks, block=256)


def far(rng):
    blocks, some = 1 << 16, 8
    n = 2**31 + 256 * some  # 128 turns and a few elements
    x = rng.integers(-9, 9, n - 2**31).astype(np.float32)
    out = Far(1, np.float32, {}, {0: [x.sum()]})
    totals = Far(blocks, np.float32, {}, {0: x.reshape(some, 256).sum(1)})
    arrived = Far(1, np.uint32, {0: [blocks - some]}, {0: [0]})  # as if the others were done
    arguments = [Far(n, np.float32, {2**31: x}), out, np.int64(n), totals, arrived]
    return Launch(arguments, blocks, 256, what=f"n = {n:,}", blocks=[range(some)])


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 257, 2003, 77003, 0),
    drawn=drawn,
    far=far,
    counted=1 << 14,
    budget={"ld.sectors": (2086, 2200), "st.requests": (301, 304), "atomics": 300},
    even=False,  # the last block has more to do
    checks=[Repeatable()],
    survivors={
        "threadIdx.x == 1": "all threads have what block_reduce returns",
    },
)
