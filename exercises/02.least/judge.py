"""The least of whole numbers by atomics, 8 elements each."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for

SIZES = 1, 31, 33, 257, 2048, 2051, 0
GREATEST = np.iinfo(np.int32).max


def launch(rng, n):
    blocks = blocks_for(-(-n // 8))
    turn = 256 * blocks  # elements that all threads together take at a time
    least = 1 if n % 2 else -(2**31)
    x = rng.integers(least + 1, 2**31, n, np.int32)
    if n:
        x[(n // turn * turn or n) - 1] = least  # the last block's, in its last whole turn
    expected = np.array([x.min(initial=GREATEST)])
    out = Out(expected, dtype=np.int32, initial=np.array([GREATEST]))
    return Launch([In(x), out, np.int64(n)], grid=blocks, block=256)


COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "red.requests": 256}

LOOP = "for (long long i = first; i < n; i += threads) found = min(found, x[i]);"
WRONG = {
    "nothing": Wrong("values", {"if (first < n) atomicMin(out, found);": ""}),
    "zero is the least": Wrong("values", {"0x7fffffff": "0"}),
    "not atomic": Wrong("race|double|values", {"atomicMin(out, found)": "*out = min(*out, found)"}),
    "the greatest": Wrong("values", {"min(found, x[i])": "max(found, x[i])"}),
    "the first turn only": Wrong("values", {LOOP: "if (first < n) found = x[first];"}),
    "an atomic an element": Wrong(
        "counters", {LOOP: "for (long long i = first; i < n; i += threads) atomicMin(out, x[i]);"}
    ),
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
