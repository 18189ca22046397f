"""Products of matrices against NumPy: the steps of cuda_src/gemm, and helpers.ops.matmul."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import autoinit, checks, float8, ops, sources, xray
from helpers.ops import heads, hopper, product, tensor, thin
from softgpu.tests.facts import refused

from pycuda import gpuarray  # isort: skip

from .steps_gemm import WIDE, by_boxes, numbers, step

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_quick")]

TYPES = ["float32", "float64", "float16"]
STEPS = ["naive", "shared", "registers", "packed"]
BY_TENSOR_CORES = [
    ("fragments", {}), ("fragments_shared", {}), ("mma", {"PACK": 1}),
    ("mma", {"PACK": 1, "PADDING": 16}), ("mma", {"PACK": 1, "SWIZZLED": 1}),
]  # fmt: skip
SIZES = [(1, 1, 1), (3, 5, 7), (33, 65, 17), (64, 40, 129), (129, 3, 64)]  # m, n, k


def forget():
    """Products are decided on and prepared anew."""
    product.decisions.clear()
    product.prepared.clear()


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


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("kind", KINDS)  # first: tests of one kind need the same compiled
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
    a, one = (on_gpu(np.full((64, 64), x, np.float32)) for x in (1 + 2.0**-11, 1))
    assert np.all(ops.matmul(a, one).get() == 64 * (1 + 2.0**-11))
    assert np.all(ops.matmul(a, one, dtype="tf32").get() == 64)


@pytest.mark.parametrize("piece", [4, 8])
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "tf32"])
def test_lines_that_are_read_in_pieces(piece, kind, monkeypatch):
    """Of 4 or 8 bytes, so that nothing is copied first. Nothing is read past the end."""
    asked = kind if kind in ("bfloat16", "tf32") else None
    monkeypatch.setattr(
        product, "_without_copies", lambda a, b, shape, kind: replace(kind, piece=piece)
    )
    monkeypatch.setattr(product, "_by_warpgroups", lambda a, b, shape, kind: kind)
    forget()
    for m, n, k in (36, 76, 108), (132, 68, 4):
        sides = [
            checks.operand(3 * numbers(*size, seed=size[0]), kind) for size in ((m, k), (n, k))
        ]
        arrays = on_gpu(sides[0][0]), on_gpu(sides[1][0]).T
        got = ops.matmul(*arrays, dtype=asked).get()
        check(checks.widened(got) if kind == "bfloat16" else got, sides[0][1], sides[1][1].T, asked)
    forget()


@pytest.mark.parametrize("kind, lying", [("float16", ""), ("bfloat16", "b"), ("tf32", "b")])
def test_lines_that_do_not_begin_at_16_bytes_are_copied_in_one_launch(kind, lying, monkeypatch):
    """One operand's or both's: in lines shorter than a warp's words, and longer."""
    monkeypatch.setattr(product, "_without_copies", lambda a, b, shape, kind: kind)
    monkeypatch.setattr(tensor, "run", None)
    forget()
    for m, n, k in (70, 64, 171), (3, 9, 811), (33, 203, 64), (2, 1, 1):
        product_of(m, n, k, kind, lying)
    forget()


def product_of(m, n, k, kind, lying):
    """Check a product of one matrix; lying: "b" where b lies along k."""
    (a, exact_a), (b, exact_b) = (
        checks.operand(np.random.default_rng(m).standard_normal(size, np.float32), kind)
        for size in ((m, k), (n, k) if lying else (k, n))
    )
    a, b = on_gpu(a), on_gpu(b)
    got = ops.matmul(a, b.T if lying else b, dtype=None if kind == "float16" else kind).get()
    exact = exact_a, exact_b.T if lying else exact_b
    check(checks.widened(got) if kind == "bfloat16" else got, *exact, dtype=kind)


def test_batches_of_halves_in_lines_of_any_length():
    a, b = numbers(3, 20, 30, dtype="float16"), numbers(3, 30, 13, dtype="float16")
    check(ops.matmul(on_gpu(a), on_gpu(b)).get(), a, b)
    check(ops.matmul(on_gpu(a[:, :, :7]), on_gpu(b)[:, :7]).get(), a[:, :, :7], b[:, :7])


