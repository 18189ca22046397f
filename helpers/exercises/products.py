"""What sums, products of matrices and attention must be, and launches of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .. import checks, tensormap
from .distant import FAR, PAST, far_launch, far_numbers, far_totals, pieces
from .launches import Boxes, Far, In, Launch, Out, blocks_for, several
from .values import eighths, numbers

__all__ = [
    "BY_STAGES",
    "attention",
    "boxed_product",
    "far_block_totals",
    "far_product",
    "far_sum",
    "far_sum_by_last_block",
    "operands",
    "packed_launch",
    "product",
    "product_launch",
    "scales_taken",
    "sum_by_last_block",
    "which_keys",
    "sums_of_boxes",
    "thin",
    "totals",
]

BY_STAGES = {  # why small changes to a product by stages are as good: for judges' survivors
    "threadIdx.x != 0) stages": "threads begin the barriers alike",
    "threadIdx.x == 1) stages": "another thread begins the barriers",
    "threadIdx.y == 0) stages": "all threads begin the barriers alike",
    "STAGES = 3": "another number of stages",
    "3 * STAGES": "room for barriers that nobody uses",
    "__launch_bounds__(385": "room for a thread that nobody launches",
    "__launch_bounds__(384, 2)": "what the machine code then does without registers is not counted",
}


def product(
    a: np.ndarray,
    b: np.ndarray,
    dtype: DTypeLike = np.float32,
    bias: ArrayLike = 0,
    roundings: int | None = None,
) -> Out:
    """The Out of a times b, of all pairs if they are several, added up as float32 in any order.

    roundings: of a sum; by default of its terms, or of tensor cores if these are halves."""
    k = a.shape[-1]
    if roundings is None:
        roundings = checks.tensor_roundings(k) if a.dtype == np.float16 else k + 1
    with np.errstate(invalid="ignore"):
        sums, sizes = (f(a).astype(float) @ f(b) + f(bias) for f in (np.array, np.abs))
    if dtype == np.float16:
        tolerance = checks.dot_tolerance(sums, sizes, roundings, dtype, np.float32)
        with np.errstate(over="ignore"):
            sums = np.where(np.isinf(sums.astype(dtype)), np.inf * sums, sums)
    else:
        tolerance = checks.gamma(roundings, np.float32) * sizes
    return Out(sums, tolerance, dtype)


def far_product(
    rng: np.random.Generator,
    k: int,
    tall: int,
    grid_of: Callable[[int, int], tuple | int],
    block: int | tuple,
    *more: Callable[[int, int], Any],
    of: DTypeLike = np.float32,
    size_type: Callable[[int], Any] = np.int64,
    wide: int = 8,
    turned: bool = False,
) -> Launch:
    """The last block of a product of which a, b and c each have more elements than an int can
    count: 0, except for a few in the last rows of a, and in the last columns of b.

    tall: the rows of a block, of which all are compared; wide: a multiple of 8, or the columns of
    one. grid_of: of (m, n). more: of (n, k). turned: b has its columns as lines."""
    n = m = -(-(1 << 32) // k // 128) * 128 + 128
    rows = np.arange((m - 1) // tall * tall, m)
    columns = np.arange(max((n - 1) // wide * wide, n - 8), n)
    depth = np.r_[0:8, k - 8 : k]
    p, q = (numbers(rng, *shape).astype(of) for shape in ((rows.size, 16), (16, columns.size)))
    roundings = 18 if of == np.float32 else checks.tensor_roundings(k)
    out = product(p, q, of, roundings=roundings)
    in_b = columns[:, None] * k + depth if turned else depth[:, None] * n + columns
    given = [
        Far(m * k, of, pieces((rows[:, None] * k + depth).ravel(), p.ravel())),
        Far(n * k, of, pieces(in_b.ravel(), (q.T if turned else q).ravel())),
    ]
    expected = pieces((rows[:, None] * n + columns).ravel(), out.expected.astype(of).ravel())
    c = Far(m * n, of, {}, expected, np.max(out.tolerance))
    grid = grid_of(m, n)
    last = int(np.prod(grid)) - 1
    what = f"{m:,} x {k:,} times {k:,} x {n:,}"
    arguments = [*given, c, *map(size_type, (m, n, k)), *(make(n, k) for make in more)]
    return Launch(arguments, grid, block, what=what, blocks=[range(last, last + 1)])


def operands(
    rng: np.random.Generator, m: int, n: int, k: int, dtype: DTypeLike = np.float32
) -> tuple[np.ndarray, np.ndarray]:
    """a[m, k] and b[k, n]; where m is odd, 0 meets ∞ in both ways, a row has a NaN, and sums grow
    beyond halves: terms that are skipped, held, or multiplied by a 0 show. Deep ones are positive:
    sums of both signs would be below what so many roundings may cost."""
    a, b = (numbers(rng, *shape, dtype=dtype) for shape in ((m, k), (k, n)))
    if k > 1000:
        a, b = abs(a), abs(b)
    if k and m % 2:
        a[::5, -1], b[-1, ::5] = 0, np.inf
        a[1::5, [0, -1]], b[0, 1::5] = np.inf, 0
        a[2:3, -1] = np.nan
        a[3::5] *= 1000
        b[:, 2::7] *= 1000
    return a, b


def product_launch(
    a: np.ndarray,
    b: np.ndarray,
    grid: int | tuple,
    block: int | tuple,
    *more: Any,
    size_type: Callable[[int], Any] = np.int64,
) -> Launch:
    """The Launch of a kernel of a, b, their product of their type, m, n, k, and what is more."""
    (m, k), n = a.shape, b.shape[1]
    arguments = [In(a), In(b), product(a, b, a.dtype), *map(size_type, (m, n, k)), *more]
    return Launch(arguments, grid, block, what=f"{m} x {k} times {k} x {n}")


def packed_launch(
    rng: np.random.Generator, size: tuple, rows: int, deep: int, shared: int = 0
) -> Launch:
    """The Launch of a kernel whose blocks make rows x 128 of a product. size: m, n, k; and, where
    lines are longer, with NaN past their ends, into how many stretches of tiles `deep` k is split:
    c has the product of each."""
    m, n, k, splits = size if len(size) > 3 else (*size, 1)
    a, b = operands(rng, m, n, k)
    each, longer = -(-k // (deep * splits)) * deep, 8 * (len(size) > 3)
    parts = [slice(split * each, (split + 1) * each) for split in range(splits)]
    outs = [product(a[:, part], b[part]) for part in parts]
    c = Out(np.stack([o.expected for o in outs]), np.stack([o.tolerance for o in outs]))
    c = outs[0] if splits == 1 else c
    a, b = (np.pad(x, [(0, 0), (0, longer)], constant_values=np.nan) for x in (a, b))
    strides = np.array([k + longer, n + longer, 0, 0], np.int64)
    arguments = [In(a), In(b), c, *map(np.int64, (m, n, k)), strides]
    blocks = -(-n // 128) * -(-m // rows)
    what = f"{m} x {k} times {k} x {n}" + f", {splits} stretches of k" * (splits > 1)
    what += ", longer lines" * (longer > 0)
    return Launch(arguments, (blocks, splits) if splits > 1 else blocks, 256, shared, what)


def boxed_product(
    rng: np.random.Generator, m: int, n: int, k: int, rows: int, is_stored: bool = False
) -> tuple[Boxes, Out]:
    """(Boxes of halves a[m, k] and b[k, n], the Out of their product c): of a in boxes of so many
    rows and 64 columns, of b in 64 x 64 and, if it `is_stored` so, of c in 16 x 64."""
    a, b = (x[None] for x in operands(rng, m, n, k, np.float16))
    out = product(a[0], b[0], np.float16)
    boxes = Boxes(
        [
            (In(a), partial(tensormap.tiled, box=(1, rows, 64))),
            (In(b), partial(tensormap.tiled, box=(1, 64, 64))),
        ]
    )
    if is_stored:
        boxes.of.append((out, lambda c: tensormap.tiled(c.reshape(1, m, n), (1, 16, 64))))
    return boxes, out


def thin(
    given: list, weights: np.ndarray, x: np.ndarray, scales: ArrayLike = 1.0, rows: int = 8
) -> Launch:
    """The Launch of a kernel whose warps, `rows` of them in a block, each make a row's part of
    y[n] = scales[n] * (weights[n, k] x[k]): the arrays that are given, y, n and k."""
    n, k = weights.shape
    with np.errstate(all="ignore"):
        sums, sizes = (scales * (f(weights).astype(float) @ f(x)) for f in (np.array, np.abs))
    tolerance = checks.gamma(k + 4, np.float32) * np.where(np.isfinite(sizes), np.abs(sizes), 0)
    arguments = [*given, Out(sums, tolerance), *map(np.int64, (n, k))]
    return Launch(arguments, blocks_for(n, rows), 32 * rows, what=several(n, "row", k))


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, seen: np.ndarray | None = None
) -> Out:
    """The Out of softmax(scale * q kᵀ) v; seen: which query sees which key; of none: 0.

    Sums may shrink as often as there are keys, so the tolerance is twice that of the course's."""
    bias = None if seen is None else np.where(seen, 0, -np.inf)
    want, _, error, _ = checks.attention(q, k, v, scale, bias)
    return Out(want, 2 * error)


