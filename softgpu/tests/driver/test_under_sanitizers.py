"""The driver, built for the address and undefined-behaviour sanitizers, does nothing wrong in C."""

import pytest

from softgpu.tests.driver import under_sanitizers

DRIVER_ALONE = [
    "softgpu/tests/driver/test_driver.py",
    "softgpu/tests/driver/test_beside.py",
    "softgpu/tests/driver/test_lanes.py",
    "--deselect=softgpu/tests/driver/test_driver.py::test_control_c",  # is in a further process
]
# what finds, what counts and what approximates, in C; PyCUDA's driver and the one alone cannot
# share a process here
UNDER_PYCUDA = [
    "softgpu/tests/xray",
    "softgpu/tests/test_conformance.py",
    "-k",
    "caught or counts_are_the_hardwares or approx or (atomics and global)",
]
TOO_SHORT = """
import ctypes
from softgpu.tests.driver.harness import only_driver

def test_a_copy_to_the_host_that_is_too_long():
    driver = only_driver()
    buffer = ctypes.create_string_buffer(1000)
    address = ctypes.c_uint64(driver.allocate(1001))
    driver.call("cuMemcpyDtoH_v2", buffer, address, ctypes.c_size_t(1001))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(under_sanitizers.missing()),
        reason=f"the C compiler comes without {', '.join(under_sanitizers.missing())}",
    ),
]


@pytest.mark.long
class TestUnderSanitizers:  # one after the other: the first one builds the driver
    @pytest.mark.parametrize("tests", [DRIVER_ALONE, UNDER_PYCUDA], ids=["driver alone", "PyCUDA"])
    def test_nothing_is_wrong(self, tests):
        done = under_sanitizers.run(*tests)
        assert done.returncode == 0, done.stdout

    def test_an_overflow_is_told(self, tmp_path):
        (tmp_path / "test_too_short.py").write_text(TOO_SHORT)
        done = under_sanitizers.run(tmp_path / "test_too_short.py")
        assert done.returncode != 0
        assert "heap-buffer-overflow" in done.stdout and "cuMemcpyDtoH_v2" in done.stdout
