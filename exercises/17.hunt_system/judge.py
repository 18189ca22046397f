"""Flags between devices, and the fence before them."""

import numpy as np

from helpers.exercises.launches import (
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    handed_over,
    numbers,
    planted,
)

SIZES = 1, 63, 65, 257, 1009


def drawn(rng):
    return int(rng.integers(34, 600)), int(rng.integers(2600, 4000))


def launch(rng, n):
    x, blocks = planted(rng, numbers(rng, 4, n), np.inf, np.nan), blocks_for(n)
    sums = x[0] + x[1] + x[2] + x[3]
    flags = Out(np.ones((4, blocks)), dtype=np.uint32, initial=np.zeros((4, blocks)))
    arguments = [In(x), Out(sums), flags, Out(np.tile(sums, (4, 1))), np.int32(n)]
    return Launch(arguments, (blocks, 4), 64, what=f"4 ranks of {n}")


LARGE = (9000,)
COUNTED = 2048
BUDGET = {}
EVEN = False
WAITS = True
LIMITS = dict.fromkeys(["instructions", "ld.sectors", "atomics", "atomics.sectors"])  # of who waits
REACH = (
    "Ranks are devices: a fence of this device does not reach the others. Take"
    " `__threadfence_system()`, before the flag and after the wait."
)
BETWEEN = handed_over(REACH, REACH)


def may_read(launch):
    n = int(launch.arguments[-1])
    advice = (
        "Add up your own share of x only: the others' sums come by their ranks, after the flags."
    )
    return [(0, [range(row * n, row * n + 64) for row in range(4)], advice)]


FENCE, FLAG = "\n    __threadfence_system();\n", "    if (threadIdx.x == 0) all"
WRONG = {
    "no fence": Wrong("race", {FENCE: "\n"}),
    "a device's fence": Wrong("skips what", {FENCE: "\n    __threadfence();\n"}),
    "no fence after the wait": Wrong("skips what", {"        __threadfence_system();\n": ""}),
    "a block's fence": Wrong("race", {"__threadfence_system": "__threadfence_block"}),
    "the fence after the flag": Wrong("race", {FENCE: "\n", "blockIdx.x] = 1;": "blockIdx.x] = 1, __threadfence_system();"}),
    "the fence before the sums": Wrong("race", {FENCE: "\n", "    if (mine < n) {": f"{FENCE[1:]}    if (mine < n) {{"}),
    "no barrier": Wrong("race", {f"    __syncthreads();\n{FLAG}": FLAG}),
    "nobody waits": Wrong("race|uninit", {"== 0) {}": "> 1) {}"}),
    "gives up waiting": Wrong("time", {"while (all": "for (int turn = 0; turn < 100000 && all", "== 0) {}": "== 0; ++turn) {}"}),
    "all shares by itself": Wrong("reads", {"= sums[i]": "= x[i] + x[n + i] + x[2 * n + i] + x[3 * n + i]"}),
    "only the first rank": Wrong("race", {"threadIdx.x < RANKS": "threadIdx.x < 1"}),
}  # fmt: skip

SURVIVORS = {
    "threadIdx.x != 0": "all threads but one say it",
    "threadIdx.x == 1": "another thread says it",
    "threadIdx.y == 0": "all threads say it",
    "first + 255": "each thread's last element is at most 192 from its first",
    "first + 257": "each thread's last element is at most 192 from its first",
}
