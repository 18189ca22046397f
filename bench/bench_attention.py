"""The cases of bench_gpu that attend: of halves, PyTorch's three fused back ends beside ours, and
FlashAttention-4 where it is installed (flash-attn-4, with nvidia-cutlass-dsl[cu13]); of floats,
PyTorch's back end without fusion; one query and many keys."""

from functools import cache, partial
from importlib import import_module

import numpy as np

from helpers import checks, ops

from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases"]

TOPICS = "attention", "attention_backward"
SHAPES = [  # batch, heads, length, size of a head
    (32, 16, 512, 128), (16, 16, 1024, 128), (8, 16, 2048, 128), (4, 16, 4096, 128),
    (2, 16, 8192, 128), (1, 16, 16384, 128), (16, 32, 1024, 64), (4, 32, 4096, 64),
    (1, 32, 16384, 64), (1, 8, 197, 64),
]  # fmt: skip
TRAINED = [
    (16, 16, 1024, 128), (4, 16, 4096, 128), (1, 16, 16384, 128), (16, 32, 1024, 64),
    (4, 32, 4096, 64),
]  # fmt: skip
ONE_QUERY = [(1, 1024), (1, 131072), (16, 8192), (64, 1024), (64, 8192)]  # batch, keys
BACK_ENDS = {"flash2": "FLASH_ATTENTION", "cuDNN": "CUDNN_ATTENTION",
             "efficient": "EFFICIENT_ATTENTION"}  # fmt: skip
CHECKED = 16  # queries of the last head


def cases(topic, torch, cupy, allocator):
    """What bench_products.cases yields."""
    if topic == "attention_backward":
        for shape in TRAINED:
            for causal in False, True:
                yield _backward(shape, causal, torch, allocator)
        return
    for batch, heads, length, size in SHAPES:
        for causal in False, True:
            shape = batch, heads, length, length, size
            yield _case(shape, causal, "float16", BACK_ENDS, torch, allocator)
    for batch, keys in ONE_QUERY:
        yield _case((batch, 32, 1, keys, 128), False, "float16", BACK_ENDS, torch, allocator)
    floats = {"math": "MATH"}
    yield _case((4, 16, 2048, 2048, 64), False, "float32", floats, torch, allocator)


def _case(shape, causal, dtype, back_ends, torch, allocator):
    batch, heads, queries, keys, size = shape
    lengths = f"{keys}" if queries == keys else f"{queries}of{keys}"
    name = f"attention {batch}x{heads}x{lengths}x{size}{' causal' if causal else ''} {dtype}"
    host = _numbers(batch, heads, (queries, keys, keys), size, dtype)
    on_gpu = [gpuarray.to_gpu(x, allocator) for x in host]
    runs = {"ours": lambda: ops.attention(*on_gpu, causal=causal)}
    if torch:
        tensors = [torch.as_tensor(x, device="cuda") for x in on_gpu]
        for who, back_end in back_ends.items():
            runs[who] = partial(_by_torch, torch, back_end, tensors, causal)
        if dtype == "float16" and (flash4 := _flash4()):
            turned = [x.transpose(1, 2) for x in tensors]
            runs["flash4"] = partial(_by_flash4, flash4, turned, causal)

    def check(who, got):
        got = (got.cpu().numpy() if hasattr(got, "cpu") else got.get())[-1, -1:, -CHECKED:]
        q, k, v = (x[-1, -1:] for x in host)
        q = q[:, -CHECKED:]
        seen = np.tri(q.shape[1], keys, keys - q.shape[1], bool)
        bias = np.where(seen, 0, -np.inf) if causal else None
        want, _, within, _ = checks.attention(q, k, v, None, bias, dtype)
        within += checks.roundoff(dtype) * (np.abs(want) + within)
        checks.assert_close(got, want, within, f"{who}, {name}")

    moved = sum(x.nbytes for x in host) + host[0].nbytes
    return name, 2 * batch * heads * queries * keys * size // (1 + causal), moved, runs, check


def _backward(shape, causal, torch, allocator):
    batch, heads, length, size = shape
    told = " causal" if causal else ""
    name = f"attention backward {batch}x{heads}x{length}x{size}{told} float16"
    host = _numbers(batch, heads, (length,) * 4, size, "float16")
    gradient, *arrays = on_gpu = [gpuarray.to_gpu(x, allocator) for x in host]
    saved = ops.attention(*arrays, causal=causal, with_logs=True)
    runs = {"ours": lambda: ops.attention_backward(gradient, *arrays, saved, causal=causal)[0]}
    if torch:
        by, *tensors = (torch.as_tensor(x, device="cuda") for x in on_gpu)
        tensors = [x.requires_grad_() for x in tensors]
        for who in "flash2", "cuDNN":
            out = _by_torch(torch, BACK_ENDS[who], tensors, causal)
            runs[who] = lambda out=out: torch.autograd.grad(out, tensors, by, retain_graph=True)[0]

    def check(who, got):
        got = (got.cpu().numpy() if hasattr(got, "cpu") else got.get())[-1, -1:, -CHECKED:]
        gradient, q, k, v = (x[-1, -1:] for x in host)
        bias = np.where(np.tri(CHECKED, length, length - CHECKED, bool), 0, -np.inf)
        rows = gradient[:, -CHECKED:], q[:, -CHECKED:]
        told = None, bias if causal else None, "float16"
        want, within = checks.attention_gradients(*rows, k, v, *told)[0]
        checks.assert_close(got, want, within, f"{who}, {name}")

    moved = 8 * host[0].nbytes
    return name, 5 * batch * heads * length * length * size // (1 + causal), moved, runs, check


def _numbers(batch, heads, lengths, size, dtype):
    """Arrays of heads; batches are the same, since random numbers would take minutes."""
    rng = np.random.default_rng(1)
    ones = [rng.standard_normal((heads, n, size), np.float32).astype(dtype) for n in lengths]
    return [np.tile(x, (batch, 1, 1, 1)) for x in ones]


def _by_torch(torch, back_end, tensors, causal):
    attend = torch.nn.attention
    with attend.sdpa_kernel(getattr(attend.SDPBackend, back_end)):
        return torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=causal)


@cache
def _flash4():
    """FlashAttention-4's function, or None where it is not installed."""
    try:
        return import_module("flash_attn.cute").flash_attn_func
    except ImportError:
        return None


def _by_flash4(function, tensors, causal):
    got = function(*tensors, causal=causal)
    return (got[0] if isinstance(got, tuple) else got).transpose(1, 2)
