"""A bias for each channel of NCHW."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (1, 1, 1), (2, 3, 7), (3, 5, 33), (1, 31, 9), (4, 1, 25), (2, 3, 257)


def launch(rng, size):
    n, channels, inner = size
    x, bias = numbers(rng, *size), numbers(rng, channels)
    out = Out(x + bias[:, None])
    arguments = [In(x), In(bias), out, np.int64(x.size), np.int64(channels), np.int64(inner)]
    return Launch(arguments, blocks_for(x.size), 256, what=f"{n} x {channels} x {inner}")


COUNTED = 4, 8, 1024
BUDGET = {"ld.sectors": 5120, "st.sectors": 4096}

WRONG = {
    "no bias": Wrong("values", {" + bias[i / inner % channels]": ""}),
    "channels last": Wrong("values", {"i / inner % channels": "i % channels"}),
    "one image": Wrong("out of bounds", {"i / inner % channels": "i / inner"}),
    "by place": Wrong("values|out of bounds", {"i / inner % channels": "i % inner"}),
    "the first channel's": Wrong("values", {"bias[i / inner % channels]": "bias[0]"}),
    "no guard": Wrong("out of bounds", {"if (i < count) ": ""}),
    "times": Wrong("values", {"x[i] + bias": "x[i] * bias"}),
    "reads its own output": Wrong("values|uninit", {"x[i] + bias": "out[i] + bias"}),
}
