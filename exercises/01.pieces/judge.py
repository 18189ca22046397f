"""A sum in pieces of 128: a chain of 128 + n / 128 additions."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    In,
    Launch,
    Out,
    Wrong,
    lossy,
)

SIZES = 1, 127, 128, 129, 1009, 16384, 16411, 70_001, 0


def launch(rng, n):
    x = lossy(rng, n)
    tolerance = checks.sum_tolerance(x, chain=128 + -(-n // 128))
    return Launch([In(x), Out(np.array([math.fsum(x)]), tolerance), np.int64(n)], grid=1, block=1)


COUNTED = 1 << 10
BUDGET = {"ld.requests": 1024, "st.requests": 1}
# 128 sums side by side, in local memory, are right as well
LIMITS = {"ldl.sectors": None, "stl.sectors": None}
WITHOUT = {r"\.f64\b": "Use floats only."}

WRONG = {
    "one loop": Wrong("values", {"first += 128": "first += n", "i < first + 128": "i < first + n"}),
    "a double": Wrong("Use floats|f64|double", {"float sum": "double sum"}),
    "the first one n times": Wrong("values", "*out = n ? x[0] * n : 0;"),
    "each piece's first one": Wrong("values", {"piece += x[i]": "piece += x[first]"}),
    "each one twice, half of them": Wrong("values", {"piece += x[i]": "piece += x[i / 2]"}),
    "backwards from each piece's first": Wrong("values|out of", {"x[i]": "x[2 * first - i]"}),
    "without signs": Wrong("values", {"piece += x[i]": "piece += fabsf(x[i])"}),
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
