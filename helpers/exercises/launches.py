"""What a judge.py is written in: the launch of one case, with what must come out of it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .. import checks, tensormap

__all__ = [
    "BY_STAGES",
    "SIZES",
    "FAR",
    "PAST",
    "SPECIAL",
    "Boxes",
    "Far",
    "In",
    "Launch",
    "Out",
    "Rate",
    "any_floats",
    "attention",
    "blocks_for",
    "boxed_product",
    "climbing",
    "drawn",
    "drawn_rows",
    "eighths",
    "elementwise",
    "far_launch",
    "far_numbers",
    "far_product",
    "far_results",
    "far_rows",
    "far_totals",
    "lossy",
    "near",
    "numbers",
    "pieces",
    "planted",
    "product",
    "product_launch",
    "scales",
    "strewn",
    "totals",
    "varied",
    "with_nan",
    "with_nan_query",
]

SIZES = 1, 31, 32, 33, 255, 257, 1009, 0
SPECIAL = np.inf, -np.inf, np.nan, -0.0, 1e-45, 1e38  # of floats; the last but one is subnormal
PAST = 2**31 + 2**20  # a place that no int holds
FAR = PAST + 77  # elements of a launch that passes it, in its last block
NEIGHBOURS = 2  # blocks on either side of one whose work they may do
SPREAD = 8

BY_STAGES = {  # why small changes to a product by stages are as good: for judges' SURVIVORS
    "threadIdx.x != 0) stages": "threads begin the barriers alike",
    "threadIdx.x == 1) stages": "another thread begins the barriers",
    "threadIdx.y == 0) stages": "all threads begin the barriers alike",
    "STAGES = 3": "another number of stages",
    "3 * STAGES": "room for barriers that nobody uses",
    "__launch_bounds__(385": "room for a thread that nobody launches",
    "__launch_bounds__(384, 2)": "what the machine code then does without registers is not counted",
}


def drawn(rng, step=1):
    """Two sizes at random, multiples of a step: of a few blocks of 256, and beyond ten."""
    sizes = rng.integers(34, 1001), rng.integers(2561, 5121)
    return tuple(-(-int(n) // step) * step for n in sizes)


@dataclass
class In:
    """An array that the kernel only reads. offset: elements past an aligned address.

    first: the element whose address the kernel gets."""

    values: np.ndarray
    offset: int = 0
    first: int = 0

    @property
    def dtype(self):
        return self.values.dtype


@dataclass
class Out:
    """An array that the kernel writes, and what must be in it then, to within a tolerance.

    initial: what is in it before; None: poison, which counts as never written.
    bits: every bit counts, so -0 is not 0."""

    expected: np.ndarray
    tolerance: ArrayLike = 0
    dtype: DTypeLike = np.float32
    initial: np.ndarray | None = None
    offset: int = 0
    bits: bool = False


@dataclass
class Far:
    """An array too large to fill: `count` zeros, but for pieces at some places, {place: values}.

    expected: what must be at these places after the launch; nothing else is compared. tolerance: of
    all, or by place, too."""

    count: int
    dtype: DTypeLike
    pieces: dict = field(default_factory=dict)
    expected: dict = field(default_factory=dict)
    tolerance: ArrayLike | dict = 0


@dataclass
class Boxes:
    """Tensor maps, which are a kernel's first argument. of: the array that each is of, and what
    makes the map of it on the GPU, where a Far lies in one row."""

    of: list[tuple[In | Out | Far, Callable]]


@dataclass
class Launch:
    """One launch: arguments in order, arrays as In, Out, Far or in Boxes. what: sizes, in words.
    One and the same Out for two arguments: the kernel works in place.

    blocks: ranges of block numbers in the grid, x fastest, if only these are to run."""

    arguments: list
    grid: int | tuple
    block: int | tuple
    shared: int = 0
    what: str = ""
    blocks: list = field(default_factory=list)

    @property
    def arrays(self):
        """The arguments, and after them the arrays behind maps."""
        boxes = (a for a in self.arguments if isinstance(a, Boxes))
        return [*self.arguments, *(array for box in boxes for array, _ in box.of)]

    def with_more_blocks(self):
        """The same with neighbours of the blocks that run, some from all over the grid, and all of
        these counted from the other end: a kernel may share its elements out as it likes."""
        count = prod(self.grid) if isinstance(self.grid, tuple) else self.grid
        some = {*range(0, count, max(1, count // SPREAD))}.union(*self.blocks)
        some |= {count - 1 - block for block in some}
        some = {block + by for block in some for by in range(-NEIGHBOURS, NEIGHBOURS + 1)}
        blocks = [range(block, block + 1) for block in sorted(some) if 0 <= block < count]
        return replace(self, blocks=blocks)

    def with_blocks_of(self, threads):
        """The same for other blocks, one more than are needed."""
        grid, *others = self.grid if isinstance(self.grid, tuple) else (self.grid,)
        grid = -(-grid * self.block // threads) + 1
        what = f"{self.what}, blocks of {threads}"
        return replace(self, grid=(grid, *others), block=threads, what=what)

    @property
    def heading(self):
        grid, block = (
            " x ".join(map(str, s)) if isinstance(s, tuple) else f"{s}"
            for s in (self.grid, self.block)
        )
        return f"{self.what}: grid {grid}, block {block}" + (
            f", {self.shared} bytes of shared memory" if self.shared else ""
        )


@dataclass(frozen=True)
class Rate:
    """What the clock must predict of a product of large square matrices: so many TFLOP/s, if any.

    size: of a launch that is counted for it, m, n, k first. side: of the large ones; 0: k. beside:
    who else does it, {name: case of make bench-gpu}."""

    size: tuple[int, ...]
    least: float
    beside: dict
    side: int = 0

    @property
    def operations(self):
        return 2 * prod(self.size[:3])

    @property
    def more(self):
        """How many such launches make the large one."""
        return 2 * self.of_side**3 // self.operations

    @property
    def of_side(self):
        return self.side or self.size[2]


def elementwise(launch, place):
    """What element `place` of an output is made from, where all arrays are as large as it."""
    inputs = [
        a.values if isinstance(a, In) else getattr(a, "initial", None) for a in launch.arguments
    ]
    return [values.ravel()[place] for values in inputs if values is not None]


def blocks_for(count, block=256):
    """Blocks for so many threads, and one that has nothing to do where there are none."""
    return max(1, -(-count // block))


def near(count, *places, block=256):
    """Of a launch of so many threads: the blocks around some of them, and the elements of these."""
    blocks = [
        range(max(p // block - 1, 0), min(p // block + 2, blocks_for(count, block))) for p in places
    ]
    return blocks, np.concatenate(
        [np.arange(b.start * block, min(b.stop * block, count)) for b in blocks]
    )


def pieces(places, values):
    """Values at ascending places, as a Far has them: {first place: those that lie side by side}."""
    begins = np.flatnonzero(np.diff(places, prepend=-2) > 1)
    return dict(zip(map(int, places[begins]), np.split(np.asarray(values), begins[1:])))


def strewn(rng, count, places):
    """A Far of so many floats with random numbers at these places, and the number at each."""
    distinct, which = np.unique(places, return_inverse=True)
    values = numbers(rng, distinct.size)
    return Far(count, values.dtype, pieces(distinct, values)), values[which].reshape(places.shape)


def far_numbers(rng, each=256, dtype=np.float32):
    """FAR zeros but for the first ones, the last, and those of block 16, which far_launch leaves
    out; `each`: so many a block."""
    counts = {0: FAR - PAST, 16 * each: each, PAST: FAR - PAST}
    return Far(FAR, dtype, {at: numbers(rng, n, dtype=dtype) for at, n in counts.items()})


def far_results(x, result):
    """The pieces of an output of as many elements: what comes of x's, 0 from block 16."""
    return {at: result(x.pieces[at]) if at in (0, PAST) else [0] for at in x.pieces}


