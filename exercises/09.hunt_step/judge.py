"""A mask for each image, shared by its channels."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (1, 1, 256), (2, 1, 3), (1, 3, 7), (3, 4, 33), (5, 2, 129), (2, 3, 257)


def launch(rng, size):
    images, channels, pixels = size
    x, mask = numbers(rng, *size), numbers(rng, images, pixels)
    out = Out(x * mask[:, None])
    arguments = [In(x), In(mask), out, np.int64(x.size), np.int64(channels), np.int64(pixels)]
    return Launch(arguments, blocks_for(x.size), 256, what=f"{images} x {channels} x {pixels}")


COUNTED = 2, 4, 1024
BUDGET = {"ld.sectors": 2048, "st.sectors": 1024}

INDEX = "i / image * pixels + i % pixels"
WRONG = {
    "one thread too many": Wrong("out of bounds", {"i >= count": "i > count"}),
    "no guard": Wrong("out of bounds", {"if (i >= count) return;": ""}),
    "the step of x": Wrong("values|out of bounds", {"i / image * pixels": "i / image * image"}),
    "one mask for all": Wrong("values", {INDEX: "i % pixels"}),
    "a mask for each channel": Wrong("values|out of bounds", {INDEX: "i"}),
    "a number for each image": Wrong("values", {INDEX: "i / image * pixels"}),
    "channels last": Wrong("values|out of bounds", {"i % pixels": "i / channels % pixels"}),
    "plus": Wrong("values", {"x[i] * mask": "x[i] + mask"}),
}
