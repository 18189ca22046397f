"""Attention in one kernel, scores in shared memory: a step of the course."""

import numpy as np

from helpers.exercises.launches import (
    In,
    Launch,
    Wrong,
    attention,
    far_rows,
    numbers,
    with_nan_query,
)

OURS = "attention/fused.cu"
SIZES = (1, 1, 1, 1), (2, 3, 33, 5), (1, 2, 70, 70), (2, 2, 64, 8)


def drawn(rng):
    return rng.integers(
        ((2, 3, 65, 3), (3, 9, 20, 65)), ((4, 6, 200, 40), (5, 12, 60, 90))
    ).tolist()


def launch(rng, size, causal=False):
    units, queries, keys, length = size
    q, k, v = (numbers(rng, units, n, length) for n in (queries, keys, keys))
    q *= rng.choice(np.float32([1, 40]), (units, queries, 1))  # powers of such scores overflow
    k[..., 0] = rng.uniform(-6, -4, (units, keys))
    q[..., 0] = rng.choice([0, 300], (units, queries))  # some see low scores only
    scale = np.float32(rng.uniform(0.7, 1.3) * length**-0.5)
    seen = np.arange(keys) <= np.arange(queries)[:, None] if causal else None
    out = attention(q, k, v, scale, seen)
    with_nan_query(q, out)
    arguments = [In(q), In(k), In(v), out, *map(np.int64, (queries, keys, length)), scale]
    what = f"{units} x {queries} queries, {keys} keys of {length}"
    return Launch(arguments, (queries, units), 64, shared=4 * keys, what=what)


OTHERWISE = {"CAUSAL": 1}


def otherwise(rng):
    return launch(rng, (2, 70, 90, 9), causal=True)


def far(rng):
    return far_rows(launch(rng, (2, 80, 81, 900)), 60_000)


LARGE = (1, 1, 700, 4), (1, 2, 40_000, 3)
COUNTED = 2, 16, 64, 64
BUDGET = {"st.sectors": 256}
WARPS = 1.2

MORE = "sum = block_reduce(sum, Sum<Acc>());"
WRONG = {
    "not scaled": Wrong("values", {"dot * scale": "dot"}),
    "without the maximum": Wrong("values", {"exp(scores[key] - peak)": "exp(scores[key])"}),
    "a thread's own maximum": Wrong("values", {"peak = block_reduce(peak, Max<Acc>());": ""}),
    "a thread's own sum": Wrong("race|values", {MORE: ""}),
    "a thread's own sum, after a barrier": Wrong("values", {MORE: "__syncthreads();"}),
    "columns by one warp": Wrong("one warp", {"i = threadIdx.x; i < size; i += blockDim.x": "i = threadIdx.x < 32 ? threadIdx.x : size; i < size; i += 32"}),
    "not divided": Wrong("values", {"T(total / sum)": "T(total)"}),
    "the first unit's values": Wrong("values", {", v += blockIdx.y * keys * size": ""}),
    "keys in place of values": Wrong("values", {"Acc(v[key": "Acc(k[key"}),
    "hidden keys, too": Wrong("choice", {"key < seen; key += blockDim.x": "key < keys; key += blockDim.x"}),
    "keys in 16 bits": Wrong("40000 keys", {"long long key = 0": "short key = 0"}),
    "as many keys as threads": Wrong("values|uninitialised", {"key < seen; key += blockDim.x": "key < min(seen, 64LL); key += blockDim.x"}),
}  # fmt: skip

SURVIVORS = {
    "dot = 1": "what all scores of a row have more is no difference to their shares",
}
