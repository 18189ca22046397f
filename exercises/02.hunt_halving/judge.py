"""Totals of blocks, folded in global memory."""

from helpers import checks
from helpers.exercises.launches import Launch, Out, Wrong, numbers, totals

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


COUNTED = 1 << 12
BUDGET = {"ld.sectors": 1104, "barriers": 1024}

LEVEL = "if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];"
WRONG = {
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
    "zeros": Wrong("values", {"= own[0]": "= 0"}),
    "one level too few": Wrong("values", {"half > 0": "half > 1"}),
    "a fence for a barrier": Wrong("race", {"__syncthreads()": "__threadfence()"}),
}

SURVIVORS = {
    "threadIdx.x == 1": "another thread writes the same, after the same barrier",
}
