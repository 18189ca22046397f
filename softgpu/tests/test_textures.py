"""Textures and surfaces. What textures read is the CUDA C++ Programming Guide's "Texture Fetching",
written once more with NumPy: every address mode, filter and format."""

import ctypes
from ctypes import byref, c_float, c_int, c_uint, c_uint64

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softgpu.faults import FaultKind
from softgpu.tests import autoinit
from softgpu.tests.facts import stopped

from pycuda import gpuarray  # isort: skip
import pycuda.driver as cuda  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

pytestmark = pytest.mark.skipif(
    not autoinit.is_software, reason="an H200 differs: softgpu/docs/results.md"
)

WRAP, CLAMP, MIRROR, BORDER = range(4)
AS_INTEGER, NORMALIZED, SRGB = 1, 2, 0x10
LAYERED, SURFACE = 1, 2
FORMATS = {"uint8": 1, "uint16": 2, "uint32": 3, "int8": 8, "int16": 9, "int32": 10,
           "float16": 16, "float32": 32}  # fmt: skip
GRID = 4096  # coordinates are multiples of its inverse
SPAN = 3  # of the size, on both sides

FETCHES = {
    "line": "tex1D<{0}4>(from, x[i])",
    "flat": "tex2D<{0}4>(from, x[i], x[n + i])",
    "deep": "tex3D<{0}4>(from, x[i], x[n + i], x[2 * n + i])",
    "lines": "tex1DLayered<{0}4>(from, x[i], layer[i])",
    "flats": "tex2DLayered<{0}4>(from, x[i], x[n + i], layer[i])",
    "corners": "tex2Dgather<{0}4>(from, x[i], x[n + i], 1)",
}
KERNEL = """
extern "C" __global__ void {name}_{type}(cudaTextureObject_t from, const float *x,
                                         const int *layer, {type}4 *out, int n)
{{
    int i = threadIdx.x;
    if (i < n) out[i] = {fetch};
}}
"""


class Resource(ctypes.Structure):
    _fields_ = [("type", c_int), ("array", c_uint64), ("rest", c_uint64 * 15), ("flags", c_uint)]


class Sampling(ctypes.Structure):
    _fields_ = [("modes", c_int * 3), ("filter", c_uint), ("flags", c_uint),
                ("mipmaps", c_uint * 5), ("border", c_float * 4), ("rest", c_int * 12)]  # fmt: skip


@pytest.fixture(scope="module")
def driver():
    return ctypes.CDLL("libcuda.so.1")


@pytest.fixture(scope="module")
def kernels():
    return SourceModule(
        "".join(
            KERNEL.format(name=name, type=type_, fetch=fetch.format(type_))
            for name, fetch in FETCHES.items()
            for type_ in ("float", "int", "uint")
        ),
        no_extern_c=True,
    )


def array_of(elements, dimensions, surface=False):
    """An array of elements[layer or slice, row, column, channel]."""
    depth, height, width, channels = elements.shape
    shape = cuda.ArrayDescriptor3D()
    shape.width, shape.height, shape.depth = width, 0, 0
    if dimensions.endswith(("flat", "flats", "deep", "corners")):
        shape.height = height
    if dimensions in ("deep", "lines", "flats"):
        shape.depth = depth
    shape.flags = LAYERED if dimensions in ("lines", "flats") else 0
    shape.flags |= SURFACE if surface else 0
    shape.format = getattr(cuda.array_format, format_name(elements.dtype))
    shape.num_channels = channels
    array = cuda.Array(shape)
    copy = cuda.Memcpy3D()
    copy.set_src_host(np.ascontiguousarray(elements))
    copy.set_dst_array(array)
    copy.src_pitch = copy.width_in_bytes = width * channels * elements.itemsize
    copy.src_height = copy.height = height
    copy.depth = depth
    copy()
    return array


def format_name(dtype):
    """PyCUDA's name of a format."""
    names = {"uint": "UNSIGNED_INT", "int": "SIGNED_INT"}
    if dtype.kind == "f":
        return "FLOAT" if dtype.itemsize == 4 else "HALF"
    return f"{names['uint' if dtype.kind == 'u' else 'int']}{8 * dtype.itemsize}"


def create(driver, array, modes, linear, flags, border=(0, 0, 0, 0)):
    """A texture object, or the error."""
    made = c_uint64()
    resource = Resource(type=0, array=array.handle)
    sampling = Sampling((c_int * 3)(*modes), linear, flags, border=(c_float * 4)(*border))
    error = driver.cuTexObjectCreate(byref(made), byref(resource), byref(sampling), None)
    return error, made


