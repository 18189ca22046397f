"""Layer norm of rows in one read."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

SIZES = (1, 1), (3, 31), (5, 33), (7, 1000), (2, 1024), (64, 1024)
CHOICES = "BLOCK", "ROWS"


def drawn(rng):
    return [drawn_rows(rng)[0], (int(rng.integers(20, 40)), int(rng.integers(513, 1024)))]


def launch(rng, size, block, rows):
    batch, hidden = size
    center = rng.choice([-1, 1], batch) * rng.uniform(2500, 3500, batch)
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(-0.5, 0.5, (batch, 1))
    x[:, -1] += 32  # the last square of a row counts as much as all the others
    x = (x + center[:, None]).astype(np.float32)
    eps = np.float32(10 ** rng.uniform(-4, 0))
    mean, variance = x.mean(1, dtype=float, keepdims=True), x.var(1, dtype=float, keepdims=True)
    scale = 1 / np.sqrt(variance + eps)
    y = (x - mean) * scale
    # the mean's error shifts a row and adds its square to the variance; the rest is relative
    rounding = checks.gamma(min(hidden, 64) + 16, np.float32)  # a lane adds up 64 at most
    shift = rounding * np.abs(mean)
    relative = rounding + shift**2 * scale**2 + 2 * shift * scale
    tolerance = shift * scale + np.abs(y) * relative
    arguments = [In(x), Out(y, tolerance), eps, np.int64(batch), np.int32(hidden)]
    return Launch(arguments, -(-batch // rows), block, what=f"{batch} rows of {hidden}")


SURVIVORS = {
    "k <= 32": "a row has 1024 elements at most: the guard leaves out what would be the 33rd",
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
}


def far(rng, block, rows):
    return far_rows(launch(rng, (5, 1000), block, rows), 4_310_001, rows)


COUNTED = 256, 1024
BLOCKS = 16
BUDGET = {"ld.sectors": 32_768, "st.sectors": 32_768, "lds.conflicts": 0, "ldl.sectors": 0}
LIMITS = {"barriers": None}  # of a block for each row
WITHOUT = {
    r"\.shared [^;]*\[\d{4,}\];": "Keep the row in registers: shared memory is another place to write it to and read it from.",
}

WRONG = {
    "zeros": Wrong("values", {"(value[k] - mean) * scale": "0"}),
    "no eps": Wrong("values", {" + eps": ""}),
    "eps of its own": Wrong("values", {"+ eps": "+ 1e-3f"}),
    "mean of squares less square of the mean": Wrong(
        "values",
        {
            "float distance = lane + 32 * k < hidden ? value[k] - mean : 0.f;": "float distance = value[k];",
            "squares / hidden + eps": "squares / hidden - mean * mean + eps",
        },
    ),
    "one block for all": Wrong("blocks|values", {"ROWS = 4": "ROWS = 100000"}),
    "the row in shared memory": Wrong(
        "instructions: .*shared",
        {
            "float value[32], mean": "__shared__ float own[4096]; float *value = own + threadIdx.x / 32 * 1024, mean",
            "value[k]": "value[lane + 32 * k]",
        },
    ),
    "an int for the place": Wrong(
        "4,310,001 rows",
        {"x += row * hidden, y += row * hidden": "x += (int)row * hidden, y += (int)row * hidden"},
    ),
    "a short for the row": Wrong("values|launch", {"long long row": "short row"}),
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
