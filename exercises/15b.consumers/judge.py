"""A product by a producer and two warpgroups that share a tile of b."""

import numpy as np

from helpers.exercises.launches import BY_STAGES, Launch, Wrong, boxed_product

SIZES = (1, 8, 8), (128, 256, 64), (129, 264, 328), (70, 24, 584)
SHARED = 4 * (128 + 256) * 128 + 8 * 4096


def drawn(rng):
    m, n, k = rng.integers((130, 9, 34), (300, 30, 60))
    return [(int(m), 8 * int(n), 8 * int(k)), (400, 520, 72)]


def launch(rng, size):
    m, n, k = size
    boxes, out = boxed_product(rng, m, n, k, rows=128)
    arguments = [boxes, out, *map(np.int64, (m, n)), np.int32(-(-k // 64))]
    grid = -(-m // 128), -(-n // 256)
    return Launch(arguments, grid, 384, SHARED, what=f"{m} x {k} times {k} x {n}")


LARGE = ((100, 40, 4136),)
COUNTED = 256, 512, 512
SHARED_BYTES = SHARED + 1024
BUDGET = {"ld.sectors": 0, "hmma": 1024}
LIMITS = {"instructions": None}  # of who waits
EVEN = False

PREPARE = "stages.prepare(1, 2)"
LEAVE = "        stages.leave();\n"
WRONG = {
    "one consumer says that a stage is empty": Wrong("race|fault|launch", {PREPARE: "stages.prepare(1, 1)"}),
    "three must say it": Wrong("time|fault|launch", {PREPARE: "stages.prepare(1, 3)"}),
    "two must say that it is full": Wrong("time|fault|launch", {PREPARE: "stages.prepare(2, 2)"}),
    "both multiply the same rows": Wrong("values", {"group * GROUP_ROWS * LINE, b": "0, b"}),
    "rows by turns": Wrong("values", {"group * GROUP_ROWS * LINE, b": "group * LINE, b"}),
    "each has its own columns of b": Wrong("values|race|uninit", {"b = stages.tile() + OF_A;": "b = stages.tile() + OF_A + group * 128 * LINE;"}),
    "nobody waits for the box": Wrong("race|uninit", {"        stages.await();\n": ""}),
    "nobody waits for the products": Wrong("race|unfinished", {"        wait_for_products<0>();\n": ""}),
    "left before the products are done": Wrong("race", {"        wait_for_products<0>();\n" + LEAVE: LEAVE + "        wait_for_products<0>();\n"}),
    "nobody leaves": Wrong("time|fault|launch|race", {LEAVE: "        stages.advance();\n"}),
    "the second group leaves alone": Wrong("race|time|fault|launch", {LEAVE: "        if (threadIdx.x == GROUP) arrive(stages.goes());\n        stages.advance();\n"}),
    "the last step is left out": Wrong("values|launch|fault|time|uninit", {"step = 0; step < steps; ++step) {\n        stages.await": "step = 0; step + 1 < steps; ++step) {\n        stages.await"}),
    "sums that nobody cleared": Wrong("uninit", {"float sum[COLUMNS / 2] = {};": "float sum[COLUMNS / 2];"}),
    "each step anew": Wrong("values", {"sum, a, b, true);": "sum, a, b, false);"}),
}  # fmt: skip

SURVIVORS = BY_STAGES
