"""An array for the neighbour, and a flag that says that it is there."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    n, ranks = size
    x, blocks = planted(rng, numbers(rng, ranks, n), np.inf, np.nan), blocks_for(n)
    inbox = np.roll(x, 1, axis=0)
    flags = Out(np.ones((ranks, blocks)), dtype=np.uint32, initial=np.zeros((ranks, blocks)))
    arguments = [In(x), Out(inbox), flags, Out(2 * inbox), np.int32(n)]
    return Launch(arguments, (blocks, ranks), 256, what=several(ranks, "rank", n))


def may_read(launch):
    n, blocks = int(launch.arguments[-1]), launch.grid[0]
    advice = "Read only your own row of x: the left neighbour's values come through your inbox."
    flags = (
        "Set the right neighbour's flag, and wait for your own: the left neighbour's is in another"
        " device's memory, and each look would travel there."
    )
    return [(0, [range(n)], advice), (2, [range(2 * blocks)], flags)]


def explain(launch, out, got):
    is_flags = np.dtype(out.dtype) == np.uint32
    return f"A flag becomes 1, not {got[got != 1][0]}." if is_flags else None


JUDGE = Judge(
    launch=launch,
    explain=explain,
    sizes=((1, 1), (0, 2), (31, 2), (257, 3), (1009, 4)),
    drawn=lambda rng: ((int(rng.integers(34, 600)), 5), (int(rng.integers(2600, 4000)), 3)),
    large=((9000, 9), (33_003, 1)),
    counted=(2048, 4),
    budget={"st.sectors": (2080, 2112)},
    limits=dict.fromkeys(["instructions", "atomics", "atomics.sectors"]),  # of who waits
    even=False,
    may_read=may_read,
    checks=[
        HandedOver(
            "Ranks are devices: a fence for this device does not reach the others. Let every"
            " thread that has written call `__threadfence_system()` before the flag, or one"
            " thread after a barrier that all of them have reached.",
            "Loads may run early: the thread that has seen the flag needs its own"
            " `__threadfence_system()`, before the barrier that lets the others read.",
        ),
        Waits(),
    ],
    advice=dict.fromkeys(
        ["race", "double write"],
        "Do you set the right neighbour's flag, and wait for your own? A fence works for one"
        " thread, so all threads of the block must have written before: `__syncthreads()`, then"
        " one thread calls `__threadfence_system()` and sets the flag. The thread that waits"
        " needs a fence, too, and a `__syncthreads()` lets the others read.",
    )
    | {
        "time": "Is the flag read again in each turn, through a volatile pointer? And does each"
        " block set its right neighbour's flag before it waits for its own?"
    },
    survivors={"threadIdx.x == 1": "another thread posts and waits"},
)
