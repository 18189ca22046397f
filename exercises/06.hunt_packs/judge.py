"""Row sums in packs, from wherever a row begins."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

SIZES = (4, 64), (1, 1), (3, 31), (7, 1), (5, 33), (9, 100), (2, 1009), (17, 130)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden)
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=f"{batch} rows of {hidden}")


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700, 4)


COUNTED = 64, 1001
BUDGET = {"ld.requests": (800, 900), "st.sectors": 64}

WRONG = {
    "aligned rows only": Wrong("misaligned", {"head = min((4 - head) % 4, hidden);": "head = 0;"}),
    "as many as are past": Wrong("misaligned|values", {"(4 - head) % 4": "head"}),
    "more head than elements": Wrong(
        "out of bounds|values", {"min((4 - head) % 4, hidden)": "(4 - head) % 4"}
    ),
    "no head": Wrong("values", {"if (lane < head) sum += x[lane];": ""}),
    "no tail": Wrong("values", {"if (lane < hidden - tail) sum += x[tail + lane];": ""}),
    "one pack too many": Wrong("out of bounds|values", {"i < packs": "i <= packs"}),
    "one by one": Wrong(
        "requests to load",
        {
            "packs = (hidden - head) / 4": "packs = 0",
            "if (lane < hidden - tail) sum += x[tail + lane];": "for (long long i = tail + lane; i < hidden; i += 32) sum += x[i];",
        },
    ),
    "three of four": Wrong("values", {"(p.z + p.w)": "p.z"}),
    "zeros": Wrong("values", {"out[row] = sum": "out[row] = 0"}),
    "atomics, one by one": Wrong(
        "counters|inputs",
        {
            "packs = (hidden - head) / 4": "packs = 0",
            "if (lane < hidden - tail) sum += x[tail + lane];": "for (long long i = tail + lane; i < hidden; i += 32) sum += atomicAdd((float *)x + i, 0.f);",
        },
    ),
    "the head of the first row": Wrong(
        "misaligned|values", {"(x) / 4 % 4": "(x - row * hidden) / 4 % 4"}
    ),
    "an int for the place": Wrong(
        "65,700 rows", {"x += row * hidden": "x += (int)row * (int)hidden"}
    ),
    "a short for the row": Wrong("65,700 rows", {"long long row": "short row"}),
    "no row guard": Wrong("out of bounds", {"if (row >= batch) return;": ""}),
}

SURVIVORS = {
    "% 5": "where a row begins at 16 bytes, its first pack goes one by one",
    "lane != 0": "all lanes of the warp have the same result",
    "lane == 1": "all lanes of the warp have the same result",
    "if (!(lane == 0))": "all lanes of the warp have the same result",
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    "blockDim.x / 31": "128 / 31 is 4, too",
}
