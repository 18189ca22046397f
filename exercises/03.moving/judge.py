"""Means of five neighbours through shared memory."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    padded = np.pad(x, 2).astype(float)
    windows = np.stack([padded[k : k + n] for k in range(5)]) if n else np.zeros((5, 0))
    sizes = np.abs(windows).sum(0) / 5
    out = Out(windows.sum(0) / 5, checks.gamma(6, np.float32) * sizes)
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": (2174, 2304), "st.sectors": 2048}

WRONG = {
    "five loads": Wrong(
        "sectors loaded",
        "long long i = blockIdx.x * 256LL + threadIdx.x; float sum = 0;"
        " for (int k = -2; k < 3; ++k) sum += at(x, i + k, n); if (i < n) out[i] = sum / 5;",
    ),
    "no barrier": Wrong("race|syncwarp", {"    __syncthreads();\n": ""}),
    "no neighbours past the block": Wrong(
        "uninitialised|values",
        {"if (t < 2) s[t] = at(x, first + t - 2, n);\n    else if (t < 4)": "if (t >= 2 && t < 4)"},
    ),
    "zeros past the block": Wrong("values", {"at(x, first + t + 254, n)": "0"}),
    "one off": Wrong("values|out of bounds|uninitialised", {"s[t + k]": "s[t + k + 1]"}),
    "not divided": Wrong("values", {"sum / 5": "sum"}),
    "four of five": Wrong("values", {"k < 5": "k < 4"}),
    "no guard": Wrong("out of bounds", {"if (first + t < n) out": "out"}),
    "no ends": Wrong("out of bounds", {"0 <= i && i < n ? x[i] : 0.f": "x[i]"}),
}
