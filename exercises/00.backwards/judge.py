"""out is x, the last element first."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), Out(x[::-1]), np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "st.sectors": 8192}

WRONG = {
    "zeros": Wrong("values", {"x[n - 1 - i]": "0"}),
    "forwards": Wrong("values", {"n - 1 - i": "i"}),
    "one off": Wrong("out of bounds", {"n - 1 - i": "n - i"}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "turned within blocks": Wrong(
        "values|out of bounds", {"n - 1 - i": "blockIdx.x * 256 + 255 - threadIdx.x"}
    ),
    "half of it": Wrong("values", {"i < n": "i < n / 2"}),
    "one block does all": Wrong(
        "counters",
        "for (long long i = threadIdx.x; blockIdx.x == 0 && i < n; i += 256) out[i] = x[n - 1 - i];",
    ),
}
