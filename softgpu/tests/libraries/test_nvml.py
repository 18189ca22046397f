"""NVML against what the driver says of the same device."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_uint, c_ulonglong, c_void_p

import pycuda.driver as cuda
import pytest

from softgpu.tests.facts import missing

from . import loaded

UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND, INSUFFICIENT_SIZE = 1, 2, 3, 6, 7


@pytest.fixture
def nvml():
    library = loaded("nvidia-ml")
    assert library.nvmlInit_v2() == 0
    yield library
    assert library.nvmlShutdown() == 0


@pytest.fixture
def device(nvml):
    handle = c_void_p()
    assert nvml.nvmlDeviceGetHandleByIndex_v2(0, byref(handle)) == 0
    return handle


def text(call, *arguments):
    out = ctypes.create_string_buffer(96)
    assert call(*arguments, out, 96) == 0
    return out.value.decode()


def number(call, *arguments, of=c_uint):
    out = of()
    assert call(*arguments, byref(out)) == 0
    return out.value


def test_devices_are_those_of_the_driver(nvml, device):
    assert number(nvml.nvmlDeviceGetCount_v2) == cuda.Device.count()
    assert text(nvml.nvmlDeviceGetName, device) == cuda.Device(0).name()
    major, minor = c_int(), c_int()
    assert nvml.nvmlDeviceGetCudaComputeCapability(device, byref(major), byref(minor)) == 0
    assert (major.value, minor.value) == cuda.Device(0).compute_capability()
    assert number(nvml.nvmlSystemGetCudaDriverVersion, of=c_int) == cuda.get_driver_version()
    assert number(nvml.nvmlDeviceGetIndex, device) == 0


def test_a_device_is_found_by_its_names(nvml, device):
    uuid = text(nvml.nvmlDeviceGetUUID, device)
    assert uuid.startswith("GPU-") and len(uuid) == 40
    found = number(nvml.nvmlDeviceGetHandleByUUID, c_char_p(uuid.encode()), of=c_void_p)
    assert found == device.value
    bus = c_char_p(cuda.Device(0).pci_bus_id().encode())
    assert number(nvml.nvmlDeviceGetHandleByPciBusId_v2, bus, of=c_void_p) == device.value
    nobody = c_char_p(b"GPU-0")
    assert nvml.nvmlDeviceGetHandleByUUID(nobody, byref(c_void_p())) == NOT_FOUND


def test_memory_is_seen_to_be_taken(nvml, device):
    def used():
        out = (c_ulonglong * 3)()
        assert nvml.nvmlDeviceGetMemoryInfo(device, out) == 0
        assert out[0] == out[1] + out[2]
        return out[2]

    before = used()
    memory = cuda.mem_alloc(64 << 20)
    assert used() >= before + (32 << 20)
    memory.free()


def test_nothing_runs_between_calls(nvml, device):
    assert number(nvml.nvmlDeviceGetUtilizationRates, device, of=c_ulonglong) == 0


def test_what_is_wrong_or_not_there_is_refused(nvml, device, capfd):
    nvml.nvmlErrorString.restype = c_char_p
    assert nvml.nvmlDeviceGetHandleByIndex_v2(99, byref(c_void_p())) == INVALID_ARGUMENT
    assert nvml.nvmlDeviceGetName(device, ctypes.create_string_buffer(2), 2) == INSUFFICIENT_SIZE
    assert capfd.readouterr().err == ""
    assert nvml.nvmlDeviceGetTemperature(device, 0, byref(c_uint())) == NOT_SUPPORTED
    assert not missing(capfd.readouterr().err, "nvmlDeviceGetTemperature")
    assert nvml.nvmlErrorString(NOT_SUPPORTED) == b"Not Supported"


def test_it_has_to_be_begun():
    library = loaded("nvidia-ml")
    assert library.nvmlDeviceGetCount_v2(byref(c_uint())) == UNINITIALIZED
    assert library.nvmlShutdown() == UNINITIALIZED
