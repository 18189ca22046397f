"""float16 convolutions and their gradients in NHWC layout by warpgroups, without transposition.
A window of one pixel is a product of matrices.

If there are few channels, or CHUNK does not divide their number, images are copied with zero
padding after the channels and around the image. Then all pixels under a row of the window are
contiguous, and are treated as the channels of one pixel; with a vertical stride, so are the
pixels of that many rows. Gradients by the result are padded after the channels only."""

from functools import cache, partial
from math import gcd, prod

import numpy as np

from .. import windows
from . import hopper
from .elementwise import COPY, run
from .launch import Form, KernelCall, address, ceil_divide
from .product import Parts, copy_us, matmul
from .tensor_windows import (
    CHUNK,
    DEEP,
    MOST_PACK,
    Layer,
    Stepwise,
    Way,
    gradient,
    is_pixel,
    padded,
    taps_of,
)
from .tuning import quickest

__all__ = ["by_input", "by_weight", "forward", "forward_of_points"]

BLOCK = 256
FULLER = 3  # times as few steps, for a copy of the images to pay


def forward(x, weight, sizes, kind):
    """Prepare a convolution: return call(x, weight, bias, workspace, stream) -> array; None if
    these kernels don't support it."""
    layer, widened = _given(sizes, sizes.h.stride, True)
    if layer is None:
        return None
    shape = sizes.images, sizes.h.places, sizes.w.places, sizes.channels_out
    if widened is _as_they_are and (best := _quickest(layer, kind, layer)) is not layer:
        strides = prod(sizes.kernel), 1, sizes.channels
        return _of_copies(best, shape, kind, strides)
    launch = cache(partial(_convolution, layer, shape, kind))

    def call(x, weight, bias, room, stream):
        return launch()(*widened([x, weight], room, stream), bias, room, stream)

    return call


def forward_of_points(x, weight, sizes, kind):
    """Prepare a convolution with a window of one pixel, without bias: call(x, weight, bias,
    workspace, stream) -> array; None: not such a convolution."""
    shape = sizes.images, sizes.h.places, sizes.w.places, sizes.channels_out
    if not (is_pixel(sizes) and prod(shape) and sizes.channels):
        return None
    return lambda x, weight, bias, room, stream: matmul(
        _lines(x), _lines(weight).T, stream
    ).reshape(shape)


def by_input(weight, grad_output, sizes, kind):
    """Prepare the gradient by the input: call(weight, grad_output, workspace, stream); None: not
    supported."""
    shape = sizes.images, sizes.h.image, sizes.w.image, sizes.channels
    if is_pixel(sizes) and prod(shape):
        return lambda weight, dy, room, stream: matmul(_lines(dy), _lines(weight), stream).reshape(
            shape
        )
    ways = Way.backward(sizes.h), Way.backward(sizes.w)
    layer = Layer(sizes.images, sizes.channels_out, sizes.channels, *ways)
    if not (layer.fits and layer.fits_boxes):
        return None
    strides = 1, sizes.h.kernel * sizes.w.kernel * sizes.channels, sizes.channels
    call = _of_copies(_quickest(layer, kind), shape, kind, strides)
    return lambda weight, dy, room, stream: call(dy, weight, None, room, stream)


def by_weight(x, grad_output, sizes, kind):
    """Prepare the gradient by the weight: call(x, grad_output, workspace, stream); None: not
    supported."""
    if is_pixel(sizes) and sizes.images and sizes.channels:
        shape = sizes.channels_out, 1, 1, sizes.channels
        return lambda x, dy, room, stream: matmul(_lines(dy).T, _lines(x), stream).reshape(shape)
    layer, widened = _given(sizes)
    if layer is None:
        return None
    by_layer, even = gradient(layer, kind), _of_even_channels(sizes)
    shape = sizes.channels_out, sizes.h.kernel, sizes.w.kernel, padded(sizes.channels)

    def call(x, grad_output, room, stream):
        (of_dy,) = even([grad_output], room, stream)
        whole = by_layer(*widened([x], room, stream), of_dy, room, stream)
        whole = whole.reshape(shape)
        if shape[-1] == sizes.channels:
            return whole
        view = whole[:, :, :, : sizes.channels]
        return run(COPY, view, x.dtype.type(0), None, stream, "NCHW")

    return call


