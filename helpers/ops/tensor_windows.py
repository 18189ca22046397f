"""float16 convolutions and their gradients by tensor cores. Images and weights are first copied to
channels-last layout, which convolution/tensor.cu and tensor_weight.cu require.

The gradient by the input is a convolution, too: of the gradient by the result, with stride 1. If
the forward window has a stride, each of its positions yields a stride's worth of pixels at once."""

from dataclasses import dataclass, replace
from math import gcd, prod

import numpy as np
from pycuda.gpuarray import GPUArray

from .. import tensormap, windows
from . import hopper, tensor
from .elementwise import COPY, contiguous, run
from .launch import Form, KernelCall, address, ceil_divide, cuda, multiprocessors
from .product import Matrices, Parts, copy_us, pack_of, prepare, product_us
from .product import Tiling as ByThreads
from .reduce import WIDE
from .tuning import quickest
from .windows import NARROW

__all__ = [
    "MOST_PACK",
    "Layer",
    "Stepwise",
    "Way",
    "by_input",
    "by_weight",
    "forward",
    "forward_of_points",
    "gradient",
    "input_of_points",
    "is_pixel",
    "is_product",
    "padded",
    "taps_of",
    "weight_of_points",
]

FAR = 1 << 15  # where windows may begin at most
MOST_STEPS = 4  # pixels that a place of the window makes, down or across
STEPS = (1, 2), (2, 2), (1, 4), (2, 4), (4, 4)  # such numbers, where one would do
MOST_IN_STEPS = 64  # channels of all pixels of a place, then
CHUNK = tensor.CHUNK // 2  # halves, along the channels
DEEP = tensor.LINE // 2  # halves of a line of a tile
TILE, CHANNELS_MORE = 64, 24  # of channels_last.cu; as many channels more a tile takes long for
MOST_PACK = 8  # elements of a result that are stored at once
STORE_US = {
    8: 0,
    4: 5e-5,
    2: 1.2e-4,
    1: 2.5e-4,
}  # longer than in a product, by elements at once: for each
CUT_US, CUT_PIXEL_US = 0.5, 0.0035  # of a step whose boxes end past the channels
MOST_MERGED = 128  # channels of groups that are one
MOST_MAPS = 16  # of groups
FIRSTS = "LINES", "CHANNELS", "TAPS"  # as in taps.cu
MOST_TURNED = 2048  # blocks of it for a weight, whose taps fill few of its pixels
TILES = (  # as tensor.TILES; those have no registers left for the places of 256 columns
    tensor.Tile(128, 128, 64, 64, 3, 2, 0.1, 1.1, 6),
    tensor.Tile(128, 64, 64, 32, 4, 2, 0.1, 0.47, 6),
    tensor.Tile(64, 128, 32, 64, 4, 2, 0.1, 0.47, 6),
    tensor.Tile(64, 64, 32, 32, 4, 3, 0.29, 0.29, 4),
    tensor.Tile(16, 128, 16, 32, 5, 2, 0.28, 0.28, 2),
)


