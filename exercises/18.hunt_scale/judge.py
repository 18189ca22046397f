"""A product of 4-bit weights that takes the scale of the wrong block."""

import numpy as np

from helpers.blocks import from_nvfp4
from helpers.exercises.for_judges import *

ONE = 0x38  # of an e4m3


def drawn(rng):
    return [(int(rng.integers(89, 140)), 32 * int(rng.integers(1, 20))) for _ in range(2)]


def weights(codes, scales):
    """The numbers that codes and their blocks' scales stand for."""
    ones = np.full(scales.shape, ONE, np.uint8)
    return from_nvfp4(codes, ones) * scales.repeat(16, -1)


def launch(rng, size):
    n, k = size
    codes = rng.integers(0, 256, (n, k // 2), np.uint8)
    scales, x = np.exp(numbers(rng, n, k // 16)), numbers(rng, k)
    if k >= 1 << 15:  # a sum of one sign, whose every part shows beside its roundings
        codes, x = codes & 0x77, np.abs(x)
    return thin([In(codes), In(scales), In(x)], weights(codes, scales), x)


def explain(launch, out, got):
    codes, scales, x = (a.values for a in launch.arguments[:3])
    with np.errstate(all="ignore"):
        for of_blocks, words in (
            (scales[:, ::2].repeat(2, 1), "32 weights are two blocks: the second one has its own"
             " scale."),
            (scales[:, 1::2].repeat(2, 1), "32 weights are two blocks: the first one has its own"
             " scale."),
            (np.tile(scales[:1], (len(scales), 1)), "Each row has scales of its own."),
        ):  # fmt: skip
            made = weights(codes, of_blocks) @ x
            known = np.isfinite(made) & np.isfinite(got)
            if known.any() and np.allclose(made[known], got[known], 1e-3, 1e-4):
                return words
    if codes.shape[1] == 16:
        plain = weights(codes, np.ones_like(scales))
        return scales_taken(plain, scales, x.astype(float), got, out.tolerance)
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 32), (7, 1056), (9, 1024), (33, 96), (100, 32), (5, 0)),
    drawn=drawn,
    large=((33_000, 32), (1, 40_000)),
    far=lambda rng: far_rows(launch(rng, (24, 1024)), 4_310_001, 8),
    undefined={"inf": "an infinite scale may be multiplied by a sum, or by each product"},
    counted=(64, 1024),
    budget={},
    limits=None,
    explain=explain,
    survivors={
        "% 32 != 0": "all lanes have the sum",
        "% 32 == 1": "all lanes have the sum",
        "% 31 == 0": "all lanes have the sum",
        "% 33 == 0": "all lanes have the sum",
        "threadIdx.y % 32 == 0": "all lanes have the sum",
    },
)
