"""The cases of bench_gpu that multiply: products, convolutions and attention, of chosen shapes and
of shapes that nobody chose. PyTorch calls cuBLAS, cuDNN (with its benchmark mode) and its fused
back ends; FlashAttention-4 is timed where it is installed (flash-attn-4, with
nvidia-cutlass-dsl[cu13]).

What is drawn is spread evenly by order of magnitude, half of the sizes are multiples of 64, a
quarter of 8. Some elements of each result are compared with sums in float64."""

import importlib
import os
import pickle
import subprocess
import sys
from collections import namedtuple
from functools import cache, partial
from itertools import count
from math import prod

import numpy as np

from helpers import checks, ops
from helpers.ops.launch import KernelCall

import pycuda.driver as cuda  # isort: skip
from pycuda import gpuarray  # isort: skip

__all__ = [
    *("BACK_ENDS", "BUDGET_S", "KINDS", "Attention", "Convolution", "Product", "by_torch", "cases"),
    *("chosen", "compile_ahead", "drawn", "multiply_adds", "operands", "told"),
]

Product = namedtuple("Product", "m n k dtype transposed")
Convolution = namedtuple(
    "Convolution", "what layout dtype images channels image channels_out kernel stride pad groups"
)
Attention = namedtuple(
    "Attention", "batch heads shared queries keys size causal dtype", defaults=["float16"]
)

KINDS = (
    "products of halves",
    "products of floats",
    "products in tf32",
    "convolutions forward",
    "convolutions by the input",
    "convolutions by the weight",
    "convolutions NHWC",
    "convolutions in groups",
    "attention",
)
MOST = 1 << 26  # elements of an array
WORK = {"product": (1 << 22, 1 << 37), "convolution": (1 << 24, 1 << 34), "attention": (0, 1 << 37)}
OUTPUTS, TERMS = 48, 1 << 23  # of each result that are checked, unless these have more terms
BUDGET_S = 0.03  # of a turn of a contender
PLACES = count(1 << 40, 1 << 40)  # far apart
CHECKED_ROWS = 16  # of the last head
LINES = 7  # rows of a product, and columns, where they cross
ASKED = "bfloat16", "tf32", "e4m3"  # of ops.matmul
RESULT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "tf32": 4, "int8": 4, "e4m3": 2}
SCALES = 0.25, 0.5  # of 8-bit floats
APART = 4  # of ours, instructions for 8-bit floats whose sums are added as floats
BACK_ENDS = {"flash2": "FLASH_ATTENTION", "cuDNN": "CUDNN_ATTENTION",
             "efficient": "EFFICIENT_ATTENTION"}  # fmt: skip


class Draws:
    """Random numbers for shapes."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def spread(self, least, most):
        """A size, evenly by order of magnitude."""
        return int(np.exp(self.random.uniform(np.log(least), np.log(most + 1))))

    def size(self, least, most):
        """A size that is a multiple of 64 in half of all cases, of 8 in a quarter."""
        n, unit = self.spread(least, most), (1, 8, 64, 64)[self.random.integers(4)]
        return n if n < unit else n // unit * unit

    def one_of(self, *choices):
        return choices[self.random.integers(len(choices))]

    def product(self, dtype):
        m = self.one_of(self.spread(1, 64), *[self.size(16, 16384)] * 3)
        return Product(m, self.size(64, 16384), self.size(64, 16384), dtype, self.one_of("", "b"))

    def convolution(self, what, layout, dtype, groups):
        kernel, image = self.one_of(1, 1, 3, 3, 3, 5, 7), self.size(7, 224)
        channels, channels_out = self.size(3, 1024), self.size(16, 1024)
        if groups:
            groups = channels = self.size(16, 1024)
            channels_out = channels * self.one_of(1, 1, 2)
            if self.one_of(0, 1):
                groups = self.one_of(2, 4, 8, 32)
                channels = ceil_to(channels, groups)
                channels_out = ceil_to(channels_out, groups)
        stride, pad = self.one_of(1, 1, 1, 2), self.one_of(kernel // 2, kernel // 2, 0)
        sizes = self.spread(1, 64), channels, image, channels_out, kernel, stride, pad
        return Convolution(what, layout, dtype, *sizes, groups or 1)

    def attention(self):
        heads, keys = self.one_of(4, 8, 12, 16, 32), self.size(64, 16384)
        queries = self.one_of(1, self.spread(2, 128), keys, keys, keys)
        size, shared = self.one_of(32, 64, 64, 80, 96, 128, 128), self.one_of(1, 1, 4)
        causal = bool(queries == keys and self.one_of(0, 1))
        return Attention(self.spread(1, 64), heads, shared, queries, keys, size, causal)

    def of(self, kind, number):
        """Draw number `number` of a kind."""
        half = ("float16", "float32")[number % 2]
        if kind.startswith("products"):
            return self.product({"halves": "float16", "floats": "float32"}.get(kind[12:], "tf32"))
        if kind == "attention":
            return self.attention()
        if kind == "convolutions NHWC":
            what = ("forward", "input", "weight")[number % 3]
            return self.convolution(what, "NHWC", "float16", False)
        if kind == "convolutions in groups":
            what = ("forward", "input", "weight")[number // 2 % 3]
            return self.convolution(what, "NCHW", half, True)
        return self.convolution(kind.split()[-1], "NCHW", half, False)


def ceil_to(n, unit):
    return -(-n // unit) * unit


def places(draw):
    """The rows and columns of a convolution's result."""
    return (draw.image + 2 * draw.pad - draw.kernel) // draw.stride + 1


