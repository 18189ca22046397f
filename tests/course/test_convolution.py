"""helpers.ops.conv2d and its gradients against sums written out in float64, and each other."""

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import autoinit, checks, ops, windows
from helpers.ops import (
    channels_last,
    convolution,
    hopper,
    product,
    tensor_windows,
    tuning,
    winograd,
)

from .pytorch import of_pytorch

pytestmark = pytest.mark.slow

WIDE = {"float16": "float32"}
# image, kernel, stride, padding, dilation
WINDOWS = {
    "plain": ((9, 8), (3, 3), 1, 0, 1),
    "padded": ((8, 8), (3, 3), 1, 1, 1),
    "uneven": ((13, 10), (3, 2), (2, 1), (0, 2), (1, 2)),
    "strided": ((11, 12), (1, 1), (3, 2), 0, 1),
    "beyond": ((2, 3), (3, 4), 2, 5, 3),
}


def numbers(*shape, dtype="float32", seed=0):
    """Random negatives and non-integers, so that a wrong index or rounding shows."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def on_gpu(x):
    return checks.Guarded(x.shape, x.dtype).set(x).array


class Direct:
    """A convolution and its gradients as sums over the window, an element of it at a time."""

    def __init__(self, h, w):
        self.h, self.w = h, w

    def elements(self, images):
        """(i, j, what lies under element i, j of the window at each of its places)."""
        outside = [(0, 0)] * 2 + [(s.pad, s.pad + s.more) for s in (self.h, self.w)]
        padded = np.pad(images.astype("f8"), outside)
        for i in range(self.h.kernel):
            for j in range(self.w.kernel):
                yield i, j, padded[..., self.h.reached(i), self.w.reached(j)]

    def forward(self, x, weight):
        return sum(
            np.einsum("nchw,oc->nohw", under, weight[:, :, i, j].astype("f8"))
            for i, j, under in self.elements(x)
        )

    def by_weight(self, x, gradient):
        out = np.empty((gradient.shape[1], x.shape[1], self.h.kernel, self.w.kernel))
        for i, j, under in self.elements(x):
            out[:, :, i, j] = np.einsum("nchw,nohw->oc", under, gradient.astype("f8"))
        return out

    def by_input(self, weight, gradient):
        columns = np.einsum("nohw,ocij->ncijhw", gradient.astype("f8"), weight.astype("f8"))
        return windows.col2im(columns, self.h, self.w)


def check(got, direct, arrays, count, bias=0.0):
    """Compare a result with direct(*arrays) + bias; count: products that are added up."""
    want, size = direct(*arrays) + bias, direct(*map(np.abs, arrays)) + np.abs(bias)
    wide = WIDE.get(got.dtype.name, got.dtype)
    if got.dtype == np.float16:
        count = max(count, checks.tensor_roundings(count))
    tolerance = checks.dot_tolerance(want, size, count + 1, got.dtype, wide)
    checks.assert_close(got, want, tolerance)


def check_all(image, kernel, *window, images=2, channels=3, channels_out=5, dtype="float32"):
    """conv2d and its gradients for arrays of these sizes."""
    h, w = windows.sides(image, kernel, *window)
    x = numbers(images, channels, *image, dtype=dtype)
    weight = numbers(channels_out, channels, *kernel, dtype=dtype)
    bias = numbers(channels_out, dtype=dtype)
    gradient = numbers(images, channels_out, h.places, w.places, dtype=dtype)
    direct, on = Direct(h, w), [on_gpu(a) for a in (x, weight, bias, gradient)]
    depth, taps = channels * h.kernel * w.kernel, h.kernel * w.kernel
    got = ops.conv2d(on[0], on[1], on[2], *window).get()
    check(got, direct.forward, (x, weight), depth, bias[:, None, None].astype("f8"))
    got = ops.conv2d_weight(on[0], weight.shape, on[3], *window).get()
    check(got, direct.by_weight, (x, gradient), images * h.places * w.places)
    got = ops.conv2d_input(x.shape, on[1], on[3], *window).get()
    check(got, direct.by_input, (weight, gradient), channels_out * taps)


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    check_all(*WINDOWS[name])


def test_float64():
    check_all(*WINDOWS["padded"], dtype="float64")
    check_all(*WINDOWS["uneven"], channels_out=70, dtype="float64")


HALVES = WINDOWS | {
    "seven": ((15, 14), (7, 7), 2, 3, 1),
    "steps": ((10, 9), (3, 3), (3, 2), (2, 1), (2, 2)),
    "far steps": ((19, 23), (3, 5), 4, 1, 1),
    "farther": ((19, 23), (3, 2), 5, 1, 1),  # than tensor cores' kernels make at once
}


@pytest.mark.parametrize("channels, channels_out, images", [(3, 5, 2), (17, 130, 1)])
@pytest.mark.parametrize("name", HALVES)
def test_halves(name, channels, channels_out, images):
    """Channels in chunks of 8 that are not full, one tile of rows and two."""
    check_all(*HALVES[name], images=images, channels=channels, channels_out=channels_out,
              dtype="float16")  # fmt: skip


def pairs(least, most):
    return st.tuples(st.integers(least, most), st.integers(least, most))


@settings(max_examples=20, deadline=None)
@given(
    window=st.tuples(pairs(1, 12), pairs(1, 4), pairs(1, 3), pairs(0, 3), pairs(1, 3)),
    images=st.integers(1, 3),
    channels=st.integers(1, 4),
    channels_out=st.integers(1, 6),
)
def test_any_window(window, images, channels, channels_out):
    image, kernel, stride, padding, dilation = window
    assume(all(n + 2 * p > (k - 1) * d for n, k, p, d in zip(image, kernel, padding, dilation)))
    check_all(image, kernel, stride, padding, dilation,
              images=images, channels=channels, channels_out=channels_out)  # fmt: skip


def test_sums_that_blocks_share():
    check_all((8, 8), (3, 3), 1, 1, 1, images=5, channels=40)


@pytest.mark.parametrize("most_bytes", [1, 5000])
def test_columns_in_portions(most_bytes, monkeypatch):
    monkeypatch.setattr(convolution, "MOST_COLUMN_BYTES", most_bytes)
    monkeypatch.setattr(convolution, "prepared", {})
    check_all(*WINDOWS["uneven"], images=3)
    check_all(*WINDOWS["padded"], dtype="float16")


def whole_weight(weight, groups):
    """The weight [channels_out, channels, ...] that makes of all channels what groups make."""
    channels_out, each = weight.shape[:2]
    whole = np.zeros((channels_out, each * groups, *weight.shape[2:]), weight.dtype)
    for o in range(channels_out):
        first = o // (channels_out // groups) * each
        whole[o, first : first + each] = weight[o]
    return whole


def of_groups(by_weight, groups):
    """What a gradient by such a weight says of the weight of the groups."""
    channels_out, channels = by_weight.shape[:2]
    each = channels // groups
    firsts = [o // (channels_out // groups) * each for o in range(channels_out)]
    return np.stack([row[first : first + each] for row, first in zip(by_weight, firsts)])


def check_groups(groups, image, kernel, *window, channels, channels_out, dtype, layout="NCHW"):
    """conv2d in groups, and its gradients, against one whose weight is 0 between groups."""
    h, w = windows.sides(image, kernel, *window)
    lying = last if layout == "NHWC" else np.array
    x, gradient = numbers(2, channels, *image), numbers(2, channels_out, h.places, w.places)
    weight = numbers(channels_out, channels // groups, *kernel)
    arrays = x, weight, gradient, numbers(channels_out)
    x, weight, gradient, bias = (a.astype(dtype) for a in arrays)
    direct, told = Direct(h, w), {"layout": layout, "groups": groups}
    on, of_weight, dy = (on_gpu(lying(a)) for a in (x, weight, gradient))
    whole, taps = whole_weight(weight, groups), h.kernel * w.kernel

    def by_weight(x, gradient):
        return of_groups(direct.by_weight(x, gradient), groups)

    def back(got):
        return first(got.get()) if layout == "NHWC" else got.get()

    got = back(ops.conv2d(on, of_weight, on_gpu(bias), *window, **told))
    check(got, direct.forward, (x, whole), weight[0].size, bias[:, None, None].astype("f8"))
    got = back(ops.conv2d_weight(on, of_weight.shape, dy, *window, **told))
    check(got, by_weight, (x, gradient), 2 * h.places * w.places)
    got = back(ops.conv2d_input(on.shape, of_weight, dy, *window, **told))
    check(got, direct.by_input, (whole, gradient), channels_out // groups * taps)


GROUPS = {  # groups, channels, channels_out
    "two": (2, 6, 10),
    "depthwise": (5, 5, 5),
    "depthwise, several": (3, 3, 9),
    "one for all": (4, 8, 4),
}


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("name", HALVES)
def test_groups(name, groups):
    number, channels, channels_out = GROUPS[groups]
    told = {"channels": channels, "channels_out": channels_out, "dtype": "float32"}
    check_groups(number, *HALVES[name], **told)


@pytest.mark.parametrize("groups", GROUPS)
def test_groups_of_halves(groups):
    number, channels, channels_out = GROUPS[groups]
    told = {"channels": channels, "channels_out": channels_out, "dtype": "float16"}
    check_groups(number, *WINDOWS["uneven"], **told)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("groups", [2, 6])
def test_groups_of_doubles_and_channels_last(groups, layout):
    dtype = "float64" if layout == "NCHW" else "float16"
    told = {"channels": 6, "channels_out": 12, "dtype": dtype, "layout": layout}
    check_groups(groups, *WINDOWS["padded"], **told)


@pytest.mark.usefixtures("in_quick")
@pytest.mark.parametrize("groups", [2, 6])
def test_groups_watched(groups, watched):
    """By the sanitizer: the kernels for groups, and those for each channel by itself."""
    convolution.prepared.clear()
    told = {"channels": 6, "channels_out": 6, "dtype": "float32"}
    check_groups(groups, (6, 7), (3, 2), (2, 1), 1, 1, **told)


def test_groups_of_more_than_one_tile():
    check_groups(2, (9, 8), (3, 3), 1, 1, channels=20, channels_out=140, dtype="float32")
    check_groups(70, (21, 19), (3, 3), 1, 1, channels=70, channels_out=70, dtype="float32")


def test_more_than_an_int_counts(monkeypatch):
    monkeypatch.setattr(convolution, "NARROW", 0)
    monkeypatch.setattr(convolution, "prepared", {})
    check_all(*WINDOWS["uneven"])


@pytest.mark.parametrize("kernel, dilation", [((3, 3), 1), ((4, 2), 1), ((2, 3), (3, 2))])
def test_padding_in_words(kernel, dilation):
    x, weight = numbers(2, 3, 7, 6), numbers(4, 3, *kernel)
    same = ops.conv2d(on_gpu(x), on_gpu(weight), padding="same", dilation=dilation).get()
    assert same.shape == (2, 4, 7, 6)
    sides = convolution._sides((7, 6), kernel, 1, "same", dilation)
    check(same, Direct(*sides).forward, (x, weight), 3 * kernel[0] * kernel[1])
    arrays = on_gpu(x), on_gpu(weight)
    valid = ops.conv2d(*arrays, padding="valid", dilation=dilation).get()
    checks.assert_equal(valid, ops.conv2d(*arrays, dilation=dilation).get())


def test_one_image_and_views():
    x, weight = numbers(4, 6, 9, 8), numbers(5, 3, 3, 3)
    h, w = windows.sides((9, 8), 3, padding=1)
    on = on_gpu(x), on_gpu(weight)
    one = ops.conv2d(on[0][1, :3], on[1], padding=1).get()
    assert one.shape == (5, 9, 8)
    check(one[None], Direct(h, w).forward, (x[1:2, :3], weight), 27)
    of_a_view = ops.conv2d(on[0][1, ::2], on[1], padding=1).get()
    check(of_a_view[None], Direct(h, w).forward, (x[1:2, ::2], weight), 27)
    views = ops.conv2d(on[0][:, ::2], on[1], padding=1)
    check(views.get(), Direct(h, w).forward, (x[:, ::2], weight), 27)
    by_weight = ops.conv2d_weight(on[0][:, ::2], weight.shape, views, padding=1).get()
    gradient = views.get()
    check(by_weight, Direct(h, w).by_weight, (x[:, ::2], gradient), gradient[:, 0].size)


def test_no_images_and_no_channels():
    weight = on_gpu(numbers(5, 3, 3, 3))
    assert ops.conv2d(on_gpu(numbers(0, 3, 9, 8)), weight).shape == (0, 5, 7, 6)
    gradient = on_gpu(numbers(0, 5, 7, 6))
    assert ops.conv2d_input((0, 3, 9, 8), weight, gradient).shape == (0, 3, 9, 8)
    by_weight = ops.conv2d_weight(on_gpu(numbers(0, 3, 9, 8)), weight.shape, gradient).get()
    checks.assert_equal(by_weight, np.zeros((5, 3, 3, 3), np.float32))
    bias, no_channels = numbers(5), [on_gpu(numbers(*n)) for n in ((0, 9, 8), (5, 0, 3, 3))]
    y = ops.conv2d(*no_channels, on_gpu(bias)).get()
    checks.assert_equal(y, np.broadcast_to(bias[:, None, None], (5, 7, 6)))


@pytest.mark.parametrize("name", WINDOWS)
def test_gradients_are_adjoint(name):
    image, kernel, *window = WINDOWS[name]
    h, w = windows.sides(image, kernel, *window)
    x, weight = numbers(2, 3, *image, dtype="f8"), numbers(5, 3, *kernel, dtype="f8")
    gradient = numbers(2, 5, h.places, w.places, dtype="f8")
    on = [on_gpu(a) for a in (x, weight, gradient)]
    products = [
        (ops.conv2d(on[0], on[1], None, *window).get() * gradient).sum(),
        (ops.conv2d_input(x.shape, on[1], on[2], *window).get() * x).sum(),
        (ops.conv2d_weight(on[0], weight.shape, on[2], *window).get() * weight).sum(),
    ]
    count = gradient.size * 3 * h.kernel * w.kernel + x.size
    size = (Direct(h, w).forward(abs(x), abs(weight)) * abs(gradient)).sum()
    tolerance = 2 * checks.gamma(count, "f8") * size
    checks.assert_close(np.array(products[1:]), np.full(2, products[0]), tolerance)


@pytest.mark.parametrize("name", WINDOWS)
def test_as_pytorch(name, tmp_path):
    image, kernel, *window = WINDOWS[name]
    x, weight = numbers(2, 3, *image, dtype="f8"), numbers(5, 3, *kernel, dtype="f8")
    script = f"""
