"""A test that crashes or hangs fails; the run goes on and ends."""

import subprocess
import sys

import pytest

from tests import ROOT

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


@pytest.mark.parametrize("fault", ["os._exit(3)", "time.sleep(60)"])
def test_one_test_fails_and_all_others_pass(fault, tmp_path):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(CRASHES.format(fault=fault))
    ours = ["-c", str(ROOT / "pyproject.toml"), "-o", "faulthandler_timeout=5"]
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", *ours, f"--rootdir={tmp_path}", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=50)
    assert "1 failed, 17 passed" in done.stdout, done.stdout + done.stderr
    assert "crashed while running 'test_it.py::test_unit[1-1]'" in done.stdout