@pytest.mark.parametrize("kilobytes", [99, 163])
def test_tiles_fit_into_shared_memory(kilobytes, monkeypatch):
    """What a block of compute capability 8.6, 8.9 or 12.0 may have, and what an A100's may."""
    most = kilobytes << 10
    for module in tensor, product, heads:
        monkeypatch.setattr(module, "most_shared", lambda: most)
    ways = tensor.Tiling.ways(4096, 4096, 4096, tensor.KINDS["float16"], True)
    assert ways and all(way.tile.shared_bytes <= most for way in ways)
    ways = product.Tiling.ways(624, 1604, 808, "float32", staged=True)
    assert any(way.joined for way in ways) == product.has_clusters()
    assert all(way.tile.shared_bytes(way.joined) <= most for way in ways)
    for size in heads.TILES:
        asked = SimpleNamespace(kind="float16", head_by_warps=size)
        tiles = heads._tiles(asked, 4096)
        assert tiles and all(tile.shared_bytes(size) <= most for tile in tiles)


def test_copies_are_decided_on_once(monkeypatch):
    """Estimates take longer than such a product. 8-bit floats are copied if b's rows are lines."""
    a, b = (on_gpu(np.full(shape, 0x38, np.uint8)) for shape in ((3, 40), (40, 5)))
    first, copied = ops.matmul(a, b, dtype="e4m3"), []
    monkeypatch.setattr(product, "_without_copies", None)
    padded = tensor.padded
    monkeypatch.setattr(tensor, "padded", lambda *told: copied.append(told) or padded(*told))
    assert (ops.matmul(a, b, dtype="e4m3").get() == first.get()).all()
    assert copied


@pytest.mark.parametrize("dtype, pack", [("float32", 4), ("float64", 2), ("float16", 4)])
def test_packs(dtype, pack):
    a, b = numbers(1, 132, 20, dtype=dtype), numbers(1, 20, 8, dtype=dtype)
    check(step("packed", a, b, A_PACK=pack, B_PACK=pack, C_PACK=4), a, b)


def test_fragments_that_are_transposed_on_their_way():
    a, b = (numbers(3, 64, 64, dtype="float16", seed=seed) for seed in (0, 1))
    c = checks.Guarded((3, 64, 64), np.float32)
    call = sources.kernel("gemm/transposed.cu"), on_gpu(a), on_gpu(b), c.array
    assert not xray.sanitize(*call, grid=3, block=128)
    assert not xray.profile(*call, grid=3, block=128).total["lds.conflicts"]
    call[0](*call[1:], grid=(3, 1), block=(128, 1, 1))
    check(c.get(), a, b)


OF_FLOATS = [(300, 132, 548), (131, 70, 37), (33, 36, 516), (35, 37, 1001)]  # m, n, k
FOURS = [(4, 4, 4), (260, 136, 20), (8, 256, 100)]  # m, n, k


@pytest.mark.parametrize("dtype", TYPES)
def test_warp_tiles(dtype):
    for m, n, k in FOURS:
        a, b = numbers(2, m, k, dtype=dtype), numbers(2, k, n, dtype=dtype)
        check(step("warps", a, b), a, b)


def test_warp_tiles_keep_within_their_arrays_and_wait_for_each_other():
    a, b = numbers(1, 260, 36), numbers(1, 36, 132)
    assert not step("warps", a, b, run=xray.sanitize)


@pytest.mark.parametrize("tile", product.STAGED, ids=lambda tile: f"{tile.rows}x{tile.columns}")
def test_products_of_floats_come_in_stages(tile, taking):
    """Whichever way they lie, in lines that 4 divides or not, in batches, whole or in splits, which
    a cluster adds or another launch."""
    for (m, n, k), way, splits in zip(OF_FLOATS, WAYS, (1, 1, 2, 5)):
        for joined in {False, product.has_clusters()} if splits > 1 else (False,):

            def which(ways, chosen=(tile, splits), joined=joined):
                found = (w for w in ways if (getattr(w, "tile", None), w.splits) == chosen)
                return replace(next(found), joined=joined)

            taking(which)
            a, b = numbers(2, m, k), numbers(2, k, n, seed=1)
            check(ops.matmul(on_gpu(a, way[0]), on_gpu(b, way[1])).get(), a, b)


