"""The cases of bench_gpu for several GPUs: what their links do, all_reduce beside NCCL, and a sum
and a product split over all of them beside the same on one.

A time is a call's share of many in a row, which are queued while the GPUs wait, from the first to
the end of the last on device 0: the host has no part in it, nor how far apart it launches on each.
NCCL is called by PyTorch, for all GPUs of this process at once."""

import atexit
from functools import lru_cache
from time import perf_counter

import bench_products
import numpy as np

from helpers import autoinit, checks, ops, ranks, sources
from helpers.ops.launch import workspace

import pycuda.driver as cuda  # isort: skip  (autoinit first)
from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases", "needed_us", "timed"]

TOPICS = "links", "all_reduce", "split"
SIZES = [1 << e for e in (3, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 24, 26, 28, 30)]  # bytes
ROUNDS, SAMPLES = 3, 3
IN_A_ROW, ROW_US = (3, 50), 20e3  # calls, and what they should take together
LONGEST_WAIT_US = 20e3
TURNS = 2000  # of an exchange
READ = 1 << 28  # bytes over a link
SUMMED = 1 << 31  # elements
SIDE = 16384  # of the matrices of a product
BLOCK = 1 << 24  # distinct numbers


def cases(topic, torch, cupy, allocator):
    """What bench_products.cases yields, if there are several GPUs."""
    if ranks.count() > 1:
        yield from {"links": _links, "all_reduce": _all_reduce, "split": _split}[topic](torch)


def needed_us(topic, size, moved, read_gb_s):
    """What the links allow, or all GPUs together."""
    if topic == "all_reduce":
        return moved / _link_gb_s() / 1e3
    together_us = moved / read_gb_s / 1e3 / ranks.count()
    units = size and size / bench_products.multiply_adds_per_us("float16") / ranks.count()
    return max(together_us, units) if topic == "split" else 0.0


def timed(runs, check):
    """As bench_gpu.timed: the times of contenders in µs, who take turns."""
    for who, run in runs.items():
        got = run()
        _finish()
        check(who, got)
    times = {who: [] for who in runs}
    for _ in range(ROUNDS):
        for who, run in runs.items():
            times[who].extend(_in_a_row(run))
    return times


def _in_a_row(run):
    per_call = perf_counter()
    run()
    _finish()
    per_call = 1e6 * (perf_counter() - per_call)
    fewest, most = IN_A_ROW
    count = int(np.clip(ROW_US / per_call, fewest, most))
    start, end = cuda.Event(), cuda.Event()

    def sample(wait_us):
        for _ in _each(lambda rank: _wait(wait_us)):
            pass
        start.record()
        began = perf_counter()
        for _ in range(count):
            run()
        host_us = 1e6 * (perf_counter() - began)
        end.record()
        _finish()
        return 1e3 * start.time_till(end) / count, host_us

    host_us = sample(0)[1]
    wait_us = min(1.5 * host_us + 100, LONGEST_WAIT_US)
    return [sample(wait_us)[0] for _ in range(SAMPLES)]


def _wait(us):
    sources.kernel("bench/wait.cu")(np.uint64(1000 * us), grid=(1, 1), block=(1, 1, 1))


def _each(function):
    """What a function makes of each device's number, on that device."""
    made = []
    for rank in range(ranks.count()):
        with ranks.on(rank):
            made.append(function(rank))
    return made


def _finish():
    _each(lambda rank: cuda.Context.synchronize())


def _pool():
    """Where arrays come from, and then what is made of them: without the driver's calls."""
    return workspace(None).pool


def _placed(rows):
    return _each(lambda rank: gpuarray.to_gpu(rows[rank], _pool()))


def _links(torch):
    """Latencies of a link, and the speed of loads over it in both directions at once."""
    flags = _each(lambda rank: gpuarray.zeros(32, np.uint32))
    pair = np.array([int(x.gpudata) for x in flags[:2]], np.uint64)
    for name, fenced in ("hand over", 0), ("hand over behind a fence", 1):
        turn = [1]

        def run(fenced=fenced, turn=turn):
            for rank in range(2):
                with ranks.on(rank):
                    kernel = sources.kernel("bench/exchange.cu", FENCED=fenced)
                    numbers = np.int32(rank), np.uint32(turn[0]), np.int32(TURNS)
                    kernel(pair, *numbers, grid=(1, 1), block=(1, 1, 1))
            turn[0] += TURNS
            return flags[0]

        def check(who, got, turn=turn):
            assert int(got.get()[0]) == turn[0] - 1, f"{who}: {got.get()[0]} after {turn[0]}"

        yield f"links {name} x{TURNS}", 4, 0, {"ours": run}, check
        for x in flags:
            x.fill(0)
        _finish()
    yield f"links load {READ}", READ, READ, {"ours": _load}, lambda who, got: None


