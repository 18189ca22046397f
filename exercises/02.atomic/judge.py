"""A sum by one atomic per element: a step of the course."""

import numpy as np

from helpers import checks
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
    far_numbers,
    numbers,
)

OURS = "reduce/atomic.cu"
SIZES = 1, 33, 256, 1009, 0


def launch(rng, n):
    x = numbers(rng, n)
    total = Out(np.array([x.sum(dtype=float)]), checks.sum_tolerance(x), initial=np.zeros(1))
    return Launch([In(x), total, np.int64(n)], blocks_for(n), 256)


def far(rng):
    x = far_numbers(rng)
    seen = np.concatenate([x.pieces[0], x.pieces[PAST]])
    tolerance = float(checks.sum_tolerance(seen))
    out = Far(1, np.float32, expected={0: [seen.sum(dtype=float)]}, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)])


SPARE = 128
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "atomics": 512, "atomics.sectors": 16384}
IDEA = {"atomics": (512, "Let each thread add its element by an atomic of its own.")}

ADD = "atomicAdd(out, Acc(x[i]))"
WRONG = {
    "not atomic": Wrong("race|double|values", {ADD: "*out += Acc(x[i])"}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "one for each": Wrong("values", {ADD: "atomicAdd(out, Acc(1))"}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "two atomics": Wrong("atomics", {ADD: f"{ADD}, atomicAdd(out, Acc(0))"}),
}