def which_keys(
    launch: Launch, out: Out, got: np.ndarray, seen: Callable[[int], tuple[int, int]]
) -> str | None:
    """In words, if the first wrong query's result is made of other keys than seen(query), the first
    and the last; scores past the last key are 0."""
    q, k, v = (argument.values.astype(float) for argument in launch.arguments[:3])
    scale = float(next(a for a in launch.arguments[4:] if isinstance(a, np.floating)))
    got = got.reshape(np.shape(out.expected))
    with np.errstate(all="ignore"):
        wrong = (np.isfinite(got) & ~(np.abs(got - out.expected) <= out.tolerance)).any(2)
        if not wrong.any():
            return None
        unit, query = np.argwhere(wrong)[0]
        scores = np.append(scale * k[unit] @ q[unit, query], 0)
        values = np.append(v[unit], np.zeros((1, v.shape[2])), 0)
        first, last = seen(int(query))

        def is_of(begin: int, end: int, times: float = 1) -> bool:
            some = times * scores[begin : end + 1]
            powers = np.exp(some - some.max())
            made = powers @ values[begin : end + 1] / powers.sum()
            return np.allclose(made, got[unit, query], 1e-3, 1e-3, equal_nan=True)

        if last > first and is_of(first, last, 1 / scale):
            return "Multiply each score by `scale`."
        ends = [(first, n) for n in range(first, len(scores))]
        for begin, end in ends + [(n, m) for m in (last, last + 1) for n in range(m + 1)]:
            if (begin, end) != (first, last) and is_of(begin, end):
                right, yours = (
                    f"keys {one} to {other}" if one < other else f"key {one} only"
                    for one, other in ((first, last), (begin, end))
                )
                return f"Query {query} sees {right}; yours is made of {yours}."
    return None


