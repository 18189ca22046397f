"""The last block to arrive adds up: fences around the count."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import Far, In, Launch, Out, Wrong, numbers

SIZES = 1, 33, 257, 1009, 0


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


COUNTED = 1 << 12
EVEN = False
BUDGET = {"ld.sectors": (540, 608)}
FENCE = r"(?P<what>membar|fence)\.[\w.]*"
AROUND = "One fence on either side of the count will do: each waits for all stores before it."
WITHOUT = {
    r"membar\.sys|fence\.\w+\.sys": "A fence for the whole system costs more than one for the GPU.",
    rf"^(?P<loop>\$\w+):(.|\n)*?{FENCE}(.|\n)*?\bbra(\.uni)?\s+(?P=loop);": AROUND,
    rf"{FENCE}((.|\n)*?\b(?P=what)\b){{4}}": AROUND,
}
GPU = r"(membar\.gl|fence\.\w+\.gpu)"
WITH = {
    rf"{GPU}[\s\S]*\batom\b[\s\S]*{GPU}|\.(acquire|acq_rel)\.\w+\.": "Loads may come early: the last block needs"
    " a fence between the count and its loads.",
}

LAST = "if (atomicInc(arrived, gridDim.x - 1) < gridDim.x - 1) return;"
WRONG = {
    "no fence before the count": Wrong(
        "race", {f"    __threadfence();\n    {LAST}": f"    {LAST}"}
    ),
    "a block's fence": Wrong("race", {"__threadfence()": "__threadfence_block()"}),
    "a barrier for a fence": Wrong("race", {"__threadfence()": "__syncwarp(1)"}),
    "atomics for fences": Wrong(
        "race",
        {
            "totals[blockIdx.x] = sum;": "atomicExch(totals + blockIdx.x, sum);",
            "__threadfence();": "",
            "sum += totals[k]": "sum += atomicAdd(totals + k, 0.f)",
        },
    ),
    "volatile for fences": Wrong(
        "race", {"__threadfence();": "", "totals[": "((volatile float *)totals)["}
    ),
    "sleep for fences": Wrong("race|instructions", {"__threadfence();": "__nanosleep(1000);"}),
    "the fence before the store": Wrong(
        "race",
        {
            f"    __threadfence();\n    {LAST}": f"    {LAST}",
            "    totals[blockIdx.x] = sum;": "    __threadfence();\n    totals[blockIdx.x] = sum;",
        },
    ),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i", "* 32LL": "* 32"}),
    "for the host, too": Wrong(
        "instructions: .*sys", {"__threadfence()": "__threadfence_system()"}
    ),
    "ten fences": Wrong(
        "instructions: .*(membar|fence)", {"__threadfence();": 10 * "__threadfence();"}
    ),
    "no fence after the count": Wrong("asked for", {f"{LAST}\n    __threadfence();": LAST}),
    "both before the count": Wrong(
        "asked for", {f"{LAST}\n    __threadfence();": f"__threadfence(); {LAST}"}
    ),
    "a fence for each total": Wrong(
        "instructions: .*(membar|fence)",
        {"sum += totals[k];": "{ __threadfence(); sum += totals[k]; }"},
    ),
    "a fence for each element": Wrong(
        "instructions: .*(membar|fence)", {"sum += x[i];": "{ sum += x[i]; __threadfence(); }"}
    ),
    "the highest block": Wrong(
        "race|values|uninit", {LAST: "if (blockIdx.x < gridDim.x - 1) return;"}
    ),
    "the first to arrive": Wrong("race|values|uninit", {"< gridDim.x - 1) return": "> 0) return"}),
    "the count is not put back": Wrong(
        "values", {"atomicInc(arrived, gridDim.x - 1)": "atomicAdd(arrived, 1)"}
    ),
    "its own total alone": Wrong("values", {"sum += totals[k];": "sum = totals[k];"}),
    "without the last": Wrong("values", {"k < gridDim.x;": "k + 1 < gridDim.x;"}),
}