def fetched(kernels, texture, name, kind, x, layer):
    """What a kernel reads at x[axis, point]."""
    out = gpuarray.zeros((x.shape[1], 4), {"float": "f4", "int": "i4", "uint": "u4"}[kind])
    x, layer = gpuarray.to_gpu(x.astype("f4").ravel()), gpuarray.to_gpu(layer.astype("i4"))
    kernels.get_function(f"{name}_{kind}")(
        np.uint64(texture.value), x, layer, out, np.int32(len(out)), block=(64, 1, 1)
    )
    return out.get()


def as_read(elements, integer):
    """Elements as a texture gives them: small integers as fractions of their largest."""
    if elements.dtype.kind == "f" or integer or elements.itemsize == 4:
        return elements.astype("f8")
    most = np.iinfo(elements.dtype).max
    return np.maximum(elements.astype("f4") / np.float32(most), -1).astype("f8")


def surrounded(elements, mode, axis, border):
    """Elements with as many around them along an axis as coordinates reach."""
    around = [(0, 0)] * elements.ndim
    around[axis] = (SPAN * elements.shape[axis] + 2,) * 2
    if mode == BORDER:
        wide = np.pad(elements, around)
        inside = np.pad(np.ones(elements.shape, bool), around)
        return np.where(inside, wide, border)
    names = {WRAP: "wrap", CLAMP: "edge", MIRROR: "symmetric"}
    return np.pad(elements, around, names[mode])


def border_in(dtype, border, gives_floats):
    """A border as an H200 keeps it: of elements that are read as numbers, the bits of a float."""
    if dtype.kind == "f":
        return border.astype(dtype)
    if not gives_floats:
        return border.astype(np.float32).view(np.uint32).astype(dtype)
    most = np.iinfo(dtype).max
    return np.rint(np.clip(border, -1 if dtype.kind == "i" else 0, 1) * most).astype(dtype)


def model(elements, x, layer, modes, linear, normalized, border, layered):
    """What the manual says is read: x[axis, point], elements[layer or slice, row, column, c]."""
    axes = [2, 1, 0][: len(x)]
    sizes = [elements.shape[axis] for axis in axes]
    places = []
    for number, (axis, size) in enumerate(zip(axes, sizes)):
        mode, place = modes[number], x[number].astype("f8")
        if not normalized and mode in (WRAP, MIRROR):
            mode = CLAMP
        if normalized and mode == WRAP:
            place = place - np.floor(place)
        elif normalized and mode == MIRROR:
            rest = place - np.floor(place)
            place = np.where(np.floor(place) % 2 == 1, 1 - rest, rest)
        places.append(place * size if normalized else place)
        elements = surrounded(elements, mode, axis, border)

    def at(numbers):
        index = [np.minimum(layer, elements.shape[0] - 1) if layered else 0 * layer, 0, 0]
        for axis, number, size in zip(axes, numbers, sizes):
            index[axis] = number.astype(int) + SPAN * size + 2
        return elements[tuple(index)]

    if not linear:
        return at([np.floor(place) for place in places])
    first = [np.floor(place - 0.5) for place in places]
    shares = [np.floor((p - 0.5 - f) * 256 + 0.5) / 256 for p, f in zip(places, first)]
    total = 0
    for corner in np.ndindex((2,) * len(x)):
        weight = np.prod([s if c else 1 - s for s, c in zip(shares, corner)], axis=0)
        total = total + weight[:, None] * at([f + c for f, c in zip(first, corner)])
    return total


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_read_is_what_the_manual_says(driver, kernels, data):
    draw = data.draw
    name = draw(st.sampled_from(["line", "flat", "deep", "lines", "flats"]))
    axes = {"line": 1, "flat": 2, "deep": 3, "lines": 1, "flats": 2}[name]
    dtype = np.dtype(draw(st.sampled_from(sorted(FORMATS))))
    integer = draw(st.booleans())
    gives_floats = dtype.kind == "f" or (dtype.itemsize < 4 and not integer)
    linear = gives_floats and draw(st.booleans())
    normalized = draw(st.booleans())
    modes = [draw(st.sampled_from([WRAP, CLAMP, MIRROR, BORDER])) for _ in range(3)]
    shape = [draw(st.integers(1, 9)) for _ in range(3)]
    shape = [shape[0] if name in ("deep", "lines", "flats") else 1,
             shape[1] if axes > 1 else 1, shape[2], draw(st.sampled_from([1, 2, 4]))]  # fmt: skip
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if dtype.kind == "f":
        elements = rng.normal(size=shape).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        elements = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    border = np.array([0.25, 3, 7, 100])
    sizes = np.array([shape[2], shape[1], shape[0]][:axes])[:, None]
    reach = SPAN * GRID * (1 if normalized else sizes)
    x = rng.integers(-reach, reach, (axes, 50), endpoint=True) / GRID
    layer = rng.integers(0, shape[0] + 2, 50)

    flags = (AS_INTEGER if integer else 0) | (NORMALIZED if normalized else 0)
    array = array_of(elements, name)
    error, texture = create(driver, array, modes, linear, flags, border)
    assert error == 0
    kind = "float" if gives_floats else "uint" if dtype.kind == "u" else "int"
    got = fetched(kernels, texture, name, kind, x, layer)[:, : shape[3]]
    assert driver.cuTexObjectDestroy(texture) == 0

    seen = as_read(elements, integer)
    outside = as_read(border_in(dtype, border[: shape[3]], gives_floats), integer)
    layered = name in ("lines", "flats")
    expected = model(seen, x, layer, modes, linear, normalized, outside, layered)
    if linear:  # so many products of floats are added up
        largest = max(np.abs(seen).max(), outside.max())
        assert np.abs(got - expected).max() <= 2 ** (axes + 1) * 2.0**-24 * largest
    else:
        assert (got == expected).all()


