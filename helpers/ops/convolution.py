"""2D convolution and its gradients, by the kernels of cuda_src/convolution: implicit GEMM, with
the columns that im2col would produce as one matrix, of each group of channels."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from math import gcd, prod

import numpy as np
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray

from .. import windows
from . import channels_last, depthwise, product, tensor, tensor_windows, winograd
from .arrays import check, is_contiguous, signature
from .elementwise import FLOATS, contiguous
from .launch import Form, Kept, KernelCall, address, ceil_divide, context, cuda, workspace
from .product import Matrices, Parts, Tiling, copy_us, most_packed, pack_of
from .reduce import WIDE
from .tuning import Other, caches, quickest, sum_us
from .windows import NARROW, col2im

__all__ = ["conv2d", "conv2d_input", "conv2d_weight"]

MOST_COLUMN_BYTES = 1 << 25  # at a time, so that a cache may hold them; a channel may need more
SHARES = 1.2  # times as long as estimated: the taps of the weight are gathered, too
STORED_US = {4: 2.6e-6, 1: 5.5e-6}  # of an element of the result, by elements stored at once
LAYOUTS = "NCHW", "NHWC"
IN_GROUPS = tensor_windows.forward, tensor_windows.by_input, tensor_windows.by_weight

prepared = Kept()
caches.append(prepared)


def conv2d(
    x, weight, bias=None, stride=1, padding=0, dilation=1, stream=None, layout="NCHW", groups=1
):
    """Convolve x[N, C, H, W], or [C, H, W], with weight[C_out, C, kernel_h, kernel_w] and add
    bias[C_out]; return [N, C_out, H_out, W_out]. Computes the same as PyTorch's conv2d.

    padding may also be "valid" (none) or "same" (keeps the size; requires stride 1).

    With groups, pass weight[C_out, C / groups, kernel_h, kernel_w]: each group of channels of x
    makes a group of channels of the result. With as many groups as channels (depthwise), small
    windows have a kernel of their own. Other groups of float16 use tensor cores if that saves time.

    float32 windows of up to 7 x 7 pixels with stride 1, and their gradients, may be computed by
    Winograd's method, as in cuDNN. It takes fewer multiplications, but errors are four to ten
    times as large as plain sums', or larger in gradients by the weight, and a NaN or an infinity
    spoils all results of its tile.

    float16 convolutions with few channels of the result, or in groups of few channels, may multiply
    elements outside of a window by zeros: a NaN or an infinity also spoils results up to three
    pixels away, or of other groups.

    With layout "NHWC", pass x[N, H, W, C] or [H, W, C] and weight[C_out, kernel_h, kernel_w, C];
    the result's channels come last, too. float16 arrays are then used in place if the GPU has
    warpgroups; arrays that are read are copied if 8 does not divide their channels.

    The layout that does not suit the type costs transpositions, each of which reads and writes
    an array once: in NCHW, float16 transposes x and the weight; in NHWC, other types transpose
    x, the weight and the result. For 128 x 256 x 28 x 28 float16 elements, an H100 took 234 µs
    in NCHW and 180 µs in NHWC."""
    told = repr((stride, padding, dilation, layout, groups))
    key = "conv2d", told, signature(x), signature(weight), signature(bias), context()
    call = prepared.get(key)
    if call is None:
        _check("conv2d", x=x, weight=weight, **({} if bias is None else {"bias": bias}))
        if x.ndim == 3:
            shape = 1, *x.shape
            images = contiguous(x, stream).reshape(shape) if x.size else GPUArray(shape, x.dtype)
            y = conv2d(images, weight, bias, stride, padding, dilation, stream, layout, groups)
            return y.reshape(y.shape[1:])
        given = x, weight, bias
        shapes = _first(x.shape, layout), _first(weight.shape, layout)
        sizes = Sizes.of("conv2d", *shapes, groups, _sides, stride, padding, dilation)
        if bias is not None and bias.shape != weight.shape[:1]:
            raise ValueError(
                f"conv2d: bias has shape {bias.shape}; weight {weight.shape} has {weight.shape[0]}"
                " channels of the result"
            )
        whole = [a if a is None else contiguous(a, stream) for a in given]
        if any(a is not b for a, b in zip(given, whole)):
            x, weight, bias = whole
            return conv2d(x, weight, bias, stride, padding, dilation, stream, layout, groups)
        if layout == "NHWC":
            points = channels_last.forward_of_points
            call = bias is None and _by_tensor_cores(points, x, weight, sizes)
            call = call or _as_they_lie(channels_last.forward, x, weight, sizes)
            call = call or _in_nchw(conv2d, (stride, padding, dilation), groups)
        else:
            points = tensor_windows.forward_of_points
            call = bias is None and _by_tensor_cores(points, x, weight, sizes)
            call = call or _by_tensor_cores(tensor_windows.forward, x, weight, sizes)
            call = call or depthwise.forward(x, weight, sizes)
            call = call or _forward(x, weight, sizes, bias is None)
        prepared[key] = call
    return call(x, weight, bias, workspace(stream), stream)


def conv2d_input(
    input_size,
    weight,
    grad_output,
    stride=1,
    padding=0,
    dilation=1,
    stream=None,
    layout="NCHW",
    groups=1,
):
    """Return the gradient of conv2d by its input, which has this size, from the gradient by its
    result. Computes the same as torch.nn.grad.conv2d_input; layout and groups: as in conv2d, also
    for the size."""
    told = repr((tuple(input_size), stride, padding, dilation, layout, groups))
    key = "conv2d_input", told, signature(weight), signature(grad_output), context()
    call = prepared.get(key)
    if call is None:
        _check("conv2d_input", weight=weight, grad_output=grad_output)
        shapes = _first(tuple(input_size), layout), _first(weight.shape, layout)
        window = stride, padding, dilation
        sizes = Sizes.of("conv2d_input", *shapes, groups, windows.sides, *window)
        sizes.check_gradient("conv2d_input", grad_output, layout)
        if not is_contiguous(weight) or not is_contiguous(grad_output):
            whole = contiguous(weight, stream), contiguous(grad_output, stream)
            return conv2d_input(input_size, *whole, *window, stream, layout, groups)
        if layout == "NHWC":
            call = _as_they_lie(channels_last.by_input, weight, grad_output, sizes)
            call = call or _in_nchw(partial(conv2d_input, shapes[0]), window, groups)
        else:
            call = _by_tensor_cores(tensor_windows.by_input, weight, grad_output, sizes)
            call = call or depthwise.by_input(weight, grad_output, sizes)
            call = call or _input(weight, grad_output, sizes)
        prepared[key] = call
    return call(weight, grad_output, workspace(stream), stream)


def conv2d_weight(
    x,
    weight_size,
    grad_output,
    stride=1,
    padding=0,
    dilation=1,
    stream=None,
    layout="NCHW",
    groups=1,
):
    """Return the gradient of conv2d by its weight, which has this size, from x and the gradient
    by its result. Computes the same as torch.nn.grad.conv2d_weight; layout and groups: as in
    conv2d, also for the size."""
    told = repr((tuple(weight_size), stride, padding, dilation, layout, groups))
    key = "conv2d_weight", told, signature(x), signature(grad_output), context()
    call = prepared.get(key)
    if call is None:
        _check("conv2d_weight", x=x, grad_output=grad_output)
        shapes = _first(x.shape, layout), _first(tuple(weight_size), layout)
        window = stride, padding, dilation
        sizes = Sizes.of("conv2d_weight", *shapes, groups, windows.sides, *window)
        sizes.check_gradient("conv2d_weight", grad_output, layout)
        if not is_contiguous(x) or not is_contiguous(grad_output):
            whole = contiguous(x, stream), weight_size, contiguous(grad_output, stream)
            return conv2d_weight(*whole, *window, stream, layout, groups)
        if layout == "NHWC":
            call = _as_they_lie(channels_last.by_weight, x, grad_output, sizes)
            call = call or _in_nchw(
                lambda x, dy, *told, **more: conv2d_weight(x, shapes[1], dy, *told, **more),
                window,
                groups,
            )
        else:
            call = _by_tensor_cores(tensor_windows.by_weight, x, grad_output, sizes)
            call = call or depthwise.by_weight(x, grad_output, sizes)
            call = call or _weight(x, grad_output, sizes)
        prepared[key] = call
    return call(x, grad_output, workspace(stream), stream)


def _first(shape, layout):
    """Convert a shape in this layout to NCHW."""
    if layout not in LAYOUTS:
        raise ValueError(f"layout {layout!r}: expected one of {', '.join(LAYOUTS)}")
    return (shape[0], shape[3], *shape[1:3]) if layout == "NHWC" and len(shape) == 4 else shape


def _lain(shape, layout):
    """Convert an NCHW shape to this layout."""
    return (shape[0], *shape[2:], shape[1]) if layout == "NHWC" else shape


def _turned(x):
    """View an NHWC array as NCHW."""
    return x.transpose((0, 3, 1, 2)) if x.size else GPUArray(_first(x.shape, "NHWC"), x.dtype)


def _turned_back(x, stream):
    """Copy an NCHW array to NHWC."""
    if not x.size:
        return GPUArray(_lain(x.shape, "NHWC"), x.dtype)
    return contiguous(x.transpose((0, 2, 3, 1)), stream)


def _in_nchw(operation, window, groups):
    """Prepare an operation of NHWC arrays, and perhaps a bias, on copies in NCHW."""

    def call(*told):
        *arrays, room, stream = told
        turned = (_turned(x) if x is not None and x.ndim == 4 else x for x in arrays)
        return _turned_back(operation(*turned, *window, stream, groups=groups), stream)

    return call


def _as_they_lie(way, a, b, sizes):
    """Prepare an operation by one of channels_last's kernels; None: not supported, or the arrays
    are not aligned for box copies."""
    begin = not any(address(x) % tensor.CHUNK for x in (a, b))
    return _by_tensor_cores(way, a, b, sizes) if begin else None


def _check(operation, **arrays):
    """Check that all arrays have one type."""
    types = {name: check(x, FLOATS, f"{operation}: {name}").name for name, x in arrays.items()}
    if len(set(types.values())) > 1:
        told = ", ".join(f"{name} is {dtype}" for name, dtype in types.items())
        raise TypeError(f"{operation}: {told}: all must have one type")


def _sides(size, kernel, stride, padding, dilation):
    """Return the height and the width of a convolution's window."""
    if padding != "same":
        return windows.sides(size, kernel, stride, 0 if padding == "valid" else padding, dilation)
    if windows.pair(stride, "stride", 1) != (1, 1):
        raise ValueError(f"padding 'same' keeps the size only where stride is 1, not {stride!r}")
    told = [windows.pair(size, "the image's size", 1), windows.pair(kernel, "kernel", 1)]
    lengths = zip(*told, windows.pair(dilation, "dilation", 1))
    sides = [windows.Side(*length) for length in lengths]
    return [replace(s, pad=(s.extent - 1) // 2, more=(s.extent - 1) % 2) for s in sides]


def _check_groups(operation, x, weight, groups):
    """Raise unless these shapes have channels for so many groups."""
    is_whole = isinstance(groups, (int, np.integer)) and not isinstance(groups, bool)
    if not is_whole or groups < 1:
        error = ValueError if is_whole else TypeError
        raise error(f"{operation}: groups {groups!r}: pass a whole number of 1 or more")
    for whose, count in ("x", x[1]), ("the result", weight[0]):
        if count % groups:
            raise ValueError(
                f"{operation}: {groups} groups do not divide the {count} channels of {whose}"
            )
    if x[1] != weight[1] * groups:
        each = f", in {groups} groups of {x[1] // groups}" if groups > 1 else ""
        raise ValueError(
            f"{operation}: x {x} has {x[1]} channels{each}, weight {weight} {weight[1]}"
        )


@dataclass(frozen=True)
class Sizes:
    """All sizes of a convolution."""

    images: int
    channels: int
    channels_out: int
    h: windows.Side
    w: windows.Side
    groups: int = 1

    @classmethod
    def of(cls, operation, x, weight, groups, sides, *window):
        """Return the sizes for arrays of these shapes; sides(image, kernel, *window): height and
        width."""
        for name, shape in ("x", x), ("weight", weight):
            if len(shape) != 4:
                raise ValueError(f"{operation}: {name} has shape {shape}; expected 4 dimensions")
        if not weight[0]:
            raise ValueError(f"{operation}: weight {weight} has no channels of the result")
        _check_groups(operation, x, weight, groups)
        h, w = sides(x[2:], weight[2:], *window)
        return cls(x[0], x[1], weight[0], h, w, int(groups))

    @property
    def image(self):
        return self.channels, self.h.image, self.w.image

    @property
    def kernel(self):
        return self.channels // self.groups, self.h.kernel, self.w.kernel

    @property
    def in_group(self):
        """Return the channels of a group of the input, and of the result."""
        return self.channels // self.groups, self.channels_out // self.groups

    @property
    def result(self):
        return self.images, self.channels_out, self.h.places, self.w.places

    @property
    def places(self):
        """Return the number of window positions in an image."""
        return self.h.places * self.w.places

    @property
    def index(self):
        """Return the integer type for counting elements and columns."""
        weight = self.channels_out * prod(self.kernel)
        counts = self.images * prod(self.image), prod(self.result), weight
        largest = max(*counts, self.images * self.places)
        return np.dtype(np.int32 if largest < NARROW else np.int64)

    @property
    def counts(self):
        """Return the kernels' first arguments."""
        return list(map(self.index.type, (self.images, self.groups, *self.in_group)))

    def window(self, channels, h, w):
        """Return the kernels' arguments for a window: its struct, dividers by its places, and the
        list of its elements, which is on the GPU."""
        by = windows.dividers(w.places, h.places, 1, 1, self.index)
        listed = gpuarray.to_gpu(windows.elements(channels, h, w, self.index))
        return windows.argument(h, w), by, listed

    def check_gradient(self, operation, grad_output, layout):
        """Raise unless a gradient has the result's shape."""
        result = _lain(self.result, layout)
        if grad_output.shape != result:
            raise ValueError(
                f"{operation}: grad_output has shape {grad_output.shape}, the result {result}"
            )


def _by_tensor_cores(way, a, b, sizes):
    """Prepare an operation by tensor cores, with one of tensor_windows; None: not supported."""
    kind = a.dtype == np.float16 and tensor.KINDS["float16"]
    if not kind or not tensor.are_here(cuda.Context.get_device()):
        return None
    if sizes.groups > 1 and (way not in IN_GROUPS or depthwise.fits(sizes)):
        return None
    return way(a, b, sizes, kind)


def _problem(what, sizes, dtype, packs=()):
    """Return all that the choice of a kernel depends on."""
    h, w = sizes.h, sizes.w
    counts = sizes.images, sizes.groups, *sizes.in_group
    sides = [(s.image, s.places, s.kernel, s.dilation, s.stride, s.pad) for s in (h, w)]
    return what, dtype, *counts, *sides[0], *sides[1], *packs


class _Launch(KernelCall):
    """The KernelCall of an implicit product, so tiled, of each group. Of an array among the
    arguments it passes the address, and keeps it."""

    def __init__(self, file, sizes, tiling, parts, wide, choices, *arguments):
        choices = tiling.choices(wide) | choices | {"Acc": wide, "Out": parts.dtype}
        choices["Index"] = sizes.index
        grid = tiling.tiles * sizes.groups, tiling.splits
        self.listed = [a for a in arguments if isinstance(a, GPUArray)]
        told = (np.uint64(address(a)) if isinstance(a, GPUArray) else a for a in arguments)
        super().__init__(file, choices, grid, (256,), *sizes.counts, *told)


def _of_points(way, a, b, sizes, matrices, by_rows, repeated=0):
    """Return the ways to compute it as a product of these sizes for each image and group, if it is
    one. by_rows: whether lines of its operands are rows; repeated: bytes of the weight, of which
    each image gets a copy if there are groups."""
    if not tensor_windows.is_product(sizes, None):
        return []
    us = product.product_us(matrices, sizes.images * sizes.groups, None, a.dtype, by_rows)
    if sizes.groups > 1 and sizes.images > 1 and repeated:
        us += copy_us(sizes.images * repeated)
    return [Other("a product per image", us, partial(way, a, b, sizes, None))]


def _forward(x, weight, sizes, plain):
    """Prepare a convolution: call(x, weight, bias, workspace, stream) -> array."""
    form, wide = Form(sizes.result, x.dtype), WIDE[x.dtype.name]
    count, depth = prod(sizes.result), prod(sizes.kernel)
    if not count:
        return lambda x, weight, bias, room, stream: form.new(x, room)
    choices = {"T": x.dtype, "Y_PACK": pack_of(4, 1, 0, sizes.places)}
    choices["W_PACK"] = pack_of(most_packed(wide), x.dtype.itemsize, address(weight), depth)
    window = sizes.window(sizes.in_group[0], sizes.h, sizes.w)

    def prepare(tiling):
        parts = Parts(1, tiling.splits, count, form, wide)
        told = sizes, tiling, parts, wide, choices
        return parts.made_by(_Launch("convolution/forward.cu", *told, *window))

    shape = sizes.in_group[1], sizes.images * sizes.places, depth
    stored_us = STORED_US[choices["Y_PACK"]] * count
    ways = [replace(way, us=way.us + stored_us)
            for way in Tiling.ways(*shape, wide, sizes.groups, gathered=True)]  # fmt: skip
    if plain:
        matrices = sizes.in_group[1], sizes.places, sizes.in_group[0]
        points = tensor_windows.forward_of_points
        ways += _of_points(points, x, weight, sizes, matrices, (True, True), weight.nbytes)
    ways += winograd.forward(sizes) if x.dtype == np.float32 else []
    packs, what = (choices["W_PACK"], choices["Y_PACK"]), "conv2d" if plain else "conv2d and bias"
    return quickest(_problem(what, sizes, x.dtype, packs), ways, prepare)


def _weight(x, grad_output, sizes):
    """Prepare the gradient by the weight: call(x, grad_output, workspace, stream) -> array."""
    shape = sizes.channels_out, *sizes.kernel
    form, wide = Form(shape, x.dtype), WIDE[x.dtype.name]
    if not prod(shape):
        return lambda x, grad_output, room, stream: form.new(x, room)
    depth, size = prod(sizes.kernel), x.dtype.itemsize
    choices = {"T": x.dtype, "W_PACK": pack_of(4, 1, 0, depth)}
    choices["DY_PACK"] = pack_of(most_packed(wide), size, address(grad_output), sizes.places)
    window = sizes.window(sizes.in_group[0], sizes.h, sizes.w)

    def prepare(tiling):
        parts = Parts(1, tiling.splits, prod(shape), form, wide)
        told = sizes, tiling, parts, wide, choices
        return parts.made_by(_Launch("convolution/weight.cu", *told, *window))

    of_group = sizes.in_group[1], depth, sizes.images * sizes.places
    ways = Tiling.ways(*of_group, wide, sizes.groups, gathered=True)
    matrices = sizes.in_group[1], sizes.in_group[0], sizes.places
    points = tensor_windows.weight_of_points
    points = _of_points(points, x, grad_output, sizes, matrices, (True, False))
    ways += [replace(way, us=way.us + sum_us(prod(shape), sizes.images)) for way in points]
    ways += winograd.by_weight(sizes) if x.dtype == np.float32 else []
    packs = choices["W_PACK"], choices["DY_PACK"]
    return quickest(_problem("conv2d_weight", sizes, x.dtype, packs), ways, prepare)


def _input(weight, grad_output, sizes):
    """Prepare the gradient by the input: call(weight, grad_output, workspace, stream) -> array."""
    shape, dtype = (sizes.images, *sizes.image), weight.dtype
    form, wide = Form(shape, dtype), WIDE[dtype.name]
    if not prod(shape):
        return lambda weight, grad_output, room, stream: form.new(weight, room)
    given = weight, grad_output, sizes
    shares = _shares_tiled(sizes, wide)
    us = SHARES * sum(tiling.us for *_, tiling in shares)
    us += STORED_US[_packed_pixels(sizes)] * _seen(sizes, shares)
    if _seen(sizes, shares) < prod(shape):
        us += copy_us(prod(shape) * dtype.itemsize / 2)
    ways = [Other("in shares", us, partial(_input_in_shares, weight, sizes, shares))]
    if prod(sizes.result):
        matrices = sizes.in_group[0], sizes.places, sizes.in_group[1]
        points = tensor_windows.input_of_points
        ways += _of_points(points, *given, matrices, (False, True), weight.nbytes)
    if sizes.groups == 1 and prod(sizes.result):
        us = _columns_us(sizes, np.dtype(wide))
        ways.append(Other("by columns", us, partial(_input_by_columns, *given)))
    ways += winograd.by_input(sizes) if dtype == np.float32 else []
    return quickest(_problem("conv2d_input", sizes, dtype), ways, None)


def _shares_tiled(sizes, wide):
    """Return (down, across, Tiling) of each share: pixels a stride apart, which the same taps see,
    are a convolution of the gradient by the result; down and across are as from _shares. Pixels
    that no tap sees are left out."""
    channels, channels_out = sizes.in_group
    found = []
    for down in _shares(sizes.h):
        for across in _shares(sizes.w):
            (h, *_), (w, *_) = down, across
            if not h.kernel * w.kernel:
                continue
            shape = sizes.images * h.places * w.places, channels_out * h.kernel * w.kernel
            tiling = Tiling.of(channels, *shape, wide, sizes.groups, gathered=True)
            found.append((down, across, tiling))
    return found


def _seen(sizes, shares):
    """Return how many elements of the gradient these shares make; others are zeros."""
    pixels = sum(h.places * w.places for (h, *_), (w, *_), _ in shares)
    return sizes.images * sizes.channels * pixels


def _packed_pixels(sizes):
    """Return how many pixels are stored at once."""
    is_whole = all(min(side.stride, side.image) == 1 for side in (sizes.h, sizes.w))
    return pack_of(4, 1, 0, sizes.h.image * sizes.w.image if is_whole else 1)


def _input_in_shares(weight, sizes, shares):
    """Prepare the gradient by the input, a launch for each share."""
    shape, dtype = (sizes.images, *sizes.image), weight.dtype
    form, wide = Form(shape, dtype), WIDE[dtype.name]
    # the same for all: they share the parts
    splits = max((tiling.splits for *_, tiling in shares), default=1)
    parts = Parts(1, splits, prod(shape), form, wide)
    choices = {"T": dtype, "X_PACK": _packed_pixels(sizes)}
    launches, is_whole = [], _seen(sizes, shares) == prod(shape)
    channels, channels_out = sizes.in_group
    for (h, *of_h), (w, *of_w), tiling in shares:
        (taps_h, pixels_h), (taps_w, pixels_w) = of_h, of_w
        places = _places_of_taps(channels, channels_out, sizes, taps_h, taps_w)
        pixels = np.void(np.array([pixels_h, pixels_w], np.int32).tobytes())
        *window, listed = sizes.window(channels_out, h, w)
        size = sizes.index.type(sizes.h.kernel * sizes.w.kernel)
        told = *window, pixels, size, listed, places
        tiled = replace(tiling, splits=splits), parts, wide, choices
        launches.append(_Launch("convolution/input.cu", sizes, *tiled, *told))

    def call(weight, grad_output, room, stream):
        made = parts.new(weight, room)
        if not is_whole:
            cuda.memset_d8_async(address(made), 0, made.nbytes, stream)
        for launch in launches:
            launch(stream, (address(weight), address(grad_output), address(made)))
        return parts.finish(made, room, stream)

    return call


def _places_of_taps(channels, channels_out, sizes, *taps):
    """Return where in a weight the taps of a share are, down and across, for each channel of the
    result: of the first channel, as a list on the GPU."""
    out, h, w = np.meshgrid(np.arange(channels_out), *taps, indexing="ij")
    places = (out * channels * sizes.h.kernel + h) * sizes.w.kernel + w
    return gpuarray.to_gpu(np.append(places, np.zeros(windows.MORE)).astype(sizes.index))


@dataclass(frozen=True)
class Places:
    """A Side of a convolution, of what it convolves: how many places it has is given."""

    image: int
    places: int
    kernel: int
    dilation: int
    stride: int
    pad: int


def _shares(side):
    """Yield, for each offset of pixels a stride apart, the window over the gradient by the result
    that makes them, which taps it has, and the struct Strided of convolution/input.cu."""
    step = side.stride // gcd(side.stride, side.dilation)  # from one of its taps to the next
    for begin in range(min(side.stride, side.image)):
        ends = [begin + side.pad - k * side.dilation for k in range(side.kernel)]
        taps = [k for k, end in enumerate(ends) if end % side.stride == 0]
        first = taps[0] if taps else 0
        pad = -(ends[first] // side.stride)
        places = ceil_divide(side.image - begin, side.stride)
        apart = -(step * side.dilation // side.stride)
        window = Places(side.places, places, len(taps), apart, 1, pad)
        yield window, np.array(taps, int), (begin, side.stride, side.image)


def _input_by_columns(weight, grad_output, sizes):
    """Prepare the gradient by the input: call(weight, grad_output, workspace, stream) -> array.

    The transposed weight times the gradient is the gradient by the columns, and col2im turns it
    into the gradient by the images: for several images at a time, or for some channels of one."""
    shape, dtype = (sizes.images, *sizes.image), weight.dtype
    form, wide = Form(shape, dtype), np.dtype(WIDE[dtype.name])
    parts = Parts(1, 1, prod(shape), form, wide.name, narrow=False)
    h, w = sizes.h, sizes.w
    window = (h.kernel, w.kernel), (h.stride, w.stride), (h.pad, w.pad), (h.dilation, w.dilation)
    steps = [
        GradientShare.of(part, weight, grad_output, sizes, wide) for part in _portions(sizes, wide)
    ]
    most = max(prod(step.columns) for step in steps) * wide.itemsize

    def call(weight, grad_output, room, stream):
        made = parts.new(weight, room)
        place, _ = room.scratch(most, 0)
        addresses = address(weight), address(grad_output), place
        for step in steps:
            step.launch(stream, tuple(map(sum, zip(addresses, step.offsets))))
            columns = GPUArray(step.columns, wide, gpudata=place)
            images = GPUArray(step.images, wide, gpudata=address(made) + step.images_offset)
            col2im(columns, (h.image, w.image), *window, out=images, stream=stream)
        return parts.finish(made, room, stream)

    return call


def _portions(sizes, wide):
    """Return (image, images, channel, channels) of each step: as many as fit with their columns."""
    channel_bytes = sizes.h.kernel * sizes.w.kernel * sizes.places * wide.itemsize
    several = max(1, MOST_COLUMN_BYTES // (channel_bytes * sizes.channels))
    channels = min(sizes.channels, max(1, MOST_COLUMN_BYTES // channel_bytes))
    several = min(several, product.MOST_BATCHES)
    for image in range(0, sizes.images, several):
        for channel in range(0, sizes.channels, channels):
            yield (
                image, min(several, sizes.images - image),
                channel, min(channels, sizes.channels - channel),
            )  # fmt: skip


def _columns_us(sizes, wide):
    """Return the estimated time of _input_by_columns."""
    taps, us = sizes.h.kernel * sizes.w.kernel, 0
    steps = Counter((images, channels) for _, images, _, channels in _portions(sizes, wide))
    for (images, channels), count in steps.items():
        shape = channels * taps, sizes.places, sizes.channels_out
        packed = not any(n % most_packed(wide) for n in shape[:2])
        ways = Tiling.ways(*shape, wide, images, packed=packed)
        whole = (way.us for way in ways if way.splits == 1)
        us += count * (min(whole) + copy_us(images * prod(shape[:2]) * wide.itemsize))
    return us


@dataclass(frozen=True)
class GradientShare:
    """The gradient by some images, or by some channels of one image."""

    launch: KernelCall  # the product that computes the columns
    offsets: tuple  # in bytes: of the weight, the gradient by the result, the columns
    columns: tuple  # their shape
    images: tuple  # the shape of the images that col2im sums them into
    images_offset: int

    @classmethod
    def of(cls, part, weight, grad_output, sizes, wide):
        """Return the GradientShare for one of _portions."""
        image, images, channel, channels = part
        taps, size = sizes.h.kernel * sizes.w.kernel, weight.dtype.itemsize
        columns = images, channels * taps, sizes.places
        shape = columns[1], sizes.places, sizes.channels_out
        offsets = channel * taps * size, image * sizes.channels_out * sizes.places * size, 0
        places = address(weight) + offsets[0], address(grad_output) + offsets[1]
        of_weight = Matrices(0, sizes.channels * taps, by_rows=False)
        of_gradient = Matrices(sizes.channels_out * sizes.places, sizes.places, by_rows=True)
        types, ways = (weight.dtype, wide.name, wide), (of_weight, of_gradient)
        packs = product.packs(shape, types, ways, places)
        whole = [way for way in Tiling.ways(*shape, wide, images) if way.splits == 1]
        tiling = min(whole, key=lambda way: way.us)
        launch = product.launch(tiling, shape, images, types, ways, packs)
        pixels = sizes.h.image * sizes.w.image
        offset = (image * sizes.channels + channel) * pixels * wide.itemsize
        return cls(launch, offsets, columns, (images, channels, *sizes.image[1:]), offset)
