"""The window of im2col, dragged over an image: what becomes a column, and of what each is."""

import numpy as np

from ..page import Page

__all__ = ["window"]

STRIDES, PADDINGS, DILATIONS = (1, 2), (0, 1), (1, 2)


def window(size=(5, 6), kernel=3):
    """A window of kernel * kernel elements, dragged over an image of this size: a thread per place
    copies what lies under it into a column of the matrix. Stride, padding and dilation change."""
    runs = {
        f"{stride} {padding} {dilation}": _run(size, kernel, stride, padding, dilation)
        for stride in STRIDES
        for padding in PADDINGS
        for dilation in DILATIONS
    }
    data = {"size": size, "kernel": kernel, "runs": runs}
    data |= {"strides": STRIDES, "paddings": PADDINGS, "dilations": DILATIONS}
    words = "the window of im2col over an image; open it as HTML to drag it"
    return Page("window", "im2col", data, words, height=620)


def _run(size, kernel, *how):
    """Places down and across, and the matrix, a row for each element of the window; elements of the
    image are numbered from 1. None: the window finds no place."""
    from ..trace import record  # isort: skip  (it picks the driver that PyCUDA binds to)
    from pycuda import gpuarray

    from ... import windows

    try:
        h, w = windows.sides(size, kernel, *how)
    except ValueError:
        return None
    places = h.places * w.places
    x = gpuarray.to_gpu(np.arange(1, size[0] * size[1] + 1, dtype=np.float32))
    out = gpuarray.zeros(kernel * kernel * places, np.float32)
    told = np.int64(places), windows.argument(h, w)
    done = record("im2col/columns.cu", x, out, *told, grid=-(-places // 32), block=32)
    matrix = np.full(out.size, -1)
    for _, access in done.accesses("store", 1):
        matrix[access.index] = access.value
    return [h.places, w.places, matrix.reshape(-1, places).tolist()]