@pytest.mark.skipif(not autoinit.is_software, reason="needs the software GPU's maps")
def test_stages_keep_within_their_arrays_and_wait_for_each_other(taking):
    """Also where a cluster adds splits, of which the last has nothing to add."""
    for joined in False, True:
        taking(lambda ways, joined=joined: next(w for w in ways if w.splits == 3 - 2 * (not joined)
                                                and w.tile == product.STAGED[6]))  # fmt: skip
        a, b = on_gpu(numbers(40, 401)), on_gpu(numbers(401, 37, seed=1))
        assert not xray.sanitize(lambda a=a, b=b: ops.matmul(a, b))


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


@pytest.fixture
def taking(monkeypatch):
    """taking(which): products are made by the tilings that this function picks."""

    def choose(which):
        monkeypatch.setattr(
            product, "quickest", lambda problem, ways, prepare: prepare(which(ways))
        )
        forget()

    yield choose
    forget()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("along_k", WAYS)
@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
def test_a_few_rows_or_columns(kind, along_k, turned, taking):
    """In lines that packs divide or not, whole or in splits, which the last block adds. along_k:
    whether lines of the few are, and lines of the many."""
    splits, asked = set(), kind if kind == "bfloat16" else None

    def most(ways):
        chosen = max((way for way in ways if isinstance(way, thin.Tiling)), key=lambda w: w.splits)
        splits.add(chosen.splits)
        return chosen

    taking(most)
    for few, many, k in (1, 64, 4096), (3, 70, 515), (4, 33, 3002), (2, 9, 1024), (1, 2, 2):
        exact, arrays = [], []
        told = ((few, k), not along_k[0]), ((k, many), bool(along_k[1]))
        for seed, (size, lies_across) in enumerate(told):
            x = np.random.default_rng(seed).standard_normal(size, np.float32)
            bits, value = checks.operand(x.T if turned else x, kind)
            arrays.insert(0 if turned else 1, on_gpu(bits, lies_across != turned))
            exact.insert(0 if turned else 1, value)
        got = ops.matmul(*arrays, dtype=asked).get()
        checks.assert_equal(ops.matmul(*arrays, dtype=asked).get(), got)
        check(checks.widened(got) if asked else got, *exact, dtype=asked)
    assert max(splits) > 1


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


@pytest.mark.parametrize("kind", tensor.KINDS)
def test_products_of_nothing_by_tensor_cores(kind):
    """Which are not copied to lines that tensor cores take, either."""
    asked = kind if kind in product.DTYPES else None
    for m, n, k in (0, 3, 5), (3, 0, 5), (3, 5, 0), (40, 24, 0):
        a, b = (on_gpu(np.zeros(shape, tensor.KINDS[kind].array)) for shape in ((m, k), (k, n)))
        got = ops.matmul(a, b, dtype=asked).get()
        checks.assert_equal(got, np.zeros((m, n), tensor.KINDS[kind].result))


@pytest.mark.parametrize(
    "a, b, facts",
    [
        ((2, 3), (4, 5), [(2, 3), (4, 5), 3, 4]),
        ((3,), (3, 2), ["a", (3,)]),
        ((2, 3, 4), (3, 4, 5), [(2, 3, 4), (3, 4, 5)]),
    ],
)
def test_shapes_that_have_no_product(a, b, facts):
    with refused(ValueError, *facts):
        ops.matmul(on_gpu(numbers(*a)), on_gpu(numbers(*b)))


def test_types_that_have_no_product():
    a = on_gpu(numbers(2, 2))
    with refused(TypeError, "matmul", "float32", "float64"):
        ops.matmul(a, a.astype(np.float64))
    with refused(TypeError, "matmul", "b", "int32", "float16"):
        ops.matmul(a, a.astype(np.int32))
    with refused(TypeError, "matmul", "a", "float32", "uint16"):
        ops.matmul(a, a, dtype="bfloat16")
    with refused(ValueError, "dtype", "'half'", "None, bfloat16, tf32, e4m3, e5m2"):
        ops.matmul(a, a, dtype="half")
    with refused(ValueError, "scales", "result", "e4m3", "e5m2"):
        ops.matmul(a, a, result="float32")
    bits = on_gpu(np.zeros((2, 2), np.uint8))
    with refused(TypeError, "matmul", "b", "float32", "uint8"):
        ops.matmul(bits, a, dtype="e4m3")
    with refused(ValueError, "result", "'int8'", "float16, bfloat16, float32"):
        ops.matmul(bits, bits, dtype="e4m3", result="int8")
    with refused(ValueError, "a", "scale", (2, 2)):
        ops.matmul(bits, bits, dtype="e4m3", scales=(a, None))
    with refused(TypeError, "b", "scale", "GPUArray", "float"):
        ops.matmul(bits, bits, dtype="e4m3", scales=(None, 0.5))
    with refused(TypeError, "matmul", "a", "GPUArray", "ndarray"):
        ops.matmul(np.ones((2, 2)), a)