def _lines(x):
    """View an array as a matrix: its last dimension is a line."""
    return x.reshape(-1, x.shape[-1])


def _given(sizes, group=1, is_forward=False):
    """Return a convolution's Layer, and a function that turns images, and the weight if it
    is_forward, into its inputs. group: rows of an image that are copied side by side, if any are
    copied, and treated as one."""
    h, w = Way.forward(sizes.h), Way.forward(sizes.w)
    layer = Layer(sizes.images, sizes.channels, sizes.channels_out, h, w)
    widened = _as_they_are
    if _is_widened(sizes) and layer.fits:
        group = group if sizes.h.dilation == 1 else 1
        unit = CHUNK // gcd(CHUNK, group)
        stride, pad_h = ceil_divide(sizes.channels, unit) * unit, 0
        high, kernel = sizes.h.image, sizes.h.kernel
        if group > 1:
            kernel, pad_h = ceil_divide(kernel, group), sizes.h.pad
            high = sizes.h.places - 1 + kernel
            h = Way.forward(windows.Side(high, kernel))
        wide = (sizes.w.places - 1) * sizes.w.stride + sizes.w.kernel
        pixel = group * stride * 2  # bytes
        lying = high * wide * pixel, wide * pixel, sizes.w.stride * pixel, 2
        w = Way.forward(windows.Side(sizes.w.places, 1))
        channels = sizes.w.kernel * group * stride
        layer = Layer(sizes.images, channels, sizes.channels_out, h, w, lying)
        pads = pad_h, sizes.w.pad
        arrays = [(sizes.images, sizes.image, (high, wide), pads)]
        if is_forward:
            arrays.append((sizes.channels_out, sizes.kernel, (kernel, sizes.w.kernel), (0, 0)))
        widened = Widened(group, stride, *arrays)
    if layer.channels % CHUNK or not (layer.fits and layer.fits_boxes):
        return None, None
    return layer, widened


def _is_widened(sizes):
    """Whether images are copied: channels are uneven, or so few that steps would be mostly empty
    where a row of the window fills them."""
    taps, of_rows = sizes.w.kernel, ceil_divide(sizes.w.kernel * sizes.channels, DEEP)
    few = taps * ceil_divide(sizes.channels, DEEP) >= FULLER * of_rows
    return sizes.w.dilation == 1 and bool(sizes.channels % CHUNK or few)


def _as_they_are(arrays, room, stream):
    return arrays


def _of_even_channels(sizes):
    """Return a function that copies a gradient by the result, in a list, to pixels whose channels
    are a multiple of CHUNK, if they are not."""
    channels = sizes.channels_out
    if not channels % CHUNK:
        return _as_they_are
    size = sizes.h.places, sizes.w.places
    return Widened(1, padded(channels), (sizes.images, (channels, *size), size, (0, 0)))


class Widened:
    """Padded copies of one or two arrays, made by convolution/widened.cu: copy(arrays, workspace,
    stream) -> list. Each array: how many images, with these channels, height and width, the height
    and the width of the copy, and its padding down and across."""

    def __init__(self, group, stride, *arrays):
        self.forms, told, total = [], [], 0
        for images, (channels, height, width), size, pads in arrays:
            self.forms.append(Form((images, *size, group * stride), np.uint16))
            count = images * prod(size) * group * stride // CHUNK
            told.append(np.array([count, height, width, channels, *size, *pads], np.int32))
            total += count
        told += [np.zeros(8, np.int32)] * (2 - len(arrays))
        choices, grid = {"GROUP": group, "STRIDE": stride}, (ceil_divide(total, BLOCK),)
        self.launch = KernelCall("convolution/widened.cu", choices, grid, (BLOCK,), *told)

    def __call__(self, arrays, room, stream):
        made = [form.new(x, room) for form, x in zip(self.forms, arrays)]
        places = [address(x) for pair in zip(arrays, made) for x in pair]
        self.launch(stream, (*places, *[0] * (4 - len(places))))
        return made


