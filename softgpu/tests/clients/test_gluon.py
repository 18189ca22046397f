"""What the sanitizer finds in Triton's Gluon: planted_gluon.py's kernels, wrong and right.

Skipped where Triton or PyTorch is not installed; `make triton-tests` runs this file with both.
"""

import importlib.util
import json
from pathlib import Path

import pytest

from softgpu.findings import FindingKind
from softgpu.tests import python

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
    reason="Triton is not installed: make triton-tests runs this",
)

RACE, FAULT, UNWRITTEN = FindingKind.RACE, FindingKind.FAULT, FindingKind.UNINITIALISED
PLANTED = {
    "copy_read_too_early": RACE,
    "box_of_another_mbarrier": RACE,
    "box_of_another_phase": FAULT,  # a warp that comes late waits for a phase that never ends
    "box_stored_and_overwritten": RACE,
    "box_by_an_mbarrier_without_a_fence": FindingKind.MISSING_PROXY_FENCE,
    "product_whose_operand_is_overwritten": RACE,
    "product_of_what_nobody_wrote": UNWRITTEN,
    "tile_filled_too_early": FAULT,  # the producer's arrivals run ahead of the consumer's phases
    "tile_of_two_readers": RACE,
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    script = Path(__file__).with_name("planted_gluon.py")
    cache = str(tmp_path_factory.mktemp("cache"))
    done = python("-m", "softgpu", "run", script, *PLANTED, TRITON_CACHE_DIR=cache)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = map(json.loads, filter(None, done.stdout.splitlines()))
    return {(line["name"], line["wrong"]): line for line in lines}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found_and_its_correct_twin_is_clean(name, found):
    wrong, right = found[name, True], found[name, False]
    assert PLANTED[name] in wrong["kinds"] and "planted_gluon.py:" in wrong["said"], wrong["said"]
    assert not right["kinds"] and right["right"], right["said"]
