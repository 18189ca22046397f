"""What PTX leaves open is as a GPU answered (asked/golden, by asked/record.sh)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ASKED = Path(__file__).parent / "asked"
PARTING = 8  # masks by which lanes take part one group after the other; here all are there at once


def _run(program: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    command = [sys.executable, "-m", "softgpu", "run", str(ASKED / program), *options]
    result = subprocess.run([*command, "--", *arguments], capture_output=True, text=True)
    return result.stdout


def _golden(name: str) -> list[str]:
    return (ASKED / "golden" / name).read_text().splitlines()


@pytest.mark.parametrize("mask", [m for m in range(12) if m != PARTING])
def test_masks_that_leave_lanes_out(mask):
    first = 28 * mask
    expected = _golden("masks.txt")[first : first + 28]
    said = _run("masks.cu", str(mask)).splitlines()
    if expected[0].endswith("instruction was encountered"):  # which ends the program
        assert len(said) == 1 and said[0].startswith(f"{expected[0]}: kernel at_run_time<0>")
    else:
        assert said == expected


def test_a_product_ends_for_all_four_warps():
    said = _run("waits.cu", options=("-arch=sm_90a",)).splitlines()
    assert said == _golden("waits.txt")


def test_low_bits_of_generic_addresses_are_the_shared_address():
    seen = [line for line in _run("addresses.cu").splitlines() if re.match("first|second", line)]
    told = [line for line in _golden("addresses.txt") if re.match("first|second", line)]
    low = [line for line in told if "low 24 bits" in line]
    assert [line for line in seen if "low 24 bits" in line] == low
    assert all("shared window aligned to 16 MiB 1" in line for line in seen if "window" in line)
