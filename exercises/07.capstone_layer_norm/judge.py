"""Layer norm of rows in one read."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (3, 31), (5, 33), (7, 1000), (2, 1024)
CHOICES = "BLOCK", "ROWS"


def launch(rng, size, block, rows):
    batch, hidden = size
    x = numbers(rng, batch, hidden) + np.float32(100)
    x[:, -1] += 32  # the last square of a row counts as much as all the others
    eps = np.float32(1e-3)
    mean, variance = x.mean(1, dtype=float, keepdims=True), x.var(1, dtype=float, keepdims=True)
    scale = 1 / np.sqrt(variance + eps)
    y = (x - mean) * scale
    # the mean's error shifts a row and adds its square to the variance; the rest is relative
    rounding = checks.gamma(hidden + 16, np.float32)
    shift = rounding * np.abs(mean)
    relative = rounding + shift**2 * scale**2 + 2 * shift * scale
    tolerance = shift * scale + np.abs(y) * relative
    arguments = [In(x), Out(y, tolerance), eps, np.int64(batch), np.int32(hidden)]
    return Launch(arguments, -(-batch // rows), block, what=f"{batch} rows of {hidden}")


SURVIVORS = {
    "k <= 32": "a row has 1024 elements at most: the guard leaves out what would be the 33rd",
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
}

COUNTED = 64, 1024
BUDGET = {"ld.sectors": 8192, "st.sectors": 8192, "lds.conflicts": 0, "ldl.sectors": 0}

WRONG = {
    "zeros": Wrong("values", {"(value[k] - mean) * scale": "0"}),
    "no eps": Wrong("values", {" + eps": ""}),
    "no mean": Wrong("values", {"(value[k] - mean) * scale": "value[k] * scale"}),
    "of a sample": Wrong("values", {"squares / hidden": "squares / (hidden - 1)"}),
    "zeros among the squares": Wrong(
        "values", {"lane + 32 * k < hidden ? value[k] - mean : 0.f": "value[k] - mean"}
    ),
    "no row guard": Wrong("out of bounds", {"if (row >= batch) return;": ""}),
    "1024 columns": Wrong(
        "out of bounds", {"lane + 32 * k < hidden ? x[lane + 32 * k] : 0.f": "x[lane + 32 * k]"}
    ),
    "by the variance": Wrong("values", {"1 / sqrtf(": "1 / ("}),
    "two reads": Wrong(
        "sectors loaded",
        {
            "y[lane + 32 * k] = (value[k] - mean)": "y[lane + 32 * k] = (((volatile const float *)x)[lane + 32 * k] - mean)"
        },
    ),
    "three reads by a thread": Wrong(
        "counters|values",
        "if (threadIdx.x >= ROWS) return; long long row = blockIdx.x * (long long)ROWS + threadIdx.x; if (row >= batch) return;"
        " volatile const float *v = x + row * hidden; float mean = 0, squares = 0;"
        " for (int k = 0; k < hidden; ++k) mean += v[k]; mean /= hidden;"
        " for (int k = 0; k < hidden; ++k) squares += (v[k] - mean) * (v[k] - mean);"
        " for (int k = 0; k < hidden; ++k) y[row * hidden + k] = (v[k] - mean) / sqrtf(squares / hidden + eps);",
    ),
}
