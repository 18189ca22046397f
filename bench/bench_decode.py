"""The cases of bench_gpu that multiply a matrix and one row, as a language model does for a word:
halves, and weights of 8 and 4 bits. PyTorch widens int8 to halves first, or compiles that away."""

from functools import partial

import numpy as np

from helpers import blocks, checks, ops

from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases"]

TOPICS = ("linear",)
SHAPES = (4096, 4096), (14336, 4096), (4096, 14336)  # n, k: layers of a model of 8 billion weights
KINDS = "float16", "int8", "e4m3", "mxfp8", "nvfp4"


def cases(topic, torch, cupy, allocator):
    """What bench_products.cases yields."""
    if torch:
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    for n, k in SHAPES:
        for kind in KINDS:
            yield _case(n, k, kind, torch, allocator)


def _case(n, k, kind, torch, allocator):
    random = np.random.default_rng(1)
    made, x = (random.standard_normal(shape, np.float32) for shape in ((n, k), (1, k)))
    x, scales = x.astype(np.float16), random.random(n, np.float32) / 64 + 0.01
    of_blocks = None
    if kind in blocks.BLOCKS:
        weights, of_blocks, *_ = getattr(blocks, kind)(made)
        exact = getattr(blocks, f"from_{kind}")(weights, of_blocks)
    else:
        weights, exact = checks.operand(made, kind)
    asked = kind if weights.dtype == np.uint8 else None
    on_gpu = [None if a is None else gpuarray.to_gpu(a, allocator) for a in (x, weights, scales)]
    last = None if of_blocks is None else gpuarray.to_gpu(of_blocks, allocator)
    runs = {"ours": lambda: ops.linear(*on_gpu, asked, last)}
    if torch and kind in ("float16", "int8"):
        tensors = [torch.as_tensor(a, device="cuda") for a in on_gpu]
        runs["PyTorch"] = partial(_by_torch, torch, *tensors)
        compiled = torch.compile(_by_torch, dynamic=False)
        runs["compiled"] = partial(compiled, torch, *tensors)

    def check(who, got):
        got = got.cpu().numpy() if hasattr(got, "cpu") else got.get()
        want, size = (f(x).astype(float) @ f(exact).T * scales for f in (np.array, np.abs))
        within = checks.dot_tolerance(want, size, k + 1, "float16", "float32")
        within += 3 * checks.roundoff("float16") * np.abs(want)  # PyTorch's scales are halves
        checks.assert_close(got, want, within, f"{who}, linear {kind}")

    moved = sum(a.nbytes for a in (x, weights, scales)) + 2 * n + getattr(of_blocks, "nbytes", 0)
    return f"linear {n}x{k} {kind}", n * k, moved, runs, check


def _by_torch(torch, x, weights, scales):
    return torch.nn.functional.linear(x, weights.to(x.dtype)) * scales.to(x.dtype)
