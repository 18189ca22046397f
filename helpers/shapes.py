"""Shapes and strides, on the host: how two arrays meet, element by element, and by which kernel.

A stride counts elements, not bytes. Everything here is plain Python and works as NumPy does."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

__all__ = [
    "MOST_DIMENSIONS",
    "Scheme",
    "broadcast",
    "broadcast_strides",
    "contiguous_strides",
    "magic",
    "merge",
    "pack",
    "pad",
    "permute",
    "scheme",
]

MOST_DIMENSIONS = 7  # of what a kernel takes, after merging


def pad(shape: Sequence[int], dimensions: int) -> tuple[int, ...]:
    """The shape with ones in front, so that it has so many dimensions."""
    return (1,) * (dimensions - len(shape)) + tuple(shape)


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that these broadcast to: in each dimension all have one size, or 1."""
    most = max(map(len, shapes))
    result = []
    for place, sizes in enumerate(zip(*(pad(shape, most) for shape in shapes)), -most):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            raise ValueError(
                f"shapes {' and '.join(str(tuple(s)) for s in shapes)} do not broadcast: dimension"
                f" {place} is {' against '.join(map(str, sizes))}; sizes must be equal, or one of"
                " them 1"
            )
        result.append(others.pop() if others else 1)
    return tuple(result)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of an array whose elements lie one after the other, the last dimension's closest."""
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def broadcast_strides(
    shape: Sequence[int], strides: Sequence[int], target: Sequence[int]
) -> tuple[int, ...]:
    """Strides that walk an array as if it had the target's shape: 0 where it is repeated."""
    new = len(target) - len(shape)
    kept = (0 if n == 1 != m else s for n, s, m in zip(shape, strides, target[new:]))
    return (0,) * new + tuple(kept)


def permute(shape: Sequence[int], *strides: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The shape and strides with dimensions in the memory order of the first strides."""
    order = sorted(range(len(shape)), key=lambda i: -abs(strides[0][i]))
    return tuple(tuple(row[i] for i in order) for row in (shape, *strides))


def merge(shape: Sequence[int], *strides: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The shape and strides with as few dimensions as walk the same elements in the same order.

    Dimensions of size 1 go. Two neighbours become one where every array takes them in one stride:
    where all of them are contiguous there, or broadcast."""
    dimensions: list[tuple[int, ...]] = []
    for size, *steps in zip(shape, *strides):
        if size == 1:
            continue
        if dimensions and all(
            outer == inner * size for outer, inner in zip(dimensions[-1][1:], steps)
        ):
            size *= dimensions.pop()[0]
        dimensions.append((size, *steps))
    return tuple(zip(*dimensions)) or ((),) * (1 + len(strides))


def pack(shape: Sequence[int], *strides: Sequence[int], most: int) -> int:
    """How many neighbours may move as one: the greatest power of two, at most `most`, that divides
    the last dimension and every stride before it. The last dimension must be contiguous in an
    array, or broadcast; an array that is broadcast there sets no bound."""
    if not shape:
        return 1
    steps = [shape[-1]]
    for *outer, inner in strides:
        if inner not in (0, 1):
            return 1
        steps += outer if inner else []
    while any(step % most for step in steps):
        most //= 2
    return most


@dataclass(frozen=True)
class Scheme:
    """A kernel of cuda_src/elementwise for two contiguous arrays, and what it is passed."""

    kernel: str
    first_shorter: bool = False  # whether the first array is the one that is repeated
    sizes: tuple = ()  # inner; inner and axis; outer_stride and inner; or shape and three strides


def scheme(shape0: Sequence[int], shape1: Sequence[int]) -> Scheme:
    """The simplest Scheme for contiguous arrays of these shapes: the first row that fits.

    same                equal shapes                        i
    one_scalar          one array has a single element      0
    one_dimension       one is the trailing dimensions      i % inner
    one_not_broadcast   one varies along one axis only      i / inner % axis
    one_broadcast       one is repeated along one axis      i / outer_stride * inner + i % inner
    strided             anything else                       division by each stride in turn"""
    target = broadcast(shape0, shape1)
    walks = [
        broadcast_strides(shape, contiguous_strides(shape), target) for shape in (shape0, shape1)
    ]
    shape, out, *walks = merge(target, contiguous_strides(target), *walks)
    if walks[0] == walks[1]:
        return Scheme("same")
    first_shorter = walks[1] == out
    shorter = walks[0] if first_shorter else walks[1]
    repeated = [i for i, step in enumerate(shorter) if not step]
    if out not in walks:
        return Scheme("strided", False, (shape, out, *walks))
    if len(repeated) == len(shape):
        return Scheme("one_scalar", first_shorter)
    if repeated == [0] and len(shape) == 2:
        return Scheme("one_dimension", first_shorter, (shape[1],))
    if len(repeated) == len(shape) - 1:
        (axis,) = set(range(len(shape))) - set(repeated)
        return Scheme("one_not_broadcast", first_shorter, (out[axis], shape[axis]))
    if len(repeated) == 1:
        axis = repeated[0]
        return Scheme("one_broadcast", first_shorter, (out[axis] * shape[axis], out[axis]))
    return Scheme("strided", False, (shape, out, *walks))


def magic(divisor: int, bits: int = 32) -> tuple[int, int]:
    """(multiplier, shift) with n // divisor == (2 * n * multiplier >> bits) >> shift for all n
    below 2^(bits-1): a multiplication, of which the upper half is kept, in place of a division.

    The multiplier is 2^(bits-1+shift) / divisor, rounded up, where 2^shift >= divisor. Rounding
    adds less than n / 2^(bits-1+shift) to the quotient, which is less than 1 / divisor and so never
    carries it to the next integer."""
    if not 0 < divisor < 1 << (bits - 1):
        raise ValueError(f"divisor {divisor}: expected 1 to 2^{bits - 1} - 1")
    shift = (divisor - 1).bit_length()
    return -(-(1 << (bits - 1 + shift)) // divisor), shift
