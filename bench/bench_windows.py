"""The cases of bench_gpu of a window that moves over images: im2col and col2im."""

from math import prod

import numpy as np

from helpers import autoinit, checks, ops, windows  # noqa: F401  (autoinit first)

from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases"]

TOPICS = "im2col", "col2im"
IMAGES = [  # shape, kernel, stride, padding, dilation
    ((1, 64, 224, 224), 3, 1, 1, 1),
    ((32, 64, 56, 56), 3, 1, 1, 1),
    ((32, 3, 224, 224), 7, 2, 3, 1),
    ((8, 256, 28, 28), 3, 1, 2, 2),
]


def cases(topic, torch, cupy, allocator):
    """(name, elements of the columns, bytes that must move, {contender: function that returns an
    array}, check(who, result)) for each case of a topic."""
    for dtype in "float32", "float16":
        for shape, *window in IMAGES:
            for batch in dict.fromkeys((shape[0], 1)):
                yield _case(topic, (batch, *shape[1:]), window, dtype, torch, allocator)


def _case(topic, shape, window, dtype, torch, allocator):
    name = "{} {} k{}s{}p{}d{} {}".format(topic, "x".join(map(str, shape)), *window, dtype)
    kernel, stride, padding, dilation = window
    h, w = windows.sides(shape[2:], *window)
    columns_shape = shape[0], shape[1] * h.kernel * w.kernel, h.places * w.places
    moved = np.dtype(dtype).itemsize * (prod(shape) + prod(columns_shape))
    given = shape if topic == "im2col" else columns_shape
    host = np.random.default_rng(1).standard_normal(given, np.float32).astype(dtype)
    x = gpuarray.to_gpu(host, allocator)
    told = {"dilation": dilation, "padding": padding, "stride": stride}
    if topic == "im2col":
        runs = {"ours": lambda: ops.im2col(x, *window)}
    else:
        runs = {"ours": lambda: ops.col2im(x, shape[2:], *window)}
    if torch:
        t, F = torch.as_tensor(x, device="cuda"), torch.nn.functional
        if topic == "im2col":
            runs["PyTorch"] = lambda: F.unfold(t, kernel, **told)
        else:
            runs["PyTorch"] = lambda: F.fold(t, shape[2:], kernel, **told)

    def check(who, got):
        for image in {0, shape[0] - 1}:
            found = got[image]
            found = found.cpu().numpy() if hasattr(found, "cpu") else found.get()
            _check_image(topic, host[image], found, (shape[1], h, w), f"{who}, {name}")

    return name, prod(columns_shape), moved, runs, check


def _check_image(topic, given, got, sizes, what):
    """What a contender made of one image, or of one image's columns."""
    channels, h, w = sizes
    if topic == "im2col":
        return checks.assert_equal(got, windows.im2col(given, h, w).reshape(got.shape), what)
    columns = given.reshape(channels, h.kernel, w.kernel, h.places, w.places).astype("f8")
    want = windows.col2im(columns, h, w)
    size = windows.col2im(np.abs(columns), h, w)
    tolerance = checks.gamma(h.kernel * w.kernel, "f4") * size
    if got.dtype == np.float16:  # rounded once more
        tolerance += checks.roundoff("f2") * (np.abs(want) + tolerance) + np.finfo("f2").tiny
    return checks.assert_close(got, want, tolerance, what)
