"""One product of a warp by one instruction, with fragments filled by hand."""

import itertools

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    a, b = (numbers(rng, n, 16, wide, dtype=np.float16) for wide in (16, 8))
    if n > 1:
        a[-1, 5, 3] = np.nan
    return Launch([In(a), In(b), product(a, b)], n, 32, what=several(n, "product"))


def lanes_by_columns(a, b):
    """What a[16, 16] times b[16, 8] comes to if lane t takes group t % 8 and pair t / 8 of all
    three matrices, in place of t / 4 and t % 4."""
    lanes, c = np.arange(32), np.zeros((16, 8))
    group, pair = lanes // 4, lanes % 4 * 2
    own_group, own_pair = lanes % 8, lanes // 8 * 2
    p, q = np.zeros((16, 16)), np.zeros((16, 8))
    for down, along, e in itertools.product((0, 8), (0, 8), (0, 1)):
        p[group + down, pair + along + e] = a[own_group + down, own_pair + along + e]
        q[pair + down + e, group] = b[own_pair + down + e, own_group]
    made = p @ q
    for down, e in itertools.product((0, 8), (0, 1)):
        c[own_group + down, own_pair + e] = made[group + down, pair + e]
    return c


def explain(launch, out, got):
    a, b = (argument.values[0] for argument in launch.arguments[:2])
    got = got.reshape(-1, 16, 8)[0]
    right = np.isclose(got, out.expected[0], 1e-3, 1e-3)
    for groups in range(1, 8):
        lines = np.arange(16) % 8 < groups
        if np.array_equal(right, lines[:, None] & lines[:8]):
            return (
                f"Right is what the first {4 * groups} lanes make among themselves: the whole warp"
                " must come to multiply_add, and each lane fill its registers before."
            )
    a, b = a.astype(float), b.astype(float)
    if np.isclose(got, lanes_by_columns(a, b), 1e-3, 1e-3).all():
        return (
            "Your lanes count along columns: of each eight rows, lane t has row t / 4, and there"
            " the pair of columns t % 4."
        )
    return misplaced(a, b, got)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 3),
    drawn=lambda rng: (int(rng.integers(5, 9)), int(rng.integers(12, 20))),
    large=(300,),
    far=lambda rng: far_rows(launch(rng, 5), 34_000_000),
    counted=16,
    budget={"hmma": 16},
    idea={"hmma": (16, "Let the warp multiply: multiply_add.")},
    explain=explain,
    survivors={"{%8, %9}, {%": "the four sums begin as 0, so each may begin as another"},
)
