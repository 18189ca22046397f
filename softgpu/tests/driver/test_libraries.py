"""Libraries, and kernels launched with arguments given one by one."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
import pytest

from softgpu.tests.driver.harness import only_driver

INVALID_VALUE, INVALID_HANDLE, NOT_FOUND, INVALID_CLUSTER_SIZE = 1, 400, 500, 912
MAX_DYNAMIC_SHARED = 8
COOPERATIVE, CLUSTER, OVERLAP, COMPLETION_EVENT, UPDATABLE = 2, 4, 6, 12, 13


@pytest.fixture
def driver():
    driver = only_driver()
    driver.options(deterministic=1)
    return driver


@pytest.fixture
def library(driver):
    handle = c_void_p()
    driver.call("cuLibraryLoadData", byref(handle), b"a library", *[None] * 2, 0, *[None] * 2, 0)
    yield handle
    driver.raw("cuLibraryUnload", handle)


@pytest.fixture
def other_context(driver):
    context = c_void_p()
    driver.call("cuCtxCreate_v4", byref(context), None, 0, 0)
    driver.call("cuCtxPopCurrent_v2", None)
    yield context
    driver.raw("cuCtxDestroy_v2", context)


def kernel_of(driver, library, name):
    kernel = c_void_p()
    driver.call("cuLibraryGetKernel", byref(kernel), library, name)
    return kernel


def global_of(driver, library):
    address, size = c_uint64(), c_size_t()
    driver.call("cuLibraryGetGlobal", byref(address), byref(size), library, b"variable")
    assert size.value == 16
    return address.value


def pointers(*values):
    """What kernelParams points to."""
    places = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    places.values = values
    return places


def launch(driver, function, *params, grid=1, block=32):
    places = pointers(*(c_uint64(value) for value in params))
    driver.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, places, None)


def test_a_kernel_of_a_library_is_launched_as_a_function_is(driver, library):
    kernel, function = kernel_of(driver, library, b"number"), c_void_p()
    driver.call("cuKernelGetFunction", byref(function), kernel)
    out = driver.put(np.zeros(64, np.uint32))
    for handle in (kernel, function):
        driver.call("cuMemsetD8_v2", c_uint64(out), 0, c_size_t(256))
        launch(driver, handle, out, grid=2)
        assert (driver.get(out, 64, np.uint32) == np.arange(64)).all()
    driver.free(out)


def test_what_a_library_says_of_its_kernels(driver, library):
    count, name, back = c_uint(), c_char_p(), c_void_p()
    driver.call("cuLibraryGetKernelCount", byref(count), library)
    kernels = (c_void_p * count.value)()
    driver.call("cuLibraryEnumerateKernels", kernels, count, library)
    names = []
    for kernel in kernels:
        driver.call("cuKernelGetName", byref(name), c_void_p(kernel))
        names.append(name.value)
    assert len(set(names)) == count.value and b"count" in names
    kernel = kernel_of(driver, library, b"count")
    assert kernel.value == kernels[names.index(b"count")]
    driver.call("cuKernelGetLibrary", byref(back), kernel)
    assert back.value == library.value
    offset, size, value = c_size_t(), c_size_t(), c_int()
    driver.call("cuKernelGetParamInfo", kernel, c_size_t(2), byref(offset), byref(size))
    assert (offset.value, size.value) == (16, 8)
    third = kernel, c_size_t(3), byref(offset), byref(size)
    assert driver.raw("cuKernelGetParamInfo", *third) == INVALID_VALUE
    driver.call("cuKernelGetAttribute", byref(value), 4, kernel, 0)
    assert value.value == 17
    driver.call("cuKernelSetAttribute", 8, 60000, kernel, 0)
    driver.call("cuKernelGetAttribute", byref(value), 8, kernel, 0)
    assert value.value == 60000
    nothing = byref(c_void_p()), library, b"nothing"
    assert driver.raw("cuLibraryGetKernel", *nothing) == NOT_FOUND


def test_variables_of_a_library_are_each_contexts_own(driver, library, other_context):
    here = global_of(driver, library)
    driver.call("cuCtxPushCurrent_v2", other_context)
    there = global_of(driver, library)
    assert there != here
    driver.call("cuMemsetD32_v2", c_uint64(there), 7, c_size_t(4))
    driver.call("cuCtxDestroy_v2", other_context)
    assert driver.get(here, 1, np.uint32)[0] == 1
    assert global_of(driver, library) == here


def test_a_library_needs_no_context_to_load_and_outlives_contexts(driver, other_context):
    library, kernel = c_void_p(), None
    driver.call("cuCtxPopCurrent_v2", None)
    driver.call("cuLibraryLoadData", byref(library), b"a library", *[None] * 2, 0, *[None] * 2, 0)
    kernel = kernel_of(driver, library, b"empty")
    driver.call("cuCtxPushCurrent_v2", other_context)
    launch(driver, kernel)
    driver.call("cuCtxDestroy_v2", other_context)
    driver.call("cuCtxPushCurrent_v2", driver.context)
    launch(driver, kernel)
    loaded, before = c_void_p(), len(driver.unloaded)
    driver.call("cuLibraryGetModule", byref(loaded), library)
    driver.call("cuLibraryUnload", library)
    assert driver.unloaded[before:] == [loaded.value]
    assert driver.raw("cuLibraryGetModule", byref(loaded), library) == INVALID_HANDLE
    assert driver.raw("cuFuncLoad", kernel) == INVALID_HANDLE


def test_why_a_library_does_not_load_stands_in_its_log(driver):
    log = ctypes.create_string_buffer(100)
    values = (c_void_p * 2)(ctypes.addressof(log), 100)
    bad = byref(c_void_p()), b"bad", (c_int * 2)(5, 6), values, 2, None, None, 0
    assert driver.raw("cuLibraryLoadData", *bad) == 218
    assert log.value == b"line 1: no such instruction"
    missing = byref(c_void_p()), b"/nowhere/x.ptx", *[None] * 2, 0, *[None] * 2, 0
    assert driver.raw("cuLibraryLoadFromFile", *missing) == 301


def test_functions_of_a_module(driver):
    count, module, name = c_uint(), c_void_p(), c_char_p()
    driver.call("cuModuleGetFunctionCount", byref(count), driver.module)
    functions = (c_void_p * count.value)()
    driver.call("cuModuleEnumerateFunctions", functions, count, driver.module)
    driver.call("cuFuncGetName", byref(name), c_void_p(functions[0]))
    assert name.value == b"number" and functions[0] == driver.function("number").value
    for call in ("cuFuncGetName", "cuKernelGetName"):
        assert driver.raw(call, byref(name), None) == INVALID_VALUE
    driver.call("cuFuncGetModule", byref(module), c_void_p(functions[0]))
    assert module.value == driver.module.value


# --- cuLaunchKernelEx ----------------------------------------------------------------------------


class Attribute(ctypes.Structure):
    _fields_ = [("id", c_int), ("pad", c_int), ("value", c_uint64 * 8)]


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("stream", c_void_p),
        ("attributes", ctypes.POINTER(Attribute)), ("count", c_uint),
    ]  # fmt: skip


def launch_ex(driver, out, *attributes):
    """The code that a launch of 64 threads returns."""
    rows = (Attribute * len(attributes))(
        *(Attribute(i, 0, (c_uint64 * 8)(*v)) for i, v in attributes)
    )
    config = Config((2, 1, 1), (32, 1, 1), 0, None, rows, len(rows))
    kernel = driver.function("number")
    return driver.raw("cuLaunchKernelEx", byref(config), kernel, pointers(c_uint64(out)), None)


def test_launches_with_attributes(driver):
    out, event = driver.put(np.zeros(64, np.uint32)), c_void_p()
    driver.call("cuEventCreate", byref(event), 0)
    event_value = event.value
    one = 1 | 1 << 32, 1  # three numbers of 4 bytes
    good = [(COOPERATIVE, [1]), (CLUSTER, one), (OVERLAP, [1]), (COMPLETION_EVENT, [event_value])]
    assert launch_ex(driver, out, *good) == 0
    assert (driver.get(out, 64, np.uint32) == np.arange(64)).all()
    elapsed = ctypes.c_float()
    driver.call("cuEventElapsedTime_v2", byref(elapsed), event, event)  # it was recorded
    assert launch_ex(driver, out, (CLUSTER, [2 | 1 << 32, 1])) == 0
    assert launch_ex(driver, out, (CLUSTER, [3 | 1 << 32, 1])) == INVALID_CLUSTER_SIZE
    assert launch_ex(driver, out, (CLUSTER, [0, 1])) == INVALID_VALUE
    assert launch_ex(driver, out, (UPDATABLE, [1])) == INVALID_VALUE
    assert launch_ex(driver, out, (99, [1])) == INVALID_VALUE
    driver.call("cuEventDestroy_v2", event)
    driver.free(out)


# --- occupancy -----------------------------------------------------------------------------------


def test_the_block_with_the_most_threads_at_once(driver):
    """4096 bytes of static shared memory and 17 registers: only the threads are short."""
    number, grid, block = driver.function("number"), c_int(), c_int()
    shared_of = ctypes.CFUNCTYPE(c_size_t, c_int)(lambda threads: 100 * threads)
    asked = byref(grid), byref(block), number
    driver.call("cuOccupancyMaxPotentialBlockSize", *asked, None, c_size_t(0), 0)
    assert (grid.value, block.value) == (2 * 132, 1024)
    driver.call("cuOccupancyMaxPotentialBlockSize", *asked, None, c_size_t(0), 200)
    assert (grid.value, block.value) == (16 * 132, 128)  # 192 would be 1920 threads
    driver.call("cuOccupancyMaxPotentialBlockSize", *asked, shared_of, c_size_t(0), 0)
    blocks = 233472 // (-(-(1024 + 4096 + 100 * block.value) // 128) * 128)
    assert grid.value == min(blocks, 2048 // block.value) * 132


def test_the_shared_memory_left_for_each_block(driver):
    number, size = driver.function("number"), c_size_t()
    two = byref(size), number, 2, 256
    driver.call("cuOccupancyAvailableDynamicSMemPerBlock", *two)
    assert size.value == 49152 - 4096  # as much as a kernel may have that does not ask for more
    driver.call("cuFuncSetAttribute", number, MAX_DYNAMIC_SHARED, 200000)
    driver.call("cuOccupancyAvailableDynamicSMemPerBlock", *two)
    assert size.value == 233472 // 2 - 1024 - 4096
    driver.call("cuFuncSetAttribute", number, MAX_DYNAMIC_SHARED, 49152 - 4096)
    many = byref(size), number, 9, 256
    assert driver.raw("cuOccupancyAvailableDynamicSMemPerBlock", *many) == INVALID_VALUE
