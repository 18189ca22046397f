"""Tensor maps: boxes come as they lie, swizzled, filled past edges, in mode im2col; mistakes are
told."""

from pathlib import Path

import numpy as np
import pytest

from helpers import autoinit, sources, tensormap, windows
from softgpu.faults import FaultKind
from softgpu.tests.facts import refused, stopped

from pycuda import gpuarray  # isort: skip
import pycuda.driver as cuda  # isort: skip

pytestmark = pytest.mark.skipif(
    autoinit.device.compute_capability() < (9, 0), reason="needs a tensor memory accelerator"
)

ROOM = 1 << 14
TEXT = Path(__file__).with_name("boxes.cu").read_text()


def kernel(name):
    return sources.kernel(TEXT, name)


def loaded(map_, box, at, dtype, pitch=None):
    """The bytes of shared memory once the box at these coordinates has come; pitch: from a line to
    the next, if not a line's bytes."""
    out = gpuarray.zeros(ROOM, np.uint8)
    line = box[-1] * np.dtype(dtype).itemsize
    lines = int(np.prod(box[:-1]))
    where = map(np.int32, (*reversed(at), lines * line))
    kernel("box")(tensormap.packed(map_), out, *where, block=(128, 1, 1))
    end = lines * (pitch or line)
    assert (out.get()[end:] == 77).all()
    return out.get()[:end]


