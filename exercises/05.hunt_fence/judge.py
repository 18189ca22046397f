"""The last block to arrive adds up: fences around the count."""

import numpy as np

from helpers import checks
from helpers.exercises.extra_checks import OnEveryPath
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Far, In, Launch, Out
from helpers.exercises.values import numbers


def drawn(rng):
    return int(rng.integers(34, 600)), int(rng.integers(2000, 9000))


def launch(rng, n):
    x = numbers(rng, n)
    blocks = min(20 + n // 500, max(1, -(-n // 32)))
    tolerance = checks.sum_tolerance(x)
    rows = np.zeros((-(-n // (32 * blocks)) or 1) * 32 * blocks)
    rows[:n] = x
    totals = Out(rows.reshape(-1, blocks, 32).sum((0, 2)), tolerance)
    out = Out(np.array([x.sum(dtype=float)]), tolerance)
    arrived = Out(np.zeros(1), dtype=np.uint32, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(n), totals, arrived], grid=blocks, block=32)


def far(rng):
    blocks, some = 1 << 16, 8
    n = 2**31 + 32 * some  # 1024 turns and a few elements
    x = rng.integers(-9, 9, n - 2**31).astype(np.float32)
    out = Far(1, np.float32, {}, {0: [x.sum()]})
    totals = Far(blocks, np.float32, {}, {0: x.reshape(some, 32).sum(1)})
    arrived = Far(1, np.uint32, {0: [blocks - some]}, {0: [0]})  # as if the others were done
    arguments = [Far(n, np.float32, {2**31: x}), out, np.int64(n), totals, arrived]
    return Launch(arguments, blocks, 32, what=f"n = {n:,}", blocks=[range(some)])


FENCE = r"(?P<what>membar|fence)\.[\w.]*"
AROUND = "One fence on either side of the count will do: each waits for all stores before it."
ORDERS = r"membar\.(gl|sys)|fence\.\w+\.(gpu|sys)|\.(acquire|acq_rel)\.(gpu|sys)"


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 257, 1009, 0),
    drawn=drawn,
    far=far,
    counted=1 << 12,
    budget={"ld.sectors": (540, 608)},
    even=False,
    without={
        r"membar\.sys|fence\.\w+\.sys": "A fence for the whole system costs more than one for the GPU.",
        rf"^(?P<loop>\$\w+):(.|\n)*?{FENCE}(.|\n)*?\bbra(\.uni)?\s+(?P=loop);": AROUND,
        rf"{FENCE}((.|\n)*?\b(?P=what)\b){{4}}": AROUND,
    },
    checks=[
        OnEveryPath(
            {
                (
                    r"\batom\b(?!.*\.(acquire|acq_rel)\.(gpu|sys))",
                    r"\bld\.(?!param|shared|local|const)",
                ): (
                    ORDERS,
                    "Loads may come early: the last block needs a fence between the count and its loads, on every path.",
                )
            }
        )
    ],
)
