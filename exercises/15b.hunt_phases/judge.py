"""Stages that go on from tile to tile."""

import numpy as np

from helpers.exercises.launches import BY_STAGES, Launch, Wrong, boxed_product

SIZES = (1, 8, 8, 1), (128, 256, 64, 1), (300, 264, 136, 2), (200, 264, 520, 2), (300, 200, 840, 2)
SHARED = 4 * (128 + 128) * 128 + 8 * 4096


def drawn(rng):
    m, n, k = (int(x) for x in rng.integers((130, 33, 9), (400, 50, 60)))
    return [(m, 8 * n, 8 * k, int(rng.integers(1, 4))), (520, 296, 72, 2)]


def launch(rng, size):
    m, n, k, blocks = size
    boxes, out = boxed_product(rng, m, n, k, rows=128)
    arguments = [boxes, out, *map(np.int64, (m, n)), np.int32(-(-k // 64))]
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch(arguments, blocks, 384, SHARED, what=what)


COUNTED = 256, 512, 256, 3
BUDGET = {"ld.sectors": 0, "hmma": 1024}
SHARED_BYTES = SHARED + 1024
LIMITS = {"instructions": None}  # of who waits
EVEN = False

ANEW = "            Stages<STAGES> stages(first, full, STAGE);\n"
COPIES = "            int top = tile % down * SIDE, left"
SUMS = "        float sum[SIDE / 2];\n"
WRONG = {
    "the producer begins anew": Wrong("race|time|fault|launch|values", {COPIES: ANEW + COPIES}),
    "the consumers begin anew": Wrong("race|time|fault|launch|values", {SUMS: ANEW + SUMS}),
    "the stage begins anew": Wrong("race|time|fault|launch|values", {COPIES: "            stages.stage = 0;\n" + COPIES, SUMS: "        stages.stage = 0;\n" + SUMS}),
    "the parity begins anew": Wrong("race|time|fault|launch|values", {COPIES: "            stages.parity = 0;\n" + COPIES, SUMS: "        stages.parity = 0;\n" + SUMS}),
    "barriers begin anew under those who wait": Wrong("race|time|fault|launch|mbarrier|values", {COPIES: "            stages.prepare(1, 2), show_barriers();\n" + ANEW + COPIES, SUMS: ANEW + SUMS}),
    "eight steps for each tile": Wrong("counters|products|tensor|race|values|fault|time|launch", {"step = 0; step < steps": "step = 0; step < (steps + 7) / 8 * 8"}),
    "left before the products are done": Wrong("race", {"            wait_for_products<0>();\n            stages.leave();\n": "            stages.leave();\n            wait_for_products<0>();\n"}),
    "one tile each": Wrong("values|time|fault", {"; tile += gridDim.x": "; tile += count"}),
}  # fmt: skip

SURVIVORS = BY_STAGES | {
    "- 2) /": "8 divides n",
}
