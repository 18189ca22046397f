"""Mean and variance of rows far from 0, in one read."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

SIZES = (1, 1), (3, 31), (4, 32), (5, 33), (9, 100), (2, 1009)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    center = rng.choice([-1, 1], batch) * rng.uniform(500, 5000, batch)
    center[::3] /= 1000
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(-1, 1, (batch, 1))
    x = (x + center[:, None]).astype(np.float32)
    d = (x - x[:, :1]).astype(float)
    rounding = checks.gamma(hidden + 8, np.float32)
    of_mean = np.abs(d).mean(1) * rounding + np.abs(x.mean(1, dtype=float)) * checks.roundoff(
        "float32"
    )
    of_variance = 4 * rounding * (d**2).mean(1)
    running = checks.gamma(-(-hidden // 32) + 10, np.float32) * np.abs(x).max(1)  # Welford's mean
    of_mean += running
    of_variance += 2 * running * np.abs(x - x.mean(1, dtype=float)[:, None]).mean(1) + running**2
    of_variance += checks.gamma(hidden // 32 + 8, float) * (x.astype(float) ** 2).mean(1)
    arguments = [
        In(x),
        Out(x.mean(1, dtype=float), of_mean),
        Out(x.var(1, dtype=float), of_variance),
        np.int64(batch),
        np.int64(hidden),
    ]
    return Launch(arguments, grid=-(-batch // 4), block=128, what=f"{batch} rows of {hidden}")


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700, 4)


def advice(launch, out, got):
    """Whether the variance is off by no more than squares of such numbers round."""
    x = launch.arguments[0].values.astype(float)
    off = np.abs(got - np.ravel(out.expected))
    squares = (x**2).mean(1) * checks.roundoff("float32") * (x.shape[1] + 8)
    if out is launch.arguments[2] and (off <= squares).all():
        return CANCELLED
    return None


CANCELLED = (
    "Digits are lost: the squares are large, and their sum nearly cancels with the mean's square."
    " Take an element of the row off each one first, or add up in double."
)
COUNTED = 64, 256
BUDGET = {"ld.sectors": (2112, 2112), "ld.requests": (576, 660)}

# 64 more: x[0] is loaded again once mean is stored, which might be the same place
WRONG = {
    "squares of large numbers": Wrong("values", {"base = x[0]": "base = 0"}),
    "around 1000": Wrong("values", {"base = x[0]": "base = 1000"}),
    "the first row's base": Wrong("values", {"base = x[0]": "base = *(x - row * hidden)"}),
    "fixed point": Wrong("values", {"d = x[i] - base": "d = rintf((x[i] - base) * 16384) / 16384"}),
    "no more than 1024 columns": Wrong("values", {"i < hidden": "i < hidden && i < 1024"}),
    "an int for the place": Wrong(
        "65,700 rows", {"x += row * hidden": "x += (int)row * (int)hidden"}
    ),
    "a short for the row": Wrong("65,700 rows", {"long long row": "short row"}),
    "the mean without its base": Wrong("values", {"base + sum": "sum"}),
    "the mean of squares": Wrong("values", {"squares - sum * sum": "squares"}),
    "of a sample": Wrong(
        "values",
        {
            "squares = warp_reduce(squares, Sum<float>()) / hidden": "squares = warp_reduce(squares, Sum<float>()) / (hidden - 1)"
        },
    ),
    "the deviation": Wrong("values", {"= squares - sum * sum": "= sqrtf(squares - sum * sum)"}),
    "lane 0 alone": Wrong("values", {"warp_reduce(squares, Sum<float>())": "squares"}),
    "one too many": Wrong("out of bounds", {"i < hidden": "i <= hidden"}),
    "two reads": Wrong(
        "counters",
        "long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32; int lane = threadIdx.x % 32;"
        " if (row >= batch) return; volatile const float *v = x + row * hidden; float sum = 0, squares = 0, base = v[0];"
        " for (long long i = lane; i < hidden; i += 32) sum += v[i] - base;"
        " sum = warp_reduce(sum, Sum<float>()) / hidden;"
        " for (long long i = lane; i < hidden; i += 32) { float d = v[i] - base - sum; squares += d * d; }"
        " squares = warp_reduce(squares, Sum<float>()) / hidden;"
        " if (lane == 0) mean[row] = base + sum, variance[row] = squares;",
    ),
}

SURVIVORS = {
    "lane != 0": "all lanes of the warp have the same result",
    "lane == 1": "all lanes of the warp have the same result",
    "if (!(lane == 0))": "all lanes of the warp have the same result",
}
