"""A product by blocks that stay, and the order of their tiles."""

import numpy as np

from helpers.exercises.launches import BY_STAGES, Launch, Out, Wrong, boxed_product

SIZES = (1, 8, 8, 1), (128, 256, 64, 2), (300, 264, 136, 2)
SHARED = 4 * (128 + 256) * 128 + 8 * 4096
BAND = 16


def drawn(rng):
    """More rows of tiles than a band has; more steps than stages."""
    m, n, k, blocks = (int(x) for x in rng.integers((2060, 33, 1, 3), (2500, 64, 9, 7)))
    return [(m, 8 * n, 8 * k, blocks), (200, 776, 264, 3)]


def launch(rng, size):
    m, n, k, blocks = size
    down, across = -(-m // 128), -(-n // 256)
    boxes, out = boxed_product(rng, m, n, k, rows=128)
    bands = [range(first, min(first + BAND, down)) for first in range(0, down, BAND)]
    order = [(row, column) for band in bands for column in range(across) for row in band]
    number = np.empty((down, across), np.int32)
    number[tuple(np.transpose(order))] = np.arange(len(order))
    arguments = [boxes, out, Out(number, dtype=np.int32)]
    arguments += [*map(np.int64, (m, n)), np.int32(-(-k // 64))]
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch(arguments, blocks, 384, SHARED, what=what)


LARGE = ((4300, 296, 8, 3),)
COUNTED = 384, 1024, 256, 5
SHARED_BYTES = SHARED + 1024
BUDGET = {"ld.sectors": 0, "hmma": 1536}
LIMITS = {"instructions": None}  # of who waits
EVEN = False

LOOP = "tile = blockIdx.x; tile < down * across; tile += gridDim.x"
WRONG = {
    "row by row": Wrong("number", {"return {band * BAND + place % high, place / high};": "return {tile / across, tile % across};"}),
    "no bands": Wrong("number", {"return {band * BAND + place % high, place / high};": "return {tile % down, tile / down};"}),
    "the last band as high as all": Wrong("number|out of bounds|race|values", {"min(BAND, down - band * BAND)": "BAND"}),
    "across before down": Wrong("number", {"return {band * BAND + place % high, place / high};": "return {band * BAND + place / across, place % across};"}),
    "one tile each": Wrong("values|time|fault", {"; tile += gridDim.x": "; tile += down * across"}),
    "the producer makes one tile": Wrong("time|fault|launch", {"tile < down * across; tile += gridDim.x) {\n            int2 place = place_of(tile, down, across);\n            for": "tile < min(down * across, (int)gridDim.x); tile += gridDim.x) {\n            int2 place = place_of(tile, down, across);\n            for"}),
    "a stretch for each, where they do not divide": Wrong("number|values", {LOOP: "tile = blockIdx.x * (down * across / gridDim.x); tile < (blockIdx.x + 1) * (down * across / gridDim.x); ++tile"}),
    "sums go on": Wrong("values|uninit", {"        float sum[COLUMNS / 2];\n": "", "    take_registers<232>();\n": "    take_registers<232>();\n    float sum[COLUMNS / 2] = {};\n", "step > 0);": "true);"}),
    "sums that nobody cleared": Wrong("uninit|values", {"step > 0);": "true);"}),
    "stages begin anew": Wrong("race|time|fault|launch|values", {"            stages.await();": "            if (step == 0) stages.stage = stages.parity = 0;\n            stages.await();"}),
    "left before the products are done": Wrong("race", {"            wait_for_products<0>();\n            stages.leave();\n": "            stages.leave();\n            wait_for_products<0>();\n"}),
    "another tile is copied": Wrong("values", {"int2 place = place_of(tile, down, across);\n            for": "int2 place = {tile % down, tile / down};\n            for"}),
    "132 blocks": Wrong("values|number|out of bounds|time|fault", {"tile += gridDim.x": "tile += 132"}),
}  # fmt: skip

SURVIVORS = BY_STAGES | {
    "- 2) /": "8 divides n",
    "number[place.x": "other threads store the same number",
}
