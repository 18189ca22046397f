"""Attention against float64: the steps of cuda_src/attention, and helpers.ops.attention."""

import numpy as np
import pytest

from helpers import autoinit, checks, ops, xray
from helpers.ops import heads
from softgpu.tests.facts import refused

from .steps_attention import fused, in_three, launch, launch_gradient
from .steps_gemm import numbers

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_quick")]

KINDS = ["float32", "float16", "bfloat16"]
CAUSAL = [False, "upper_left", "lower_right"]
BFLOAT = 2.0**-8  # the largest relative error of a rounding
SHAPES = [  # batches and heads, heads of keys, queries, keys, sizes of heads and values
    ((1,), 1, 1, 1, 8, 8), ((2, 4), 2, 5, 70, 40, 24), ((3,), 3, 65, 65, 64, 64),
    ((1, 2), 1, 130, 33, 128, 128), ((2,), 2, 17, 150, 33, 7), ((2,), 1, 40, 20, 192, 256),
    ((), 1, 20, 90, 80, 96),
]  # fmt: skip


def on_gpu(x, lies_as=None):
    """An array between guards; lies_as: the order in which its dimensions lie in memory."""
    if lies_as is None:
        return checks.Guarded(x.shape, x.dtype).set(x).array
    return on_gpu(x.transpose(lies_as)).transpose(tuple(np.argsort(lies_as)))


def operands(outer, shared, queries, keys, size, values, kind, seed=0):
    """q, k and v as they lie in memory, and their values."""
    inner = (*outer[:-1], shared) if outer else ()
    shapes = (*outer, queries, size), (*inner, keys, size), (*inner, keys, values)
    made = [checks.operand(numbers(*shape, seed=seed + i), kind) for i, shape in enumerate(shapes)]
    return zip(*made)


def check(got, exact, kind, scale=None, bias=None):
    """Compare with float64."""
    narrow = BFLOAT if kind == "bfloat16" else kind
    want, _, error, _ = checks.attention(*exact, scale, bias, narrow)
    if kind == "bfloat16":
        got, error = checks.widened(got), error + BFLOAT * (np.abs(want) + error)
    else:
        assert got.dtype == kind
        error += checks.roundoff(kind) * (np.abs(want) + error)
        error += float(np.finfo(kind).smallest_subnormal)
    checks.assert_close(got, want, error, "attention")


def attend(exact, lying, kind, **options):
    """ops.attention of arrays between guards, and the check of it."""
    told = options | ({"dtype": kind} if kind == "bfloat16" else {})
    mask = told.get("mask")
    bias, scale = 0, told.get("scale")
    queries, keys = exact[0].shape[-2], exact[1].shape[-2]
    if mask is not None:
        bias = np.where(mask, 0, -np.inf) if mask.dtype == bool else mask
        told["mask"] = on_gpu(mask)
    if told.get("causal"):
        diagonal = keys - queries if told["causal"] == "lower_right" else 0
        bias = bias + np.where(np.tri(queries, keys, diagonal, bool), 0, -np.inf)
    got = ops.attention(*(on_gpu(x) for x in lying), **told).get()
    check(got, exact, kind, scale, bias)
    return got


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("causal", CAUSAL)
def test_attention(kind, causal):
    way = KINDS.index(kind) + CAUSAL.index(causal)  # each shape in each type, and each way of both
    for shape in SHAPES[way % 3 :: 3]:
        lying, exact = operands(*shape, kind)
        attend(exact, lying, kind, causal=causal)


