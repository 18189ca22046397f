"""The conformance suite's own parts: what counts as the same answer, and its inputs."""

from __future__ import annotations

import numpy as np
import pytest

from softgpu.tests.conformance.inputs import values
from softgpu.tests.conformance.rules import BITS, Rule, documented, exact


def _f32(*numbers: float) -> bytes:
    return np.array(numbers, np.float32).tobytes()


def _next(number: float, steps: int) -> float:
    return float((np.float32(number).view(np.uint32) + np.uint32(steps)).view(np.float32))


def test_bits_are_compared_byte_by_byte() -> None:
    assert list(BITS.differing(b"\x00\x01\x02", b"\x00\x03\x02")) == [1]


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        (1.0, 1.0, True),
        (1.0, _next(1.0, 1), False),
        (0.0, -0.0, False),
        (np.nan, np.nan, True),
        (np.nan, -np.nan, False),
        (np.nan, np.inf, False),
        (np.inf, -np.inf, False),
    ],
)
def test_exact_numbers(got: float, want: float, same: bool) -> None:
    assert (len(exact("f32").differing(_f32(got), _f32(want))) == 0) == same


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        (1.0, _next(1.0, 4), True),
        (1.0, _next(1.0, 5), False),
        (-1.0, 1.0, False),
        (np.finfo(np.float32).max, np.inf, True),
        (np.inf, np.nan, False),
        (np.nan, -np.nan, False),
        (1e-45, -1e-45, True),
        (0.0, 1e-30, False),
    ],
)
def test_documented_error_in_ulp_counts_twice(got: float, want: float, same: bool) -> None:
    rule = documented("f32", ulp=2)
    assert (len(rule.differing(_f32(got), _f32(want))) == 0) == same


def test_documented_relative_and_absolute_error() -> None:
    rule = documented("f32", relative=2**-10, absolute=2**-4)
    assert list(rule.differing(_f32(0.1, 1000.0, 1000.0), _f32(0.2, 1001.5, 1002.5))) == [2]


@pytest.mark.parametrize(
    ("nans", "found"), [("any", [0, 1, 2, 3]), ("one", [0, 1, 2]), ("none", [])]
)
def test_double_nans_that_meet_are_left_out(nans: str, found: list[int]) -> None:
    nan, other = 0x7FF8 << 48, 0xFFF8 << 48
    operands = [np.array([0, 0, nan, nan], np.uint64), np.array([0, nan, nan, other], np.uint64)]
    zeros, ones = np.zeros(4, np.uint64).tobytes(), np.ones(4, np.uint64).tobytes()
    assert list(Rule("f64", nans=nans).differing(zeros, ones, operands)) == found


def test_half_and_bfloat16_are_told_apart() -> None:
    one, more = np.uint16(0x3F80).tobytes(), np.uint16(0x3F81).tobytes()
    assert len(documented("bf16", relative=2**-9).differing(one, more)) == 1
    assert len(documented("bf16", relative=2**-8).differing(one, more)) == 0
    assert len(documented("f16", relative=2**-10).differing(one, more)) == 0


def test_every_pair_of_edge_values_occurs() -> None:
    a, b = (values("32", n, 2, 512).tolist() for n in (0, 1))
    pairs = set(zip(a, b))
    edges = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 32)
    assert all((x, y) in pairs for x in edges for y in edges)
