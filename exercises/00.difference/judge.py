"""out[i] = x[i + 1] - x[i]."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), Out(np.diff(x)), np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 16
# Neighbouring threads share sectors: x[i + 1] takes one more a warp than x[i], which takes 4.
BUDGET = {"ld.sectors": 18431, "st.sectors": 8192}

WRONG = {
    "zeros": Wrong("values", {"x[i + 1] - x[i]": "0"}),
    "the wrong way round": Wrong("values", {"x[i + 1] - x[i]": "x[i] - x[i + 1]"}),
    "the guard of n elements": Wrong("out of bounds", {"i + 1 < n": "i < n"}),
    "no guard": Wrong("out of bounds", {"if (i + 1 < n) ": ""}),
    "one too few": Wrong("values", {"i + 1 < n": "i + 2 < n"}),
    "unsigned guard": Wrong(
        "out of bounds", {"i + 1 < n": "(unsigned long long)i < (unsigned long long)n - 1"}
    ),
    "not across blocks": Wrong("values", {"i + 1 < n": "i + 1 < n && threadIdx.x < 255"}),
    "one block does all": Wrong(
        "counters",
        "for (long long i = threadIdx.x; !blockIdx.x && i + 1 < n; i += 256) out[i] = x[i + 1] - x[i];",
    ),
}
