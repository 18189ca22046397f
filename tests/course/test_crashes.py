"""A crash or a hang fails one test, and the run ends; a sample has some cases of each test."""

import pytest

from softgpu.tests import python
from tests import ROOT

pytestmark = pytest.mark.slow

CRASHES = """
import os, time, pytest

@pytest.mark.parametrize("of", range(3))
@pytest.mark.parametrize("one", range(3))
def test_unit(one, of):
    if (one, of) == (1, 1):
        {fault}

@pytest.mark.parametrize("one", range(9))
def test_other(one):
    pass
"""


def run_of(folder, text, *options):
    """What pytest, set up as this project's, says of some tests in a folder of their own."""
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (folder / "test_it.py").write_text(text)
    ours = ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={folder}"]
    return python("-m", "pytest", "-q", *ours, *options, ".", cwd=folder, timeout=600)


@pytest.mark.parametrize("fault", ["os._exit(3)", "time.sleep(900)"])
def test_one_test_fails_and_all_others_pass(fault, tmp_path):
    options = "-n", "2", "-o", "faulthandler_timeout=5"
    done = run_of(tmp_path, CRASHES.format(fault=fault), *options)
    assert "1 failed, 17 passed" in done.stdout, done.stdout + done.stderr
    assert "crashed while running 'test_it.py::test_unit[1-1]'" in done.stdout


CASES = """
import pytest

@pytest.mark.parametrize("case", range(40))
def test_many(case):
    pass

@pytest.mark.slow
@pytest.mark.parametrize("case", range(40))
def test_slow(case):
    pass

@pytest.mark.parametrize("case", range(3))
def test_few(case):
    pass

def test_one():
    pass

@pytest.mark.long
def test_long():
    pass
"""

FEW = """
@pytest.mark.slow
@pytest.mark.parametrize("case", range(3))
def test_slow_{number}(case):
    pass

def test_{number}():
    pass
"""


def sampled(folder, text, seed, *options, share="--sample=0.1"):
    """The cases of a sample, without their file."""
    options = "-n", "0", "--collect-only", share, f"--sample-seed={seed}", *options
    done = run_of(folder, text, *options)
    return [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_a_sample_has_a_fraction_of_each_tests_cases_and_another_seed_has_others(tmp_path):
    samples = [sampled(tmp_path, CASES, seed) for seed in ("", "", "2026-11-27")]
    tests = sorted(line.partition("[")[0] for line in samples[0])
    assert tests == ["test_few", *["test_many"] * 4, "test_one", *["test_slow"] * 2]
    assert samples[0] == samples[1] != samples[2]


def test_a_sample_has_some_of_the_slow_tests_with_few_cases_and_another_seed_has_others(tmp_path):
    text = "import pytest\n" + "".join(FEW.format(number=number) for number in range(8))
    samples = [sampled(tmp_path, text, seed) for seed in ("", "", "2026-11-27")]
    parts = [sampled(tmp_path, text, "", f"--sample-tests={share}") for share in (1, 0.5)]
    assert [*map(len, [*samples, *parts])] == [8 + 3] * 3 + [8 + 3, 4 + 2]
    assert samples[0] == samples[1] == parts[0] != samples[2]


ONE_LAUNCH = """
import pytest

LAUNCHES = [pytest.param(n, marks=[pytest.mark.one_launch(n // 4)]) for n in range(80)]

@pytest.mark.parametrize("case", LAUNCHES)
def test_answer(case):
    pass
"""


def test_a_sample_has_all_that_a_launch_answers_and_all_that_a_change_concerns(tmp_path):
    concerned = tmp_path / "softgpu/tests/graphs/test_graphs.py"
    concerned.parent.mkdir(parents=True)
    concerned.write_text(CASES)
    changed = "README.md softgpu/driver/graphs/exec.c cuda_src/softmax/online.cu"
    ran = sampled(tmp_path, ONE_LAUNCH, "", f"--changed={changed}")
    answers = sorted(int(line[:-1].partition("[")[2]) for line in ran if "answer" in line)
    assert len(answers) == 8 and {n - n % 4 + k for n in answers for k in range(4)} == {*answers}
    assert len(ran) == 8 + 40 + 40 + 3 + 1


TURNS = """
import pytest

@pytest.mark.parametrize("case", [pytest.param(n, marks=[pytest.mark.rotating]) for n in range(40)])
def test_in_turn(case):
    pass

@pytest.mark.parametrize("case", range(5))
def test_always(case):
    pass
"""


def test_cases_that_take_turns_run_in_part_and_with_another_seed_others(tmp_path):
    first, again, other = (
        sampled(tmp_path, TURNS, seed, share="--rotating=0.25") for seed in ("", "", "another")
    )
    assert first == again != other
    for ran in first, other:
        assert [sum(name in case for case in ran) for name in ("in_turn", "always")] == [10, 5]
