"""The shapes of products of matrices, convolutions and attention that bench_gpu times, and what a
GPU can multiply. In float32, PyTorch's products and convolutions have no tensor cores."""

from functools import partial
from math import inf

import bench_layers
import numpy as np
from bench_layers import Attention, Convolution, Product

from helpers import autoinit, checks, ops

from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases", "multiply_adds_per_us"]

TOPICS = "gemm", "conv2d", "attention", "attention_backward"
SQUARES = 512, 1024, 2048, 4096, 8192
OTHERS = [  # m, n, k of halves: in lines that TMA cannot take, and thin
    (4096, 4096, 4095), (4096, 4100, 4096), (1000, 1000, 1000),
    (64, 4096, 4096), (16, 8192, 8192), (128, 128, 65536), (8192, 64, 8192),
]  # fmt: skip
LAYERS = [  # images, channels_out, kernel, stride, padding: of networks that see
    ((32, 64, 56, 56), 64, 3, 1, 1),
    ((32, 256, 14, 14), 256, 3, 1, 1),
    ((32, 128, 56, 56), 128, 3, 2, 1),
    ((32, 3, 224, 224), 64, 7, 2, 3),
    ((32, 256, 56, 56), 64, 1, 1, 0),
    ((1, 64, 56, 56), 64, 3, 1, 1),
    ((128, 256, 28, 28), 256, 3, 1, 1),
    ((128, 512, 14, 14), 512, 3, 1, 1),
]
HEADS = [  # batch, heads, length, size of a head
    (32, 16, 512, 128), (16, 16, 1024, 128), (8, 16, 2048, 128), (4, 16, 4096, 128),
    (2, 16, 8192, 128), (1, 16, 16384, 128), (16, 32, 1024, 64), (4, 32, 4096, 64),
    (1, 32, 16384, 64), (1, 8, 197, 64),
]  # fmt: skip
TRAINED = [HEADS[n] for n in (1, 3, 5, 6, 7)]
ONE_QUERY = [(1, 1024), (1, 131072), (16, 8192), (64, 1024), (64, 8192)]  # batch, keys
CHECKED = 16  # queries of the last head, of gradients
HALVED = {(7, 0), (7, 2), (7, 5), (8, 0)}  # GPUs with 64 float32 units to a multiprocessor, not 128
TENSOR_CORES = {(8, 0): 1024, (9, 0): 2048}  # multiply-adds of halves a clock, of a multiprocessor
AS_FAST = {"float16": 1, "bfloat16": 1, "tf32": 0.5, "int8": 2, "e4m3": 2}  # as halves


def multiply_adds_per_us(dtype):
    """What the units that multiply numbers of a type can do; inf: not known of this GPU."""
    device = autoinit.device
    capability = device.compute_capability()
    if dtype == "float32":
        each = 64 if capability in HALVED else 128
    else:
        each = TENSOR_CORES.get(capability, inf) * AS_FAST[dtype]
    return each * device.multiprocessor_count * device.clock_rate / 1e3


def cases(topic, torch, cupy, allocator):
    """(name, multiply-adds, bytes that must move, {contender: function that returns an array},
    check(who, result)) for each case of a topic."""
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = False
    if topic == "attention_backward":
        return (_backward(draw, torch, allocator) for draw in _attention(TRAINED))
    return bench_layers.chosen(topic, _draws(topic), torch, allocator)


def _draws(topic):
    if topic == "gemm":
        for kind in "float32", *AS_FAST:
            for n in SQUARES:
                yield Product(n, n, n, kind, "b" if kind == "e4m3" else "")
            if kind in ("float32", "float16"):
                yield Product(4096, 4096, 4096, kind, "a")
                yield Product(4096, 4096, 4096, kind, "b")
        for shape in OTHERS:
            yield Product(*shape, "float16", "")
    elif topic == "conv2d":
        for dtype, layout in ("float32", "NCHW"), ("float16", "NCHW"), ("float16", "NHWC"):
            for (images, channels, side, _), *window in LAYERS:
                for what in "forward", "input", "weight":
                    yield Convolution(what, layout, dtype, images, channels, side, *window, 1)
    else:
        yield from _attention(HEADS)
        for batch, keys in ONE_QUERY:
            yield Attention(batch, 32, 1, 1, keys, 128, False)
        yield Attention(4, 16, 1, 2048, 2048, 64, False, "float32")


def _attention(shapes):
    for batch, heads, length, size in shapes:
        for causal in False, True:
            yield Attention(batch, heads, 1, length, length, size, causal)


def _backward(draw, torch, allocator):
    name = f"attention backward {bench_layers.told(draw)} float16"
    numbers = np.random.default_rng(1).standard_normal(1 << 26, np.float32).astype(np.float16)
    q, k, v = host = list(bench_layers.operands(draw, numbers))
    gradient = numbers[-q.size :].reshape(q.shape)
    by, *arrays = (gpuarray.to_gpu(x, allocator) for x in (gradient, *host))
    saved = ops.attention(*arrays, causal=draw.causal, with_logs=True)
    runs = {"ours": lambda: ops.attention_backward(by, *arrays, saved, causal=draw.causal)[0]}
    if torch:
        from_above, *tensors = (torch.as_tensor(x, device="cuda") for x in (by, *arrays))
        tensors = [x.requires_grad_() for x in tensors]
        for who in "flash2", "cuDNN":
            out = bench_layers.by_torch(torch, bench_layers.BACK_ENDS[who], tensors, draw)
            runs[who] = partial(_gradient, torch, out, tensors, from_above)

    def check(who, got):
        got = (got.cpu().numpy() if hasattr(got, "cpu") else got.get())[-1, -1:, -CHECKED:]
        seen = np.tri(CHECKED, draw.keys, draw.keys - CHECKED, bool)
        bias = np.where(seen, 0, -np.inf) if draw.causal else None
        rows = (x[-1, -1:, -CHECKED:] for x in (gradient, q))
        last = (x[-1, -1:] for x in (k, v))
        want, within = checks.attention_gradients(*rows, *last, None, bias, "float16")[0]
        checks.assert_close(got, want, within, f"{who}, {name}")

    return name, 5 * bench_layers.multiply_adds(draw) // 2, 8 * q.nbytes, runs, check


def _gradient(torch, out, tensors, by):
    return torch.autograd.grad(out, tensors, by, retain_graph=True)[0]
