"""Launches whose arguments follow from sizes: attention, products and convolutions by tensor cores
and warpgroups, counted where an operation makes them; and all-reduces, of which one launch plays
both ranks on one GPU; and decoding, as its tests launch it."""

from functools import partial
from unittest import mock

import numpy as np

from helpers import float8

from .case import INT32, INT64, Called, floats

__all__ = ["CALLS"]

F16, F32 = np.float16, np.float32


def _told(values):
    return " ".join(f"{key}={value}" for key, value in values.items())


def _by_operation(file, run, *arrays, more=""):
    """The first launch of a file that run(*arrays) makes, by warpgroups if the file is of them."""
    shape = "x".join(map(str, arrays[0].shape))
    name = " ".join(filter(None, (file, arrays[0].dtype.name, shape, more)))
    kernel = file.partition("/")[2].removesuffix(".cu")

    def call(act, *on_gpu):
        from helpers.ops import heads, hopper, product

        by_groups, fits = kernel.startswith("hopper"), hopper.fits
        others = "_by_warps" if by_groups else "_by_groups"
        with (
            mock.patch.object(hopper, "beside", lambda *ways: ways[by_groups]),
            mock.patch.object(hopper, "fits", lambda *of: by_groups and fits(*of)),
            mock.patch.object(heads, others, lambda asked: []),
            mock.patch.object(heads, "quickest", _of_fewest_rows),
            mock.patch.object(product, "quickest", _of_no_cluster),
        ):
            run(*on_gpu)

    return Called(name, file, kernel, call, list(arrays))


def _of_fewest_rows(problem, ways, prepare):
    """A choice that no estimate changes."""
    return prepare(min(ways, key=lambda way: (way.tile.rows, way.us)))


def _of_no_cluster(problem, ways, prepare):
    """The quickest whose blocks are no clusters by warpgroups, which are another kernel."""
    alone = (way for way in ways if not getattr(way, "in_clusters", False))
    return prepare(min(alone, key=lambda way: way.us))


def _array(*shape, kind=F16):
    """Random numbers of both signs."""
    return floats(int(np.prod(shape)), F32).astype(kind).reshape(shape)


def _ops(name, *arguments, **options):
    """An operation on arrays, which the library of the GPU at hand is imported for first."""

    def run(*arrays):
        from helpers import ops

        return getattr(ops, name)(*arrays, *arguments, **options)

    return run


def _attention():
    few, many = (2, 3, 70, 64), (1, 34, 300, 64)
    for file, kind, shape, keys, options in (
        ("running", F32, few, 90, {}),
        ("running", F32, few, 90, {"causal": True}),
        ("tensor", F16, few, 90, {}),
        ("tensor", F16, (1, 4, 9, 128), 500, {"causal": "lower_right"}),
        ("merge", F16, (1, 4, 9, 128), 500, {}),
        ("hopper", F16, many, 200, {}),
        ("hopper", F16, many, 200, {"causal": True}),
        ("hopper", F16, (2, 35, 128, 128), 130, {}),
    ):
        q, k, v = (_array(*shape[:2], n, shape[3], kind=kind) for n in (shape[2], keys, keys))
        run = _ops("attention", **options)
        told = " ".join(filter(None, (f"{keys} keys", _told(options))))
        yield _by_operation(f"attention/{file}.cu", run, q, k, v, more=told)
    for file, kind, queries, keys in (
        ("products", F32, 70, 90),
        ("gradient", F32, 64, 96),
        ("gradient", F32, 70, 90),
        ("hopper_gradient", F16, 70, 90),
    ):
        q, k, v = (_array(*few[:2], n, 64, kind=kind) for n in (queries, keys, keys))
        run = _ops("attention_backward")
        yield _by_operation(f"attention/{file}.cu", run, q, q, k, v, more=f"{keys} keys")


def _products():
    for file, kind, sizes, options in (
        ("tensor", F16, (128, 128, 192), {}),
        ("tensor", F16, (72, 40, 136), {}),
        ("padded", F16, (72, 331, 72), {}),
        ("tensor", np.int8, (100, 96, 80), {}),
        ("hopper", F16, (512, 192, 640), {}),
        ("hopper", np.uint16, (400, 256, 520), {"dtype": "bfloat16"}),
        ("hopper", F32, (400, 256, 520), {"dtype": "tf32"}),
        ("hopper_float8", np.uint8, (512, 256, 640), {"dtype": "e4m3"}),
        ("tensor_float8", np.uint8, (128, 128, 192), {"dtype": "e5m2"}),
        ("staged", F32, (256, 128, 384), {}),
        ("staged", F32, (130, 99, 203), {}),
        ("joined", F32, (128, 1024, 64), {}),
        ("joined", F32, (100, 600, 72), {}),
        ("thin", F32, (200, 512, 2), {}),
        ("thin", F16, (70, 4104, 3), {}),
        ("thin_across", F32, (2, 512, 200), {}),
    ):
        m, k, n = sizes
        a, b = _bits(kind, m, k), _bits(kind, k, n)
        run = _ops("matmul", **options)
        more = " ".join(filter(None, (f"by {n}", _told(options))))
        yield _by_operation(f"gemm/{file}.cu", run, a, b, more=more)