@pytest.fixture
def by_groups(monkeypatch):
    """Whatever warpgroups can make, they make."""
    monkeypatch.setattr(heads, "GROUP_START_US", -1e9)
    heads.prepared.clear()
    yield
    heads.prepared.clear()


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("causal", CAUSAL)
@pytest.mark.usefixtures("by_groups")
def test_warpgroups(kind, causal):
    way = KINDS.index(kind) + CAUSAL.index(causal)
    shapes = [
        ((2, 4), 2, 65, 70, 30, 24), ((1, 2), 1, 330, 290, 128, 128), ((2,), 1, 140, 60, 192, 256),
        ((3,), 3, 200, 265, 64, 64), ((), 1, 17, 1, 8, 96), ((2,), 2, 30, 70, 33, 200),
    ]  # fmt: skip
    for shape in shapes[way % 3 :: 3]:
        lying, exact = operands(*shape, kind)
        first = attend(exact, lying, kind, causal=causal)
        checks.assert_equal(attend(exact, lying, kind, causal=causal), first)
        assert next(reversed(heads.prepared.values())).by_groups


@pytest.mark.usefixtures("by_groups")
@pytest.mark.parametrize("causal, values", [(False, 64), ("lower_right", 33), (True, 96)])
def test_splits_by_warpgroups(causal, values, monkeypatch):
    """Splits of few tiles, some without keys that a row sees."""
    monkeypatch.setattr(heads, "_merging_us", lambda asked, splits: -splits)
    queries = 900 if causal is True else 140
    lying, exact = operands((1, 2), 1, queries, 900, 64, values, "float16")
    first = attend(exact, lying, "float16", causal=causal)
    checks.assert_equal(attend(exact, lying, "float16", causal=causal), first)
    call = next(reversed(heads.prepared.values()))
    assert call.by_groups and call.splits > 1 and call.merge


@pytest.mark.long
@pytest.mark.usefixtures("by_groups")
def test_warpgroups_take_strides_and_pass_on_nan():
    (q, k, v), exact = operands((2, 3), 3, 20, 140, 64, 64, "float16")
    want = ops.attention(*map(on_gpu, (q, k, v))).get()
    for order in (0, 2, 1, 3), (2, 1, 0, 3):
        got = ops.attention(*(on_gpu(x, order) for x in (q, k, v))).get()
        checks.assert_equal(got, want)
        assert next(reversed(heads.prepared.values())).by_groups
    got = ops.attention(on_gpu(q)[:, :, ::-1], on_gpu(k), on_gpu(v)).get()
    assert not next(reversed(heads.prepared.values())).by_groups
    check(got, (exact[0][:, :, ::-1], *exact[1:]), "float16")
    for which, value in (0, np.nan), (1, np.inf), (2, -np.inf):
        spoilt = [x.copy() for x in (q, k, v)]
        spoilt[which][0, 1, 5, 3] = value
        attend(spoilt, spoilt, "float16")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.3, -0.5, 0.0])
def test_scales(kind, scale):
    lying, exact = operands((2,), 2, 20, 40, 64, 64, kind)
    attend(exact, lying, kind, scale=scale)


