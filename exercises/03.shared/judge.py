"""The tree of halves in shared memory: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    n, threads = size if isinstance(size, tuple) else (size, 256)
    x, blocks = numbers(rng, n), blocks_for(n, threads)
    what = f"n = {n:,}, blocks of {threads}"
    arguments = [In(x), totals(x, threads), np.int64(n)]
    return Launch(arguments, blocks, threads, 4 * threads, "" if threads == 256 else what)


def operated(rng):
    n = 1009
    x = -1 - np.abs(numbers(rng, n))
    rows = np.full(256 * blocks_for(n), -np.inf, np.float32)
    rows[:n] = x
    out = Out(rows.reshape(-1, 256).max(1))
    return Launch([In(x), out, np.int64(n)], blocks_for(n), 256, shared=1024)


def far(rng):
    n, x = 2**31 + 77, numbers(rng, 77)
    out = Far(2**23 + 1, np.float32, {}, {2**23: totals(x).expected}, totals(x).tolerance)
    arguments = [Far(n, np.float32, {2**31: x}), out, np.int64(n)]
    return Launch(arguments, 2**23 + 1, 256, shared=1024, blocks=[range(2**23, 2**23 + 1)])


JUDGE = Judge(
    launch=launch,
    large=((1009, 64), (3000, 1024)),
    far=far,
    ours="reduce/shared.cu",
    undefined=BY_ATOMICS,
    counted=1 << 14,
    budget={
        "lds.wavefronts": 64 * 25,
        "lds.conflicts": 0,
        "sts.conflicts": 0,
        "barriers": 64 * 8 * 9,
    },
    checks=[Operator("using Op = Max<Acc>;", operated)],
    survivors={"tid == 1": "another thread writes the same, after the same barrier"},
)
