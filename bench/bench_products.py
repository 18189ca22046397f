"""The cases of bench_gpu that multiply and add: products of matrices, and convolutions with their
gradients. PyTorch calls cuBLAS and cuDNN, in float32 without tensor cores, else with them."""

from functools import partial
from math import inf, prod

import numpy as np

from helpers import autoinit, checks, ops, windows

from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases", "multiply_adds_per_us"]

TOPICS = "gemm", "conv2d"
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
CHECKED = 64  # rows of a product, or channels of a result
HALVED = {(7, 0), (7, 2), (7, 5), (8, 0)}  # GPUs with 64 float32 units to a multiprocessor, not 128
TENSOR_CORES = {(8, 0): 1024, (9, 0): 2048}  # multiply-adds of halves a clock, of a multiprocessor
AS_FAST = {"float16": 1, "bfloat16": 1, "tf32": 0.5, "int8": 2, "e4m3": 2}  # as halves
RESULT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "tf32": 4, "int8": 4, "e4m3": 2}
ASKED = "bfloat16", "tf32", "e4m3"  # of ops.matmul
APART = 4  # of ours, instructions whose sums are added as floats
ROWS_OF_FLOAT8 = 8  # that are checked: the tolerance takes sums of every 32 products


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
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
    if topic == "gemm":
        for kind in "float32", *AS_FAST:
            for n in SQUARES:
                yield _product((n, n, n), "", kind, torch, allocator)
            if kind in ("float32", "float16"):
                yield _product((4096, 4096, 4096), "a", kind, torch, allocator)
                yield _product((4096, 4096, 4096), "b", kind, torch, allocator)
        for shape in OTHERS:
            yield _product(shape, "", "float16", torch, allocator)
    else:
        for dtype, layout in ("float32", "NCHW"), ("float16", "NCHW"), ("float16", "NHWC"):
            for layer in LAYERS:
                for what in "forward", "input", "weight":
                    yield _convolution(what, *layer, dtype, torch, allocator, layout)


def _random(shape, dtype, seed):
    return np.random.default_rng(seed).standard_normal(shape, np.float32).astype(dtype)


def _tensor(torch, array, kind):
    if kind == "e4m3":
        return torch.as_tensor(array, device="cuda").view(torch.float8_e4m3fn)
    if kind != "bfloat16":
        return torch.as_tensor(array, device="cuda")
    return torch.as_tensor(array.view(np.int16), device="cuda").view(torch.bfloat16)


def _product(shape, transposed, kind, torch, allocator):
    m, n, k = shape
    size = f"{n}" if m == n == k else f"{m}x{n}x{k}"
    name = f"gemm {size}{f' {transposed} transposed' if transposed else ''} {kind}"
    asked = kind if kind in ASKED else None
    if kind == "e4m3":
        transposed = "b"  # both lie along k: PyTorch takes no others
    sides = {"a": (m, k), "b": (k, n)}
    made, exact, on_gpu, tensors = {}, {}, {}, {}
    for seed, (side, lying) in enumerate(sides.items(), 1):
        lying = lying[::-1] if side in transposed else lying
        made[side], exact[side] = checks.operand(_random(lying, "float32", seed), kind)
        on_gpu[side] = gpuarray.to_gpu(made[side], allocator)
        tensors[side] = _tensor(torch, on_gpu[side], kind) if torch else None
    for arrays in (exact, on_gpu, tensors) if transposed else ():
        if arrays[transposed] is not None:
            arrays[transposed] = arrays[transposed].T
    runs = {"ours": lambda: ops.matmul(*on_gpu.values(), dtype=asked)}
    if kind == "e4m3":
        scales = [np.float32(scale) for scale in (0.25, 0.5)]
        ones = [gpuarray.to_gpu(np.array([scale])) for scale in scales]
        runs = {"ours": lambda: ops.matmul(*on_gpu.values(), dtype=kind, scales=ones)}
        exact["a"] = exact["a"] * scales[0] * scales[1]
        if torch:
            told = [torch.as_tensor(one, device="cuda")[0] for one in ones]
            for who, fast in ("PyTorch", False), ("PyTorch, short sums", True):
                runs[who] = partial(torch._scaled_mm, *tensors.values(), *told,
                                    out_dtype=torch.float16, use_fast_accum=fast)  # fmt: skip
    elif torch:
        runs["PyTorch"] = lambda: _by_torch(torch, kind, *tensors.values())

    def check(who, got):
        checked = ROWS_OF_FLOAT8 if kind == "e4m3" else CHECKED
        rows = _on_host(torch, got[-checked:])
        a, b = exact["a"][-checked:].astype("f8"), exact["b"].astype("f8")
        want, size = a @ b, np.abs(a) @ np.abs(b)
        count = max(k, checks.tensor_roundings(k))
        dtype = "float32" if asked in ("bfloat16", "tf32") else rows.dtype
        within = 0 if kind == "int8" else checks.dot_tolerance(want, size, count, dtype, "float32")
        if kind == "bfloat16":  # whose last bit NumPy does not know
            within += 2.0**-8 * (np.abs(want) + within)
        elif kind == "e4m3":  # what others do between their instructions is not known
            within += checks.float8_tolerance(a, b, kind, APART if who == "ours" else None)
        checks.assert_close(rows, want, within, f"{who}, {name}")

    moved = sum(x.nbytes for x in made.values()) + m * n * RESULT_BYTES[kind]
    return name, m * n * k, moved, runs, check


