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
ORDERS = r"membar\.(gl|sys)|fence\.\w+\.(gpu|sys)|\.(acquire|acq_rel)\.(gpu|sys)"
BETWEEN = {
    (r"\batom\b(?!.*\.(acquire|acq_rel)\.(gpu|sys))", r"\bld\.(?!param|shared|local|const)"): (
        ORDERS,
        "Loads may come early: the last block needs a fence between the count and its loads, on every path.",
    )
}

LAST = "if (atomicInc(arrived, gridDim.x - 1) < gridDim.x - 1) return;"
FENCE_CALL = "__threadfence();"
SECOND = f"{LAST}\n    {FENCE_CALL}"
REF = "cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*arrived)"


def counted_by(order):
    """The solution without fences, and with a count of this order."""
    count = f"{REF}.fetch_add(1, cuda::memory_order_{order})"
    return {
        "// Sum of": "#include <cuda/atomic>\n// Sum of",
        f"{FENCE_CALL}\n    {SECOND}": f"if ({count} < gridDim.x - 1) return; *arrived = 0;",
    }


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
            FENCE_CALL: "",
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
    "no fence after the count": Wrong("skips", {SECOND: LAST}),
    "both before the count": Wrong("skips", {SECOND: f"__threadfence(); {LAST}"}),
    "the second for those who leave": Wrong(
        "skips", {SECOND: LAST.replace("return;", "{ __threadfence(); return; }")}
    ),
    "the second after the loads": Wrong(
        "skips", {SECOND: LAST, "*out = sum;": "__threadfence(); *out = sum;"}
    ),
    "the second after the first load": Wrong(
        "skips",
        {
            SECOND: LAST,
            "sum = 0;\n    for (int k = 0": f"sum = *totals; {FENCE_CALL}\n    for (int k = 1",
        },
    ),
    "the second for many blocks": Wrong(
        "skips", {SECOND: f"{LAST} if (gridDim.x > 2) {FENCE_CALL}"}
    ),
    "the second of a block": Wrong("skips", {SECOND: f"{LAST} __threadfence_block();"}),
    "volatile for the second": Wrong(
        "skips", {SECOND: LAST, "+= totals": "+= ((volatile float *)totals)"}
    ),
    "loads past L1 for the second": Wrong(
        "skips", {SECOND: LAST, "+= totals[k]": "+= __ldcg(totals + k)"}
    ),
    "an acquire before the count": Wrong(
        "skips",
        {
            SECOND: LAST,
            "// Sum of": "#include <cuda/atomic>\n// Sum of",
            "float sum = 0;": f"float sum = 0; {REF}.load(cuda::memory_order_acquire);",
        },
    ),
    "a count that releases, no more": Wrong("skips", counted_by("release")),
    "a count that acquires, no more": Wrong("race", counted_by("acquire")),
    "a count without order": Wrong("race", counted_by("relaxed")),
    "a count with the order of a block": Wrong(
        "race", {old: new.replace("device", "block") for old, new in counted_by("acq_rel").items()}
    ),
    "the first for many elements": Wrong(
        "race", {f"{FENCE_CALL}\n    {SECOND}": f"if (n > 100) {FENCE_CALL}\n    {SECOND}"}
    ),
    "the first of another lane": Wrong(
        "race",
        {
            "> 0) return;": f"> 1) return; if (threadIdx.x == 1) {{ {FENCE_CALL} return; }}",
            f"{FENCE_CALL}\n    {SECOND}": SECOND,
        },
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
