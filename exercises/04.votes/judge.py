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
    r"\b(?P<what>shfl|redux)\b": "The bits of the vote are all you need: count them by __popc.",
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
    "a vote for show, then shuffles": Wrong(
        "instructions: .*shfl",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; int sum = i < n && x[i] > limit;"
        " bool any = __any_sync(0xffffffff, sum);"
        " for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffff, sum, by);"
        " if (threadIdx.x % 32 == 0 && any) atomicAdd(out, sum);",
    ),
    "a vote for show, then a sum": Wrong(
        "instructions: .*redux",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; int is = i < n && x[i] > limit;"
        " int sum = __reduce_add_sync(0xffffffff, is);"
        " if (threadIdx.x % 32 == 0 && __any_sync(0xffffffff, is)) atomicAdd(out, sum);",
    ),
    "a question for each lane": Wrong(
        "instructions",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; bool is = i < n && x[i] > limit;"
        " int sum = 0, lane = threadIdx.x % 32;"
        " for (int k = 0; k < 32; ++k) sum += __any_sync(0xffffffff, is && lane == k);"
        " if (lane == 0 && sum) atomicAdd(out, sum);",
    ),
    "a mask of half the warp": Wrong("inactive", {"0xffffffff": "0xffff"}),
    "half of the warp votes": Wrong(
        "values",
        {
            BALLOT: BALLOT.replace("= ", "= threadIdx.x % 32 > 15 ? 0 : ").replace(
                "ffffffff", "ffff"
            )
        },
    ),
    "those above alone vote": Wrong(
        "votes|values|inactive",
        {
            BALLOT: "if (i >= n || !(x[i] > limit)) return; unsigned bits = __ballot_sync(0xffffffff, true);"
        },
    ),
    "whoever is there": Wrong("instructions: .*activemask", {"0xffffffff": "__activemask()"}),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i"}),
    "an int for the guard": Wrong("n = 2,147,", {"i < n &&": "(int)i < (int)n &&"}),
}

SURVIVORS = {
    "% 32 == 1": "all lanes of the warp have the same bits",
    "% 33 == 0": "there is one in each warp of a block of 256, and all of its lanes have the same bits",
}
