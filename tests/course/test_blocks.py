"""MXFP8 and NVFP4 in NumPy."""

import numpy as np
import pytest

from helpers import blocks, float8
from softgpu.tests.facts import refused

from .steps_reduce import numbers


def test_all_numbers_of_a_block_come_back():
    quarters = np.concatenate([blocks.QUARTERS, -blocks.QUARTERS])
    x = quarters * np.array([[1.0], [448]])
    codes, scales, whole = blocks.nvfp4(x)
    assert codes.shape == (2, 8) and scales.shape == (2, 1) and whole == 1
    assert (blocks.from_nvfp4(codes, scales, whole) == x).all()
    assert codes[0].tolist() == [0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]
    every = float8.numbers(np.arange(0x7F, dtype=np.uint8), "e4m3")[-32:].astype(float)
    for power in -100, 0, 20:
        codes, scales = blocks.mxfp8(every * 2.0**power)
        assert scales.tolist() == [127 + power]
        assert (blocks.from_mxfp8(codes, scales) == every * 2.0**power).all()


@pytest.mark.parametrize("kind", blocks.BLOCKS)
def test_the_nearest_number_is_taken(kind):
    x = numbers(7, 64).astype(float) * np.exp(2 * numbers(7, 1))
    made = getattr(blocks, kind)(x)
    got = getattr(blocks, f"from_{kind}")(*made)
    size = blocks.BLOCKS[kind]
    largest = np.abs(x).reshape(7, -1, size).max(-1).repeat(size, -1)
    # Half a step of the largest: e4m3 has 3 bits of fraction; E2M1 goes from 4 to 6, and its scale
    # may be off by a sixteenth. What is past 448 is cut, of at most 512.
    bound = {"mxfp8": 1 / 8, "nvfp4": 1 / 6 + 1 / 16}[kind]
    assert (abs(got - x) <= bound * largest).all()
    again = getattr(blocks, f"from_{kind}")(*getattr(blocks, kind)(got))
    assert (again == got).all()


def test_ties_go_to_even_codes():
    x = np.zeros(16)
    x[:8] = 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6
    codes, scales, whole = blocks.nvfp4(x * 448)
    got = blocks.from_nvfp4(codes, scales, whole)[:8] / 448
    assert got.tolist() == [0, 1, 1, 2, 2, 4, 4, 6]


def test_what_does_not_fit_is_refused():
    for kind, size in blocks.BLOCKS.items():
        with refused(ValueError, kind, (2, size + 8), size):
            getattr(blocks, kind)(np.ones((2, size + 8)))
        with refused(ValueError, kind):
            getattr(blocks, kind)(np.full(size, np.inf))
    zeros = blocks.nvfp4(np.zeros(16))
    assert (blocks.from_nvfp4(*zeros) == 0).all()
    assert (blocks.from_mxfp8(*blocks.mxfp8(np.zeros(32))) == 0).all()
