"""Launch any step of im2col/ and col2im/, between guards."""

from math import gcd

import numpy as np

from helpers import checks, sources, windows

IM2COL = ["columns", "elements", "fast", "packed", "tiles", "column_packs", "unrolled", "wide"]
COL2IM = ["scatter", "gather", "skip", "unrolled", "wide"]
NARROWEST_TILE = 8, 32


def numbers(*shape, dtype="float32", seed=0):
    """Random negatives and non-integers, so that a wrong index shows."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def im2col(step, x, h, w, block=64, grid=None, n=None, **choices):
    """What a step makes of x[channels, H, W]: [channels, kernel_h, kernel_w, H_out, W_out].

    n: told to the kernel in place of what it should count."""
    text, channels = sources.text(f"im2col/{step}.cu"), len(x)
    length = gcd(w.places, w.image) if step == "wide" else w.places
    pack = gcd(length, 4) if "PACK" in text else 1
    choices |= {"PACK": pack} if "PACK" in text else {}
    out = checks.Guarded((channels, h.kernel, w.kernel, h.places, w.places), x.dtype)
    columns = channels * h.places * w.places
    counted = {"tiles": channels, "columns": columns}.get(step, columns * h.kernel * w.kernel)
    if step in ("column_packs", "unrolled", "wide"):
        counted = columns
    counted, rest, shared = counted // pack, [windows.argument(h, w)], 0
    blocks, threads = (-(-counted // block), 1, 1), (block, 1, 1)
    if step == "tiles":
        tall, wide = NARROWEST_TILE
        blocks, threads = (-(-w.places // wide), -(-h.places // tall), 2), (wide, tall, 1)
        covered = [(n - 1) * s.stride + s.extent for n, s in zip(NARROWEST_TILE, (h, w))]
        shared = covered[0] * covered[1] * x.itemsize
    if "Dividers" in text:
        index = choices.get("Index", np.dtype(np.int32))
        by = w.places // pack, h.places, w.kernel, h.kernel
        rest.append(windows.dividers(*by, index=index))
        choices["Index"] = index
    choices |= windows.known(h, w) if step in ("unrolled", "wide") else {}
    run = sources.kernel(f"im2col/{step}.cu", T=x.dtype, **choices)
    x = checks.Guarded(x.shape, x.dtype).set(x)
    size = np.int64(counted if n is None else n)
    run(x.array, out.array, size, *rest, grid=grid or blocks, block=threads, shared=shared)
    return out.get()


def col2im(step, columns, h, w, block=64, start=np.nan, **choices):
    """What a step makes of columns[channels, kernel_h, kernel_w, H_out, W_out]: [channels, H, W].

    start: what out holds before."""
    channels = len(columns)
    out = checks.Guarded((channels, h.image, w.image), columns.dtype).set(start)
    n, rest = channels * h.image * w.image, [windows.argument(h, w)]
    scatters, pack = "scatter" in step, 1
    if scatters:
        n = columns.size
    else:
        choices["Acc"] = "double" if columns.dtype == np.float64 else "float"
    if step == "skip":
        rest += [np.int32(gcd(s.stride, s.dilation)) for s in (h, w)]
    if step in ("unrolled", "wide"):
        pack = gcd(w.image, 4)
        if step == "wide":
            pack = w.stride * gcd(w.image // w.stride, w.places, 4 // w.stride)
        choices |= windows.known(h, w) | {"PACK": pack}
    if step in ("skip", "unrolled", "wide"):
        choices["Index"] = index = choices.get("Index", np.dtype(np.int32))
        by = w.image // pack, h.image, w.kernel, h.kernel
        rest.append(windows.dividers(*by, index=index))
    run = sources.kernel(f"col2im/{step}.cu", T=columns.dtype, **choices)
    columns = checks.Guarded(columns.shape, columns.dtype).set(columns)
    grid = -(-n // pack // block), 1, 1
    run(columns.array, out.array, np.int64(n // pack), *rest, grid=grid, block=(block, 1, 1))
    return out.get()


def assert_folded(got, columns, h, w, start=0):
    """The sums of columns, plus start, within what rounding may do: each is one of at most
    kernel_h * kernel_w copies."""
    chain = h.kernel * w.kernel + 1
    wide = np.float64 if got.dtype == np.float64 else np.float32
    want = windows.col2im(columns.astype(np.longdouble), h, w) + start
    size = windows.col2im(np.abs(columns).astype(np.longdouble), h, w) + abs(start)
    tolerance = checks.gamma(chain, wide) * size
    tolerance += checks.roundoff(got.dtype) * (np.abs(want) + tolerance)
    if got.dtype == np.float16:
        tolerance += np.finfo(np.float16).smallest_subnormal
    checks.assert_close(got, want, tolerance, "col2im")