window = {window}
made["forward"] = y = torch.nn.functional.conv2d(x, weight, None, *window)
made["input"] = torch.nn.grad.conv2d_input(x.shape, weight, y, *window)
made["weight"] = torch.nn.grad.conv2d_weight(x, weight.shape, y, *window)
"""
    want = of_pytorch(tmp_path, script, x=x, weight=weight)
    on = on_gpu(x), on_gpu(weight)
    count, size = 2 * 3 * 5 * want["forward"].size, abs(x).max() * abs(weight).max()
    tolerance = 2 * checks.gamma(count, "f8") * count * size
    y = ops.conv2d(*on, None, *window)
    checks.assert_close(y.get(), want["forward"], tolerance)
    tolerance *= abs(want["forward"]).max() * count
    got = ops.conv2d_input(x.shape, on[1], y, *window).get()
    checks.assert_close(got, want["input"], tolerance)
    got = ops.conv2d_weight(on[0], weight.shape, y, *window).get()
    checks.assert_close(got, want["weight"], tolerance)


def wrong_calls():
    """(error, facts that it names, a call) for calls that are to be refused."""
    x, weight, y = (on_gpu(numbers(*n)) for n in ((2, 3, 9, 8), (5, 3, 3, 3), (2, 5, 7, 6)))
    conv2d, sizes = ops.conv2d, ["grad_output", (2, 5, 5, 4)]
    yield ValueError, ["weight", (3, 3), 4], lambda: conv2d(x, weight[0, 0])
    yield ValueError, ["weight", (0, 3, 3, 3)], lambda: conv2d(x, on_gpu(numbers(0, 3, 3, 3)))
    no_rows = on_gpu(numbers(2, 3, 0, 8))
    yield ValueError, [(0, 8), 1], lambda: conv2d(no_rows, weight, padding="same")
    yield ValueError, ["x", (9, 8), 4], lambda: conv2d(x[0, 0], weight)
    yield ValueError, ["x", 2, "weight", 3], lambda: conv2d(x[:, :2], weight)
    yield ValueError, ["bias", (3,), 5], lambda: conv2d(x, weight, x[0, :, 0, 0])
    yield ValueError, ["height", 3, 2], lambda: conv2d(x[:, :, :2], weight)
    yield ValueError, ["stride", 0, 1], lambda: conv2d(x, weight, None, 0)
    yield ValueError, ["padding", -1, 0], lambda: conv2d(x, weight, padding=-1)
    yield ValueError, ["'same'", "stride", 1, 2], lambda: conv2d(x, weight, None, 2, "same")
    yield TypeError, ["dilation", 1.5], lambda: conv2d(x, weight, dilation=1.5)
    yield TypeError, ["weight", "float64"], lambda: conv2d(x, weight.astype(np.float64))
    yield TypeError, ["x", "int32", "float32"], lambda: conv2d(x.astype(np.int32), weight)
    yield TypeError, ["x", "GPUArray", "ndarray"], lambda: conv2d(x.get(), weight)
    yield ValueError, sizes, lambda: ops.conv2d_input(x.shape, weight, y, dilation=2)
    yield ValueError, sizes, lambda: ops.conv2d_weight(x, weight.shape, y, dilation=2)
    yield ValueError, [2, "groups", 3, "x"], lambda: conv2d(x, weight, groups=2)
    yield ValueError, [3, "groups", 5], lambda: conv2d(x, weight[:, :1], groups=3)
    six = on_gpu(numbers(6, 3, 3, 3))
    yield ValueError, [3, "groups", 1, "weight"], lambda: conv2d(x, six, groups=3)
    yield ValueError, ["groups", 0], lambda: conv2d(x, weight, groups=0)
    yield TypeError, ["groups", 1.5], lambda: conv2d(x, weight, groups=1.5)
    layouts = ["layout", "'CNHW'", "NCHW", "NHWC"]
    yield ValueError, layouts, lambda: conv2d(x, weight, layout="CNHW")
    wrong = ["padding", "'same'"]
    yield TypeError, wrong, lambda: ops.conv2d_weight(x, weight.shape, y, 1, "same")


def test_bad_input_is_refused_before_any_launch(no_launches):
    no_launches(wrong_calls())


by_warpgroups = pytest.mark.skipif(
    autoinit.device.compute_capability() != (9, 0), reason="needs the warpgroups of sm_90a"
)


def last(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def first(x):
    return np.moveaxis(x, -1, 1)


def check_last(image, kernel, *window, images=2, channels=3, channels_out=5, dtype="float16"):
    """As check_all, with channels last."""
    h, w = windows.sides(image, kernel, *window)
    x = numbers(images, channels, *image, dtype=dtype)
    weight = numbers(channels_out, channels, *kernel, dtype=dtype)
    bias = numbers(channels_out, dtype=dtype)
    gradient = numbers(images, channels_out, h.places, w.places, dtype=dtype)
    direct, layout = Direct(h, w), {"layout": "NHWC"}
    on, of_weight, dy = (on_gpu(last(a)) for a in (x, weight, gradient))
    depth, taps = channels * h.kernel * w.kernel, h.kernel * w.kernel
    got = first(ops.conv2d(on, of_weight, on_gpu(bias), *window, **layout).get())
    check(got, direct.forward, (x, weight), depth, bias[:, None, None].astype("f8"))
    got = first(ops.conv2d(on, of_weight, None, *window, **layout).get())
    check(got, direct.forward, (x, weight), depth)
    got = first(ops.conv2d_weight(on, of_weight.shape, dy, *window, **layout).get())
    check(got, direct.by_weight, (x, gradient), images * h.places * w.places)
    got = first(ops.conv2d_input(on.shape, of_weight, dy, *window, **layout).get())
    check(got, direct.by_input, (weight, gradient), channels_out * taps)


@pytest.mark.usefixtures("in_quick")
@by_warpgroups
@pytest.mark.parametrize("name", [*WINDOWS, "seven", "steps", "far steps"])
@pytest.mark.parametrize("channels", [(3, 8), (8, 20), (72, 131)], ids=str)
def test_channels_last_by_warpgroups(name, channels, monkeypatch):
    """Nothing is transposed: no kernel that does so is launched."""
    taken = []
    for way in channels_last.forward, channels_last.by_input, channels_last.by_weight:

        def noted(*arguments, way=way):
            call = way(*arguments)
            taken.append((way.__name__, call is not None))
            return call

        monkeypatch.setattr(channels_last, way.__name__, noted)
    convolution.prepared.clear()
    check_last(*HALVES[name], channels=channels[0], channels_out=channels[1])
    convolution.prepared.clear()
    across = windows.pair(HALVES[name][4], "dilation", 1)[1]
    lies = channels[0] % 8 == 0 or across == 1
    ways = [("forward", lies)] * 2 + [("by_weight", lies), ("by_input", True)]
    assert taken == ways


@pytest.mark.usefixtures("in_quick")
@pytest.mark.parametrize("name, channels", [("padded", 8), ("padded", 3), ("strided", 8)])
def test_channels_last_watched(name, channels, watched):
    convolution.prepared.clear()
    check_last(*WINDOWS[name], channels=channels, channels_out=16)


@pytest.mark.usefixtures("in_quick")
@pytest.mark.parametrize("channels", [30, 3])
def test_channels_last_of_points_in_lines_that_are_no_multiple_of_16_bytes(channels):
    check_last((5, 7), (1, 1), images=3, channels=channels, channels_out=24)


@pytest.mark.usefixtures("in_quick")
@pytest.mark.parametrize("dtype, channels_out", [("float32", 8), ("float64", 3), ("float16", 5)])
def test_channels_last_of_what_warpgroups_do_not_take(dtype, channels_out):
    check_last(*WINDOWS["uneven"], channels_out=channels_out, dtype=dtype)


@pytest.mark.usefixtures("in_quick")
def test_channels_last_of_one_image_views_and_nothing():
    x, weight = numbers(2, 8, 9, 7, dtype="float16"), numbers(8, 8, 3, 3, dtype="float16")
    on, of_weight = on_gpu(last(x)), on_gpu(last(weight))
    whole = ops.conv2d(on, of_weight, layout="NHWC")
    one = ops.conv2d(on[1], of_weight, layout="NHWC")
    checks.assert_equal(one.get(), whole.get()[1])
    cut = ops.conv2d(on[:, 1:], of_weight, layout="NHWC").get()
    checks.assert_equal(cut, whole.get()[:, 1:])
    room = checks.Guarded((x.size + 1,), np.float16)
    moved = room.array[1:].reshape(on.shape)  # does not begin at a multiple of 16 bytes
    moved.set(last(x))
    checks.assert_close(ops.conv2d(moved, of_weight, layout="NHWC").get(), whole.get(),
                        2.0**-9 * abs(whole.get().astype("f8")) + 2.0**-9)  # fmt: skip
    nothing = on_gpu(np.zeros((0, 9, 7, 8), np.float16))
    y = ops.conv2d(nothing, of_weight, layout="NHWC")
    assert y.shape == (0, 7, 5, 8)
    assert ops.conv2d_input(nothing.shape, of_weight, y, layout="NHWC").shape == (0, 9, 7, 8)
    got = ops.conv2d_weight(nothing, of_weight.shape, y, layout="NHWC").get()
    checks.assert_equal(got, np.zeros((8, 3, 3, 8), np.float16))


@by_warpgroups
@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("channels", [(3, 5), (64, 72), (72, 130)], ids=str)
def test_windows_by_warpgroups(name, channels, monkeypatch):
    monkeypatch.setattr(hopper, "beside", lambda tilings, by_groups: by_groups)
    convolution.prepared.clear()
    check_all(*WINDOWS[name], channels=channels[0], channels_out=channels[1], dtype="float16")
    convolution.prepared.clear()


@by_warpgroups
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("name", ["strided", "seven", "steps", "far steps"])
@pytest.mark.parametrize("channels", [(3, 5), (72, 131)], ids=str)
def test_a_tile_of_one_step_sums_over_the_taps_it_sees(name, channels, layout, monkeypatch):
    taken = []

    def by_steps(problem, ways, prepare):
        ways = [way for way in ways if isinstance(way, tensor_windows.Stepwise)] or ways
        taken.append(type(ways[0]))
        return tuning.quickest(problem, ways, prepare)

    monkeypatch.setattr(tensor_windows.Layer, "layouts", property(lambda self: [self]))
    for module in tensor_windows, channels_last:
        monkeypatch.setattr(module, "quickest", by_steps)
    convolution.prepared.clear()
    check = check_last if layout == "NHWC" else partial(check_all, dtype="float16")
    check(*HALVES[name], channels=channels[0], channels_out=channels[1])
    convolution.prepared.clear()
    assert taken.count(tensor_windows.Stepwise) == 1


def prefer(wanted, monkeypatch):
    """Have convolutions take layers that are wanted, wherever there are any; return how many
    were."""
    taken = []

    def us(layer, *told):
        taken.extend([layer] * wanted(layer))
        return 0 if wanted(layer) else 1

    for module in tensor_windows, channels_last:
        monkeypatch.setattr(module, "_least_us", us)
    monkeypatch.setattr(tensor_windows, "_gradient_us", us)
    monkeypatch.setattr(tensor_windows, "_by_threads_us", lambda *told: 2)
    convolution.prepared.clear()
    return taken


@by_warpgroups
@pytest.mark.parametrize("merged", [False, True], ids=["alone", "side by side"])
@pytest.mark.parametrize("by_groups", [True, False], ids=["warpgroups", "warps"])
@pytest.mark.parametrize("name", ["uneven", "padded", "strided"])
def test_groups_by_tensor_cores(name, by_groups, merged, monkeypatch):
    """Where a group has few channels or many, in one tile or two, or several groups are one."""
    monkeypatch.setattr(hopper, "beside", lambda *ways: ways[by_groups])
    taken = prefer(lambda layer: (layer.merged == 2) == merged, monkeypatch)
    for groups, channels, channels_out in (2, 6, 10), (4, 12, 8), (3, 24, 210):
        told = {"channels": channels, "channels_out": channels_out, "dtype": "float16"}
        check_groups(groups, *WINDOWS[name], **told)
    convolution.prepared.clear()
    assert taken


DILATED = (11, 13), (3, 2), 2, 1, 2


@by_warpgroups
@pytest.mark.parametrize("window, steps", [
    *((WINDOWS["padded"], steps) for steps in tensor_windows.STEPS),
    (HALVES["seven"], (4, 4)), (DILATED, (1, 2)), (DILATED, (2, 4)),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("by_groups", [True, False], ids=["warpgroups", "warps"])
def test_places_that_yield_several_pixels(window, by_groups, steps, monkeypatch):
    """Edges of the result within a place, and none."""
    monkeypatch.setattr(hopper, "beside", lambda *ways: ways[by_groups])
    taken = prefer(lambda layer: (layer.h.steps, layer.w.steps) == steps, monkeypatch)
    check_all(*window, channels=9, channels_out=4, dtype="float16")
    check_all((12, 16), *window[1:], channels=16, channels_out=3, dtype="float16")
    if by_groups:
        check_last(*window, channels=8, channels_out=4)
    convolution.prepared.clear()
    assert taken


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_points_in_groups_are_products(dtype, monkeypatch):
    """Of one image, and of several, which take copies of the weight."""
    taken = []

    def quickest(problem, ways, prepare):
        products = [way for way in ways if way.name == "a product per image"]
        taken.extend(products)
        return tuning.quickest(problem, products or ways, prepare)

    monkeypatch.setattr(convolution, "quickest", quickest)
    monkeypatch.setattr(tensor_windows, "_by_threads_us", lambda *told: -1)
    convolution.prepared.clear()
    for groups, channels, channels_out in (2, 6, 10), (3, 24, 210):
        told = {"channels": channels, "channels_out": channels_out, "dtype": dtype}
        check_groups(groups, (5, 8), (1, 1), **told)
    convolution.prepared.clear()
    assert len(taken) == 4


def test_pixels_that_no_tap_sees_are_zeros(monkeypatch):
    """Also where blocks share sums."""
    ways = product.Tiling.ways

    def split(*told, **options):
        return min(ways(*told, **options), key=lambda way: -way.splits)

    monkeypatch.setattr(convolution.Tiling, "of", split)
    convolution.prepared.clear()
    for window in ((1, 1), 2, 0, 1), ((2, 1), (2, 3), 1, 1), ((2, 2), 3, 0, 3):
        check_all((7, 9), *window, channels=3, channels_out=300)
    convolution.prepared.clear()


def test_points_are_products():
    """1 x 1, without stride: channels and pixels that products take as they lie, and others."""
    for channels, channels_out, image in (16, 71, (8, 6)), (16, 8, (5, 5)), (3, 9, (4, 4)):
        check_all(image, (1, 1), channels=channels, channels_out=channels_out, dtype="float16")
        x, weight = (
            numbers(2, channels, *image, dtype="float16"),
            numbers(channels_out, channels, 1, 1, dtype="float16"),
        )
        got = ops.conv2d(on_gpu(x), on_gpu(weight)).get()
        direct = Direct(*windows.sides(image, (1, 1)))
        check(got, direct.forward, (x, weight), channels)


@pytest.mark.parametrize("piece", [8, 4, None])
@pytest.mark.parametrize("channels, channels_out", [(14, 40), (15, 23)])
def test_images_whose_lines_are_no_multiple_of_16_bytes_are_products_too(
    piece, channels, channels_out, monkeypatch
):
    taken = []

    def us(sizes, batch, kind, *told):
        taken.append(kind and kind.piece)
        return 0 if taken[-1] == piece else 1e9

    monkeypatch.setattr(tensor_windows, "product_us", us)
    convolution.prepared.clear()
    sizes = {"channels": channels, "channels_out": channels_out}
    check_all((10, 14), (1, 1), **sizes, dtype="float16")
    x = numbers(2, channels, 10, 14, dtype="float16")
    weight = numbers(channels_out, channels, 1, 1, dtype="float16")
    got = ops.conv2d(on_gpu(x), on_gpu(weight)).get()
    check(got, Direct(*windows.sides((10, 14), (1, 1))).forward, (x, weight), channels)
    convolution.prepared.clear()
    assert taken == [8, 4, None] * 2


def of_points(points, taps, count):
    """The largest error of sums of `count` products of tiles of numbers up to 1, and windows."""
    (of_taps, of_values), of_tile = winograd._matrices(points, taps), winograd._of_tile(points)
    most = np.abs(of_values) @ (np.abs(of_taps).sum(1) * np.abs(of_tile).sum(1))
    roundings = count + 2 * (taps + 2 * points) + 6  # 6: of matrices
    return checks.gamma(roundings, "float32") * count * most.max() ** 2


IN_TILES = [
    ((10, 13), 3, 1, 2), ((9, 8), 5, 2, 1), ((7, 7), 3, (0, 2), 3), ((11, 6), 2, 0, 1),
    ((7, 9), 4, (3, 1), 2), ((9, 10), 7, 3, 2), ((12, 9), 6, (0, 5), 1),
]  # fmt: skip


@pytest.mark.parametrize("points, image, kernel, padding, images", [
    (points, *case) for points, kernels in winograd.KERNELS.items()
    for case in IN_TILES if case[1] in kernels
])  # fmt: skip
def test_by_winograd(points, image, kernel, padding, images, monkeypatch):
    """Tiles that end beyond the image, none, and images in a row."""

    def quickest(problem, ways, prepare):
        (way,) = (way for way in ways if way.name == f"{winograd.NAME}, {points} points")
        return way.prepare()

    monkeypatch.setattr(convolution, "quickest", quickest)
    monkeypatch.setattr(convolution, "prepared", {})
    window = (kernel, kernel), 1, padding
    h, w = windows.sides(image, *window)
    shapes = (images, 8, *image), (9, 8, kernel, kernel), (images, 9, h.places, w.places)
    random = np.random.default_rng(kernel)
    x, weight, gradient = (random.uniform(-1, 1, shape).astype("f4") for shape in shapes)
    direct, bias = Direct(h, w), numbers(9)
    on = [on_gpu(a) for a in (x, weight, gradient)]
    got = ops.conv2d(*on[:2], on_gpu(bias), *window[1:]).get()
    want = direct.forward(x, weight) + bias[:, None, None].astype("f8")
    within = of_points(points, kernel, 8)
    checks.assert_close(got, want, within + checks.roundoff("float32") * (np.abs(want) + within))
    got = ops.conv2d_input(x.shape, on[1], on[2], *window[1:]).get()
    checks.assert_close(got, direct.by_input(weight, gradient), of_points(points, kernel, 9))
    got = ops.conv2d_weight(on[0], weight.shape, on[2], *window[1:]).get()
    made = points + 1 - kernel
    tiles = images * -(-h.places // made) * -(-w.places // made)
    checks.assert_close(got, direct.by_weight(x, gradient), of_points(points, made, tiles))
