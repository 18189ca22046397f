"""A mask for each image, shared by its channels."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    images, channels, pixels = size
    mask = numbers(rng, images, pixels) * scales(rng, pixels)
    x = planted(rng, numbers(rng, *size) * scales(rng, pixels), np.inf, -np.inf, np.nan)
    out = Out(x * mask[:, None])
    arguments = [In(x), In(mask), out, np.int64(x.size), np.int64(channels), np.int64(pixels)]
    return Launch(arguments, blocks_for(x.size), 256, what=f"{images} x {channels} x {pixels}")


def far(rng):
    channels, pixels = map(int, rng.integers(5, 30, 2))
    images = (1 << 32) // (channels * pixels) + 1
    count = images * channels * pixels
    blocks, i = near(count, count - 1)
    read, x = strewn(rng, count, i)
    places = i // (channels * pixels) * pixels + i % pixels
    masks, mask = strewn(rng, images * pixels, places)
    out = Far(count, "f4", expected=pieces(i, x * mask))
    arguments = [read, masks, out, *map(np.int64, (count, channels, pixels))]
    what = f"{images:,} x {channels} x {pixels}"
    return Launch(arguments, blocks_for(count), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1, 256),
        (2, 1, 3),
        (1, 3, 7),
        (3, 4, 33),
        (5, 2, 129),
        (2, 3, 257),
        (3, 2, 0),
        (1, 2, 33_003),
    ),
    drawn=lambda rng: rng.integers(((2, 2, 2), (9, 6, 60)), ((5, 9, 40), (40, 9, 90))).tolist(),
    large=((1, 40_000, 1),),
    far=far,
    spare=128,
    undefined=SCALED,
    counted=(2, 4, 1024),
    budget={"ld.sectors": 2048, "st.sectors": 1024},
)
