"""Launches by boxes and warpgroups: some that the clock was made with, and others that it predicted
before any GPU had run them."""

from functools import partial
from math import ceil

import numpy as np

from .cases import SMS, Call, floats, module, zeros

__all__ = ["HOPPER", "doubled", "small_product"]

F16, I32, I64, U16 = np.float16, np.int32, np.int64, np.uint16
SEEN, BLIND = "hopper", "hopper, blind"
LINE, BOX = 128, 64 * 128
ROWS_AHEAD, ROW = 3, 4096  # as in hopper.cu


def _kernel(name, shared=0):
    from pycuda.driver import function_attribute

    kernel = module("hopper.cu").get_function(name)
    kernel.set_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
    return kernel


def _boxes_of(x, lines, shape=None):
    from helpers import tensormap

    shape = shape or x.shape
    return tensormap.tiled(x.reshape(1, *shape), (1, lines, 64))


def small_product(set_, name, columns, stages, threads, m, n, k):
    """One of hopper.cu's."""

    def prepare(a, b, c):
        from helpers import tensormap

        maps = tensormap.packed(_boxes_of(a, 64), _boxes_of(b, columns))
        shared = stages * (BOX + columns * LINE)
        return partial(_kernel(name, shared), maps, c, I32(n), I32(k // 64), shared=shared,
                       grid=(n // columns, m // 64, 1), block=(threads, 1, 1))  # fmt: skip

    def matrix(rows, columns):
        return lambda: floats(rows * columns, F16)().reshape(rows, columns)

    arrays = [matrix(m, k), matrix(n, k), zeros(m * n)]
    return Call(f"{name} {m}x{n}x{k}", set_, f"halves {m}x{n}x{k}", prepare, arrays)


def _chains(set_, name, columns, blocks, threads, turns):
    def prepare(y):
        shared = BOX + columns * LINE
        return partial(_kernel(name, shared), y, I32(turns), shared=shared, grid=(blocks, 1, 1),
                       block=(threads, 1, 1))  # fmt: skip

    told = f"{name} {blocks} of {threads}, {turns} turns"
    return Call(told, set_, told, prepare, [zeros(blocks * threads)])


def doubled(set_, boxes, blocks):
    def prepare(x, y):
        from helpers import tensormap

        maps = tensormap.packed(*(_boxes_of(a, 64, (boxes * 64, 64)) for a in (x, y)))
        return partial(_kernel("boxes_doubled", BOX), maps, I32(boxes), shared=BOX,
                       grid=(blocks, 1, 1), block=(128, 1, 1))  # fmt: skip

    count, name = boxes * 64 * 64, f"boxes_doubled {boxes} by {blocks}"
    return Call(name, set_, name, prepare, [floats(count, F16), zeros(count, F16)])


def _sums(set_, rows, blocks):
    def prepare(x, out):
        shared = ROWS_AHEAD * ROW * 4
        return partial(_kernel("bulk_sums", shared), x, out, I32(rows), shared=shared,
                       grid=(blocks, 1, 1), block=(256, 1, 1))  # fmt: skip

    name = f"bulk_sums {rows} by {blocks}"
    return Call(name, set_, name, prepare, [floats(rows * ROW), zeros(rows)])


def _turned(set_, m, n):
    def prepare(x, y):
        from helpers import tensormap

        maps = tensormap.packed(_boxes_of(x, 64, (m, n)))
        return partial(_kernel("box_turned", BOX), maps, y, I32(m), shared=BOX,
                       grid=(n // 64, m // 64, 1), block=(256, 1, 1))  # fmt: skip

    name = f"box_turned {m}x{n}"
    return Call(name, set_, name, prepare, [floats(m * n, F16), zeros(m * n, F16)])


def _held(set_, rows, blocks):
    def prepare(x, w, y):
        from helpers import tensormap

        maps = tensormap.packed(_boxes_of(w, 64, (64, 64)))
        return partial(_kernel("rows_held", BOX), maps, x, y, I32(rows), shared=BOX,
                       grid=(blocks, 1, 1), block=(256, 1, 1))  # fmt: skip

    name = f"rows_held {rows} by {blocks}"
    arrays = [floats(rows * 64, F16), floats(64 * 64, F16), zeros(rows * 64, F16)]
    return Call(name, set_, name, prepare, arrays)


def _product(set_, m, n, k, tile, kind="float16", turned=False):
    """gemm/hopper.cu with one of its tiles; turned: a lies along m, b along k."""

    def prepare(a, b, c):
        from helpers.ops import hopper, tensor

        of = hopper.TILES[tile]
        tiles = ceil(m / of.rows) * ceil(n / of.columns)
        tiling = hopper.Tiling(of, tiles, 1, 0.0, steps=ceil(k / 64))
        choices = {"A_ALONG_K": int(not turned), "B_ALONG_K": int(turned)}
        lines = np.array([m if turned else k, k if turned else n, 0, 0], I64)
        element = tensor.KINDS[kind]
        call = hopper.launch(tiling, (m, n, k), 1, element, element.made, (choices, lines))
        return partial(call, None, tuple(int(x.gpudata) for x in (a, b, c)))

    of = np.dtype(F16 if kind == "float16" else U16)
    told = f"{kind} {m}x{n}x{k}" + " turned" * turned
    arrays = [_bits(m * k, of), _bits(k * n, of), zeros(m * n, of)]
    return Call(f"gemm/hopper {told} {tile}", set_, told, prepare, arrays)


def _bits(count, of):
    """Numbers from -0.5 to 0.5 as halves, or as the upper half of floats."""
    if of == F16:
        return floats(count, F16)
    return lambda: (floats(count)().view(np.uint32) >> 16).astype(U16)


def _convolution(set_, images, channels, side, filters, kernel, tile):
    """convolution/hopper.cu alone, where channels are neighbours already."""

    def prepare(x, weight, y):
        from helpers import windows
        from helpers.ops import hopper, tensor
        from helpers.ops.tensor_windows import DEEP, Layer, Way

        sides = [windows.Side(side, kernel, 1, 1, kernel // 2)] * 2
        layer = Layer(images, channels, filters, *map(Way.forward, sides))
        of, element = hopper.TILES[tile], tensor.KINDS["float16"]
        tiles = ceil(layer.rows / of.rows) * ceil(layer.columns / of.columns)
        tiling = hopper.Tiling(of, tiles, 1, 0.0, steps=layer.taps * layer.chunks)
        lying = (layer.taps, layer.rows, layer.stride), (layer.stride, layer.depth)

        def maps(x, weight):
            of_weight = hopper.map_of(weight, element.array, *lying, (1, of.rows, DEEP))
            return of_weight, layer.pixels(x, of.columns)

        counts = map(I32, (images, layer.stride, layer.rows, side, side))
        choices = {"STEP_H": 1, "STEP_W": 1, "Y_PACK": 8 if side * side % 8 == 0 else 4}
        call = tiling.call(maps, "convolution/hopper.cu", choices, element, element.made, *counts,
                           *layer.arguments, I32(1), I32(1), layer.reaches)  # fmt: skip
        return partial(call, None, tuple(int(a.gpudata) for a in (x, weight, y)), (0,))

    told = f"convolution {images}x{channels}x{side}x{side} to {filters} k{kernel}"
    arrays = [floats(images * side * side * channels, F16),
              floats(filters * kernel * kernel * channels, F16),
              zeros(images * side * side * filters, F16)]  # fmt: skip
    return Call(f"{told}, tile {tile}", set_, told, prepare, arrays)


def _attention(set_, heads, queries, keys, size, causal):
    def prepare(q, k, v):
        from helpers import ops

        return partial(ops.attention, q, k, v, causal=causal)

    def of(length):
        count = heads * length * size
        return lambda: floats(count, F16)().reshape(1, heads, length, size)

    told = f"attention {heads}x{queries}x{keys}x{size}" + " causal" * causal
    return Call(told, set_, told, prepare, [of(queries), of(keys), of(keys)])


def _seen():
    yield small_product(SEEN, "in_turn_64", 64, 1, 128, 768, 704, 512)
    yield small_product(SEEN, "ahead_128_4", 128, 4, 128, 1024, 1024, 512)
    yield small_product(SEEN, "by_two_128_4", 128, 4, 160, 512, 1024, 1024)
    yield _chains(SEEN, "chains_128", 128, SMS, 256, 16)
    yield _chains(SEEN, "waited_64", 64, SMS, 128, 40)
    yield doubled(SEEN, 2048, 4 * SMS)
    yield _sums(SEEN, 1024, SMS)
    yield _turned(SEEN, 2048, 2048)
    yield _held(SEEN, 1 << 16, SMS)
    yield _product(SEEN, 1024, 1024, 1024, 1)
    yield _product(SEEN, 2048, 2048, 512, 0)
    yield _product(SEEN, 512, 512, 1024, 5)
    yield _convolution(SEEN, 8, 64, 28, 128, 3, 1)
    yield _attention(SEEN, 16, 1024, 512, 128, False)


def _blind():
    yield small_product(BLIND, "in_turn_128", 128, 1, 128, 640, 1024, 768)
    yield small_product(BLIND, "ahead_64_3", 64, 3, 128, 1024, 768, 640)
    yield small_product(BLIND, "ahead_256_3", 256, 3, 128, 704, 1536, 512)
    yield small_product(BLIND, "by_two_64_6", 64, 6, 160, 896, 1216, 768)
    yield _chains(BLIND, "chains_64", 64, 2 * SMS, 128, 30)
    yield _chains(BLIND, "chains_256", 256, SMS, 256, 10)
    yield _chains(BLIND, "waited_128", 128, SMS, 256, 24)
    yield doubled(BLIND, 5000, 2 * SMS)
    yield _sums(BLIND, 3000, 3 * SMS)
    yield _turned(BLIND, 1024, 3072)
    yield _held(BLIND, 3 << 15, 3 * SMS)
    yield _product(BLIND, 1536, 1024, 768, 1, "bfloat16")
    yield _product(BLIND, 2048, 1792, 640, 0)
    yield _product(BLIND, 768, 1024, 1536, 4, turned=True)
    yield _product(BLIND, 1024, 2048, 512, 3)
    yield _convolution(BLIND, 16, 128, 14, 128, 3, 4)
    yield _convolution(BLIND, 4, 64, 56, 64, 3, 2)
    yield _attention(BLIND, 8, 2048, 512, 64, False)
    yield _attention(BLIND, 16, 1024, 1024, 128, True)


HOPPER = [*_seen(), *_blind()]
assert len(HOPPER) == len({case.name for case in HOPPER})
