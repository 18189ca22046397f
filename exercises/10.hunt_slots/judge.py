"""Sums of halves, eight a thread."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = 2048, 8, 16, 248, 2056, 8168, 0


def launch(rng, n):
    a, b = numbers(rng, n, dtype="f2"), numbers(rng, n, dtype="f2")
    grid = blocks_for(n // 8)
    return Launch([In(a), In(b), Out(a + b, dtype=np.float16), np.int64(n)], grid, 256)


COUNTED = 1 << 16
BUDGET = {"ld.requests": 512, "st.requests": 256, "ld.sectors": 8192, "st.sectors": 4096}

LEFT, RIGHT = "slots[tid].element[k]", "slots[tid + 256].element[k]"
WRONG = {
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
    "minus": Wrong("values", {"__hadd(": "__hsub("}),
    "one at a time": Wrong(
        "counters",
        "long long i = blockIdx.x * 256LL + threadIdx.x;"
        " for (; i < n; i += 256LL * gridDim.x) out[i] = __hadd(a[i], b[i]);",
    ),
}
