"""The elementwise cases of bench_gpu: operations of a tensor and another that is broadcast to it or
lies across it, and what calls of small arrays take the host."""

from math import prod
from time import perf_counter

import numpy as np

from helpers import autoinit, checks, ops  # noqa: F401  (autoinit first)

from pycuda import gpuarray  # isort: skip
from pycuda.driver import Context  # isort: skip

__all__ = ["TOPICS", "calls", "cases"]

SHAPE = N, C, H, W = 64, 256, 112, 112
MATRIX = 16384, 12544  # as many elements; what is added to it is stored transposed
SCALES = 0.05, 0.03, 0.07
OTHERS = {
    "same": SHAPE,
    "1C11": (1, C, 1, 1),
    "N1HW": (N, 1, H, W),
    "11HW": (1, 1, H, W),
    "scalar": (1,),
    "NC1W": (N, C, 1, W),
    "transposed": MATRIX,
}
SMALL = [(1 << e,) for e in (10, 12, 14, 16, 18, 20)]
PARTS = 0, 0.3, 0.7, 63 / 64  # where a 64th of a result is checked
CALLS, BATCHES = 200, 30
TOPICS = "add", "less", "calls"


def cases(topic, torch, cupy, allocator):
    """(name, elements, bytes that must move, {contender: function that returns an array},
    check(who, result)) for each case of a topic."""
    for dtype in "float32", "float16", "int8":
        for shape in SMALL if dtype == "float32" else []:
            pair = [_random(shape, dtype, seed) for seed in (1, 2)]
            name = f"{topic} 2^{shape[0].bit_length() - 1} {dtype}"
            yield _case(
                topic, name, pair, [gpuarray.to_gpu(x, allocator) for x in pair], torch, cupy
            )
        a, whole = (_random(SHAPE, dtype, seed) for seed in (1, 2))
        on_gpu = [gpuarray.to_gpu(x, allocator) for x in (a, whole)]
        for layout, shape in OTHERS.items():
            pairs = [(x, _other(y, layout, shape)) for x, y in ((a, whole), on_gpu)]
            if layout == "transposed":
                pairs = [(x.reshape(MATRIX), y) for x, y in pairs]
            name = f"{topic} {layout} {dtype}"
            yield _case(topic, name, *pairs, torch, cupy)
            if (topic, dtype) == ("add", "int8"):
                yield _case(topic, f"{name} scaled", *pairs, None, None, SCALES)


def _random(shape, dtype, seed):
    random = np.random.default_rng(seed)
    if dtype == "int8":
        return random.integers(-128, 128, shape, dtype)
    return random.standard_normal(shape, np.float32).astype(dtype)


def _other(x, layout, shape):
    """The beginning of x as what a layout adds to a tensor."""
    if layout == "transposed":
        return x.reshape(shape[::-1]).T
    return x.reshape(-1)[: prod(shape)].reshape(shape)


def _case(topic, name, pair, on_gpu, torch, cupy, scales=None):
    a, b = on_gpu
    runs = {"ours": lambda: ops.less(a, b) if topic == "less" else ops.add(a, b, scales=scales)}
    if torch:
        x, y = (torch.as_tensor(v, device="cuda") for v in on_gpu)
        function = torch.lt if topic == "less" else torch.add
        runs["PyTorch"] = lambda: function(x, y)
    if cupy:
        p, q = (cupy.asarray(v) for v in on_gpu)
        runs["CuPy"] = lambda: cupy.less(p, q) if topic == "less" else cupy.add(p, q)
    result_bytes = a.size * (1 if topic == "less" else a.dtype.itemsize)
    moved = a.nbytes + b.nbytes + result_bytes

    def check(who, got):
        _check(topic, f"{who}, {name}", pair, got, scales)

    return name, a.size, moved, runs, check


def _check(topic, what, pair, got, scales):
    """Compare some rows of a result, the last ones among them, with NumPy's."""
    for part in PARTS:
        rows = slice(*(int(part * len(got)) + i for i in (0, max(1, len(got) // 64))))
        a, b = (x[rows] if x.shape[:1] == pair[0].shape[:1] else x for x in pair)
        if topic == "less":
            want = a < b
        elif scales:
            s0, s1, so = scales
            value = a * np.float32(s0 / so) + b * np.float32(s1 / so)
            away = np.trunc(value.astype("f8") + np.copysign(0.5, value))
            want = np.clip(away, -128, 127).astype("int8")
        else:
            want = a + b
        rows = got[rows]
        checks.assert_equal(rows.cpu().numpy() if hasattr(rows, "cpu") else rows.get(), want, what)


def calls(torch, cupy):
    """(operation, {contender: µs}): what one of many calls in a row takes the host."""
    vector, matrix = np.ones(1024, np.float32), np.ones((32, 32), np.float32)
    x, m = gpuarray.to_gpu(vector), gpuarray.to_gpu(matrix)
    ours = {
        "add": lambda: ops.add(x, x),
        "sum": lambda: ops.sum(x),
        "rowsum": lambda: ops.sum(m, 1),
        "softmax": lambda: ops.softmax(m),
    }
    others = {"PyCUDA": {"add": lambda: x + x, "sum": lambda: gpuarray.sum(x)}}
    if torch:
        t, u = torch.as_tensor(x, device="cuda"), torch.as_tensor(m, device="cuda")
        others["PyTorch"] = {
            "add": lambda: torch.add(t, t),
            "sum": lambda: torch.sum(t),
            "rowsum": lambda: torch.sum(u, 1),
            "softmax": lambda: torch.softmax(u, 1),
        }
    if cupy:
        p, q = cupy.asarray(x), cupy.asarray(m)
        others["CuPy"] = {
            "add": lambda: cupy.add(p, p),
            "sum": lambda: cupy.sum(p),
            "rowsum": lambda: cupy.sum(q, 1),
        }
    for operation, run in ours.items():
        runs = {"ours": run}
        runs |= {who: known[operation] for who, known in others.items() if operation in known}
        samples = {who: [] for who in runs}
        for _ in range(BATCHES):
            for who, run in runs.items():
                samples[who].append(_host_us(run))
        yield operation, samples


def _host_us(run):
    """The host's µs for a call, of several that are queued back to back."""
    run()
    Context.synchronize()
    start = perf_counter()
    for _ in range(CALLS):
        run()
    took = perf_counter() - start
    Context.synchronize()
    return 1e6 * took / CALLS
