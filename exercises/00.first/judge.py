"""out = 2 x, where every thread has an element."""

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = planted(rng, numbers(rng, n), *SPECIAL)
    return Launch([In(x), Out(2 * x)], grid=n // 256, block=256)


JUDGE = Judge(
    launch=launch,
    sizes=(256, 512, 1024, 2560),
    counted=1 << 14,
    budget={"ld.sectors": 2048, "st.sectors": 2048},
    inputs=same_place,
)