def _ways(layer, kind):
    """Return the ways to convolve inputs in the kernel's layout."""
    sizes, told = (layer.columns, layer.rows, layer.deep), ("rows", _pack(layer, MOST_PACK))
    return [*layer.by_groups(kind, sizes, *told), *layer.stepwise(kind, *told)]


def _quickest(layer, kind, ready=None):
    """Return the quickest layer to convolve as this one does. ready: the one that takes the weight
    as it lies; it is copied for others."""
    layers = [one for one in layer.layouts if one.fits_boxes]
    return min(layers, key=lambda one: _least_us(one, kind, one is not ready))


def _least_us(layer, kind, is_copied):
    """Return the estimated time of a layer, with a copy of images that do not lie as it takes them,
    and perhaps of its weight."""
    copied = copy_us(2 * layer.rows * layer.depth) if is_copied else 0
    copied += copy_us(layer.copied) if layer.stride != layer.channels else 0
    return copied + min(way.us for way in _ways(layer, kind))


def _of_copies(layer, shape, kind, strides):
    """Prepare a layer's convolution: call(x, weight, bias, workspace, stream) -> array of this
    shape. strides: of the weight, as for taps_of."""
    images, size = _as_they_are, (layer.h.side.image, layer.w.side.image)
    if layer.stride != layer.channels:
        images = Widened(1, layer.stride, (layer.images, (layer.channels, *size), size, (0, 0)))
    taps, launch = taps_of(layer, strides, 1), _convolution(layer, shape, kind)
    return lambda x, weight, bias, room, stream: launch(
        *images([x], room, stream), taps(weight, room, stream), bias, room, stream
    )


def _convolution(layer, shape, kind):
    """Prepare a convolution of inputs in the kernel's layout: launch(images, weight, bias,
    workspace, stream) -> array of this shape."""
    return quickest(
        layer.problem("conv2d NHWC"),
        _ways(layer, kind),
        lambda tiling: _tiled(layer, shape, kind, tiling),
    )


def _pack(layer, most):
    """Return how many channels of a pixel are stored at once."""
    return next(p for p in (most, 4, 1) if not layer.channels_out % p)


def _tiled(layer, shape, kind, tiling):
    """Prepare a convolution, so tiled."""
    form = Form(shape, np.dtype(kind.array))
    parts = Parts(1, tiling.splits, prod(shape), form, kind.sum, made=kind.made)
    choices = {"STEP_H": layer.h.steps, "STEP_W": layer.w.steps}
    choices["Y_PACK"] = _pack(layer, MOST_PACK if parts.whole else 4)
    counts = layer.images, layer.stride, layer.channels_out, layer.h.size, layer.w.size
    lying = (layer.taps, layer.rows, layer.stride), (layer.stride, layer.depth)

    def maps(x, weight):
        box = 1, tiling.tile.columns, DEEP
        of_weight = hopper.map_of(weight, kind.array, *lying, box)
        return layer.pixels(x, tiling.tile.rows), of_weight

    choices["STEPWISE"] = int(stepwise := isinstance(tiling, Stepwise))
    told = *map(np.int32, counts), *layer.arguments, np.int32(tiling.splits), layer.reaches
    file = "convolution/hopper_last.cu"
    lines = (layer.columns, layer.channels_out) if layer.h.steps == layer.w.steps == 1 else None
    launch = tiling.call(
        maps, file, choices, kind, parts.c_type, *told, lines=lines, parts=tiling.splits,
        batch=layer.h.steps * layer.w.steps if stepwise else 1,
    )  # fmt: skip
    return parts.made_by(launch)
