"""A count that must not round."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = 1, 33, 1009, 10007, 0


def launch(rng, n):
    x, limit = numbers(rng, n), np.float32(-1.5)
    x[rng.integers(0, n, n // 9)] = limit  # which is not above it
    out = Out(np.array([np.count_nonzero(x > limit)]), dtype=np.int32)
    return Launch([In(x), out, limit, np.int64(n)], grid=1, block=1)


COUNTED = 1 << 10
BUDGET = {"ld.requests": 1024, "st.requests": 1}

WRONG = {
    "zero": Wrong("values", {"*out = count": "*out = 0"}),
    "all": Wrong("values", {"if (x[i] > limit) ++count": "++count"}),
    "those below": Wrong("values", {"x[i] > limit": "x[i] < limit"}),
    "a byte": Wrong("values", {"int count": "signed char count"}),
    "stops at 4096": Wrong("values", {"++count": "count += count < 4096"}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
    "onto yesterday's": Wrong("uninitialised|values", {"*out = count": "*out += count"}),
}
