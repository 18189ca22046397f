"""Say whether a kernel's result is right: references, derived tolerances, guarded outputs.

A tolerance here is a bound that rounding alone cannot pass: it follows from the values, the type
and the longest chain of additions that one value goes through, and is never tuned."""

from typing import Any

import numpy as np

from . import float8

__all__ = [
    "Differs",
    "Guarded",
    "assert_close",
    "assert_equal",
    "attention",
    "attention_gradients",
    "dot_tolerance",
    "float8_tolerance",
    "prod_tolerance",
    "operand",
    "roundoff",
    "softmax",
    "softmax_tolerance",
    "sum_tolerance",
    "tensor_roundings",
    "widened",
]

Axis = int | tuple[int, ...] | None
GUARD_BYTES = 256
POISON = np.array(0x7FF9_A5A0_0000_0000).view(float)  # a NaN that no operation computes


def on_host(x: Any) -> np.ndarray:
    """x as a NumPy array; what is on the GPU has to be fetched first."""
    if hasattr(x, "get"):
        raise TypeError(f"this {type(x).__name__} is on the GPU: give what its .get() returns")
    return np.asarray(x)


def roundoff(dtype: Any) -> float:
    """The largest relative error of one rounding to this type."""
    dtype = np.dtype(dtype)
    return np.finfo(dtype).eps / 2 if dtype.kind == "f" else 0.0


def gamma(roundings: float, dtype: Any) -> float:
    """The largest relative error that so many roundings in a row add up to."""
    error = roundings * roundoff(dtype)
    if error >= 1:
        raise ValueError(f"{roundings} roundings to {np.dtype(dtype)} leave no digit")
    return error / (1 - error)


def sum_tolerance(
    x: Any, axis: Axis = None, chain: int | None = None, accumulator: Any = None
) -> Any:
    """The largest error of a sum of x, added up in the accumulator's type (default: that of x) in
    any order in which a value goes through at most `chain` additions (default: one by one)."""
    x = on_host(x)
    size = np.abs(x.astype(np.longdouble)).sum(axis)
    count = x.size // max(size.size, 1)
    accumulator = accumulator or x.dtype
    return gamma(count if chain is None else min(chain, count), accumulator) * size


