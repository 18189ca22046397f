"""Flags between devices, and the fence before them."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x, blocks = planted(rng, numbers(rng, 4, n), np.inf, np.nan), blocks_for(n)
    sums = x[0] + x[1] + x[2] + x[3]
    flags = Out(np.ones((4, blocks)), dtype=np.uint32, initial=np.zeros((4, blocks)))
    arguments = [In(x), Out(sums), flags, Out(np.tile(sums, (4, 1))), np.int32(n)]
    return Launch(arguments, (blocks, 4), 64, what=f"4 ranks of {n}")


REACH = (
    "Ranks are devices: a fence for this device does not reach the others. Use"
    " `__threadfence_system()` on every path to the flag and after the wait."
)
SEEN = (
    "Loads may run early: a thread that has seen a flag needs its own `__threadfence_system()`,"
    " before the barrier that lets the others read."
)


def may_read(launch):
    n = int(launch.arguments[-1])
    advice = (
        "Add up only your own share of x: the other sums come from their ranks, after the flags."
    )
    return [(0, [range(row * n, row * n + 64) for row in range(4)], advice)]


JUDGE = Judge(
    launch=launch,
    sizes=(1, 63, 65, 257, 1009, 0),
    drawn=lambda rng: (int(rng.integers(34, 600)), int(rng.integers(2600, 4000))),
    large=(9000, 33_003),
    counted=2048,
    budget={},
    limits=dict.fromkeys(
        ["instructions", "ld.sectors", "atomics", "atomics.sectors"]
    ),  # of who waits
    even=False,
    may_read=may_read,
    checks=[HandedOver(REACH, SEEN), Waits()],
    advice={
        "race": "A flag hands over nothing without fences: each thread that has written calls"
        " `__threadfence_system()`, a `__syncthreads()` follows, and only then is the"
        " flag set. A thread that has seen the flags needs a fence, too."
    },
    survivors={
        "threadIdx.x != 0": "all threads but one say it",
        "threadIdx.x == 1": "another thread says it",
        "threadIdx.y == 0": "all threads say it",
        "first + 255": "each thread's last element is at most 192 from its first",
        "first + 257": "each thread's last element is at most 192 from its first",
    },
)
