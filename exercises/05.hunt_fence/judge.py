"""The last block to arrive adds up: fences around the count."""

from functools import partial

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    blocks = min(20 + n // 500, max(1, -(-n // 32)))
    return sum_by_last_block(x, blocks, 32)


FENCE = r"(?P<what>membar|fence)\.[\w.]*"
AROUND = "One fence on either side of the count will do: each waits for all stores before it."
ORDERS = r"membar\.(gl|sys)|fence\.\w+\.(gpu|sys)|\.(acquire|acq_rel)\.(gpu|sys)"


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 257, 1009, 0),
    drawn=lambda rng: (int(rng.integers(34, 600)), int(rng.integers(2000, 9000))),
    far=partial(far_sum_by_last_block, threads=32),
    undefined=BY_ATOMICS,
    counted=1 << 12,
    budget={"ld.sectors": (540, 608)},
    even=False,
    without={
        r"membar\.sys|fence\.\w+\.sys": "A fence for the whole system costs more than one for"
        " the GPU.",
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
                    "Loads may come early: the last block needs a fence between the count and"
                    " its loads, on every path.",
                )
            }
        )
    ],
)
