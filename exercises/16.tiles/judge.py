"""Attention tile by tile, with a running softmax."""

import numpy as np

from helpers.exercises.launches import (
    In,
    Launch,
    Wrong,
    attention,
    climbing,
    far_rows,
    with_nan_query,
)

SIZES = (1, 1, 1, 0), (2, 65, 33, 0), (1, 70, 70, 1), (1, 40, 20, 1), (1, 40, 70, 1)


def drawn(rng):
    units, queries, keys = (int(n) for n in rng.integers((2, 66, 34), (4, 150, 120)))
    return (units, queries, keys, 0), (6, queries, queries, 1)


def launch(rng, size):
    units, queries, keys, causal = size
    q, k, v = climbing(rng, units, queries, keys)
    scale = np.float32(rng.uniform(0.1, 0.25))
    out = attention(q, k, v, scale, np.tri(queries, keys, dtype=bool) if causal else None)
    with_nan_query(q, out)
    arguments = [In(q), In(k), In(v), out, *map(np.int32, (queries, keys)), scale, np.int32(causal)]
    what = f"{units} x {queries} queries, {keys} keys{', causal' * causal}"
    return Launch(arguments, (-(-queries // 64), units), 64, what=what)


def far(rng):
    return far_rows(launch(rng, (2, 1130, 1190, 0)), 60_000)


LARGE = ((1, 300, 1200, 0),)
COUNTED = 2, 128, 128, 0
BUDGET = {"ld.sectors": 12288}
EVEN = False

WRONG = {
    "the maximum forgotten": Wrong("values", {"most = fmaxf(most, score[key]);": "", "most = peak;": "most = 0;"}),
    "the sum does not shrink": Wrong("values", {"        sum *= shrink;\n": ""}),
    "the values do not shrink": Wrong("values", {"o[i] *= shrink;": ";"}),
    "a tile's own maximum": Wrong("values", {"most = peak;": "most = -INFINITY;", "peak = most;": "peak = most; shrink = 1;"}),
    "the new maximum shrinks": Wrong("values", {"shrink = expf(peak - most)": "shrink = expf(most - peak)"}),
    "causal off by one": Wrong("values", {"first + key < seen": "first + key < seen - causal"}),
    "zeros past the end count": Wrong("values", {"first + key < seen": "first + key < (causal ? query + 1 : keys + TILE)"}),
    "hidden keys are 0": Wrong("values", {"-INFINITY;\n            most": "0;\n            most"}),
    "not scaled": Wrong("values", {"dot * scale": "dot"}),
    "the sum in halves": Wrong("values", {"sum += power;": "sum = __half2float(__float2half(sum + power));", "constexpr int SIZE": "#include <cuda_fp16.h>\nconstexpr int SIZE"}),
    "no barrier after": Wrong("race", {"        __syncthreads();  // the last tiles are read\n": ""}),
}  # fmt: skip
SURVIVORS = {
    "first <= last": "a tile of which nothing is seen adds nothing",
    "max(keys, int(": "tiles of which nothing is seen add nothing",
    "blockIdx.x + 2": "a tile of which nothing is seen adds nothing",
    "* SIZE + i] : 1": "what is past the last key has no share",
    "sum = 1": "it shrinks to nothing with the first key",
    "dot = 1": "what all scores of a row have more is no difference to their shares",
    "TILE = 15": "another size of a tile",
    "TILE = 17": "another size of a tile",
}