@pytest.mark.parametrize("kind", KINDS)
def test_masks_are_broadcast(kind):
    lying, exact = operands((2, 4), 2, 20, 70, 64, 64, kind)
    for shape in (2, 4, 20, 70), (4, 1, 70), (70,), (2, 1, 20, 1), (20, 1):
        attend(exact, lying, kind, mask=numbers(*shape))
    attend(exact, lying, kind, mask=numbers(4, 1, 70) > -0.5, causal="lower_right")


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_sees_nothing_is_0(kind):
    lying, exact = operands((2,), 1, 40, 20, 64, 64, kind)
    got = attend(exact, lying, kind, causal="lower_right")
    assert not got[:, :20].any()
    got = attend(exact, lying, kind, mask=np.arange(40)[:, None] % 3 > 0)
    assert not got[:, ::3].any()
    q, _, _ = lying
    nothing = on_gpu(np.zeros((1, 0, 64), q.dtype))
    dtype = kind if kind == "bfloat16" else None
    assert not ops.attention(on_gpu(q), nothing, nothing, dtype=dtype).get().any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "count, shared, queries, size", [(8, 2, 1, 64), (6, 1, 2, 200), (4, 4, 16, 33)]
)
def test_splits_of_the_keys(kind, count, shared, queries, size, monkeypatch):
    """Merged by the last block of a tile, if tensor cores make them, or by another launch; threads
    of a block share a row's columns, and its splits if columns are few."""
    for causal, join_us in (False, -1e9), ("lower_right", 1e9):
        monkeypatch.setattr(heads, "JOIN_US", join_us)
        heads.prepared.clear()
        lying, exact = operands((count,), shared, queries, 3000, 64, size, kind)
        first = attend(exact, lying, kind, causal=causal)
        checks.assert_equal(attend(exact, lying, kind, causal=causal), first)
        call = next(reversed(heads.prepared.values()))
        assert call.splits > 1 and bool(call.merge) == (join_us > 0 or kind == "float32")
    heads.prepared.clear()


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_strides_are_read_as_they_are(kind):
    (q, k, v), exact = operands((2, 3), 3, 20, 40, 64, 64, kind)
    want = ops.attention(*map(on_gpu, (q, k, v))).get()
    for order in (0, 2, 1, 3), (2, 1, 0, 3), (3, 1, 0, 2), (1, 0, 3, 2):
        got = ops.attention(*(on_gpu(x, order) for x in (q, k, v))).get()
        checks.assert_equal(got, want)
    got = ops.attention(on_gpu(q)[:, ::2, ::-1], on_gpu(k)[:, ::2], on_gpu(v)[:, ::2]).get()
    checks.assert_equal(got, want[:, ::2, ::-1])


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_nan_and_infinity(kind, value, which):
    """As in three steps: a score of inf or NaN spoils its row, a value all rows that weigh it."""
    lying, _ = operands((2,), 2, 40, 70, 64, 64, kind)
    lying = [x.copy() for x in lying]
    lying[which][0, 3, 5] = value
    attend(lying, lying, kind)


def test_results_are_the_same_bits_every_run():
    lying, _ = operands((4,), 2, 3, 3000, 64, 64, "float16")
    first, again = (ops.attention(*map(on_gpu, lying)).get() for _ in range(2))
    checks.assert_equal(first, again)


@pytest.mark.parametrize(
    "shapes, options, error, facts",
    [
        ([(2, 3, 8), (2, 4, 7), (2, 4, 7)], {}, ValueError, ["q", 8, "k", 7]),
        ([(2, 3, 8), (2, 4, 8), (2, 5, 8)], {}, ValueError, ["k", "v", (2, 4, 8), (2, 5, 8)]),
        ([(3, 3, 8), (2, 4, 8), (2, 4, 8)], {}, ValueError, [3, "q", 2, "k"]),
        ([(2, 3, 300), (2, 4, 300), (2, 4, 8)], {}, ValueError, [256]),
        ([(3, 8), (1, 4, 8), (1, 4, 8)], {}, ValueError, [(3, 8), (1, 4, 8)]),
        ([(2, 1, 3, 8), (1, 1, 4, 8), (1, 1, 4, 8)], {}, ValueError, [(2, 1, 3, 8), (1, 1, 4, 8)]),
        ([(2, 3, 8)] * 3, {"causal": "left"}, ValueError, ["causal", "'left'", '"upper_left"']),
        ([(2, 3, 8)] * 3, {"dtype": "bfloat16"}, TypeError, ["q", "float32", "uint16"]),
        ([(2, 3, 8)] * 3, {"scale": np.inf}, ValueError, ["scale", "inf"]),
    ],
)
def test_what_is_refused(shapes, options, error, facts):
    with refused(error, *facts):
        ops.attention(*(on_gpu(numbers(*shape)) for shape in shapes), **options)


def test_a_mask_that_does_not_fit():
    q = on_gpu(numbers(2, 3, 8))
    with refused(ValueError, "mask", (4, 3), (2, 3, 3)):
        ops.attention(q, q, q, mask=on_gpu(numbers(4, 3)))
    with refused(TypeError, "mask", "int32", "float32, bool"):
        ops.attention(q, q, q, mask=on_gpu(np.ones((3, 3), np.int32)))


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("step", [in_three, fused])
def test_steps(step, causal):
    for units, queries, keys, size in (1, 1, 1, 1), (2, 33, 70, 20), (1, 70, 33, 65):
        q, k, v = (numbers(units, n, size, seed=n) for n in (queries, keys, keys))
        got = step(q, k, v, 0.3, causal)
        bias = np.where(np.tri(queries, keys, 0, bool), 0, -np.inf) if causal else None
        check(got, (q, k, v), "float32", 0.3, bias)


