"""Inclusive scans of warps."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import Far, In, Launch, Out, Wrong, numbers

SIZES = 32, 64, 96, 384, 512, 1024


def drawn(rng):
    return 3 * 256, int(rng.choice(range(11, 31, 2))) * 256


def launch(rng, n):
    x = numbers(rng, n)
    x[7::96] = np.inf  # in every third group
    rows = x.reshape(-1, 32).astype(float)
    size = np.abs(rows).cumsum(1)
    tolerance = checks.gamma(5, np.float32) * np.where(np.isfinite(size), size, 0)
    return Launch(
        [In(x), Out(rows.cumsum(1).ravel(), tolerance.ravel())],
        grid=-(-n // 256) if n != 384 else 3,
        block=min(n, 256) if n != 384 else 128,
    )


def far(rng):
    n, last = 2**31 + 256, 2**31 + 64
    row = rng.integers(-9, 9, 32).astype(np.float32)
    arguments = [Far(n, np.float32, {last: row}), Far(n, np.float32, {}, {last: row.cumsum()})]
    return Launch(
        arguments, n // 256, 256, what=f"n = {n:,}", blocks=[range(n // 256 - 1, n // 256)]
    )


COUNTED = 1 << 12
BUDGET = {"ld.requests": 128, "ld.sectors": 512, "st.sectors": 512, "shuffles": (640, 1280)}
IDEA = {"shuffles": (640, "Five steps, a shuffle each.")}
WITHOUT = {
    r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
    r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
}

STEP = "float before = __shfl_up_sync(0xffffffff, sum, by);\n        if (lane >= by) sum += before;"
WRONG = {
    "blocks of 256": Wrong(
        "out of bounds|values", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "no guard": Wrong("values", {"if (lane >= by) sum": "sum"}),
    "the shuffle in the if": Wrong(
        "inactive|values", {STEP: "if (lane >= by) sum += __shfl_up_sync(0xffffffff, sum, by);"}
    ),
    "down": Wrong("values", {"__shfl_up_sync": "__shfl_down_sync"}),
    "one step too few": Wrong("values", {"by < 32": "by < 16"}),
    "steps of one": Wrong("values|counters", {"by *= 2": "++by"}),
    "one after the other": Wrong(
        "shuffles",
        {
            "for (int by = 1; by": "float own = sum; sum = 0; for (int k = 0; k < 32; ++k) {"
            " float v = __shfl_sync(~0u, own, k); if (k <= lane) sum += v; }\n    for (int by = 32; by"
        },
    ),
    "times 0 where there is no such lane": Wrong(
        "values", {"if (lane >= by) sum += before": "sum += before * (lane >= by)"}
    ),
    "whoever is there": Wrong("instructions: .*activemask", {"0xffffffff": "__activemask()"}),
    "through shared memory": Wrong(
        "instructions: .*shared",
        {
            "for (int by = 1; by": "__shared__ float s[256]; s[threadIdx.x] = sum; __syncwarp(); sum = 0;"
            " for (int k = 0; k <= lane; ++k) sum += s[threadIdx.x - lane + k];\n    for (int by = 32; by"
        },
    ),
    "by atomics that add 0": Wrong(
        "counters|inputs|missing",
        {
            "for (int by = 1; by": "sum = 0; for (int k = 0; k <= lane; ++k)"
            " sum += atomicAdd((float *)x + i - lane + k, 0.f);\n    for (int by = 32; by"
        },
    ),
    "an int for the place": Wrong("n = 2,147,", {"long long i": "int i"}),
    "not the element itself": Wrong("values", {"out[i] = sum": "out[i] = sum - x[i]"}),
    "zeros": Wrong("values", {"out[i] = sum": "out[i] = 0"}),
    "only the total": Wrong(
        "values", {"out[i] = sum": "out[i] = __shfl_sync(0xffffffff, sum, 31)"}
    ),
    "by hand": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; float sum = 0; for (long long k = i / 32 * 32; k <= i; ++k) sum += x[k]; out[i] = sum;",
    ),
}

SURVIVORS = {
    "by <= 32": "no lane is 32 or more",
    "by < 33": "no lane is 32 or more",
}
