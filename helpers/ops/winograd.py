"""Convolutions of floats and their gradients by Winograd's method, by convolution/to_points.cu and
from_points.cu: tiles of images, and windows, become values at points; products of matrices, one
for each point, take a sixth to two thirds of the multiplications; and tiles are made of these.

Tiles overlap, so that windows of each of their results lie within them. Toom and Cook's matrices
make polynomials of their values at POINTS and at infinity."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from math import prod

import numpy as np
from pycuda.gpuarray import GPUArray

from .launch import Form, KernelCall, address, ceil_divide
from .product import copy_us, prepare, product_us, whole
from .tuning import Other
from .windows import NARROW

__all__ = ["by_input", "by_weight", "forward"]

NAME = "Winograd's method"
POINTS = {  # chosen for small errors, by how many there are with infinity, down and across
    6: tuple(map(Fraction, (0, 1, -1, 0.5, -2))),
    8: tuple(map(Fraction, (0, 1, -1, 2, -2, 0.5, -0.5))),
}
KERNELS = {6: range(2, 6), 8: range(5, 8)}  # sides of windows
LEAST_CHANNELS = 8  # with fewer, plain sums' errors are much smaller
MOST_BYTES = 1 << 31  # of values at points
BLOCK = 128


@cache
def _matrices(count, taps):
    """Return the matrices that make values at `count` points of a window of so many taps, and
    results of values."""
    points, made = POINTS[count], count + 1 - taps
    normal = [prod(p - q for q in points if q != p) for p in points]
    of_taps = [[p**i / n for i in range(taps)] for p, n in zip(points, normal)]
    of_taps.append([Fraction(i == taps - 1) for i in range(taps)])
    of_values = [[*(p**i for p in points), int(i == made - 1)] for i in range(made)]
    return np.array(of_taps, np.float32), np.array(of_values, np.float32)


@cache
def _of_tile(count):
    """Return the matrix that makes values of a tile of `count` pixels."""
    points = POINTS[count]
    rows = [_with_roots([q for q in points if q != p]) + [0] for p in points]
    return np.array([*rows, _with_roots(points)], np.float32)


def _with_roots(roots):
    """Return the coefficients of a polynomial with these roots, the constant one first."""
    found = [Fraction(1)]
    for root in roots:
        found = [a - root * b for a, b in zip([0, *found], [*found, 0])]
    return found


@dataclass(frozen=True)
class Tiles:
    """Tiles of images[images, channels, height, width], so many down and across a plane, and
    their values at points, points down and across."""

    points: int
    images: int
    channels: int
    height: int
    width: int
    down: int = 1
    across: int = 1

    @property
    def each(self):
        """Return how many tiles a channel has in all images, and more for products to load four
        values at once."""
        count = self.images * self.down * self.across
        return count if count == 1 else ceil_divide(count, 4) * 4

    @property
    def fits(self):
        """Whether an int counts them, and there is room for their values."""
        count = self.channels * self.each
        return 0 < count < NARROW - BLOCK and 4 * self.points**2 * count <= MOST_BYTES

    @property
    def us(self):
        """Return the estimated time to make values of them, or them of values."""
        pixels = self.images * self.channels * self.height * self.width
        return copy_us(2 * (pixels + self.points**2 * self.channels * self.each))

    def launch(self, file, matrix, *told):
        """Prepare one of the kernels, which takes addresses."""
        rows, columns = matrix.shape
        size = columns if file == "to_points" else rows
        words = self.images, self.channels, self.height, self.width, self.down, self.across
        grid = (ceil_divide(self.channels * self.each, BLOCK),)
        told = np.array([*words, self.each, *told], np.int32), np.ascontiguousarray(matrix)
        choices = {"SIZE": size, "POINTS": self.points}
        return KernelCall(f"convolution/{file}.cu", choices, grid, (BLOCK,), *told)

    def to_points(self, matrix, step=1, pads=(0, 0)):
        """Prepare values of tiles: call(array, workspace, stream) -> [points, channels, tiles]."""
        form = Form((self.points**2, self.channels, self.each), np.float32)
        launch = self.launch("to_points", matrix, step, *pads)

        def call(x, room, stream):
            made = form.new(x, room)
            launch(stream, (address(x), address(made)))
            return made

        return call

    def from_points(self, matrix, shape):
        """Prepare tiles of values: call(values, bias, workspace, stream) -> array."""
        form, launch = Form(shape, np.float32), self.launch("from_points", matrix)

        def call(values, bias, room, stream):
            made = form.new(values, room)
            after = (0 if bias is None else address(bias),)
            launch(stream, (address(values), address(made)), after)
            return made

        return call


def _ways(way, sizes):
    """Return the ways, from way(sizes, points, taps), for windows that are supported."""
    h, w = sizes.h, sizes.w
    plain = all((s.stride, s.dilation) == (1, 1) for s in (h, w)) and h.kernel == w.kernel
    enough = min(sizes.channels, sizes.channels_out) >= LEAST_CHANNELS and sizes.groups == 1
    counts = [n for n, kernels in KERNELS.items() if plain and enough and h.kernel in kernels]
    return [found for points in counts for found in way(sizes, points, h.kernel)]


def _over(points, channels, images, sides, made):
    """Return the Tiles of planes, each of which makes so many results down and across. sides: of
    height and width, the plane's size and the results'."""
    (height, width), results = zip(*sides)
    down, across = (ceil_divide(n, made) for n in results)
    return Tiles(points, images, channels, height, width, down, across)


def _way(tiles, sizes, by_rows, make):
    """Return the way of these Tiles, with a product of these sizes for each point, of operands
    whose lines are rows, or not; none if there is no room."""
    if not all(each.fits for each in tiles):
        return []
    (m, n, k), points = sizes, tiles[0].points
    us = sum(each.us for each in tiles)
    us += product_us(sizes, points**2, None, np.dtype(np.float32), by_rows)
    a, b = (GPUArray((points**2, *size), np.float32, gpudata=0) for size in ((m, k), (k, n)))
    told = (points**2, m, n), None, whole(sizes, by_rows)
    return [Other(f"{NAME}, {points} points", us, lambda: make(prepare(a, b, *told)))]


def forward(sizes):
    """Return the ways to convolve: of call(x, weight, bias, workspace, stream) -> array."""
    return _ways(_forward, sizes)


def _forward(sizes, points, taps):
    sides = [(s.image, s.places) for s in (sizes.h, sizes.w)]
    counts = sizes.channels, sizes.channels_out, sizes.images
    return _convolution(points, taps, *counts, sides, (sizes.h.pad, sizes.w.pad), False)


def by_input(sizes):
    """Return the ways to compute the gradient by the input, a convolution of the gradient by the
    result: of call(weight, gradient, workspace, stream) -> array."""
    return _ways(_by_input, sizes)


def _by_input(sizes, points, taps):
    sides = [(s.places, s.image) for s in (sizes.h, sizes.w)]
    pads = [taps - 1 - s.pad for s in (sizes.h, sizes.w)]
    counts = sizes.channels_out, sizes.channels, sizes.images

    def prepared(way):
        call = way.prepare()
        return lambda weight, dy, room, stream: call(dy, weight, None, room, stream)

    ways = _convolution(points, taps, *counts, sides, pads, True)
    return [replace(way, prepare=partial(prepared, way)) for way in ways]


def _convolution(points, taps, channels, channels_out, images, sides, pads, turned):
    """Return the ways to convolve planes with a weight; turned: one of [channels, channels_out]
    windows, whose taps are in reverse."""
    of_taps, of_values = _matrices(points, taps)
    made, (height, width) = len(of_values), (results for _, results in sides)
    of_x = _over(points, channels, images, sides, made)
    of_weight = Tiles(points, 1, channels * channels_out, taps, taps)
    of_y = Tiles(points, images, channels_out, height, width, of_x.down, of_x.across)

    def make(product):
        values = of_x.to_points(_of_tile(points), made, pads)
        windows = of_weight.to_points(of_taps[:, ::-1] if turned else of_taps)
        result = of_y.from_points(of_values, (images, channels_out, height, width))

        def call(x, weight, bias, room, stream):
            both = windows(weight, room, stream), values(x, room, stream)
            return result(product(*both, room, stream), bias, room, stream)

        return call

    shape = channels_out, of_x.each, channels
    return _way((of_x, of_weight, of_y), shape, (not turned, True), make)


def by_weight(sizes):
    """Return the ways to compute the gradient by the weight: of call(x, gradient, workspace,
    stream) -> array."""
    return _ways(_by_weight, sizes)


def _by_weight(sizes, points, taps):
    channels, channels_out, images = sizes.channels, sizes.channels_out, sizes.images
    made = points + 1 - taps  # results of a tile, the gradients of which are the taps here
    of_taps, of_values = _matrices(points, made)
    sides = sizes.h, sizes.w
    of_x = _over(points, channels, images, [(s.image, s.places) for s in sides], made)
    of_dy = _over(points, channels_out, images, [(s.places, s.places) for s in sides], made)
    of_weight = Tiles(points, 1, channels * channels_out, taps, taps)

    def make(product):
        values = of_x.to_points(_of_tile(points), made, [s.pad for s in sides])
        gradients = of_dy.to_points(of_taps, made)
        result = of_weight.from_points(of_values, (channels_out, *sizes.kernel))

        def call(x, dy, room, stream):
            both = gradients(dy, room, stream), values(x, room, stream)
            return result(product(*both, room, stream), None, room, stream)

        return call

    shape = channels_out, channels, of_x.each
    return _way((of_x, of_dy, of_weight), shape, (True, False), make)