def tensor_roundings(count: int) -> int:
    """How many roundings of float32 sums of `count` products by tensor cores may be off by.

    An instruction cuts 16 products and what they are added to at 2^-25 of the largest, and their
    sum at 2^-23: 17 + 4 halves of a rounding, no more than that where there are fewer products."""
    return -(-21 * -(-count // 16) // 2)


def dot_tolerance(want: Any, size: Any, count: int, dtype: Any, accumulator: Any = None) -> Any:
    """The largest error of sums of `count` products of dtype, added up in the accumulator's type in
    any order and rounded to dtype once. size: the same sums of absolute values."""
    error = gamma(count, accumulator or dtype) * on_host(size)  # products rounded, and added
    smallest = float(np.finfo(dtype).smallest_subnormal)  # half of a half's would be a half, 0
    return error + roundoff(dtype) * (np.abs(on_host(want)) + error) + smallest / 2


def float8_tolerance(a: Any, b: Any, kind: str, together: int | None = None) -> Any:
    """The largest error of a @ b, matrices of the values of 8-bit floats, by Hopper's warpgroups.

    An instruction cuts 32 products and what they are added to at 2^-13 of the largest, or of what
    its exponent says where a number is subnormal, and their sum at 2^-13. together: instructions
    that add to one sum, which is then added to others as a float; None: all that there are."""
    a, b = (on_host(x).astype(float) for x in (a, b))
    each, error, size = 32, 0, np.abs(a) @ np.abs(b)
    for first in range(0, a.shape[-1], each):
        if first % (each * (together or a.shape[-1])) == 0:
            total, so_far = 0, 0
        columns, rows = a[..., first : first + each], b[..., first : first + each, :]
        most = [np.maximum(np.abs(x), float8.LEAST_NORMAL[kind]) for x in (columns, rows)]
        largest = most[0].max(-1, keepdims=True) * most[1].max(-2, keepdims=True)
        added = (each + 2) * 2.0**-13 * np.maximum(largest, np.abs(total) + so_far)
        total, so_far, error = total + columns @ rows, so_far + added, error + added
    return error + gamma(-(-a.shape[-1] // each) + 1, "float32") * (size + error)


def operand(x: Any, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Float32 numbers as operands of a kind of ops.matmul: as they lie in memory; their values. To
    tf32 they are cut, which all GPUs then read alike."""
    x = on_host(x)
    if kind == "bfloat16":
        bits = (x.view(np.uint32) >> 16).astype(np.uint16)
        return bits, widened(bits)
    if kind == "tf32":
        cut = (x.view(np.uint32) >> 13 << 13).view(np.float32)
        return cut, cut
    if kind in float8.LARGEST:
        made = float8.bits(x, kind)
        return made, float8.numbers(made, kind)
    made = (30 * x).clip(-128, 127).astype(np.int8) if kind == "int8" else x.astype(kind)
    return made, made


def widened(bits: Any) -> np.ndarray:
    """Float32 numbers of the bits of bfloat16."""
    return (on_host(bits).astype(np.uint32) << 16).view(np.float32)


def prod_tolerance(x: Any, axis: Axis = None, accumulator: Any = None) -> Any:
    """The largest error of a product of x: each multiplication rounds once, in whatever order."""
    x = on_host(x)
    size = np.abs(x.astype(np.longdouble).prod(axis))
    return gamma(x.size // max(size.size, 1), accumulator or x.dtype) * size


def softmax(x: Any) -> np.ndarray:
    """Softmax over the last axis in extended precision, with NaN where PyTorch has it."""
    x = on_host(x).astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        powers = np.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)


def softmax_tolerance(x: Any, chain: int | None = None, accumulator: Any = None) -> np.ndarray:
    """The largest error of softmax(x) by any of the course's kernels, in the accumulator's type.

    x - max is rounded once, and exp() turns that error into a relative one; CUDA's exp() is within
    2 units in the last place (4 roundoffs); the merging of sums costs two exp() and a few products
    each time; then come a reciprocal, a product and the rounding to the type of x."""
    x = on_host(x)
    accumulator = accumulator or x.dtype
    chain = x.shape[-1] if chain is None else min(chain, x.shape[-1])
    with np.errstate(invalid="ignore"):
        x64 = x.astype(np.longdouble)
        drop = x64.max(-1, keepdims=True) - x64
        drop = np.where(np.isfinite(drop), drop, 0)
    spread = drop.max(-1, keepdims=True)
    one_sum = gamma(chain * 12, accumulator) + roundoff(accumulator) * spread
    relative = roundoff(accumulator) * (drop + 12) + one_sum + roundoff(x.dtype)
    tiniest = np.finfo(accumulator).tiny + np.finfo(x.dtype).smallest_subnormal
    return relative * softmax(x) + tiniest  # results near the smallest numbers are flushed or lost


def attention(
    q: Any, k: Any, v: Any, scale: float | None = None, bias: Any = None, narrow: str = "float32"
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Attention in float64, the logarithms of its rows' sums, and the largest errors of both by any
    of the course's kernels, in sums of float32. bias is added to scores: -inf hides a key. narrow:
    the largest error of one rounding of probabilities, or a type; neighbouring heads share keys."""
    q, k, v = (on_host(x).astype(float) for x in (q, k, v))
    if q.ndim > 2:
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    keys, u = k.shape[-2], roundoff("float32")
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        scale, scores, size = _scores(q, k, scale, bias)
        peak = scores.max(-1, keepdims=True, initial=-np.inf)
        powers = np.exp(scores - np.where(peak == -np.inf, 0, peak))
        total = powers.sum(-1, keepdims=True)
        shares = powers / np.where(total == 0, 1, total)
        largest = size.max(-1, keepdims=True, initial=0)
        # A score is a dot product, scaled and masked; each tile's maximum is a product as well.
        tiles = keys / 16 + 8
        dot = max(q.shape[-1], tensor_roundings(q.shape[-1]))
        exponent = np.expm1((dot + 8 + 2 * tiles) * u * largest)
        one = narrow if isinstance(narrow, float) else roundoff(narrow)
        relative = 2 * exponent + gamma(2 * keys + 8 * tiles, "float32") + one
        tiniest = 2.0**-25 if narrow == "float16" else 2.0**-126
        error = relative * (shares @ np.abs(v)) + tiniest * np.abs(v).sum(-2, keepdims=True)
        logs = (peak + np.log(total))[..., 0]
        log_error = (exponent + gamma(keys + 8 * tiles, "float32") + 4 * u * np.abs(peak))[..., 0]
        return shares @ v, np.where(total[..., 0] == 0, -np.inf, logs), error, log_error


def _scores(q: Any, k: Any, scale: float | None, bias: Any) -> tuple:
    """The scale, 1 / sqrt(size) if None; the scores; the same sums of absolute values."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    bias = np.zeros(()) if bias is None else on_host(bias).astype(float)
    size = np.abs(scale) * (np.abs(q) @ np.abs(k).swapaxes(-1, -2))
    size = size + np.where(np.isfinite(bias), np.abs(bias), 0)
    return scale, scale * (q @ k.swapaxes(-1, -2)) + bias, size


def attention_gradients(
    gradient: Any,
    q: Any,
    k: Any,
    v: Any,
    scale: float | None = None,
    bias: Any = None,
    narrow: str = "float32",
) -> tuple:
    """The gradients of attention by q, k and v in float64, and the largest errors of each by any of
    the course's kernels: as of attention, whose result and logarithms they start from."""
    out, logs, out_error, log_error = attention(q, k, v, scale, bias, narrow)
    one = narrow if isinstance(narrow, float) else roundoff(narrow)
    out_error = out_error + one * (np.abs(out) + out_error)
    gradient, q, k, v = (on_host(x).astype(float) for x in (gradient, q, k, v))
    group = q.shape[-3] // k.shape[-3]
    k, v = (np.repeat(x, group, -3) for x in (k, v))
    scale, scores, size = _scores(q, k, scale, bias)
    empty = logs[..., None] == -np.inf
    with np.errstate(invalid="ignore"):
        shares = np.where(empty, 0, np.exp(scores - np.where(empty, 0, logs[..., None])))
    most = size.max(-1, keepdims=True, initial=0) + np.where(empty, 0, np.abs(logs[..., None]))
    lost = np.where(empty, 0, log_error[..., None]) + (q.shape[-1] + 8) * roundoff("float32") * most
    lost = np.expm1(lost) + gamma(8, "float32")
    by_shares, weight = gradient @ v.swapaxes(-1, -2), np.abs(gradient) @ np.abs(v).swapaxes(-1, -2)
    product = (gradient * out).sum(-1, keepdims=True)
    dot = gamma(v.shape[-1] + 4, "float32")
    off = (np.abs(gradient) * (out_error + dot * np.abs(out))).sum(-1, keepdims=True) + dot * weight
    slopes = shares * (by_shares - product) * scale
    slopes_off = np.abs(scale) * shares * ((1 + lost) * off + lost * np.abs(by_shares - product))

    def made(weights: Any, weights_off: Any, x: Any, shared: Any) -> tuple:
        # weights may be rounded to the type of x, whose smallest numbers are absolute
        weights_off = weights_off + one * (np.abs(weights) + weights_off) + tiniest
        want, error = weights @ x, weights_off @ np.abs(x)
        error += gamma(weights.shape[-1] * group + 4, "float32") * (np.abs(weights) @ np.abs(x))
        if shared and group > 1:
            split = *want.shape[:-3], want.shape[-3] // group, group, *want.shape[-2:]
            want, error = (y.reshape(split).sum(-3) for y in (want, error))
        smallest = 2.0**-24 if narrow == "float16" else 2.0**-126
        return want, error + one * (np.abs(want) + error) + smallest

    tiniest = max(1, abs(scale)) * 2.0**-25 if narrow == "float16" else 0
    turned = [x.swapaxes(-1, -2) for x in (slopes, slopes_off, shares, shares * lost)]
    by_k, by_k_off, by_v, by_v_off = turned
    return (
        made(slopes, slopes_off, k, False),
        made(by_k, by_k_off, q, True),
        made(by_v, by_v_off, gradient, True),
    )


def assert_equal(got: Any, expected: Any, what: str = "result") -> None:
    """Every element is the expected one; NaN equals NaN."""
    assert_close(got, expected, 0, what)


class Differs(AssertionError):
    """Elements that are wrong. place: of the first, and what was got, and expected within how much
    there, or None; count of size elements are wrong."""

    def __init__(
        self, what: str, place: tuple, got: Any, expected: Any, within: Any, count: int, size: int
    ):
        self.place, self.got, self.expected, self.within = place, got, expected, within
        self.count, self.size = count, size
        near = f" within {within:.3g}" if within is not None else ""
        super().__init__(
            f"{what}{list(place) if place else ''}: got {got!s}, expected {expected!s}{near}; "
            f"{count:,} of {size:,} elements are wrong"
        )


def assert_close(got: Any, expected: Any, tolerance: Any, what: str = "result") -> None:
    """Every element is within tolerance of the expected one; NaN and infinities are the same."""
    got, expected = on_host(got), on_host(expected)
    if got.shape != expected.shape:
        raise AssertionError(f"{what}: shape {got.shape}, expected {expected.shape}")
    with np.errstate(invalid="ignore"):
        exact = got.dtype.kind in "iub" and expected.dtype.kind in "iub"
        wide = (got, expected) if exact else (a.astype(np.longdouble) for a in (got, expected))
        a, b = wide
        wrong = a != b if exact else ~(np.abs(a - b) <= tolerance) | np.isinf(b)
    if not exact:
        wrong &= ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not wrong.any():
        return
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    allowed = np.broadcast_to(np.asarray(tolerance), got.shape)[first]
    says_more = allowed and np.isfinite(got[first]) and np.isfinite(expected[first])
    within = allowed if says_more else None
    raise Differs(what, first, got[first], expected[first], within, wrong.sum(), wrong.size)


class Guarded:
    """An array on the GPU, poisoned, between guards: .array for the kernel to fill.

    The guards are random bytes, others for each array, so that a kernel which copies past the end
    of two arrays shows; the poison is a NaN of its own, or in integers random. get() returns what
    the kernel left, and raises if it wrote outside. rng: where the bytes come from."""

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        offset_bytes: int = 0,
        rng: np.random.Generator | None = None,
    ) -> None:
        from pycuda import gpuarray

        self.shape, self.dtype = shape, np.dtype(dtype)
        self.bytes = int(np.prod(shape)) * self.dtype.itemsize
        self.start = GUARD_BYTES + offset_bytes
        rng = rng or np.random.default_rng()
        noise = rng.bytes(self.start + self.bytes + GUARD_BYTES)
        self.before = np.frombuffer(noise, np.uint8).copy()
        if self.dtype.kind == "f":
            self.inside(self.before)[...] = POISON.astype(self.dtype)
        self.raw = gpuarray.to_gpu(self.before)
        self.array = gpuarray.GPUArray(
            shape, self.dtype, gpudata=int(self.raw.gpudata) + self.start, base=self.raw
        )
        self.array.bounded = True  # for xray.sanitize: the guards are not the kernel's

    def inside(self, raw: np.ndarray) -> np.ndarray:
        """The array's part of the raw bytes."""
        return raw[self.start : self.start + self.bytes].view(self.dtype).reshape(self.shape)

    def set(self, values: Any) -> "Guarded":
        """Fill it from the host, as an input between guards."""
        self.inside(self.before)[...] = np.asarray(values, self.dtype)
        return self.reset()

    def reset(self) -> "Guarded":
        """Put back what was in it, and around it, before any launch."""
        self.raw.set(self.before)
        return self

    def get(self) -> np.ndarray:
        """What the array holds, once the guards were found untouched."""
        return self.left(self.raw.get())

    def left(self, raw: np.ndarray) -> np.ndarray:
        """The same of all its bytes, guards included, fetched by the caller."""
        touched = raw != self.before
        touched[self.start : self.start + self.bytes] = False
        size = self.dtype.itemsize  # of what is written, a byte may be what it was by chance
        elements = np.unique((np.flatnonzero(touched) - self.start) // size)
        if elements.size:
            raise AssertionError(
                f"{size * elements.size} bytes outside the array were overwritten, the first of"
                f" them at byte {size * elements[0]} of an array of {self.bytes}"
            )
        return self.inside(raw).copy()
