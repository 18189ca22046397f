"""A bias for each channel of NCHW."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    n, channels, inner = size
    bias = numbers(rng, channels) * scales(rng, channels)
    x = planted(rng, numbers(rng, *size) * scales(rng, channels, 1), np.inf, -np.inf, np.nan)
    out = Out(x + bias[:, None])
    arguments = [In(x), In(bias), out, np.int64(x.size), np.int64(channels), np.int64(inner)]
    return Launch(arguments, blocks_for(x.size), 256, what=f"{n} x {channels} x {inner}")


def far(rng):
    channels, inner = int(rng.integers(2, 15)) * 2 + 1, int(rng.integers(5, 30))
    count = ((1 << 32) // (channels * inner) + 1) * channels * inner
    blocks, i = near(count, count // 3, count // 2, count - 1)
    read, x = strewn(rng, count, i)
    bias = numbers(rng, channels)
    out = Far(count, "f4", expected=pieces(i, x + bias[i // inner % channels]))
    arguments = [read, In(bias), out, *map(np.int64, (count, channels, inner))]
    what = f"{several(count, 'element')}, {channels} x {inner} an image"
    return Launch(arguments, blocks_for(count), 256, what=what, blocks=blocks)


def beside(launch, places, got):
    bias, channels, inner = (launch.arguments[n] for n in (1, 4, 5))
    return {"bias": [bias.values[place // inner % channels] for place in places]}


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1, 1),
        (2, 3, 7),
        (3, 5, 33),
        (1, 31, 9),
        (4, 1, 25),
        (2, 3, 257),
        (3, 2, 0),
        (1, 300, 3),
        (1, 2, 33_003),
    ),
    drawn=lambda rng: rng.integers(((2, 2, 2), (2, 33, 40)), ((5, 9, 40), (5, 80, 60))).tolist(),
    large=((1, 40_000, 1),),
    far=far,
    spare=128,
    counted=(4, 8, 1024),
    budget={"ld.sectors": 5120, "st.sectors": 4096},
    beside=beside,
)
