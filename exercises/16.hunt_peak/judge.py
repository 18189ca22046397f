"""A running maximum that is overwritten before it is compared."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, attention, climbing

SIZES = (1, 1, 32), (1, 3, 64), (2, 65, 97)


def drawn(rng):
    return rng.integers(((2, 66, 34), (5, 129, 65)), ((4, 120, 200), (7, 150, 128))).tolist()


def launch(rng, size):
    units, queries, keys = size
    q, k, v = climbing(rng, units, queries, keys)
    scale = np.float32(rng.uniform(0.1, 0.25))
    arguments = [
        In(q),
        In(k),
        In(v),
        attention(q, k, v, scale),
        *map(np.int32, (queries, keys)),
        scale,
    ]
    what = f"{units} x {queries} queries, {keys} keys"
    return Launch(arguments, (-(-queries // 64), units), 64, what=what)


LARGE = ((1, 300, 1200),)
COUNTED = 1, 64, 64
BUDGET = {}
LIMITS = None

SHRINK = "float shrink = expf(peak - most);"
WRONG = {
    "never shrinks": Wrong("values", {SHRINK: "float shrink = 1;"}),
    "forgets what was before": Wrong("values", {SHRINK: "float shrink = 0;"}),
    "the other way round": Wrong("values", {SHRINK: "float shrink = expf(most - peak);"}),
    "only the sum shrinks": Wrong("values", {"o[i] * shrink": "o[i]"}),
    "only the values shrink": Wrong("values", {"sum * shrink": "sum"}),
    "the first maximum": Wrong("values", {"peak = most;\n": "if (key == 0) peak = most; shrink = 1;\n"}),
    "nothing is subtracted": Wrong("values", {"fmaxf(peak, score *= scale)": "0; score *= scale"}),
}  # fmt: skip

SURVIVORS = {
    "score = 1": "what all scores of a row have more is no difference to their shares",
    "sum = 1": "it shrinks to nothing in the first turn",
}
