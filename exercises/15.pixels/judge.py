"""im2col by the tensor memory accelerator."""

from functools import partial

import numpy as np

from helpers import tensormap, windows
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Boxes, In, Launch, Out


def drawn(rng):
    return [
        (
            int(rng.integers(1, 4)),
            *(int(n) for n in rng.integers((6, 6, 2, 2, 1, 0), (20, 20, 4, 4, 3, 2))),
        )
        for _ in "ab"
    ]


def launch(rng, size):
    images, height, width, kernel_h, kernel_w, stride, pad = size
    h, w = windows.sides((height, width), (kernel_h, kernel_w), stride, pad)
    x = rng.integers(-99, 99, (images, height, width, 64)).astype(np.float16)
    seen = windows.im2col(x.transpose(0, 3, 1, 2), h, w)  # image, channel, tap row, column, place
    taps, places = kernel_h * kernel_w, images * h.places * w.places
    seen = np.ascontiguousarray(seen.transpose(2, 3, 0, 4, 5, 1)).reshape(taps, places, 64)
    out = Out(seen, dtype=np.float16, bits=True)
    make = partial(tensormap.im2col, h=h, w=w, channels=64, pixels=64, swizzle=0)
    numbers = map(np.int32, (places, h.places, w.places, kernel_w, stride, pad))
    what = (
        f"{images} x {height} x {width}, window {kernel_h} x {kernel_w}, stride {stride}, pad {pad}"
    )
    return Launch([Boxes([(In(x), make)]), out, *numbers], (-(-places // 64), taps), 128, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1, 1, 1, 1, 1, 0),
        (1, 5, 6, 3, 3, 1, 1),
        (2, 9, 7, 3, 2, 2, 1),
        (3, 8, 8, 2, 4, 1, 0),
        (2, 20, 21, 3, 3, 2, 1),
    ),
    drawn=drawn,
    large=((2, 20, 21, 5, 5, 3, 3), (70, 32, 33, 1, 1, 1, 0)),
    counted=(2, 16, 16, 3, 3, 1, 1),
    budget={"ld.sectors": 0, "st.sectors": 18432},
    limits={"instructions": 2},
    survivors={
        "threadIdx.x == 1": "another thread copies",
    },
)
