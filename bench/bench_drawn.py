"""The cases of bench_gpu that read memory and add: sums and softmax of some shapes, and of shapes
that nobody chose, with additions.

What is drawn is spread evenly by order of magnitude, few sizes are round, and arrays are made as a
user makes them: each by an allocation of its own. Tests take shapes from here, too."""

from collections import namedtuple
from math import prod

import numpy as np

from helpers import autoinit, checks, ops  # noqa: F401  (autoinit first)

from pycuda import gpuarray  # isort: skip

__all__ = ["Draw", "TOPICS", "cases", "checked", "chosen", "drawn", "on_gpu", "operands", "ours"]

Draw = namedtuple("Draw", "operation dtype shape")
LEAST, MOST = 1 << 10, 1 << 28  # elements
ROUND = 8  # one dimension of so many is a power of two
OUTPUTS = 64  # of each result that are checked
CHAIN = 4096  # no contender rounds one value's way into the result more often
WIDE_TO_TALL = [(1048576, 32), (262144, 128), (65536, 512), (65536, 1024), (16384, 4096),
                (4096, 16384), (256, 262144)]  # fmt: skip
TOPICS = {
    "sum": [(1 << e,) for e in (10, 14, 16, 18, 20, 22, 24, 26, 28, 30)],
    "rowsum": WIDE_TO_TALL,
    "colsum": [(128, 1048576), (4096, 16384), (65536, 1024), (1048576, 64)],
    "softmax": WIDE_TO_TALL,
}
REDUCTIONS = {"sum": None, "rowsum": 1, "rowmax": 1, "colsum": 0, "midsum": 1}
ADDITIONS = "addrow", "addcolumn", "addtransposed"
OPERATIONS = *REDUCTIONS, "softmax", *ADDITIONS