@pytest.mark.parametrize("name", ["running", "tensor"])
def test_what_is_written_and_read(name):
    """Keys and values are read once for a tile of queries; no score is written. All lies between
    guards, and nobody reads what nobody wrote."""
    kind = "float16" if name == "tensor" else "float32"
    for queries, keys in (128, 192), (128, 384), (70, 130):
        q, k, v = (
            numbers(2, n, 64, seed=i, dtype=kind) for i, n in enumerate((queries, keys, keys))
        )
        kernel, arguments, named, (out, logs) = launch(name, q, k, v, 0.125)
        assert not xray.sanitize(kernel, *arguments, **named)
        total = xray.profile(kernel, *arguments, **named).total
        line = q[0, 0].nbytes // 32  # sectors
        tiles = named["grid"][0] // 2
        assert total["ld.sectors"] == 2 * line * (queries + tiles * 2 * keys)
        assert total["st.sectors"] <= 2 * (line + 1) * queries
        kernel(*arguments, **named)
        check(out.get(), (q, k, v), kind)
        want, within = checks.attention(q, k, v, narrow=kind)[1::2]
        checks.assert_close(logs.get(), want, within, "logs")


# A GPU's driver makes maps of its own, which the software GPU beside it can't read.
by_software = pytest.mark.skipif(not autoinit.is_software, reason="needs the software GPU's maps")


