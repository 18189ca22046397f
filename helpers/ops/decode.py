"""What a language model needs for one word at a time, by the kernels of cuda_src/decode."""

from math import isfinite

import numpy as np

from ..blocks import BLOCKS
from .arrays import check, dividing, is_contiguous, signature
from .elementwise import contiguous
from .launch import Form, Kept, KernelCall, address, ceil_divide, context, workspace

__all__ = ["linear", "rms_norm"]

MOST_THREADS = 1024  # of a block
REGISTER_BYTES = 128  # of a thread, for its share of a row
FORMATS = {"float32": "Float32", "float16": "Half", "int8": "Int8", "e4m3": "E4M3",
           "mxfp8": "MXFP8", "nvfp4": "NVFP4"}  # of weights  # fmt: skip
WARPS = 2  # of a block
UNROLL = 1  # accesses of a lane in flight, of each row
X_BYTES = 32  # of x that a lane reads for each row of weights: more, and rows share what it reads
MOST_ROWS = 65535  # of a grid

prepared = Kept()


def rms_norm(x, weight, epsilon=1e-5, added=None, stream=None):
    """Return x / sqrt(mean(x²) + epsilon) * weight along the last axis, in x's type, float16 or
    float32; squares are added in float32. added: an array like x, which is added to x first; x,
    which must be contiguous then, keeps the sum."""
    arrays = (x, weight) if added is None else (x, weight, added)
    key = rms_norm, context(), *map(signature, arrays), epsilon
    call = prepared.get(key)
    if call is None:
        _check_norm(x, weight, epsilon, added)
        if not all(map(is_contiguous, arrays)):
            x, weight = (contiguous(array, stream) for array in (x, weight))
            added = None if added is None else contiguous(added, stream)
            return rms_norm(x, weight, epsilon, added, stream)
        call = prepared[key] = Form(x.shape, x.dtype), norm(x.shape, x.dtype, epsilon, *arrays)
    form, run = call
    y = form.new(x, workspace(stream))
    if x.size:
        places = address(weight), address(weight if added is None else added)
        run(stream, (address(x), address(y)), after=places)
    return y


def norm(shape, dtype, epsilon, *arrays):
    """Return the KernelCall of an RMSNorm of such rows, for addresses of x and y, then of the
    weight and what is added; arrays: x, the weight, and what is added, if anything."""
    hidden = shape[-1]
    rows = int(np.prod(shape[:-1]))
    itemsize = np.dtype(dtype).itemsize
    pack = dividing(max(hidden, 1), itemsize, *map(address, arrays))
    packs = ceil_divide(hidden, pack)
    each = max(1, ceil_divide(packs, MOST_THREADS))
    block = max(32, min(MOST_THREADS, ceil_divide(ceil_divide(packs, each), 32) * 32))
    if each * pack * itemsize > REGISTER_BYTES:
        most = REGISTER_BYTES // (pack * itemsize) * pack * MOST_THREADS
        raise ValueError(f"rms_norm: rows have {hidden:,} elements; pass at most {most:,}")
    choices = {"T": dtype, "PACK": pack, "PACKS": each, "ADDED": int(len(arrays) > 2)}
    told = rows, hidden, np.float32(epsilon)
    return KernelCall("decode/rms_norm.cu", choices, (rows,), (block,), *told)


def _check_norm(x, weight, epsilon, added):
    check(x, ["float16", "float32"], "rms_norm: x")
    if not x.ndim:
        raise ValueError("rms_norm: x has no dimensions; pass at least a row")
    check(weight, [x.dtype.name], "rms_norm: weight")
    if weight.shape != x.shape[-1:]:
        raise ValueError(
            f"rms_norm: weight has shape {weight.shape}; pass one number for each of the"
            f" {x.shape[-1]} elements of a row"
        )
    if not (isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"rms_norm: epsilon is {epsilon}; pass a finite number, 0 or greater")
    if added is None:
        return
    check(added, [x.dtype.name], "rms_norm: added")
    if added.shape != x.shape:
        raise ValueError(f"rms_norm: added has shape {added.shape}; pass x's, {x.shape}")
    if not is_contiguous(x):
        raise ValueError("rms_norm: x keeps the sum with added, so it must be contiguous;"
                         " pass x.copy()")  # fmt: skip


