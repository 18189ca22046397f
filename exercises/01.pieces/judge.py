"""A sum in pieces of 128: a chain of 128 + n / 128 additions."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong

SIZES = 1, 127, 128, 129, 1009, 16384, 16411, 0


def launch(rng, n):
    # a sum of 8192 and more loses about 0.4 of its last place with each of these
    x = np.full(n, 1 + rng.uniform(0.39, 0.41) / 1024, np.float32)
    tolerance = checks.sum_tolerance(x, chain=128 + -(-n // 128))
    return Launch([In(x), Out(np.array([math.fsum(x)]), tolerance), np.int64(n)], grid=1, block=1)


COUNTED = 1 << 10
BUDGET = {"ld.requests": 1024, "st.requests": 1}

WRONG = {
    "one loop": Wrong("values", {"first += 128": "first += n", "i < first + 128": "i < first + n"}),
    "zero": Wrong("values", {"*out = sum": "*out = 0"}),
    "whole pieces only": Wrong("values", {"first < n;": "first + 128 <= n;"}),
    "without the end": Wrong("out of bounds", {"i < n && i": "i"}),
    "pieces that overlap": Wrong("values", {"first += 128": "first += 64"}),
    "each piece twice": Wrong("values|counters", {"float piece = 0": "float piece = sum"}),
    "the last piece only": Wrong("values", {"sum += piece": "sum = piece"}),
    "127 of 128": Wrong("values", {"i < first + 128": "i < first + 127"}),
}

SURVIVORS = {
    "first <= n": "one more piece, without an element",
}
