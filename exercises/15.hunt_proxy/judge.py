"""Stores that a warpgroup's products must see."""

import numpy as np

from helpers.exercises.launches import In, Launch, Wrong, numbers, product

SIZES = 1, 2, 5


def drawn(rng):
    return int(rng.integers(3, 8)), int(rng.integers(11, 16))


def launch(rng, blocks):
    a, b = (numbers(rng, rows, 64).astype(np.float16) for rows in (64 * blocks, 64))
    out = product(a, np.ascontiguousarray(b.T))
    packed = [In(x.view(np.uint32)) for x in (a, b)]
    return Launch([*packed, out], blocks, 128, what=f"{blocks} blocks")


LARGE = (300,)
COUNTED = 4
BUDGET = {"ld.sectors": 2048, "lds.conflicts": 0}
LIMITS = {"barriers": 2}

STORED = "    show_stores();\n"
FENCED = f"{STORED}    __syncthreads();\n"
WRONG = {
    "as it was": Wrong("proxy", {STORED: ""}),
    "another fence": Wrong("proxy", {STORED: "    __threadfence();\n"}),
    "a fence of the block": Wrong("proxy", {STORED: "    __threadfence_block();\n"}),
    "shown by one thread": Wrong("proxy", {STORED: "    if (threadIdx.x == 0) show_stores();\n"}),
    "shown before the stores": Wrong("proxy", {STORED: "", "    for (int i = threadIdx.x; i < 64": f"{STORED}    for (int i = threadIdx.x; i < 64"}),
    "no barrier": Wrong("race|proxy|uninit", {FENCED: STORED}),
}  # fmt: skip

SURVIVORS = {
    "n >= 0": "what registers hold at first is not watched, and is 0 here",
    "64 + LINE": "along k the panel is not used",
    "63 * LINE": "along k the panel is not used",
    "65 * LINE": "along k the panel is not used",
}