def test_four_neighbours_are_gathered(driver, kernels):
    elements = np.arange(40, dtype="f4").reshape(1, 4, 5, 2)
    error, texture = create(driver, array := array_of(elements, "corners"), [CLAMP] * 3, 0, 0)
    assert error == 0 and array
    x = np.array([[2.25, 0.25, 4.75], [1.75, 0.25, 3.75]])
    got = fetched(kernels, texture, "corners", "float", x, np.zeros(3))
    (one,) = elements[..., 1]
    assert got.tolist() == [
        [one[2, 1], one[2, 2], one[1, 2], one[1, 1]],
        [one[0, 0]] * 4,
        [one[3, 4]] * 4,
    ]


def test_neighbours_in_a_mirror_keep_their_order(driver, kernels):
    """As an H200 answered: what is further right in the mirror is further left in the texture."""
    elements = np.arange(12, dtype="f4").reshape(1, 1, 6, 2)
    error, texture = create(
        driver, array := array_of(elements, "corners"), [MIRROR] * 3, 0, NORMALIZED
    )
    assert error == 0 and array
    x = np.array([[0.25, 1.25, 2.25, -0.25], [0.5] * 4])
    got = fetched(kernels, texture, "corners", "float", x, np.zeros(4))
    one = elements[0, 0, :, 1]
    pairs = [1, 2], [4, 3], [1, 2], [1, 0]  # 0.25 and -0.25 are the middle of element 1
    assert [row[:2] for row in got.tolist()] == [[one[a], one[b]] for a, b in pairs]


def test_what_no_texture_can_be_is_refused(driver):
    INVALID_VALUE, INVALID_HANDLE, NOT_SUPPORTED = 1, 400, 801
    array = array_of(np.zeros((1, 3, 3, 1), "u1"), "flat")
    assert create(driver, array, [CLAMP] * 3, 1, AS_INTEGER)[0] == INVALID_VALUE
    assert create(driver, array, [CLAMP, 4, CLAMP], 0, 0)[0] == INVALID_VALUE
    assert create(driver, array, [CLAMP] * 3, 2, 0)[0] == INVALID_VALUE
    assert create(driver, array, [CLAMP] * 3, 0, SRGB)[0] == NOT_SUPPORTED
    made = c_uint64()
    of = Resource(type=1), Resource(type=0, array=12345), Resource(type=2), Resource(type=9)
    answers = [driver.cuTexObjectCreate(byref(made), byref(one), byref(Sampling()), None)
               for one in of]  # fmt: skip
    assert answers == [NOT_SUPPORTED, INVALID_HANDLE, INVALID_VALUE, INVALID_VALUE]
    assert driver.cuSurfObjectCreate(byref(made), byref(Resource(type=0, array=array.handle))) == 1


@pytest.mark.parametrize("gone", ["object", "array", "handle", "shape"])
def test_what_is_no_texture_any_more_stops_the_launch(driver, kernels, gone):
    array = array_of(np.zeros((1, 3, 3, 1), "f4"), "flat")
    _, texture = create(driver, array, [CLAMP] * 3, 0, 0)
    kind, *facts = {
        "object": (FaultKind.NO_TEXTURE, hex(texture.value)),
        "handle": (FaultKind.NO_TEXTURE, hex(12345)),
        "array": (FaultKind.TEXTURE_FREED,),
        "shape": (FaultKind.TEXTURE_DIMENSIONS, 2, 3),
    }[gone]
    if gone == "object":
        driver.cuTexObjectDestroy(texture)
    elif gone == "array":
        array.free()
    elif gone == "handle":
        texture = c_uint64(12345)
    x, layer = np.ones((3, 1)), np.zeros(1)
    with stopped(kind, *facts):
        fetched(kernels, texture, "deep" if gone == "shape" else "flat", "float", x, layer)


