"""A block for each row: a step of the course."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    batch, hidden, *others = size
    block, *_ = *others, 256
    x = numbers(rng, batch, hidden)
    x[:, ::2] = abs(x[:, ::2])  # elements that are left out show, however many there are
    x[:, -1] += 1000  # more than what the order of so many may cost
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    what = f"{several(batch, 'row', hidden)}, by blocks of {block}"
    return Launch(arguments, batch, block, what=what)


def operated(rng):
    batch, hidden = 3, 333
    x = rng.integers(-99, 99, (batch, hidden)).astype(np.float32)  # so that nothing is rounded
    x[:, 300] = 400  # beyond the first block
    out = Out((3 * x - np.arange(hidden)).max(1) + hidden)
    return Launch([In(x), out, np.int64(batch), np.int64(hidden)], batch, 256)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 31), (5, 256), (2, 1009), (2, 1009, 128)),
    drawn=drawn_rows,
    large=((1, 80_003),),
    far=lambda rng: far_rows(launch(rng, (5, 65_600)), 65_700),
    ours="rowreduce/block_per_row.cu",
    undefined=SCALED,
    counted=(16, 1120),
    budget={"ld.sectors": 2240, "ld.requests": (560, 700), "st.sectors": 16},
    warps=1.5,
    checks=[
        Operator(
            (  # the greatest of 3 x - column, and that plus hidden
                "struct Own : Operator<Acc> { __device__ Acc initial() const { return -INFINITY; }"
                " __device__ Acc from(T x, long long i) const { return 3 * x - i; }"
                " __device__ Acc operator()(Acc a, Acc b) const { return a > b ? a : b; }"
                " __device__ Acc finish(Acc a, long long n) const { return a + n; } }; using Op"
                " = Own;"
            ),
            operated,
        )
    ],
    survivors={"threadIdx.x == 1": "all threads have what block_reduce returns"},
)