by_warpgroups = pytest.mark.skipif(
    autoinit.device.compute_capability() != (9, 0), reason="needs the warpgroups of sm_90a"
)


@pytest.fixture
def only(monkeypatch):
    """only(groups, tile): warpgroups make all products, or none, with this tile alone."""

    def choose(groups, tile=None):
        monkeypatch.setattr(thin, "MOST_ROWS", 0)
        monkeypatch.setattr(product, "STAGED", ())
        monkeypatch.setattr(product, "_without_copies", lambda a, b, shape, kind: kind)
        is_narrow = bool(tile) and groups and tile.is_narrow
        if tile:
            tiles = () if is_narrow else (tile,)
            monkeypatch.setattr(hopper if groups else tensor, "TILES", tiles)
            monkeypatch.setattr(hopper, "narrow", lambda m: (tile,) if is_narrow else ())
        if groups:
            monkeypatch.setattr(hopper, "beside", lambda tilings, by_groups: by_groups)
        else:
            monkeypatch.setattr(hopper, "fits", lambda *_: False)
        forget()

    yield choose
    forget()


@by_warpgroups
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "tf32"])
@pytest.mark.parametrize("lying", ["", "a", "b", "ab"])
@pytest.mark.parametrize("tile", hopper.TILES, ids=lambda tile: f"{tile.rows}x{tile.columns}")
def test_products_by_warpgroups(kind, lying, tile, only):
    """At sizes that tiles do not divide, with splits, in batches."""
    only(True, tile)
    asked = None if kind == "float16" else kind
    for m, n, k in (200, 264, 136), (1, 10, 8), (64, 77, 1024):
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
        check(checks.widened(got) if kind == "bfloat16" else got, *exact, dtype=asked)


NARROW = [tile for tile in hopper.narrow(1 << 16) if tile.columns in (16, 48, 96, 256)]


@by_warpgroups
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("lying", ["", "b"])
@pytest.mark.parametrize("tile", NARROW, ids=lambda tile: f"{tile.rows}x{tile.columns}")
def test_tiles_whose_rows_are_columns_of_the_product(kind, lying, tile, only):
    """At sizes that tiles do not divide, with splits, where rows begin anywhere."""
    only(True, tile)
    for m, n, k in (100, 264, 136), (1, 10, 8), (64, 77, 1024):
        product_of(m, n, k, kind, lying)


@by_warpgroups
@pytest.mark.parametrize("lying", ["", "b"])
@pytest.mark.parametrize("tile", [hopper.TILES[0], hopper.TILES[5], NARROW[4]],
                         ids=lambda tile: f"{tile.rows}x{tile.columns}")  # fmt: skip
def test_blocks_that_share_b(lying, tile, only, monkeypatch):
    """Tiles follow each other in blocks, more of them than there are stages; some have no row."""
    only(True, tile)
    monkeypatch.setattr(hopper, "multiprocessors", lambda: 5)
    monkeypatch.setattr(
        hopper, "beside", lambda _, by_groups: [way for way in by_groups if way.beside > 1]
    )
    product_of(*((264, 392) if tile.is_narrow else (712, 264)), 264, "float16", lying)


@by_warpgroups
@pytest.mark.parametrize("groups, rounded", [(True, 1 + 2.0**-10), (False, 1)])
def test_warpgroups_round_to_tf32_and_warps_cut(groups, rounded, only):
    only(groups)
    a, one = (on_gpu(np.full((1, 1), x, np.float32)) for x in (1 + 2.0**-11 + 2.0**-20, 1))
    for b in one, one.T:
        assert ops.matmul(a, b, dtype="tf32").get() == rounded