SURFACES = {
    "line": ("surf1D{0}({1}to, x * bytes{2})", 1),
    "flat": ("surf2D{0}({1}to, x * bytes, y{2})", 2),
    "deep": ("surf3D{0}({1}to, x * bytes, y, z{2})", 3),
    "lines": ("surf1DLayered{0}({1}to, x * bytes, z{2})", 1),
    "flats": ("surf2DLayered{0}({1}to, x * bytes, y, z{2})", 2),
}
MOVE = """
extern "C" __global__ void {name}_{type}_{mode}(cudaSurfaceObject_t to, const int *at,
                                                const {type} *in, {type} *out)
{{
    int i = threadIdx.x, x = at[3 * i];
    [[maybe_unused]] int y = at[3 * i + 1], z = at[3 * i + 2];
    int bytes = sizeof({type});
    {write};
    out[i] = {read};
}}
"""
ELEMENTS = {"char": ("i1", 1), "short2": ("i2", 2), "int": ("i4", 1), "char4": ("i1", 4),
            "float2": ("f4", 2), "uint4": ("u4", 4)}  # fmt: skip


@pytest.fixture(scope="module")
def movers():
    return SourceModule(
        "".join(
            MOVE.format(
                name=name, type=type_, mode=mode,
                write=call.format("write", "in[i], ", f", cudaBoundaryMode{mode}"),
                read=call.format(f"read<{type_}>", "", f", cudaBoundaryMode{mode}"),
            )
            for name, (call, _) in SURFACES.items()
            for type_ in ELEMENTS
            for mode in ("Zero", "Clamp")
        ),
        no_extern_c=True,
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["Zero", "Clamp"])
@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize("name", SURFACES)
def test_surfaces_are_written_and_read_back(driver, movers, name, kind, mode):
    dtype, channels = ELEMENTS[kind]
    rng = np.random.default_rng(7)
    axes = SURFACES[name][1]
    layers = 3 if name in ("deep", "lines", "flats") else 1
    shape = (layers, 4 if axes > 1 else 1, 5)
    elements = np.ones((*shape, channels), dtype)
    array = array_of(elements, name, surface=True)
    surface = c_uint64()
    resource = Resource(type=0, array=array.handle)
    assert driver.cuSurfObjectCreate(byref(surface), byref(resource)) == 0
    every = np.stack(np.meshgrid(*(np.arange(-1, n + 1) for n in shape[::-1])), -1).reshape(-1, 3)
    used = np.array([True, axes > 1, layers > 1])
    at = rng.permutation(np.unique(np.where(used, every, 0), axis=0))[:60].astype("i4")
    last = np.array(shape[::-1]) - 1
    places = np.clip(at, 0, last)
    if name != "deep":  # of a layer 31 bits count, without a sign, as an H100 answered
        places[:, 2] = np.minimum(at[:, 2] & 0x7FFFFFFF, last[2])
    inside = ((at >= 0) & (at <= last)).all(axis=1)
    if mode == "Clamp":  # of those that come together, one alone writes
        _, first = np.unique(places, axis=0, return_index=True)
        at, places, inside = at[first], places[first], np.ones(len(first), bool)
    values = rng.integers(1, 100, (len(at), channels)).astype(dtype)
    out = gpuarray.zeros(values.shape, dtype)
    movers.get_function(f"{name}_{kind}_{mode}")(
        np.uint64(surface.value), gpuarray.to_gpu(at), gpuarray.to_gpu(values), out,
        block=(len(at), 1, 1),
    )  # fmt: skip
    assert (out.get() == np.where(inside[:, None], values, 0)).all()
    expected = elements.copy()
    x, y, z = places[inside].T
    expected[z, y, x] = values[inside]
    assert (read_back(array, expected) == expected).all()
    assert driver.cuSurfObjectDestroy(surface) == 0
    assert driver.cuSurfObjectDestroy(surface) == 1


def read_back(array, like):
    """What an array holds."""
    depth, height, width, channels = like.shape
    out = np.zeros_like(like)
    copy = cuda.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_host(out)
    copy.dst_pitch = copy.width_in_bytes = width * channels * like.itemsize
    copy.dst_height = copy.height = height
    copy.depth = depth
    copy()
    return out