def scales_taken(
    w: np.ndarray, scales: np.ndarray, x: np.ndarray, got: np.ndarray, within: ArrayLike
) -> str | None:
    """In words, which weight of a row w[n, 32] counts with the scale of the wrong block, of
    scales[n, 2], in got[n] = w scaled times x; or None."""
    terms = np.concatenate([w * x * scale[:, None] for scale in scales.T.astype(float)], 1)
    if len(terms) <= terms.shape[1] or not np.isfinite(terms).all() or not np.isfinite(got).all():
        return None
    shares, *_ = np.linalg.lstsq(terms, got, rcond=None)
    if (np.abs(terms @ shares - got) > 16 * np.asarray(within)).any():
        return None
    shares = shares.reshape(2, -1).round(2) + 0.0  # no -0
    blocks = np.arange(w.shape[1]) // 16 == np.arange(2)[:, None]
    wrong = np.flatnonzero((np.abs(shares - blocks) > 0.1).any(0))
    if not wrong.size or not (shares * ~blocks).any():  # or all are off by something else
        return None
    own, other = shares[:, wrong[0]][np.argsort(blocks[:, wrong[0]])[::-1]]
    return (
        f"Of the 32 weights that a lane loads, number {wrong[0]} counts {own:g} times with its own"
        f" block's scale and {other:g} times with the other block's: 16 neighbours share one."
    )