@pytest.mark.skipif(not autoinit.is_software, reason="counts what the software GPU does")
def test_warpgroups_take_floats_of_b_as_they_lie(only):
    """Of those that lie across k, too: no launch but that of the product."""
    only(True, hopper.TILES[4])
    a, b = (on_gpu(numbers(64, 64, seed=seed)) for seed in range(2))
    for x in b, b.T:
        report = xray.profile(lambda x=x: ops.matmul(a, x, dtype="tf32"))
        assert report.kernel == "hopper" and not report.total["lds.conflicts"]
        assert not xray.sanitize(lambda x=x: ops.matmul(a, x, dtype="tf32"))


@by_warpgroups
def test_floats_that_run_backwards_go_without_warpgroups():
    """A map has no negative strides; b, which lies across k, is copied then."""
    a, b = (checks.operand(numbers(*size), "tf32")[0] for size in ((20, 32), (32, 24)))
    check(ops.matmul(on_gpu(a)[::-1], on_gpu(b), dtype="tf32").get(), a[::-1], b)


@by_warpgroups
def test_stores_that_are_under_way_keep_what_they_read(only, monkeypatch):
    """Many tiles of one step follow each other in a block, each as wide as one box: the next must
    not be put where the last is still read. On a GPU, a patch that is not taken in turn shows."""
    if autoinit.is_software:
        monkeypatch.setattr(hopper, "multiprocessors", lambda: 2)
    m = 64 * 7 if autoinit.is_software else 1 << 20
    for tile in hopper.TILES[2], hopper.TILES[5]:
        only(True, tile)
        a, b = numbers(m, 64, dtype="float16"), numbers(64, 64, dtype="float16")
        got = ops.matmul(gpuarray.to_gpu(a), gpuarray.to_gpu(b)).get()
        rows = np.random.default_rng(0).integers(0, m, 5000)
        check(got[rows], a[rows], b)


def most_splits(tilings, by_groups):
    return [max(by_groups, key=lambda way: way.splits)]


@by_warpgroups
@pytest.mark.parametrize("kind", ["float16", "tf32", "e4m3"])
def test_a_cluster_adds_the_splits_of_a_tile(kind, only, monkeypatch):
    """In their order, whichever block comes last."""
    for tile in hopper.TILES[0], hopper.TILES[5]:
        only(True, tile)
        monkeypatch.setattr(hopper, "beside", most_splits)
        a, b = (checks.operand(numbers(*size), kind) for size in ((2, 70, 1300), (1300, 72)))
        arrays, options = (on_gpu(a[0]), on_gpu(b[0])), {}
        if kind != "float16":
            options["dtype"] = kind
        got = ops.matmul(*arrays, **options).get()
        if kind == "e4m3":
            exact = np.matmul(a[1].astype(float), b[1])
            within = checks.float8_tolerance(a[1], b[1], kind, together=4)
            within += checks.roundoff(got.dtype) * (abs(exact) + within)
            checks.assert_close(got, exact, within)
        else:
            check(got, a[1], b[1], kind)
        for _ in range(3):
            checks.assert_equal(ops.matmul(*arrays, **options).get(), got)


@pytest.mark.skipif(not autoinit.is_software, reason="counts what the software GPU does")
def test_splits_are_added_in_one_launch(only, monkeypatch):
    a, b = (on_gpu(numbers(*size, dtype="float16")) for size in ((130, 1024), (1024, 136)))
    for tile in hopper.TILES[1], NARROW[2]:
        only(True, tile)
        monkeypatch.setattr(hopper, "beside", most_splits)
        assert xray.profile(lambda: ops.matmul(a, b)).kernel == "joined"
        assert not xray.sanitize(lambda: ops.matmul(a, b))