def _bits(kind, *shape):
    """Numbers of a kind; of bfloat16 and e4m3 as NumPy has them, their bits."""
    values = _array(*shape, kind=F32)
    if kind == np.uint16:
        return (values.view(np.uint32) >> 16).astype(kind)
    if kind == np.uint8:
        return float8.bits(values, "e4m3")
    return (9 * values).astype(kind) if kind == np.int8 else values.astype(kind)


def _convolutions():
    small, wide = (2, 16, 12, 20), (2, 64, 20, 20)
    for file, name, layout, shape, filters in (
        ("channels_last", "conv2d", "NCHW", small, 24),
        ("taps", "conv2d_input", "NCHW", small, 16),
        ("tensor", "conv2d", "NCHW", small, 24),
        ("tensor_weight", "conv2d_weight", "NCHW", small, 24),
        ("tensor_weight", "conv2d_weight", "NCHW", (2, 64, 16, 16), 64),
        ("hopper", "conv2d", "NCHW", (2, 64, 16, 16), 128),
        ("hopper", "conv2d", "NCHW", wide, 128),
        ("hopper_last", "conv2d", "NHWC", wide, 128),
        ("hopper_weight", "conv2d_weight", "NHWC", wide, 128),
        ("widened", "conv2d", "NHWC", (2, 3, 12, 20), 32),
    ):
        images, channels, high, across = shape
        weight = filters, channels, 3, 3
        if layout == "NHWC":
            shape, weight = (images, high, across, channels), (filters, 3, 3, channels)
        result = (images, filters, high, across)
        result = (images, high, across, filters) if layout == "NHWC" else result
        x, w, y = (_array(*lengths) for lengths in (shape, weight, result))

        def run(x, other, name=name, layout=layout, weight=weight):
            from helpers import ops

            told = (x, weight, other) if name == "conv2d_weight" else (x, other)
            if name == "conv2d_input":  # of as many channels: x is the gradient by the result
                told = x.shape, other, x
            getattr(ops, name)(*told, padding=1, layout=layout)

        other = y if name == "conv2d_weight" else w
        yield _by_operation(f"convolution/{file}.cu", run, x, other, more=f"to {filters}")
    yield from _in_groups()
    for file in ("to_points", "from_points"):
        x, weight = _array(2, 16, 14, 18, kind=F32), _array(24, 16, 3, 3, kind=F32)
        yield _by_operation(f"convolution/{file}.cu", _by_winograd, x, weight, more="to 24")


def _by_winograd(x, weight):
    from helpers import ops
    from helpers.ops import convolution, winograd

    def quickest(problem, ways, prepare):
        return next(way for way in ways if way.name.startswith(winograd.NAME)).prepare()

    with (
        mock.patch.object(convolution, "quickest", quickest),
        mock.patch.object(convolution, "prepared", {}),
    ):
        ops.conv2d(x, weight, padding=1)


def _in_groups():
    """Convolutions whose channels are in groups, each channel in one of its own if depthwise."""
    x, y = _array(2, 16, 12, 20, kind=F32), _array(2, 32, 12, 20, kind=F32)
    by_plane, by_group = _array(32, 1, 3, 3, kind=F32), _array(32, 4, 3, 3, kind=F32)

    def of_weight(x, y):
        _ops("conv2d_weight", by_plane.shape, y, padding=1, groups=16)(x)

    def of_input(weight, y):
        _ops("conv2d_input", weight, y, padding=1, groups=4)(x.shape)

    for file, groups, run, *arrays in (
        ("depthwise", 16, _ops("conv2d", padding=1, groups=16), x, by_plane),
        ("depthwise_weight", 16, of_weight, x, y),
        ("input", 4, of_input, by_group, y),
    ):
        yield _by_operation(f"convolution/{file}.cu", run, *arrays, more=f"{groups} groups")


