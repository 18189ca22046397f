"""An array for the neighbour, and a flag that says that it is there."""

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

SIZES = (1, 1), (31, 2), (257, 3), (1009, 4)


def drawn(rng):
    return (int(rng.integers(34, 600)), 5), (int(rng.integers(2600, 4000)), 3)


def launch(rng, size):
    n, ranks = size
    x, blocks = planted(rng, numbers(rng, ranks, n), np.inf, np.nan), blocks_for(n)
    inbox = np.roll(x, 1, axis=0)
    flags = Out(np.ones((ranks, blocks)), dtype=np.uint32, initial=np.zeros((ranks, blocks)))
    arguments = [In(x), Out(inbox), flags, Out(2 * inbox), np.int32(n)]
    return Launch(arguments, (blocks, ranks), 256, what=f"{ranks} ranks of {n}")


LARGE = ((9000, 9),)
COUNTED = 2048, 4
BUDGET = {"st.sectors": (2080, 2112)}
EVEN = False
WAITS = True
LIMITS = dict.fromkeys(["instructions", "atomics", "atomics.sectors"])  # of who waits
ADVICE = dict.fromkeys(
    ["race", "double write"],
    "A fence is one thread's, so all threads of the block must have written before: `__syncthreads()`,"
    " then one thread calls `__threadfence_system()` and sets the flag. The one that waits fences,"
    " too, and a `__syncthreads()` lets the others read.",
)
ADVICE["time"] = (
    "Is the flag read anew in each turn, through a pointer that is volatile? And does each block set its"
    " right neighbour's flag before it waits for its own?"
)
BETWEEN = handed_over(
    "Ranks are devices: a fence of this device does not reach the others. Take"
    " `__threadfence_system()`, between what is written and the flag.",
    "Loads may come early: who has seen the flag needs a `__threadfence_system()` of its own, before"
    " the barrier that lets the others read.",
)


def may_read(launch):
    n = int(launch.arguments[-1])
    advice = "Read your own row of x only: what the left neighbour has comes by your inbox."
    return [(0, [range(n)], advice)]


BEGIN = "        __threadfence_system();\n        all[right"
WAIT = "        while (all[rank * gridDim.x + blockIdx.x] == 0) {}\n"
STORE = "    if (i < n) inbox[right * n + i] = x[rank * n + i];\n"
WRONG = {
    "no fence": Wrong("race", {BEGIN: "        all[right"}),
    "a block's fence": Wrong("race|skips what", {"__threadfence_system": "__threadfence_block"}),
    "a device's fence": Wrong("skips what", {"__threadfence_system": "__threadfence"}),
    "a device's fence before the flag": Wrong("skips what", {BEGIN: BEGIN.replace("_system", "")}),
    "the system's fence where nobody comes": Wrong("skips what", {BEGIN: f"        __threadfence();\n        if (n < 0) {BEGIN.lstrip()}"}),
    "the fence after the flag": Wrong("skips what|race", {BEGIN: "        __threadfence();\n        all[right", "blockIdx.x] = 1;": "blockIdx.x] = 1, __threadfence_system();"}),
    "a fence after the barrier": Wrong("skips what", {f"{WAIT}        __threadfence_system();\n    }}\n    __syncthreads();": f"{WAIT}    }}\n    __syncthreads();\n    __threadfence_system();"}),
    "no barrier before the flag": Wrong("race", {f"{STORE}    __syncthreads();\n": STORE}),
    "nobody waits": Wrong("race", {WAIT: ""}),
    "gives up waiting": Wrong("time", {WAIT: "        for (int turn = 0; turn < 100000 && all[rank * gridDim.x + blockIdx.x] == 0; ++turn) {}\n"}),
    "no fence after the wait": Wrong("skips what", {f"{WAIT}        __threadfence_system();\n": WAIT}),
    "its own flag": Wrong("race|values", {"all[right * ": "all[rank * "}),
    "the left one's inbox": Wrong("values|race", {"(rank + 1) %": "(rank + gridDim.y - 1) %"}),
    "one flag for all blocks": Wrong(
        "race|values|double write|uninit",
        {"all[right * gridDim.x + blockIdx.x]": "all[right * gridDim.x]", "all[rank * gridDim.x + blockIdx.x]": "all[rank * gridDim.x]"},
    ),
    "past the end": Wrong("out of bounds|race|values", {STORE: STORE.replace("if (i < n) ", "")}),
    "straight to the result": Wrong("values|uninit", {"out[rank * n + i] = 2 * inbox[rank * n + i]": "out[right * n + i] = 2 * x[rank * n + i]", STORE: ""}),
    "past the inbox": Wrong("reads", {"2 * inbox[rank * n + i]": "2 * x[(rank + gridDim.y - 1) % gridDim.y * n + i]"}),
    "not doubled": Wrong("values", {"2 * inbox": "inbox"}),
}  # fmt: skip

SURVIVORS = {
    "threadIdx.x == 1": "another thread posts and waits",
}
