"""out = 2 x, an element a thread."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([In(x), Out(2 * x), np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "st.sectors": 8192}

ALL = "for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * x[i];"
WRONG = {
    "zeros": Wrong("values", {"2 * x[i]": "0"}),
    "nothing written": Wrong("values", {"out[i] = 2 * x[i]": "return"}),
    "yesterday's output": Wrong("values", {"2 * x[i]": "out[i]"}),
    "element 0 only": Wrong("values", {"i < n": "i == 0 && n"}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
    "whole blocks only": Wrong("values", {"i < n": "i < n / 256 * 256"}),
    "the first block only": Wrong("values", {"blockIdx.x * (long long)blockDim.x + ": ""}),
    "adds in place of doubling": Wrong("values", {"2 * x[i]": "2 + x[i]"}),
    "in place": Wrong("sanitizer|inputs|values", {"out[i] = 2 * x[i]": "((float *)x)[i] *= 2"}),
    "one block does all": Wrong("counters: one of 256", f"if (blockIdx.x == 0) {ALL}"),
    "every block does all": Wrong("double write|counters", ALL),
    "strided": Wrong(
        "counters: sectors",
        "long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x,"
        " all = gridDim.x * (long long)blockDim.x, i = t % 256 * (all / 256) + t / 256;"
        " if (i < n) out[i] = 2 * x[i];",
    ),
}
