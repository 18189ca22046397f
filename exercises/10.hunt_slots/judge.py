"""Sums of halves, eight a thread."""

import numpy as np

from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    elementwise,
    near,
    numbers,
    pieces,
    planted,
)

SIZES = 2048, 8, 16, 248, 2056, 8168, 0


def drawn(rng):
    return (8 * rng.integers((9, 2561), (120, 4000))).tolist()


def halves(rng, n):
    return (numbers(rng, n) * 2 ** rng.uniform(-20, 12, n)).astype("f2")


def launch(rng, n):
    a, b = planted(rng, halves(rng, n), np.inf, np.nan), halves(rng, n)
    grid = blocks_for(n // 8)
    return Launch([In(a), In(b), Out(a + b, dtype=np.float16), np.int64(n)], grid, 256)


def far(rng):
    n = (1 << 32) + 72
    blocks, i = near(n, n - 1, block=8 * 256)
    a, b = halves(rng, i.size), halves(rng, i.size)
    read = [Far(n, "f2", pieces(i, values)) for values in (a, b)]
    out = Far(n, "f2", expected=pieces(i, a + b))
    arguments = [*read, out, np.int64(n)]
    return Launch(arguments, blocks_for(n, 8 * 256), 256, what=f"n = {n:,}", blocks=blocks)


inputs = elementwise
ADVICE = {
    "race": "These are two threads and one slot: whose is it? Let each add the halves of its own."
}
COUNTED = 1 << 16
BUDGET = {"ld.requests": 512, "st.requests": 256, "ld.sectors": 8192, "st.sectors": 4096}
LIMITS = {"barriers": (2 * 256,)}  # threads may add what others loaded, after a barrier

LEFT, RIGHT = "slots[tid].element[k]", "slots[tid + 256].element[k]"
WRONG = {
    "more shared memory than is needed": Wrong(
        "bytes of shared", {"__shared__ Eight slots[512];": "__shared__ Eight slots[3000];"}
    ),
    "slots that overlap": Wrong(
        "race",
        {
            f"for (int k = 0; k < 8; ++k)\n        {LEFT} = __hadd({LEFT}, {RIGHT});": "half *element = slots[0].element;"
            " element[tid] = __hadd(element[tid], element[tid + 256]);"
        },
    ),
    "one of eight": Wrong("values", {"k < 8": "k < 1"}),
    "seven of eight": Wrong("values", {"k < 8": "k < 7"}),
    "twice a": Wrong("values", {RIGHT: LEFT}),
    "a slot further": Wrong(
        "uninit|values|race|out of bounds",
        {"slots[tid + 256].element[k])": "slots[tid + 255].element[k])"},
    ),
    "no guard": Wrong("out of bounds", {"if (i >= n / 8) return;": ""}),
    "a thousandth more of b": Wrong(
        "values", {f"__hadd({LEFT}, {RIGHT})": f"half(float({LEFT}) + float({RIGHT}) * 1.001f)"}
    ),
    "places in 32 bits": Wrong(
        "n = 4,294,967", {"<Eight *>(out)[i]": "<Eight *>(out + unsigned(8 * i))[0]"}
    ),
    "atomics for stores": Wrong(
        "counters",
        {
            "reinterpret_cast<Eight *>(out)[i] = slots[tid];": "for (int k = 0; k < 4; ++k) atomicExch((unsigned *)out + 4 * i + k, ((unsigned *)&slots[tid])[k]);"
        },
    ),
    "minus": Wrong("values", {"__hadd(": "__hsub("}),
    "one at a time": Wrong(
        "counters",
        "long long i = blockIdx.x * 256LL + threadIdx.x;"
        " for (; i < n; i += 256LL * gridDim.x) out[i] = __hadd(a[i], b[i]);",
    ),
}