@by_software
@pytest.mark.parametrize("causal", [0, 1])
def test_warpgroups_wait_for_each_other(causal):
    """No race, nothing read unfinished; again and again, since the last block resets what is
    drawn."""
    q, k, v = (numbers(2, n, 64, seed=i, dtype="float16") for i, n in enumerate((300, 150, 150)))
    bias = np.where(np.tri(300, 150, 0, bool), 0, -np.inf) if causal else None
    kernel, arguments, named, (out, logs) = launch("hopper", q, k, v, 0.125, CAUSAL=causal)
    assert not xray.sanitize(kernel, *arguments, **named)
    total = xray.profile(kernel, *arguments, **named).total
    assert total["st.sectors"] <= 2 * 300 * (q[0, 0].nbytes // 32 + 1)
    for _ in range(2):
        out.array.fill(0)
        kernel(*arguments, **named)
        check(out.get(), (q, k, v), "float16", bias=bias)
    want, within = checks.attention(q, k, v, None, bias, "float16")[1::2]
    checks.assert_close(logs.get(), want, within, "logs")


def test_matrices_lie_in_different_banks():
    q = numbers(1, 64, 64, dtype="float16")
    kernel, arguments, named, _ = launch("tensor", q, q, q, 0.125)
    total = xray.profile(kernel, *arguments, **named).total
    assert total["lds.wavefronts"] - total["lds.requests"] * 4 == 0
    assert total["hmma"] == 2 * 64**3 // (16 * 8 * 16)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("causal", CAUSAL)
def test_gradients(kind, causal):
    way = KINDS.index(kind) + CAUSAL.index(causal)
    shapes = (
        ((2, 4), 2, 40, 70, 64, 48), ((1, 6), 2, 33, 130, 24, 128), ((2,), 2, 70, 70, 7, 100),
        ((2, 4), 2, 140, 70, 32, 24), ((3,), 3, 70, 140, 80, 96),
    )  # fmt: skip
    outer, shared, queries, keys, size, values = shapes[way % 5]
    lying, exact = operands(outer, shared, queries, keys, size, values, kind)
    given, gradient = checks.operand(numbers(*outer, queries, values, seed=7), kind)
    told = {"causal": causal, "scale": 0.2} | ({"dtype": kind} if kind == "bfloat16" else {})
    bias = np.zeros((queries, keys))
    if causal:
        diagonal = keys - queries if causal == "lower_right" else 0
        bias[~np.tri(queries, keys, diagonal, bool)] = -np.inf
    if way == 2:
        mask = numbers(queries, keys)
        bias, told["mask"] = bias + mask, on_gpu(mask)
    arrays = [on_gpu(x) for x in lying]
    saved = ops.attention(*arrays, **told, with_logs=True)
    made = ops.attention_backward(on_gpu(given), *arrays, saved, **told)
    again = ops.attention_backward(on_gpu(given), *arrays, **told)
    narrow = BFLOAT if kind == "bfloat16" else kind
    wanted = checks.attention_gradients(gradient, *exact, 0.2, bias, narrow)
    for name, got, other, (want, within) in zip("qkv", made, again, wanted):
        checks.assert_equal(other.get(), got.get())
        got = checks.widened(got.get()) if kind == "bfloat16" else got.get()
        checks.assert_close(got, want, within, f"gradient by {name}")


@by_software
@pytest.mark.parametrize("of_keys", [0, 1])
@pytest.mark.parametrize("causal", [0, 1])
def test_gradients_by_warpgroups_wait_for_each_other(of_keys, causal):
    shapes = enumerate(((2, 150, 64), (2, 300, 64), (2, 300, 64), (2, 150, 64)))
    gradient, k, v, q = (numbers(*shape, seed=i, dtype="float16") for i, shape in shapes)
    bias = np.where(np.tri(150, 300, 0, bool), 0, -np.inf) if causal else np.zeros((150, 300))
    out, logs, _, _ = checks.attention(q, k, v, 0.125, bias, "float16")
    told = logs.astype(np.float32), (gradient * out).sum(-1).astype(np.float32)
    launched = launch_gradient(of_keys, gradient, q, k, v, 0.125, told, CAUSAL=causal)
    kernel, arguments, named, made = launched
    assert not xray.sanitize(kernel, *arguments, **named)
    wanted = checks.attention_gradients(gradient, q, k, v, 0.125, bias, "float16")
    for _ in range(2):
        for array in made:
            array.array.fill(0)
        kernel(*arguments, **named)
        for array, (want, within) in zip(made, wanted[of_keys:]):
            checks.assert_close(array.get(), want, within)


def test_gradients_of_nothing_and_of_another_shape():
    q, nothing = on_gpu(numbers(2, 3, 8)), on_gpu(np.zeros((2, 0, 8), np.float32))
    by_q, by_k, by_v = ops.attention_backward(q, q, nothing, nothing)
    assert not by_q.get().any() and by_k.shape == by_v.shape == (2, 0, 8)
    by_q, by_k, by_v = ops.attention_backward(nothing, nothing, q, q)
    assert by_q.shape == (2, 0, 8) and not by_k.get().any() and not by_v.get().any()
    with refused(ValueError, "gradient", (2, 0, 8), (2, 3, 8)):
        ops.attention_backward(nothing, q, q, q)


def test_a_mask_that_is_repeated_before_the_heads():
    q = on_gpu(numbers(2, 3, 2, 5, 8))
    attend = ops.attention(q, q, q, mask=on_gpu(numbers(2, 3, 1, 5, 5)))
    assert attend.shape == q.shape
    with refused(ValueError, "mask", (2, 1, 1, 5, 5)):
        ops.attention(q, q, q, mask=on_gpu(numbers(2, 1, 1, 5, 5)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mask_of_the_lowest_number_leaves_equal_shares(kind):
    lying, exact = operands((2,), 2, 20, 70, 64, 64, kind)
    lowest = np.full((20, 70), np.finfo(np.float32).min)
    lying = [np.zeros_like(lying[0]), *lying[1:]]
    got = ops.attention(
        *map(on_gpu, lying), mask=on_gpu(lowest), dtype=kind if kind == "bfloat16" else None
    ).get()
    check(got, (0 * exact[0], *exact[1:]), kind)