def drawn(seed, number, most=MOST):
    """So many Draws, of each operation in turn, of up to `most` elements."""
    random = np.random.default_rng(seed)
    for i in range(number):
        operation = OPERATIONS[i % len(OPERATIONS)]
        dimensions = {"sum": 1, "midsum": 3}.get(operation, 2)
        elements = np.exp(random.uniform(np.log(LEAST), np.log(most)))
        cuts = np.sort(random.uniform(0, 1, dimensions - 1))
        shares = np.diff([0, *cuts, 1])
        sizes = [int(elements**share) for share in shares]
        rounds = random.integers(0, ROUND, dimensions) == 0
        shape = tuple(1 << n.bit_length() - 1 if r else n for n, r in zip(sizes, rounds))
        yield Draw(operation, ("float32", "float16")[i // len(OPERATIONS) % 2], shape)


def operands(draw, numbers):
    """The arrays of a draw, taken from numbers, a flat array of random ones, which repeat in a
    longer one."""
    if prod(draw.shape) > numbers.size:
        return [np.resize(numbers, draw.shape)]
    if draw.operation not in ADDITIONS:
        return [numbers[: prod(draw.shape)].reshape(draw.shape)]
    rows, columns = draw.shape
    other = {"addrow": (1, columns), "addcolumn": (rows, 1), "addtransposed": (columns, rows)}
    shape = other[draw.operation]
    b = numbers[-prod(shape) :].reshape(shape)
    first = numbers[: rows * columns].reshape(draw.shape)
    return [first, b.T if draw.operation == "addtransposed" else b]


def on_gpu(host):
    """The same arrays on the GPU, with the same strides."""
    crosswise = [x.strides < x.strides[::-1] for x in host]
    return [gpuarray.to_gpu(x.T).T if t else gpuarray.to_gpu(x) for x, t in zip(host, crosswise)]


def ours(draw, arrays):
    """A function of no arguments that queues the operation by helpers.ops."""
    if draw.operation in ADDITIONS:
        return lambda: ops.add(*arrays)
    if draw.operation == "softmax":
        return lambda: ops.softmax(*arrays)
    function = ops.max if draw.operation == "rowmax" else ops.sum
    return lambda: function(*arrays, REDUCTIONS[draw.operation])


def eager(draw, torch):
    """What PyTorch calls the operation, as a function of its arrays."""
    if draw.operation in ADDITIONS:
        return torch.add
    if draw.operation == "softmax":
        return lambda x: torch.softmax(x, -1)
    if draw.operation == "rowmax":
        return lambda x: torch.amax(x, 1)
    axis = REDUCTIONS[draw.operation]
    return (lambda x: torch.sum(x)) if axis is None else (lambda x: torch.sum(x, axis))


def wanted(draw, arrays, places):
    """The result at these places of its flat array, and what its errors are relative to."""
    if draw.operation in ADDITIONS:
        a, b = (np.broadcast_to(x, draw.shape) for x in arrays)
        found = np.unravel_index(places, draw.shape)
        pair = a[found].astype("f8"), b[found].astype("f8")
        return sum(pair), sum(map(np.abs, pair))
    (x,) = arrays
    if draw.operation == "softmax":
        rows, columns = np.divmod(places, draw.shape[1])
        powers = [np.exp(x[row].astype("f8") - x[row].max()) for row in rows]
        want = np.array([p[column] / p.sum() for p, column in zip(powers, columns)])
        return want, want
    if draw.operation == "midsum":
        taken = [x[o, :, i] for o, i in zip(*np.divmod(places, draw.shape[2]))]
    elif draw.operation == "sum":
        taken = [x] * len(places)
    else:
        taken = [x[:, i] if draw.operation == "colsum" else x[i] for i in places]
    if draw.operation == "rowmax":
        return np.array([t.max() for t in taken], "f8"), np.zeros(len(taken))
    return [np.array([f(t).sum(dtype="f8") for t in taken]) for f in (np.asarray, np.abs)]


def checked(draw, host, got, what):
    """Compare some elements of a result, the last one among them, with NumPy's."""
    flat = got.reshape(-1).float().cpu().numpy() if hasattr(got, "cpu") else got.get().reshape(-1)
    random = np.random.default_rng(flat.size)
    drawn = random.integers(0, flat.size, OUTPUTS if len(host) > 1 else 8)
    places = np.unique(np.append(drawn, flat.size - 1))
    want, size = wanted(draw, host, places)
    half = checks.roundoff(draw.dtype) if draw.dtype == "float16" else 0
    tolerance = (checks.gamma(CHAIN, "f4") + 2 * half) * size + 1e-7
    checks.assert_close(flat[places].astype("f8"), want, tolerance, what)


def chosen(topic, most, torch, cupy, cub, quack):
    """As bench_elementwise.cases, of a topic's shapes of up to `most` elements."""
    numbers = np.random.default_rng(1).standard_normal(MOST, np.float32)
    for shape in TOPICS[topic]:
        if (count := prod(shape)) <= most:
            told = f"2^{count.bit_length() - 1}" if topic == "sum" else "x".join(map(str, shape))
            draw = Draw(topic, "float32", shape)
            case = _case(f"{topic} {told}", draw, numbers, torch, cupy, cub, quack=quack)
            yield case[0], shape[-1], *case[2:]


def cases(seed, number, torch, cupy, cub, compiled):
    """The same, of draws, by the name of what is drawn; compiled: one of so many beside
    torch.compile."""
    random = np.random.default_rng(seed)
    base = {"float32": random.standard_normal(MOST, np.float32)}
    base["float16"] = base["float32"].astype("float16")
    for place, draw in enumerate(drawn(seed, number)):
        name = f"{draw.operation}: {'x'.join(map(str, draw.shape))} {draw.dtype}"
        is_compiled = compiled and place // len(OPERATIONS) % compiled == 0
        yield _case(name, draw, base[draw.dtype], torch, cupy, cub, is_compiled)


def _case(name, draw, numbers, torch, cupy, cub, is_compiled=False, quack=None):
    host = operands(draw, numbers)
    arrays = on_gpu(host)
    runs = {"ours": ours(draw, arrays)}
    if draw.operation == "sum" and draw.dtype == "float32":
        runs["CUB"] = lambda: cub(*arrays)
    if torch:
        tensors = [torch.as_tensor(x, device="cuda") for x in arrays]
        function = eager(draw, torch)
        runs["PyTorch"] = lambda: function(*tensors)
        if is_compiled:
            torch._dynamo.reset()
            fast = torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)
            runs["compiled"] = lambda: fast(*tensors)
        if quack and draw.operation == "softmax":
            runs["QuACK"] = lambda: quack.softmax(*tensors)
    if cupy and draw.operation != "softmax":
        views = [cupy.asarray(x) for x in arrays]
        runs["CuPy"] = lambda: _by_cupy(cupy, draw.operation, views)
    moved = runs["ours"]().nbytes + sum(x.nbytes for x in arrays)

    def check(who, got):
        checked(draw, host, got, f"{who}, {name}")

    return name, prod(draw.shape), moved, runs, check


def _by_cupy(cupy, operation, arrays):
    if operation in ADDITIONS:
        return cupy.add(*arrays)
    return arrays[0].max(1) if operation == "rowmax" else arrays[0].sum(REDUCTIONS[operation])
