"""What PTX leaves open is as a GPU answered (asked/golden, by asked/record.sh)."""

import re
from pathlib import Path

import pytest

from softgpu.tests import python
from softgpu.tests.facts import missing

pytestmark = pytest.mark.slow

ASKED = Path(__file__).parent / "asked"
PARTING = 8  # masks by which lanes take part one group after the other; here all are there at once


def _run(program: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    return python("-m", "softgpu", "run", ASKED / program, *options, "--", *arguments).stdout


def _golden(name: str) -> list[str]:
    return (ASKED / "golden" / name).read_text().splitlines()


@pytest.mark.parametrize("mask", [m for m in range(12) if m != PARTING])
def test_masks_that_leave_lanes_out(mask):
    first = 28 * mask
    expected = _golden("masks.txt")[first : first + 28]
    said = _run("masks.cu", str(mask)).splitlines()
    if expected[0].endswith("instruction was encountered"):  # which ends the program
        assert len(said) == 1 and not missing(said[0], "at_run_time<0>")
    else:
        assert said == expected


def test_blocks_of_other_sizes_than_the_kernel_asks_for():
    said = _run("blocks.cu").splitlines()
    assert [line for line in said if line[0] == "."] == _golden("blocks.txt")


def test_a_parity_is_its_lowest_bit():
    """An H200 was asked. The sanitizer accepts only 0, 1 and -1."""
    assert _run("parities.cu").splitlines() == _golden("parities.txt")


def test_a_product_ends_for_all_four_warps():
    said = _run("waits.cu", options=("-arch=sm_90a",)).splitlines()
    assert said == _golden("waits.txt")


def _placed(line: str) -> str:
    """A line about addresses by their ranks alone: variables lie elsewhere here than on a GPU."""
    if not re.match(r"(alone|of 2), block \d: (fixed|mapa)", line):
        return line.partition(": kernel ")[0]
    line = re.sub(r"reserved \w+|moved (0|400)\b", "", line)
    return re.sub(r"\b[0-9a-f]{3,8}\b", lambda seen: f"rank {int(seen[0], 16) >> 24}", line)


def test_addresses_in_clusters():
    said = _run("clusters.cu", *map(str, range(133)), options=("-arch=sm_90a",)).splitlines()
    assert [*map(_placed, said)] == [*map(_placed, _golden("clusters.txt"))]
    both = re.findall(r"fixed (\w+) .* generic (\w+) wide 0$", "\n".join(said), re.MULTILINE)
    low = [[int(number, 16) & 0xFFFFFF for number in pair] for pair in both]
    assert len(low) == 4 and all(shared == generic for shared, generic in low)


def test_an_arrival_at_a_block_that_has_ended_is_dropped():
    """Other accesses are faults. A GPU says so of a store, too, where more clusters follow."""
    said = _run("ended.cu", *"01234", options=("-arch=sm_90a",)).splitlines()
    expected = _golden("ended.txt")
    expected[1] = expected[1].replace("cudaSuccess", "cudaErrorLaunchFailure")
    assert said == expected


def test_the_sanitizer_reports_an_arrival_at_a_block_that_has_ended():
    words = "-arch=sm_90a", "--", "0"
    said = python("-m", "softgpu", "sanitize", ASKED / "ended.cu", *words).stderr
    assert not missing(said, "reach<0>", "ended.cu", "cluster.sync()")
