"""The cases of bench_gpu that multiply and add: products of matrices, and convolutions with their
gradients. PyTorch calls cuBLAS and cuDNN, in float32 without tensor cores, in float16 with them."""

from math import prod

import numpy as np

from helpers import autoinit, checks, ops, windows

from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases", "multiply_adds_per_us"]

TOPICS = "gemm", "conv2d"
SQUARES = 512, 1024, 2048, 4096, 8192
LAYERS = [  # images, channels_out, kernel, stride, padding: of networks that see
    ((32, 64, 56, 56), 64, 3, 1, 1),
    ((32, 256, 14, 14), 256, 3, 1, 1),
    ((32, 128, 56, 56), 128, 3, 2, 1),
    ((32, 3, 224, 224), 64, 7, 2, 3),
    ((32, 256, 56, 56), 64, 1, 1, 0),
    ((1, 64, 56, 56), 64, 3, 1, 1),
]
CHECKED = 64  # rows of a product, or channels of a result
HALVED = {(7, 0), (7, 2), (7, 5), (8, 0)}  # GPUs with 64 float32 units to a multiprocessor, not 128


def multiply_adds_per_us():
    """What the float32 units of this GPU can do."""
    device = autoinit.device
    units = device.multiprocessor_count * (64 if device.compute_capability() in HALVED else 128)
    return units * device.clock_rate / 1e3


def cases(topic, torch, cupy, allocator):
    """(name, multiply-adds, bytes that must move, {contender: function that returns an array},
    check(who, result)) for each case of a topic."""
    if torch:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
    for dtype in "float32", "float16":
        if topic == "gemm":
            for n in SQUARES:
                for transposed in "", "a", "b":
                    if n == 4096 or not transposed:
                        yield _product(n, transposed, dtype, torch, allocator)
        else:
            for layer in LAYERS:
                for what in "forward", "input", "weight":
                    yield _convolution(what, *layer, dtype, torch, allocator)


def _random(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape, np.float32).astype(dtype)


def _product(n, transposed, dtype, torch, allocator):
    name = f"gemm {n}{f' {transposed} transposed' if transposed else ''} {dtype}"
    host = [_random((n, n), dtype, seed) for seed in (1, 2)]
    on_gpu = [gpuarray.to_gpu(x, allocator) for x in host]
    tensors = [torch.as_tensor(x, device="cuda") for x in on_gpu] if torch else []
    host, on_gpu, tensors = (
        [x.T if operand in transposed else x for operand, x in zip("ab", arrays)]
        for arrays in (host, on_gpu, tensors)
    )
    runs = {"ours": lambda: ops.matmul(*on_gpu)}
    if torch:
        runs["PyTorch"] = lambda: torch.matmul(*tensors)

    def check(who, got):
        rows = got[n - CHECKED :]
        rows = rows.cpu().numpy() if hasattr(rows, "cpu") else rows.get()
        a, b = host[0][n - CHECKED :].astype("f8"), host[1].astype("f8")
        want, size = a @ b, np.abs(a) @ np.abs(b)
        within = checks.dot_tolerance(want, size, n, dtype, "float32")
        checks.assert_close(rows, want, within, f"{who}, {name}")

    return name, n**3, 3 * host[0].nbytes, runs, check


def _convolution(what, shape, channels_out, kernel, stride, padding, dtype, torch, allocator):
    size = "x".join(map(str, shape))
    name = f"conv2d {what} {size} to {channels_out} k{kernel}s{stride}p{padding} {dtype}"
    h, w = windows.sides(shape[2:], kernel, stride, padding)
    x, weight = (
        _random(shape, dtype, 1),
        _random((channels_out, shape[1], kernel, kernel), dtype, 2),
    )
    gradient = _random((shape[0], channels_out, h.places, w.places), dtype, 3)
    host = x, weight, gradient
    on_gpu = [gpuarray.to_gpu(a, allocator) for a in host]
    runs = {"ours": _calls(ops, ops, *on_gpu, stride, padding)[what]}
    if torch:
        tensors = [torch.as_tensor(a, device="cuda") for a in on_gpu]
        of_torch = torch.nn.functional, torch.nn.grad
        runs["PyTorch"] = _calls(*of_torch, *tensors, stride, padding)[what]

    def check(who, got):
        got = got.cpu().numpy() if hasattr(got, "cpu") else got.get()
        _check_part(what, host, (h, w), got, dtype, f"{who}, {name}")

    moved = sum(a.nbytes for a in host)
    return name, gradient.size * prod(weight.shape[1:]), moved, runs, check


def _calls(forward, gradients, x, weight, gradient, stride, padding):
    """A convolution and its gradients by a library's functions."""
    window = stride, padding
    return {
        "forward": lambda: forward.conv2d(x, weight, None, *window),
        "input": lambda: gradients.conv2d_input(tuple(x.shape), weight, gradient, *window),
        "weight": lambda: gradients.conv2d_weight(x, tuple(weight.shape), gradient, *window),
    }


def _check_part(what, host, sides, got, dtype, name):
    """The last image of a result, or a few channels of a gradient by the weight."""
    x, weight, gradient = (a.astype("f8") for a in host)
    if what == "weight":
        last = gradient[:, -1:]
        pairs = [_by_weight(f(x), f(last), sides) for f in (np.array, np.abs)]
        got, count = got[-1:], last.size
    elif what == "input":
        pairs = [_by_input(f(weight), f(gradient[-1:]), sides) for f in (np.array, np.abs)]
        got, count = got[-1:], weight[:, 0].size
    else:
        pairs = [_forward(f(x[-1:]), f(weight), sides) for f in (np.array, np.abs)]
        got, count = got[-1:], weight[0].size
    want, size = pairs
    within = checks.dot_tolerance(want, size, count, dtype, "float32")
    checks.assert_close(got, want, within, name)


def _forward(x, weight, sides):
    return np.einsum("ncijhw,ocij->nohw", windows.im2col(x, *sides), weight, optimize=True)


def _by_input(weight, gradient, sides):
    columns = np.einsum("nohw,ocij->ncijhw", gradient, weight, optimize=True)
    return windows.col2im(columns, *sides)


def _by_weight(x, gradient, sides):
    return sum(
        np.einsum("ncijhw,nohw->ocij", windows.im2col(x[i : i + 1], *sides), gradient[i : i + 1],
                  optimize=True)
        for i in range(len(x))
    )  # fmt: skip
