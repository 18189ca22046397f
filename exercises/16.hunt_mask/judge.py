"""Rows of attention that see no key: in their first tile, or at all."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(((2, 66, 34), (5, 129, 65)), ((4, 120, 200), (7, 150, 128))).tolist()


def launch(rng, size):
    units, queries, keys = size
    q, k, v = climbing(rng, units, queries, keys)
    sees = rng.random((queries, keys)) < 0.7
    sees[1::4, :32] = False
    sees[2::4, : rng.integers(1, keys + 1)] = False
    sees[2, -1] = True  # it sees a key, and not the first, where there are two
    sees[3::8] = False
    sees[7::8, 32:64] = False
    sees[12:13, 0] = False  # so its NaN comes after the first key
    scale = np.float32(rng.uniform(0.1, 0.25))
    out = attention(q, k, v, scale, sees)
    if queries > 12 and sees[12].any():  # its NaN must show, in its own row alone
        q[:, 12, 5] = np.nan
        out.expected[:, 12] = np.nan
    marks = np.where(sees, rng.choice([1, 2, -1], sees.shape), 0).astype(np.int8)
    arguments = [In(q), In(k), In(v), In(marks), out, *map(np.int32, (queries, keys)), scale]
    what = f"{units} x {several(queries, 'query')}, {several(keys, 'key')}"
    return Launch(arguments, (-(-queries // 64), units), 64, what=what)


def explain(launch, out, got):
    sees = launch.arguments[3].values != 0
    nothing, later = ~sees.any(1), sees.any(1) & ~sees[:, 0]
    got = got.reshape(np.shape(out.expected))
    if np.isnan(got[:, later & ~np.isnan(out.expected).any((0, 2))]).any():
        return (
            "A query that does not see the first key has computed −∞ − (−∞), a NaN: until it sees"
            " one, its maximum is -INFINITY, so subtract 0 from its scores instead."
        )
    if np.isnan(got[:, nothing]).any():
        return (
            "A query that sees no key has computed 0 / 0, or −∞ − (−∞): its `sum` is 0, and its"
            " result should be 0."
        )
    if nothing.any() and got[:, nothing].any():
        return (
            "The result for a query that sees no key is 0: a hidden key's score is -INFINITY,"
            " and its power 0, so `sum` stays 0 only for such a query."
        )
    return None


def far(rng):
    queries, some = 46_412, 12
    small = launch(rng, (2, some, queries))
    marks = small.arguments[3].values
    small.arguments[3] = Far(queries**2, np.int8, {queries * (queries - some): marks.ravel()})
    return far_queries(small, queries, 3000)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 6, 2), (1, 70, 1), (1, 8, 32), (2, 70, 97)),
    drawn=drawn,
    large=((1, 300, 1203), (1, 33_000, 2)),
    far=far,
    undefined=ATTENDED
    | {
        "NaN": "a hidden key's value may count 0 times, or not at all; queries have one",
        "inf": "a hidden key's value may count 0 times, or not at all",
    },
    counted=(1, 64, 64),
    budget={},
    explain=explain,
    limits=None,
    survivors={
        "score = 1": "what all scores of a row have more is no difference to their shares",
        "sum = 1": "it shrinks to nothing with the first key that is seen",
        "most == -INFINITY ? 1": "-inf less any number will do",
    },
)