def _load():
    """Each device reads what lies on the next one."""
    zeros, outs = _buffers()
    blocks = 8 * autoinit.device.multiprocessor_count
    for rank in range(ranks.count()):
        with ranks.on(rank):
            start = zeros[rank - 1].gpudata
            sources.kernel("bench/read.cu")(
                start, outs[rank], np.int64(READ // 16), grid=(blocks, 1), block=(256, 1, 1)
            )


@lru_cache
def _buffers():
    sizes = READ // 4, 1
    return [_each(lambda rank, size=size: gpuarray.zeros(size, np.uint32)) for size in sizes]


atexit.register(_buffers.cache_clear)  # while there are contexts


@lru_cache
def _link_gb_s():
    return READ / float(np.median(_in_a_row(_load))) / 1e3


def _all_reduce(torch):
    for nbytes in SIZES:
        yield _all_reduce_of(nbytes, torch)


def _all_reduce_of(nbytes, torch):
    count, rng = ranks.count(), np.random.default_rng(1)
    few = rng.standard_normal((count, min(nbytes // 4, BLOCK)), np.float32)
    arrays = _placed([np.resize(row, nbytes // 4) for row in few])
    sums = _each(lambda rank: gpuarray.zeros(nbytes // 4, np.float32, _pool()))
    runs = {"ours": lambda: ops.all_reduce(arrays, out=sums)}
    if torch:
        tensors, totals = (
            [torch.as_tensor(x, device=f"cuda:{rank}") for rank, x in enumerate(xs)]
            for xs in (arrays, sums)
        )

        def by_nccl():
            torch.cuda.nccl.all_reduce(tensors, totals)
            return sums

        runs["NCCL"] = by_nccl
    want = few.sum(0, dtype="f8")
    within = checks.gamma(count, "f4") * np.abs(few).sum(0, dtype="f8")

    def check(who, got):
        for rank, x in enumerate(got):
            found = x.get().reshape(-1, want.size)
            checks.assert_close(found[0], want, within, f"{who}, {nbytes} bytes, device {rank}")
            assert (found == found[0]).all(), f"{who}, {nbytes} bytes, device {rank}: terms repeat"
            with ranks.on(rank):
                x.fill(0)
        _finish()

    moved = 2 * nbytes * (count - 1) // count
    return f"all_reduce {nbytes} float32", nbytes, moved, runs, check


def _split(torch):
    """A sum, and a product that all GPUs get, split over all GPUs, beside the same on one."""
    few = np.random.default_rng(1).standard_normal(BLOCK, np.float32)
    yield _sum(np.abs(few))
    yield _product(few.astype(np.float16).reshape(-1, SIDE))


def _sum(few):
    each = SUMMED // ranks.count()
    with ranks.on(0):
        whole = _repeated(few, (SUMMED,))
    parts = [whole[:each], *_each(lambda rank: rank and _repeated(few, (each,)))[1:]]
    totals = _each(lambda rank: gpuarray.zeros((), np.float32))
    want = SUMMED // BLOCK * few.sum(dtype="f8")

    def split():
        return ops.all_reduce(_each(lambda rank: ops.sum(parts[rank])), out=totals)[-1]

    def check(who, got):
        checks.assert_close(got.get(), want, checks.gamma(4096, "f4") * want, f"{who}, sum")

    runs = {"ours": split, "one GPU": lambda: ops.sum(whole)}
    return f"split sum {SUMMED} float32", 0, 4 * SUMMED, runs, check


def _product(few):
    count, rows = ranks.count(), SIDE // ranks.count()
    lines = len(few)
    tiles = [np.roll(few, rank, 0) for rank in range(count)]
    parts = _each(lambda rank: _repeated(tiles[rank], (rows, SIDE)))
    factors = _each(lambda rank: _repeated(few, (SIDE, SIDE)))
    with ranks.on(0):
        whole = gpuarray.empty((SIDE, SIDE), np.float16, allocator=_pool())
        for rank in range(count):
            whole[rank * rows : (rank + 1) * rows] = _repeated(tiles[rank], (rows, SIDE))

    def check(who, got):
        for line in range(0, SIDE, rows // 2):
            row, places = tiles[line // rows][line % rows % lines].astype("f8"), few[:, :64]
            want, size = (
                np.asarray(a).reshape(-1, lines).sum(0) @ b.astype("f8")
                for a, b in ((row, places), (np.abs(row), np.abs(places)))
            )
            of = got[line // rows][line % rows] if isinstance(got, list) else got[line]
            roundings = checks.tensor_roundings(SIDE)
            within = checks.dot_tolerance(want, size, roundings, "float16", "float32")
            checks.assert_close(of.get()[:64], want, within, f"{who}, product, line {line}")

    runs = {
        "ours": lambda: ops.split_matmul(parts, factors)[-1],
        "not gathered": lambda: _each(lambda rank: ops.matmul(parts[rank], factors[rank])),
        "one GPU": lambda: ops.matmul(whole, factors[0]),
    }
    moved = 3 * 2 * SIDE * SIDE
    return f"split product {SIDE} float16", SIDE**3, moved, runs, check


def _repeated(numbers, shape):
    """An array on the current device, of these numbers again and again."""
    x = gpuarray.empty(shape, numbers.dtype, allocator=_pool())
    flat = x.reshape(-1)
    for start in range(0, flat.size, numbers.size):
        flat[start : start + numbers.size].set(numbers.ravel())
    return x
