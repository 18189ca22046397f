"""A product of a matrix in NVFP4 and one vector, by bytes and error."""

from dataclasses import replace

import numpy as np

from helpers.blocks import from_nvfp4
from helpers.exercises.for_judges import *

ONE = 0x38  # of an e4m3


def drawn(rng):
    return [(int(rng.integers(89, 140)), 32 * int(rng.integers(1, 20))) for _ in range(2)]


def launch(rng, size, block, rows):
    n, k = size
    codes = rng.integers(0, 256, (n, k // 2), np.uint8)
    scales = rng.integers(0x18, 0x78, (n, k // 16), np.uint8)
    x, whole = numbers(rng, k, dtype=np.float16), np.float32(10 ** rng.uniform(-4, 0))
    if k >= 1 << 15:  # a sum of one sign, whose every part shows beside its roundings
        codes, x = codes & 0x77, np.abs(x)
    made = thin([In(codes), In(scales), In(x)], from_nvfp4(codes, scales, whole), x)
    arguments = [*made.arguments[:4], whole, *made.arguments[4:]]
    return replace(made, arguments=arguments, grid=-(-n // (block // 32 * rows)), block=block)


def explain(launch, out, got):
    codes, scales, x, whole = (
        getattr(a, "values", a) for a in launch.arguments[:5] if a is not out
    )
    n, wide = scales.shape
    within = np.asarray(out.tolerance)
    plain = from_nvfp4(codes, np.full_like(scales, ONE))
    if wide == 2:
        ones = from_nvfp4(np.full((n, 16), 0x22, np.uint8), scales)[:, ::16]
        if told := scales_taken(plain, ones, x.astype(float), got / whole, within / whole):
            return told
    by_bytes = plain * scales.repeat(16, 1) @ x.astype(float)
    if n > 3 and np.allclose(by_bytes * whole, got, 1e-3, 0):
        return "A scale is a byte of an e4m3: NVFP4::scale makes a float of it."
    wrong = ~(np.abs(got - out.expected) <= within)
    return in_common(got, out, wrong, [In(from_nvfp4(codes, scales)), In(x), whole]) or None


def far(rng, block, rows):
    return far_rows(launch(rng, (24, 1024), block, rows), 4_310_001, block // 32 * rows)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 32), (7, 1056), (9, 1024), (33, 96), (64, 64), (100, 32), (5, 0)),
    drawn=drawn,
    large=((33_000, 32), (1, 40_000)),
    far=far,
    choices=("BLOCK", "ROWS"),
    explain=explain,
    counted=(64, 2048),
    budget={"ld.sectors": (2048 + 256 + 16 * 256, 8000), "st.sectors": 64},
    limits={"barriers": None, "instructions": 2},
    survivors={
        "% 32 != 0 &&": "all lanes have the sum",
        "% 32 == 1 &&": "all lanes have the sum",
        "% 31 == 0": "all lanes have the sum",
        "% 33 == 0": "all lanes have the sum",
        "threadIdx.y % 32 == 0": "all lanes have the sum",
        "ROWS = 5": "another design that the bytes allow",
    },
)
