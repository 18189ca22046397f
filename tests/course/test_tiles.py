"""Tiles of a product: who loads what is what the kernel's own indices say."""

import numpy as np
import pytest

from helpers import autoinit, sources, tiles  # noqa: F401  (the first makes PyCUDA's context)
from softgpu.tests.facts import missing, numbers

from pycuda import gpuarray  # isort: skip


@pytest.fixture
def call():
    """A launch of a step of gemm/ for m, n and k, as tiles takes it."""

    def made(name, *sizes, grid, block, more=()):
        m, n, k = sizes
        shapes = (m, k), (k, n), (m, n)
        arrays = [gpuarray.zeros(shape, np.float32) for shape in shapes]
        args = [sources.kernel(f"gemm/{name}.cu"), *arrays, *map(np.int64, sizes), *more]
        return args, {"grid": grid, "block": block}

    return made


def warps(found, name):
    return found.owners["abc".index(name)]


def test_warps_of_naive_load_a_row_of_a_each_and_all_of_them_the_same_columns_of_b(call):
    args, shape = call("naive", 16, 64, 8, grid=(2, 2), block=(32, 8))
    found = tiles.Tiles(*args, **shape)
    rows = np.repeat([*range(8), *[tiles.NOBODY] * 8], 8).reshape(16, 8)
    assert (warps(found, "a") == rows).all()
    assert (found.counts[1][:, :32] == 8).all() and not found.counts[1][:, 32:].any()
    assert (warps(found, "b")[:, :32] == tiles.SEVERAL).all()
    assert not missing(found.words[1], "8 × 32", "b") and numbers(found.words[1])[-1] == 8


def test_a_block_of_shared_loads_each_element_once(call):
    args, shape = call("shared", 64, 64, 32, grid=(2, 2), block=(32, 32))
    found = tiles.Tiles(*args, **shape)
    for owner, count in zip(found.owners, found.counts):
        assert (owner[:32, :32] == np.arange(32)[:, None]).all()
        assert (count[:32, :32] == 1).all() and count.sum() == 1024
    assert found.warps == 32


def test_a_pack_is_four_elements(call):
    strides = np.array([8, 128, 0, 0])
    args, shape = call("packed", 128, 128, 8, grid=(1, 1), block=(256, 1), more=[strides])
    found = tiles.Tiles(*args, **shape)
    assert (warps(found, "a") == np.repeat(np.arange(8), 16)[:, None]).all()
    assert (warps(found, "b") == np.arange(8)[:, None]).all()
    assert all((count == 1).all() for count in found.counts)


def test_the_picture_says_what_it_shows(call):
    args, shape = call("shared", 64, 64, 32, grid=(2, 2), block=(32, 32))
    drawn = tiles.picture(*args, **shape)
    assert numbers(drawn.alt) == [0, 32, *[32, 32] * 3] and not missing(drawn.alt, "a", "b", "c")
    assert drawn._repr_png_()[0].startswith(b"\x89PNG")
