"""Threads that wait for each other without __syncthreads: programs as nvcc compiles them."""

from pathlib import Path

import numpy as np
import pytest

from helpers import autoinit, xray

if not autoinit.is_software:
    pytest.skip("sources are loaded into the software GPU", allow_module_level=True)

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

FOLDER = Path(__file__).parent / "together"


def module_of(file):
    return SourceModule((FOLDER / file).read_text(), no_extern_c=True, options=["-std=c++17"])


# --- tiles of several warps ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiles():
    return module_of("tiles.cu")


def clean_and_counted(kernel, *arguments, **geometry):
    """The sanitizer finds nothing, and the profiler can follow."""
    report = xray.sanitize(kernel, *arguments, **geometry)
    assert report.clean, report
    assert xray.profile(kernel, *arguments, **geometry).nsight()


@pytest.mark.parametrize("size", [64, 128, 256, 512])
def test_tiles_of_several_warps(tiles, size):
    value = np.arange(512, dtype=np.int32) * 7 % 101
    out, into = gpuarray.zeros((512, 4), np.int32), gpuarray.to_gpu(value)
    kernel, geometry = tiles.get_function(f"tiles_of_{size}"), dict(block=(512, 1, 1), shared=2048)
    kernel(out, into, **geometry)
    of_tile = value.reshape(-1, size)
    votes = (of_tile == 5).any(1) + 2 * (of_tile < 100).all(1) + 4 * np.arange(512 // size)
    expected = [of_tile[:, 33], votes, of_tile.sum(1)]
    neighbours = value[np.arange(512) ^ size // 2]
    assert np.array_equal(out.get().T, [neighbours, *(np.repeat(e, size) for e in expected)])
    clean_and_counted(kernel, out, into, grid=(3, 1), **geometry)


def test_reserved_shared_memory_is_usable_and_outside_of_the_blocks_own(tiles):
    most = 227 << 10
    kernel = tiles.get_function("reserved")
    kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, most)
    out = gpuarray.zeros(72, np.uint32)
    kernel(out, block=(64, 1, 1), shared=most)
    begin, first, second, end, cap = map(int, out.get()[:5])
    assert most <= begin <= first <= second and second + 288 <= end <= cap
    assert np.array_equal(out.get()[8:], 3 * (np.arange(64) ^ 1))
    clean_and_counted(kernel, out, grid=(2, 1), block=(64, 1, 1), shared=most)


def test_reserved_shared_memory_is_closed_to_who_does_not_ask_for_it(tiles):
    with pytest.raises(cuda.LogicError, match="writes 4 bytes at byte 232448 of shared memory"):
        tiles.get_function("past_the_block")(np.int32(227 << 10), block=(1, 1, 1), shared=1024)


def test_launches_that_may_overlap_follow_each_other(tiles):
    a = gpuarray.to_gpu(np.arange(64, dtype=np.int32))
    b, c = gpuarray.zeros_like(a), gpuarray.zeros_like(a)
    kernel = tiles.get_function("after_another")
    kernel(b, a, block=(64, 1, 1))
    kernel(c, b, block=(64, 1, 1))
    assert np.array_equal(c.get(), 4 * np.arange(64))
