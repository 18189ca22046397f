"""A sum in one launch; the blocks' totals in `totals`."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import Far, In, Launch, Out, Wrong, numbers

SIZES = 1, 33, 257, 2003, 77003, 0


REPEATABLE = True


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


COUNTED = 1 << 14
EVEN = False  # the last block has more to do
BUDGET = {"ld.sectors": (2086, 2200), "st.requests": (301, 304), "atomics": 300}

WRONG = {
    "the highest block, not the last": Wrong(
        "race|values|uninit", {"last_to_arrive(arrived, gridDim.x)": "blockIdx.x == gridDim.x - 1"}
    ),
    "every block": Wrong("race|double|uninit", {"last_to_arrive(arrived, gridDim.x)": "true"}),
    "256 totals at most": Wrong(
        "values",
        {
            "for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) sum": "if (int k = threadIdx.x; k < gridDim.x) sum"
        },
    ),
    "512 totals at most": Wrong(
        "values", {"k < gridDim.x; k +=": "k < min(gridDim.x, 512u); k +="}
    ),
    "in the order of arrival": Wrong(
        "counters|bits",
        {
            "__global__ void finish": "__device__ float of_all;\n__global__ void finish",
            "totals[blockIdx.x] = sum;": "totals[blockIdx.x] = sum, atomicAdd(&of_all, sum), __threadfence();",
            "k < gridDim.x;": "k < 0;",
            "*out = sum;": "*out = atomicExch(&of_all, 0.f);",
        },
    ),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i"}),
    "an int for the guard": Wrong("n = 2,147,", {"i < n": "i < (int)n"}),
    "not put back": Wrong(
        "values",
        {
            "last_to_arrive(arrived, gridDim.x)": "__syncthreads_or(threadIdx.x == 0 && (__threadfence(), atomicAdd(arrived, 1) == gridDim.x - 1))"
        },
    ),
    "no fence": Wrong(
        "race",
        {
            "last_to_arrive(arrived, gridDim.x)": "__syncthreads_or(threadIdx.x == 0 && atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1)"
        },
    ),
    "on top of its own": Wrong("values", {"        sum = 0;\n": ""}),
    "nobody": Wrong("values", {"*out = sum;": ";"}),
    "an atomic": Wrong(
        "values|uninit",
        {"if (threadIdx.x == 0) *out = sum": "if (threadIdx.x == 0) atomicAdd(out, sum)"},
    ),
    "one arrives less": Wrong(
        "values|race",
        {"last_to_arrive(arrived, gridDim.x)": "last_to_arrive(arrived, gridDim.x - 1)"},
    ),
    "a warp's share": Wrong("values", {"*out = sum;": "*out = totals[0];"}),
}

SURVIVORS = {
    "threadIdx.x == 1": "all threads have what block_reduce returns",
}