def swizzled(lines, swizzle):
    """What lies where in shared memory, of lines that follow each other."""
    flat = np.ascontiguousarray(lines).view(np.uint8).reshape(-1, 16)
    place = np.arange(len(flat))
    if swizzle:
        place ^= (place >> 3) & (swizzle // 16 - 1)
    made = np.empty_like(flat)
    made[place] = flat
    return made.reshape(-1)


def boxed(x, box, at):
    """A box of an array, 0 past its edges."""
    made = np.zeros(box, x.dtype)
    for place in np.ndindex(*box):
        source = tuple(a + b for a, b in zip(at, place))
        if all(0 <= s < size for s, size in zip(source, x.shape)):
            made[place] = x[source]
    return made


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("at", [(0, 0, 0), (1, 3, 8), (-1, -2, -8), (1, 5, 40)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
def test_a_box_comes_as_it_lies(swizzle, at, dtype):
    width = (swizzle or 64) // np.dtype(dtype).itemsize
    at = (*at[:2], at[2] * 16 // np.dtype(dtype).itemsize // 8)
    x = np.arange(3 * 7 * 64).astype(dtype).reshape(3, 7, 64)
    box = 2, 6, width
    on_gpu = gpuarray.to_gpu(x)
    got = loaded(tensormap.tiled(on_gpu, box, swizzle), box, at, dtype)
    np.testing.assert_array_equal(got, swizzled(boxed(x, box, at), swizzle))


@pytest.mark.skipif(not autoinit.is_software, reason="what lies there on a GPU is NVIDIA's affair")
def test_a_map_may_lose_the_bit_that_cutlass_clears():
    """Bit 21 of the second word of 64 bits: for a fault of NVIDIA's drivers before 13.1."""
    x = np.arange(7 * 64, dtype=np.float32).reshape(1, 7, 64)
    room, box = gpuarray.zeros(1 << 20, np.float32), (1, 4, 16)
    begin = 0 if room.ptr >> 21 & 1 else ((1 << 21) - room.ptr % (1 << 21)) // 4
    assert (room.ptr + 4 * begin) >> 21 & 1
    on_gpu = room[begin : begin + x.size].reshape(x.shape)
    on_gpu.set(x)
    words = np.frombuffer(tensormap.tiled(on_gpu, box, 0), np.uint64).copy()
    words[1] &= ~np.uint64(1 << 21)
    got = loaded(tensormap.Map(words.tobytes()), box, (0, 2, 16), "float32")
    np.testing.assert_array_equal(got, swizzled(boxed(x, box, (0, 2, 16)), 0))


@pytest.mark.parametrize("swizzle, width", [(32, 8), (64, 8), (64, 24), (128, 16), (128, 40)])
def test_lines_that_are_swizzled_have_the_room_of_a_pattern(swizzle, width):
    x = np.random.default_rng(0).standard_normal((1, 9, 64)).astype("f2")
    on_gpu, box = gpuarray.to_gpu(x), (1, 9, width)
    got = loaded(tensormap.tiled(on_gpu, box, swizzle), box, (0, 0, 8), "float16", swizzle)
    lines = np.full((9, swizzle), 77, np.uint8)
    lines[:, : 2 * width] = x[0, :, 8 : 8 + width].view(np.uint8)
    np.testing.assert_array_equal(got, swizzled(lines, swizzle)[: len(got)])


def test_numbers_of_tf32_are_rounded():
    """To the nearest one of 10 bits behind the point, a tie to the even one; NaN to one of them."""
    words = np.arange(0x3F800000, 0x3F800000 + 64 * 0x400, 0x400, dtype=np.uint32)
    words[:4] = 0x7F800000, 0xFF800000, 0x7FC01234, 0x7F7FFFFF
    x = gpuarray.to_gpu(words.view(np.float32).reshape(1, 4, 16))
    map_ = tensormap.tiled(x, x.shape, 0, tf32=True)
    got = loaded(map_, (1, 4, 16), (0, 0, 0), "float32").view(np.uint32)
    even = words >> 13 & 1
    want = (words + 0xFFF + even) >> 13 << 13
    want[:3] = 0x7F800000, 0xFF800000, 0x7FFFE000
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_filled_with_nan(dtype):
    x = gpuarray.zeros((1, 2, 16), dtype)
    got = loaded(tensormap.tiled(x, (1, 2, 8), 0, fill_nan=True), (1, 2, 8), (0, 1, 0), dtype)
    assert (got.view(np.uint16)[-8:] == 0x7FF7).all() and not got[: got.size // 2].any()


def test_steps_leave_out_elements_and_nan_may_fill():
    x = np.random.default_rng(0).standard_normal((4, 9, 16)).astype("f2")
    on_gpu = gpuarray.to_gpu(x)
    map_ = tensormap.tiled(on_gpu, (2, 6, 8), 0, steps=(2, 3, 1), fill_nan=True)
    got = loaded(map_, (1, 2, 8), (1, 6, 8), "float16").view("f2").reshape(2, 8)
    np.testing.assert_array_equal(got[0], x[1, 6, 8:])
    assert np.isnan(got[1]).all()


WINDOWS = {
    "plain": ((5, 6), (3, 3)),
    "padded": ((5, 4), (3, 2), 1, (2, 1)),
    "strided": ((9, 8), (3, 4), (2, 3), 1),
    "dilated": ((9, 11), (2, 3), 1, (0, 2), (3, 2)),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_pixels_under_a_tap_are_a_column_of_im2col(name):
    size, taps, *window = WINDOWS[name]
    h, w = windows.sides(size, taps, *window)
    x = np.random.default_rng(0).standard_normal((2, *size, 64)).astype("f2")
    columns = windows.im2col(x.transpose(0, 3, 1, 2), h, w)  # n, c, i, j, h, w
    on_gpu, out = gpuarray.to_gpu(x), gpuarray.zeros(ROOM, np.uint8)
    map_ = tensormap.packed(tensormap.im2col(on_gpu, h, w, pixels=16))
    place = min(5, w.places * h.places - 1)
    row, column = divmod(place, w.places)
    for i, j in np.ndindex(*taps):
        begin = column * w.stride - w.pad, row * h.stride - h.pad, 0
        told = map(np.int32, (*begin, j * w.dilation, i * h.dilation, 16 * 128))
        kernel("pixels")(map_, out, *told, block=(128, 1, 1))
        want = np.zeros((16, 64), "f2")
        every = columns[:, :, i, j].transpose(0, 2, 3, 1).reshape(-1, 64)[place : place + 16]
        want[: len(every)] = every
        np.testing.assert_array_equal(out.get()[: 16 * 128], swizzled(want, 128))


@pytest.mark.parametrize("at", [(0, 0, 0), (1, 4, 24), (2, 6, 8)])
def test_a_box_is_stored_up_to_the_edge(at):
    box = 2, 3, 16
    lines = np.random.default_rng(0).standard_normal(box).astype("f2")
    room = np.zeros(ROOM, np.uint8)
    room[: lines.nbytes] = swizzled(lines, 32)
    y = gpuarray.zeros((3, 7, 32), np.float16)
    map_ = tensormap.packed(tensormap.tiled(y, box, 32))
    where = map(np.int32, reversed(at))
    kernel("stored")(map_, gpuarray.to_gpu(room), *where, block=(128, 1, 1))
    want = np.zeros(y.shape, "f2")
    for place in np.ndindex(*box):
        target = tuple(a + b for a, b in zip(at, place))
        if all(t < size for t, size in zip(target, want.shape)):
            want[target] = lines[place]
    np.testing.assert_array_equal(y.get(), want)


@pytest.mark.parametrize(
    "box, options, facts",
    [
        ((8, 64), {}, ["box", (8, 64), (2, 16, 64)]),
        ((1, 300, 64), {}, ["box", (1, 300, 64), 1, 256]),
        ((1, 8, 128), {}, [128, "float16", 256, 16]),
        ((1, 8, 4), {}, [4, "float16", 8, 16]),
        ((1, 8, 64), {"swizzle": 96}, ["swizzle=96", 32, 64, 128]),
        ((1, 8, 64), {"steps": (1, 9, 1)}, ["steps", (1, 9, 1), 1, 8]),
    ],
)
def test_a_box_that_cannot_be_is_refused(box, options, facts):
    with refused(ValueError, *facts):
        tensormap.tiled(gpuarray.empty((2, 16, 64), np.float16), box, **options)


def test_the_driver_refuses_a_box_larger_than_shared_memory():
    x = gpuarray.empty((2, 256, 256), np.float16)
    with refused(ValueError, "cuTensorMapEncodeTiled", 1):
        tensormap.tiled(x, x.shape, 0)


def test_arrays_that_cannot_be_described_are_refused():
    x = gpuarray.empty((4, 20), np.float16)
    with refused(ValueError, x.shape, x.strides, 16):
        tensormap.tiled(x, (4, 8), 0)
    with refused(ValueError, (2, 32)):
        tensormap.tiled(gpuarray.empty((16, 16), np.float16).T, (4, 8), 0)
    with refused(ValueError, (1, 1, 1, 1, 1, 8), 1, 5):
        tensormap.tiled(gpuarray.empty((1,) * 5 + (8,), np.float16), (1,) * 5 + (8,), 0)
    with refused(TypeError, "complex64", "float16"):
        tensormap.tiled(gpuarray.empty((4, 16), np.complex64), (4, 2), 0)
    sides = windows.sides((40, 40), (3, 3), 9)
    with refused(ValueError, 8):
        tensormap.im2col(gpuarray.empty((1, 40, 40, 8), np.float16), *sides, channels=8)


@pytest.mark.skipif(not autoinit.is_software, reason="a GPU says less, and its context is lost")
@pytest.mark.parametrize(
    "name, at, kind, facts",
    [
        ("box", (0, 0, 3), FaultKind.BOX_ELEMENT, [3, 6, 16]),
        ("stored", (0, -1, 0), FaultKind.BOX_BEFORE_EDGE, [-1, 1]),
    ],
)
def test_copies_that_a_gpu_calls_illegal_are_explained(name, at, kind, facts):
    x, other = gpuarray.zeros((2, 8, 32), np.float16), gpuarray.zeros(ROOM, np.uint8)
    map_ = tensormap.packed(tensormap.tiled(x, (1, 8, 16), 32))
    where = [np.int32(n) for n in reversed(at)] + ([np.int32(256)] if name == "box" else [])
    with stopped(kind, *facts):
        kernel(name)(map_, other, *where, block=(128, 1, 1))
        cuda.Context.synchronize()


@pytest.mark.skipif(not autoinit.is_software, reason="a GPU says less, and its context is lost")
@pytest.mark.parametrize("x, y", [(-2, 0), (11, 0), (0, -2), (0, 9)])
def test_windows_begin_where_corners_leave_them(x, y):
    images, out = gpuarray.zeros((3, 10, 12, 64), np.float16), gpuarray.zeros(ROOM, np.uint8)
    sides = windows.sides((10, 12), (3, 3), 1, 1)
    map_ = tensormap.packed(tensormap.im2col(images, *sides, channels=64, pixels=16))
    where = map(np.int32, (x, y, 0, 0, 0, 2048))
    with stopped(FaultKind.WINDOW_PLACE, x or y, -1):
        kernel("pixels")(map_, out, *where, block=(128, 1, 1))
        cuda.Context.synchronize()


@pytest.mark.skipif(not autoinit.is_software, reason="a GPU says less, and its context is lost")
def test_what_is_no_map_is_told():
    with stopped(FaultKind.MAP_UNKNOWN, "cuTensorMapEncodeTiled"):
        nothing = np.zeros(tensormap.BEFORE + 128, np.uint8)
        out = gpuarray.zeros(ROOM, np.uint8)
        kernel("box")(nothing, out, *map(np.int32, (0, 0, 0, 0)), block=(128, 1, 1))
        cuda.Context.synchronize()


@pytest.mark.skipif(not autoinit.is_software, reason="a GPU reads rubbish there")
def test_a_parameter_that_pycuda_would_misplace_is_refused():
    text = """
struct __align__(64) Wide { char bytes[128]; };
extern "C" __global__ void wide(const __grid_constant__ Wide map, int *out) { *out = map.bytes[0]; }
"""
    with refused(cuda.LogicError, "wide", 64, "helpers.tensormap"):
        sources.kernel(text)(np.zeros(128, np.uint8), gpuarray.zeros(1, np.int32), block=(1, 1, 1))
