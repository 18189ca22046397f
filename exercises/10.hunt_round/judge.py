"""Requantised int8: half away from zero, saturated. The scales are powers of 2, so halves are exact."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for

SCALES = (0.25, 1), (1.5, 0.5)
SIZES = [(n, scales) for n in (33, 256, 257, 1009, 0) for scales in SCALES]


def launch(rng, size):
    n, scales = size
    codes = rng.integers(-128, 128, n).astype(np.int8)
    codes[:2] = (-128, 127)[:n]
    value = codes.astype(float) * scales[0] / scales[1]
    rounded = np.trunc(value + np.copysign(0.5, value))
    out = Out(np.clip(rounded, -128, 127), dtype=np.int8)
    what = f"n = {n:,}, scale {scales[0]} to {scales[1]}"
    arguments = [In(codes), out, *map(np.float32, scales), np.int64(n)]
    return Launch(arguments, blocks_for(n), 256, what=what)


COUNTED = 1 << 14, SCALES[0]
BUDGET = {"ld.sectors": 512, "st.sectors": 512}

RIGHT = "fminf(fmaxf(roundf(value), -128.f), 127.f)"
WRONG = {
    "cut off": Wrong("values", {"roundf(value)": "truncf(value)"}),
    "half up": Wrong("values", {"roundf(value)": "floorf(value + 0.5f)"}),
    "half to even": Wrong("values", {"roundf(value)": "rintf(value)"}),
    "symmetric": Wrong("values", {"-128.f": "-127.f"}),
    "not held": Wrong("values", {RIGHT: "(int)roundf(value)"}),
    "held at the top only": Wrong("values", {RIGHT: "(int)fminf(roundf(value), 127.f)"}),
    "128 fits": Wrong("values", {RIGHT: "(int)fminf(fmaxf(roundf(value), -128.f), 128.f)"}),
    "zeros": Wrong("values", {RIGHT: "0"}),
}
