"""Launch the steps of attention/, between guards."""

import numpy as np
import pycuda.driver as cuda

from helpers import checks, sources, tensormap

from .steps_gemm import step as product
from .steps_softmax import softmax


def whole(x):
    return checks.Guarded(x.shape, x.dtype).set(x).array


def in_three(q, k, v, scale, causal=0):
    """By scores, softmax and product, each through memory."""
    (units, queries, size), keys = q.shape, k.shape[1]
    s = checks.Guarded((units, queries, keys), q.dtype)
    kernel = sources.kernel("attention/scores.cu", T=q.dtype, CAUSAL=causal)
    grid = -(-keys // 16), -(-queries // 16), units
    sizes = map(np.int64, (queries, keys, size))
    kernel(whole(q), whole(k), s.array, *sizes, np.float32(scale), grid=grid, block=(16, 16, 1))
    shares = softmax("online", s.get().reshape(-1, keys)).reshape(s.shape)
    return product("naive", shares, v)


def fused(q, k, v, scale, causal=0):
    (units, queries, size), keys = q.shape, k.shape[1]
    out = checks.Guarded(q.shape, q.dtype)
    kernel = sources.kernel("attention/fused.cu", T=q.dtype, CAUSAL=causal)
    sizes = map(np.int64, (queries, keys, size))
    arguments = *map(whole, (q, k, v)), out.array, *sizes, np.float32(scale)
    kernel(*arguments, grid=(queries, units), block=(64, 1, 1), shared=4 * keys)
    return out.get()


def launch(name, q, k, v, scale, **choices):
    """What launches running.cu, tensor.cu or hopper.cu, by sources.kernel or xray: (kernel,
    arguments, named arguments, the guarded result)."""
    (units, queries, size), (_, keys, _), values = q.shape, k.shape, v.shape[-1]
    rows, tile = {"running": 16, "tensor": 64, "hopper": 128}[name], 64
    if name == "running":
        choices = {"HEAD": 64, "ROWS": rows, "T": q.dtype, "Out": q.dtype, "PACK": 1} | choices
        block, shared = 256, ((rows + tile) * 68 + rows * 68) * 4
    elif name == "tensor":
        choices = {"HEAD": 64, "ROW_TILES": 1, "Q_KEPT": 1, "T": "half", "Out": "half"} | choices
        block, shared = 128, (rows + 2 * tile) * 128
    else:
        choices = {"HEAD": 64, "KEYS": tile, "GROUPS": 2, "T": "half"} | choices
        block, shared = 384, (2 * rows + 4 * tile) * 128
    strides = [step for x in (q, k, v) for step in (0, x.shape[1] * x.shape[2], x.shape[2])]
    words = queries, keys, size, values, units, 1, units, 2, 0, *strides, 0, 0, 0, 0
    out = checks.Guarded((units, queries, values), q.dtype)
    logs = checks.Guarded((units, queries), np.float32)
    arrays, told = [whole(x) for x in (q, k, v)], (np.array(words, np.int64), np.float32(scale))
    tiles = units * -(-queries // rows)
    grid = tiles, 1, 1
    if name == "hopper":
        boxes = zip(arrays, ((1, high, 64) for high in (rows, tile, tile)))
        maps = tensormap.packed(*(tensormap.tiled(x[None], (1, *box)) for x, box in boxes))
        out.mapped = arrays  # of which a map says only where they lie
        drawn, grid = whole(np.zeros(1, np.int32)), (min(tiles, 3), 1, 1)
        counts = np.int32(tiles), np.int32(1)
        arguments = maps, out.array, *told, *counts, logs.array, drawn
    else:
        arguments = *arrays, *told, out.array, logs.array, np.int64(0)
        if name == "tensor":  # which may merge splits
            arguments += (np.zeros(3, np.int64),)
    kernel = sources.kernel(f"attention/{name}.cu", **choices)
    if name == "hopper":
        limit = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        kernel.set_attribute(limit, shared)
    return kernel, arguments, {"grid": grid, "block": (block, 1, 1), "shared": shared}, (out, logs)


def launch_gradient(of_keys, gradient, q, k, v, scale, told, **choices):
    """What launches hopper_gradient.cu, as `launch`; told: logarithms and products of rows."""
    (units, queries, size), (_, keys, _), values = q.shape, k.shape, v.shape[-1]
    of_queries, of_others = map(whole, (q, gradient)), map(whole, (k, v))
    arrays = (*of_others, *of_queries) if of_keys else (*of_queries, *of_others)
    boxes = zip(arrays, (128, 128, 64, 64))
    maps = tensormap.packed(*(tensormap.tiled(x[None], (1, 1, high, 64)) for x, high in boxes))
    words = queries, keys, size, values, units, 1, units, 2, *(0,) * 14
    made = [checks.Guarded(x.shape, x.dtype) for x in ((k, v) if of_keys else (q, q))]
    tiles = units * -(-arrays[0].shape[1] // 128)
    logs, products, drawn = map(whole, (*told, np.zeros(1, np.int32)))
    arguments = maps, made[0].array, np.array(words, np.int64), np.float32(scale), np.int32(tiles)
    arguments += logs, products, made[1].array, drawn
    made[0].mapped = arrays
    told = {"HEAD": 64, "T": "half", "OF_KEYS": of_keys} | choices
    kernel, shared = sources.kernel("attention/hopper_gradient.cu", **told), (256 + 128) * 2 * 128
    kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
    named = {"grid": (min(tiles, 3), 1, 1), "block": (384, 1, 1), "shared": shared}
    return kernel, arguments, named, made[: 1 + of_keys]
