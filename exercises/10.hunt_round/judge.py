"""Requantised int8: half away from zero, saturated. Halves are exact, or far enough off."""

import numpy as np

from helpers.exercises.for_judges import *

SCALES = (0.25, 1), (1.5, 0.5), (0.5005, 1), (0.49995, 1), (3, 1e-8), (1000, 1)


def drawn(rng):
    return [(int(n), rng.uniform(0.01, 0.2, 2)) for n in rng.integers((34, 2561), (1000, 5000))]


def codes_of(rng, n, scales):
    """Codes, and what becomes of them."""
    codes = rng.integers(-128, 128, n).astype(np.int8)
    codes[:2] = (-128, 127)[:n]
    past = np.abs(codes * scales[0] / scales[1]) % 1 - 0.5
    codes[(past != 0) & (np.abs(past) < 1e-4)] = 0
    value = codes * scales[0] / scales[1]
    return codes, np.clip(np.trunc(value + np.copysign(0.5, value)), -128, 127)


def launch(rng, size):
    n, scales = size[0], np.array(size[1], "f4")
    codes, right = codes_of(rng, n, scales.astype(float))
    what = f"n = {n:,}, scale {scales[0]:.6g} to {scales[1]:.6g}"
    arguments = [In(codes), Out(right, dtype=np.int8), *scales, np.int64(n)]
    return Launch(arguments, blocks_for(n), 256, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=(*((n, scales) for n in (33, 257) for scales in SCALES), (1009, SCALES[0]), (0, (1, 1))),
    drawn=drawn,
    far=lambda rng: far_elements(launch(rng, (512 + 77, SCALES[0])), (1 << 32) + 77),
    spare=128,
    counted=(1 << 14, SCALES[0]),
    budget={"ld.sectors": 512, "st.sectors": 512},
    inputs=same_place,
)
