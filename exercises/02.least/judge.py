"""The least of whole numbers by atomics, 8 elements each."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    PAST,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    far_launch,
)

LEAST, GREATEST = -(2**31), 2**31 - 1
# elements, the least of them, and its place: also at the end of the last turn, whole or not
SIZES = (
    *((1, LEAST, 0), (31, GREATEST - 1000, 30), (33, -7, 0), (257, LEAST + 1, 256)),
    *((2048, 1, 1000), (2048, LEAST, 2047), (2051, 5, 2047), (2051, LEAST, 2050)),
    *((4500, GREATEST - 1000, 4200), (4500, 1 - (1 << 30), 4499), (0, GREATEST, None)),
)


def drawn(rng):
    few, many = map(int, rng.integers((34, 20_500), (1001, 25_000)))
    least = rng.integers(LEAST, GREATEST - 1000, 2)
    return (few, int(least[0]), int(rng.integers(few))), (many, int(least[1]), many - 1)


def launch(rng, size):
    n, least, place = size
    near = rng.integers(least + 1, least + 40, n)  # the same as floats, if they are far from 0
    x = np.where(rng.random(n) < 0.5, near, rng.integers(least + 1, GREATEST + 1, n))
    if n:
        x[place] = least
    out = Out(np.array([x.min(initial=GREATEST)]), dtype=np.int32, initial=np.array([GREATEST]))
    what = f"n = {n:,}, element {place:,} is the least: {least:,}" if n else "n = 0"
    arguments = [In(x.astype(np.int32)), out, np.int64(n)]
    return Launch(arguments, blocks_for(-(-n // 8)), 256, what=what)


def far(rng):
    least = rng.integers(-1000, -1, FAR - PAST, np.int32)
    x = Far(FAR, np.int32, {16 * 256: np.full(256, -2000), PAST: least})
    out = Far(1, np.int32, expected={0: [least.min()]})
    return far_launch([x, out, np.int64(FAR)])


SPARE = 256
COUNTED = 1 << 16, -5, 60_000
BUDGET = {"ld.sectors": 8192, "red.requests": 256}
LIMITS = {"barriers": None}  # blocks that compare first are right as well

LOOP = "for (long long i = first; i < n; i += threads) found = min(found, x[i]);"
WRONG = {
    "nothing": Wrong("values", {"if (first < n) atomicMin(out, found);": ""}),
    "zero is the least": Wrong("values", {"0x7fffffff": "0"}),
    "not atomic": Wrong("race|double|values", {"atomicMin(out, found)": "*out = min(*out, found)"}),
    "a million is the most": Wrong("values", {"0x7fffffff": "1000000"}),
    "the greatest": Wrong("values", {"min(found, x[i])": "max(found, x[i])"}),
    "the first turn only": Wrong("values", {LOOP: "if (first < n) found = x[first];"}),
    "an atomic an element": Wrong(
        "counters", {LOOP: "for (long long i = first; i < n; i += threads) atomicMin(out, x[i]);"}
    ),
    "atomics that return a value": Wrong(
        "atomics|nanosleep",
        {
            LOOP: "for (long long i = first; i < n; i += threads)"
            " if (atomicMin(out, x[i]) == 12345678) __nanosleep(1);"
        },
    ),
    "whole turns only": Wrong(
        "values", {"i < n; i": "i < (n < threads ? n : n / threads * threads); i"}
    ),
    "compared as floats": Wrong(
        "values", {"found = min(found, x[i])": "if ((float)x[i] < (float)found) found = x[i]"}
    ),
    "an int": Wrong("fault|values|sanitizer|launch|time", {"(long long i": "(int i"}),
    "an unsigned int": Wrong("values|time", {"long long first": "unsigned first"}),
    "eight in a row": Wrong(
        "sectors loaded",
        {
            LOOP: "for (long long i = 8 * first; i < n && i < 8 * first + 8; ++i) found = min(found, x[i]);"
        },
    ),
    "past the end": Wrong("out of bounds", {"i < n; i": "i <= n; i"}),
    "unsigned": Wrong("values", {"min(found, x[i])": "min((unsigned)found, (unsigned)x[i])"}),
}

SURVIVORS = {
    "first <= n": "a thread without an element offers the neutral one",
}