@dataclass(frozen=True)
class Way:
    """One dimension of a convolution: the window's parameters, how many of how many pixels a
    position yields, and the weight taps of each: (first + along * step - by * tap) / over."""

    side: windows.Side
    size: int
    kernel: int
    steps: int = 1
    first: int = 0
    by: int = -1
    over: int = 1
    along: int = 1

    @classmethod
    def forward(cls, side):
        """Return the Way of the convolution itself."""
        return cls(side, side.places, side.kernel)

    @classmethod
    def backward(cls, side):
        """Return the Way of the gradient: pixel stride * p + step is under tap k of the window
        at position p + q, where (pad + step - dilation * k) / stride = q."""
        steps = min(side.stride, side.image)
        ends = [side.pad + step - side.dilation * k
                for step in range(steps) for k in range(side.kernel)]  # fmt: skip
        found = sorted({end // side.stride for end in ends if not end % side.stride})
        apart = gcd(*(q - found[0] for q in found)) or 1
        kernel, places = (found[-1] - found[0]) // apart + 1, ceil_divide(side.image, side.stride)
        window = windows.Side(side.places, kernel, apart, 1, -found[0])
        window = replace(window, more=places - window.places)
        by, first = side.stride * apart, side.pad - side.stride * found[0]
        return cls(window, side.image, side.kernel, steps, first, by, side.dilation)

    def in_steps(self, steps):
        """Return a Way whose positions each yield as many neighbours, which one yielded before;
        None if it yields several, or their taps are not the same."""
        side = self.side
        if self.steps > 1 or side.stride % side.dilation:
            return None
        apart, places = side.stride // side.dilation, ceil_divide(side.places, steps)
        window = replace(side, kernel=side.kernel + (steps - 1) * apart, stride=steps * side.stride)
        past = (places - 1) * window.stride + window.extent - window.padded
        window = replace(window, more=side.more + max(0, past))
        return replace(self, side=window, steps=steps, along=apart * self.by)

    @property
    def fits(self):
        """Whether the kernels' integers can represent it."""
        s = self.side
        far = max(abs(s.pad), abs((s.places - 1) * s.stride - s.pad), s.extent, s.image)
        return far < FAR and self.steps <= MOST_STEPS

    @property
    def reach(self):
        """Return which taps of the window each step sees, the struct Reach of pixels.cuh: from one
        on, up to another."""
        seen = []
        for step in range(self.steps):
            first = self.first + self.along * step
            ends = [first - self.by * tap for tap in range(self.side.kernel)]
            taps = [tap for tap, end in enumerate(ends)
                    if not end % self.over and 0 <= end // self.over < self.kernel]  # fmt: skip
            seen.append((taps[0], taps[-1] + 1) if taps else (0, 0))
        return seen

    @property
    def words(self):
        """Return the struct Way of taps.cu."""
        taps = self.side.kernel, self.kernel
        return self.steps, *taps, self.first, self.along, self.by, self.over


class Stepwise(hopper.Tiling):
    """How blocks of warpgroups divide a convolution, a step of its places in each tile."""

    BY = " by warpgroups, by steps"


@dataclass(frozen=True)
class Layer:
    """A convolution as convolution/tensor.cu computes it. channels, channels_out: of each group;
    unit: of how many channels a pixel of the copies has a multiple; merged: how many groups of the
    convolution are one here, whose weight between them is zero."""

    images: int
    channels: int
    channels_out: int
    h: Way
    w: Way
    lying: tuple | None = None  # the strides of images in bytes, if not one after the other
    groups: int = 1
    unit: int = CHUNK
    merged: int = 1

    @classmethod
    def of(cls, sizes, h, w, over_first=False):
        """Return the Layer of a convolution, with a group for each of its own. over_first: of one
        whose input is the result."""
        channels, channels_out = sizes.in_group[::-1] if over_first else sizes.in_group
        return cls(sizes.images, channels, channels_out, h, w, groups=sizes.groups)

    @property
    def merges(self):
        """Return this layer, and those that have several groups in each of theirs."""
        widest = max(self.channels, self.channels_out)
        return [
            replace(self, channels=n * self.channels, channels_out=n * self.channels_out,
                    groups=self.groups // n, merged=n)
            for n in range(1, self.groups + 1)
            if n == 1 or not self.groups % n and n * widest <= MOST_MERGED
        ]  # fmt: skip

    @property
    def in_steps(self):
        """Return this layer and, if it has few channels of the result, layers whose positions yield
        several pixels."""
        found = [self]
        for down, across in STEPS:
            ways = self.h.in_steps(down), self.w.in_steps(across)
            if None not in ways and down * across * self.channels_out <= MOST_IN_STEPS:
                found.append(replace(self, h=ways[0], w=ways[1]))
        return [layer for layer in found if layer.fits]

    @property
    def layouts(self):
        """Return layers to convolve so: this one, and in steps, each also with wider pixels."""
        return [one for steps in self.in_steps for one in (steps, replace(steps, unit=DEEP))]

    @property
    def copied(self):
        """Return the elements of images that are read and written to copy them."""
        pixels = self.groups * self.images * self.h.side.image * self.w.side.image
        return pixels * (self.channels + self.stride)

    @property
    def of_one(self):
        """Return the channels of each group of the convolution, and of its result."""
        return self.channels // self.merged, self.channels_out // self.merged

    @property
    def stride(self):
        """Return the stride from one pixel to the next."""
        return ceil_divide(self.channels, self.unit) * self.unit

    @property
    def rows(self):
        """Return the product's rows."""
        return self.channels_out * self.h.steps * self.w.steps

    @property
    def depth(self):
        """Return the elements of the window."""
        return self.taps * self.stride

    @property
    def columns(self):
        """Return the product's columns: all positions of the window."""
        return self.images * self.h.side.places * self.w.side.places

    @property
    def fits(self):
        """Whether the kernels' integers can represent it, and it is not empty."""
        pixels = self.images * self.h.side.image * self.w.side.image * self.groups
        counts = self.rows * self.groups, self.depth, self.columns, pixels
        return self.h.fits and self.w.fits and 0 < min(counts) and max(counts) < NARROW

    def problem(self, what):
        """Return all that the choice of a kernel depends on."""
        lies = "side by side" if self.lying else "apart"
        sides = [
            (w.side.image, w.side.places, w.side.kernel, w.side.dilation, w.side.stride, w.steps)
            for w in (self.h, self.w)
        ]
        counts = self.images, self.channels, self.channels_out, self.groups
        return what, *counts, *sides[0], *sides[1], lies, self.unit, self.merged

    @property
    def arguments(self):
        """Return the kernels' arguments for the window: the structs Window and Dividers."""
        h, w = self.h.side, self.w.side
        by = windows.dividers(w.places, h.places, max(1, w.places * h.places), 1)
        return windows.argument(h, w), by

    @property
    def paired(self):
        """Return how many steps across warpgroups store together: 2, if these are all and the
        result's width is even, else 1."""
        return 2 if self.w.steps == 2 and not self.w.size % 2 else 1

    @property
    def taps(self):
        """Return the number of taps of the window."""
        return self.h.side.kernel * self.w.side.kernel

    @property
    def chunks(self):
        """Return how many 128-byte lines a pixel's channels take."""
        return ceil_divide(self.stride, DEEP)

    @property
    def deep(self):
        """Return the elements of the window, in whole lines."""
        return self.taps * self.chunks * DEEP

    @property
    def reaches(self):
        """Return the struct Reaches of pixels.cuh."""
        nowhere = [(0, 0)] * MOST_STEPS
        sides = (np.transpose((way.reach + nowhere)[:MOST_STEPS]) for way in (self.h, self.w))
        return np.void(np.array([*sides], np.uint8).tobytes())

    def stepwise(self, kind, side, pack, together=1):
        """Return the ways by warpgroups whose tiles have one step each, or so many across together;
        none if there is only one. Other arguments: as of by_groups."""
        if self.h.steps * self.w.steps == 1 or self.groups > 1:
            return []
        reach = [self.w.reach[n : n + together] for n in range(0, self.w.steps, together)]
        across = [max(end for _, end in of) - min(first for first, _ in of) for of in reach]
        taps = [max(1, (end - first) * n) for first, end in self.h.reach for n in across]
        average, planes = sum(taps) / len(taps), self.channels_out * together
        m, n = (self.columns, planes) if side == "rows" else (planes, self.columns)
        sizes = m, n, int(average * self.chunks * DEEP)
        ways = self.by_groups(kind, sizes, side, pack, len(taps), Stepwise)
        last = (max(taps) - average) * self.chunks
        ways = [way for way in ways if way.splits == 1]
        return [replace(way, us=way.us + last * way.tile.step_us) for way in ways]

    def by_groups(self, kind, sizes, side, pack, batch=None, tilings=hopper.Tiling):
        """Return the ways by warpgroups of products of these sizes, with what takes longer than in
        a product: boxes that end past the channels, and stores of this many elements. side: of a
        tile, which are pixels; batch: how many products, if not one of each group."""
        cut, found = (1 / self.chunks if self.stride % DEEP else 0), []
        batch = batch or self.groups
        for way in tilings.ways(*sizes, kind, batch, pack=MOST_PACK):
            tile, steps = way.tile, ceil_divide(way.steps, way.splits)
            more = max(0, CUT_US + CUT_PIXEL_US * getattr(tile, side) - tile.step_us)
            more = more * cut * steps + STORE_US[pack] * prod(sizes[:2]) / way.tiles
            rounds = ceil_divide(way.tiles * way.splits * batch, multiprocessors())
            found.append(replace(way, us=way.us + rounds * more))
        return found

    @property
    def group_bytes(self):
        """Return the bytes of a group's images."""
        return self.images * self.h.side.image * self.w.side.image * self.stride * 2

    @property
    def fits_boxes(self):
        """Whether a tensor map can describe the window, and the GPU has warpgroups."""
        here = hopper.are_here(cuda.Context.get_device())
        return here and tensormap.fits(self.h.side) and tensormap.fits(self.w.side)

    def pixels(self, address, places):
        """Return a tensor map of the images under the window, in boxes of this many positions."""
        h, w = self.h.side, self.w.side
        shape = self.images * self.groups, h.image, w.image, self.stride
        images = GPUArray(shape, np.float16, gpudata=address, strides=self.lying)
        return tensormap.im2col(images, h, w, DEEP, places)


def padded(channels):
    """Round up to a multiple of CHUNK."""
    return ceil_divide(channels, CHUNK) * CHUNK


def forward(x, weight, sizes, kind):
    """Prepare a convolution: return call(x, weight, bias, workspace, stream) -> array; None if
    these kernels don't support it."""
    layer = Layer.of(sizes, Way.forward(sizes.h), Way.forward(sizes.w))
    return _convolution(layer, sizes.result, x, weight, kind, over_first=False)


def forward_of_points(x, weight, sizes, kind):
    """Prepare a convolution with a window of one pixel, without bias: a product per image and
    group; None: not such a convolution, or copies in channels-last layout take less time."""
    counts = sizes.channels, sizes.channels_out
    if not (is_product(sizes, kind) and (kinds := _kinds_of_points(sizes, kind, *counts, False))):
        return None
    (kind,), (channels, channels_out) = kinds, sizes.in_group
    shape = sizes.images * sizes.groups, channels_out, sizes.places
    pixels = x.reshape(shape[0], channels, sizes.places)
    matrices, of_weight = _matrices(weight, sizes, kind, True)
    of_pixels = Matrices(prod(pixels.shape[1:]), sizes.places, True)
    form, lying = Form(sizes.result, x.dtype), (of_weight, of_pixels)
    call = prepare(weight.reshape(-1, channels), pixels, shape, kind, lying, form)
    return lambda x, weight, bias, room, stream: call(matrices(weight, stream), x, room, stream)


def is_pixel(sizes):
    """Whether the window is one pixel, so that the convolution is a matrix product."""
    sides = sizes.h, sizes.w
    return all((s.kernel, s.stride, s.pad, s.more) == (1, 1, 0, 0) for s in sides)


def is_product(sizes, kind):
    """Whether images are matrices to be multiplied; in groups, without tensor cores."""
    return is_pixel(sizes) and sizes.images > 0 and (sizes.groups == 1 or kind is None)


def _kinds_of_points(sizes, kind, channels, channels_out, over_first):
    """Return which kind of product takes images as matrices, in a list: this one, or, if lines are
    not a multiple of its pieces, the quickest of those with smaller ones and without tensor cores
    (None); an empty list if copies in channels-last layout are quicker."""
    if kind is None or not sizes.places % CHUNK:
        return [kind]
    layer = Layer(sizes.images, channels, channels_out, *map(Way.forward, (sizes.h, sizes.w)))
    if not layer.fits:
        return [None]
    matrices, by_rows = (channels_out, sizes.places, channels), (not over_first, True)
    kinds = [replace(kind, piece=n) for n in (8, 4) if not sizes.places * 2 % n]
    dtype = np.dtype(kind.array)
    us = [(product_us(matrices, sizes.images, of, dtype, by_rows), of) for of in (*kinds, None)]
    least, chosen = min(us, key=lambda pair: pair[0])
    copied = copy_us(2 * channels * layer.columns)
    copied += copy_us(2 * layer.channels_out * channels) if over_first else 0
    return [chosen] if least < copied + min(way.us for way in _ways(layer, kind)) else []


def _matrices(weight, sizes, kind, by_rows):
    """Return a function that makes a weight of points one matrix, or one for each group of each
    image, whose lines kernels of this kind take: matrices(weight, stream); and how they lie."""
    channels, channels_out = sizes.in_group
    if sizes.groups > 1:
        shape, size = (sizes.images, sizes.groups, channels_out, channels), weight.dtype.itemsize
        strides = 0, channels_out * channels * size, channels * size, size
        lying = Matrices(channels_out * channels, channels, by_rows)
        if sizes.images == 1:
            return (lambda weight, stream: weight), lying
        return (lambda weight, stream: contiguous(
            GPUArray(shape, weight.dtype, gpudata=address(weight), strides=strides), stream
        )), lying  # fmt: skip
    if kind is None or not channels * 2 % kind.piece:
        return (lambda weight, stream: weight), Matrices(0, channels, by_rows)
    lying = Matrices(0, tensor.padded_to(channels, 2), by_rows)
    matrix = channels_out, channels
    return (lambda weight, stream: tensor.padded(weight.reshape(matrix), True, stream)), lying


def by_input(weight, grad_output, sizes, kind):
    """Prepare the gradient by the input: call(weight, grad_output, workspace, stream); None: not
    supported."""
    if points := input_of_points(weight, grad_output, sizes, kind):
        return points
    layer = Layer.of(sizes, Way.backward(sizes.h), Way.backward(sizes.w), over_first=True)
    shape = sizes.images, *sizes.image
    call = _convolution(layer, shape, grad_output, weight, kind, over_first=True)
    return call and (lambda weight, dy, room, stream: call(dy, weight, None, room, stream))


def input_of_points(weight, grad_output, sizes, kind):
    """by_input for a window of one pixel: a product per image and group."""
    counts = sizes.channels_out, sizes.channels
    if not (is_product(sizes, kind) and (kinds := _kinds_of_points(sizes, kind, *counts, True))):
        return None
    (kind,), (channels, channels_out) = kinds, sizes.in_group
    shape = sizes.images * sizes.groups, channels, sizes.places
    pixels = grad_output.reshape(shape[0], channels_out, sizes.places)
    of_pixels = Matrices(prod(pixels.shape[1:]), sizes.places, True)
    matrices, of_weight = _matrices(weight, sizes, kind, False)
    form = Form((sizes.images, *sizes.image), weight.dtype)
    turned = weight.reshape(sizes.groups, channels_out, channels).transpose((0, 2, 1))
    lying = of_weight, of_pixels
    call = prepare(turned, pixels, shape, kind, lying, form)
    return lambda weight, dy, room, stream: call(matrices(weight, stream), dy, room, stream)


def _convolution(layer, shape, x, weight, kind, over_first):
    """Prepare a Layer's convolution. over_first: sum over the weight's first axis, not its
    second."""
    if not layer.fits:
        return None
    depth = layer.taps * layer.channels
    alone_us = _by_threads_us(layer, (layer.rows, layer.columns, depth))
    layers = [one for merged in layer.merges for one in merged.layouts]
    us, layer = min(((_least_us(layer, kind), layer) for layer in layers), key=lambda pair: pair[0])
    if alone_us < us:
        return None
    ways = _ways(layer, kind)

    def prepare(tiling):
        copy = _laid_out(layer, x, weight, over_first, tiling)
        call = _tiled(layer, shape, x.dtype, kind, tiling, over_first)
        return lambda x, weight, bias, room, stream: call(
            *copy(x, weight, room, stream), bias, room, stream
        )

    return quickest(layer.problem("conv2d"), ways, prepare)


def _by_threads_us(layer, sizes):
    """Return the estimated time without tensor cores, of a product of each group; without groups
    they are always used."""
    if layer.groups == 1:
        return float("inf")
    return ByThreads.of(*sizes, "float32", layer.groups, gathered=True).us


def _least_us(layer, kind):
    """Return the estimated time of a layer with its copies."""
    parts = layer.copied, layer.groups * layer.rows * layer.depth * 2
    copied = sum(map(copy_us, parts)) if _takes_taps(layer) else copy_us(sum(parts))
    return copied + min(way.us for way in _ways(layer, kind))


def _takes_taps(layer):
    """Whether a weight has to be copied tap by tap, by another launch."""
    return max(layer.merged, layer.h.steps, layer.w.steps) > 1


def _ways(layer, kind):
    """Return the ways to convolve images and weights that have been copied."""
    sizes = layer.rows, layer.columns, layer.depth
    side, pack = "columns", _pack(layer, MOST_PACK)
    paired = layer.paired == 2 and _paired_pack(layer, MOST_PACK)
    tiles = [replace(tile, rest_us=tile.rest_us + STORE_US[pack] * tile.rows * tile.columns)
             for tile in TILES]  # fmt: skip
    ways = tensor.Tiling.ways(*sizes, kind, True, layer.groups, tiles)
    if layer.fits_boxes:
        pack = paired or pack
        by_groups = layer.by_groups(kind, (layer.rows, layer.columns, layer.deep), side, pack)
        stepwise = layer.stepwise(kind, side, pack, layer.paired)
        return hopper.beside(ways, [*by_groups, *stepwise])
    return ways


def _together(layer, tiling):
    """Return how many steps across a tile has, if not all; None: it has all steps."""
    return isinstance(tiling, Stepwise) and layer.paired or None


def _is_reversed(layer, tiling):
    """Whether a weight that is summed over first need not be copied tap by tap: without steps, its
    taps are in reverse."""
    whole = layer.h.steps == layer.w.steps == layer.merged == 1
    return whole and isinstance(tiling, hopper.Tiling)


def _laid_out(layer, x, weight, over_first, tiling):
    """Prepare copies of a layer's images and weight as the kernels take them: copy(x, weight,
    workspace, stream) -> both."""
    images = layer.images, layer.channels, layer.h.side.image * layer.w.side.image, layer.groups
    lines, is_even = layer.groups * layer.channels_out, layer.channels == layer.stride
    if over_first and _is_reversed(layer, tiling):
        weights = 1, layer.channels, layer.channels_out * layer.taps, layer.groups
        both = ChannelsLast([x, weight], images, weights, unit=layer.unit)
        return lambda x, weight, room, stream: both([x, weight], room, stream)
    if over_first or _takes_taps(layer) or lines * layer.chunks > MOST_TURNED:
        of_images = ChannelsLast([x], images, unit=layer.unit)
        taps = taps_of(layer, _taps_first(layer, over_first), _together(layer, tiling))
        return lambda x, weight, room, stream: (
            *of_images([x], room, stream), taps(weight, room, stream)
        )  # fmt: skip
    if layer.taps == 1 and is_even:
        of_images = ChannelsLast([x], images, unit=layer.unit)
        return lambda x, weight, room, stream: (*of_images([x], room, stream), weight)
    weights = lines, layer.channels, layer.taps, 1
    both = ChannelsLast([x, weight], images, weights, unit=layer.unit)
    return lambda x, weight, room, stream: both([x, weight], room, stream)


def _pack(layer, most):
    """Return how many elements of a plane are stored at once."""
    whole = layer.h.steps * layer.w.steps == 1
    places = layer.columns // layer.images
    return next(p for p in (most, 4, 1) if whole and not places % p or p == 1)


def _paired_pack(layer, most):
    """Return the same, of two steps across that are stored together."""
    return 2 if layer.w.side.places % (most // 2) or layer.w.size % most else most


def _tiled(layer, shape, dtype, kind, tiling, over_first):
    """Prepare a Layer's convolution, so tiled, of arrays that lie as the kernels need them."""
    parts = Parts(1, tiling.splits, prod(shape), Form(shape, dtype), kind.sum, made=kind.made)
    choices = {"STEP_H": layer.h.steps, "STEP_W": layer.w.steps}
    most = MOST_PACK if parts.whole else 4
    choices["Y_PACK"] = _pack(layer, most)
    groups, rows, together = layer.groups, layer.rows, _together(layer, tiling)
    lying = (layer.taps, groups * rows, layer.stride), (layer.stride, layer.depth)
    if together:
        rows = layer.channels_out * together
        groups = layer.rows // rows
    counts = map(np.int32, (layer.images, layer.stride, rows, layer.h.size, layer.w.size))
    arguments = choices, kind, parts.c_type, *counts, *layer.arguments
    if isinstance(tiling, hopper.Tiling):
        choices["STEPWISE"] = int(together is not None)
        choices["REVERSED"] = int(over_first and _is_reversed(layer, tiling))
        if layer.paired == 2:
            choices |= {"PAIRED": 1, "Y_PACK": _paired_pack(layer, most)}
        box = 1, tiling.tile.rows, DEEP

        def maps(x, weight):
            of_weight = hopper.map_of(weight, kind.array, *lying, box)
            return of_weight, layer.pixels(x, tiling.tile.columns)

        told = *map(np.int32, (tiling.splits, groups)), layer.reaches
        launch = tiling.call(maps, "convolution/hopper.cu", *arguments, *told, batch=groups)
    else:
        launch = tiling.call("convolution/tensor.cu", *arguments, batch=groups)
    return parts.made_by(launch)


def by_weight(x, grad_output, sizes, kind):
    """Prepare the gradient by the weight: call(x, grad_output, workspace, stream) -> array; None
    if these kernels don't support it."""
    if points := weight_of_points(x, grad_output, sizes, kind):
        return points
    layer = Layer.of(sizes, Way.forward(sizes.h), Way.forward(sizes.w))
    if not layer.fits:
        return None
    depth = layer.taps * layer.channels
    alone_us = _by_threads_us(layer, (layer.channels_out, depth, layer.columns))
    us, layer = min(
        ((_gradient_us(layer, kind), layer) for layer in layer.merges), key=lambda pair: pair[0]
    )
    if alone_us < us:
        return None
    by_layer = gradient(layer, kind)
    images = layer.images, layer.channels, sizes.h.image * sizes.w.image, layer.groups
    gradients = layer.images, layer.channels_out, sizes.places, layer.groups
    both = ChannelsLast([x, grad_output], images, gradients)
    shape = sizes.channels_out, *sizes.kernel

    def call(x, grad_output, room, stream):
        whole = by_layer(*both([x, grad_output], room, stream), room, stream)
        if layer.taps == layer.merged == 1 and layer.channels == layer.stride:
            return whole.reshape(shape)
        view = _of_each_group(layer, whole)
        return run(COPY, view, x.dtype.type(0), None, stream, "NCHW").reshape(shape)

    return call


def _gradient_us(layer, kind):
    """Return the estimated time of a layer's gradient by the weight with its copies."""
    gradients = (layer.channels_out + padded(layer.channels_out)) * layer.columns
    made = layer.channels_out * layer.depth
    copied = copy_us(layer.copied) + sum(copy_us(layer.groups * n) for n in (gradients, made))
    return copied + min(way.us for way in _gradient_ways(layer, kind))


def _of_each_group(layer, whole):
    """View a gradient by a layer's weight[groups, channels_out, taps, stride] as [groups, merged,
    channels_out, channels, taps] of one group each: those between groups are left out."""
    channels, channels_out = layer.of_one
    line = layer.taps * layer.stride
    shape = layer.groups, layer.merged, channels_out, channels, layer.taps
    steps = layer.channels_out * line, channels_out * line + channels, line, 1, layer.stride
    strides = tuple(whole.dtype.itemsize * step for step in steps)
    return GPUArray(shape, whole.dtype, base=whole, gpudata=whole.gpudata, strides=strides)


def gradient(layer, kind):
    """Prepare a layer's gradient by the weight: call(images, gradient, workspace, stream) ->
    array[groups, channels_out, taps, channels]. Channels are contiguous in all of them."""
    ways = _gradient_ways(layer, kind)
    return quickest(
        layer.problem("conv2d_weight"), ways, lambda tiling: _gradient(layer, kind, tiling)
    )


def _gradient_ways(layer, kind):
    """Return the ways to compute a layer's gradient by the weight."""
    sizes = layer.channels_out, layer.depth, layer.columns
    ways = tensor.Tiling.ways(*sizes, kind, False, layer.groups, TILES)
    if layer.fits_boxes and layer.groups <= MOST_MAPS:
        sizes = layer.channels_out, layer.deep, layer.columns
        by_groups = layer.by_groups(kind, sizes, "columns", MOST_PACK)
        return by_groups if layer.lying else hopper.beside(ways, by_groups)
    return ways


def _gradient(layer, kind, tiling):
    """Prepare a layer's gradient by the weight, so tiled."""
    of_group, groups = (layer.channels_out, layer.taps, layer.stride), layer.groups
    stride, form = padded(layer.channels_out), Form((groups, *of_group), np.dtype(kind.array))
    parts = Parts(groups, tiling.splits, prod(of_group), form, kind.sum, made=kind.made)
    choices = {"W_PACK": 8 if parts.whole else 4}
    counts = list(map(np.int32, (layer.images, layer.stride, layer.channels_out)))
    arguments = choices, kind, parts.c_type, *counts
    if isinstance(tiling, hopper.Tiling):
        lying = (groups, layer.columns, layer.channels_out), (layer.columns * stride, stride)
        of_images, choices["GROUPS"] = replace(layer, groups=1), groups

        def maps(x, dy):
            of_dy = hopper.map_of(dy, kind.array, *lying, (1, DEEP, DEEP))
            firsts = (x + n * layer.group_bytes for n in range(groups))
            return of_dy, *(of_images.pixels(first, DEEP) for first in firsts)

        told = *layer.arguments, np.int32(tiling.splits)
        wide = layer.taps * layer.stride
        lines = (layer.channels_out, wide) if layer.stride == layer.chunks * DEEP else None
        file = "convolution/hopper_weight.cu"
        launch = tiling.call(
            maps, file, *arguments, *told, lines=lines, parts=tiling.splits, batch=groups
        )
    else:
        told = np.int32(stride), *layer.arguments
        launch = tiling.call("convolution/tensor_weight.cu", *arguments, *told, batch=groups)
    return parts.made_by(launch)


def weight_of_points(x, grad_output, sizes, kind):
    """by_weight for a window of one pixel: a product per image and group, added up over images."""
    if not is_product(sizes, kind) or kind and sizes.places % CHUNK:
        return None
    shape, wide = (sizes.channels_out, *sizes.kernel), kind.sum if kind else WIDE[x.dtype.name]
    form, made = Form(shape, x.dtype), kind and kind.made
    parts = Parts(1, sizes.images, prod(shape), form, wide, narrow=False, made=made)
    channels, channels_out = sizes.in_group
    matrices = sizes.images * sizes.groups, channels_out, channels
    gradients = grad_output.reshape(matrices[0], channels_out, -1)
    pixels = x.reshape(matrices[0], channels, -1).transpose((0, 2, 1))
    of_each = (prod(a.shape[1:]) for a in (gradients, pixels))
    lying = [Matrices(size, sizes.places, by_rows) for size, by_rows in zip(of_each, (True, False))]
    summed = form if parts.whole else Form(matrices, wide)
    call = prepare(gradients, pixels, matrices, kind and kind.giving(wide), lying, summed)
    return lambda x, grad_output, room, stream: parts.finish(
        call(grad_output, x, room, stream), room, stream
    )


class ChannelsLast:
    """Copies of one or two arrays in channels-last layout, group by group, in one launch:
    copy(arrays, workspace, stream) -> list. sizes: images, channels, pixels and groups of each;
    unit: of how many channels each pixel of a copy has a multiple."""

    def __init__(self, arrays, *sizes, unit=CHUNK):
        told, self.forms = [], []
        strides = [ceil_divide(channels, unit) * unit for _, channels, _, _ in sizes]
        tiles = [groups * images * ceil_divide(pixels, TILE) for images, _, pixels, groups in sizes]

        def blocks(wide):
            return sum(n * ceil_divide(stride, wide) for n, stride in zip(tiles, strides))

        wide = min(range(TILE, 0, -CHUNK), key=lambda wide: blocks(wide) * (wide + CHANNELS_MORE))
        for x, (images, channels, pixels, groups), stride in zip(arrays, sizes, strides):
            self.forms.append(Form((groups * images, pixels, stride), np.uint16))
            counts = np.array([images, groups], np.int32).view(np.int64)
            pack = pack_of(4, x.dtype.itemsize, address(x), pixels)
            told.append(np.array([channels, pixels, stride, *counts, pack], np.int64))
        told += [np.zeros(5, np.int64)] * (2 - len(sizes))
        file, grid = "convolution/channels_last.cu", (blocks(wide),)
        self.launch = KernelCall(file, {"WIDE": wide}, grid, (256,), *told)

    def __call__(self, arrays, room, stream):
        made = [form.new(x, room) for form, x in zip(self.forms, arrays)]
        places = [address(x) for pair in zip(arrays, made) for x in pair]
        self.launch(stream, (*places, *[0] * (4 - len(places))))
        return made


def _taps_first(layer, over_first):
    """Return the strides of line, channel and tap in a weight [channels_out, channels, taps]."""
    taps, (channels, channels_out) = layer.h.kernel * layer.w.kernel, layer.of_one
    return (taps, taps * channels_out, 1) if over_first else (taps * channels, taps, 1)


def taps_of(layer, strides, last=None):
    """Prepare a copy of a weight in the order that the kernels take; strides: as from
    _taps_first; last: how many steps of a line are neighbours, if not all."""
    h, w = layer.h, layer.w
    shape = layer.groups * layer.rows, h.side.kernel, w.side.kernel, layer.stride
    form, chunks = Form(shape, np.uint16), prod(shape) // CHUNK
    ways = np.void(np.array([h.words, w.words], np.int32).tobytes())
    channels, channels_out = layer.of_one
    group, last = prod(layer.of_one) * h.kernel * w.kernel, np.int32(last or h.steps * w.steps)
    told = layer.channels_out, group, *strides, channels, layer.stride, ways, last
    told += (np.int32(channels_out),)
    choices = {"FIRST": next(name for name, step in zip(FIRSTS, strides) if step == 1)}
    grid = (ceil_divide(chunks, 256),)
    launch = KernelCall("convolution/taps.cu", choices, grid, (256,), chunks, *told)

    def copy(weight, room, stream):
        made = form.new(weight, room)
        launch(stream, (address(weight), address(made)))
        return made

    return copy