def _steps():
    """Steps of gemm/ that take tensor maps, or more shared memory than a launch may ask for."""
    for file, tile, sizes in (
        ("boxes", None, (128, 192, 256)),
        ("boxes", None, (128, 200, 136)),
        ("producer", (128, 128), (256, 320, 256)),
        ("producer", (128, 128), (200, 328, 264)),
        ("multicast", (128, 128), (512, 320, 256)),
        ("multicast", (128, 128), (500, 328, 264)),
    ):
        m, k, n = sizes

        def call(act, file=file, tile=tile, sizes=sizes):
            from tests.course.steps_gemm import by_boxes

            m, k, n = sizes
            by_boxes(file, _array(m, k), _array(k, n), partial(_launched, act), tile=tile)

        yield Called(f"gemm/{file}.cu {m}x{k}x{n}", f"gemm/{file}.cu", file, call, [])

    def warps(act):
        from tests.course.steps_gemm import step

        a, b = _array(1, 300, 72, kind=F32), _array(1, 72, 200, kind=F32)
        step("warps", a, b, partial(_launched, act))

    yield Called("gemm/warps.cu 300x72x200", "gemm/warps.cu", "warps", warps, [])


def _launched(act, kernel, *arguments, **options):
    act(partial(kernel, *arguments, **options))


def _decoding():
    """Steps of decode/, as their tests launch them."""
    keys, turns = _array(2, 11, 32), _array(11, 16, 2, kind=F32)
    rows, bytes_ = _array(3, 264, kind=F32), _bits(np.int8, 9, 70)
    in_pages = [2, 0, 1], 4
    for name, *told in (
        ("rms_norm", rows, rows[0], 1e-5, rows, 4),
        ("embed", bytes_, _array(9, kind=F32), 5),
        ("rotary", _array(8, 32, kind=F32), 4, 2, 6, keys, keys, turns, *in_pages),
        ("attend", _array(4, 32, kind=F32), keys, keys, 8, 0.2, *in_pages, 3),
        ("swiglu", _array(2, 328, kind=F32), 4),
        ("thin", _array(40, 72), rows[:2, :72].astype(F16)),
        ("sample", _array(250, kind=F32), 0.7, 20, 0, 3),
    ):

        def call(act, name=name, told=told):
            from tests.course import steps_decode as steps

            launch, launched = steps.launch, []

            def first(*of):
                launched.append(of)
                return act(partial(launch, *of)) if len(launched) == 1 else launch(*of)

            with mock.patch.object(steps, "launch", first):
                getattr(steps, name)(*told)

        shape = "x".join(map(str, told[0].shape))
        yield Called(f"decode/{name}.cu {shape}", f"decode/{name}.cu", name, call, [])


N, BLOCKS, RANKS = 1001, 2, 2


def _of_ranks():
    """One launch plays both ranks. What each would wait for is there already: how often a waiting
    thread looks is not counted."""
    ones, turn = np.ones(2 * RANKS * BLOCKS, np.uint32), 1
    x = _array(N, kind=F32)
    two = {"RANKS": RANKS}

    def case(file, grid, arguments, *arrays, choices=two):
        def call(act, *on_gpu):
            from helpers import sources

            kernel = sources.kernel(f"ranks/{file}.cu", **choices)
            told = arguments(*on_gpu)
            _launched(act, kernel, *told, grid=grid, block=(64, 1, 1))

        return Called(f"ranks/{file}.cu {N}", f"ranks/{file}.cu", file, call, list(arrays))

    def pointers(*values):
        return np.array([v if isinstance(v, int) else int(v.gpudata) for v in values], np.uint64)

    n, first = INT64(N), INT32(0)
    yield case(
        "ring", (3, 1), lambda a, b: (a, b, n, INT32(2), INT32(1), INT32(0)), x, x, choices={}
    )
    yield case("tree", (3, 1), lambda a, b: (a, b, n, INT32(1)), x, x, choices={})
    yield case("one_shot", (3, 1), lambda a, b, out: (pointers(a, b), out, n), x, x, x)

    def two_shot(*arrays):
        return pointers(*arrays), n, first, np.uint32(turn)

    yield case("two_shot", (BLOCKS, 2), two_shot, x, x, x, x, ones, ones)

    def push(*arrays):
        return pointers(*arrays, turn), n, INT64((N + 1) // 2), first

    yield case("push", (BLOCKS, 2), push, x, x, x, x, ones, ones)
    lines = (N + 1) // 2
    sent = np.zeros((2 * RANKS * lines, 4), np.uint32)
    sent[:, 1::2] = turn  # beside each number, the turn's number

    def packets(*arrays):
        return pointers(*arrays, turn), n, INT64(lines), first

    yield case("packets", (BLOCKS, 2), packets, x, x, x, x, sent, sent)


CALLS = [
    *_attention(), *_products(), *_convolutions(), *_steps(), *_decoding(), *_of_ranks()
]  # fmt: skip
