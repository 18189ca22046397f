"""A layer's columns spread over ranks: a product, and an all-gather by its stores."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers, planted, product

SIZES = (1, 1, 1, 0), (3, 5, 7, 3), (2, 33, 257, 1), (5, 0, 20, 2)


def drawn(rng):
    rows, depth, wide = (int(rng.integers(*ends)) for ends in ((3, 9), (20, 60), (60, 300)))
    return (rows, depth, wide, 1), (3, 7, 2700 + wide, 2)


def launch(rng, size):
    rows, depth, wide, rank = size
    x, w = numbers(rng, rows, depth), planted(rng, numbers(rng, depth, wide), np.nan)
    if depth > 1:
        x[::2, 1], w[1, ::5] = 0, np.inf  # times 0 it is not 0
    own, ranks = product(x, w), []
    mine, within = slice(rank * wide, (rank + 1) * wide), np.zeros((rows, 4 * wide))
    within[:, mine] = own.tolerance
    for _ in range(4):
        before = numbers(rng, rows, 4 * wide)
        after = before.copy()
        after[:, mine] = own.expected
        ranks.append(Out(after, within, initial=before))
    arguments = [In(x), In(w), *ranks, *map(np.int32, (depth, wide, rank))]
    what = f"{rows} x {depth} times {depth} x {wide}, rank {rank}"
    return Launch(arguments, (blocks_for(wide), rows), 256, what=what)


LARGE = (70, 9, 3001, 3), (2, 70_000, 5, 1)
COUNTED = 8, 32, 512, 2
BUDGET = {"ld.sectors": (20_480, 20_480), "st.sectors": (2048, 2048)}

LIMITS = dict.fromkeys(
    ["barriers", "lds.wavefronts", "sts.wavefronts", "ldl.sectors", "stl.sectors"]
)  # a row of x may be shared, and ranks may be an array

TO, SUM = "(row * 4 + rank) * wide + column", "sum += x[row * depth + i] * w[i * wide + column]"
STORES = "    a[to] = b[to] = c[to] = d[to] = sum;\n"
LOOP = f"    for (long long i = 0; i < depth; ++i) {SUM};\n"
WRONG = {
    "for rank 0 alone": Wrong("values", {STORES: "    a[to] = sum;\n"}),
    "for itself alone": Wrong("values", {STORES: "    (rank == 0 ? a : rank == 1 ? b : rank == 2 ? c : d)[to] = sum;\n"}),
    "one rank is left out": Wrong("values", {"c[to] = ": ""}),
    "every rank's columns at the beginning": Wrong("values|race", {TO: "row * 4 * wide + column"}),
    "rows of its own columns only": Wrong("values", {TO: "row * wide + column"}),
    "ranks take turns by columns": Wrong("values", {TO: "row * 4 * wide + column * 4 + rank"}),
    "ranks below each other": Wrong("values|out of bounds", {TO: "(rank * gridDim.y + row) * wide + column"}),
    "the weights' rows": Wrong("values|out of bounds", {"w[i * wide + column]": "w[column * (long long)depth + i]"}),
    "all columns in a row of w": Wrong("values|out of bounds", {"w[i * wide + column]": "w[i * 4 * wide + rank * wide + column]"}),
    "another rank's part of x": Wrong("values|out of bounds", {SUM: SUM.replace("x[row * depth + i]", "x[(row * 4 + rank) * depth + i]")}),
    "added to what is there": Wrong("values", {STORES: STORES.replace(" = sum", " += sum")}),
    "the others' columns are cleared": Wrong("values", {STORES: STORES + "    for (int r = 0; r < 4; ++r)\n        if (r != rank) a[(row * 4 + r) * wide + column] = 0;\n"}),
    "zeros of x left out": Wrong("values", {SUM: f"if (x[row * depth + i] != 0) {SUM}"}),
    "a product for each rank": Wrong(
        "counters", {LOOP: "", STORES: f"    float *all[4] = {{a, b, c, d}};\n    for (int r = 0; r < 4; ++r) {{\n        sum = 0;\n    {LOOP.replace('= x[', '= *(volatile const float *)&x[').replace('+= x[', '+= *(volatile const float *)&x[')}        all[r][to] = sum;\n    }}\n"}
    ),
    "the last product only": Wrong("values", {"sum += ": "sum = "}),
    "16 bits for the depth": Wrong("70000", {"long long i = 0": "unsigned short i = 0"}),
    "no guard": Wrong("out of bounds|values|double write|race", {"    if (column >= wide) return;\n": ""}),
}  # fmt: skip
