"""helpers.shapes against NumPy: any shapes, sizes 0 and 1 included."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices, mutually_broadcastable_shapes

from helpers import shapes
from softgpu.tests.facts import refused

SHAPES = array_shapes(min_dims=0, max_dims=7, min_side=0, max_side=4)
PAIRS = mutually_broadcastable_shapes(num_shapes=2, min_side=0, max_side=4, max_dims=7).map(
    lambda drawn: drawn.input_shapes
)
FILLED = mutually_broadcastable_shapes(num_shapes=2, min_side=1, max_side=4, max_dims=6).map(
    lambda drawn: drawn.input_shapes
)


def elements(x):
    """The strides of an array in elements."""
    return tuple(step // x.itemsize for step in x.strides)


def walk(shape, strides):
    """The places that strides lead to, in order."""
    places = np.zeros(shape, int)
    for axis, step in enumerate(strides):
        places += step * np.arange(shape[axis]).reshape(-1, *[1] * (len(shape) - axis - 1))
    return places.ravel()


@given(st.lists(SHAPES, min_size=1, max_size=3))
def test_broadcast_is_numpy_s(several):
    try:
        want = np.broadcast_shapes(*several)
    except ValueError:
        with refused(ValueError, *several):
            shapes.broadcast(*several)
    else:
        assert shapes.broadcast(*several) == want


def test_what_does_not_broadcast_is_told():
    with refused(ValueError, (3, 4), (5,), -1, 4, 5):
        shapes.broadcast((3, 4), (5,))


@given(PAIRS)
def test_broadcast_strides_are_numpy_s(pair):
    target = shapes.broadcast(*pair)
    for shape in pair:
        x = np.zeros(shape)
        want = elements(np.broadcast_to(x, target)) if prod(target) else None
        got = shapes.broadcast_strides(shape, shapes.contiguous_strides(shape), target)
        assert len(got) == len(target)
        if want is not None:
            assert np.array_equal(walk(target, got), walk(target, want))


@given(PAIRS)
def test_merged_dimensions_walk_the_same_elements_in_the_same_order(pair):
    target = shapes.broadcast(*pair)
    walks = [
        shapes.broadcast_strides(shape, shapes.contiguous_strides(shape), target) for shape in pair
    ]
    shape, *merged = shapes.merge(target, *walks)
    assert prod(shape) == prod(target) and 1 not in shape
    for before, after in zip(walks, merged):
        assert np.array_equal(walk(target, before), walk(shape, after))


@given(SHAPES.flatmap(lambda shape: st.tuples(st.just(shape), basic_indices(shape))))
def test_views_merge_by_their_strides(drawn):
    shape, index = drawn
    x = np.arange(prod(shape)).reshape(shape)
    view = x[index]
    if np.isscalar(view):
        return
    first = view.ravel()[0] if view.size else 0
    merged, steps = shapes.merge(view.shape, elements(view))
    assert np.array_equal(first + walk(merged, steps), view.ravel())


@pytest.mark.parametrize(
    "shape, others, merged",
    [
        ((2, 3, 4), [(2, 3, 4)], 1),
        ((2, 3, 4), [(1, 3, 4)], 2),
        ((2, 3, 4, 5), [(1, 3, 1, 1)], 3),
        ((2, 3, 4, 5), [(2, 1, 4, 5)], 3),
        ((2, 3, 4, 5), [(1, 1, 4, 5)], 2),
        ((2, 3, 4, 5), [(2, 3, 1, 5)], 3),
        ((2, 3, 4, 5), [(1, 1, 1, 1)], 1),
        ((2, 1, 4, 1), [(2, 1, 4, 1)], 1),
        ((2, 3, 4, 5), [(2, 3, 1, 1), (1, 1, 4, 5)], 2),
        ((1, 1), [()], 0),
        ((2,) * 9, [(2, 1) * 4 + (2,)], 9),
    ],
)
def test_as_few_dimensions_as_can_be(shape, others, merged):
    walks = [
        shapes.broadcast_strides(other, shapes.contiguous_strides(other), shape)
        for other in (shape, *others)
    ]
    assert len(shapes.merge(shape, *walks)[0]) == merged


@given(st.permutations(range(4)))
def test_permuted_dimensions_lie_in_memory_order(order):
    x = np.zeros((2, 3, 4, 5)).transpose(order)
    shape, strides, others = shapes.permute(x.shape, elements(x), tuple(range(4)))
    assert shape == (2, 3, 4, 5) and strides == (60, 20, 5, 1)
    assert others == tuple(np.argsort(order))


def places(found, size):
    """Where each array is read for each element i of the result, by the formula of a Scheme."""
    i = np.arange(size)
    if found.kernel == "strided":
        shape, out, *walks = found.sizes
        assert np.array_equal(walk(shape, out), i)
        return tuple(walk(shape, strides) for strides in walks)
    other = {
        "same": lambda: i,
        "one_scalar": lambda: 0 * i,
        "one_dimension": lambda inner: i % inner,
        "one_not_broadcast": lambda inner, axis: i // inner % axis,
        "one_broadcast": lambda outer, inner: i // outer * inner + i % inner,
    }[found.kernel](*found.sizes)
    return (other, i) if found.first_shorter else (i, other)


@given(FILLED)
def test_every_scheme_reads_what_numpy_reads(pair):
    target = shapes.broadcast(*pair)
    found = shapes.scheme(*pair)
    for shape, got in zip(pair, places(found, prod(target))):
        want = np.broadcast_to(np.arange(prod(shape)).reshape(shape), target)
        assert np.array_equal(got, want.ravel()), found


@pytest.mark.parametrize(
    "shape, kernel, sizes",
    [
        ((8, 3, 4, 5), "same", ()),
        ((1,), "one_scalar", ()),
        ((), "one_scalar", ()),
        ((4, 5), "one_dimension", (20,)),
        ((1, 1, 4, 5), "one_dimension", (20,)),
        ((3, 1, 1), "one_not_broadcast", (20, 3)),
        ((8, 1, 1, 1), "one_not_broadcast", (60, 8)),
        ((8, 1, 4, 5), "one_broadcast", (60, 20)),
        ((8, 3, 1, 5), "one_broadcast", (20, 5)),
        ((1, 3, 1, 5), "strided", None),
    ],
)
def test_the_simplest_scheme_is_taken(shape, kernel, sizes):
    for pair, first_shorter in (((8, 3, 4, 5), shape), False), ((shape, (8, 3, 4, 5)), True):
        found = shapes.scheme(*pair)
        assert found.kernel == kernel
        if sizes is not None:
            assert found.sizes == sizes
        if kernel not in ("same", "strided"):
            assert found.first_shorter == first_shorter


@given(FILLED, st.sampled_from([2, 4, 8, 16]))
def test_packs_divide_the_last_dimension_and_all_that_comes_before(pair, most):
    target = shapes.broadcast(*pair)
    walks = [
        shapes.broadcast_strides(shape, shapes.contiguous_strides(shape), target) for shape in pair
    ]
    shape, *walks = shapes.merge(target, *walks)
    count = shapes.pack(shape, *walks, most=most)
    assert most % count == 0
    for strides in walks:
        rows = walk(shape, strides).reshape(-1, count)
        assert (np.diff(rows) == (strides[-1] if strides else 0)).all()
        if strides and strides[-1]:
            assert (rows[:, 0] % count == 0).all()


def test_no_packs_where_neighbours_lie_apart():
    assert shapes.pack((4, 8), (16, 2), most=8) == 1 == shapes.pack((4, 8), (8, -1), most=8)
    assert shapes.pack((), (), most=8) == 1


@given(st.sampled_from([32, 64]), st.data())
def test_magic_division_is_exact(bits, data):
    below = st.integers(0, 2 ** (bits - 1) - 1)
    divisor, n = data.draw(below.filter(bool)), data.draw(below)
    multiplier, shift = shapes.magic(divisor, bits)
    assert 0 <= multiplier < 2**bits
    for near in n, n - n % divisor, max(n - n % divisor - 1, 0), 2 ** (bits - 1) - 1:
        assert (2 * near * multiplier >> bits) >> shift == near // divisor


def test_magic_refuses_what_it_cannot_divide_by():
    for divisor in 0, -1, 2**31:
        with refused(ValueError, divisor, 1, "2^31 - 1"):
            shapes.magic(divisor)
