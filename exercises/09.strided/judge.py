"""Two arrays that are walked by strides, in any number of dimensions: a step of the course."""

import numpy as np

from helpers import elementwise, shapes
from helpers.exercises.for_judges import *


def drawn(rng):
    for size in (2, 9), (15, 20):
        one = rng.integers(*size, 3).tolist()
        other = [1 if single else side for side, single in zip(one, rng.integers(0, 2, 3))]
        yield tuple(one), tuple(other), "transposed"


def launch(rng, size):
    one, other, how = size
    target, a, b = shapes.broadcast(one, other), numbers(rng, *one), numbers(rng, *other)
    steps = shapes.contiguous_strides(one)
    given = [In(a), In(b)]
    if how == "transposed":
        given[0], steps = In(a.T.copy()), shapes.contiguous_strides(one[::-1])[::-1]
    walks = [
        shapes.broadcast_strides(one, steps, target),
        shapes.broadcast_strides(other, shapes.contiguous_strides(other), target),
    ]
    if how == "backwards":
        given = [In(np.flip(x).copy(), first=x.size - 1) for x in (a, b)]
        walks = [tuple(-step for step in walk) for walk in walks]
    _, *walks = shapes.merge(target, shapes.contiguous_strides(target), *walks)
    out = Out(a + b)
    arguments = [*given, out, np.int64(out.expected.size)]
    arguments += [elementwise.strides(*walks), elementwise.NO_NUMBERS]
    what = f"{one}{f', {how},' if how else ''} and {other}"
    return Launch(arguments, blocks_for(out.expected.size), 256, what=what)


def far(rng):
    """One array is whole, the other transposed."""
    rows, columns = (1 << 31) + int(rng.integers(1, 1000)), 2
    count = rows * columns
    blocks, i = near(count, count - 1)
    first, a = strewn(rng, count, i)
    second, b = strewn(rng, count, i % columns * rows + i // columns)
    out = Far(count, "f4", expected=pieces(i, a + b))
    table = elementwise.strides((columns, 1), (columns, 1), (1, rows))
    arguments = [first, second, out, np.int64(count), table, elementwise.NO_NUMBERS]
    what = f"{rows:,} x {columns}"
    return Launch(arguments, blocks_for(count), 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    # two shapes that broadcast, and whether the first array is transposed, or both run backwards
    sizes=(
        ((1,), (1,), ""),
        ((33, 65), (65,), "transposed"),
        ((8, 3, 1, 7), (3, 5, 1), ""),
        ((2, 1, 2, 1, 3, 1, 2), (1, 3, 1, 2, 1, 2, 1), ""),
        ((7, 40, 5), (40, 1), "backwards"),
    ),
    drawn=drawn,
    far=far,
    ours="elementwise/strided.cu",
    spare=128,
    counted=((64, 256), (256,), ""),
    budget={"ld.sectors": 4096, "st.sectors": 2048},
)
