"""Launch any step of softmax/, between guards."""

from math import ceil

import numpy as np

from helpers import autoinit, checks, sources

from .steps_reduce import ACCUMULATORS

SOFTMAX = ["three_pass", "online", "registers", "two_launches", "trailing"]
if autoinit.device.compute_capability() >= (9, 0):
    SOFTMAX.append("cluster")


def softmax(step, x, **choices):
    """What a step of softmax/ makes of x[batch, hidden]."""
    batch, hidden = x.shape
    pack = choices.get("PACK", 4 if hidden % 4 == 0 else 1)
    x_gpu, y = checks.Guarded(x.shape, x.dtype).set(x), checks.Guarded(x.shape, x.dtype)
    grid, block, rest = (batch, 1), 128, []
    if step == "registers":
        choices = {"GROUP": 32, "PACKS": ceil(hidden / pack / 32), "PACK": pack} | choices
        block = max(choices["GROUP"], 64)
        grid = ceil(batch * choices["GROUP"] / block), 1
    if step == "cluster":
        choices = {"BLOCKS": 3, "THREADS": 64, "PACK": pack} | choices
        block = choices["THREADS"]
        choices["PACKS"] = ceil(hidden / pack / choices["BLOCKS"] / block)
        grid = batch * choices["BLOCKS"], 1
    c_types = {"T": x.dtype, "Acc": ACCUMULATORS[x.dtype.name]}
    sizes = np.int64(batch), np.int64(hidden)
    if step == "two_launches":
        choices = c_types | {"TILE": 256, "PACK": pack}
        parts = ceil(hidden / 256)
        stats, grid = checks.Guarded((batch, parts, 2), c_types["Acc"]), (batch * parts, 1)
        rest = [np.int32(parts)]
        run = sources.kernel("softmax/measure.cu", **choices)
        run(x_gpu.array, stats.array, *sizes, *rest, grid=grid, block=(block, 1, 1))
        rest.append(stats.array)
        assert stats.get().shape
        step = "write"
    if step == "trailing":
        tile = 64 * 2 * pack
        parts, lag = ceil(hidden / tile), max(5, ceil(hidden / tile))
        whole = int(hidden % tile == 0)
        choices = {"BLOCK": 64, "PACKS": 2, "PACK": pack, "WHOLE": whole} | choices
        slots = checks.Guarded((batch, parts, 2), c_types["Acc"]).set(0)
        ticket = checks.Guarded(1, "uint32").set(0)
        rest = [np.int32(parts), np.int32(lag), slots.array, ticket.array]
        grid, block = (batch * parts + lag, 1), 64
    run = sources.kernel(f"softmax/{step}.cu", **c_types | choices)
    run(x_gpu.array, y.array, *sizes, *rest, grid=grid, block=(block, 1, 1))
    if step == "trailing":
        sent = slots.get()
        assert ((sent != 0) | np.signbit(sent)).all() and ticket.get() == grid[0]
    return y.get()
