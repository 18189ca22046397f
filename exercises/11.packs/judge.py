"""im2col of a row, four columns per thread."""

import numpy as np

from helpers.exercises.launches import Far, In, Launch, Out, Wrong, blocks_for, numbers, planted

SIZES = 4, 8, 32, 36, 124, 128, 256, 1012, 0


def drawn(rng):
    return [4 * int(rng.integers(*span)) for span in ((9, 250), (2561, 5121))]


def columns(x):
    padded = np.pad(x, 1)
    return np.stack([padded[k : k + x.size] for k in range(3)])


def launch(rng, width):
    x = planted(rng, numbers(rng, width), np.inf, np.nan)
    out = Out(columns(x) if width else np.empty((3, 0), np.float32))
    arguments = [In(x), out, np.int64(width)]
    return Launch(arguments, blocks_for(width // 4), 256, what=f"a row of {width:,}")


def far(rng):
    """Three rows that have more elements than an int can count."""
    width = (1 << 31) + 960
    blocks = blocks_for(width // 4)
    first = (blocks - 1) * 1024
    x = numbers(rng, width - first + 1)
    made = columns(x)[:, 1:]
    expected = {k * width + first: made[k] for k in range(3)}
    out = Far(3 * width, "f4", expected=expected)
    arguments = [Far(width, "f4", {first - 1: x}), out, np.int64(width)]
    what = f"a row of {width:,}"
    return Launch(arguments, blocks, 256, what=what, blocks=[range(blocks - 1, blocks)])


def beside(launch, places, got):
    x = launch.arguments[0].values
    of = [place // x.size + place % x.size - 1 for place in places]
    return {"pixel": [x[n] if 0 <= n < x.size else 0 for n in of]}


SPARE = 128
LARGE = (280_000,)
COUNTED = 1 << 14
REQUESTS = 128  # of a load or store of the counted launch: warps
BUDGET = {
    "ld.requests": 6 * REQUESTS,
    "st.requests": 3 * REQUESTS,
    "st.sectors": 3 * (1 << 14) // 8,
    "ldl.sectors": 0,
}
LIMITS = {"ld.sectors": 1.2}

NEAR = "near[s] = 0 <= from && from < width ? x[from] : 0.f;"
PACK = "float4 pack = {near[k], near[k + 1], near[k + 2], near[k + 3]};"
INTO = "reinterpret_cast<float4 *>(out + k * width)[w / 4] = pack;"
WRONG = {
    "twelve loads": Wrong(
        "requests|counters",
        {
            PACK: "float4 pack; float *of = &pack.x; for (int p = 0; p < 4; ++p)"
            " { int from = w + p + k - 1; of[p] = 0 <= from && from < width"
            " ? *(volatile const float *)(x + from) : 0.f; }"
        },
    ),
    "twelve stores": Wrong(
        "requests|counters",
        {INTO: "for (int p = 0; p < 4; ++p) out[k * width + w + p] = near[k + p];"},
    ),
    "without the padding": Wrong("values|out of bounds", {"from = w + s - 1": "from = w + s"}),
    "no test on the left": Wrong("out of bounds", {"0 <= from && ": ""}),
    "no test on the right": Wrong("out of bounds", {" && from < width": ""}),
    "the nearest pixel at the edges": Wrong(
        "values", {NEAR: "near[s] = x[min(max(from, 0LL), width - 1)];"}
    ),
    "the first pack three times": Wrong(
        "values", {PACK: "float4 pack = {near[0], near[1], near[2], near[3]};"}
    ),
    "rows swapped": Wrong("values", {PACK: PACK.replace("near[k", "near[2 - k")}),
    "no guard": Wrong("out of bounds", {"    if (w >= width) return;\n": ""}),
    "places in 32 bits": Wrong("2,147", {"long long from = w + s - 1": "int from = w + s - 1"}),
}
