"""Convolutions of each channel by itself, and their gradients, in NCHW layout, by
convolution/depthwise.cu and depthwise_weight.cu, which are compiled for a window."""

from math import prod

import numpy as np

from .. import windows
from ..shapes import magic
from .launch import Form, KernelCall, address, ceil_divide, multiprocessors
from .product import Parts, pack_of
from .reduce import WIDE

__all__ = ["by_input", "by_weight", "forward"]

BLOCK, PATCH = 256, 4  # threads; elements of a thread, across and down
MOST_TAPS, MOST_REACH = 49, 13  # of a window; elements from its first to its last
MOST_STRIDE = 4
WAVES = 4  # blocks for each multiprocessor, where there are splits
MOST_BLOCKS = 65535  # of a grid's second dimension


def fits(sizes):
    """Whether these kernels compute it."""
    h, w = sizes.h, sizes.w
    small = h.kernel * w.kernel <= MOST_TAPS and max(h.extent, w.extent) <= MOST_REACH
    small = small and max(h.stride, w.stride) <= MOST_STRIDE
    alone = sizes.groups == sizes.channels > 1
    return alone and small and prod(sizes.result) > 0 and prod(sizes.image) > 0


def forward(x, weight, sizes):
    """Prepare a convolution: call(x, weight, bias, workspace, stream); None: not supported."""
    return _planes(x, sizes, False) if fits(sizes) else None


def by_input(weight, grad_output, sizes):
    """Prepare the gradient by the input: call(weight, grad_output, workspace, stream); None: not
    supported."""
    if not fits(sizes):
        return None
    call = _planes(grad_output, sizes, True)
    return lambda weight, dy, room, stream: call(dy, weight, None, room, stream)


def by_weight(x, grad_output, sizes):
    """Prepare the gradient by the weight: call(x, grad_output, workspace, stream); None: not
    supported."""
    if not fits(sizes):
        return None
    wide, shape = WIDE[x.dtype.name], (sizes.channels_out, *sizes.kernel)
    down, across = (ceil_divide(side.places, PATCH) for side in (sizes.h, sizes.w))
    patches = sizes.images * down * across
    splits = ceil_divide(WAVES * multiprocessors(), sizes.channels_out)
    splits = min(splits, ceil_divide(patches, BLOCK), MOST_BLOCKS)
    parts = Parts(1, splits, prod(shape), Form(shape, x.dtype), wide, narrow=False)
    told = (sizes.h.image, sizes.w.image), (sizes.h.places, sizes.w.places)
    launch = KernelCall(
        "convolution/depthwise_weight.cu", _choices(x, sizes) | {"HIGH": PATCH, "WIDE": PATCH},
        (sizes.channels_out, splits), (BLOCK,), patches, np.int32(sizes.channels),
        *map(_size, told), _divider(across), _divider(down),
    )  # fmt: skip

    def call(x, grad_output, room, stream):
        made = parts.new(x, room)
        launch(stream, (address(x), address(grad_output), address(made)))
        return parts.finish(made, room, stream)

    return call


def _planes(x, sizes, backward):
    """Prepare convolution/depthwise.cu: call(x, weight, bias, workspace, stream) -> array."""
    images = (sizes.h.image, sizes.w.image), (sizes.h.places, sizes.w.places)
    of_x, of_y = images[::-1] if backward else images
    planes = sizes.images * (sizes.channels if backward else sizes.channels_out)
    form = Form((sizes.images, planes // sizes.images, *of_y), x.dtype)
    sides = [_patch(side, backward) for side in (sizes.h, sizes.w)]
    down, across = (ceil_divide(size, patch) for size, patch in zip(of_y, sides))
    choices = _choices(x, sizes) | {"HIGH": sides[0], "WIDE": sides[1], "BACKWARD": int(backward)}
    most = min(PATCH, 16 // x.dtype.itemsize)
    choices["Y_PACK"] = pack_of(most, 1, 0, of_y[1], sides[1])
    patches = planes * down * across
    launch = KernelCall(
        "convolution/depthwise.cu", choices, (ceil_divide(patches, BLOCK),), (BLOCK,), patches,
        np.int32(sizes.channels), _size(of_x), _size(of_y), _divider(across), _divider(down),
    )  # fmt: skip

    def call(x, weight, bias, room, stream):
        made = form.new(x, room)
        after = (0 if bias is None else address(bias),)
        launch(stream, (address(x), address(weight), address(made)), after)
        return made

    return call


def _patch(side, backward):
    """Return how many elements of a patch lie along a side: a multiple of the stride, backward."""
    return PATCH // side.stride * side.stride if backward else PATCH


def _choices(x, sizes):
    """Return the choices that all these kernels have."""
    times = sizes.channels_out // sizes.channels
    told = {"T": x.dtype, "Acc": WIDE[x.dtype.name], "TIMES": times}
    return told | windows.known(sizes.h, sizes.w)


def _size(sides):
    """Return a kernel's struct Size."""
    return np.void(np.array(sides, np.int32).tobytes())


def _divider(n):
    """Return a kernel's Divider<long long>."""
    return np.array([n, *magic(n, 64)], np.uint64)
