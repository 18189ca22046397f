"""Tiles that are copied while others are added, waited for by groups."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (2, 2), (1, 3), (2, 7), (1, 4)


def drawn(rng):
    return rng.integers(((2, 5), (11, 2)), ((4, 12), (14, 5))).tolist()


def launch(rng, size):
    blocks, tiles = size
    x = numbers(rng, blocks, tiles, 128)
    sums = x[:, :, ::-1].sum(1, dtype=float)
    out = Out(sums, checks.gamma(tiles, np.float32) * np.abs(x[:, :, ::-1]).sum(1, dtype=float))
    what = f"{blocks} x {tiles} tiles"
    return Launch([In(x), out, np.int32(tiles)], blocks, 128, what=what)


LARGE = ((3, 300),)
COUNTED = 4, 12
BUDGET = {"ld.sectors": (768, 800)}
LIMITS = None
PACE = 1.2  # one tile under way, or none, takes 1.4 times as long
WITH = {r"cp\.async\.c[ag]": "Copy the tiles asynchronously."}

WAIT = "wait_for_groups<STAGES - 2>();"
NEXT = "if (tile + STAGES - 1 < tiles) fetch(tile + STAGES - 1);\n        close_group();"
WRONG = {
    "one group too early": Wrong("race", {WAIT: "wait_for_groups<STAGES - 1>();"}),
    "no wait": Wrong("race", {WAIT: ""}),
    "waits for all": Wrong("clock", {WAIT: "wait_for_groups<0>();"}),
    "the barrier before the wait": Wrong(
        "race", {f"{WAIT}\n        __syncthreads();": f"__syncthreads();\n        {WAIT}"}
    ),
    "no barrier": Wrong("race", {f"{WAIT}\n        __syncthreads();": WAIT}),
    "no group at the end": Wrong(
        "race", {NEXT: "if (tile + STAGES - 1 < tiles) { fetch(tile + STAGES - 1); close_group(); }"}
    ),
    "no group at the beginning": Wrong(
        "race", {"if (tile < tiles) fetch(tile);\n        close_group();": "if (tile < tiles) fetch(tile);"}
    ),
    "a tile that is still read": Wrong(
        "out of bounds|race|values", {"fetch(tile + STAGES - 1);": "fetch(tile + STAGES);"}
    ),
    "the last tile left out": Wrong("values", {"for (int tile = 0; tile < tiles; ++tile) {\n        wait": "for (int tile = 0; tile + 1 < tiles; ++tile) {\n        wait"}),
    "an empty group beside each": Wrong("clock|race", {"close_group();\n        sum": "close_group();\n        close_group();\n        sum", WAIT: "wait_for_groups<1>();"}),
    "x itself is read": Wrong("counters", {"room[tile % STAGES][TILE - 1 - t]": "x[tile * TILE + TILE - 1 - t]"}),
    "nothing is copied": Wrong("text|race|values|uninit", {"copy_async(": "sizeof("}),
}  # fmt: skip

SURVIVORS = {
    "STAGES = 4": "room for one tile more, of which three are under way",
}
