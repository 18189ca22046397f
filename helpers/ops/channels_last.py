"""float16 convolutions and their gradients in NHWC layout by warpgroups, without transposition.

If the number of channels is not a multiple of CHUNK, images are copied with zero padding after
the channels and around the image. Then all pixels under a row of the window are contiguous, and
are treated as the channels of one pixel; with a vertical stride, so are the pixels of that many
rows."""

from functools import cache, partial
from math import gcd, prod

import numpy as np

from .. import windows
from . import hopper
from .elementwise import COPY, run
from .launch import Form, KernelCall, address, ceil_divide
from .product import Matrices, Parts, prepare
from .tensor_windows import CHUNK, DEEP, Layer, Way, gradient, is_pixel, padded, taps_of

__all__ = ["by_input", "by_weight", "forward"]

BLOCK = 256


def forward(x, weight, sizes, kind):
    """Prepare a convolution: return call(x, weight, bias, workspace, stream) -> array; None if
    these kernels don't support it."""
    layer, images, weights = _given(sizes, sizes.h.stride)
    if layer is None:
        return None
    shape = sizes.images, sizes.h.places, sizes.w.places, sizes.channels_out
    launch = cache(partial(_convolution, layer, shape, kind))
    lies = is_pixel(sizes) and not sizes.channels % CHUNK
    product = _product_of_pixels(x, weight, kind, shape, True) if lies else None

    def call(x, weight, bias, room, stream):
        if product and bias is None:
            return product(x, weight, room, stream)
        of_x, of_weight = images(x, room, stream), weights(weight, room, stream)
        return launch()(of_x, of_weight, bias, room, stream)

    return call


def by_input(weight, grad_output, sizes, kind):
    """Prepare the gradient by the input: call(weight, grad_output, workspace, stream); None: not
    supported."""
    shape = sizes.images, sizes.h.image, sizes.w.image, sizes.channels
    if sizes.channels % CHUNK or sizes.channels_out % CHUNK or not prod(shape):
        return None
    if is_pixel(sizes):
        call = _product_of_pixels(grad_output, weight, kind, shape, False)
        return lambda weight, dy, room, stream: call(dy, weight, room, stream)
    ways = Way.backward(sizes.h), Way.backward(sizes.w)
    layer = Layer(sizes.images, sizes.channels_out, sizes.channels, *ways)
    if not (layer.fits and layer.fits_boxes):
        return None
    launch, each = _convolution(layer, shape, kind), sizes.h.kernel * sizes.w.kernel
    taps = taps_of(layer, (1, each * sizes.channels, sizes.channels), steps_first=True)
    return lambda weight, dy, room, stream: launch(
        dy, taps(weight, room, stream), None, room, stream
    )


def by_weight(x, grad_output, sizes, kind):
    """Prepare the gradient by the weight: call(x, grad_output, workspace, stream); None: not
    supported."""
    layer, images, _ = _given(sizes)
    if layer is None:
        return None
    parts, launch = gradient(layer, kind)
    shape = sizes.channels_out, sizes.h.kernel, sizes.w.kernel, padded(sizes.channels)

    def call(x, grad_output, room, stream):
        made, of_x = parts.new(x, room), images(x, room, stream)
        launch(stream, (address(of_x), address(grad_output), address(made)))
        whole = parts.finish(made, room, stream)
        if shape[-1] == sizes.channels:
            return whole
        view = whole.reshape(shape)[:, :, :, : sizes.channels]
        return run(COPY, view, x.dtype.type(0), None, stream, "NCHW")

    return call


def _product_of_pixels(pixels, weight, kind, shape, forward):
    """Prepare the product of pixels and the weight (transposed if `forward`): call(pixels,
    weight, workspace, stream) -> array of this shape."""
    pixels, matrix = pixels.reshape(-1, pixels.shape[-1]), weight.reshape(weight.shape[0], -1)
    lying = Matrices(0, pixels.shape[-1], True), Matrices(0, matrix.shape[-1], not forward)
    matrix = matrix.T if forward else matrix
    size = pixels.shape[0], shape[-1]
    return prepare(pixels, matrix, size, kind, lying, Form(shape, weight.dtype))


def _given(sizes, group=1):
    """Return a convolution's Layer, and functions that turn images and weight into its inputs.
    group: rows of an image that are copied side by side, if any are copied, and treated as one."""
    h, w = Way.forward(sizes.h), Way.forward(sizes.w)
    layer = Layer(sizes.images, sizes.channels, sizes.channels_out, h, w)
    images = weights = _as_it_is
    if sizes.channels % CHUNK and sizes.w.dilation == 1 and layer.fits:
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
        images = Widened(sizes.images, sizes.image, (high, wide), group, stride, pads)
        weights = Widened(sizes.channels_out, sizes.kernel, (kernel, sizes.w.kernel), group, stride)
    uneven = layer.channels % CHUNK or sizes.channels_out % CHUNK
    if uneven or not (layer.fits and layer.fits_boxes):
        return None, None, None
    return layer, images, weights


def _as_it_is(x, room, stream):
    return x


class Widened:
    """Padded copies of images with these channels, height and width, made by
    convolution/widened.cu: copy(x, workspace, stream) -> array. size: their height and width."""

    def __init__(self, images, shape, size, group, stride, pads=(0, 0)):
        self.form = Form((images, *size, group * stride), np.uint16)
        channels, height, width = shape
        told = np.void(np.array([height, width, channels, *size, *pads], np.int32).tobytes())
        count, choices = (
            images * prod(size) * group * stride // CHUNK,
            {"GROUP": group, "STRIDE": stride},
        )
        grid = (ceil_divide(count, BLOCK),)
        file = "convolution/widened.cu"
        self.launch = KernelCall(file, choices, grid, (BLOCK,), np.uint32(count), told)

    def __call__(self, x, room, stream):
        made = self.form.new(x, room)
        self.launch(stream, (address(x), address(made)))
        return made


def _convolution(layer, shape, kind):
    """Prepare a convolution of inputs in the kernel's layout: launch(images, weight, bias,
    workspace, stream) -> array of this shape."""
    deep = layer.taps * layer.chunks * DEEP
    tiling = hopper.Tiling.of(layer.columns, layer.rows, deep, kind)
    form = Form(shape, np.dtype(kind.array))
    parts = Parts(1, tiling.splits, prod(shape), form, kind.sum, made=kind.made)
    choices = {"STEP_H": layer.h.steps, "STEP_W": layer.w.steps}
    choices["Y_PACK"] = 8 if parts.whole else 4
    counts = layer.images, layer.stride, layer.channels_out, layer.h.size, layer.w.size
    lying = (layer.taps, layer.rows, layer.stride), (layer.stride, layer.depth)

    def maps(x, weight):
        box = 1, tiling.tile.columns, DEEP
        of_weight = hopper.map_of(weight, kind.array, *lying, box)
        return layer.pixels(x, tiling.tile.rows), of_weight

    told = *map(np.int32, counts), *layer.arguments, np.int32(tiling.splits)
    file = "convolution/hopper_last.cu"
    lines = (layer.columns, layer.channels_out) if layer.h.steps == layer.w.steps == 1 else None
    launch = tiling.call(maps, file, choices, kind, parts.c_type, *told, lines=lines)

    def call(x, weight, bias, room, stream):
        made = parts.new(x, room)
        after = (0 if bias is None else address(bias),)
        launch(stream, (address(x), address(weight), address(made)), after)
        return parts.finish(made, room, stream)

    return call
