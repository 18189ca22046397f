"""A product of halves by boxes and warpgroups, as fast as the learner can make it."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.launches import (
    Boxes,
    Far,
    In,
    Launch,
    Rate,
    Wrong,
    boxed_product,
    numbers,
    pieces,
    product,
)

SIZES = (1, 8, 8, 1), (130, 264, 72, 2), (300, 40, 648, 2), (300, 520, 328, 4)
CHOICES = "ROWS", "COLUMNS", "THREADS", "SHARED"


def drawn(rng):
    m, n, k, blocks = (int(x) for x in rng.integers((130, 33, 9, 1), (400, 100, 60, 4)))
    return [(m, 8 * n, 8 * k, blocks), (200, 776, 264, 3)]


def launch(rng, size, rows, columns, threads, shared):
    m, n, k, blocks = size
    boxes, out = boxed_product(rng, m, n, k, rows=rows, is_stored=True)
    arguments = [boxes, out, *map(np.int64, (m, n)), np.int32(-(-k // 64))]
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch(arguments, blocks, threads, shared, what=what)


def far(rng, rows, columns, threads, shared):
    """The last tile of a c that has more elements than an int can count."""
    side, k = 46_400, 8
    a, b = (numbers(rng, 1, *shape).astype(np.float16) for shape in ((side, k), (k, side)))
    top, left = side - 1 - (side - 1) % rows, side - 8
    out = product(a[0, top:], b[0, :, left:], np.float16)
    places = np.arange(top, side)[:, None] * side + np.arange(left, side)
    expected = pieces(places.ravel(), out.expected.astype(np.float16).ravel())
    c = Far(side**2, np.float16, {}, expected, np.max(out.tolerance))
    boxes = Boxes(
        [
            (In(a), partial(tensormap.tiled, box=(1, rows, 64))),
            (In(b), partial(tensormap.tiled, box=(1, 64, 64))),
            (c, lambda c: tensormap.tiled(c.reshape(1, side, side), (1, 16, 64))),
        ]
    )
    grid = -(-side // rows) * -(-side // columns)
    arguments = [boxes, c, *map(np.int64, (side, side)), np.int32(1)]
    what = f"{side:,} x {k} times {k} x {side:,}"
    return Launch(arguments, grid, threads, shared, what, [range(grid - 1, grid)])


LARGE = (100, 40, 4136, 1), (2500, 520, 8, 7)
COUNTED = 256, 512, 2048, 4
SHARED_BYTES = 227 << 10
BUDGET = {"ld.sectors": 0}
FREE = "instructions", "barriers", "st.sectors", "lds.wavefronts", "sts.wavefronts"
LIMITS = dict.fromkeys(FREE)  # what counts is the clock
EVEN = False
RATE = Rate((256, 512, 2048, 4), 540, {"cuBLAS": "gemm 4096 float16"}, side=4096)

TEXT = {r"\A(?![\s\S]*\bmultiply\s*[<(])": "Write the loop yourself: without multiply."}
LAST = "        wait_for_products<0>();\n        if (threadIdx.x % GROUP == 0) arrive(before);\n"
STORED = "store_boxes<COLUMNS>(Product<half, float, 8>{c, m, n}, maps.of[2], tile.top + warp * HIGH,\n                             tile.left, 0, sum, room + STAGES * STAGE + warp * PATCH_BYTES);"
LOOP = "number = blockIdx.x; number < tiles.count; number += gridDim.x"
EARLY = "            if (step > 0 && threadIdx.x % GROUP == 0) arrive(before);\n            before = stages.goes();\n"
WRONG = {
    "each step is waited for": Wrong("clock", {"wait_for_products<1>();  // of the stage before: it is empty\n" + EARLY: "wait_for_products<0>();\n            if (threadIdx.x % GROUP == 0) arrive(stages.goes());\n", LAST: ""}),
    "a stage is empty while it is multiplied": Wrong("race", {EARLY: "            if (threadIdx.x % GROUP == 0) arrive(stages.goes());\n", LAST: "        wait_for_products<0>();\n"}),
    "the last step's stage stays full": Wrong("time|fault|launch", {LAST: "        wait_for_products<0>();\n"}),
    "sums that are not there yet": Wrong("unfinished|race", {LAST: "        if (threadIdx.x % GROUP == 0) arrive(before);\n"}),
    "tiles of 128 x 128": Wrong("clock", {"COLUMNS = 256": "COLUMNS = 128"}),
    "one stage": Wrong("clock|race|fault|time|launch", {"STAGES = 4,": "STAGES = 1,"}),
    "stages go on anew": Wrong("race|time|fault|launch|values", {"        Tile tile = tiles(number);\n        float": "        Tile tile = tiles(number);\n        stages.stage = stages.parity = 0;\n        float"}),
    "one consumer says that a stage is empty": Wrong("race|fault|launch", {"prepare(1, 2)": "prepare(1, 1)"}),
    "places of 32 bits": Wrong("46,400 x", {STORED: "store<COLUMNS>(Product<half, float, 8>{c + (int)(tile.top * n) - tile.top * n, m, n}, tile.top + warp * HIGH, tile.left, sum, reinterpret_cast<float *>(room + STAGES * STAGE + warp * PATCH_BYTES));"}),
    "no guard for c": Wrong("out of bounds|bounds|race|values", {STORED: "{ int lane = threadIdx.x % 32; for (int i = 0; i < COLUMNS / 2; ++i) { int row = tile.top + warp * HIGH + lane / 4 + i / 2 % 2 * 8, column = tile.left + i / 4 * 8 + lane % 4 * 2 + i % 2; c[row * n + column] = __float2half(sum[i]); } }"}),
    "the block ends before its boxes": Wrong("unfinished|race", {"    wait_for_stores<0>();\n": ""}),
    "one tile each": Wrong("values|time|fault", {"number += gridDim.x": "number += tiles.count"}),
    "as many blocks as may be": Wrong("values|time|fault|unfinished|uninit", {"number += gridDim.x": "number += 132"}),
    "by the course's own": Wrong("text", "Tiles<ROWS, COLUMNS> tiles(m, n, steps, 1, 1); struct Copies { const Map &a, &b; int top, left, step; __device__ void begin(Tile tile) { top = tile.top, left = tile.left, step = 0; } __device__ void next(unsigned to_a, unsigned to_b, unsigned barrier) { copy_lines<half, true, ROWS>(to_a, a, top, step, 0, barrier); copy_lines<half, false, COLUMNS>(to_b, b, left, step++, 0, barrier); } } copies = {maps.of[0], maps.of[1]}; auto results = [=](Tile) { return Product<half, float, 8>{c, m, n}; }; multiply<half, ROWS, COLUMNS, 4, true, false, 0, true>(tiles, copies, results, maps.of[2]);"),
}  # fmt: skip

SURVIVORS = {
    "threadIdx.x != 0) stages": "threads begin the barriers alike",
    "threadIdx.x == 1) stages": "another thread begins the barriers",
    "threadIdx.y == 0) stages": "all threads begin the barriers alike",
    "STAGES = 3": "another number of stages",
    "3 * STAGES": "room for barriers that nobody uses",
    "!= 0) arrive(before)": "254 arrivals end 127 phases, which is odd as one is",
    "== 1) arrive(before)": "another thread arrives",
    "before = 1": "nobody arrives there before it is set",
    "THREADS = 383": "one thread of the producer's fewer",
}
