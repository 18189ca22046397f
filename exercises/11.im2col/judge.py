"""im2col in one dimension."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers

SIZES = (1, 1, 1, 0), (7, 3, 1, 1), (33, 3, 2, 0), (100, 5, 3, 2), (257, 4, 1, 3), (31, 7, 2, 6)


def launch(rng, size):
    width, kernel, stride, pad = size
    w_out = (width + 2 * pad - kernel) // stride + 1
    x = numbers(rng, width)
    padded = np.pad(x, pad)
    out = Out(np.stack([padded[k : k + stride * w_out : stride][:w_out] for k in range(kernel)]))
    numbers_ = (np.int32(n) for n in (width, w_out, kernel, stride, pad))
    what = f"width {width}, kernel {kernel}, stride {stride}, pad {pad}"
    return Launch([In(x), out, *numbers_], blocks_for(kernel * w_out), 256, what=what)


COUNTED = 4096, 4, 1, 0
BUDGET = {"ld.sectors": (2304, 2500), "st.sectors": (2047, 2048)}

WRONG = {
    "zeros": Wrong("values", {"? x[from] : 0.f": "? 0.f : 0.f"}),
    "no left edge": Wrong("out of bounds", {"0 <= from && ": ""}),
    "no right edge": Wrong("out of bounds", {" && from < width": ""}),
    "one past": Wrong("out of bounds", {"from < width": "from <= width"}),
    "stride forgotten": Wrong("values", {"w * stride": "w"}),
    "pad the other way": Wrong("values", {"- pad": "+ pad"}),
    "transposed": Wrong(
        "values", {"k = i / w_out, w = i % w_out": "w = i / kernel, k = i % kernel"}
    ),
    "no guard": Wrong("out of bounds", {"if (i >= kernel * w_out) return;": ""}),
}