def multiply_adds(draw):
    if isinstance(draw, Product):
        return draw.m * draw.n * draw.k
    if isinstance(draw, Convolution):
        each = draw.channels // draw.groups * draw.kernel**2
        return draw.images * draw.channels_out * places(draw) ** 2 * each
    pairs = draw.batch * draw.heads * draw.queries * draw.keys
    return 2 * pairs * draw.size // (1 + draw.causal)


def shapes(draw):
    """Shapes of the arrays of a draw, in NCHW: of the operands, or x, weight and gradient."""
    if isinstance(draw, Product):
        sides = {"a": (draw.m, draw.k), "b": (draw.k, draw.n)}
        return tuple(s[::-1] if side in draw.transposed else s for side, s in sides.items())
    if isinstance(draw, Attention):
        kept = draw.batch, draw.heads // draw.shared, draw.keys, draw.size
        return (draw.batch, draw.heads, draw.queries, draw.size), kept, kept
    weight = draw.channels_out, draw.channels // draw.groups, draw.kernel, draw.kernel
    result = draw.images, draw.channels_out, *[places(draw)] * 2
    return (draw.images, draw.channels, draw.image, draw.image), weight, result


def drawn(seed, number):
    """(kind, draw): so many of each kind, in turn."""
    kinds = [_drawn(kind, Draws([seed, place])) for place, kind in enumerate(KINDS)]
    for _ in range(number):
        yield from zip(KINDS, map(next, kinds))


def _drawn(kind, draws):
    """Draws of a kind that are neither too small nor too large."""
    found = 0
    while True:
        draw = draws.of(kind, found)
        least, most = WORK[type(draw).__name__.lower()]
        possible = not isinstance(draw, Convolution) or places(draw) > 0
        if possible and least <= multiply_adds(draw) <= most:
            if max(map(prod, shapes(draw))) <= MOST:
                found += 1
                yield draw


def told(draw):
    """A draw in words."""
    if isinstance(draw, Product):
        size = f"{draw.m}" if draw.m == draw.n == draw.k else f"{draw.m}x{draw.n}x{draw.k}"
        is_said = draw.transposed and draw.dtype != "e4m3"  # which PyTorch takes no other way
        return f"{size} {draw.transposed} transposed" if is_said else size
    if isinstance(draw, Convolution):
        groups = f" in {draw.groups} groups" if draw.groups > 1 else ""
        size = f"{draw.images}x{draw.channels}x{draw.image}x{draw.image} to {draw.channels_out}"
        window = f"k{draw.kernel}s{draw.stride}p{draw.pad}"
        return f"{draw.what} {size} {window}{groups}{' NHWC' if draw.layout == 'NHWC' else ''}"
    lengths = f"{draw.keys}" if draw.queries == draw.keys else f"{draw.queries}of{draw.keys}"
    heads = f"{draw.heads}/{draw.shared}" if draw.shared > 1 else draw.heads
    return f"{draw.batch}x{heads}x{lengths}x{draw.size}{' causal' if draw.causal else ''}"


def lying(draw, array):
    """An array of a draw, or its shape, whose channels are the second dimension, as it lies."""
    if getattr(draw, "layout", "NCHW") == "NCHW":
        return array
    if isinstance(array, tuple):
        return (array[0], *array[2:], array[1])
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


