"""The checkout is as `make lint` asks for: beside other tests, as types take a while."""

import subprocess

import pytest

from tests import ROOT


@pytest.mark.slow
def test_lint_has_no_objection():
    command = ["make", "--silent", "--old-file=setup", "lint"]  # in this environment, as it is
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.fail(f"make lint:\n{done.stdout}{done.stderr}", pytrace=False)
