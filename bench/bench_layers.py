"""The drawn cases of bench_gpu that multiply: products, convolutions and attention whose shapes
nobody chose. PyTorch calls cuBLAS, cuDNN (with its benchmark mode) and its fused back ends.

Sizes are spread evenly by order of magnitude, half of them multiples of 64, a quarter of 8. Some
elements of each result are compared with sums in float64; the report says what share of the
largest error that rounding explains ours had."""

from collections import namedtuple
from functools import partial
from math import prod

import numpy as np
from bench_attention import BACK_ENDS

from helpers import checks, ops

from pycuda import gpuarray  # isort: skip

__all__ = ["KINDS", "cases", "drawn", "report"]

Product = namedtuple("Product", "m n k dtype transposed")
Convolution = namedtuple(
    "Convolution", "what layout dtype images channels image channels_out kernel stride pad groups"
)
Attention = namedtuple("Attention", "batch heads shared queries keys size causal")

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
OUTPUTS = 48  # of each result that are checked
CHECKED_ROWS = 16  # of the last head


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
        return (draw.m, draw.k), (draw.n, draw.k) if draw.transposed else (draw.k, draw.n)
    if isinstance(draw, Attention):
        kept = draw.batch, draw.heads // draw.shared, draw.keys, draw.size
        return (draw.batch, draw.heads, draw.queries, draw.size), kept, kept
    weight = draw.channels_out, draw.channels // draw.groups, draw.kernel, draw.kernel
    result = draw.images, draw.channels_out, *[places(draw)] * 2
    return (draw.images, draw.channels, draw.image, draw.image), weight, result


def drawn(seed, number):
    """(kind, draw): so many of each kind."""
    for place, kind in enumerate(KINDS):
        draws, found = Draws([seed, place]), 0
        while found < number:
            draw = draws.of(kind, found)
            least, most = WORK[type(draw).__name__.lower()]
            possible = not isinstance(draw, Convolution) or places(draw) > 0
            if possible and least <= multiply_adds(draw) <= most:
                if max(map(prod, shapes(draw))) <= MOST:
                    found += 1
                    yield kind, draw


def told(draw):
    """A draw in words."""
    if isinstance(draw, Product):
        return f"{draw.m}x{draw.n}x{draw.k}{' b transposed' if draw.transposed else ''}"
    if isinstance(draw, Convolution):
        groups = f" in {draw.groups} groups" if draw.groups > 1 else ""
        size = f"{draw.images}x{draw.channels}x{draw.image}x{draw.image} to {draw.channels_out}"
        window = f"k{draw.kernel}s{draw.stride}p{draw.pad}"
        return f"{draw.what} {size} {window}{groups} {draw.layout}"
    lengths = f"{draw.keys}" if draw.queries == draw.keys else f"{draw.queries}of{draw.keys}"
    heads = f"{draw.heads}/{draw.shared}" if draw.shared > 1 else draw.heads
    return f"{draw.batch}x{heads}x{lengths}x{draw.size}{' causal' if draw.causal else ''}"


def operands(draw, numbers):
    """The arrays of a draw on the host, parts of `numbers`, a flat array."""
    room = numbers.size
    for n, shape in enumerate(shapes(draw)):
        first = n * (room - prod(shape)) // 2
        yield numbers[first : first + prod(shape)].reshape(shape)


def cases(seed, number, torch, kinds=KINDS):
    """As bench_elementwise.cases, of draws of these kinds. A check returns the share of the largest
    possible error."""
    if torch:
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = False
    random = np.random.default_rng(seed)
    base = {"float32": random.standard_normal(MOST + 4096, np.float32)}
    base["float16"] = base["float32"].astype("float16")
    base["tf32"] = base["float32"]
    for kind, draw in drawn(seed, number):
        if kind not in kinds:
            continue
        dtype = getattr(draw, "dtype", "float16")
        host = list(operands(draw, base[dtype]))
        function = {Product: _product, Convolution: _convolution, Attention: _attention}
        runs, wanted = function[type(draw)](draw, host, torch)
        name = f"{kind}: {told(draw)} {dtype}"
        moved = sum(x.nbytes for x in host)
        if isinstance(draw, Product):
            moved += draw.m * draw.n * host[0].itemsize
        elif isinstance(draw, Attention):
            moved += host[0].nbytes

        def check(who, got, wanted=wanted, name=name):
            found, want, within = wanted(who, got)
            checks.assert_close(found, want, within, f"{who}, {name}")
            return float((np.abs(found - want) / within).max())

        yield name, multiply_adds(draw), moved, runs, check


def _taken(got, places):
    """Elements of a result, of either library, at these places of its flat array."""
    if hasattr(got, "cpu"):
        return got[tuple(np.unravel_index(places, tuple(got.shape)))].float().cpu().numpy()
    return got.get().reshape(-1)[places].astype("f8")


