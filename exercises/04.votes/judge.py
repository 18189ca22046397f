"""A count by ballots, an atomic a warp."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x, limit = numbers(rng, n), np.float32(rng.uniform(-1, 1))
    x[rng.integers(0, n, n // 9)] = limit  # which is not above it
    count = np.array([np.count_nonzero(x > limit)])
    out = Out(count, dtype=np.int32, initial=np.zeros(1))
    return Launch([In(x), out, limit, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "red.requests": (511, 512)}

BALLOT = "unsigned bits = __ballot_sync(0xffffffff, i < n && x[i] > limit);"
WRONG = {
    "those below": Wrong("values", {"x[i] > limit": "x[i] < limit"}),
    "the bits for the count": Wrong("values", {"__popc(bits)": "bits"}),
    "lane 0 alone": Wrong("values", {"__popc(bits)": "bits & 1"}),
    "every lane adds": Wrong("values", {"threadIdx.x % 32 == 0 && bits": "bits"}),
    "no guard": Wrong("out of bounds", {"i < n && x[i]": "x[i]"}),
    "not atomic": Wrong(
        "race|double|values", {"atomicAdd(out, __popc(bits))": "*out += __popc(bits)"}
    ),
    "one for each warp": Wrong("values", {"__popc(bits)": "1"}),
}

SURVIVORS = {
    "% 32 == 1": "all lanes of the warp have the same bits",
    "% 33 == 0": "there is one in each warp of a block of 256, and all of its lanes have the same bits",
}
