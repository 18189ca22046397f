"""Row sums, with a guard of rows and none of lanes."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

SIZES = (4, 64), (1, 1), (5, 0), (3, 31), (5, 33), (9, 100), (2, 1009), (17, 33)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden)
    x[::2, -1:] = np.inf  # times 0 it is no 0
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(np.where(np.isfinite(x), x, 0), axis=1))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=f"{batch} rows of {hidden}")


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700, 4)


COUNTED = 64, 256
BUDGET = {"ld.sectors": 2048, "st.sectors": 64}
LIMITS = {"instructions": 1.6}

WRONG = {
    "at twice the price": Wrong(
        "instructions of warps",
        {
            "float sum = 0;": 'float sum = 0; for (int k = 0; k < 200; ++k) asm volatile("mov.f32 %0, %0;" : "+f"(sum));'
        },
    ),
    "no guard": Wrong("out of bounds", {"if (row >= batch) return;": ""}),
    "a guard of lanes, too": Wrong(
        "inactive", {"if (row >= batch)": "if (row >= batch || lane >= hidden)"}
    ),
    "one row too many": Wrong("out of bounds", {"row >= batch": "row > batch"}),
    "whole blocks only": Wrong("values", {"row >= batch": "row >= batch / 4 * 4"}),
    "the store alone is guarded": Wrong(
        "out of bounds",
        {
            "if (row >= batch) return;": "",
            "if (lane == 0) out": "if (lane == 0 && row < batch) out",
        },
    ),
    "a barrier for each element": Wrong(
        "counters",
        {
            "sum += x[row * hidden + i];": "{ sum += x[row * hidden + i]; for (int k = 0; k < 50; ++k) __syncwarp(__activemask()); }"
        },
    ),
    "no more than 512 columns": Wrong("values", {"i < hidden": "i < hidden && i < 1024"}),
    "an int for the place": Wrong(
        "65,700 rows", {"x[row * hidden + i]": "x[(int)row * (int)hidden + (int)i]"}
    ),
    "a short for the row": Wrong("65,700 rows", {"long long row": "short row"}),
    "the last column instead, times 0": Wrong(
        "values|out of bounds",
        {
            "float sum = 0;\n    for (long long i = lane": "float sum = x[row * hidden + min((long long)lane, hidden - 1)] * (lane < hidden);"
            " for (long long i = lane + 32"
        },
    ),
    "zeros": Wrong("values", {"out[row] = sum": "out[row] = 0"}),
    "one column too few": Wrong("values", {"i < hidden": "i + 1 < hidden"}),
    "half a butterfly": Wrong("values", {"mask = 16": "mask = 8"}),
}

SURVIVORS = {
    "lane != 0": "all lanes of the warp have the same result",
    "lane == 1": "all lanes of the warp have the same result",
    "if (!(lane == 0))": "all lanes of the warp have the same result",
    "blockDim.x / 31": "128 / 31 is 4, too",
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
}
