"""im2col and col2im, by the kernels of cuda_src/im2col and cuda_src/col2im."""

from math import gcd, prod

import numpy as np

from .. import windows
from .arrays import check, is_contiguous, overlap, signature
from .elementwise import FLOATS, contiguous
from .launch import Form, Kept, KernelCall, address, ceil_divide, context, workspace

__all__ = ["col2im", "im2col"]

BLOCK = 128
NARROW = (1 << 31) - 1024  # elements that an int counts, and the threads of a last block
LARGE = 1 << 21  # bytes of columns from which on a kernel is compiled for just this window
MOST_UNROLLED = 64  # elements of a window, for that
BITS = {2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}  # im2col only copies

prepared = Kept()


def im2col(x, kernel, stride=1, padding=0, dilation=1, out=None, stream=None):
    """Return the columns of images: x[N, C, H, W] -> [N, C * kernel_h * kernel_w, H_out *
    W_out]; N may be missing in both. Elements outside of the image are 0. Computes the same as
    PyTorch's unfold."""
    told = _window(kernel, stride, padding, dilation)
    key = "im2col", told, signature(x), None if out is None else signature(out), context()
    call = prepared.get(key)
    if call is None:
        call = prepared[key] = _im2col(x, told, out)
    return _run(call, x, out, stream)


def col2im(
    columns, output_size, kernel, stride=1, padding=0, dilation=1, out=None, stream=None, add=False
):
    """Return the images of columns, summing overlapping elements: columns[N, C * kernel_h *
    kernel_w, H_out * W_out] -> [N, C, *output_size]; N may be missing in both. Computes the same as
    PyTorch's fold. float16 is accumulated in float32.

    add: add the sums to what out holds."""
    told = windows.pair(output_size, "output_size", 1), *_window(kernel, stride, padding, dilation)
    given = None if out is None else signature(out)
    key = "col2im", told, bool(add), signature(columns), given, context()
    call = prepared.get(key)
    if call is None:
        call = prepared[key] = _col2im(columns, told, out, add)
    return _run(call, columns, out, stream)


def _window(kernel, stride, padding, dilation):
    """Return a window's parameters, each as a pair."""
    return (
        windows.pair(kernel, "kernel", 1),
        windows.pair(stride, "stride", 1),
        windows.pair(padding, "padding", 0),
        windows.pair(dilation, "dilation", 1),
    )


def _run(call, x, out, stream):
    form, launch = call
    if out is None:
        out = form.new(x, workspace(stream))
    elif overlap(x, out):
        raise ValueError("out shares memory with the input: give another, or leave it out")
    if launch:
        launch(stream, (address(contiguous(x, stream)), address(out)))
    return out


