"""Sums over the middle axis."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (1, 1, 1), (3, 5, 7), (2, 33, 300), (5, 1, 31), (1, 100, 257), (4, 9, 1)


def launch(rng, size):
    outer, reduce, inner = size
    x = numbers(rng, *size)
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1))
    arguments = [In(x), out, np.int64(reduce), np.int64(inner)]
    what = f"{outer} x {reduce} x {inner}"
    return Launch(arguments, (blocks_for(inner), outer), 256, what=what)


COUNTED = 4, 16, 512
BUDGET = {"ld.sectors": 4096, "st.sectors": 256}

WRONG = {
    "zeros": Wrong("values", {"= sum;": "= 0;"}),
    "the last axis": Wrong(
        "values|out of bounds", {"(o * reduce + r) * inner + i": "(o * inner + i) * reduce + r"}
    ),
    "one slice": Wrong("values", {"(o * reduce + r)": "r"}),
    "slices one after the other in the output": Wrong(
        "values|out of bounds|double|race", {"out[o * inner + i]": "out[o * reduce + i]"}
    ),
    "every slice to the first": Wrong("values|double|race", {"out[o * inner + i]": "out[i]"}),
    "one row too many": Wrong("out of bounds|values", {"r < reduce": "r <= reduce"}),
    "row 0 only": Wrong("values", {"r < reduce": "r < 1"}),
    "outer steps of inner": Wrong("values|out of bounds", {"(o * reduce + r)": "(o + r)"}),
}
