"""Rows of attention that see no key: in their first tile, or at all."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, attention, climbing

SIZES = (1, 6, 1), (1, 8, 32), (2, 70, 97)


def drawn(rng):
    return rng.integers(((2, 66, 34), (5, 129, 65)), ((4, 120, 200), (7, 150, 128))).tolist()


def launch(rng, size):
    units, queries, keys = size
    q, k, v = climbing(rng, units, queries, keys)
    sees = rng.random((queries, keys)) < 0.7
    sees[1::4, :32] = False
    sees[2::4, : rng.integers(keys + 1)] = False
    sees[3::8] = False
    sees[7::8, 32:64] = False
    scale = np.float32(rng.uniform(0.1, 0.25))
    out = attention(q, k, v, scale, sees)
    if queries > 12 and sees[12].any():  # its NaN must show, in its own row alone
        q[:, 12, 5] = np.nan
        out.expected[:, 12] = np.nan
    arguments = [
        In(q),
        In(k),
        In(v),
        In(sees.astype(np.int8)),
        out,
        *map(np.int32, (queries, keys)),
        scale,
    ]
    what = f"{units} x {queries} queries, {keys} keys"
    return Launch(arguments, (-(-queries // 64), units), 64, what=what)


LARGE = ((1, 300, 1200),)
COUNTED = 1, 64, 64
BUDGET = {}
LIMITS = None

FROM = "most == -INFINITY ? 0 : most,"
ZERO = "sum == 0 ? 0 : o[i] / sum"
HIDDEN = "? score * scale : -INFINITY"
WRONG = {
    "rows that see nothing at all are NaN": Wrong("values", {ZERO: "o[i] / sum"}),
    "the first key only": Wrong("values", {FROM: "key == 0 && most == -INFINITY ? 0 : most,"}),
    "the key is left out, NaN or not": Wrong(
        "values", {"        float from": "        if (most == -INFINITY) continue;\n        float from"}
    ),
    "the rest is left out": Wrong(
        "values|barrier", {"        float from": "        if (most == -INFINITY) break;\n        float from"}
    ),
    "NaN to 0": Wrong("values", {ZERO: "sum > 0 ? o[i] / sum : 0"}),
    "a low number for the mask": Wrong("values", {HIDDEN: "? score * scale : -1e4f"}),
    "hidden keys are 0": Wrong("values", {HIDDEN: "? score * scale : 0"}),
    "no maximum": Wrong("values", {FROM: "0,"}),
    "all or none": Wrong("values", {"sees[query * (long long)keys + key]": "true"}),
}  # fmt: skip

SURVIVORS = {
    "score = 1": "what all scores of a row have more is no difference to their shares",
    "sum = 1": "it shrinks to nothing with the first key that is seen",
    "most == -INFINITY ? 1": "-inf less any number will do",
}