@given(m=st.integers(1, 600), n=st.integers(1, 600), k=st.integers(1, 1 << 17))
def test_each_split_of_warpgroups_has_a_step(m, n, k):
    """Their tiles begin with the first step's products, not with zeros."""
    tiling = hopper.Tiling.of(m, n, k, tensor.KINDS["float16"])
    each = -(-tiling.steps // tiling.splits)
    assert (tiling.splits - 1) * each < tiling.steps


STEPS_BY_WARPGROUPS = [
    ("boxes", None), ("producer", (64, 128)), ("producer", None), ("multicast", (64, 128)),
    ("multicast", None),
]  # fmt: skip


@by_warpgroups
@pytest.mark.parametrize("name, tile", STEPS_BY_WARPGROUPS)
def test_steps_by_warpgroups(name, tile):
    """At sizes that tiles do not divide: of one step along k, of more than there are stages."""
    for m, n, k in (1, 8, 8), (150, 264, 72), (300, 24, 520):
        a, b = numbers(m, k, dtype="float16"), numbers(k, n, dtype="float16")
        check(by_boxes(name, a, b, tile=tile), a, b)


@pytest.mark.skipif(not autoinit.is_software, reason="needs the software GPU's maps")
@pytest.mark.parametrize("name, tile", STEPS_BY_WARPGROUPS)
def test_the_sanitizer_finds_nothing_in_steps_by_warpgroups(name, tile):
    a, b = numbers(200, 264, dtype="float16"), numbers(264, 136, dtype="float16")
    assert not by_boxes(name, a, b, run=xray.sanitize, tile=tile, stages=2)


FLOATS8 = ["e4m3", "e5m2"]
OF_FLOATS8 = [tile for tile in hopper.TILES if tile.float8_us]


def exponent(x, least):
    """Of numbers, `least` at least; of zeros one that does not count."""
    return np.where(x == 0, -999, np.maximum(np.frexp(x)[1] - 1, least))


def summed(a, b, c, kind):
    """c + a @ b in one instruction of a warpgroup, 32 products of 8-bit floats: terms are cut 13
    bits below the largest exponent, and their sum to 13 bits."""
    least = int(np.log2(float8.LEAST_NORMAL[kind]))
    of_products = (exponent(a, least)[:, :, None] + exponent(b, least)).max(1)
    unit = np.exp2(np.maximum(np.maximum(of_products, exponent(c, -126)), -200.0) - 13)
    total = np.trunc(a[:, :, None] * b / unit[:, None]).sum(1) + np.trunc(c / unit)
    own = np.exp2(exponent(total, -999) - 13.0)
    return np.where(total == 0, 0, np.trunc(total / own) * own) * unit


def float8_product(a, b, kind):
    """a @ b as gemm/hopper_float8.cu makes it: of 128 products by instructions, as floats then."""
    more = -a.shape[1] % 128
    a, b = np.pad(a, ((0, 0), (0, more))).astype(float), np.pad(b, ((0, more), (0, 0)))
    total = np.zeros((len(a), b.shape[1]), np.float32)
    for first in range(0, a.shape[1], 128):
        part = np.zeros(total.shape)
        for k in range(first, first + 128, 32):
            part = summed(a[:, k : k + 32], b[k : k + 32], part, kind)
        total += part.astype(np.float32)
    return total


def of_float8(m, n, k, kind):
    """Two matrices, both along k on the GPU, and their values."""
    a, b = (checks.operand(numbers(*shape, seed=5), kind) for shape in ((m, k), (k, n)))
    return (on_gpu(a[0]), on_gpu(b[0], transposed=True)), (a[1], b[1])


@by_warpgroups
@pytest.mark.parametrize("kind", FLOATS8)
@pytest.mark.parametrize("tile", OF_FLOATS8, ids=lambda tile: f"{tile.rows}x{tile.columns}")
def test_float8_by_warpgroups(kind, tile, only):
    """To the bit, where blocks share no sums; within the tolerance where they do."""
    only(True, tile)
    for m, n, k in (70, 77, 300), (1, 8, 16):
        arrays, values = of_float8(m, n, k, kind)
        got = ops.matmul(*arrays, dtype=kind, result="float32").get()
        checks.assert_equal(got, float8_product(*values, kind))
    arrays, values = of_float8(65, 16, 1600, kind)
    got = ops.matmul(*arrays, dtype=kind, result="float32").get()
    exact = np.matmul(*(x.astype(float) for x in values))
    within = checks.float8_tolerance(*values, kind, together=4)
    assert within.max() < abs(exact).max() / 4
    checks.assert_close(got, exact, within)


@pytest.mark.parametrize("result", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("kind", FLOATS8)
def test_float8_without_warpgroups(kind, result, only):
    """As halves, with the tolerance of halves."""
    only(False)
    for m, n, k in (3, 5, 7), (70, 77, 300), (17, 40, 3000):
        arrays, values = of_float8(m, n, k, kind)
        got = ops.matmul(*arrays, dtype=kind, result=result).get()
        assert got.dtype == ("uint16" if result == "bfloat16" else result)
        narrow = result == "bfloat16"
        check(checks.widened(got) if narrow else got, *values, dtype=result if narrow else None)


@pytest.mark.parametrize("groups", [pytest.param(True, marks=by_warpgroups), False])
def test_float8_with_scales(groups, only):
    """A product that no half holds, in batches, and of matrices that lie the other way."""
    only(groups)
    a, b = (np.full(shape, 448, np.float32) for shape in ((3, 40, 64), (64, 24)))
    bits = [float8.bits(x, "e4m3") for x in (a, b)]
    scales = [on_gpu(np.array(x, np.float32)) for x in ([0.25], [2.0**-10])]
    want = np.full((3, 40, 24), 64 * 448.0**2 / 4096, np.float16)
    for arrays in ([on_gpu(x) for x in bits], [on_gpu(bits[0], True), on_gpu(bits[1], True)]):
        if arrays[0].shape != (3, 40, 64):
            arrays = [x.transpose((*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)) for x in arrays]
        checks.assert_equal(ops.matmul(*arrays, dtype="e4m3", scales=scales).get(), want)
    one = ops.matmul(on_gpu(bits[0]), on_gpu(bits[1]), dtype="e4m3", scales=(None, scales[1])).get()
    checks.assert_equal(one, want * 4)


@pytest.mark.parametrize("groups", [True, False])
def test_float8_watched(groups, only, watched):
    """k is a multiple of 16: the sanitizer takes shorter copies by cp.async for whole ones."""
    for tile in (hopper.TILES[0], hopper.TILES[5]) if groups else (None,):
        only(groups, tile)
        arrays, values = of_float8(70, 40, 912, "e4m3")
        got = ops.matmul(*arrays, dtype="e4m3").get()
        exact = np.matmul(*(x.astype(float) for x in values))
        within = checks.float8_tolerance(*values, "e4m3", together=4)
        checks.assert_close(got, exact, within + 2.0**-11 * (abs(exact) + within))


@pytest.mark.parametrize("kind", FLOATS8)
def test_float8_numbers(kind):
    """All of them, back to their bits; what lies between two goes to the nearer, or the even."""
    every = np.arange(256, dtype=np.uint8)
    values = float8.numbers(every, kind)
    finite = np.isfinite(values)
    assert finite.sum() == {"e4m3": 254, "e5m2": 248}[kind]
    assert values[finite].max() == float8.LARGEST[kind]
    checks.assert_equal(float8.bits(values[finite], kind), every[finite])
    assert np.isnan(float8.numbers(float8.bits(np.nan, kind), kind))
    checks.assert_equal(float8.numbers(float8.bits([1e9, -np.inf], kind), kind),
                        np.float32([1, -1]) * np.float32(float8.LARGEST[kind]))  # fmt: skip
    codes = every[:127][finite[:127]]
    below, above = (values[codes[i]].astype(float) for i in (slice(None, -1), slice(1, None)))
    even = np.where(codes[:-1] % 2 == 0, codes[:-1], codes[1:])
    checks.assert_equal(float8.bits((below + above) / 2, kind), even)
    checks.assert_equal(float8.bits(np.nextafter((below + above) / 2, 0), kind), codes[:-1])
    checks.assert_equal(float8.bits(-np.nextafter((below + above) / 2, 1e9), kind), codes[1:] + 128)


def test_float8_special_numbers(only):
    """NaN and infinities become halves that are such."""
    only(False)
    a, one = np.uint8([[0x7F], [0xFF], [0x7E]]), on_gpu(np.uint8([[0x38]]))  # 1
    got = ops.matmul(on_gpu(a), one, dtype="e4m3").get()
    checks.assert_equal(np.isnan(got), np.array([[True], [True], [False]]))
    a, one = np.uint8([[0x7C], [0xFC], [0x7D]]), on_gpu(np.uint8([[0x3C]]))
    got = ops.matmul(on_gpu(a), one, dtype="e5m2").get()
    checks.assert_equal(got, np.float16([[np.inf], [-np.inf], [np.nan]]))