def _im2col(x, told, out):
    """Prepare calls of this kind: return a Form and a KernelCall (None without elements)."""
    check(x, FLOATS, "im2col: x")
    if x.ndim not in (3, 4) or 0 in x.shape[-3:]:
        raise ValueError(f"im2col: x has shape {x.shape}; expected [N, C, H, W] or [C, H, W]")
    h, w = windows.sides(x.shape[-2:], *told)
    *batch, channels = x.shape[:-2]
    shape = *batch, channels * h.kernel * w.kernel, h.places * w.places
    form = _form(shape, x, out)
    if not prod(shape):
        return form, None
    most, index = 16 // x.dtype.itemsize, _index(x.size, prod(shape))
    choices = {"T": BITS[x.dtype.itemsize], "Index": index}
    file, pack = "im2col/column_packs.cu", _pack(w.places, most // w.stride, out)
    if _unrolls(h, w, prod(shape) * x.dtype.itemsize):
        wide = _pack(gcd(w.places, w.image), most, x, out)
        file, pack = ("im2col/wide.cu", wide) if wide > 1 else ("im2col/unrolled.cu", pack)
        choices |= windows.known(h, w)
    n = x.size // (h.image * w.image) * h.places * w.places // pack
    by = windows.dividers(w.places // pack, h.places, w.kernel, h.kernel, index=index)
    grid = (ceil_divide(n, BLOCK),)
    choices["PACK"] = pack
    return form, KernelCall(file, choices, grid, (BLOCK,), n, windows.argument(h, w), by)


def _col2im(columns, told, out, add):
    """Prepare col2im calls of this kind: return a Form and a KernelCall (None without elements)."""
    check(columns, FLOATS, "col2im: columns")
    h, w = windows.sides(*told)
    elements, places = h.kernel * w.kernel, h.places * w.places
    if columns.ndim not in (2, 3) or not columns.shape[-2]:
        raise ValueError(
            f"col2im: columns have shape {columns.shape}; expected [N, C * {elements}, {places}] or"
            f" [C * {elements}, {places}]"
        )
    *batch, rows, length = columns.shape
    if rows % elements or length != places:
        raise ValueError(
            f"col2im: columns have shape {columns.shape}; a kernel of {h.kernel} x {w.kernel} has a"
            f" multiple of {elements} rows, and {h.places} x {w.places} = {places} places on"
            f" {h.image} x {w.image}"
        )
    if add and out is None:
        raise ValueError("col2im: add adds to out, which is not given")
    shape = *batch, rows // elements, h.image, w.image
    form = _form(shape, columns, out)
    if not prod(shape):
        return form, None
    index, choices = _index(columns.size, prod(shape)), {"T": columns.dtype}
    choices["Acc"] = "double" if columns.dtype == np.float64 else "float"
    choices |= {"Index": index, "REQUEST": "ADD" if add else "WRITE"}
    common = [np.int32(gcd(side.stride, side.dilation)) for side in (h, w)]
    file, pack = "col2im/skip.cu", 1
    if _unrolls(h, w, columns.nbytes):
        file, pack = _unrolled_col2im(w, columns, out)
        common, choices = [], choices | {"PACK": pack} | windows.known(h, w)
    n = prod(shape) // pack
    by = windows.dividers(w.image // pack, h.image, w.kernel, h.kernel, index=index)
    grid = (ceil_divide(n, BLOCK),)
    return form, KernelCall(file, choices, grid, (BLOCK,), n, windows.argument(h, w), *common, by)


def _unrolled_col2im(w, columns, out):
    """Return the kernel compiled for this window, and how many pixels each of its threads
    handles."""
    most = 16 // columns.dtype.itemsize
    if w.stride <= 2:
        copies = _pack(gcd(w.places, w.image // w.stride), most // w.stride**2, columns)
        pack = _pack(w.image, copies * w.stride, out)
        if 1 < pack == copies * w.stride:
            return "col2im/wide.cu", pack
    return "col2im/unrolled.cu", _pack(w.image, min(4, most), out)


def _form(shape, x, out):
    """Return the result's Form; check that out, if given, matches it."""
    if out is not None:
        check(out, [x.dtype.name], "out")
        if out.shape != shape or not is_contiguous(out):
            raise ValueError(
                f"out has shape {out.shape} and strides {out.strides}; the result is contiguous and"
                f" has shape {shape}"
            )
    return Form(shape, x.dtype)


def _index(*sizes):
    """Return the integer type for counting elements."""
    return np.dtype(np.int32 if max(sizes) < NARROW else np.int64)


def _pack(length, most, *arrays):
    """Return the elements per access: `most`, halved until it divides the length and all arrays
    (new ones and copies always) are aligned to it."""
    pack = max(1, most)
    given = [x for x in arrays if x is not None and is_contiguous(x)]
    while length % pack or any(address(x) % (pack * x.dtype.itemsize) for x in given):
        pack //= 2
    return pack


def _unrolls(h, w, nbytes):
    """Whether to compile a kernel for just this window, which takes seconds."""
    return nbytes >= LARGE and h.kernel * w.kernel <= MOST_UNROLLED
