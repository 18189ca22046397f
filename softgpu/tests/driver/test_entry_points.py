"""Which function a name means, and what there is not."""

import re
import subprocess
from ctypes import byref, c_int, c_uint64, c_void_p, cast, create_string_buffer

import pytest

from softgpu import build
from softgpu.tests.driver.harness import only_driver
from softgpu.toolkit import ToolkitError, find_toolkit

INVALID_VALUE, INVALID_HANDLE, NOT_FOUND, NOT_SUPPORTED = 1, 400, 500, 801
FOUND, NO_SYMBOL, VERSION_TOO_LOW = 0, 1, 2
HEADER = (build.DRIVER / "api/entry_points.h").read_text()
SUPPORTED = re.findall(r"X\((\w+), (\d+)\)", HEADER)
UNSUPPORTED = re.findall(r'X\((\w+), (\d+), "([^"]+)"\)', HEADER)


@pytest.fixture
def driver():
    return only_driver()


def find(driver, name, version, flags=0):
    """The address and the status that cuGetProcAddress gives for a name."""
    address, status = c_void_p(), c_int(-1)
    driver.call(
        "cuGetProcAddress_v2", name.encode(), byref(address), version, c_uint64(flags),
        byref(status),
    )  # fmt: skip
    return address.value, status.value


def exported(driver, symbol):
    return cast(getattr(driver.library, symbol), c_void_p).value


def test_every_entry_point_is_found_by_its_name_and_version(driver):
    for symbol, version in [*SUPPORTED, *(row[:2] for row in UNSUPPORTED)]:
        name = re.sub(r"_v\d$", "", symbol)
        for flags in (0, 1, 2):
            assert find(driver, name, int(version), flags) == (exported(driver, symbol), FOUND)


def test_every_exported_call_is_listed():
    listed = {row[0] for row in (*SUPPORTED, *UNSUPPORTED)}
    for path in build.sources():
        names = re.findall(r"^(?:CUAPI |ANSWERS\(|OLD\()(cu\w+)", path.read_text(), re.M)
        assert set(names) - {"cuMemsetD"} <= listed, path.name


@pytest.mark.parametrize(
    "name, version, symbol",
    [
        ("cuMemAlloc", 13000, "cuMemAlloc_v2"),
        ("cuCtxCreate", 12000, "cuCtxCreate_v3"),
        ("cuCtxCreate", 13000, "cuCtxCreate_v4"),
        ("cuCtxGetDevice", 12080, "cuCtxGetDevice"),
        ("cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"),
        ("cuMemcpy", 13000, "cuMemcpy"),
        ("cuEventDestroy", 2000, "cuEventDestroy"),
        ("cuDevicePrimaryCtxRelease", 7000, "cuDevicePrimaryCtxRelease"),
        ("cuMemAdvise", 12010, "cuMemAdvise"),
        ("cuMemAdvise", 12020, "cuMemAdvise_v2"),
    ],
)
def test_a_version_means_the_latest_form_that_is_not_later(driver, name, version, symbol):
    assert find(driver, name, version) == (exported(driver, symbol), FOUND)


def test_old_names_do_what_the_new_ones_do(driver):
    made, popped, event, stream = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    driver.call("cuCtxCreate", byref(made), 0, 0)
    driver.call("cuCtxPopCurrent", byref(popped))
    assert popped.value == made.value
    driver.call("cuCtxPushCurrent", made)
    driver.call("cuEventCreate", byref(event), 0)
    driver.call("cuEventDestroy", event)
    assert driver.raw("cuEventQuery", event) == INVALID_HANDLE
    driver.call("cuStreamCreate", byref(stream), 0)
    driver.call("cuStreamDestroy", stream)
    assert driver.raw("cuStreamQuery", stream) == INVALID_HANDLE
    driver.call("cuCtxDestroy", made)
    now = c_void_p()
    driver.call("cuCtxGetCurrent", byref(now))
    assert now.value == driver.context.value
    old, new = create_string_buffer(16), create_string_buffer(16)
    driver.call("cuDeviceGetUuid", old, 0)
    driver.call("cuDeviceGetUuid_v2", new, 0)
    assert old.raw == new.raw != bytes(16)


def test_what_is_not_found_says_why(driver):
    assert find(driver, "cuMemAlloc", 2000) == (None, VERSION_TOO_LOW)
    assert find(driver, "cuMemAllo", 13000) == (None, NO_SYMBOL)
    assert find(driver, "cuMemAlloc_v2", 13000)[0]
    address = c_void_p()
    asked = b"cuMemAlloc", byref(address), 13010, c_uint64(0)
    assert driver.raw("cuGetProcAddress_v2", *asked, None) == INVALID_VALUE
    assert driver.raw("cuGetProcAddress", b"cuNothing", *asked[1:2], 13000, asked[3]) == NOT_FOUND


def test_what_is_not_there_says_what_that_is(driver):
    for symbol, _, what in UNSUPPORTED:
        assert driver.raw(symbol) == NOT_SUPPORTED
        assert driver.error_text(NOT_SUPPORTED).endswith(f" {what} ({symbol})")


def test_versions_are_those_of_nvidias_header(tmp_path):
    try:
        nvcc = find_toolkit().nvcc
    except ToolkitError as error:
        pytest.skip(str(error))
    source = tmp_path / "types.cu"
    source.write_text("#include <cudaTypedefs.h>\n")
    done = subprocess.run(
        [nvcc, "-E", "-D__CUDA_API_VERSION_INTERNAL", str(source)], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip("cudaTypedefs.h is not part of this toolkit")
    known = set(re.findall(r"PFN_(cu\w+?)_v(\d+)\)", done.stdout))
    for symbol, version, *_ in (*SUPPORTED, *UNSUPPORTED):
        if not symbol.startswith("cuProfiler"):  # in a header of its own
            assert (re.sub(r"_v\d$", "", symbol), version) in known
