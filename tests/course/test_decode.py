"""Every kernel for one word at a time, and the operations made of them."""

import numpy as np
import pytest

from helpers import blocks, checks, float8, ops, xray
from helpers.ops import decode
from helpers.transformer import reference
from softgpu.tests.facts import refused

from . import steps_decode as steps
from .steps_reduce import numbers

from pycuda import gpuarray  # isort: skip

HALF, SINGLE = "float16", "float32"
PLAIN = [kind for kind in steps.FORMATS if kind not in blocks.BLOCKS]


def norm_tolerance(want, hidden, dtype):
    """The largest error of RMSNorm: the root halves its sum's error; four more roundings."""
    relative = checks.gamma(hidden / 2 + 6, SINGLE) + checks.roundoff(dtype)
    return relative * np.abs(want) + float(np.finfo(dtype).smallest_subnormal)


@pytest.mark.parametrize("dtype", [SINGLE, HALF])
@pytest.mark.parametrize("shape, pack", [((1, 1), 1), ((3, 33), 1), ((5, 256), 4), ((2, 1028), 4)])
def test_rms_norm(shape, pack, dtype):
    x, weight = numbers(*shape, dtype=dtype), numbers(shape[1], dtype=dtype)
    x[0] *= 100  # squares that a half would lose
    got, kept = steps.rms_norm(x, weight, 1e-5, pack=pack, block=64)
    want = reference.norm(x, weight, 1e-5)
    checks.assert_close(got, want, norm_tolerance(want, shape[1], dtype))
    checks.assert_equal(kept, x)


@pytest.mark.parametrize("dtype", [SINGLE, HALF])
def test_rms_norm_of_a_sum(dtype):
    x, added = numbers(3, 264, dtype=dtype), numbers(3, 264, dtype=dtype)[::-1].copy()
    weight = numbers(264, dtype=dtype)
    got, kept = steps.rms_norm(x, weight, 1e-5, added, pack=4)
    checks.assert_equal(kept, x + added)
    want = reference.norm(x + added, weight, 1e-5)
    checks.assert_close(got, want, norm_tolerance(want, 264, dtype))


def test_rms_norm_of_zeros_is_zero_and_epsilon_counts():
    x = np.zeros((2, 64), np.float32)
    x[1] = 1e-4
    got, _ = steps.rms_norm(x, np.ones(64, np.float32), 1e-8)
    want = reference.norm(x, 1, 1e-8)
    checks.assert_close(got, want, norm_tolerance(want, 64, SINGLE))
    assert (got[0] == 0).all() and np.allclose(got[1], 0.5**0.5)


def test_a_token_has_its_row():
    table = np.random.default_rng(0).integers(-127, 128, (9, 70)).astype(np.int8)
    scales = numbers(9)
    for token in 0, 5, 8:
        checks.assert_equal(steps.embed(table, scales, token), table[token] * scales[token])


