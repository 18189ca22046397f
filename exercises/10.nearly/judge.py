"""numpy.isclose. One pair is on the bound, and none so near it that rounding could tell."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for

RTOL, ATOL = 1e-3, 1e-5
SPECIAL = [(ATOL, 0)] + [
    (x, y) for x in (0, 1, -1, np.inf, -np.inf, np.nan) for y in (0, np.inf, -np.inf, np.nan)
]


def launch(rng, n):
    b = (rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-8, 6, n)).astype("f4")
    bound = ATOL + RTOL * np.abs(b)
    a = (b + bound * rng.choice([-10, -1.5, -0.5, 0, 0.5, 1.5, 10], n)).astype("f4")
    special = np.array(SPECIAL, "f4")[: n // 2]
    a[: len(special)], b[: len(special)] = special.T
    with np.errstate(invalid="ignore"):
        close = np.isclose(a.astype(float), b.astype(float), RTOL, ATOL)
    arguments = [In(a), In(b), Out(close, dtype=bool), np.float32(RTOL), np.float32(ATOL)]
    return Launch([*arguments, np.int64(n)], blocks_for(n), 256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 4096, "st.sectors": 512}

FORMULA = "atol + rtol * fabsf(b[i])"
WRONG = {
    "a fixed bound": Wrong("values", {FORMULA: "1e-6f"}),
    "absolute only": Wrong("values", {FORMULA: "atol"}),
    "relative only": Wrong("values", {FORMULA: "rtol * fabsf(b[i])"}),
    "near infinity": Wrong("values", {"isfinite(b[i]) && ": ""}),
    "infinity is not itself": Wrong("values", {"a[i] == b[i] || ": ""}),
    "without the sign": Wrong("values", {"fabsf(a[i] - b[i])": "(a[i] - b[i])"}),
    "NaN is anything": Wrong(
        "values",
        {
            "fabsf(a[i] - b[i]) <= ": "!(fabsf(a[i] - b[i]) > ",
            "fabsf(b[i]));": "fabsf(b[i])));",
            "isfinite(b[i]) && ": "",
        },
    ),
    "true": Wrong("values", {"out[i] = a[i] == b[i]": "out[i] = true || a[i] == b[i]"}),
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
}
