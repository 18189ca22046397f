"""A product of two tiles by one warp's fragments: b's are read transposed."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    a, b = (numbers(rng, n, 64, 64, dtype=np.float16) for _ in "ab")
    if n > 1:
        a[-1, 5, 3] = np.nan
    return Launch([In(a), In(b), product(a, b)], n, 128, what=f"{several(n, 'pair')} of tiles")


def explain(launch, out, got):
    a, b = (argument.values[0].astype(float) for argument in launch.arguments[:2])
    line, column = np.ogrid[:64, :64]
    used = b[line, (column // 8 ^ line % 8) * 8 + column % 8]
    if np.allclose(got.reshape(-1, 64, 64)[0], a @ used, 1e-2, 1e-2):
        return "You read b as if its chunks were in order: a chunk begins at place(line, chunk)."
    return None


ONE_BY_ONE = "Let ldmatrix load b's fragments: load_matrices<true>."


JUDGE = Judge(
    launch=launch,
    sizes=(1, 2),
    drawn=lambda rng: (int(rng.integers(3, 6)), int(rng.integers(11, 15))),
    large=(300,),
    far=lambda rng: far_rows(launch(rng, 3), 1_060_000),
    ours="gemm/transposed.cu",
    counted=4,
    budget={"hmma": 512, "lds.wavefronts": 1280, "lds.conflicts": 0, "sts.conflicts": 0},
    limits={"instructions": 2},
    idea={"hmma": (512, "Let the tensor cores multiply: multiply_add, twice for each load of b.")},
    explain=explain,
    advice={"lds.wavefronts": ONE_BY_ONE, "ld.sectors": ONE_BY_ONE},
    checks=[PtxHas({r"ldmatrix[\w.]*\.trans": ONE_BY_ONE})],
)