def _by_torch(torch, kind, a, b):
    if kind == "int8":
        return torch._int_mm(a, b)
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    return torch.matmul(a, b)


def _on_host(torch, rows):
    """An array of either, as NumPy has it; bfloat16, or the bits of it, as float32."""
    if torch and isinstance(rows, torch.Tensor):
        return (rows.float() if rows.dtype == torch.bfloat16 else rows).cpu().numpy()
    rows = rows.get()
    return checks.widened(rows) if rows.dtype == np.uint16 else rows


def _convolution(
    what, shape, channels_out, kernel, stride, padding, dtype, torch, allocator, layout
):
    size = "x".join(map(str, shape))
    last = " NHWC" if layout == "NHWC" else ""
    name = f"conv2d {what} {size} to {channels_out} k{kernel}s{stride}p{padding}{last} {dtype}"
    h, w = windows.sides(shape[2:], kernel, stride, padding)
    x, weight = (
        _random(shape, dtype, 1),
        _random((channels_out, shape[1], kernel, kernel), dtype, 2),
    )
    gradient = _random((shape[0], channels_out, h.places, w.places), dtype, 3)
    host = x, weight, gradient
    lying = [np.ascontiguousarray(np.moveaxis(a, 1, -1)) for a in host] if last else host
    on_gpu = [gpuarray.to_gpu(a, allocator) for a in lying]
    told = {"layout": layout} if last else {}
    runs = {"ours": _calls(ops, ops, *on_gpu, stride, padding, **told)[what]}
    if torch:
        tensors = [torch.as_tensor(a, device="cuda") for a in on_gpu]
        if last:  # to PyTorch, NCHW with other strides
            tensors = [t.permute(0, 3, 1, 2) for t in tensors]
        of_torch = torch.nn.functional, torch.nn.grad
        runs["PyTorch"] = _calls(*of_torch, *tensors, stride, padding)[what]

    def check(who, got):
        if hasattr(got, "cpu"):
            got = got.cpu().numpy()
        else:
            got = np.moveaxis(got.get(), -1, 1) if last else got.get()
        _check_part(what, host, (h, w), got, dtype, f"{who}, {name}")

    moved = sum(a.nbytes for a in host)
    return name, gradient.size * prod(weight.shape[1:]), moved, runs, check


def _calls(forward, gradients, x, weight, gradient, stride, padding, **layout):
    """A convolution and its gradients by a library's functions."""
    window = stride, padding
    return {
        "forward": lambda: forward.conv2d(x, weight, None, *window, **layout),
        "input": lambda: gradients.conv2d_input(
            tuple(x.shape), weight, gradient, *window, **layout
        ),
        "weight": lambda: gradients.conv2d_weight(
            x, tuple(weight.shape), gradient, *window, **layout
        ),
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
