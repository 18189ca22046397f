"""The tree of halves in shared memory: a step of the course."""

import numpy as np

from helpers.exercises.launches import Far, In, Launch, Out, Wrong, blocks_for, numbers, totals

OURS = "reduce/shared.cu"


def launch(rng, size):
    n, threads = size if isinstance(size, tuple) else (size, 256)
    x, blocks = numbers(rng, n), blocks_for(n, threads)
    what = f"n = {n:,}, blocks of {threads}"
    arguments = [In(x), totals(x, threads), np.int64(n)]
    return Launch(arguments, blocks, threads, 4 * threads, "" if threads == 256 else what)


OPERATOR = "using Op = Max<Acc>;"


def operated(rng):
    n = 1009
    x = -1 - np.abs(numbers(rng, n))
    rows = np.full(256 * blocks_for(n), -np.inf, np.float32)
    rows[:n] = x
    out = Out(rows.reshape(-1, 256).max(1))
    return Launch([In(x), out, np.int64(n)], blocks_for(n), 256, shared=1024)


def far(rng):
    n, x = 2**31 + 77, numbers(rng, 77)
    out = Far(2**23 + 1, np.float32, {}, {2**23: totals(x).expected}, totals(x).tolerance)
    arguments = [Far(n, np.float32, {2**31: x}), out, np.int64(n)]
    return Launch(arguments, 2**23 + 1, 256, shared=1024, blocks=[range(2**23, 2**23 + 1)])


LARGE = (1009, 64), (3000, 1024)
COUNTED = 1 << 14
BUDGET = {"lds.wavefronts": 64 * 25, "lds.conflicts": 0, "sts.conflicts": 0, "barriers": 64 * 8 * 9}

LEVELS = """\
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half) s[tid] = op(s[tid], s[tid + half]);
        __syncthreads();
    }
"""
FOLD = "if (tid < half) s[tid] = op(s[tid], s[tid + half]);\n        __syncthreads();"
WRONG = {
    "no barrier": Wrong("race", {"        __syncthreads();\n    }": "    }"}),
    "a barrier in the if": Wrong(
        "barrier",
        {FOLD: "if (tid < half) { s[tid] = op(s[tid], s[tid + half]); __syncthreads(); }"},
    ),
    "a sum, whatever op is": Wrong(
        "operator", {"s[tid] = op(s[tid], s[tid + half])": "s[tid] += s[tid + half]"}
    ),
    "a level short": Wrong("values", {"half > 0": "half > 1"}),
    "blocks of 256 only": Wrong("blocks of", {"half = blockDim.x / 2;": "half = 128;"}),
    "all threads fold": Wrong("race|out of bounds", {"if (tid < half) ": ""}),
    "thread 0 alone": Wrong(
        "counters",
        {LEVELS: "if (tid == 0) for (int k = 1; k < blockDim.x; ++k) s[0] = op(s[0], s[k]);\n"},
    ),
    "neighbours": Wrong(
        "conflicts",
        {
            "half = blockDim.x / 2; half > 0; half /= 2": "half = 1; half < blockDim.x; half *= 2",
            "if (tid < half) s[tid] = op(s[tid], s[tid + half]);": "int at = 2 * half * tid; if (at < blockDim.x) s[at] = op(s[at], s[at + half]);",
        },
    ),
}

SURVIVORS = {
    "tid == 1": "another thread writes the same, after the same barrier",
}
