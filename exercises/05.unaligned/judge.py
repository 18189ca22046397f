"""out = 2 x in packs, from any alignment."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (1, 0), (1, 3), (2, 1), (3, 1), (4, 0), (31, 1), (33, 2), (1023, 3), (1027, 1), (0, 1)


def launch(rng, size):
    n, offset = size
    x = numbers(rng, n)
    arguments = [In(x, offset=offset), Out(2 * x, offset=offset), np.int64(n)]
    what = f"n = {n:,}, {offset} floats past 16 bytes"
    return Launch(arguments, grid=blocks_for(n // 4 + 2), block=256, what=what)


COUNTED = 1 << 16, 1
BUDGET = {"ld.requests": (516, 520), "st.requests": (516, 520)}

WRONG = {
    "aligned only": Wrong("misaligned", {"min((4 - past) % 4, n)": "0"}),
    "as many as are past": Wrong("misaligned|values", {"(4 - past) % 4": "past"}),
    "more head than elements": Wrong("out of bounds", {"min((4 - past) % 4, n)": "(4 - past) % 4"}),
    "no head": Wrong("values", {"for (long long k = 0; k < head; ++k) out[k] = 2 * x[k];": ""}),
    "no tail": Wrong(
        "values", {"for (long long k = head + 4 * packs; k < n; ++k) out[k] = 2 * x[k];": ""}
    ),
    "one pack too many": Wrong(
        "out of bounds", {"i < packs": "i <= packs", "i == packs": "i == packs + 1"}
    ),
    "one by one": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = gridDim.x * 256LL;"
        " for (; i < n; i += all) out[i] = 2 * x[i];",
    ),
}

SURVIVORS = {
    "% 5": "where x begins at 16 bytes, the first pack goes one by one",
}
