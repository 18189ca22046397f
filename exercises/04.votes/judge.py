"""A count by ballots, an atomic a warp."""

import numpy as np

from helpers.exercises.launches import Far, In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x, limit = numbers(rng, n), np.float32(rng.uniform(-1, 1))
    nearby = np.nextafter(limit, np.float32([-9, 9]))
    special = np.float32([limit, *nearby, np.inf, -np.inf, np.nan])
    where = rng.random(n) < 0.4
    x[where] = rng.choice(special, where.sum())
    before = rng.integers(-9, 10000, 1)
    count = before + np.count_nonzero(x > limit)
    out = Out(count, dtype=np.int32, initial=before)
    return Launch([In(x), out, limit, np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    n, last, limit = 2**31 + 77, 2**31 + 3, np.float32(0.5)
    votes = rng.integers(0, 2, 50).astype(np.float32)
    x = Far(n, np.float32, {0: votes, last: votes})
    out = Far(1, np.int32, {}, {0: [2 * int(votes.sum())]})
    grid = blocks_for(n)
    blocks = [range(1), range(grid - 1, grid)]
    return Launch([x, out, limit, np.int64(n)], grid, 256, what=f"n = {n:,}", blocks=blocks)


SPARE = 128
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "atomics": (511, 512)}
LIMITS = {"barriers": None}  # __syncthreads_count is a vote, too
IDEA = {"votes": (512, "Let the lanes vote: __ballot_sync.")}
WITHOUT = {
    r"\.shared\b": "Let the lanes vote: no shared memory is needed.",
    r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
}

BALLOT = "unsigned bits = __ballot_sync(0xffffffff, i < n && x[i] > limit);"
WRONG = {
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "those below": Wrong("values", {"x[i] > limit": "x[i] < limit"}),
    "the bits for the count": Wrong("values", {"__popc(bits)": "bits"}),
    "lane 0 alone": Wrong("values", {"__popc(bits)": "bits & 1"}),
    "every lane adds": Wrong("values", {"threadIdx.x % 32 == 0 && bits": "bits"}),
    "no guard": Wrong("out of bounds", {"i < n && x[i]": "x[i]"}),
    "not atomic": Wrong(
        "race|double|values", {"atomicAdd(out, __popc(bits))": "*out += __popc(bits)"}
    ),
    "one for each warp": Wrong("values", {"__popc(bits)": "1"}),
    "not below, or not a number": Wrong("values", {"x[i] > limit": "!(x[i] <= limit)"}),
    "well above": Wrong("values", {"x[i] > limit": "x[i] - limit > 1e-7f"}),
    "the limit, too": Wrong("values", {"x[i] > limit": "x[i] >= limit"}),
    "not on top of what was there": Wrong(
        "values|race|double", {"atomicAdd(out, __popc(bits))": "*out = __popc(bits)"}
    ),
    "no vote": Wrong(
        "votes",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;"
        " if (i < n && x[i] > limit) atomicAdd(out, 1);",
    ),
    "each lane its own": Wrong(
        "counters|instructions",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i >= n || !(x[i] > limit)) return;"
        " if (atomicAdd(out, 1 + (clock64() == 0)) == -77) __nanosleep(1);",
    ),
    "a count in shared memory": Wrong(
        "instructions: .*shared",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; __shared__ int own;"
        " if (threadIdx.x == 0) own = 0; __syncthreads(); if (i < n && x[i] > limit) atomicAdd(&own, 1);"
        " __syncthreads(); if (threadIdx.x == 0 && own) atomicAdd(out, own);",
    ),
    "whoever is there": Wrong("instructions: .*activemask", {"0xffffffff": "__activemask()"}),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i"}),
    "an int for the guard": Wrong("n = 2,147,", {"i < n &&": "(int)i < (int)n &&"}),
}

SURVIVORS = {
    "% 32 == 1": "all lanes of the warp have the same bits",
    "% 33 == 0": "there is one in each warp of a block of 256, and all of its lanes have the same bits",
}
