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


def test_a_sample_has_a_fraction_of_each_tests_cases_and_another_seed_has_others(tmp_path):
    samples = []
    for seed in ("", "", "2026-11-27"):
        options = "-n", "0", "--collect-only", "--sample=0.1", f"--sample-seed={seed}"
        done = run_of(tmp_path, CASES, *options)
        samples.append([line for line in done.stdout.splitlines() if "::" in line])
    tests = sorted(line.partition("::")[2].partition("[")[0] for line in samples[0])
    assert tests == ["test_few", *["test_many"] * 4, "test_one", *["test_slow"] * 2]
    assert samples[0] == samples[1] != samples[2]
