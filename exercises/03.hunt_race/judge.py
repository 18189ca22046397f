"""Totals of blocks, with a barrier between any two levels of the tree."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    Far,
    In,
    Launch,
    Wrong,
    blocks_for,
    far_launch,
    far_numbers,
    far_totals,
    numbers,
    totals,
)


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), totals(x), np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x = far_numbers(rng)
    expected = far_totals(x, lambda v: totals(v).expected)
    tolerance = max(totals(v).tolerance.max() for v in x.pieces.values())
    out = Far(2**25, np.float32, expected=expected, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)])


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "lds.conflicts": 0, "lds.wavefronts": (1600, 2432)}
BUDGET |= {"barriers": (1536, 3584), "st.requests": 64}  # two a level of the block are right, too
WITHOUT = {r"\b(membar|fence)\b": "Threads of a block need a barrier, no fence."}

LEVEL = "if (tid < half) s[tid] += s[tid + half];\n        __syncthreads();"
LAST = "if (tid < half) s[tid] += s[tid + half];\n            __syncwarp();"
WRONG = {
    "a fence as well": Wrong(
        "membar|fence", {"__syncthreads();": "__threadfence(); __syncthreads();"}
    ),
    "a block's barrier at every level": Wrong(
        "barriers", {"half > 32": "half > 0", "if (tid < 32)": "if (false)"}
    ),
    "volatile": Wrong(
        "syncwarp|race",
        {
            "__shared__ float s": "volatile __shared__ float s",
            "__syncwarp();": "",
        },
    ),
    "no barrier at all": Wrong("race", {LEVEL: "if (tid < half) s[tid] += s[tid + half];"}),
    "none in the last warp": Wrong("syncwarp|race", {"__syncwarp();": ""}),
    "all lanes at every level": Wrong(
        "syncwarp|race", {LAST: "s[tid] += s[tid + half];\n            __syncwarp();"}
    ),
    "a warp's barrier for warps": Wrong("race", {LEVEL: LEVEL.replace("threads", "warp")}),
    "a block's barrier in the last warp": Wrong("divergent", {"__syncwarp()": "__syncthreads()"}),
    "a barrier in the if": Wrong(
        "divergent", {LEVEL: "if (tid < half) { s[tid] += s[tid + half]; __syncthreads(); }"}
    ),
    "the last level left out": Wrong("values", {"half > 0;": "half > 1;"}),
    "zeros": Wrong("values", {"= s[0];": "= 0;"}),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "waits for a race to end well": Wrong(
        "instructions",
        {LEVEL: f"for (long long t = clock64(); clock64() - t < 2000;);\n        {LEVEL}"},
    ),
    "one thread adds": Wrong(
        "wavefronts",
        {
            "for (int half = 128; half > 32; half /= 2) {": "if (tid == 0) for (int k = 1; k < 256; ++k)"
            " s[0] += s[k]; for (int half = 0; half > 32; half /= 2) {",
            "half = 32;": "half = 0;",
        },
    ),
    "a sleep": Wrong("nanosleep", {LEVEL: f"__nanosleep(1000); {LEVEL}"}),
    "atomics on shared memory": Wrong(
        "atomics", {"s[tid] += s[tid + half]": "atomicAdd(s + tid, s[tid + half])"}
    ),
    "the first block's total": Wrong("values", {"blockIdx.x * (long long)blockDim.x + tid": "tid"}),
    "no guard": Wrong("out of bounds", {"i < n ? x[i] : 0.f": "x[i]"}),
}

SURVIVORS = {
    "tid == 1": "another thread writes the same, after the same barrier",
}
