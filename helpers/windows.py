"""A window that moves over an image: the arguments of im2col and col2im, and what they give.

    h, w = windows.sides((H, W), kernel=3, stride=(2, 1), padding=1)
    h.places, w.places    # of the window, on its way down and on its way across
    windows.argument(h, w), windows.dividers(w.places, h.places, w.kernel, h.kernel)

The last two are the structs Window and Dividers of cuda_src/im2col/window.cuh. im2col and col2im
are NumPy's, of x[..., H, W]."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import shapes

__all__ = [
    "MORE",
    "Side",
    "argument",
    "col2im",
    "dividers",
    "elements",
    "im2col",
    "known",
    "pair",
    "sides",
]


MORE = 32  # of two tiles: a kernel reads on without asking for the end


@dataclass(frozen=True)
class Side:
    """The height or the width: elements of the image and of the window, `dilation` apart, which
    moves on by `stride`, over `pad` zeros before the image and past its end, and `more` there."""

    image: int
    kernel: int
    dilation: int = 1
    stride: int = 1
    pad: int = 0
    more: int = 0

    @property
    def padded(self) -> int:
        """Elements of the image and the zeros around it."""
        return self.image + 2 * self.pad + self.more

    @property
    def extent(self) -> int:
        """From the first element of the window to the last."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def places(self) -> int:
        """Of the window on its way; 0 or less: there is none."""
        return (self.padded - self.extent) // self.stride + 1

    def reached(self, k: int) -> slice:
        """Where element k of the window lies at its places, counted with the padding before the
        image: a slice."""
        first = k * self.dilation
        return slice(first, first + self.stride * (self.places - 1) + 1, self.stride)


def pair(value: Any, name: str, least: int) -> tuple[int, int]:
    """A whole number for both, also as a list of one, or two of them, of height and width."""
    values = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,)
    values *= 2 if len(values) == 1 else 1
    whole = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values)
    if len(values) != 2 or not whole:
        raise TypeError(f"{name} {value!r}: expected a whole number, or two, of height and width")
    if min(values) < least:
        raise ValueError(f"{name} {value!r}: expected {least} or more")
    return int(values[0]), int(values[1])


def sides(
    size: Any, kernel: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> tuple[Side, Side]:
    """The Sides, height and width, of a window over images of this size."""
    told = [pair(size, "the image's size", 1), pair(kernel, "kernel", 1)]
    told += [pair(dilation, "dilation", 1), pair(stride, "stride", 1), pair(padding, "padding", 0)]
    h, w = (Side(*values) for values in zip(*told))
    for name, side in ("height", h), ("width", w):
        if max(side.padded, side.extent) >= 1 << 31:
            raise ValueError(
                f"{name}: {side.padded} elements, a window of {side.extent}: 2^31 or more"
            )
        if side.places < 1:
            raise ValueError(
                f"{name}: a window of {side.extent} elements finds no place among {side.padded}"
                f" ({side.image}, and {side.pad} of padding at either end)"
            )
    return h, w


def argument(h: Side, w: Side) -> np.void:
    """A kernel's Window."""
    words = [(s.image, s.places, s.kernel, s.dilation, s.stride, s.pad) for s in (h, w)]
    return np.void(np.array(words, np.int32).tobytes())


def dividers(
    width: int, height: int, kernel_w: int, kernel_h: int, index: DTypeLike = np.int32
) -> np.void:
    """A kernel's Dividers, whose Index this is."""
    divisors = width, height, kernel_w, kernel_h
    bits = 8 * np.dtype(index).itemsize
    words = [(divisor, *shapes.magic(divisor, bits)) for divisor in divisors]
    return np.void(np.array(words, f"u{bits // 8}").tobytes())


def elements(channels: int, h: Any, w: Any, index: DTypeLike = np.int32) -> np.ndarray:
    """Where the elements of a window over so many channels lie beside its first one: the structs
    Element of cuda_src/convolution/sources.cuh, as words, and MORE zeros."""
    channel, i, j = np.indices((channels, h.kernel, w.kernel)).reshape(3, -1)
    row, column = i * h.dilation, j * w.dilation
    offset = ((channel * h.image + row) * w.image + column).astype(index)
    found, size = np.zeros((len(offset) + MORE, 4), np.int32), offset.itemsize // 4
    given = found[: len(offset)]
    given[:, :size] = offset.view(np.int32).reshape(len(offset), size)
    given[:, size], given[:, size + 1] = row, column
    return found


def known(h: Side, w: Side) -> dict[str, str]:
    """The choices H and W of a kernel that is compiled for just this window."""
    return {
        name: f"Known<{side.kernel}, {side.dilation}, {side.stride}, {side.pad}>"
        for name, side in (("H", h), ("W", w))
    }


def im2col(x: np.ndarray, h: Side, w: Side) -> np.ndarray:
    """x[..., H, W] -> [..., kernel_h, kernel_w, H_out, W_out]: what lies under each element of the
    window at each of its places."""
    outside = [(0, 0)] * (x.ndim - 2) + [(s.pad, s.pad + s.more) for s in (h, w)]
    padded = np.pad(x, outside)
    out = np.empty((*x.shape[:-2], h.kernel, w.kernel, h.places, w.places), x.dtype)
    for i in range(h.kernel):
        for j in range(w.kernel):
            out[..., i, j, :, :] = padded[..., h.reached(i), w.reached(j)]
    return out


def col2im(columns: np.ndarray, h: Side, w: Side) -> np.ndarray:
    """columns[..., kernel_h, kernel_w, H_out, W_out] -> [..., H, W]: each element the sum of what
    im2col would copy of it."""
    size = *columns.shape[:-4], h.padded, w.padded
    padded = np.zeros(size, columns.dtype)
    for i in range(h.kernel):
        for j in range(w.kernel):
            padded[..., h.reached(i), w.reached(j)] += columns[..., i, j, :, :]
    return padded[..., h.pad : h.pad + h.image, w.pad : w.pad + w.image]
