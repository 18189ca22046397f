"""out = min(x, most), by the guard of an article: `index > num`."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x, most = numbers(rng, n), np.float32(rng.uniform(-0.5, 0.5))
    out = Out(np.minimum(x, most))
    return Launch([In(x), out, most, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "st.sectors": 8192}

WRONG = {
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
    "one too few": Wrong("values|out of bounds", {"i >= n": "i >= n - 1"}),
    "whole blocks only": Wrong("values", {"i >= n": "i >= n / 256 * 256"}),
    "zeros": Wrong("values", {"value > most ? most : value": "0"}),
    "not bounded": Wrong("values", {"value > most ? most : value": "value"}),
    "an int for a guard": Wrong("out of bounds", {"i >= n": "threadIdx.x >= n"}),
}

SURVIVORS = {
    "value >= most": "where they are equal, both are right",
}
