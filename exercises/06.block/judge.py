"""A block for each row: a step of the course."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

OURS = "rowreduce/block_per_row.cu"
SIZES = (1, 1), (3, 31), (5, 256), (2, 1009), (2, 1009, 128)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden, *others = size
    block, *_ = *others, 256
    x = numbers(rng, batch, hidden)
    x[:, -1] += 1000  # more than what the order of so many may cost
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    what = f"{batch} rows of {hidden}, by blocks of {block}"
    return Launch(arguments, batch, block, what=what)


OPERATOR = (  # the greatest of 3 x - column, and that plus hidden
    "struct Own : Operator<Acc> { __device__ Acc initial() const { return -INFINITY; }"
    " __device__ Acc from(T x, long long i) const { return 3 * x - i; }"
    " __device__ Acc operator()(Acc a, Acc b) const { return a > b ? a : b; }"
    " __device__ Acc finish(Acc a, long long n) const { return a + n; } }; using Op = Own;"
)


def operated(rng):
    batch, hidden = 3, 333
    x = rng.integers(-99, 99, (batch, hidden)).astype(np.float32)  # so that nothing is rounded
    x[:, 300] = 400  # beyond the first block
    out = Out((3 * x - np.arange(hidden)).max(1) + hidden)
    return Launch([In(x), out, np.int64(batch), np.int64(hidden)], batch, 256)


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700)


LARGE = ((1, 80_000),)
COUNTED = 16, 1120
BUDGET = {"ld.sectors": 2240, "ld.requests": (560, 700), "st.sectors": 16}
WARPS = 1.5

PLACE = "x[row * hidden + i]"
WRONG = {
    "no more than a block of columns": Wrong(
        "values", {"i < hidden; i += blockDim.x": "i < hidden && i < blockDim.x; i += blockDim.x"}
    ),
    "one warp works, the others wait": Wrong(
        "one warp",
        {
            "for (long long i = threadIdx.x; i < hidden; i += blockDim.x)": "if (threadIdx.x < 32) for (long long i = threadIdx.x; i < hidden; i += 32)"
        },
    ),
    "half of the lanes work": Wrong(
        "requests to load",
        {
            "for (long long i = threadIdx.x; i < hidden; i += blockDim.x)": "if (threadIdx.x % 32 < 16) for (long long i = threadIdx.x / 32 * 16 + threadIdx.x % 32; i < hidden; i += blockDim.x / 2)"
        },
    ),
    "the rest of a row by one thread": Wrong(
        "counters",
        {
            "for (long long i = threadIdx.x; i < hidden; i += blockDim.x)": "long long whole = hidden / blockDim.x * blockDim.x; for (long long i = threadIdx.x; i < hidden; i += i < whole ? blockDim.x : 1) if (i < whole || threadIdx.x == 0)"
        },
    ),
    "256 threads, whatever the block": Wrong(
        r"values.*blocks of 128", {"i += blockDim.x": "i += 256"}
    ),
    "a sum, whatever op is": Wrong("operator", {"acc = op(acc, op.from(": "acc += (op.from("}),
    "unfinished": Wrong("operator", {"op.finish(acc, hidden)": "acc"}),
    "a warp's share": Wrong("values", {"block_reduce(acc, op)": "warp_reduce(acc, op)"}),
    "every thread reads all": Wrong(
        "values|counters",
        {"i = threadIdx.x; i < hidden; i += blockDim.x": "i = 0; i < hidden; ++i"},
    ),
}

SURVIVORS = {
    "threadIdx.x == 1": "all threads have what block_reduce returns",
}
