"""Products of matrices against NumPy: the steps of cuda_src/gemm, and helpers.ops.matmul."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import autoinit, checks, ops, sources, xray
from helpers.ops import hopper, product, tensor

from pycuda import gpuarray  # isort: skip

from .steps_gemm import WIDE, numbers, step

pytestmark = pytest.mark.usefixtures("in_quick")

TYPES = ["float32", "float64", "float16"]
STEPS = ["naive", "shared", "registers", "packed"]
BY_TENSOR_CORES = [
    ("fragments", {}), ("fragments_shared", {}), ("mma", {"PACK": 1}),
    ("mma", {"PACK": 1, "PADDING": 16}), ("mma", {"PACK": 1, "SWIZZLED": 1}),
]  # fmt: skip
SIZES = [(1, 1, 1), (3, 5, 7), (33, 65, 17), (64, 40, 129), (129, 3, 64)]  # m, n, k


def check(got, a, b, dtype=None):
    """Compare with NumPy's product in extended precision. dtype: what the result was rounded to, if
    not its own type."""
    a, b = (x.astype(np.longdouble) for x in (a, b))
    want, size = a @ b, np.abs(a) @ np.abs(b)
    wide = WIDE.get(got.dtype.name, got.dtype)
    count = max(a.shape[-1], checks.tensor_roundings(a.shape[-1]))
    tolerance = checks.dot_tolerance(want, size, count, got.dtype, wide)
    if dtype == "bfloat16":
        tolerance += 2.0**-8 * (np.abs(want) + tolerance)
    checks.assert_close(got, want, tolerance, "product")


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("dtype", TYPES)
def test_steps(name, dtype):
    for m, n, k in SIZES:
        a, b = numbers(2, m, k, dtype=dtype), numbers(2, k, n, dtype=dtype)
        check(step(name, a, b), a, b)


@pytest.mark.parametrize("name, choices", BY_TENSOR_CORES)
def test_steps_by_tensor_cores(name, choices):
    for m, n, k in (*SIZES, (64, 32, 48)):
        a, b = (numbers(2, *shape, dtype="float16") for shape in ((m, k), (k, n)))
        check(step(name, a, b, **choices), a, b)


@pytest.mark.parametrize("padding, swizzled, wavefronts", [(0, 0, 8), (16, 0, 1), (0, 1, 1)])
def test_matrices_lie_in_different_banks(padding, swizzled, wavefronts):
    """Of lines of 128 bytes a matrix's eight lie in the same banks."""
    kernel = sources.kernel("gemm/mma.cu", PADDING=padding, SWIZZLED=swizzled)
    a, c = on_gpu(numbers(64, 64, dtype="float16")), on_gpu(np.zeros((64, 64), np.float16))
    report = xray.profile(kernel, a, a, c, *[np.int64(64)] * 3, grid=(1, 1), block=(128, 1, 1))
    loads = 4 * 4 * (2 + 2)  # of warps, in steps along k, of a and b: four matrices each
    assert report.total["lds.wavefronts"] == 4 * loads * wavefronts


KINDS = ["float16", "bfloat16", "tf32", "int8"]
SHAPES = [(1, 1, 1), (3, 5, 7), (33, 65, 17), (130, 264, 200), (256, 128, 128), (17, 40, 3000)]
WAYS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("kind", KINDS)  # first: those of one kind need the same compiled
def test_products_by_tensor_cores(kind, way):
    # bfloat16 lies and moves as halves do: each shape and each way once
    for m, n, k in SHAPES[way::4] if kind == "bfloat16" else SHAPES:
        a, b = numbers(m, k), numbers(k, n, seed=1)
        (a, exact_a), (b, exact_b) = (checks.operand(x, kind) for x in (a, b))
        dtype = kind if kind in ("bfloat16", "tf32") else None
        arrays = (on_gpu(x, turned) for x, turned in zip((a, b), WAYS[way]))
        got = ops.matmul(*arrays, dtype=dtype).get()
        if kind == "int8":
            assert got.dtype == np.int32
            checks.assert_equal(got, exact_a.astype(np.int32) @ exact_b.astype(np.int32))
            continue
        if kind == "bfloat16":
            got = checks.widened(got)
        check(got, exact_a, exact_b, dtype)


def test_a_float32_product_is_rounded_to_tf32_only_by_request():
    a = on_gpu(np.full((1, 1), 1 + 2.0**-11, np.float32))
    one = on_gpu(np.ones((1, 1), np.float32))
    assert ops.matmul(a, one).get() == 1 + 2.0**-11
    assert ops.matmul(a, one, dtype="tf32").get() == 1


def test_batches_of_halves_in_lines_of_any_length():
    a, b = numbers(3, 20, 30, dtype="float16"), numbers(3, 30, 13, dtype="float16")
    check(ops.matmul(on_gpu(a), on_gpu(b)).get(), a, b)
    check(ops.matmul(on_gpu(a[:, :, :7]), on_gpu(b)[:, :7]).get(), a[:, :, :7], b[:, :7])


@pytest.mark.parametrize("dtype, pack", [("float32", 4), ("float64", 2), ("float16", 4)])
def test_packs(dtype, pack):
    a, b = numbers(1, 132, 20, dtype=dtype), numbers(1, 20, 8, dtype=dtype)
    check(step("packed", a, b, A_PACK=pack, B_PACK=pack, C_PACK=4), a, b)


