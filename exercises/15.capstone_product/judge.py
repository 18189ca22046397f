"""A product by boxes and warpgroups, of the learner's own design."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.launches import Boxes, Far, In, Launch, Rate, Wrong, numbers, pieces, product

SIZES = (1, 1, 8), (64, 64, 64), (65, 63, 72), (64, 130, 200), (100, 33, 320)
CHOICES = ("THREADS",)


def drawn(rng):
    """Few columns and many steps; many columns."""
    m, n, k = (int(x) for x in rng.integers((30, 30, 60), (100, 100, 80)))
    return (m, n, 8 * k), (2 * m, 2 * n, k - k % 8)


def launch(rng, size, threads):
    m, n, k = size
    a, b = (numbers(rng, 1, rows, k).astype(np.float16) for rows in (m, n))
    return _launch(a, b, product(a[0], np.ascontiguousarray(b[0].T)), threads)


def _launch(a, b, c, threads, **more):
    (_, m, k), (_, n, _) = a.shape, b.shape
    box = partial(tensormap.tiled, box=(1, 64, 64), swizzle=128)
    arguments = [Boxes([(In(a), box), (In(b), box)]), c, *map(np.int32, (m, n, k))]
    what = f"{m:,} x {k} times {k} x {n:,}"
    return Launch(arguments, (-(-n // 64), -(-m // 64)), threads, what=what, **more)


def far(rng, threads):
    """The last block of a c that has more elements than 32 bits can count."""
    n = 64 * 1025
    a, b = (numbers(rng, 1, n, 8).astype(np.float16) for _ in "ab")
    out = product(a[0, -64:], np.ascontiguousarray(b[0, -64:].T))
    places = np.arange(n - 64, n)[:, None] * n + np.arange(n - 64, n)
    expected = pieces(places.ravel(), out.expected.astype(np.float32).ravel())
    c = Far(n * n, np.float32, {}, expected, np.max(out.tolerance))
    return _launch(a, b, c, threads, blocks=[range(1025**2 - 1, 1025**2)])


LARGE = ((70, 66, 4096),)
COUNTED = 256, 256, 256
RATE = Rate((256, 256, 4096), 0, {"cuBLAS": "gemm 4096 b transposed float16"})
BUDGET = {"ld.sectors": 0, "hmma": 1024}
LIMITS = {"instructions": None, "barriers": 4}  # of who waits
SHARED_BYTES = 49_152
EXPOSED = (
    262_144,  # of each block the first step
    393_216,
    "While one stage is multiplied, let the other be copied: wait only for the stage that is to be"
    " overwritten.",
)
IDEA = {
    "shared": (
        32_768,
        "Two stages of two tiles, 64 lines of 128 bytes each: one is copied meanwhile.",
    )
}
EVEN = False

WAIT = "        wait_for(full + stage * 8, step / STAGES % 2);\n"
WRONG = {
    "nobody waits for the box": Wrong("race|uninit", {WAIT: ""}),
    "nobody waits for the products": Wrong("race|unfinished", {"        wait_for_products<0>();\n": ""}),
    "the stage is not waited for": Wrong("race|fault|launch", {"            wait_for(empty + stage * 8, parity ^ 1);\n": ""}),
    "empty too early": Wrong("race", {"        wait_for_products<0>();\n        asm volatile(\"bar.sync 1, 128;\");  // of this warpgroup\n        if (threadIdx.x == 0) arrive(empty + stage * 8);\n": "        if (threadIdx.x == 0) arrive(empty + stage * 8);\n        wait_for_products<0>();\n"}),
    "one stage at a time": Wrong("boxes that come", {"wait_for(empty + stage * 8, parity ^ 1)": "if (step > 0) wait_for(empty + (step - 1) % STAGES * 8, (step - 1) / STAGES % 2)"}),
    "the other stage is told to be empty": Wrong("boxes that come", {"arrive(empty + stage * 8)": "arrive(empty + (stage ^ 1) * 8)"}),
    "places of c in 32 bits": Wrong("65,600", {"(long long)r * n": "unsigned(r * n)"}),
    "half of the bytes": Wrong("race|fault|launch", {"expect_bytes(full + stage * 8, 2 * TILE)": "expect_bytes(full + stage * 8, TILE)"}),
    "the last 64 are left out": Wrong("values", {"steps = (k + DEEP - 1) / DEEP": "steps = max(1, k / DEEP)"}),
    "a and b swapped": Wrong("values", {"maps.of[0], step * DEEP, top": "maps.of[1], step * DEEP, top", "maps.of[1], step * DEEP, left": "maps.of[0], step * DEEP, left"}),
    "no guard": Wrong("out of bounds|race|double|values", {"if (r < m && column < n) ": ""}),
    "one product of four": Wrong("values", {"i < LINE / STEP; ++i": "i < 1; ++i"}),
    "another column": Wrong("values", {"i / 4 * 8": "i / 8 * 8"}),
    "one stage": Wrong("shared", {"STAGES = 2": "STAGES = 1"}),
    "three parities": Wrong("race|fault|values|time", {"parity = step / STAGES % 2": "parity = step / STAGES % 3"}),
    "by plain loads": Wrong("values|sectors|products|counters", "for (int i = threadIdx.x; i < 4096; i += blockDim.x) { int r = blockIdx.y * 64 + i / 64, s = blockIdx.x * 64 + i % 64; if (r < m && s < n) c[(long long)r * n + s] = r * s; }"),
}  # fmt: skip

SURVIVORS = {
    "step <= steps": "a step more, which nobody multiplies",
    "if (threadIdx.x != 0) {": "threads begin the barriers alike",
    "if (threadIdx.x != 0) arrive": "127 arrivals end 127 phases, which is odd as one is",
    "threadIdx.x == 1": "another thread",
    "threadIdx.y == 0": "all threads begin the barriers alike",
    "3 * STAGES": "room for barriers that nobody uses",
    "DEEP - 2": "k is a multiple of 8",
    "bar.sync 2": "another barrier",
}
