"""Totals of blocks, folded in global memory."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    Far,
    Launch,
    Out,
    Wrong,
    numbers,
    totals,
)

SIZES = 256, 512, 1024


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([Out(_folded(x), checks.sum_tolerance(x), initial=x), totals(x)], n // 256, 256)


def _folded(x):
    """What a tree of halves leaves in place of x, in the order of its additions."""
    rows = x.reshape(-1, 256).copy()
    half = 128
    while half:
        rows[:, :half] += rows[:, half : 2 * half]
        half //= 2
    return rows.ravel()


def far(rng):
    x, block = numbers(rng, 256), 2**32 // 256
    total, left = totals(x), _folded(x)
    tolerance = float(checks.sum_tolerance(x))
    own = Far(2**32 + 256, np.float32, {2**32: x}, {2**32: left}, tolerance)
    out = Far(block + 1, np.float32, expected={block: total.expected}, tolerance=tolerance)
    some = [range(block, block + 1)]
    return Launch([own, out], block + 1, 256, what=f"n = {2**32 + 256:,}", blocks=some)


COUNTED = 1 << 12
BUDGET = {"ld.sectors": (1104, 1380), "barriers": (1024, 1280), "st.requests": (208, 240)}
WITHOUT = {r"\b(membar|fence)\b": "Threads of a block need a barrier, no fence."}

LEVEL = "if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];"
WRONG = {
    "a fence as well": Wrong(
        "membar|fence", {"__syncthreads();": "__threadfence(); __syncthreads();"}
    ),
    "no barrier": Wrong("race", {"        __syncthreads();\n": ""}),
    "for warps only": Wrong("race", {"__syncthreads()": "__syncwarp()"}),
    "for the first threads only": Wrong(
        "divergent", {"__syncthreads()": "if (threadIdx.x < 128) __syncthreads()"}
    ),
    "a barrier in the if": Wrong(
        "divergent|race",
        {
            LEVEL: "if (threadIdx.x < half) { own[threadIdx.x] += own[threadIdx.x + half]; __syncthreads(); }",
            "        __syncthreads();\n    }": "    }",
        },
    ),
    "an int": Wrong(
        "fault|values|sanitizer|launch",
        {"x + blockIdx.x * (long long)blockDim.x": "x + (int)(blockIdx.x * blockDim.x)"},
    ),
    "an unsigned int": Wrong("values", {"(long long)": ""}),
    "fetched by atomics": Wrong(
        "atomics", {"+= own[threadIdx.x + half]": "+= atomicAdd(own + threadIdx.x + half, 0.f)"}
    ),
    "two barriers": Wrong("barriers", {"__syncthreads();": "__syncthreads(); __syncthreads();"}),
    "ten barriers": Wrong(
        "barriers", {"__syncthreads();": "for (int k = 0; k < 10; ++k) __syncthreads();"}
    ),
    "zeros": Wrong("values", {"= own[0]": "= 0"}),
    "one level too few": Wrong("values", {"half > 0": "half > 1"}),
    "a fence for a barrier": Wrong("race|membar", {"__syncthreads()": "__threadfence()"}),
}

SURVIVORS = {
    "threadIdx.x == 1": "another thread writes the same, after the same barrier",
}
