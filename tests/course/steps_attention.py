"""Launch the steps of attention/, between guards."""

import numpy as np

from helpers import checks, sources

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
    """What launches running.cu or tensor.cu, by sources.kernel or xray: (kernel, arguments, named
    arguments, the guarded result)."""
    (units, queries, size), (_, keys, _), values = q.shape, k.shape, v.shape[-1]
    rows, tile = {"running": 16, "tensor": 64}[name], 64
    if name == "tensor":
        choices = {"HEAD": 64, "ROW_TILES": 1, "Q_KEPT": 1, "T": "half", "Out": "half"} | choices
        block, shared = 128, (rows + 2 * tile) * 128
    else:
        choices = {"HEAD": 64, "ROWS": rows, "T": q.dtype, "Out": q.dtype, "PACK": 1} | choices
        block, shared = 256, ((rows + tile) * 68 + rows * 68) * 4
    strides = [step for x in (q, k, v) for step in (0, x.shape[1] * x.shape[2], x.shape[2])]
    words = queries, keys, size, values, units, 1, units, 2, 0, *strides, 0, 0, 0, 0
    out = checks.Guarded((units, queries, values), q.dtype)
    logs = checks.Guarded((units, queries), np.float32)
    arguments = *map(whole, (q, k, v)), np.array(words, np.int64), np.float32(scale)
    arguments += out.array, logs.array, np.int64(0)
    grid = (units * -(-queries // rows), 1, 1)
    kernel = sources.kernel(f"attention/{name}.cu", **choices)
    return kernel, arguments, {"grid": grid, "block": (block, 1, 1), "shared": shared}, (out, logs)
