"""SOFTGPU_CRASHES: where a process crashed, in C and in kernels, beside what Python says."""

import os
import signal
import subprocess
import sys

from softgpu.tests import ROOT
from softgpu.tests.facts import missing

PROGRAM = """
import faulthandler
faulthandler.enable()
from softgpu.tests.driver.harness import only_driver
driver = only_driver()
driver.options(threads=1)
driver.launch("crash")
"""


def crashed(**environment):
    """What a process says in which a kernel writes to address 24."""
    command = [sys.executable, "-c", PROGRAM]
    outer = {name: text for name, text in os.environ.items() if name != "SOFTGPU_CRASHES"}
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=outer | environment
    )


def test_a_crash_in_a_kernel_is_told_with_its_frames_and_then_pythons():
    done = crashed(SOFTGPU_CRASHES="1")
    assert done.returncode == -signal.SIGSEGV
    ours, _, pythons = done.stderr.partition("Fatal Python error: Segmentation fault")
    assert ours.startswith("softgpu: SIGSEGV ")
    assert not missing(ours, "0x18")
    assert "r-xp" in ours
    assert " crash+0x" in ours
    assert "libcudt.so.1(+0x" in ours
    assert "in launch" in pythons


def test_it_is_appended_to_a_file(tmp_path):
    file = tmp_path / "crashes.log"
    file.write_text("before\n")
    assert crashed(SOFTGPU_CRASHES=str(file)).stderr.startswith("Fatal Python error")
    assert file.read_text().startswith("before\nsoftgpu: SIGSEGV ")
    assert " crash+0x" in file.read_text()


def test_without_it_only_python_tells():
    done = crashed()
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr.startswith("Fatal Python error: Segmentation fault")