# --- sums -----------------------------------------------------------------------------------------


def totals(x: np.ndarray, length: int = 256) -> Out:
    """Sums of stretches of so many elements, as a tree in shared memory leaves them: an Out."""
    rows = np.zeros(length * blocks_for(x.size, length), x.dtype)
    rows[: x.size] = x
    rows = rows.reshape(-1, length)
    tolerance = checks.sum_tolerance(rows, axis=1, chain=length.bit_length() - 1)
    sums = rows.sum(1, dtype=float)
    return Out(sums, np.where(np.isfinite(sums), tolerance, 0))


def far_sum(rng: np.random.Generator) -> Launch:
    """The launch on FAR elements of a kernel that adds them to one number, which was 0."""
    x = far_numbers(rng)
    seen = np.concatenate([x.pieces[0], x.pieces[PAST]])
    tolerance = float(checks.sum_tolerance(seen))
    out = Far(1, np.float32, expected={0: [seen.sum(dtype=float)]}, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)])


def far_block_totals(rng: np.random.Generator, each: int = 256) -> Launch:
    """The launch on FAR elements of a kernel whose blocks leave a total each, as in `totals`."""
    x = far_numbers(rng, each)
    expected = far_totals(x, lambda v: totals(v, each).expected, each)
    tolerance = max(np.max(totals(v, each).tolerance) for v in x.pieces.values())
    out = Far(2**25, np.float32, expected=expected, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)], each)


def sum_by_last_block(x: np.ndarray, blocks: int, threads: int, chain: int | None = None) -> Launch:
    """The launch of a sum whose last block adds up the totals of all: x, the sum, n, the totals,
    and how many blocks have arrived, which is 0 again in the end."""
    tolerance = checks.sum_tolerance(x[np.isfinite(x)], chain=chain)
    rows = np.zeros((-(-x.size // (threads * blocks)) or 1) * threads * blocks)
    rows[: x.size] = x
    totals = Out(rows.reshape(-1, blocks, threads).sum((0, 2)), tolerance)
    out = Out(np.array([x.sum(dtype=float)]), tolerance)
    arrived = Out(np.zeros(1), dtype=np.uint32, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(x.size), totals, arrived], grid=blocks, block=threads)


def far_sum_by_last_block(rng: np.random.Generator, threads: int) -> Launch:
    """The same with 65,536 blocks, of which the first 8 run, on elements past 2**31, as if the
    others were done."""
    blocks, some = 1 << 16, 8
    n = 2**31 + threads * some  # many turns and a few elements
    x = rng.integers(-9, 9, n - 2**31).astype(np.float32)
    out = Far(1, np.float32, {}, {0: [x.sum()]})
    totals = Far(blocks, np.float32, {}, {0: x.reshape(some, threads).sum(1)})
    arrived = Far(1, np.uint32, {0: [blocks - some]}, {0: [0]})
    arguments = [Far(n, np.float32, {2**31: x}), out, np.int64(n), totals, arrived]
    return Launch(arguments, blocks, threads, what=f"n = {n:,}", blocks=[range(some)])


def sums_of_boxes(rng: np.random.Generator, size: tuple[int, int], threads: int) -> Launch:
    """The launch of a kernel whose blocks add up their boxes of 32 x 32, each column for itself."""
    blocks, tiles = size
    x = eighths(rng, 1, 32 * blocks * tiles, 32)
    if blocks > 1:
        x[0, -1, 5] = np.nan
    sums = x.reshape(blocks, -1, 32).sum(1)
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=0))])
    what = f"{several(blocks, 'block')} of {several(tiles, 'tile')}"
    return Launch([boxes, Out(sums), np.int32(tiles)], blocks, threads, what=what)
