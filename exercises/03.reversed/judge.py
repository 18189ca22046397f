"""Stretches of 256 turned around through shared memory."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    turned = [x[k : k + 256][::-1] for k in range(0, n, 256)]
    out = Out(np.concatenate([*turned, x[:0]]))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "st.sectors": 2048, "lds.wavefronts": 512, "sts.wavefronts": 512}

WRONG = {
    "no barrier": Wrong("race|syncwarp", {"    __syncthreads();\n": ""}),
    "a barrier in the if": Wrong(
        "divergent",
        {"s[t] = x[first + t];\n    __syncthreads();": "{ s[t] = x[first + t]; __syncthreads(); }"},
    ),
    "whole blocks only": Wrong("uninitialised|values", {"count - 1 - t": "255 - t"}),
    "not turned": Wrong("values|counters", {"s[count - 1 - t]": "s[t]"}),
    "one off": Wrong("out of bounds|uninitialised|values", {"count - 1 - t": "count - t"}),
    "zeros": Wrong("values", {"= s[count - 1 - t]": "= 0"}),
    "no guard to load": Wrong("out of bounds", {"if (t < count) s[t]": "s[t]"}),
    "no guard to store": Wrong("out of bounds", {"if (t < count) out": "out"}),
}
