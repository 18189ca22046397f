"""Bytes plus a number, held within 0 and 255."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for


def launch(rng, n):
    pixels = rng.integers(0, 256, n, np.uint8)
    more = np.int32(rng.choice([-300, -100, 100, 300]))
    expected = np.clip(pixels.astype(int) + more, 0, 255).astype(np.uint8)
    arguments = [In(pixels), Out(expected, dtype=np.uint8), more, np.int64(n)]
    return Launch(arguments, grid=blocks_for(n), block=256, what=f"n = {n:,}, more = {more}")


COUNTED = 1 << 16
BUDGET = {"ld.sectors": 2048, "st.sectors": 2048}

WRONG = {
    "zeros": Wrong("values", {"min(max(pixels[i] + more, 0), 255)": "0"}),
    "overflow": Wrong("values", {"min(max(pixels[i] + more, 0), 255)": "pixels[i] + more"}),
    "white only": Wrong(
        "values", {"min(max(pixels[i] + more, 0), 255)": "min(pixels[i] + more, 255)"}
    ),
    "black only": Wrong(
        "values", {"min(max(pixels[i] + more, 0), 255)": "max(pixels[i] + more, 0)"}
    ),
    "added as bytes": Wrong(
        "values", {"pixels[i] + more": "(unsigned char)(pixels[i] + (unsigned char)more)"}
    ),
    "one too dark": Wrong("values", {"255": "254"}),
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
    "reads its own output": Wrong("uninitialised|values", {"pixels[i] + more": "out[i] + more"}),
}