def _product(draw, host, torch):
    on_gpu = [gpuarray.to_gpu(x) for x in host]
    asked = "tf32" if draw.dtype == "tf32" else None
    tensors = [torch.as_tensor(x, device="cuda") for x in on_gpu] if torch else []
    for arrays in (host, on_gpu, tensors) if draw.transposed else ():
        if arrays:
            arrays[1] = arrays[1].T
    runs = {"ours": lambda: ops.matmul(*on_gpu, dtype=asked)}

    def by_torch():
        torch.backends.cuda.matmul.allow_tf32 = asked == "tf32"
        return torch.matmul(*tensors)

    if torch:
        runs["PyTorch"] = by_torch

    def wanted(who, got):
        places = _places(draw.m * draw.n)
        rows, columns = np.divmod(places, draw.n)
        a, b = host[0][rows].astype("f8"), host[1][:, columns].astype("f8").T
        want, size = (a * b).sum(1), np.abs(a * b).sum(1)
        count = max(draw.k, checks.tensor_roundings(draw.k))
        dtype = "float16" if draw.dtype == "float16" else "float32"
        within = checks.dot_tolerance(want, size, count, dtype, "float32")
        if asked:  # operands are cut, or rounded, to 10 bits of fraction
            within = within + 2.0**-9 * size
        return _taken(got, places), want, within

    return runs, wanted


def _places(count):
    """Places of a flat array, the last one among them."""
    random = np.random.default_rng(count)
    return np.unique(np.append(random.integers(0, count, OUTPUTS), count - 1))


def _convolution(draw, host, torch):
    last = draw.layout == "NHWC"
    lying = [np.ascontiguousarray(np.moveaxis(a, 1, -1)) for a in host] if last else host
    on_gpu = [gpuarray.to_gpu(a) for a in lying]
    told = {"layout": draw.layout} if last else {}
    if draw.groups > 1:
        told["groups"] = draw.groups
    runs = {"ours": _call(draw, ops, ops, on_gpu, told)}
    if torch:
        tensors = [torch.as_tensor(a, device="cuda") for a in on_gpu]
        if last:  # to PyTorch, NCHW with other strides
            tensors = [t.permute(0, 3, 1, 2) for t in tensors]
        of_torch = torch.nn.functional, torch.nn.grad
        told = {"groups": draw.groups} if draw.groups > 1 else {}
        runs["PyTorch"] = _call(draw, *of_torch, tensors, told)
    side = places(draw)  # of the window, down and across

    def wanted(who, got):
        if last and not hasattr(got, "cpu"):
            got = got.transpose((0, 3, 1, 2))
            got = gpuarray.to_gpu(np.ascontiguousarray(got.get()))
        shape = tuple(got.shape)
        found = _places(prod(shape))
        terms = [_terms(draw, side, host, np.unravel_index(n, shape)) for n in found]
        want, size = (np.array([f(t).sum() for t in terms]) for f in (np.array, np.abs))
        count = max(t.size for t in terms)
        if draw.dtype == "float16":
            count = max(count, checks.tensor_roundings(count))
        within = checks.dot_tolerance(want, size, count, draw.dtype, "float32")
        if who != "ours":  # a transform, such as Winograd's, has other errors
            within = within * 8 + 2.0**-11 * size
        return _taken(got, found), want, within

    return runs, wanted


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


def _attention(draw, host, torch):
    on_gpu = [gpuarray.to_gpu(x) for x in host]
    runs = {"ours": lambda: ops.attention(*on_gpu, causal=draw.causal)}
    if torch:
        tensors = [torch.as_tensor(x, device="cuda") for x in on_gpu]
        for who, back_end in BACK_ENDS.items():
            run = partial(_by_torch, torch, back_end, tensors, draw)
            try:
                run()
            except RuntimeError:  # a back end that does not take such a shape
                continue
            runs[who] = run

    def wanted(who, got):
        rows = min(CHECKED_ROWS, draw.queries)
        q, k, v = (x[-1, -1:] for x in host)
        seen = np.tri(rows, draw.keys, draw.keys - rows, bool)
        bias = np.where(seen, 0, -np.inf) if draw.causal else None
        want, _, within, _ = checks.attention(q[:, -rows:], k, v, None, bias, "float16")
        within += checks.roundoff("float16") * (np.abs(want) + within)
        got = got.cpu().numpy() if hasattr(got, "cpu") else got.get()
        return got[-1, -1:, -rows:].astype("f8"), want, within

    return runs, wanted


def _by_torch(torch, back_end, tensors, draw):
    attend, told = torch.nn.attention, {"enable_gqa": True} if draw.shared > 1 else {}
    with attend.sdpa_kernel(getattr(attend.SDPBackend, back_end)):
        return torch.nn.functional.scaled_dot_product_attention(
            *tensors, is_causal=draw.causal, **told
        )


def report(rows):
    """Lines of a table: times in the best library's, for each kind of draw, and its worst."""
    found: dict = {}
    for row in rows:
        found.setdefault(row["case"], {})[row["contender"]] = row
    yield "| kind | cases | geometric mean | worst | error, of its bound |"
    yield "|---|---|---|---|---|"
    for kind in KINDS:
        mine = {case: times for case, times in found.items() if case.startswith(f"{kind}: ")}
        ratios = {case.partition(": ")[2]: _ratio(times) for case, times in mine.items()}
        ratios = {case: ratio for case, ratio in ratios.items() if ratio}
        if ratios:
            worst = sorted(ratios, key=lambda case: -ratios[case])[:3]
            mean = np.exp(np.log(list(ratios.values())).mean())
            listed = ", ".join(f"{ratios[case]:.2f} ({case})" for case in worst)
            error = max(times["ours"]["error_share"] for times in mine.values())
            yield f"| {kind} | {len(ratios)} | {mean:.2f} | {listed} | {error:.2f} |"


def _ratio(times):
    """Ours in the best of the others; None: there is no other."""
    others = [row["median_us"] for who, row in times.items() if who != "ours"]
    return times["ours"]["median_us"] / min(others) if others else None