def far_totals(x, result, each=256, none=0):
    """The same of an output with an element a block; none: of a block that has no elements."""
    ends = {at // each: result(x.pieces[at]) for at in (0, PAST)}
    return ends | {2**32 // each + 16: [none]}


def far_launch(arguments, each=256, shared=0):
    """A launch for FAR elements, `each` a block, of which those blocks run that matter.

    Whether a thread takes 1, 2, 4, 8 or 16 elements, and whether the blocks begin at the front or
    at the back, one of them has element PAST, and one element 0. The one past 2**32 has nothing to
    do, unless its place is taken as a 32-bit number: then it does the work of block 16."""
    owner, wrapped = PAST // each, 2**32 // each + 16
    grid = wrapped + 1000
    blocks = {0, *(owner >> k for k in range(5)), grid - 1 - owner, grid - 1, wrapped}
    some = [range(block, block + 1) for block in sorted(blocks)]
    return Launch(arguments, grid, 256, shared, f"n = {FAR:,}", blocks=some)


def totals(x, length=256):
    """Sums of stretches of so many elements, as a tree in shared memory leaves them: an Out."""
    rows = np.zeros(length * blocks_for(x.size, length), x.dtype)
    rows[: x.size] = x
    rows = rows.reshape(-1, length)
    tolerance = checks.sum_tolerance(rows, axis=1, chain=length.bit_length() - 1)
    sums = rows.sum(1, dtype=float)
    return Out(sums, np.where(np.isfinite(sums), tolerance, 0))


def numbers(rng, *shape, dtype=np.float32):
    """Random numbers with fractions and both signs; whole ones for integers."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -1000), min(limits.max, 1000), shape, dtype, endpoint=True)


def eighths(rng, *shape):
    """Random numbers with fractions, whose sums round nothing."""
    return (rng.integers(-72, 73, shape) / 8).astype(np.float32)


def scales(rng, *shape):
    """Random factors from 1e-9 to 1e9: what is added, held or cut off shows beside them."""
    return (10.0 ** rng.uniform(-9, 9, shape)).astype(np.float32)


def planted(rng, values, *special):
    """The values, each special one in a random place among them, if there is room for others."""
    if values.size > len(special):
        values.flat[rng.permutation(values.size)[: len(special)]] = special
    return values


def with_nan_query(q, out, unit=-1, query=1):
    """Put a NaN into one query, if it has neighbours: it must come out, in its own row alone."""
    if q.shape[1] > query:
        q[unit, query, -1] = out.expected[unit, query] = np.nan


def with_nan(rng, rows, lanes):
    """The rows with a NaN each, by turns: the first that its lane reads, one that its lane reads
    after a number, and alone among -inf."""
    hidden = rows.shape[1]
    for number, row in enumerate(rows):
        is_later, is_alone = number % 3 == 1 and hidden > lanes, number % 3 == 2
        place = rng.integers(*((lanes, hidden) if is_later else (0, min(lanes, hidden))))
        if is_later:
            row[place - lanes] = 1
        if is_alone:
            row[:] = -np.inf
        row[place] = np.nan
    return rows


def varied(rng, batch, hidden):
    """Rows of floats, each of another kind: ordinary, large, tiny, with equals and infinities."""
    kinds = (
        lambda x: x,
        np.round,
        lambda x: np.float32(1e30) * x,
        lambda x: np.float32(-1e30) * np.abs(x),
        lambda x: np.float32(1e-42) * x,
        lambda x: np.where(x > 0, x[0], np.nextafter(x[0], x[0] + 1)),
        lambda x: np.full_like(x, x[0]),
        lambda x: np.where(x > 0, np.float32(0), np.float32(-0.0)),
        lambda x: np.where(x > 1, x, -np.inf),
        lambda x: np.where(x > 1, np.inf, x),
        lambda x: np.full_like(x, -np.inf),
    )
    rows, start = numbers(rng, batch, hidden), rng.integers(len(kinds))
    for number, row in enumerate(rows):
        row[:] = kinds[(start + number) % len(kinds)](row.copy())
    return rows


def drawn_rows(rng):
    """Two matrices' (rows, columns) at random: many short rows, and a few long ones."""
    return (
        (int(rng.integers(41, 90)), int(rng.integers(2, 65))),
        (int(rng.integers(2, 4)), int(rng.integers(1030, 3000))),
    )


def far_rows(small, batch, per_block=1):
    """The Launch on the rows of a small one, spread over so many that a 32-bit place overflows.

    The count of rows among its arguments becomes the new one; per_block: the rows of a block. Where
    a grid has several dimensions, its last is that of the rows. An input of another length is for
    all rows."""
    count = np.shape(small.arguments[0].values)[0]
    rows = [int(row) for row in np.linspace(0, batch - 1, count)]
    grid, each = -(-batch // per_block), 1
    if isinstance(small.grid, tuple):
        grid, each = (*small.grid[:-1], batch), prod(small.grid[:-1])

    def spread(values):
        pieces = np.asarray(values).reshape(count, -1)
        return {row * pieces.shape[1]: piece for row, piece in zip(rows, pieces)}

    def moved(argument):
        if isinstance(argument, In):
            if len(argument.values) != count:
                return argument
            return Far(batch * argument.values[0].size, argument.dtype, spread(argument.values))
        if isinstance(argument, Out):
            wide = batch * np.asarray(argument.expected)[0].size
            tolerance = np.broadcast_to(argument.tolerance, np.shape(argument.expected))
            return Far(wide, argument.dtype, {}, spread(argument.expected), spread(tolerance))
        is_count = isinstance(argument, np.integer) and argument == count
        return type(argument)(batch) if is_count else argument

    return Launch(
        [moved(argument) for argument in small.arguments],
        grid=grid,
        block=small.block,
        shared=small.shared,
        what=f"{batch:,} rows" if each == 1 else f"{batch:,} x {small.what.partition(' x ')[2]}",
        blocks=[range(at * each, (at + 1) * each) for at in (row // per_block for row in rows)],
    )


def product(a, b, dtype=np.float32, bias=0, roundings=None):
    """The Out of a times b, of all pairs if they are several, added up as float32 in any order.

    roundings: of a sum; by default those of its terms, or of tensor cores' if these are halves."""
    k = a.shape[-1]
    if roundings is None:
        roundings = checks.tensor_roundings(k) if a.dtype == np.float16 else k + 1
    with np.errstate(invalid="ignore"):
        sums, sizes = (f(a).astype(float) @ f(b) + f(bias) for f in (np.array, np.abs))
    if dtype == np.float16:
        tolerance = checks.dot_tolerance(sums, sizes, roundings, dtype, np.float32)
    else:
        tolerance = checks.gamma(roundings, np.float32) * sizes
    return Out(sums, tolerance, dtype)


def far_product(
    rng, k, tall, grid_of, block, *more, of=np.float32, size_type=np.int64, wide=8, turned=False
):
    """The last block of a product of which a, b and c each have more elements than an int can
    count: 0, but for a few in the last rows of a, and in the last columns of b.

    tall: the rows of a block, of which all are compared; wide: a multiple of 8, or the columns of
    one. grid_of: of (m, n). more: of (n, k). turned: b has its columns as lines."""
    n = m = -(-(1 << 31) // k // 128) * 128 + 128
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


def product_launch(a, b, grid, block, *more, size_type=np.int64):
    """The Launch of a kernel of a, b, their product of their type, m, n, k, and what is more."""
    (m, k), n = a.shape, b.shape[1]
    arguments = [In(a), In(b), product(a, b, a.dtype), *map(size_type, (m, n, k)), *more]
    return Launch(arguments, grid, block, what=f"{m} x {k} times {k} x {n}")


def boxed_product(rng, m, n, k, rows, is_stored=False):
    """(Boxes of halves a[m, k] and b[k, n], the Out of their product c): of a in boxes of so many
    rows and 64 columns, of b in 64 x 64 and, if it `is_stored` so, of c in 16 x 64."""
    a, b = (numbers(rng, 1, *shape).astype(np.float16) for shape in ((m, k), (k, n)))
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


def attention(q, k, v, scale, seen=None):
    """The Out of softmax(scale * q kᵀ) v; seen: which query sees which key; of none: 0.

    Sums may shrink as often as there are keys, so the tolerance is twice that of the course's."""
    bias = None if seen is None else np.where(seen, 0, -np.inf)
    want, _, error, _ = checks.attention(q, k, v, scale, bias)
    return Out(want, 2 * error)


def climbing(rng, units, queries, keys, size=32):
    """q, k and v; a query's scores grow or fall along the keys, some overflow as powers, and some
    queries have none but low ones."""
    q, k, v = (numbers(rng, units, n, size) for n in (queries, keys, keys))
    k[..., 0] = np.linspace(-9, 9, keys)
    q[..., 0] = rng.choice([-9, 9, 100, -100], (units, queries))
    k[..., 1] = rng.uniform(-21, -19, (units, keys))
    q[..., 1] = rng.choice([0, 200, 8000], (units, queries))
    return q, k, v


def any_floats(rng, n):
    """Ordinary numbers, in all places infinities, NaN, zeros of both signs, extremes among them."""
    x, where = numbers(rng, n), rng.random(n) < 0.3
    limits = np.finfo(np.float32)
    special = [np.inf, -np.inf, np.nan, 0, -0.0, limits.max, limits.tiny, limits.smallest_subnormal]
    x[where] = rng.choice(np.array(special, np.float32), where.sum())
    return x


def lossy(rng, n):
    """Numbers of both signs, most above 0, whose plain sum rounds the same way nearly each time.

    A sum of thousands has no room for what they have past 1 / 1024, about 0.4 of that. All are
    scaled by one random power of two, so that no fixed point will do."""
    x = (rng.integers(700, 1300, n) + rng.uniform(0.39, 0.41, n)) / 1024
    x *= np.where(rng.random(n) < 0.1, -1, 1)
    return np.ldexp(x, rng.integers(-60, 60)).astype(np.float32)