@pytest.mark.parametrize("dtype", [SINGLE, HALF])
@pytest.mark.parametrize("position", [0, 6, 10])
@pytest.mark.parametrize("table, page", [([0], 11), ([4, 0, 2], 4)])
def test_rotary(table, page, position, dtype):
    heads, key_heads, head, capacity = 4, 2, 32, 11
    made, turns = numbers(8, head), reference.turns(capacity, head)
    keys, values = (numbers(key_heads, capacity, head, dtype=dtype) for _ in range(2))
    got = steps.rotary(made, heads, key_heads, position, keys, values, turns, table, page)
    want = reference.rotated(made[:6], turns[position])
    size = reference.rotated(np.abs(made[:6]), np.abs(turns[position]) * [1, -1])
    size[:, : head // 2] = np.abs(made[:6, :16] * turns[position, :, 0])
    size[:, : head // 2] += np.abs(made[:6, 16:] * turns[position, :, 1])
    size[:, head // 2 :] = np.abs(made[:6, 16:] * turns[position, :, 0])
    size[:, head // 2 :] += np.abs(made[:6, :16] * turns[position, :, 1])
    tolerance = checks.dot_tolerance(want, size, 2, SINGLE)
    checks.assert_close(got[0], want[:heads], tolerance[:heads], "q")
    tolerance = checks.dot_tolerance(want, size, 2, dtype, SINGLE)
    checks.assert_close(got[1][:, position], want[heads:], tolerance[heads:], "keys")
    checks.assert_equal(got[2][:, position], made[6:].astype(dtype), "values")
    others = np.arange(capacity) != position
    checks.assert_equal(got[1][:, others], keys[:, others])
    checks.assert_equal(got[2][:, others], values[:, others])


def test_a_position_past_the_cache_writes_nothing():
    made, turns = numbers(3, 8), reference.turns(5, 8)
    keys, values = numbers(1, 5, 8), numbers(1, 5, 8)
    for position in -1, 5:
        _, *got = steps.rotary(made, 1, 1, position, keys, values, turns, [1, 0], 3)
        checks.assert_equal(got[0], keys)
        checks.assert_equal(got[1], values)


@pytest.mark.parametrize("dtype", [SINGLE, HALF])
@pytest.mark.parametrize(
    "head, heads, key_heads, seen, splits",
    [(32, 4, 1, 1, 1), (32, 4, 2, 17, 3), (64, 2, 2, 100, 1), (128, 8, 2, 61, 4), (8, 3, 3, 40, 9)],
)
@pytest.mark.parametrize("page", [16, 105])
def test_attention_over_the_cache(page, head, heads, key_heads, seen, splits, dtype):
    q = numbers(heads, head)
    keys, values = (numbers(key_heads, seen + 5, head, dtype=dtype) for _ in range(2))
    keys[:, seen:] = values[:, seen:] = np.nan  # slots that nothing has been written to
    table = (5 * np.arange(-(-keys.shape[1] // page)) + 2) % 11  # in no order, with gaps
    got, logs = steps.attend(q, keys, values, seen - 1, head**-0.5, table, page, splits)
    k, v = keys[:, :seen], values[:, :seen]
    more = checks.gamma(8 * seen, SINGLE)  # groups of lanes may have few keys each
    want, of_logs, error, log_error = checks.attention(q[:, None], k, v, narrow=more)
    checks.assert_close(got, want[:, 0], error[:, 0])
    checks.assert_close(logs, of_logs[:, 0], log_error[:, 0] + more)


@pytest.mark.parametrize("dtype, pack", [(SINGLE, 4), (HALF, 8), (SINGLE, 1)])
def test_swiglu(dtype, pack):
    made = 4 * numbers(2, 328, dtype=dtype)
    made[0, :3] = -90, 0, 90
    want = reference.swiglu(made)
    # exp is within 2 units in the last place; its sum, quotient and product round once each.
    tolerance = (checks.gamma(8, SINGLE) + checks.roundoff(dtype)) * np.abs(want)
    lost = 3e-37 * np.abs(made[1].astype(float)) + float(np.finfo(dtype).tiny)  # exp(89) is inf
    checks.assert_close(steps.swiglu(made, pack), want, tolerance + lost)


def stored(kind, n, k):
    """Weights as they lie in memory, and the numbers they stand for."""
    x = numbers(n, k)
    return checks.operand(x, kind) if kind in ("int8", "e4m3") else (x.astype(kind),) * 2


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("n, k, rows", [(1, 1, 1), (5, 33, 1), (7, 256, 3), (3, 2064, 1)])
def test_thin_product(n, k, rows, kind):
    weights, numbers_of = stored(kind, n, k)
    x, scales = numbers(rows, k), np.abs(numbers(n))
    most = next(b for b in (16, 8, 4, 2, 1) if k * weights.itemsize % b == 0)
    choices = {"BYTES": most, "UNROLL": 2, "X_PACK": 4 if k % 4 == 0 else 1, "ROWS": 1 + n % 3}
    got = steps.thin(weights, x, scales, kind, **choices)
    want = x.astype(float) @ numbers_of.astype(float).T * scales
    size = np.abs(x).astype(float) @ np.abs(numbers_of).astype(float).T * scales
    checks.assert_close(got, want, checks.dot_tolerance(want, size, k + 1, SINGLE))


def in_blocks(kind, x):
    """The weights as they lie in memory, the scales of their blocks, of rows, and the numbers."""
    if kind == "mxfp8":
        codes, of_blocks = blocks.mxfp8(x)
        return codes, of_blocks, np.ones(len(x), np.float32), blocks.from_mxfp8(codes, of_blocks)
    codes, of_blocks, whole = blocks.nvfp4(x)
    scales = np.full(len(x), whole, np.float32)
    return codes, of_blocks, scales, blocks.from_nvfp4(codes, of_blocks, whole)


@pytest.mark.parametrize("kind", blocks.BLOCKS)
@pytest.mark.parametrize("n, k, rows", [(1, 32, 1), (5, 96, 2), (3, 2080, 1)])
def test_thin_product_of_blocks(n, k, rows, kind, watched):
    made, x = numbers(n, k) * np.exp(3 * numbers(n, k)), numbers(rows, k)
    weights, of_blocks, scales, numbers_of = in_blocks(kind, made)
    most = next(b for b in (16, 8) if weights.shape[1] % b == 0)
    got = steps.thin(weights, x, scales, kind, of_blocks, BYTES=most, X_PACK=4, ROWS=1 + n % 3)
    want, size = x.astype(float) @ numbers_of.T, np.abs(x).astype(float) @ np.abs(numbers_of).T
    tolerance = checks.dot_tolerance(want, size, k + 3, SINGLE)
    checks.assert_close(got, want, tolerance)
    on_gpu = map(gpuarray.to_gpu, (x, weights, scales, of_blocks))
    of_x, *rest, of_blocks = on_gpu
    checks.assert_close(ops.linear(of_x, *rest, kind, of_blocks).get(), want, tolerance)


@pytest.mark.parametrize("kind, nbytes, rows", [("float16", 2, 1), ("int8", 1, 2)])
def test_thin_product_reads_the_weights_once(kind, nbytes, rows):
    n, k = 64, 1024
    weights, scales, x = (
        gpuarray.to_gpu(a) for a in (stored(kind, n, k)[0], numbers(n), numbers(k))
    )
    y = gpuarray.empty(n, np.float32)
    call = decode.thin(x, weights, None, True)
    told = weights, y, np.int64(n), np.int64(k), x, scales, np.int64(0)
    total = xray.profile(call.function, *told, grid=call.grid, block=call.block).total
    # Each warp reads x from L1, for its rows; a lane's 16 bytes are half of a sector.
    of_x = n // rows * x.nbytes // 16
    assert total["ld.sectors"] == n * k * nbytes // 32 + of_x + n
    assert total["st.sectors"] == n and not total.get("ld.shared", 0)


def test_thin_product_of_halves():
    weights, x = numbers(9, 264, dtype=HALF), numbers(2, 264, dtype=HALF)
    want, size = (f(x).astype(float) @ f(weights).astype(float).T for f in (np.array, np.abs))
    got = steps.thin(weights, x, X_PACK=8)
    checks.assert_close(got, want, checks.dot_tolerance(want, size, 264, HALF, SINGLE))


def test_sampling_takes_the_highest_without_a_temperature():
    logits = numbers(250)
    logits[[31, 200]] = 9
    assert steps.sample(logits, 0, 1, 0, 3)[:2] == (31, 4)
    for most in 1, 250:
        assert steps.sample(np.full(7, np.nan, np.float32), 1, most, 0, 0)[0] == 0


@pytest.mark.parametrize("most", [1, 5, 250, 999])
def test_sampling_draws_as_numpy_does(most):
    logits, seen = 3 * numbers(250), set()
    logits[[3, 249]] = -np.inf
    for position in range(25):
        share = reference.uniform(5, position)
        want, margin = reference.draw(logits, 0.7, most, share)
        token, after, tokens = steps.sample(logits, 0.7, most, 5, position)
        # A probability has the error of its exponent and of exp; its sum, of an addition each.
        error = checks.gamma(2 * 250 + 8 + 2 * np.ptp(logits[logits > -99]) / 0.7, SINGLE)
        assert token == want or margin < error
        assert after == position + 1 and tokens[-1] == token and (tokens[:-1] == -1).all()
        seen.add(token)
    assert len(seen) > 3 if most > 5 else len(seen) <= most


def test_random_numbers_are_spread_evenly():
    drawn = [reference.uniform(seed, position) for seed in range(8) for position in range(500)]
    counts, _ = np.histogram(drawn, 10, (0, 1))
    assert abs(counts - 400).max() < 5 * 400**0.5


@pytest.mark.parametrize("dtype", [SINGLE, HALF])
def test_operations_take_any_layout(dtype, watched):
    x, weight = numbers(2, 3, 40, dtype=dtype), numbers(40, dtype=dtype)
    got = ops.rms_norm(gpuarray.to_gpu(x)[:, ::2], gpuarray.to_gpu(weight)).get()
    want = reference.norm(x[:, ::2], weight, 1e-5)
    checks.assert_close(got, want, norm_tolerance(want, 40, dtype))
    for kind in PLAIN:
        weights, numbers_of = stored(kind, 9, 40)
        scales = np.abs(numbers(9))
        told = {"dtype": "e4m3"} if kind == "e4m3" else {}
        on_gpu = map(gpuarray.to_gpu, (x, weights, scales))
        got = ops.linear(*on_gpu, **told).get()
        want = x.astype(float) @ numbers_of.astype(float).T * scales
        size = np.abs(x).astype(float) @ np.abs(numbers_of).astype(float).T * scales
        checks.assert_close(got, want, checks.dot_tolerance(want, size, 41, dtype, SINGLE))


def test_rms_norm_adds_in_place(watched):
    x, added, weight = numbers(4, 96), numbers(4, 96)[::-1].copy(), numbers(96)
    kept = gpuarray.to_gpu(x)
    got = ops.rms_norm(kept, gpuarray.to_gpu(weight), added=gpuarray.to_gpu(added)).get()
    want = reference.norm(x + added, weight, 1e-5)
    checks.assert_close(got, want, norm_tolerance(want, 96, SINGLE))
    checks.assert_equal(kept.get(), x + added)


def test_kernels_are_clean(watched):
    made, turns = numbers(8, 32), reference.turns(40, 32)
    keys, values = numbers(2, 40, 32), numbers(2, 40, 32)
    in_pages = [3, 0, 4], 16
    steps.rotary(made, 4, 2, 20, keys, values, turns, *in_pages)
    steps.attend(made[:4], keys, values, 20, 0.2, *in_pages, splits=3)
    steps.swiglu(numbers(2, 328), 4)
    steps.sample(numbers(250), 0.7, 20, 0, 3)
    steps.embed(np.ones((4, 70), np.int8), numbers(4), 2)


ON_GPU = {
    "x": lambda: gpuarray.to_gpu(numbers(2, 8)),
    "weight": lambda: gpuarray.to_gpu(numbers(8)),
    "weights": lambda: gpuarray.to_gpu(numbers(3, 8)),
    "int8": lambda: gpuarray.to_gpu(np.ones((3, 8), np.int8)),
    "codes": lambda: gpuarray.to_gpu(np.ones((3, 8), np.uint8)),
    "few": lambda: gpuarray.to_gpu(numbers(2)),
}


@pytest.mark.parametrize(
    "call, facts",
    [
        ("rms_norm(x, few)", ["(2,)", 8]),
        ("rms_norm(x, weight, -1)", [-1, 0]),
        ("rms_norm(x, weight, added=few)", ["(2,)", "(2, 8)"]),
        ("rms_norm(x[:, ::2], few, added=few)", ["(2,)", 4]),
        ("linear(x, int8)", ["int8", "float32"]),
        ("linear(x, weights, few)", ["(2,)", 3]),
        ("linear(few, weights)", ["(2,)", "(3, 8)", 8]),
        ("linear(x, weight)", ["(8,)", "[n, k]"]),
        ("linear(x, weights, dtype='e5m2')", ["'e5m2'", '"e4m3"', '"mxfp8"', '"nvfp4"', "None"]),
        ("linear(x, weights, blocks=few)", ["mxfp8", "nvfp4"]),
        ("linear(x, codes, dtype='mxfp8')", ["mxfp8"]),
        ("linear(x, codes, None, 'mxfp8', codes)", [32]),
    ],
)
def test_arguments_are_refused_by_name(call, facts):
    with refused(ValueError, *facts):
        eval(f"ops.{call}", {"ops": ops, **{name: make() for name, make in ON_GPU.items()}})


def test_e4m3_has_all_its_numbers():
    weights = np.arange(256, dtype=np.uint8)[:, None]
    got = steps.thin(weights, np.ones((1, 1), np.float32), kind="e4m3", BYTES=1)[0]
    checks.assert_equal(got, float8.numbers(weights[:, 0], "e4m3"))
    every = np.delete(weights[:, 0], [127, 255]).reshape(1, 254).repeat(2, 0)
    x = np.eye(254, dtype=np.float32)[[3, 100, 253]]
    got = steps.thin(every, x, kind="e4m3", BYTES=2)
    checks.assert_equal(got[:, 0], float8.numbers(every[0, [3, 100, 253]], "e4m3"))
