"""Scores go from one product of tensor cores into the next, in registers."""

import numpy as np

from helpers.checks import gamma, roundoff, tensor_roundings
from helpers.exercises.fragments import misplaced
from helpers.exercises.launches import In, Launch, Out, Wrong, far_rows, numbers

SIZES = 1, 3


def drawn(rng):
    return int(rng.integers(5, 9)), int(rng.integers(12, 20))


def launch(rng, n):
    q, k, v = (numbers(rng, n, 16, wide) for wide in (16, 16, 8))
    q *= rng.choice([1, 500], q.shape[:2])[..., None]
    q, k, v = (x.astype(np.float16) for x in (q, k, v))
    exact = q.astype(float) @ k.swapaxes(1, 2)
    size = np.abs(q).astype(float) @ np.abs(k).swapaxes(1, 2)
    off = 2 * gamma(tensor_roundings(16), np.float32) + roundoff("float16")
    out = Out(exact @ v, ((np.abs(exact) * off + size * gamma(40, np.float32)) @ np.abs(v)) + 1e-6)
    return Launch([In(q), In(k), In(v), out], n, 32, what=f"{n} units")


def advice(launch, out, got):
    q, k, v = (argument.values[0].astype(float) for argument in launch.arguments[:3])
    return misplaced(q @ k.T, v, got.reshape(-1, 16, 8)[0], ("score", None))


def far(rng):
    return far_rows(launch(rng, 5), 34_000_000)


LARGE = (300,)
COUNTED = 16
BUDGET = {"hmma": 48}
LIMITS = {"instructions": 1.25}
IDEA = {"hmma": (48, "Let the warp multiply: multiply_add.")}
WITHOUT = {
    r"\bshfl\b": "Each lane has what it needs already: no shuffle is needed.",
    r"\.shared\b": "Each lane has what it needs already: no shared memory is needed.",
}

FILL = "p[r] = two(score[r / 2][r % 2 * 2], score[r / 2][r % 2 * 2 + 1]);"
WRONG = {
    "the right half before the lower one": Wrong("values", {FILL: FILL.replace("r / 2", "r % 3 % 2 * 0 + r % 2").replace("r % 2 * 2", "r / 2 * 2")}),
    "held to 30": Wrong("values", {FILL: "p[r] = two(fminf(score[r / 2][r % 2 * 2], 30), fminf(score[r / 2][r % 2 * 2 + 1], 30));"}),
    "pairs swapped": Wrong("values", {FILL: "p[r] = two(score[r / 2][r % 2 * 2 + 1], score[r / 2][r % 2 * 2]);"}),
    "the left half twice": Wrong("values", {"score[r / 2]": "score[0]"}),
    "the upper rows twice": Wrong("values", {"r % 2 * 2": "0"}),
    "one number twice": Wrong("values", {"r % 2 * 2 + 1]": "r % 2 * 2]"}),
    "by shuffles": Wrong("instructions", {FILL: "{ p[r] = 0; for (int e = 0; e < 2; ++e) { float x = score[r / 2][r % 2 * 2 + e];"
     " for (int by = 1; by < 32; by *= 2) x = __shfl_xor_sync(~0u, __shfl_xor_sync(~0u, x, by), by);"
     " p[r] |= unsigned(__half_as_ushort(__float2half(x))) << 16 * e; } }"}),
    "by a shuffle to itself": Wrong("instructions", {FILL: "p[r] = __shfl_sync(~0u, two(score[r / 2][r % 2 * 2], score[r / 2][r % 2 * 2 + 1]), threadIdx.x);"}),
    "through shared memory": Wrong(
        "instructions",
        {FILL: "{ __shared__ unsigned kept[4][32]; kept[r][threadIdx.x] = two(score[r / 2][r % 2 * 2],"
         " score[r / 2][r % 2 * 2 + 1]); __syncwarp(); p[r] = kept[r][threadIdx.x]; }"},
    ),
    "without tensor cores": Wrong(
        "the idea|counters",
        "q += blockIdx.x * 256LL, k += blockIdx.x * 256LL, v += blockIdx.x * 128LL, out += blockIdx.x * 128LL;"
        "for (int i = threadIdx.x; i < 128; i += 32) { float sum = 0; for (int key = 0; key < 16; ++key) {"
        " float dot = 0; for (int e = 0; e < 16; ++e) dot += float(q[i / 8 * 16 + e]) * float(k[key * 16 + e]);"
        " sum += float(half(dot)) * float(v[key * 8 + i % 8]); } out[i] = sum; }",
    ),
}  # fmt: skip