def on_gpu(x, transposed=False, offset_bytes=0):
    """An array between guards; transposed: as a view of one that lies the other way."""
    lying = np.swapaxes(x, -1, -2) if transposed else x
    array = checks.Guarded(lying.shape, x.dtype, offset_bytes).set(lying).array
    if not transposed:
        return array
    return array.transpose((*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@settings(max_examples=20, deadline=None)
@given(
    sizes=st.tuples(*[st.sampled_from([1, 7, 33, 40, 64])] * 3),
    batches=st.sampled_from([((), ()), ((3,), (3,)), ((2, 2), (2, 2)), ((), (3,)), ((3,), ())]),
    transposed=st.tuples(st.booleans(), st.booleans()),
    dtype=st.sampled_from(TYPES),
    offset=st.sampled_from([0, 8]),
)
def test_matmul(sizes, batches, transposed, dtype, offset):
    m, n, k = sizes
    a = numbers(*batches[0], m, k, dtype=dtype)
    b = numbers(*batches[1], k, n, dtype=dtype, seed=1)
    got = ops.matmul(on_gpu(a, transposed[0], offset), on_gpu(b, transposed[1])).get()
    assert got.dtype == dtype and got.shape == (a @ b).shape
    check(got, a, b)


@pytest.mark.parametrize("dtype", TYPES)
def test_sums_that_blocks_share(dtype):
    a, b = numbers(2, 5, 3001, dtype=dtype), numbers(2, 3001, 7, dtype=dtype)
    assert product.Tiling.of(5, 7, 3001, "float32", 2).splits > 1
    assert tensor.Tiling.of(5, 7, 3001, tensor.KINDS["float16"], True, 2).splits > 1
    first, again = (ops.matmul(on_gpu(a), on_gpu(b)).get() for _ in range(2))
    check(first, a, b)
    checks.assert_equal(again, first)


def test_views_are_read_as_they_are():
    x = numbers(6, 40, 30)
    whole = on_gpu(x)
    check(
        ops.matmul(whole[1:5, :, :20], whole[2:6, :20, 3:]).get(), x[1:5, :, :20], x[2:6, :20, 3:]
    )
    check(ops.matmul(whole[::2, ::3, ::2], whole[:3, :15]).get(), x[::2, ::3, ::2], x[:3, :15])
    check(ops.matmul(whole[0, :1], whole[0, :30, :1]).get(), x[0, :1], x[0, :30, :1])


def test_more_matrices_than_a_grid_has_layers(monkeypatch):
    monkeypatch.setattr(product, "MOST_BATCHES", 2)
    monkeypatch.setattr(product, "prepared", {})
    a, b = numbers(5, 3, 4), numbers(4, 2)
    check(ops.matmul(on_gpu(a), on_gpu(b)).get(), a, b)


def test_products_of_nothing():
    for m, n, k in (0, 3, 4), (3, 0, 4):
        got = ops.matmul(on_gpu(numbers(m, k)), on_gpu(numbers(k, n))).get()
        assert got.shape == (m, n)
    got = ops.matmul(on_gpu(numbers(3, 0)), on_gpu(numbers(0, 2))).get()
    checks.assert_equal(got, np.zeros((3, 2), np.float32))


@pytest.mark.parametrize(
    "a, b, error, says",
    [
        ((2, 3), (4, 5), ValueError, "rows of a have 3 elements, columns of b 4"),
        ((3,), (3, 2), ValueError, r"a has shape \(3,\): expected at least a row and a column"),
        ((2, 3, 4), (3, 4, 5), ValueError, "in equal shapes, or a single one of either"),
    ],
)
def test_shapes_that_have_no_product(a, b, error, says):
    with pytest.raises(error, match=says):
        ops.matmul(on_gpu(numbers(*a)), on_gpu(numbers(*b)))


def test_types_that_have_no_product():
    a = on_gpu(numbers(2, 2))
    with pytest.raises(TypeError, match="matmul of float32 and float64: both must have one type"):
        ops.matmul(a, a.astype(np.float64))
    with pytest.raises(TypeError, match="matmul: b: int32 is not among float16"):
        ops.matmul(a, a.astype(np.int32))
    with pytest.raises(TypeError, match="matmul: a: float32 is not among uint16"):
        ops.matmul(a, a, dtype="bfloat16")
    with pytest.raises(ValueError, match='dtype \'half\'; expected "bfloat16", "tf32" or None'):
        ops.matmul(a, a, dtype="half")
    with pytest.raises(TypeError, match="matmul: a: expected a pycuda GPUArray, got ndarray"):
        ops.matmul(np.ones((2, 2)), a)


@pytest.mark.skipif(
    autoinit.device.compute_capability() != (9, 0), reason="needs the warpgroups of sm_90a"
)
@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("lying", ["", "a", "b", "ab"])
@pytest.mark.parametrize("tile", hopper.TILES, ids=lambda tile: f"{tile.rows}x{tile.columns}")
def test_products_by_warpgroups(kind, lying, tile, monkeypatch):
    """At sizes that tiles do not divide, with splits, in batches."""
    monkeypatch.setattr(hopper, "quicker", lambda tiling, by_groups: by_groups)
    monkeypatch.setattr(hopper, "TILES", (tile,))
    asked = kind if kind == "bfloat16" else None
    product.prepared.clear()
    for m, n, k in (200, 264, 136), (1, 8, 8), (64, 77, 1024):
        sides = {"a": (2, m, k), "b": (k, n)}
        exact, made = [], []
        for seed, (side, size) in enumerate(sides.items()):
            turned = (*range(len(size) - 2), len(size) - 1, len(size) - 2)
            size = tuple(size[axis] for axis in turned) if side in lying else size
            x = np.random.default_rng(seed).standard_normal(size, np.float32)
            bits, value = checks.operand(x, kind)
            on_gpu = gpuarray.to_gpu(bits)
            made.append(on_gpu.transpose(turned) if side in lying else on_gpu)
            exact.append(value.transpose(turned) if side in lying else value)
        got = ops.matmul(*made, dtype=asked).get()
        check(checks.widened(got) if asked else got, *exact, dtype=asked)
    product.prepared.clear()