def operands(draw, numbers):
    """The arrays of a draw on the host, parts of `numbers`, a flat array, which repeat in a longer
    one."""
    room = numbers.size
    for n, shape in enumerate(shapes(draw)):
        first = n * max(1, (room - prod(shape)) // 2)
        yield np.resize(numbers[first : first + prod(shape)], shape)


def compile_ahead(draws):
    """Have processes compile these draws' kernels, each its share: as many as there are
    processors, and room for their contexts on the GPU."""
    draws = list(draws)
    shares = max(1, min(os.cpu_count() or 1, cuda.mem_get_info()[0] >> 30, len(draws)))
    command = [sys.executable, "-c", "import bench_layers; bench_layers.prepare()"]
    told = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    others = [subprocess.Popen(command, stdin=subprocess.PIPE, env=told) for _ in range(shares)]
    for n, other in enumerate(others):
        with other.stdin as file:
            pickle.dump(draws[n::shares], file)
    for other in others:
        other.wait()


def nowhere(nbytes):
    """An address of an array, or of a result like it, that no launch reaches."""
    return next(PLACES)


def prepare():
    """Compile the kernels of the draws on standard input; launch nothing."""
    KernelCall.__call__ = lambda *arguments, **options: None
    for draw in pickle.load(sys.stdin.buffer):
        dtype = checks.operand(np.zeros(1, np.float32), draw.dtype)[0].dtype
        arrays = [gpuarray.empty(lying(draw, shape), dtype, nowhere) for shape in shapes(draw)]
        RUNS[type(draw)](draw, arrays, None)["ours"]()


def cases(seed, number, torch, kinds=KINDS):
    """As bench_elementwise.cases, of draws of these kinds. A check returns the share of the largest
    possible error."""
    numbers = np.random.default_rng(seed).standard_normal(MOST + 4096, np.float32)
    for kind, draw in drawn(seed, number):
        if kind in kinds:
            yield _case(f"{kind}: {told(draw)} {draw.dtype}", draw, numbers, torch)


def chosen(topic, draws, torch, allocator):
    """The same, of draws that somebody chose."""
    draws = list(draws)
    compile_ahead(draws)
    numbers = np.random.default_rng(1).standard_normal(MOST + 4096, np.float32)
    for draw in draws:
        yield _case(f"{topic} {told(draw)} {draw.dtype}", draw, numbers, torch, allocator)


def _case(name, draw, numbers, torch, allocator=cuda.mem_alloc):
    if torch:
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = False
    pairs = [checks.operand(x, draw.dtype) for x in operands(draw, numbers)]
    on_gpu = [gpuarray.to_gpu(lying(draw, made), allocator) for made, _ in pairs]
    runs = RUNS[type(draw)](draw, on_gpu, torch)
    wanted = cache(partial(WANTED[type(draw)], draw, [exact for _, exact in pairs]))
    moved = sum(made.nbytes for made, _ in pairs)
    if isinstance(draw, Product):
        moved += draw.m * draw.n * RESULT_BYTES[draw.dtype]
    elif isinstance(draw, Attention):
        moved += pairs[0][0].nbytes

    def check(who, got):
        places, want, within, loose = wanted()
        found = _taken(draw, got, places)
        within = within if who == "ours" else loose
        checks.assert_close(found, want, within, f"{who}, {name}")
        return float((np.abs(found - want) / np.maximum(within, 1e-300)).max())

    return name, multiply_adds(draw), moved, runs, check


def _taken(draw, got, places):
    """Elements of a result, of either library, at these places of its flat array in NCHW."""
    of_torch, shape = hasattr(got, "cpu"), tuple(got.shape)
    last = getattr(draw, "layout", "NCHW") == "NHWC" and not of_torch
    axes = (0, 3, 1, 2) if last else range(len(shape))
    index = np.unravel_index(places, [shape[axis] for axis in axes])
    if of_torch:
        return got[index].double().cpu().numpy()
    got = got.get()
    got = checks.widened(got) if got.dtype == np.uint16 else got  # the bits of bfloat16
    return got.transpose(axes)[index].astype("f8")


def _product(draw, on_gpu, torch):
    kind, tensors = draw.dtype, [_tensor(torch, x, draw.dtype) for x in on_gpu] if torch else []
    on_gpu, tensors = (_turned(draw, arrays) for arrays in (on_gpu, tensors))
    if kind == "e4m3":
        return _product_of_float8(on_gpu, tensors, torch)
    runs = {"ours": lambda: ops.matmul(*on_gpu, dtype=kind if kind in ASKED else None)}

    def by_torch():
        if kind == "int8":
            return torch._int_mm(*tensors)
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        return torch.matmul(*tensors)

    if torch:
        runs["PyTorch"] = by_torch
    return runs


def _product_of_float8(on_gpu, tensors, torch):
    scales = [gpuarray.to_gpu(np.array([scale], np.float32)) for scale in SCALES]
    runs = {"ours": lambda: ops.matmul(*on_gpu, dtype="e4m3", scales=scales)}
    if torch:
        by_torch = partial(torch._scaled_mm, *tensors, *(torch.as_tensor(s, device="cuda")[0]
                           for s in scales), out_dtype=torch.float16)  # fmt: skip
        runs["PyTorch"] = partial(by_torch, use_fast_accum=False)
        runs["PyTorch, short sums"] = partial(by_torch, use_fast_accum=True)
    return runs


def _turned(draw, arrays):
    """The sides of a product, of which some lie by columns."""
    return [x.T if side in draw.transposed else x for side, x in zip("ab", arrays)]


def _tensor(torch, array, kind):
    if kind == "e4m3":
        return torch.as_tensor(array, device="cuda").view(torch.float8_e4m3fn)
    if kind == "bfloat16":
        return torch.as_tensor(array.view(np.int16), device="cuda").view(torch.bfloat16)
    return torch.as_tensor(array, device="cuda")


def _of_product(draw, host):
    """Some places of a result, its elements there, and how far ours and others' may be off."""
    kind, random = draw.dtype, np.random.default_rng(draw.m)
    rows, columns = (np.unique(np.append(random.integers(0, n, LINES - 1), n - 1))
                     for n in (draw.m, draw.n))  # fmt: skip
    a, b = _turned(draw, host)
    a, b = a[rows].astype("f8"), b[:, columns].astype("f8")
    a *= np.prod(SCALES) if kind == "e4m3" else 1
    want, size = a @ b, np.abs(a) @ np.abs(b)
    dtype = "float16" if kind in ("float16", "e4m3") else "float32"
    count = max(draw.k, checks.tensor_roundings(draw.k))
    within = 0 * size if kind == "int8" else checks.dot_tolerance(want, size, count, dtype, "f4")
    if kind == "bfloat16":  # whose last bit NumPy does not know
        within = within + 2.0**-8 * (np.abs(want) + within)
    ours, others = within, within
    if kind == "e4m3":  # what others do between their instructions is not known
        ours, others = (within + checks.float8_tolerance(a, b, kind, n) for n in (APART, None))
    places = rows[:, None] * draw.n + columns
    return places.ravel(), want.ravel(), ours.ravel(), others.ravel()


def _places(count, terms):
    """Places of a flat array, the last one among them; fewer where each is a sum of many terms."""
    random, number = np.random.default_rng(count), min(OUTPUTS, 1 + TERMS // terms)
    return np.unique(np.append(random.integers(0, count, number), count - 1))


def _convolution(draw, on_gpu, torch):
    told = {"layout": draw.layout} if draw.layout == "NHWC" else {}
    in_groups = {"groups": draw.groups} if draw.groups > 1 else {}
    runs = {"ours": _call(draw, ops, ops, on_gpu, told | in_groups)}
    if torch:
        tensors = [torch.as_tensor(a, device="cuda") for a in on_gpu]
        if draw.layout == "NHWC":  # to PyTorch, NCHW with other strides
            tensors = [t.permute(0, 3, 1, 2) for t in tensors]
        of_torch = torch.nn.functional, torch.nn.grad
        runs["PyTorch"] = _call(draw, *of_torch, tensors, in_groups)
    return runs


def _of_convolution(draw, host):
    """As _of_product."""
    side = places(draw)  # of the window, down and across
    shape = shapes(draw)[("input", "weight", "forward").index(draw.what)]
    found = _places(prod(shape), multiply_adds(draw) // prod(shape) + 1)
    terms = [_terms(draw, side, host, np.unravel_index(n, shape)) for n in found]
    want, size = (np.array([f(t).sum() for t in terms]) for f in (np.array, np.abs))
    count = max(t.size for t in terms)
    if draw.dtype == "float16":
        count = max(count, checks.tensor_roundings(count))
    within = checks.dot_tolerance(want, size, count, draw.dtype, "float32")
    return found, want, within, within * 8 + 2.0**-11 * size  # a transform has other errors


def _call(draw, forward, gradients, arrays, told):
    """A convolution or a gradient by a library's functions."""
    x, weight, gradient = arrays
    window = draw.stride, draw.pad
    if draw.what == "forward":
        return lambda: forward.conv2d(x, weight, None, *window, **told)
    if draw.what == "input":
        return lambda: gradients.conv2d_input(tuple(x.shape), weight, gradient, *window, **told)
    return lambda: gradients.conv2d_weight(x, tuple(weight.shape), gradient, *window, **told)


def _terms(draw, side, host, place):
    """The products, in float64, whose sum is one element of a convolution or a gradient."""
    x, weight, gradient = host
    k, into, out = draw.kernel, draw.channels // draw.groups, draw.channels_out // draw.groups
    taps = np.arange(k)
    if draw.what == "forward":
        image, channel, row, column = place
        rows, columns = (n * draw.stride - draw.pad + taps for n in (row, column))
        h, w = (taps[(n >= 0) & (n < draw.image)] for n in (rows, columns))
        first = channel // out * into
        under = x[image, first : first + into][:, rows[h]][:, :, columns[w]]
        return under.astype("f8") * weight[channel][:, h][:, :, w].astype("f8")
    if draw.what == "input":
        image, channel, row, column = place
        ends = [n + draw.pad - taps for n in (row, column)]
        h, w = (taps[(e % draw.stride == 0) & (e >= 0) & (e // draw.stride < side)]
                for e in ends)  # fmt: skip
        first = channel // into * out
        rows, columns = ends[0][h] // draw.stride, ends[1][w] // draw.stride
        of = gradient[image, first : first + out][:, rows][:, :, columns].astype("f8")
        return of * weight[first : first + out, channel % into][:, h][:, :, w].astype("f8")
    channel, inner, i, j = place
    reached = [np.arange(side) * draw.stride - draw.pad + tap for tap in (i, j)]
    h, w = (np.flatnonzero((r >= 0) & (r < draw.image)) for r in reached)
    of = x[:, channel // out * into + inner][:, reached[0][h]][:, :, reached[1][w]].astype("f8")
    return of * gradient[:, channel][:, h][:, :, w].astype("f8")


def _attention(draw, on_gpu, torch):
    runs = {"ours": lambda: ops.attention(*on_gpu, causal=draw.causal)}
    if torch:
        tensors = [torch.as_tensor(x, device="cuda") for x in on_gpu]
        for who, back_end in (BACK_ENDS if draw.dtype == "float16" else {"math": "MATH"}).items():
            run = partial(by_torch, torch, back_end, tensors, draw)
            try:
                run()
            except RuntimeError:  # a back end that does not take such a shape
                continue
            runs[who] = run
        is_taken = draw.dtype == "float16" and draw.shared == 1 and draw.size in (64, 128)
        if is_taken and _flash4():
            runs["flash4"] = partial(_by_flash4, [x.transpose(1, 2) for x in tensors], draw.causal)
    return runs


@cache
def _flash4():
    """FlashAttention-4's function, or None where it is not installed."""
    try:
        return importlib.import_module("flash_attn.cute").flash_attn_func
    except ImportError:
        return None


def _by_flash4(tensors, causal):
    got = _flash4()(*tensors, causal=causal)
    return (got[0] if isinstance(got, tuple) else got).transpose(1, 2)


def _of_attention(draw, host):
    """As _of_product, for the last rows of the last head."""
    rows = min(CHECKED_ROWS, draw.queries)
    q, k, v = (x[-1, -1:] for x in host)
    seen = np.tri(rows, draw.keys, draw.keys - rows, bool)
    bias = np.where(seen, 0, -np.inf) if draw.causal else None
    want, _, within, _ = checks.attention(q[:, -rows:], k, v, None, bias, draw.dtype)
    within += checks.roundoff(draw.dtype) * (np.abs(want) + within)
    count = prod(shapes(draw)[0])
    found = np.arange(count - want.size, count)
    return found, want.reshape(-1), within.reshape(-1), within.reshape(-1)


def by_torch(torch, back_end, tensors, draw):
    attend, told = torch.nn.attention, {"enable_gqa": True} if draw.shared > 1 else {}
    with attend.sdpa_kernel(getattr(attend.SDPBackend, back_end)):
        return torch.nn.functional.scaled_dot_product_attention(
            *tensors, is_causal=draw.causal, **told
        )


RUNS = {Product: _product, Convolution: _convolution, Attention: _attention}
WANTED = {Product: _of_product, Convolution: _of_convolution, Attention: _of_attention}