def linear(x, weights, scales=None, dtype=None, blocks=None, stream=None):
    """Return x[..., k] times the transpose of weights[n, k]: [..., n], in x's type, float16 or
    float32, added up in float32.

    weights are float32, float16 or int8, or uint8 that hold the bits of other numbers: with
    dtype="e4m3" of 8-bit floats (helpers.float8), with "mxfp8" and "nvfp4" of numbers whose blocks
    share a scale (helpers.blocks): `blocks` has these scales; nvfp4 has two weights in a byte.
    scales: n float32 that multiply the rows of weights, which int8 needs. The weights are read once
    for each row of x: for many rows, ops.matmul is faster."""
    given = [array for array in (x, weights, scales, blocks) if array is not None]
    key = linear, context(), *map(signature, given), dtype, scales is None
    call = prepared.get(key)
    if call is None:
        _check_linear(x, weights, scales, dtype, blocks)
        if not all(map(is_contiguous, given)):
            x, weights, scales, blocks = (
                None if array is None else contiguous(array, stream)
                for array in (x, weights, scales, blocks)
            )
            return linear(x, weights, scales, dtype, blocks, stream)
        form = Form((*x.shape[:-1], len(weights)), x.dtype)
        call = prepared[key] = form, thin(x, weights, dtype, scales is not None, blocks)
    form, run = call
    y = form.new(x, workspace(stream))
    if y.size:
        extra = tuple(0 if array is None else address(array) for array in (scales, blocks))
        run(stream, (address(weights), address(y)), after=(address(x), *extra))
    return y


def thin(x, weights, dtype, scaled, blocks=None):
    """Return the KernelCall of a product with the rows of x, which are few, for addresses of the
    weights and of y, then of x, the scales, and the blocks' scales."""
    n, held = weights.shape
    k, itemsize = x.shape[-1], weights.dtype.itemsize
    places = address(weights), 0 if blocks is None else 8 * address(blocks)  # 2 scales per 16 bytes
    pack = dividing(max(held, 1), itemsize, *places)
    of_x = min(pack, dividing(max(k, 1), x.dtype.itemsize, address(x)))
    each = max(1, pack * (k // max(held, 1)) * x.dtype.itemsize // X_BYTES)
    choices = {"Format": FORMATS[dtype or weights.dtype.name], "X": x.dtype, "Out": x.dtype,
               "BYTES": pack * itemsize, "X_PACK": of_x, "UNROLL": UNROLL, "ROWS": each,
               "WARPS": WARPS, "SCALED": int(scaled)}  # fmt: skip
    grid = ceil_divide(n, each * WARPS), x.size // max(k, 1)
    return KernelCall("decode/thin.cu", choices, grid, (32 * WARPS,), n, k)


def _check_linear(x, weights, scales, dtype, blocks):
    check(x, ["float16", "float32"], "linear: x")
    if dtype not in (None, "e4m3", *BLOCKS):
        raise ValueError(f'linear: dtype {dtype!r}; pass "e4m3", "mxfp8", "nvfp4" or None')
    check(weights, ["uint8"] if dtype else ["float32", "float16", "int8"], "linear: weights")
    if weights.ndim != 2:
        raise ValueError(f"linear: weights have shape {weights.shape}; pass [n, k]")
    n, k = weights.shape[0], weights.shape[1] * (2 if dtype == "nvfp4" else 1)
    if not x.ndim or x.shape[-1] != k:
        raise ValueError(f"linear of {x.shape} and weights {weights.shape}: rows of x must have"
                         f" {k} elements")  # fmt: skip
    if x.size > MOST_ROWS * max(k, 1):
        raise ValueError(f"linear: x has more than {MOST_ROWS:,} rows; use ops.matmul")
    if dtype in BLOCKS and blocks is None:
        raise ValueError(f"linear: {dtype} needs blocks; pass the scales of the weights' blocks")
    if dtype not in BLOCKS and blocks is not None:
        raise ValueError(f"linear: blocks are for dtype {' and '.join(BLOCKS)}")
    if blocks is not None:
        check(blocks, ["uint8"], "linear: blocks")
        if k % BLOCKS[dtype] or blocks.shape != (n, k // BLOCKS[dtype]):
            raise ValueError(f"linear: blocks have shape {blocks.shape}; pass one scale for each"
                             f" {BLOCKS[dtype]} weights of a row")  # fmt: skip
    if scales is None and weights.dtype == np.int8:
        raise ValueError("linear: int8 weights need scales; pass one float32 for each row")
    if scales is None:
        return
    check(scales, ["float32"], "linear: scales")
    if scales.shape != (n,):
        raise ValueError(f"linear: scales have shape {scales.shape}; pass one for each of the"
                         f" {n} rows of weights")  # fmt: skip
