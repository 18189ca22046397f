"""im2col and col2im against NumPy: the steps of cuda_src/im2col and col2im, and helpers.ops."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import autoinit, checks, ops, sources, windows, xray
from helpers.ops import windows as ours

from .pytorch import of_pytorch
from .steps_im2col import COL2IM, IM2COL, assert_folded, col2im, im2col, numbers

from pycuda import gpuarray  # isort: skip

# (H, W), kernel, stride, padding, dilation: what networks use, and what tells mistakes apart.

pytestmark = pytest.mark.usefixtures("in_quick")

WINDOWS = {
    "one element": ((1, 1), 1, 1, 0, 1),
    "same size": ((12, 40), 3, 1, 1, 1),
    "uneven": ((9, 70), (2, 3), (1, 2), (0, 3), (2, 1)),
    "first of a network": ((21, 24), 7, 2, 3, 1),
    "dilated": ((13, 16), 3, 1, 2, 2),
    "strided and dilated": ((20, 37), (3, 2), (4, 6), (5, 2), (6, 4)),
    "coprime": ((17, 23), 3, (2, 3), 4, (3, 2)),
    "gaps": ((15, 14), 2, 5, 1, 1),
    "all padding": ((2, 3), (5, 4), 1, 4, 1),
}
TYPES = ["float16", "float32", "float64"]
FOLDS = [  # a pack of wide.cu is a multiple of the stride
    (step, name)
    for step in COL2IM
    for name, (_, _, stride, *_) in WINDOWS.items()
    if step != "wide" or stride in (1, 2, (1, 2))
]


def sides(name):
    return windows.sides(*WINDOWS[name])


# --- steps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("step", IM2COL)
def test_im2col_steps(step, name):
    h, w = sides(name)
    x = numbers(3, h.image, w.image)
    checks.assert_equal(im2col(step, x, h, w), windows.im2col(x, h, w), step)


@pytest.mark.parametrize("step, name", FOLDS)
def test_col2im_steps(step, name):
    h, w = sides(name)
    columns = numbers(3, h.kernel, w.kernel, h.places, w.places)
    start = 0 if step == "scatter" else np.nan
    assert_folded(col2im(step, columns, h, w, start=start), columns, h, w)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_steps_of_other_types(dtype):
    h, w = sides("uneven")
    x = numbers(2, h.image, w.image, dtype=dtype)
    columns = windows.im2col(x, h, w)
    for step in IM2COL:
        checks.assert_equal(im2col(step, x, h, w), columns, step)
    for step in "gather", "skip", "unrolled", "wide":
        assert_folded(col2im(step, columns, h, w), columns, h, w)


@pytest.mark.parametrize("step", ["fast", "packed", "column_packs", "unrolled", "wide"])
def test_im2col_counts_beyond_32_bits(step):
    h, w = sides("uneven")
    x = numbers(3, h.image, w.image)
    got = im2col(step, x, h, w, Index=np.dtype(np.int64))
    checks.assert_equal(got, windows.im2col(x, h, w), step)


@pytest.mark.parametrize(
    "step, name",
    [(step, "strided and dilated") for step in ("skip", "unrolled")] + [("wide", "uneven")],
)
def test_col2im_counts_beyond_32_bits(step, name):
    h, w = sides(name)
    columns = numbers(3, h.kernel, w.kernel, h.places, w.places)
    assert_folded(col2im(step, columns, h, w, Index=np.dtype(np.int64)), columns, h, w)


def test_a_loop_takes_any_grid():
    h, w = sides("first of a network")
    x = numbers(3, h.image, w.image)
    columns = windows.im2col(x, h, w)
    for grid in (1, 1, 1), (2, 1, 1), (100, 1, 1):
        checks.assert_equal(im2col("columns", x, h, w, grid=grid), columns, f"{grid}")
    for grid in (1, 1, 1), (1, 1, 3):
        tiles = (*(-(-side.places // size) for side, size in ((w, 32), (h, 8))), grid[2])
        checks.assert_equal(im2col("tiles", x, h, w, grid=tiles), columns, f"{tiles}")


@pytest.mark.parametrize("step", ["gather", "skip", "unrolled", "wide"])
def test_requests(step):
    h, w = sides("dilated")
    columns = numbers(2, h.kernel, w.kernel, h.places, w.places)
    for request, start in ("WRITE", np.nan), ("ADD", 3.5):
        got = col2im(step, columns, h, w, start=start, REQUEST=request)
        assert_folded(got, columns, h, w, 0 if request == "WRITE" else start)
    left = col2im(step, columns, h, w, start=3.5, REQUEST="NOTHING")
    checks.assert_equal(left, np.full_like(left, 3.5))


# --- what is wrong on purpose ---------------------------------------------------------------------


def test_the_wrong_edge_takes_the_other_edge_s_pixels():
    h, w = sides("same size")
    x = numbers(2, h.image, w.image)
    want = windows.im2col(x, h, w)
    got = im2col("wrong_edge", x, h, w)
    inside = np.s_[:, :, :, :, 1:-1]
    checks.assert_equal(got[inside], want[inside])
    assert (got[:, 0, 0, 2:, 0] == x[:, :-2, -1][:, : h.places - 2]).all()
    assert not want[:, 0, 0, 2:, 0].any()


def test_the_article_s_count_is_right_only_where_sizes_stay():
    """n is channels * H_out * W_out; the article says channels * H * W."""
    h, w = sides("same size")
    x = numbers(2, h.image, w.image)
    checks.assert_equal(im2col("columns", x, h, w, n=x.size), windows.im2col(x, h, w))
    h, w = windows.sides((12, 40), 3)
    out = on_gpu(numbers(2, h.kernel, w.kernel, h.places, w.places))
    launch = sources.kernel("im2col/columns.cu"), on_gpu(x), out
    for n, clean in (2 * h.places * w.places, True), (x.size, False):
        found = xray.sanitize(*launch, np.int64(n), windows.argument(h, w), grid=4, block=64)
        assert found.clean if clean else found.of("out of bounds")


def test_the_wrong_extent_misses_what_dilation_spreads():
    h, w = sides("dilated")
    columns = numbers(2, h.kernel, w.kernel, h.places, w.places)
    with pytest.raises(checks.Differs):
        assert_folded(col2im("wrong_extent", columns, h, w), columns, h, w)
    h, w = sides("same size")
    columns = numbers(2, h.kernel, w.kernel, h.places, w.places)
    assert_folded(col2im("wrong_extent", columns, h, w), columns, h, w)


# --- operations -----------------------------------------------------------------------------------


def on_gpu(x, offset_bytes=0):
    return checks.Guarded(x.shape, x.dtype, offset_bytes).set(x).array


def check(x, *window):
    """im2col of x[..., C, H, W], and col2im of what it gives."""
    h, w = windows.sides(x.shape[-2:], *window)
    columns = windows.im2col(x, h, w)
    got = ops.im2col(on_gpu(x), *window)
    rows = x.shape[-3] * h.kernel * w.kernel
    shape = (*x.shape[:-3], rows, h.places * w.places)
    checks.assert_equal(got.get(), columns.reshape(shape), "im2col")
    back = ops.col2im(on_gpu(columns.reshape(shape)), x.shape[-2:], *window)
    assert_folded(back.get(), columns, h, w)


def pairs(least, most):
    number = st.integers(least, most)
    return st.one_of(number, st.tuples(number, number))


@settings(deadline=None, max_examples=150)
@given(
    x=st.tuples(*[st.integers(1, 4)] * 2, *[st.integers(1, 14)] * 2),
    window=st.tuples(pairs(1, 5), pairs(1, 5), pairs(0, 5), pairs(1, 4)),
    dtype=st.sampled_from(TYPES),
    batch=st.booleans(),
)
def test_any_window(x, window, dtype, batch):
    kernel, stride, padding, dilation = window
    try:
        windows.sides(x[2:], *window)
    except ValueError:
        assume(False)
    check(numbers(*x if batch else x[1:], dtype=dtype), *window)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "name", ["same size", "uneven", "first of a network", "strided and dilated"]
)
def test_kernels_compiled_for_a_window(name, dtype, monkeypatch):
    monkeypatch.setattr(ours, "LARGE", 0)
    ours.prepared.clear()
    size, *window = WINDOWS[name]
    check(numbers(2, 3, *size, dtype=dtype), *window)
    ours.prepared.clear()


def test_wide_loads_are_aligned(monkeypatch):
    monkeypatch.setattr(ours, "LARGE", 0)
    x = numbers(1, 2, 8, 8, dtype="float16")
    h, w = windows.sides((8, 8), 3, 1, 1)
    want = windows.im2col(x, h, w)
    columns = want.reshape(1, 18, 64)
    for offset in 0, 8, 2:  # bytes: packs of eight, of four, of one
        ours.prepared.clear()
        checks.assert_equal(ops.im2col(on_gpu(x, offset), 3, padding=1).get(), columns)
        back = ops.col2im(on_gpu(columns, offset), 8, 3, padding=1)
        assert_folded(back.get(), want, h, w)
    ours.prepared.clear()


@pytest.mark.parametrize("large", [0, ours.LARGE])
def test_more_than_an_int_counts(large, monkeypatch):
    monkeypatch.setattr(ours, "LARGE", large)
    monkeypatch.setattr(ours, "NARROW", 0)
    ours.prepared.clear()
    check(numbers(2, 3, 9, 16), 3, 2, 1, 1)
    ours.prepared.clear()


def test_out():
    x = numbers(2, 3, 8, 8)
    h, w = windows.sides((8, 8), 3, 1, 1)
    want = windows.im2col(x, h, w).reshape(2, 27, 64)
    for offset in 0, 4, 8:
        out = checks.Guarded(want.shape, x.dtype, offset)
        assert ops.im2col(on_gpu(x, offset), 3, padding=1, out=out.array) is out.array
        checks.assert_equal(out.get(), want)
        image = checks.Guarded(x.shape, x.dtype, offset).set(2.5)
        ops.col2im(on_gpu(want, offset), (8, 8), 3, padding=1, out=image.array, add=True)
        assert_folded(image.get(), want.reshape(2, 3, 3, 3, 8, 8), h, w, 2.5)


def test_views_are_copied():
    x = numbers(4, 6, 8, 10)
    h, w = windows.sides((8, 5), 3)
    got = ops.im2col(on_gpu(x)[::2, :, :, ::2], 3)
    want = windows.im2col(x[::2, :, :, ::2], h, w)
    checks.assert_equal(got.get(), want.reshape(2, 54, 18))


def test_no_images():
    assert ops.im2col(on_gpu(numbers(0, 3, 8, 8)), 3).shape == (0, 27, 36)
    assert ops.col2im(on_gpu(numbers(0, 27, 36)), 8, 3).shape == (0, 3, 8, 8)


def test_how_numbers_are_told():
    x = on_gpu(numbers(1, 2, 9, 9))
    want = ops.im2col(x, 3, 2, 1, 2).get()
    for told in (np.int64(3), 2, 1, 2), ([3], (2,), [1], (2,)), ([3, 3], [2, 2], (1, 1), (2, 2)):
        checks.assert_equal(ops.im2col(x, *told).get(), want)
    checks.assert_equal(ops.im2col(x, np.array([3, 3]), 2, 1, 2).get(), want)


def test_streams():
    from pycuda.driver import Stream

    x, stream = numbers(1, 2, 9, 9), Stream()
    h, w = windows.sides((9, 9), 3)
    columns = ops.im2col(on_gpu(x), 3, stream=stream)
    back = ops.col2im(columns, 9, 3, stream=stream)
    stream.synchronize()
    assert_folded(back.get(), windows.im2col(x, h, w), h, w)


def test_the_same_bits_every_time():
    columns = on_gpu(numbers(2, 27, 400))
    first, second = (ops.col2im(columns, 22, 3).get() for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_as_pytorch(tmp_path):
    xs = {f"x{n}": numbers(2, 3, *size) for n, (size, *_) in enumerate(WINDOWS.values())}
    script = ["of = torch.nn.functional"]
    for n, (size, kernel, stride, padding, dilation) in enumerate(WINDOWS.values()):
        told = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
        script.append(f"made['columns{n}'] = of.unfold(x{n}, **{told})")
        script.append(f"made['image{n}'] = of.fold(made['columns{n}'], {size}, **{told})")
    want = of_pytorch(tmp_path, "\n".join(script), **xs)
    for n, (size, *window) in enumerate(WINDOWS.values()):
        columns, image = want[f"columns{n}"], want[f"image{n}"]
        got = ops.im2col(on_gpu(xs[f"x{n}"]), *window)
        checks.assert_equal(got.get(), columns)
        got = ops.col2im(got, size, *window).get()
        assert got.shape == image.shape
        h, w = windows.sides(size, *window)
        tolerance = (
            checks.gamma(h.kernel * w.kernel, "f4") * np.abs(xs[f"x{n}"]) * h.kernel * w.kernel
        )
        checks.assert_close(got, image, 2 * tolerance)


def refused():
    """(error, facts that it names, a call) for calls that are to be refused."""
    x, columns = on_gpu(numbers(2, 3, 8, 8)), on_gpu(numbers(2, 27, 36))
    yield TypeError, ["GPUArray"], lambda: ops.im2col(numbers(2, 3, 8, 8), 3)
    yield TypeError, ["x", "int32", "float32"], lambda: ops.im2col(x.astype(np.int32), 3)
    yield TypeError, ["kernel", 1.5], lambda: ops.im2col(x, 1.5)
    yield TypeError, ["kernel", True], lambda: ops.im2col(x, True)
    yield TypeError, ["stride", (1, 2, 3)], lambda: ops.im2col(x, 3, (1, 2, 3))
    yield ValueError, ["kernel", 0, 1], lambda: ops.im2col(x, 0)
    yield ValueError, ["stride", 0, 1], lambda: ops.im2col(x, 3, 0)
    yield ValueError, ["padding", (0, -1), 0], lambda: ops.im2col(x, 3, padding=(0, -1))
    yield ValueError, ["dilation", 0, 1], lambda: ops.im2col(x, 3, dilation=0)
    yield ValueError, ["height", 9, 8], lambda: ops.im2col(x, (9, 1))
    yield ValueError, ["width", 9, 8], lambda: ops.im2col(x, 3, dilation=(1, 4))
    yield ValueError, ["2^31"], lambda: ops.im2col(x, 3, padding=1 << 30)
    yield ValueError, [(8, 8), "[N, C, H, W]"], lambda: ops.im2col(x[0, 0], 3)
    empty = on_gpu(numbers(2, 0, 8, 8))
    yield ValueError, [(2, 0, 8, 8), "[N, C, H, W]"], lambda: ops.im2col(empty, 3)
    yield ValueError, ["out", (27, 36), (2, 27, 36)], lambda: ops.im2col(x, 3, out=columns[0])
    yield TypeError, ["out", "float64"], lambda: ops.im2col(x, 3, out=columns.astype(np.float64))
    yield ValueError, ["out"], lambda: ops.im2col(x, 1, out=x.reshape(2, 3, 64))
    yield ValueError, ["output_size", 0, 1], lambda: ops.col2im(columns, 0, 3)
    yield ValueError, ["height", 3, 2], lambda: ops.col2im(columns, 2, 3)
    yield ValueError, [36, 49], lambda: ops.col2im(columns, 9, 3)
    yield ValueError, [27, 4], lambda: ops.col2im(columns, 7, 2)
    yield ValueError, [(36,), "[N, C * 9, 36]"], lambda: ops.col2im(columns[0, 0], 8, 3)
    yield ValueError, ["add", "out"], lambda: ops.col2im(columns, 8, 3, add=True)


def test_bad_input_is_refused_before_any_launch(no_launches):
    no_launches(refused())


@pytest.mark.slow
@pytest.mark.skipif(autoinit.is_software, reason="takes the software GPU minutes")
def test_more_than_2_to_the_31_elements():
    from pycuda.driver import memset_d32

    x = gpuarray.empty((4, 1 << 10, 256, 260), np.float16)
    memset_d32(x.gpudata, 0, x.nbytes // 4)
    x[3, -1, 255, 259:].set(np.array([7], np.float16))
    columns = ops.im2col(x, 3, padding=1)
    assert columns.size > 1 << 31
    assert columns[3, -9].get()[-1] == 0 and columns[3, -5].get()[-1] == 7
    assert ops.col2im(columns, (256, 260), 3, padding=1)[3, -1, 255, 259:].get() == 28
